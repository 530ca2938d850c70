"""Files that people have, each with the judgements that it holds: shapes, dialects, languages and damage."""

from __future__ import annotations

import json
import random

from doors import dirty, shapes
from doors.made import Case, text_of
from doors.reading import Judgement

SYSTEMS = ("alpha", "beta", "gamma")
PEOPLE = ("ann", "ben", "eve")
#: how often a system's reply is as good as can be
_QUALITY = {"alpha": 0.8, "beta": 0.5, "gamma": 0.2}


def drawn(
    labels: tuple[str, ...] = ("fluency", "relevance"),
    n_items: int = 12,
    levels: tuple[float, ...] = (1, 2, 3, 4, 5),
    seed: int = 1,
) -> list[Judgement]:
    """Judgements of every item of every system by every person, who mostly agree."""
    pick = random.Random(seed)
    rows = []
    for i in range(n_items):
        for system in SYSTEMS:
            for label in labels:
                level = min(int((_QUALITY[system] + pick.uniform(-0.25, 0.25)) * len(levels)), len(levels) - 1)
                for person in PEOPLE:
                    moved = max(0, min(len(levels) - 1, level + pick.choice((-1, 0, 0, 0, 1))))
                    rows.append(Judgement(f"d{i:02d}", system, person, label, levels[moved]))
    return rows


def _long(truth: list[Judgement], names: dict[str, str]) -> list[list]:
    """A row per item, system and person, with a column per label."""
    labels = list(dict.fromkeys(r.label for r in truth))
    rows: dict[tuple, dict] = {}
    for r in truth:
        rows.setdefault((r.item, r.system, r.annotator), {})[r.label] = r.score
    head = [names["item"], names["system"], names["annotator"], *labels]
    return [head, *([*ids, *(scores.get(x, "") for x in labels)] for ids, scores in rows.items())]


def _by_label(truth: list[Judgement], names: dict[str, str]) -> list[list]:
    """A row per judgement, with a column for the label and one for the score."""
    out = [[names["item"], names["system"], names["annotator"], names["label"], names["score"]]]
    return out + [[r.item, r.system, r.annotator, r.label, r.score] for r in truth]


def _grid(truth: list[Judgement], names: dict[str, str], pattern: str) -> list[list]:
    """A row per item and system, with a column per label and person."""
    columns = list(dict.fromkeys((r.label, r.annotator) for r in truth))
    rows: dict[tuple, dict] = {}
    for r in truth:
        rows.setdefault((r.item, r.system), {})[r.label, r.annotator] = r.score
    head = [names["item"], names["system"], *(pattern.format(label=x, annotator=a) for x, a in columns)]
    return [head, *([item, system, *(scores.get(c, "") for c in columns)] for (item, system), scores in rows.items())]


def _votes(n_items: int = 15, seed: int = 2) -> list[Judgement]:
    """Comparisons of two systems on each item by every person; 1 where the first won."""
    pick = random.Random(seed)
    rows = []
    for i in range(n_items):
        first, second = pick.sample(SYSTEMS, 2)
        for person in PEOPLE:
            better = _QUALITY[first] - _QUALITY[second] + pick.uniform(-0.5, 0.5)
            rows.append(Judgement(f"d{i:02d}", first, person, "better", 1 if better > 0 else -1, second))
    return rows


#: names that files give to what they say, by language
_ROLES = ("item", "system", "annotator", "label", "score")
NAMES = {
    language: dict(zip(_ROLES, names, strict=True))
    for language, *names in (
        ("plain", "dialogue", "system", "annotator", "criterion", "score"),
        ("model", "conversation_id", "model", "worker_id", "metric", "rating"),
        ("review", "conversation", "engine", "reviewer", "criterion", "score"),
        ("llm", "query_id", "llm", "evaluator", "question", "answer"),
        ("submission", "Story ID", "submission_id", "Judge", "Criterion", "Score"),
        ("architecture", "doc", "Architecture", "expert", "quality", "score"),
        ("toloka", "INPUT:dialog_id", "INPUT:system", "ASSIGNMENT:worker_id", "OUTPUT:criterion", "OUTPUT:score"),
        ("appen", "_unit_id", "system", "_worker_id", "criterion", "score"),
        ("german", "Gespräch", "Modell", "Bewerter", "Kriterium", "Bewertung"),
    )
}


def _rows(name: str, rows: list[list], truth: list[Judgement], suffix: str = ".csv", **more) -> Case:
    delimiter = "\t" if suffix == ".tsv" else ","
    return Case(name, {f"ratings{suffix}": text_of(rows, delimiter)}, truth, **more)


def _shapes() -> list[Case]:
    truth = drawn()
    cases = []
    for language, names in NAMES.items():
        cases.append(_rows(f"long, {language}", _long(truth, names), truth))
        cases.append(_rows(f"a row per judgement, {language}", _by_label(truth, names), truth))
        cases.append(_rows(f"grid, {language}", _grid(truth, names, "{label}_{annotator}"), truth))
    for pattern in ("{annotator}_{label}", "{annotator}.{label}", "{label} ({annotator})", "{label}{annotator}"):
        rows = _grid(truth, NAMES["plain"], pattern)
        cases.append(_rows(f"grid {pattern}", rows, truth))
    numbered = [r._replace(annotator=f"annotator{PEOPLE.index(r.annotator) + 1}") for r in truth]
    cases.append(_rows("grid, numbered people", _grid(numbered, NAMES["plain"], "{label}_{annotator}"), truth))
    return cases


def _dialects() -> list[Case]:
    """What stands around the rows; delimiters, encodings and decimal commas are drawn in the round trip."""
    truth = drawn()
    rows = _long(truth, NAMES["review"])
    plain = text_of(rows)
    numbered = [["" if i == 0 else i - 1, *row] for i, row in enumerate(rows)]
    german = text_of(_long(drawn(levels=(1, 1.5, 2, 2.5, 3)), NAMES["german"]), ";")
    return [
        Case("decimal commas", {"ratings.csv": german.replace(".5", ",5")}, drawn(levels=(1, 1.5, 2, 2.5, 3))),
        Case("blank lines below", {"ratings.csv": plain + "\n,,,,\n,,,,\n"}, truth),
        Case("title above", {"ratings.csv": "Ratings of March,,,,\n" + plain}, truth),
        _rows("index column", numbered, truth),
        Case("mean below", {"ratings.csv": plain + "Mean,,,3.1,3.2\n"}, truth),
    ]


def _damage() -> list[Case]:
    truth = drawn()
    rows = _long(truth, NAMES["plain"])
    gone = [r for i, r in enumerate(truth) if i % 9]
    cases = []
    for code in ("-1", "99", "9", "0", "null", "."):
        kept = {(r.item, r.system, r.annotator, r.label) for r in gone}
        coded = [r if (r.item, r.system, r.annotator, r.label) in kept else r._replace(score=code) for r in truth]
        cases.append(_rows(f"missing as {code}", _long(coded, NAMES["plain"]), gone))
    said = {"d03": 'he said "so', "d05": 'and left"', "d06": '"so he said'}
    lines = "".join(
        "\t".join(map(str, [*r, said.get(r[0], "a text") + r[1] if i else "reply"])) + "\n" for i, r in enumerate(rows)
    )
    cases.append(Case("quotation marks in tabs", {"ratings.tsv": lines.replace('"so he said', "so")}, truth))
    cases.append(Case("a cell begins with a quotation mark", {"ratings.tsv": lines}, truth))
    named = [r._replace(score={1: "1 (gar nicht)", 5: "5 (sehr gut)"}.get(r.score, r.score)) for r in truth]
    cases.append(_rows("labelled ends", _long(named, NAMES["german"]), truth))
    na = [r._replace(system={"alpha": "NA"}.get(r.system, r.system)) for r in truth]
    cases.append(_rows("a system called NA", _long(na, NAMES["plain"]), na))
    blanks = [r._replace(system=r.system + " " if i % 5 == 0 else r.system) for i, r in enumerate(truth)]
    cases.append(_rows("trailing blanks", _long(blanks, NAMES["plain"]), truth))
    return cases


def _labels() -> list[Case]:
    names = ("valid", "no_hallucination", "key_points", "email_tone", "fluid", "number_agreement", "coherence")
    truth = drawn(names)
    bad = drawn(("hallucination", "factual_errors"))
    with_metric = drawn(("fluency", "empathy"), levels=(1.25, 2.5, 3.75, 4.15, 5))
    cases = [
        _rows("labels that look like ids", _long(truth, NAMES["plain"]), truth),
        _rows(
            "negative labels", _long(bad, NAMES["plain"]), bad, directions={"hallucination": -1, "factual_errors": -1}
        ),
        _rows("ratings with decimals", _long(with_metric, NAMES["plain"]), with_metric),
    ]
    for levels in ((1, 2), (0, 1, 2, 3), (1, 2, 3, 4, 5, 6), tuple(range(1, 10)), tuple(range(0, 101, 5))):
        scaled = drawn(levels=levels)
        cases.append(_rows(f"levels {levels[0]} to {levels[-1]}", _long(scaled, NAMES["plain"]), scaled))
    yes = drawn(("helpful",), levels=(0, 1))
    for words in (("False", "True"), ("👎", "👍"), ("thumbs_down", "thumbs_up")):
        worded = [r._replace(score=words[int(r.score)]) for r in yes]
        cases.append(_rows(f"answers {words[1]}", _long(worded, NAMES["plain"]), yes))
    return cases


def _pairs() -> list[Case]:
    truth = _votes()
    cases = []
    spellings = {
        "A/B": {1: "A", -1: "B"}, "left/right": {1: "left", -1: "right"}, "1/2": {1: 1, -1: 2},
        "A>>B": {1: "A>>B", -1: "B>>A"}, "±1": {1: 1, -1: -1}, "A is better": {1: "A is better", -1: "B is better"},
    }  # fmt: skip
    heads = [("system_a", "system_b", "winner"), ("generator_1", "generator_2", "preference")]
    for spelling, words in spellings.items():
        for first, second, outcome in heads:
            rows = [["dialogue", first, second, "annotator", outcome]]
            rows += [[r.item, r.system, r.other, r.annotator, words[r.score]] for r in truth]
            named = [r._replace(label=outcome) for r in truth]
            cases.append(_rows(f"votes {spelling}, {first}", rows, named))
    rows = [["dialogue", "system_a", "system_b", "annotator", "winner"]]
    rows += [[r.item, r.system, r.other, r.annotator, r.system if r.score > 0 else r.other] for r in truth]
    cases.append(_rows("winners by name", rows, [r._replace(label="winner") for r in truth]))
    return cases


def _nested() -> list[Case]:
    truth = drawn(("fluency",))
    of_item: dict[tuple, list[Judgement]] = {}
    for r in truth:
        of_item.setdefault((r.item, r.system), []).append(r)
    by_person = [
        {"id": item, "model": system, "ratings": {r.annotator: r.score for r in of_item[item, system]}}
        for item, system in of_item
    ]
    return [Case("people as keys", {"ratings.json": json.dumps(by_person)}, [r._replace(label="score") for r in truth])]


def _several_answers() -> list[Case]:
    """Cells that hold several answers, and answers for several systems side by side."""
    truth = drawn(("fluency",))
    pick = random.Random(3)
    sets = {
        (r.item, r.system, r.annotator): sorted(pick.sample(("rude", "off-topic", "false"), pick.choice((0, 0, 1, 2))))
        for r in truth
    }
    rows = [["dialogue", "system", "annotator", "issues"], *([*k, ";".join(v)] for k, v in sets.items())]
    bits = {"false": 1, "off-topic": 2, "rude": 4}
    marked = [Judgement(*k, "issues", sum(bits[x] for x in v) or 8) for k, v in sets.items()]
    side = [["prompt", "annotator", *(f"system{i}" for i in (1, 2, 3)), *(f"quality{i}" for i in (1, 2, 3))]]
    judged: dict[tuple, dict] = {}
    for r in truth:
        judged.setdefault((r.item, r.annotator), {})[r.system] = r.score
    for (item, person), scores in judged.items():
        order = pick.sample(SYSTEMS, 3)
        side.append([item, person, *order, *(scores[s] for s in order)])
    return [
        _rows("several answers in a cell", rows, marked),
        _rows("systems side by side", side, [r._replace(label="quality") for r in truth]),
    ]


def cases() -> list[Case]:
    """All of them, each with a name of its own."""
    return [
        *_shapes(),
        *_dialects(),
        *_damage(),
        *_labels(),
        *_pairs(),
        *_nested(),
        *_several_answers(),
        *shapes.cases(),
        *dirty.cases(),
    ]
