"""What surrounds the main study: pilots, training, gold units, a trial, leftovers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from compendium.simulation import design, gaussian, people
from compendium.simulation.draw import Chats, draw_chats, judge
from compendium.simulation.evaluations import by_task
from compendium.simulation.model import Measure, measures, with_odds
from compendium.simulation.parts import ProjectPart, ids_of, turn_texts, worker
from compendium.simulation.people import Sessions, TrainingAttempt
from judgebook.study.sections.data import Simulate

Generator = np.random.Generator
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


def pass_probability(workforce: str, task: str) -> float:
    """Probability that a random worker of the workforce passes the training of a task at the first try.

    The distribution of skill is integrated by 200 equally likely values.
    """
    skill = ndtri((np.arange(200) + 0.5) / 200)
    p = people.mistake_probability(workforce, task, 3, skill)
    n = design.TRAINING_TURNS
    few = [p**k * (1 - p) ** (n - k) * _choose(n, k) for k in range(people.screening_limit(task))]
    return float(np.sum(few, axis=0).mean())


def _choose(n: int, k: int) -> float:
    return float(np.prod([(n - i) / (i + 1) for i in range(k)]))
