"""Files with answers of several kinds, and names that look like something else."""

from __future__ import annotations

import json

from doors.made import Case, text_of
from doors.reading import Judgement

_PLACES = ("dialogue", "system", "annotator", "criterion", "score")
#: answers without an order, in the order of their codes
_ACTS = ("greeting, or thanks", "question", "statement")


def _table(name: str, rows: list[list], truth: list[Judgement]) -> Case:
    return Case(name, {"ratings.csv": text_of(rows)}, truth)


def _acts(truth: list[Judgement]) -> list[tuple[Judgement, str]]:
    """For each person and item what the reply does, besides how fluent it is."""
    of_fluency = [r for r in truth if r.label == "fluency"]
    coded = [r._replace(label="act", score=(int(r.score) + int(r.item[1:])) % 3) for r in of_fluency]
    return [(r, _ACTS[int(r.score)]) for r in coded]


def _beside(truth: list[Judgement], words: tuple[str, str]) -> list[list]:
    """All systems that a person saw in a row, each with an answer in words."""
    rows: dict[tuple, list] = {}
    for r in truth:
        rows.setdefault((r.item, r.annotator), []).extend([r.system, words[int(r.score)]])
    head = [f"{name} {i}" for i in (1, 2, 3) for name in ("model", "fluency")]
    return [["dialogue", "rater", *head], *([*key, *row] for key, row in rows.items())]


def _halves_beside(truth: list[Judgement]) -> tuple[list[list], list[Judgement]]:
    """All systems that a person saw in a row, each with a whole and a half score, the latter with a decimal comma."""
    halves = [r._replace(score=r.score / 2 + 0.5) if r.label == "relevance" else r for r in truth]
    rows: dict[tuple, dict[str, list]] = {}
    for r in halves:
        row = rows.setdefault((r.item, r.annotator), {}).setdefault(r.system, [])
        row.append(f"{r.score:.1f}".replace(".", ",") if r.label == "relevance" else r.score)
    head = [f"{name} {i}" for i in (1, 2, 3) for name in ("model", "fluency", "relevance")]
    table = [[*key, *(cell for system, held in row.items() for cell in (system, *held))] for key, row in rows.items()]
    return [["dialogue", "rater", *head], *table], halves


def cases(truth: list[Judgement], binary: list[Judgement]) -> list[Case]:
    """truth : two labels from 1 to 5. binary : one from 0 to 1."""
    acts = _acts(truth)
    scores = [[r.item, r.system, r.annotator, r.label, r.score] for r in truth]
    in_words = [[r.item, r.system, r.annotator, r.label, word] for r, word in acts]
    both = [*truth, *(r for r, _ in acts)]
    fluency = [r for r in truth if r.label == "fluency"]
    full = {"ann": "Ana María", "ben": "Juan Luis", "eve": "Eva Sol"}
    nested: dict[tuple, list] = {}
    for r in fluency:
        nested.setdefault((r.item, r.system), []).append(
            {"evaluador": full[str(r.annotator)], "scores": {"fluency": r.score}}
        )
    by_person: dict[tuple, dict[str, object]] = {}
    for r, answer in [*((r, r.score) for r in fluency), *acts]:
        by_person.setdefault((r.item, r.system), {})[f"{r.label}_{r.annotator}"] = answer
    grid = [["dialogue", "system", *next(iter(by_person.values()))]]
    grid += [[*key, *held.values()] for key, held in by_person.items()]
    halves = [[f"{r.item}", r.system, r.annotator, r.score, f"{20 * r.score - i % 13 / 10:.1f}".replace(".", ",")]
              for i, r in enumerate(fluency)]  # fmt: skip
    sliders = [
        r._replace(label="nutzen", score=float(row[-1].replace(",", ".")))
        for r, row in zip(fluency, halves, strict=True)
    ]
    lists: dict[tuple, dict[str, list]] = {}
    for r in fluency:
        held = lists.setdefault((r.item, r.system), {"annotators": [], "fluency": []})
        held["annotators"].append(r.annotator)
        held["fluency"].append(r.score)
    by_place = [{"id": item, "model": system, **held} for (item, system), held in lists.items()]
    return [
        _table("words and numbers in a row per judgement", [[*_PLACES], *scores, *in_words], both),
        _table("the score before the criterion", [["punkte", "dialog", "modell", "bewerter", "kriterium"],
               *([score, *places] for *places, score in scores)], truth),
        _table("grid of numbers and words", grid, [*fluency, *(r for r, _ in acts)]),
        _table("systems side by side, answers in words", _beside(binary, ("no", "yes")), binary),
        _table("systems side by side, decimal commas", *_halves_beside(truth)),
        _table("slider with decimal commas beside ratings", [["Gespräch", "Modell", "Bewerter", "fluency", "Nutzen"],
               *halves], [*fluency, *sliders]),
        Case("people and scores in lists side by side",
             {"ratings.jsonl": "\n".join(json.dumps({**one, "annotators": one["annotators"][::-1],
                                                     "fluency": one["fluency"][::-1]} if i % 2 else one)
                                         for i, one in enumerate(by_place))}, fluency),
        _table("people by their address, three rows sent twice",
               [["submitted_at", "email", "conversation", "bot", "fluency"],
                *([f"2026-03-01 10:{i // 60:02d}:{i % 60:02d}", f"{r.annotator}@example.org", r.item, r.system, r.score]
                  for i, r in enumerate([*fluency, *fluency[3:6]]))],
               [r._replace(annotator=f"{r.annotator}@example.org") for r in fluency]),
        Case("people with first and last names in a list",
             {"ratings.json": json.dumps([{"id": i, "modelo": s, "annotations": n} for (i, s), n in nested.items()])},
             fluency),
    ]  # fmt: skip
