"""Drawing dialogues with their true values, and judgements of them (the model is defined in `simulation.model`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compendium.simulation import design
from compendium.simulation.model import TRAITS, Measure
from compendium.simulation.people import Sessions
from judgebook.study.sections.data import Simulate

_N_BEHAVIORS = len(design.BEHAVIORS)


@dataclass(frozen=True)
class Chats:
    """Dialogues as they are, before anybody judges them. Dialogues 2 s and 2 s + 1 are those of session s, in order.

    sessions : as drawn. system, n_turns : one element per dialogue. start : (n + 1,) where a dialogue's turns begin in
    `turns`. quality : latent quality within system. traits : (n, 24), see `model.TRAITS`. turns : (turns, 24) true
    values x of turns.
    """

    sessions: Sessions
    system: np.ndarray
    n_turns: np.ndarray
    start: np.ndarray
    quality: np.ndarray
    traits: np.ndarray
    turns: np.ndarray
    interactor_share: float

    def rows(self, dialogues: np.ndarray) -> np.ndarray:
        """Rows of `turns` of the dialogues, one after the other."""
        n = self.n_turns[dialogues]
        return np.repeat(self.start[dialogues] - np.cumsum(n) + n, n) + np.arange(n.sum())


def draw_chats(spec: Simulate, sessions: Sessions, rng: np.random.Generator) -> Chats:
    """Dialogues of the sessions, with traits and turns."""
    system = sessions.systems.ravel()
    quality, traits = _traits(spec, np.repeat(sessions.interactor, 2), rng)
    n_turns = rng.choice(list(design.TURNS), len(system), p=list(design.TURNS.values()))
    between = np.array([b.between for b in design.BEHAVIORS.values()] + [design.TURN_BETWEEN] * len(design.DIMENSIONS))
    of_turn = np.repeat(np.arange(len(system)), n_turns)
    turns = rng.standard_normal((len(of_turn), len(TRAITS)))
    turns *= np.sqrt(1 - between)
    turns += (np.sqrt(between) * traits)[of_turn]
    start = np.concatenate([[0], np.cumsum(n_turns)])
    return Chats(sessions, system, n_turns, start, quality, traits, turns, spec.interactor_share)


def _traits(spec: Simulate, interactor: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Quality and the 24 traits of dialogues, standard normal, all split alike into interactor and dialogue effects."""
    n, n_dimensions = len(interactor), len(design.DIMENSIONS)
    share = spec.interactor_share

    def effects(columns: int) -> np.ndarray:
        of_person = rng.standard_normal((interactor.max() + 1, columns))[interactor]
        return np.sqrt(share) * of_person + np.sqrt(1 - share) * rng.standard_normal((n, columns))

    quality, rest, specific = effects(1)[:, 0], effects(n_dimensions), effects(_N_BEHAVIORS)
    dimensions, traits = list(design.DIMENSIONS), np.empty((n, len(TRAITS)))
    for i, b in enumerate(design.BEHAVIORS.values()):
        rho = b.relation * spec.quality_relations
        kin = design.KINSHIP if b.kin else 0.0
        shared = rest[:, dimensions.index(b.kin)] if b.kin else 0.0
        traits[:, i] = rho * quality + kin * shared + np.sqrt(1 - rho**2 - kin**2) * specific[:, i]
    for i, (label, d) in enumerate(design.DIMENSIONS.items()):
        rho = 1.0 if label == "quality" else d.relation * spec.quality_relations
        traits[:, _N_BEHAVIORS + i] = rho * quality + np.sqrt(1 - rho**2) * rest[:, i]
    return quality, traits


def judge(
    chats: Chats,
    measures: Sequence[Measure],
    item: np.ndarray,
    annotator: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Scores that annotators give in one task.

    measures : the labels of the task, all of one method. item : judged dialogue of each work unit (session for
    comparisons). annotator : who does the unit, 0-based. Returns (rows, labels) int8; a row is a unit, or for labels of
    turns a turn of a unit, in order.
    """
    method = measures[0].method
    columns = [m.trait for m in measures]
    means = np.array([m.means for m in measures]).T
    if method == "comparative":
        left, right = 2 * item, 2 * item + 1
        x = (chats.traits[left] - chats.traits[right])[:, columns] / np.sqrt(2 * (1 - chats.interactor_share))
        mean, unit = means[chats.system[left]] - means[chats.system[right]], np.arange(len(item))
    elif method == "dialogue_likert":
        x, mean, unit = chats.traits[item][:, columns], means[chats.system[item]], np.arange(len(item))
    else:
        unit = np.repeat(np.arange(len(item)), chats.n_turns[item])
        x, mean = chats.turns[chats.rows(item)][:, columns], means[chats.system[item]][unit]
    lean_columns = 1 if method in ("dialogue_likert", "comparative") else len(measures)
    return _scores(measures, x, mean, annotator[unit], unit, lean_columns, rng)


def _scores(
    measures: Sequence[Measure],
    x: np.ndarray,
    mean: np.ndarray,
    annotator: np.ndarray,
    unit: np.ndarray,
    lean_columns: int,
    rng: np.random.Generator,
) -> np.ndarray:
    n = len(measures)
    g, a, lean_share = (
        np.array([getattr(m, k) for m in measures]) for k in ("signal", "annotator_share", "lean_share")
    )
    leaning = rng.standard_normal((annotator.max() + 1, n))[annotator]
    lean = rng.standard_normal((unit.max() + 1, lean_columns))[unit]
    noise = np.sqrt(a) * leaning + np.sqrt(lean_share) * lean
    noise = noise + np.sqrt(1 - a - lean_share) * rng.standard_normal(x.shape)
    y = mean + np.sqrt(g) * x + np.sqrt(1 - g) * noise
    out = np.empty(y.shape, dtype=np.int8)
    for i, m in enumerate(measures):
        out[:, i] = np.asarray(m.scores)[np.searchsorted(m.cuts, y[:, i])]
    return out
