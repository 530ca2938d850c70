"""Files of every shape of human judgement that is neither a rating nor a vote in a row of its own."""

from __future__ import annotations

import json
import random

from doors.made import Case, text_of
from doors.reading import Judgement

SYSTEMS = ("alpha", "beta", "gamma", "delta", "omega")
PEOPLE = ("ann", "ben", "eve")
_QUALITY = dict(zip(SYSTEMS, (0.9, 0.7, 0.5, 0.3, 0.1), strict=True))
Trial = tuple[str, str, list[str], list[str]]


def trials(options: int, n_items: int = 20, seed: int = 5) -> list[Trial]:
    """What each person saw of an item, in this order, and the same from best to worst."""
    pick = random.Random(seed)
    out = []
    for i in range(n_items):
        shown = pick.sample(SYSTEMS, options)
        for person in PEOPLE:
            noisy = {s: _QUALITY[s] + pick.uniform(-0.25, 0.25) for s in shown}
            out.append((f"p{i:02d}", person, shown, sorted(shown, key=lambda s: -noisy[s])))
    return out


def best_worst(seen: list[Trial], label: str) -> list[Judgement]:
    """1 for the best, -1 for the worst, 0 for the others."""
    out = []
    for item, person, shown, order in seen:
        score = {order[0]: 1, order[-1]: -1}
        out += [Judgement(item, s, person, label, score.get(s, 0)) for s in shown]
    return out


def pairs(seen: list[Trial], label: str) -> list[Judgement]:
    """Of two options, which was better."""
    return [Judgement(i, a, p, label, 1 if order[0] == a else -1, b) for i, p, (a, b), order in seen]


def ranks(seen: list[Trial], label: str) -> list[Judgement]:
    return [Judgement(i, s, p, label, n) for i, p, _, order in seen for n, s in enumerate(order, start=1)]


def turned(rows: list[Judgement]) -> list[Judgement]:
    """Comparisons of an item as they are read: each pair from the side first met."""
    first: dict[tuple, str] = {}
    out = []
    for r in rows:
        here = first.setdefault((r.item, frozenset((r.system, r.other))), r.system) == r.system
        out.append(r if here else r._replace(system=str(r.other), other=r.system, score=-r.score))
    return out


def _table(name: str, rows: list[list], truth: list[Judgement], suffix: str = ".csv", delimiter: str = ",") -> Case:
    return Case(name, {f"ratings{suffix}": text_of(rows, delimiter)}, truth)


def _json(name: str, content: object, truth: list[Judgement]) -> Case:
    return Case(name, {"ratings.json": json.dumps(content)}, truth)


def _best_and_worst() -> list[Case]:
    two, four = trials(2), trials(4)
    counted, voted = best_worst(four, "best_worst"), pairs(two, "best")
    sides = [[i, p, *s, "AB"[s.index(o[0])], "AB"[s.index(o[1])]] for i, p, s, o in two]
    places = [[i, p, *s, s.index(o[0]) + 1, s.index(o[-1]) + 1] for i, p, s, o in four]
    options = [f"system{k}" for k in range(1, 5)]
    nothing = [[*r[:-2], "", ""] if r[0] == "p03" else r for r in places]
    return [
        _table("best and worst of two, by letters",
               [["prompt", "rater", "system_a", "system_b", "best", "worst"], *sides], voted),
        _table("best and worst of four, by places, tabs",
               [["prompt", "rater", *options, "best", "worst"], *places], counted, ".tsv", "\t"),
        _table("best and worst of four, some not answered",
               [["prompt", "rater", *options, "best", "worst"], *nothing],
               [r for r in counted if r.item != "p03"]),
    ]  # fmt: skip


def _preferences() -> list[Case]:
    two = trials(2)
    tied = [r if n % 5 else r._replace(score=0) for n, r in enumerate(pairs(two, "label"))]
    numbered = [{0: 0, 1: 1, -1: 2}[int(r.score)] for r in tied]
    named = pairs(two, "preferred")
    won = turned([Judgement(i, o[0], p, "better", 1, o[1]) for i, p, _, o in two])
    signs = [["A>>B", "A>B", "A=B", "B>A", "B>>A"][2 - 2 * int(r.score)] for r in tied]
    return [
        _table("label 1 or 2, 0 for a tie",
               [["id", "model_1", "model_2", "annotator", "label"],
                *([i, *s, p, n] for (i, p, s, _), n in zip(two, numbered, strict=True))], tied),
        _json("who is preferred, by name",
              [{"id": i, "model_a": s[0], "model_b": s[1], "annotator": p, "preferred": o[0]} for i, p, s, o in two],
              named),
        _table("winners and losers", [["prompt", "annotator", "winner", "loser"], *([i, p, *o] for i, p, _, o in two)],
               won),
        _json("verdicts as signs with ties",
              [{"question_id": i, "model_a": s[0], "model_b": s[1], "judge": p, "verdict": v}
               for (i, p, s, _), v in zip(two, signs, strict=True)],
              [r._replace(label="verdict") for r in tied]),
    ]  # fmt: skip


def _rankings() -> list[Case]:
    four, five = trials(4), trials(5)
    order = ranks(four, "rank")
    ties = [Judgement(i, s, p, "rank", n) for i, p, _, o in four for s, n in zip(o, (1, 2.5, 2.5, 4), strict=True)]
    return [
        _table("ranks, a column for each system",
               [["prompt", "annotator", *(f"rank_{s}" for s in SYSTEMS)],
                *([i, p, *(o.index(s) + 1 for s in SYSTEMS)] for i, p, _, o in five)], ranks(five, "rank")),
        _table("ranks in a cell", [["prompt", "annotator", "ranking"], *([i, p, " > ".join(o)] for i, p, _, o in four)],
               order),
        _json("a list from best to worst with ties",
              [{"prompt": i, "annotator": p, "ranking": [o[0], o[1:3], o[3]]} for i, p, _, o in four], ties),
        _table("a row for each rank",
               [["prompt", "annotator", "system", "rank"],
                *([i, p, s, n] for i, p, _, o in four for n, s in enumerate(o, start=1))], order),
    ]  # fmt: skip


_WEIGHTS = {"Major": 5.0, "Minor": 1.0}
_KINDS = ("Accuracy/Mistranslation", "Fluency/Grammar", "Fluency/Punctuation", "Style/Awkward")


def _marked_errors() -> list[Case]:
    """Rows of errors with a category and a severity; a segment without any has one row that says so."""
    pick = random.Random(8)
    rows, truth, kinds = [], [], []
    for i in range(20):
        for system in SYSTEMS[:3]:
            for person in PEOPLE:
                errors = [(pick.choice(_KINDS), pick.choice(("Major", "Minor"))) for _ in range(pick.choice((0, 1, 3)))]
                total = sum(0.1 if e == ("Fluency/Punctuation", "Minor") else _WEIGHTS[e[1]] for e in errors)
                truth.append(Judgement(str(i), system, person, "mqm", round(total, 10)))
                where = [system, f"doc{i // 5}", i, person, f"the sentence no {i} of it"]
                rows += [[*where, *e] for e in errors or [("No-error", "No-error")]]
                types = sorted({"intrinsic" if e[1] == "Major" else "extrinsic" for e in errors}) or ["NULL"]
                bits = {"NULL": 1, "extrinsic": 2, "intrinsic": 4}
                kinds.append(Judgement(str(i), system, person, "hallucination_type", sum(bits[t] for t in types)))
    head = ["system", "doc", "seg_id", "rater", "source", "category", "severity"]
    spans = [[*r[:5], {"Major": "intrinsic", "Minor": "extrinsic"}.get(r[6], "NULL"), 3, 9] for r in rows]
    return [
        _table("errors with categories and severities", [head, *rows], truth, ".tsv", "\t"),
        _table("spans with a type", [[*head[:5], "hallucination_type", "span_start", "span_end"], *spans], kinds),
    ]


def _others() -> list[Case]:
    five = trials(5)
    scored = [Judgement(i, s, p, "score", 5 - o.index(s)) for i, p, _, o in five for s in o]
    replies = [
        (i, p, {s: {"response": f"what {s} had to reply to {i}", "score": 5 - o.index(s)} for s in o})
        for i, p, _, o in five
    ]
    return [
        _json("systems as keys beside the prompt",
              [{"id": i, "prompt": f"tell me about {i} now", "annotator": p, **of_each} for i, p, of_each in replies],
              scored),
    ]  # fmt: skip


def _beside_gold() -> list[Case]:
    """One human label per item, not of every item, and a model's."""
    pick, rows = random.Random(7), []
    for i, system in [(i, s) for i in range(20) for s in SYSTEMS[:3]]:
        right = int(pick.random() < _QUALITY[system])
        said = right if pick.random() < 0.8 else 1 - right
        rows.append([f"q{i:02d}", system, right if pick.random() < 0.6 else "", said])
    scores = [(row[:2], who, score) for row in rows for who, score in zip(("gold", "judge"), row[2:], strict=True)]
    truth = [Judgement(*item, who, "score", score) for item, who, score in scores if score != ""]
    words = {"": "", 0: "incorrect", 1: "correct"}
    return [
        _table("gold beside a judge", [["item", "system", "gold", "judge_score"], *rows], truth),
        _table("gold in words",
               [["item", "system", "gold", "judge"], *([*r[:2], words[r[2]], words[r[3]]] for r in rows)], truth),
    ]  # fmt: skip


def cases() -> list[Case]:
    return [*_best_and_worst(), *_preferences(), *_rankings(), *_marked_errors(), *_others(), *_beside_gold()]
