"""The main study: the interactors' chats with their own ratings, and the external groups of evaluators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from helpers.params import Simulate
from helpers.simulation import design, people
from helpers.simulation.draw import World, judge
from helpers.simulation.model import Measure, measures
from helpers.simulation.parts import UNFILLED_WORKER, Part, Turns, ids_of, task_names, worker

Generator = np.random.Generator
#: first day and number of days in which a part of the work was done (chosen)
CHAT_DAYS, EXTERNAL_DAYS = (60, 60), (130, 90)


def by_task(found: dict[tuple[str, str], Measure], method: str) -> dict[str, list[Measure]]:
    """The measures of a method by the task in which they are asked for together."""
    tasks: dict[str, list[Measure]] = {}
    for m in found.values():
        if m.method == method:
            tasks.setdefault(m.task, []).append(m)
    return tasks


def collection(spec: Simulate, world: World, texts: Sequence[Turns], rng: Generator) -> Part:
    """The chats: one work unit a session, with the interactor's ratings of both dialogues and their comparison."""
    part, ids, found = Part("chat"), ids_of(world), measures(spec, "stu_i")
    for id_, system, turns in zip(ids, world.system, texts, strict=True):
        part.dialogue(id_, design.SYSTEMS[system], turns)
    who = world.sessions.interactor
    likert = by_task(found, "dialogue_likert")["dialogue_likert"]
    compared = by_task(found, "comparative")["comparative"]
    pairs = [ids[i : i + 2] for i in range(0, len(ids), 2)]
    units = _session_units(part, pairs, who, task_names("dialogue_likert", likert), rng)
    ratings = judge(world, likert, np.arange(len(ids)), np.repeat(who, 2), rng)
    part.likert(np.repeat(units, 2).tolist(), ids, likert, ratings)
    part.compare(units, pairs, compared, judge(world, compared, np.arange(len(pairs)), who, rng))
    return part


def _session_units(part: Part, pairs: list[list[str]], who: np.ndarray, labels: list[str], rng: Generator) -> list[str]:
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
    world: World,
    texts: Sequence[Turns],
    passed: dict[str, list[str]] | None,
    rng: Generator,
) -> Part:
    """What an external group judged.

    passed : for the group that also judges turns, the ids of those who passed the training, by behaviour task.
    """
    g = design.GROUPS[group]
    turns = passed is not None
    part, ids = Part(g.part.removesuffix("_evaluation"), text_scores=not turns), ids_of(world)
    found, n = measures(spec, group), len(ids)
    pool = _pool(spec, group)
    rated, rated_twice = _rated(g, world, rng)
    compared = world.sessions.balanced(g.pairs, rng) if turns else _some(np.arange(n // 2), g.pairs, rng)
    pair_twice = (
        np.intersect1d(compared, rated_twice[::2] // 2) if turns else _some(compared, g.pairs_twice, rng, n // 2)
    )
    seen = np.union1d(rated, np.concatenate([2 * compared, 2 * compared + 1]))
    for i in seen:
        part.dialogue(ids[i], design.SYSTEMS[world.system[i]], texts[i] if turns else ())
    most = design.UNITS_PER_WORKER if turns else 2 * n
    if turns:
        for task, labels in (by_task(found, "behavior") | by_task(found, "turn_likert")).items():
            able = passed.get(task, pool)
            _turn_task(
                part, world, ids, task, labels, able, people.assign(rated, rated_twice, len(able), most, rng), rng
            )
    work = people.assign(rated, rated_twice, len(pool), most, rng)
    _dialogue_task(part, world, ids, by_task(found, "dialogue_likert")["dialogue_likert"], pool, work, rng)
    work = people.assign(compared, pair_twice, len(pool), most, rng)
    _pair_task(part, world, ids, by_task(found, "comparative")["comparative"], pool, work, rng)
    return part


def _pool(spec: Simulate, group: str) -> list[str]:
    workforce, n = {
        "sur_x": ("surge", spec.n_surge),
        "stu_x": ("student", spec.n_students),
        "dev_x": ("developer", spec.n_developers),
    }[group]
    return [worker(workforce, i) for i in range(n)]


def _rated(g: design.GroupDesign, world: World, rng: Generator) -> tuple[np.ndarray, np.ndarray]:
    """Dialogues the group rates at all, and twice. Who rates all takes both dialogues of a session twice or neither."""
    n = len(world.system)
    if g.dialogues == 1:
        sessions = world.sessions.balanced(g.twice, rng)
        return np.arange(n), np.sort(np.concatenate([2 * sessions, 2 * sessions + 1]))
    rated = _some(np.arange(n), g.dialogues, rng)
    return rated, _some(rated, g.twice, rng, n)


def _some(items: np.ndarray, share: float, rng: Generator, of: int | None = None) -> np.ndarray:
    """Some of `items`, sorted: `share` of their number, or of `of`."""
    return np.sort(rng.choice(items, min(round(share * (of or len(items))), len(items)), replace=False))


def _turn_task(part: Part, world: World, ids, task: str, labels, pool, work: people.Work, rng: Generator) -> None:
    own = [ids[i] for i in work.item]
    behavior = labels[0].method == "behavior"
    name, minutes = (task, design.MINUTES[task]) if behavior else (f"{task}_likert_turn", design.MINUTES["turn_likert"])
    units = part.units(pool, work, [[i] for i in own], name, task_names(task, labels), minutes, EXTERNAL_DAYS, rng)
    part.turn_marks(units, own, labels, judge(world, labels, work.item, work.annotator, rng))


def _dialogue_task(part: Part, world: World, ids, labels, pool, work: people.Work, rng: Generator) -> None:
    own, names = [ids[i] for i in work.item], task_names("dialogue_likert", labels)
    minutes = design.MINUTES["dialogue_likert"]
    units = part.units(pool, work, [[i] for i in own], "likert", names, minutes, EXTERNAL_DAYS, rng)
    part.likert(units, own, labels, judge(world, labels, work.item, work.annotator, rng))


def _pair_task(part: Part, world: World, ids, labels, pool, work: people.Work, rng: Generator) -> None:
    own, names = [ids[2 * i : 2 * i + 2] for i in work.item], task_names("comparative", labels)
    minutes = design.MINUTES["comparative"]
    units = part.units(pool, work, own, "comparative", names, minutes, EXTERNAL_DAYS, rng)
    part.compare(units, own, labels, judge(world, labels, work.item, work.annotator, rng))


def add_unfilled(part: Part, world: World, spec: Simulate, rng: Generator) -> int:
    """A rating whose worker id is a placeholder nobody filled in, as in the real file; returns how many scores."""
    labels = by_task(measures(spec, "sur_x"), "dialogue_likert")["dialogue_likert"]
    id_ = ids_of(world)[0]
    unit = part.unit(UNFILLED_WORKER, 170.0, "likert", task_names("dialogue_likert", labels), [id_], "")
    part.likert([unit], [id_], labels, judge(world, labels, np.array([0]), np.array([0]), rng))
    return len(labels)
