"""Files with a row, a file or a key for each person, crowd work with items side by side, and nested records: made ones,
with what is right."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from judgebook.extras.new.asking.doubts import Draft
from judgebook.extras.new.asking.terminal import carried, settle
from judgebook.extras.new.transcripts import of_files
from judgebook.sources import build
from judgebook.study import params

SHARED = Path(__file__).parents[3] / "shared/doors_2026-11-29"
SYSTEMS = ("alpha", "beta", "gamma")
PEOPLE = ("anna", "ben", "carl")


class Right(NamedTuple):
    """What is right: numbers of systems, people (None: unknown), items and judgements, and the labels' total scores."""

    systems: int
    people: int | None
    items: int
    judgements: int
    totals: tuple[float, ...]


class Kind(NamedTuple):
    """write : writes files to a folder and gives what `new` is told to read. answers : question -> what is answered;
    Enter for all others."""

    write: Callable[[Path], list[Path]]
    right: Right
    answers: Mapping[str, str] = MappingProxyType({})
    name: str = ""

    def read(self, folder: Path) -> str:
        """What is not right; "" if nothing is."""

        def again(given: dict[str, str]) -> Draft:
            return of_files("kind", data, folder, given)

        data = self.write(folder)
        out = settle(again({}), again, self._typed)
        path = folder / "kind.yaml"
        path.write_text(carried(out))
        marks = build.build(params.load(path)).frames["annotations"]
        systems = marks["system"].nunique()
        people = marks["annotator"].nunique() if marks["annotator_known"].all() else None
        items = len(marks.drop_duplicates(["dialogue", "turn"]))
        totals = tuple(sorted(marks.groupby("label")["score"].sum()))
        read = Right(systems, people, items, len(marks), totals)
        return "" if read == self.right else f"expected {self.right}, read {read}\n{path.read_text()}"

    def _typed(self, prompt: str) -> str:
        text, *lines = prompt.splitlines()
        wanted = next((answer for begin, answer in self.answers.items() if begin in text), "")
        choices = [line.split(maxsplit=1) for line in lines]
        return next((n for n, says in choices if wanted and says.startswith(wanted)), "")


def _score(*key: Any) -> int:
    return random.Random(repr(key)).randint(1, 5)


def _right(systems: int, people: int | None, items: int, labels: Iterable[Iterable[float]]) -> Right:
    held = [list(scores) for scores in labels]
    return Right(systems, people, items, sum(map(len, held)), tuple(sorted(map(sum, held))))


def _table(rows: list[list], name: str = "data.csv") -> Callable[[Path], list[Path]]:
    def write(folder: Path) -> list[Path]:
        with (folder / name).open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        return [folder / name]

    return write


def _text(text: str, name: str) -> Callable[[Path], list[Path]]:
    def write(folder: Path) -> list[Path]:
        (folder / name).write_text(text)
        return [folder / name]

    return write


def _json(content: Any, name: str = "data.json") -> Callable[[Path], list[Path]]:
    return _text(json.dumps(content), name)


def _folder(files: dict[str, list[list]]) -> Callable[[Path], list[Path]]:
    def write(folder: Path) -> list[Path]:
        (folder / "data").mkdir()
        for name, rows in files.items():
            _table(rows, f"data/{name}")(folder)
        return [folder / "data"]

    return write


_LIMESURVEY = ("id", "submitdate", "lastpage", "startlanguage", "token")
_NAMED = ("Response ID", "Date submitted", "Last page", "Start language", "Access code")


def _survey(
    name: Callable[[int, int], str], n: int, m: int, *, head: str = "{}", beside: bool = False, code: str = ""
) -> Kind:
    """One row per person: n items by m labels. name : of a column. head : of the columns of the tool."""
    pairs = [(i, j) for i in range(1, n + 1) for j in range(1, m + 1)]
    columns = [name(i, j) for i, j in pairs]
    own = [head.format(c, named) for c, named in zip(_LIMESURVEY, _NAMED, strict=True)]
    more = [f"P1{c[len(c.split('.')[0]) :]}" for c in columns[:1]] if beside else []
    times = [f"{c.split('.')[0]}Time" for c in columns] if "." not in columns[0] else []
    rows: list[list] = [[*own, *more, *columns, *times]]
    for k in range(1, 13):
        scores = [f"{code}{_score(i, j, k)}" for i, j in pairs]
        rows.append([k, "2024-01-01 10:00:00", 4, "en", f"w{k}x"] + [_score(k)] * len(more) + scores)
        rows[-1] += [round(random.Random(k + t).uniform(3, 60), 2) for t in range(len(times))]
    labels = [[_score(i, j, k) for i in range(1, n + 1) for k in range(1, 13)] for j in range(1, m + 1)]
    return Kind(_table(rows), _right(1, 12, n, labels))


_WORDS = ("fluent", "concise", "relevant", "clear")


def _crowd(
    labels: tuple[str, ...], places: int, name: str, shown: dict[str, Callable[[int], str]], systems: int
) -> Kind:
    """MTurk with a box for each answer."""
    boxes = [(x, i, o) for x in labels for i in range(1, places + 1) for o in range(1, 6)]
    head = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "WorkTimeInSeconds", *shown]
    rows: list[list] = [[*head, *(name.format(label=x, i=i, option=o) for x, i, o in boxes)]]
    for hit in range(6):
        for who in range(3):
            row = [f"H{hit}", f"A{hit}{who}", f"W{who}", "Approved", 100 + who, *(f(hit) for f in shown.values())]
            rows.append(row + [str(_score(hit, who, x, i) == o).lower() for x, i, o in boxes])
    held = [
        [_score(hit, who, x, i) for hit in range(6) for who in range(3) for i in range(1, places + 1)] for x in labels
    ]
    return Kind(_table(rows), _right(systems, 3, 6 * places, held))


def _shuffled(hit: int) -> str:
    return repr(random.Random(hit).sample(SYSTEMS, 3))


def _headless(order: str, *, checks: bool = False, suffix: str = "csv") -> Kind:
    """Columns without names. order : s system, a annotator, g segment, x score, t kind, w when."""
    rows, scores = [], []
    for k in range(4):
        for s in SYSTEMS:
            for g in range(12):
                kinds = ["TGT", "BAD"] if checks and g == k else ["TGT"]
                for kind in kinds:
                    score = random.Random(repr((k, s, g, kind))).randint(0, 100)
                    cells = {"s": f"sys{s.title()}.v1", "a": f"engdeu{k}01", "g": g, "x": score, "t": kind}
                    rows.append([(cells | {"w": f"{1650000000 + 37 * len(rows)}.25"})[c] for c in order])
                    scores += [score] if kind == "TGT" else []
    random.Random(1).shuffle(rows)
    return Kind(_table(rows, f"data.{suffix}"), _right(3, 4, 36, [scores]))


def _plain() -> list[list]:
    return [[f"user{k}", f"model-{s}", f"doc{g}", _score(k, s, g)] for g in range(15) for k in range(3) for s in "ab"]


def _long(who: str) -> list[list]:
    cells = [[f"d{i}", s, *(_score(i, s, who, x) for x in ("fluency", "relevance"))] for i in range(9) for s in SYSTEMS]
    return [["doc", "model", "fluency", "relevance"], *cells]


def _of_people(people: Iterable[str]) -> Right:
    held = [[_score(i, s, p, x) for p in people for i in range(9) for s in SYSTEMS] for x in ("fluency", "relevance")]
    return _right(3, len([*people]), 27, held)


def _criteria(who: str) -> list[list]:
    _, *rows = _long(who)
    return [
        ["item", "system", "criterion", "score"],
        *([d, s, x, v] for d, s, *vs in rows for x, v in zip(("fluency", "relevance"), vs, strict=True)),
    ]


_RATED = [(f"d{i}", s, p) for i in range(9) for s in SYSTEMS for p in PEOPLE]


def _scores(doc: str, system: str, person: str) -> dict[str, int]:
    return {x: _score(int(doc[1:]), system, person, x) for x in ("fluency", "relevance")}


def _lists() -> list[tuple[str, str, list[int]]]:
    return [(f"d{i}", s, [_score(i, s, k) for k in range(2)]) for i in range(12) for s in SYSTEMS]


_OF_LISTS = _right(3, None, 36, [[x for _, _, held in _lists() for x in held]])
_TWO = {p: {f"doc-{i:02d}": {"fluency": _score(i, p), "relevance": _score(p, i)} for i in range(20)} for p in PEOPLE}
_OF_TWO = _right(1, 3, 20, [[d[x] for of in _TWO.values() for d in of.values()] for x in ("fluency", "relevance")])

KINDS: dict[str, Kind] = {
    # one row per person
    "LimeSurvey, codes": _survey(lambda i, j: f"R{i}Q{j}", 4, 3),
    "LimeSurvey, codes and questions": _survey(
        lambda i, j: f"T{i}Q{j}. Is the text {_WORDS[j - 1]}?", 3, 4, head="{}. {}"
    ),
    "LimeSurvey, array": _survey(
        lambda i, j: f"G{i}[SQ00{j}]. Please rate text {i} [{_WORDS[j - 1]}]", 4, 3, head="{}. {}"
    ),
    "LimeSurvey, a question about the person": _survey(
        lambda i, j: f"S{i:02}V{j}. Is it {_WORDS[j - 1]}?", 5, 2, head="{}. {}", beside=True
    ),
    "LimeSurvey, codes of answers": _survey(lambda i, j: f"S{i:02}Q{j}", 4, 2, code="A"),
    "LimeSurvey, questions": _survey(lambda i, j: f"Text {i}: Is it {_WORDS[j - 1]}?", 4, 2, head="{1}"),
    "a row per person, doc1_fluency": Kind(
        _table(
            [["participant", "age", *(f"doc{i}_{x}" for i in range(1, 5) for x in ("fluency", "relevance"))]]
            + [[f"p{k}", 20 + k, *(_score(k, i, x) for i in range(1, 5) for x in "fr")] for k in range(12)]
        ),
        _right(1, 12, 4, [[_score(k, i, x) for i in range(1, 5) for k in range(12)] for x in "fr"]),
    ),
    "a row per person, a condition and statements": Kind(
        _table(
            [["ResponseId", "bot", *(f"{x}_{i}" for x in ("fluency", "relevance") for i in range(1, 4))]]
            + [
                [f"R_{k:05x}", ("warm", "cool")[k % 2], *(_score(k, i, x) for x in "fr" for i in range(3))]
                for k in range(20)
            ]
        ),
        _right(2, 20, 6, [[_score(k, i, x) for i in range(3) for k in range(20)] for x in "fr"]),
    ),
    "a row per person, systems in columns": Kind(
        _table(
            [["email", *(f"{s}: {x}" for s in SYSTEMS for x in ("fluency", "relevance"))]]
            + [[f"p{k}@x.org", *(_score(k, s, x) for s in SYSTEMS for x in "fr")] for k in range(12)]
        ),
        _right(3, 12, 3, [[_score(k, s, x) for s in SYSTEMS for k in range(12)] for x in "fr"]),
        {"What are alpha, beta, gamma in the names of columns?": "systems"},
    ),
    # crowd work
    "boxes, list of ids": _crowd(
        ("diversity", "bias"),
        3,
        "Answer.{label}_{i}.option_{option}",
        {"Input.ids": lambda h: f"['{h}_0', '{h}_1', '{h}_2']"},
        1,
    ),
    "boxes, JSON, bare numbers": _crowd(
        ("fluency",),
        4,
        "Answer.{label}-{i}.{option}",
        {"Input.items": lambda h: json.dumps([f"{h}x{i}" for i in range(4)])},
        1,
    ),
    "boxes, list of systems": _crowd(
        ("fluent", "true"),
        3,
        "Answer.{label}{i}.opt{option}",
        {"Input.doc": lambda h: f"doc{h}", "Input.order": _shuffled},
        3,
    ),
    "boxes, nothing shown": _crowd(("fluency", "trust"), 2, "Answer.{label}_{i}.option_{option}", {}, 1),
    "boxes, numbered texts": _crowd(
        ("fluency", "trust"),
        2,
        "Answer.{label}_{i}.{option}",
        {f"Input.text_{i}": lambda h, i=i: f"this is text {i} of hit {h}" for i in (1, 2)},
        1,
    ),
    # no header
    "Appraise": _headless("asgtxw", checks=True),
    "Appraise, no checks": _headless("asgtxww"),
    "no header, system first": _headless("sagx"),
    "no header, score first": _headless("xgas"),
    "no header, tabs": Kind(
        _text("\n".join("\t".join(map(str, row)) for row in _plain()), "data.tsv"),
        _right(2, 3, 30, [[row[3] for row in _plain()]]),
    ),
    # a file for each
    "expert1_ratings.csv": Kind(
        _folder({f"expert{p}_ratings.csv": _long(f"expert{p}") for p in (1, 2, 3)}),
        _of_people(["expert1", "expert2", "expert3"]),
    ),
    "ratings_anna.csv": Kind(_folder({f"ratings_{p}.csv": _long(p) for p in PEOPLE}), _of_people(PEOPLE)),
    "long tables": Kind(_folder({f"{p}_annotations.csv": _criteria(p) for p in PEOPLE}), _of_people(PEOPLE)),
    "other files beside them": Kind(
        _folder({**{f"rater_{p}.csv": _long(p) for p in PEOPLE}, "people.csv": [["rater", "age"], ["anna", 30]]}),
        _of_people(PEOPLE),
    ),
    "columns in another order": Kind(
        _folder({f"{p}.csv": [row if p != "ben" else [*row[:2], row[3], row[2]] for row in _long(p)] for p in PEOPLE}),
        _of_people(PEOPLE),
    ),
    # nested
    "a list in a text": Kind(
        _json([{"id": d, "model": s, "HumanScores": json.dumps(held)} for d, s, held in _lists()]), _OF_LISTS
    ),
    "a list and its mean": Kind(
        _json([{"id": d, "system": s, "human_scores": h, "human_avg": sum(h) / 2} for d, s, h in _lists()]), _OF_LISTS
    ),
    "keys of items, a list and its mean": Kind(
        _json(
            {
                f"{d}_{s}": {"text": f"the text of {d}", "model": s, "human_scores": h, "human_avg": sum(h) / 2}
                for d, s, h in _lists()
            }
        ),
        _OF_LISTS,
    ),
    "labels of lists and means": Kind(
        _json(
            [
                {
                    "doc": d,
                    "model": s,
                    "annotations": {
                        "fluency": {"scores": h, "mean": sum(h) / 2},
                        "coherence": {"scores": h, "mean": sum(h) / 2},
                    },
                }
                for d, s, h in _lists()
            ]
        ),
        _right(3, None, 36, [[x for _, _, h in _lists() for x in h]] * 2),
    ),
    "people as keys of items": Kind(_json(_TWO), _OF_TWO),
    "items as keys of people": Kind(_json({d: {p: _TWO[p][d] for p in PEOPLE} for d in _TWO["anna"]}), _OF_TWO),
    "items as keys of systems": Kind(
        _json({d: {p: _TWO[p][d] for p in PEOPLE} for d in _TWO["anna"]}),
        _OF_TWO._replace(systems=3, people=None, items=60),
        {"What are the 3 keys below 'the whole'?": "systems"},
    ),
    "people as keys of lists": Kind(
        _json({p: [{"doc": d, "system": s, **_scores(d, s, q)} for d, s, q in _RATED if q == p] for p in PEOPLE}),
        _of_people(PEOPLE),
    ),
    "objects in objects": Kind(
        _json(
            [{"meta": {"doc": d, "model": s}, "judge": {"name": p}, "ratings": _scores(d, s, p)} for d, s, p in _RATED]
        ),
        _of_people(PEOPLE),
    ),
    "lists in lists": Kind(
        _json(
            [
                {
                    "doc": f"d{i}",
                    "outputs": [
                        {
                            "model": s,
                            "text": f"{s} says {i} to all",
                            "ratings": [{"who": p, **_scores(f"d{i}", s, p)} for p in PEOPLE],
                        }
                        for s in SYSTEMS
                    ],
                }
                for i in range(9)
            ]
        ),
        _of_people(PEOPLE),
    ),
    "names that say nothing": Kind(
        _json(
            [
                {
                    "k1": f"d{i}",
                    "k2": {"k3": s},
                    "k4": [
                        {"k5": p, **{f"k{n}": v for n, v in enumerate(_scores(f"d{i}", s, p).values(), 6)}}
                        for p in PEOPLE
                    ],
                }
                for i in range(9)
                for s in SYSTEMS
            ]
        ),
        _of_people(PEOPLE),
    ),
    # files that are shared
    "limesurvey_grid.csv": Kind(lambda folder: [SHARED / "limesurvey_grid.csv"], Right(1, 10, 3, 90, (79, 89, 94))),
    "mturk_one_hot_grid.csv": Kind(lambda folder: [SHARED / "mturk_one_hot_grid.csv"], Right(1, 4, 9, 72, (90, 92))),
    "webmushra.csv": Kind(lambda folder: [SHARED / "webmushra.csv"], Right(4, 6, 16, 96, (5534,))),
    "sentences_as_repeats.csv": Kind(
        lambda folder: [SHARED / "sentences_as_repeats.csv"], Right(3, None, 66, 66, (42,))
    ),
}


def cases() -> list[Kind]:
    return [kind._replace(name=name) for name, kind in KINDS.items()]
