"""Who talks to which systems, who judges what, and how long it takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compendium.simulation import design


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
