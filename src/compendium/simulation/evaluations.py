"""The main study: the interactors' chats with their own ratings, and the external groups of evaluators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import brentq

from compendium.simulation import design, gaussian, people
from compendium.simulation.model import Measure, measures, with_odds
from compendium.simulation.parts import UNFILLED_WORKER, ProjectPart, Turns, ids_of, task_names, turn_texts, worker
from compendium.simulation.people import Chats, Sessions, TrainingAttempt, draw_chats, judge
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


#: first day and number of days (chosen)
BOT_DAYS, ANNOTATION_DAYS, TRAINING_DAYS = (1, 14), (20, 30), (115, 20)


def one_system(spec: Simulate, n: int, system: int, rng: Generator) -> Chats:
    """Chats: at least `n` dialogues of one system with one person."""
    pairs = (n + 1) // 2
    nobody = np.zeros(pairs, dtype=int)
    return draw_chats(spec, Sessions(np.full((pairs, 2), system), nobody, nobody), rng)


def bot_quality(spec: Simulate, bot: str) -> Measure:
    """Quality rating in the pilot, its mean the documented one."""
    base = measures(spec, "stu_i")["dialogue_likert", "quality"]

    def excess(m: float) -> float:
        return (
            float(gaussian.marginal(np.asarray(base.cuts) - m) @ np.asarray(base.scores))
            - design.PILOT_BOTS[bot].quality
        )

    return replace(base, means=(float(brentq(excess, -6, 6)),) * len(design.SYSTEMS))


def bot_pilots(spec: Simulate, rng: Generator) -> list[ProjectPart]:
    """Students talk to six systems and rate the quality, in two rounds."""
    bots = [bot for bot, pilot in design.PILOT_BOTS.items() for _ in range(pilot.dialogues)]
    order = rng.permutation(len(bots))
    quota = people.quotas(len(bots), design.PILOT_STUDENTS, design.PILOT_CONVERSATIONS, rng, least=3)
    who = rng.permutation(np.repeat(np.arange(design.PILOT_STUDENTS), quota))
    chats, texts = one_system(spec, len(bots), 0, rng), turn_texts([15] * len(bots), rng)
    took, done = people.seconds(design.MINUTES["chat"], who, rng), people.dates(len(bots), *BOT_DAYS, rng)
    rounds = [ProjectPart("bot-pilot-1"), ProjectPart("bot-pilot-2")]
    for place, i in enumerate(order):
        part, id_ = rounds[2 * place // len(bots)], f"({i + 1},{who[i] + 1})_{bots[i]}"
        part.dialogue(id_, bots[i], texts[i])
        measure = bot_quality(spec, bots[i])
        unit = part.unit(worker("pilot-student", who[i]), took[i], "interactive", ["Quality"], [id_], done[i])
        part.likert([unit], [id_], [measure], judge(chats, [measure], np.array([i]), np.array([0]), rng))
    return rounds


def pilot_measures(spec: Simulate, odds: float) -> dict[tuple[str, str], Measure]:
    """Behaviours in a round of annotation pilots, with the odds of signal to noise of its annotators."""
    return {key: with_odds(m, odds) for key, m in measures(spec, "sur_x").items() if m.method == "behavior"}


def annotation_pilots(spec: Simulate, rng: Generator) -> list[ProjectPart]:
    """Three rounds in which the behaviours were tried out (Finch et al. 2023, Table 8)."""
    bot, twin = design.PILOT_SYSTEM
    parts = []
    for number, round_ in enumerate(design.PILOT_ROUNDS, start=1):
        part, n = ProjectPart(f"pilot-{number}"), sum(n for n, _ in round_.blocks)
        chats = one_system(spec, n, design.SYSTEMS.index(twin), rng)
        for i, turns in enumerate(turn_texts(chats.n_turns[:n], rng)):
            part.dialogue(f"({number}{i:02d},0)_{bot}", bot, turns)
        _pilot_round(part, spec, round_, chats, rng)
        parts.append(part)
    return parts


def _pilot_round(part: ProjectPart, spec: Simulate, round_: design.PilotRound, chats: Chats, rng: Generator) -> None:
    """Every annotator of a block judges its dialogues, in the first round all tasks, later every other task."""
    ids, start = list(part.dialogues), 0
    for n, annotators in round_.blocks:
        block = np.arange(start, start + n)
        start += n
        for kind, odds in round_.odds.items():
            pool = [pilot_worker(a) for a in annotators if a[0] == kind]
            for t, (task, labels) in enumerate(by_task(pilot_measures(spec, odds), "behavior").items()):
                items = block if round_.all_labels else block[(block + t) % 2 == 0]
                if len(pool) and len(items):
                    work = people.Work(np.tile(items, len(pool)), np.repeat(np.arange(len(pool)), len(items)))
                    part.judged(chats, ids, task, labels, pool, work, ANNOTATION_DAYS, rng)


def pilot_worker(name: str) -> str:
    """The id of an annotator of the pilots: g1 is a graduate, u1 an undergraduate."""
    return worker({"g": "graduate", "u": "undergraduate"}[name[0]], int(name[1:]) - 1)


def onboarding(name: str, attempts: list[TrainingAttempt], ids: list[str], rng: Generator) -> ProjectPart:
    """Training dialogues of all tasks with every attempt on them; `ids` are the workers'."""
    part = ProjectPart(f"{name}-training")
    texts = turn_texts([design.TRAINING_TURNS] * 3 * len(design.DIFFICULTY), rng)
    for i, (task, round_) in enumerate((t, r) for t in design.DIFFICULTY for r in (1, 2, 3)):
        part.dialogue(f"{task}_{round_}", "training", texts[i], attempts=[])
    who = np.array([a.worker for a in attempts], dtype=int)
    done = people.dates(len(attempts), *TRAINING_DAYS, rng)
    took = people.seconds(design.TRAINING_TURNS / 15, who, rng)
    for a, seconds, date in zip(attempts, took, done, strict=True):
        id_, labels = f"{a.task}_{a.round}", design.TASK_LABELS[a.task]
        unit = part.unit(ids[a.worker], seconds * design.MINUTES[a.task], a.task, labels, [id_], date)
        performance = round(1 - len(a.mistakes) / design.TRAINING_TURNS, 3)
        part.dialogues[id_]["attempts"].append(
            {"work_unit_id": unit, "mistakes": a.mistakes, "performance": performance, "passed": a.passed}
        )
    return part


def passers(attempts: list[TrainingAttempt], ids: list[str]) -> dict[str, list[str]]:
    """Ids of the workers who passed, by task, in the workforce's order."""
    passed = {task: {a.worker for a in attempts if a.task == task and a.passed} for task in design.DIFFICULTY}
    return {task: [ids[w] for w in sorted(workers)] for task, workers in passed.items()}


def gold_units(spec: Simulate, name: str, ids: list[str], rng: Generator) -> ProjectPart:
    """A few dialogues that several workers judge in every behaviour task, for comparison with gold marks."""
    n, tries = design.GOLD[name]
    return _behavior_units(ProjectPart(f"{name}-gold"), spec, n, tries, ids, 1.0, 1.0, rng)


def trial(spec: Simulate, ids: list[str], rng: Generator) -> ProjectPart:
    """The trial of MTurk workers, which was given up: not every task got done."""
    n, share, odds = design.TRIAL
    return _behavior_units(ProjectPart("mturk"), spec, n, 1, ids, share, odds, rng)


def _behavior_units(
    part: ProjectPart, spec: Simulate, n: int, tries: int, ids: list[str], share: float, odds: float, rng: Generator
) -> ProjectPart:
    chats = one_system(spec, n, 0, rng)
    names = [f"({part.name},{i + 1})_{design.SYSTEMS[0]}" for i in range(n)]
    for id_, turns in zip(names, turn_texts(chats.n_turns[:n], rng), strict=True):
        part.dialogue(id_, design.SYSTEMS[0], turns)
    for task, labels in by_task(pilot_measures(spec, odds), "behavior").items():
        if rng.random() >= share:
            continue
        who = np.concatenate([rng.choice(len(ids), tries, replace=False) for _ in range(n)])
        work = people.Work(np.repeat(np.arange(n), tries), who)
        part.judged(chats, names, task, labels, ids, work, TRAINING_DAYS, rng)
    return part


def leftovers(spec: Simulate, ids: list[str], rng: Generator) -> ProjectPart:
    """Ratings of dialogues that belong to no part of the study."""
    part, n = ProjectPart("extra"), 4
    chats = draw_chats(spec, people.sessions(12, 2, rng), rng)
    labels = by_task(measures(spec, "sur_x"), "dialogue_likert")["dialogue_likert"]
    judged = [f"(extra,{i + 1}){id_.partition(')')[2]}" for i, id_ in enumerate(ids_of(chats)[:n])]
    for id_ in judged:
        part.dialogue(id_, id_.partition(")_")[2])
    work = people.Work(np.arange(n), rng.choice(len(ids), n))
    part.judged(chats, judged, "dialogue_likert", labels, ids, work, TRAINING_DAYS, rng)
    return part
