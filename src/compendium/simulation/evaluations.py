"""The main study: the interactors' chats with their own ratings, and the external groups of evaluators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compendium.simulation import design, people
from compendium.simulation.draw import Chats, judge
from compendium.simulation.model import Measure, measures
from compendium.simulation.parts import UNFILLED_WORKER, ProjectPart, Turns, ids_of, task_names, worker
from judgebook.study.sections.data import Simulate

Generator = np.random.Generator
#: what is judged at least once, and what twice
_Items = tuple[np.ndarray, np.ndarray]
#: first day and number of days in which a part of the work was done (chosen)
CHAT_DAYS, EXTERNAL_DAYS = (60, 60), (130, 90)


def by_task(labels: dict[tuple[str, str], Measure], method: str) -> dict[str, list[Measure]]:
    """The measures of a method by the task in which they are asked for together."""
    tasks: dict[str, list[Measure]] = {}
    for m in labels.values():
        if m.method == method:
            tasks.setdefault(m.task, []).append(m)
    return tasks


def collection(spec: Simulate, chats: Chats, texts: Sequence[Turns], rng: Generator) -> ProjectPart:
    """The chats: one work unit per session, with the interactor's ratings of both dialogues and their comparison."""
    part, ids, labels = ProjectPart("chat"), ids_of(chats), measures(spec, "stu_i")
    for id_, system, turns in zip(ids, chats.system, texts, strict=True):
        part.dialogue(id_, design.SYSTEMS[system], turns)
    who = chats.sessions.interactor
    likert = by_task(labels, "dialogue_likert")["dialogue_likert"]
    compared = by_task(labels, "comparative")["comparative"]
    pairs = [ids[i : i + 2] for i in range(0, len(ids), 2)]
    units = _session_units(part, pairs, who, task_names("dialogue_likert", likert), rng)
    ratings = judge(chats, likert, np.arange(len(ids)), np.repeat(who, 2), rng)
    part.likert(np.repeat(units, 2).tolist(), ids, likert, ratings)
    part.compare(units, pairs, compared, judge(chats, compared, np.arange(len(pairs)), who, rng))
    return part


def _session_units(
    part: ProjectPart, pairs: list[list[str]], who: np.ndarray, labels: list[str], rng: Generator
) -> list[str]:
    names = ("first_bot", "second_bot", "first_likert", "second_likert", "comparative")
    minutes = ("chat", "chat", "own_likert", "own_likert", "own_comparative")
    took = np.array([people.seconds(design.MINUTES[m], who, rng) for m in minutes]).T
    done = people.dates(len(pairs), *CHAT_DAYS, rng)
    units = []
    for pair, u, seconds, date in zip(pairs, who, took, done, strict=True):
        parts = {n: -1.0 if np.isnan(s) else float(s) for n, s in zip(names, seconds, strict=True)}
        units.append(part.unit(worker("interactor", u), seconds.sum(), "interactive", labels, pair, date, parts))
    return units


def external(
    spec: Simulate,
    group: str,
    chats: Chats,
    texts: Sequence[Turns],
    passed: dict[str, list[str]] | None,
    rng: Generator,
) -> ProjectPart:
    """What an external group judged.

    passed : for the group that also judges turns, the ids of those who passed the training, by behaviour task.
    """
    g = design.GROUPS[group]
    part = ProjectPart(g.part.removesuffix("_evaluation"), text_scores=passed is None)
    ids, judged, pool = ids_of(chats), measures(spec, group), _pool(spec, group)
    rated, compared = _plan(g, chats, rng)
    for i in np.union1d(rated[0], np.concatenate([2 * compared[0], 2 * compared[0] + 1])):
        part.dialogue(ids[i], design.SYSTEMS[chats.system[i]], texts[i] if passed is not None else ())
    most = design.UNITS_PER_WORKER if group == "sur_x" else 2 * len(ids)
    for method in ("behavior", "turn_likert", "dialogue_likert", "comparative"):
        for task, labels in by_task(judged, method).items():
            able = (passed or {}).get(task, pool)
            items, twice = compared if method == "comparative" else rated
            work = people.assign(items, twice, len(able), most, rng)
            part.judged(chats, ids, task, labels, able, work, EXTERNAL_DAYS, rng)
    return part


def _plan(g: design.GroupDesign, chats: Chats, rng: Generator) -> tuple[_Items, _Items]:
    """Dialogues that a group rates, and rates twice; sessions whose pair it compares, and compares twice. All sorted.

    A group that rates all dialogues rates balanced sessions twice, both dialogues and the pair; others take any.
    """
    n = len(chats.sessions)
    sessions, dialogues = np.arange(n), np.arange(2 * n)
    if g.dialogues == 1:
        compared = chats.sessions.balanced(g.pairs, sessions, rng)
        twice = chats.sessions.balanced(g.twice, compared, rng)
        return (dialogues, np.sort(np.concatenate([2 * twice, 2 * twice + 1]))), (compared, twice)
    rated = _some(dialogues, round(g.dialogues * 2 * n), rng)
    compared = _some(sessions, round(g.pairs * n), rng)
    twice_rated = _some(rated, round(g.twice * 2 * n), rng)
    return (rated, twice_rated), (compared, _some(compared, round(g.pairs_twice * n), rng))


def _some(items: np.ndarray, n: int, rng: Generator) -> np.ndarray:
    """`n` of `items`, sorted."""
    return np.sort(rng.choice(items, n, replace=False))


def _pool(spec: Simulate, group: str) -> list[str]:
    workforce, n = {
        "sur_x": ("surge", spec.n_surge),
        "stu_x": ("student", spec.n_students),
        "dev_x": ("developer", spec.n_developers),
    }[group]
    return [worker(workforce, i) for i in range(n)]


def add_unfilled(part: ProjectPart, chats: Chats, spec: Simulate, rng: Generator) -> int:
    """A rating whose worker id is a placeholder nobody filled in, as in the real file; returns how many scores."""
    labels = by_task(measures(spec, "sur_x"), "dialogue_likert")["dialogue_likert"]
    id_ = ids_of(chats)[0]
    unit = part.unit(UNFILLED_WORKER, 170.0, "likert", task_names("dialogue_likert", labels), [id_], "")
    part.likert([unit], [id_], labels, judge(chats, labels, np.array([0]), np.array([0]), rng))
    return len(labels)
