"""Files with a platform's own columns, slips among answers, names in several spellings, and items judged again."""

from __future__ import annotations

import random
from collections.abc import Callable

from doors.made import Case, text_of
from doors.reading import Judgement

SYSTEMS, PEOPLE = ("alpha", "beta", "gamma"), ("ann", "ben", "eve")
#: what only a person can say: whether names are spellings of one
ASKED = {"spellings of systems", "spellings of people", "spellings of labels"}
#: without a time, which of two judgements counts must be said
REFUSED = {"judged again, without times"}


def _drawn(score: Callable[[random.Random], float], labels: tuple[str, ...] = ("fluency",)) -> list[Judgement]:
    pick = random.Random(5)
    keys = [(f"d{i:02d}", s, p, x) for i in range(12) for s in SYSTEMS for p in PEOPLE for x in labels]
    return [Judgement(*key, score(pick)) for key in keys]


def _rated(pick: random.Random) -> float:
    return pick.choice((1, 2, 3, 4, 5))


def _table(name: str, truth: list[Judgement], label: str, more: dict[str, Callable[[int], object]]) -> Case:
    """A row for each judgement, with more columns by the number of the row."""
    rows = [["dialogue", "system", "annotator", *more, label]]
    rows += [[r.item, r.system, r.annotator, *(of(i) for of in more.values()), r.score] for i, r in enumerate(truth)]
    return Case(name, {"ratings.csv": text_of(rows)}, truth)


def _platforms() -> list[Case]:
    truth = _drawn(_rated)
    trust = random.Random(7)
    shares = [round(trust.uniform(0.7, 1), 4) for _ in truth]
    day = "11/29/2017 03:{:02d}:{:02d}"
    named = {
        "channel": lambda i: "elite",
        "tainted": lambda i: "false",
        "started_at": lambda i: day.format(i // 60, i % 60),
    }
    return [
        _table("trust among a platform's names", truth, "fluency", {"trust": shares.__getitem__, **named}),
        _table("a platform's confidence in an answer", truth, "fluency", {"fluency:confidence": shares.__getitem__}),
    ]


def _slips() -> list[Case]:
    words = ("safe", "unclear", "unsafe")
    truth = _drawn(lambda pick: pick.choice((0, 1, 2)), ("verdict",))
    rows = [["dialogue", "system", "annotator", "verdict"]]
    rows += [[r.item, r.system, r.annotator, "7" if i == 40 else words[int(r.score)]] for i, r in enumerate(truth)]
    held = [r for i, r in enumerate(truth) if i != 40]
    pick = random.Random(6)
    votes = [Judgement(f"d{i:02d}", *pick.sample(SYSTEMS, 2), "", 0.0) for i in range(20) for _ in PEOPLE]
    votes = [
        Judgement(v.item, v.system, PEOPLE[i % 3], "winner", pick.choice((1, -1)), v.annotator)
        for i, v in enumerate(votes[::3] * 3)
    ]
    sides = [["dialogue", "system_a", "system_b", "annotator", "winner"]]
    sides += [
        [v.item, v.system, v.other, v.annotator, "5" if i == 7 else "oops" if i == 31 else "A" if v.score > 0 else "B"]
        for i, v in enumerate(votes)
    ]
    return [
        Case("a number among answers in words", {"ratings.csv": text_of(rows)}, held),
        Case("slips among votes", {"votes.csv": text_of(sides)}, [v for i, v in enumerate(votes) if i not in (7, 31)]),
    ]


def _spellings() -> list[Case]:
    truth = _drawn(_rated)
    spelt = {"alpha": "Alpha", "beta": "be-ta", "ann": "аnn", "eve": "Eve\u200b"}

    def again(name: str, field: str) -> Case:
        rows = [["dialogue", "system", "annotator", "fluency"]]
        for i, r in enumerate(truth):
            other = r._replace(**{field: spelt.get(getattr(r, field), getattr(r, field))}) if i % 4 == 1 else r
            rows.append([r.item, other.system, other.annotator, r.score])
        return Case(name, {"ratings.csv": text_of(rows)}, truth)

    long = [["dialogue", "system", "annotator", "criterion", "score"]]
    both = _drawn(_rated, ("fluency", "tone"))
    long += [[*r[:3], r.label.upper() if i % 7 == 2 else r.label, r.score] for i, r in enumerate(both)]
    return [
        again("spellings of systems", "system"),
        again("spellings of people", "annotator"),
        Case("spellings of labels", {"ratings.csv": text_of(long)}, both),
    ]


def _again() -> list[Case]:
    truth = _drawn(_rated)
    first = [(r, 1 + (i * 3) % 5) for i, r in enumerate(truth) if i % 20 == 3]
    begun = [[r.item, r.system, r.annotator, f"2024-03-01 09:{i:02d}:00", score] for i, (r, score) in enumerate(first)]
    ended = [
        [r.item, r.system, r.annotator, f"2024-03-02 {i // 60:02d}:{i % 60:02d}:00", r.score]
        for i, r in enumerate(truth)
    ]
    # what was judged first stands below
    rows = [["dialogue", "system", "annotator", "submitted_at", "fluency"], *ended, *begun]
    untimed = [[*row[:3], row[4]] for row in rows]
    return [
        Case("judged again, with times", {"ratings.csv": text_of(rows)}, truth),
        Case("judged again, without times", {"ratings.csv": text_of(untimed)}, truth),
    ]


def cases() -> list[Case]:
    return [*_platforms(), *_slips(), *_spellings(), *_again()]
