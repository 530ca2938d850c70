"""Who talks to which systems, who judges what and how long it takes; chats and judgements are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compendium.simulation import design
from compendium.simulation.model import TRAITS, Measure
from judgebook.study.sections.data import Simulate


@dataclass(frozen=True)
class Sessions:
    """Arrays with one element per session. systems : (n, 2), in the order met. interactor : who talked. kind : which of
    the six pairs of systems."""

    systems: np.ndarray
    interactor: np.ndarray
    kind: np.ndarray

    def __len__(self) -> int:
        return len(self.kind)

    def balanced(self, share: float, among: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Sorted indices of sessions `among` the given ones in which all systems occur equally often.

        About `share` of all sessions, fewer where a pair of systems does not have enough.
        """
        wanted = _per_kind(2 * round(share * len(self) / 2))
        kind = self.kind[among]
        return np.sort(np.concatenate([rng.permutation(among[kind == k])[:n] for k, n in enumerate(wanted)]))


def _per_kind(n: int) -> list[int]:
    """How many of `n` (even) sessions each of the six pairs gets: equal for the two pairs of a split."""
    half, rest = divmod(n // 2, len(design.SPLITS))
    return [half + (split < rest) for split in range(len(design.SPLITS)) for _ in range(2)]


def sessions(n: int, n_interactors: int, rng: np.random.Generator) -> Sessions:
    """`n` sessions, each of two different systems; every interactor has 1 to SESSIONS_PER_INTERACTOR of them."""
    kinds = [pair for split in design.SPLITS for pair in split]
    kind = rng.permutation(np.repeat(np.arange(len(kinds)), _per_kind(n)))
    systems = np.array(kinds)[kind]
    turned = rng.random(n) < 0.5
    systems[turned] = systems[turned][:, ::-1]
    quota = quotas(n, n_interactors, design.SESSIONS_PER_INTERACTOR, rng, least=1)
    return Sessions(systems, rng.permutation(np.repeat(np.arange(n_interactors), quota)), kind)


def quotas(n: int, n_people: int, most: int, rng: np.random.Generator, *, least: int = 0) -> np.ndarray:
    """`n` pieces of work shared out unevenly: from `least` to `most` per person. Raises ValueError where impossible."""
    if not least * n_people <= n <= most * n_people:
        raise ValueError(f"{n} pieces of work cannot be shared by {n_people} people who take {least} to {most} each")
    quota = np.full(n_people, least)
    appetite = rng.gamma(1.5, size=n_people)
    while (left := n - quota.sum()) > 0:
        room = quota < most
        quota = np.minimum(quota + rng.multinomial(left, np.where(room, appetite, 0) / appetite[room].sum()), most)
    return quota


@dataclass(frozen=True)
class Work:
    """Work units of one task, one element per unit. item : what is judged. annotator : 0-based."""

    item: np.ndarray
    annotator: np.ndarray


def assign(items: np.ndarray, twice: np.ndarray, n_people: int, most: int, rng: np.random.Generator) -> Work:
    """Give each of `items` to an annotator, and those of `twice` also to a second, different one."""
    item = np.concatenate([items, twice])
    quota = quotas(len(item), n_people, most, rng, least=min(1, len(item) // n_people))
    who = rng.permutation(np.repeat(np.arange(n_people), quota))
    first = np.searchsorted(items, twice)
    second = np.arange(len(items), len(item))
    for i, j in zip(first, second, strict=True):
        if who[i] == who[j]:
            # another annotator's single unit is exchanged for the clashing one
            free = np.flatnonzero((who[: len(items)] != who[j]) & ~np.isin(np.arange(len(items)), first))
            k = rng.choice(free)
            who[j], who[k] = who[k], who[j]
    return Work(item, who)


def seconds(median_minutes: float, annotator: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Seconds of work units: log-normal with lasting differences between people; NaN where none was measured."""
    between, within = design.DURATION_SD
    pace = between * rng.standard_normal(annotator.max(initial=0) + 1)
    out = 60 * median_minutes * np.exp(pace[annotator] + within * rng.standard_normal(len(annotator)))
    left_open = rng.random(len(out)) < design.LEFT_OPEN
    out[left_open] *= rng.uniform(20, 100, left_open.sum())
    out[rng.random(len(out)) < design.NO_DURATION] = np.nan
    return np.round(out, 3)


def dates(n: int, first_day: int, days: int, rng: np.random.Generator) -> list[str]:
    """When work was finished, as the platform writes it (MM-DD-YYYY HH:MM:SS); a few are empty. The year is 2001."""
    moment = np.datetime64("2001-01-01T08:00:00") + (first_day * 86400 + rng.integers(0, days * 86400, n))
    text = np.datetime_as_string(moment, unit="s")
    out = [f"{t[5:7]}-{t[8:10]}-{t[:4]} {t[11:]}" for t in text]
    for i in np.flatnonzero(rng.random(n) < design.NO_DATE):
        out[i] = ""
    return out


@dataclass(frozen=True)
class TrainingAttempt:
    """One training dialogue done once: turns (0-based) on which the marks disagree with the gold marks."""

    task: str
    worker: int
    round: int
    mistakes: list[int]
    passed: bool | None


def mistake_probability(workforce: str, task: str, round_: int, skill: np.ndarray | float) -> np.ndarray:
    """Probability of a mistake on a turn of training dialogue 1, 2 or 3, for workers of a standard normal `skill`."""
    force = design.WORKFORCES[workforce]
    x = force.error + design.DIFFICULTY[task] + design.LEARNING * (3 - round_) - design.SKILL_SD * np.asarray(skill)
    return 1 / (1 + np.exp(-x))


def screening_limit(task: str) -> int:
    """Fewer mistakes than this on the third training dialogue pass (Finch et al. 2023, section 5)."""
    return 2 if task in ("uninterpretable", "antisocial") else 3


def screen(workforce: str, rng: np.random.Generator) -> list[TrainingAttempt]:
    """Every training attempt of a workforce. The third dialogue carries the verdict; earlier ones have none."""
    force = design.WORKFORCES[workforce]
    skill = rng.standard_normal(force.workers)
    attempts: list[TrainingAttempt] = []
    for task in design.DIFFICULTY:
        for worker in np.flatnonzero(rng.random(force.workers) < force.takes):
            passed = _training(workforce, task, int(worker), skill[worker], attempts, rng)
            if not passed and rng.random() < force.retries:
                _training(workforce, task, int(worker), skill[worker], attempts, rng)
    return attempts


def _training(
    workforce: str,
    task: str,
    worker: int,
    skill: float,
    attempts: list[TrainingAttempt],
    rng: np.random.Generator,
) -> bool:
    """Adds the three attempts of one worker; returns whether the last passed."""
    for round_ in (1, 2, 3):
        p = mistake_probability(workforce, task, round_, skill)
        wrong = np.flatnonzero(rng.random(design.TRAINING_TURNS) < p).tolist()
        passed = len(wrong) < screening_limit(task) if round_ == 3 else None
        attempts.append(TrainingAttempt(task, worker, round_, wrong, passed))
    return bool(passed)


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
