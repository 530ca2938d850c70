"""What answers are called: `None`, yes and no beside others, decimal commas, comparisons in names of columns; and
columns that only look like labels, corpora or the platform's own."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

from doors.kinds import Kind
from doors.made import text_of
from doors.reading import Judgement
from judgebook.study import params

PEOPLE = ("ann", "ben", "cem")
SYSTEMS = ("alpha", "beta")
#: what a label's answers are, or what gives one of an item, a system and a person
Answers = tuple | Callable[[random.Random], Any]


def rated(labels: dict[str, Answers], items: int = 12, systems: Iterable[Any] = SYSTEMS) -> list[Judgement]:
    """Everybody judges what each system answered. The score is what the cell holds."""
    pick = random.Random(repr(labels))
    return [
        Judgement(f"s{i}", system, who, label, give(pick) if callable(give) else pick.choice(give))
        for i in range(items)
        for system in systems
        for who in PEOPLE
        for label, give in labels.items()
    ]


def table(rows: list[Judgement], head: Iterable[str] = ("item", "system", "rater")) -> list[list]:
    by_row: dict[tuple, dict[str, Any]] = {}
    for r in rows:
        by_row.setdefault((r.item, r.system, r.annotator), {})[r.label] = r.score
    labels = [*dict.fromkeys(r.label for r in rows)]
    return [[*head, *labels], *([*key, *held.values()] for key, held in by_row.items())]


def read_as(
    rows: list[Judgement], missing: Iterable[str] = (), numbers: dict[str, float] | None = None
) -> Callable[[params.Study], list[Judgement]]:
    """What the rows hold as the study codes words: places of categories, else `numbers`. missing : no answers."""

    def truth(study: params.Study) -> list[Judgement]:
        labels = {x.id: x for x in study.label_list()}

        def score(r: Judgement) -> float:
            if r.score in (answers := [*(labels[r.label].categories or ())]):
                return answers.index(r.score) + (labels[r.label].level == "ordinal")
            return (numbers or {}).get(str(r.score), r.score)

        return [r._replace(score=score(r)) for r in rows if r.score not in missing]

    return truth


def kind(name: str, rows: list[list], truth: Any, delimiter: str = ",", **more: Any) -> Kind:
    return Kind(name, {"data.csv": text_of(rows, delimiter)}, truth, **more)


def none() -> Iterable[Kind]:
    """None of several kinds is an answer; beside yes and no, it is none."""
    kinds = ("Grammar", "Invented", "Off topic")
    for nothing, label in (("None", "error_type"), ("none", "mistake"), ("NONE", "problem"), ("None", "Fehlerart")):
        rows = rated({label.lower(): (*kinds, nothing)})
        beside = rated({label.lower(): (*kinds, nothing), "fluency": (1, 2, 3, 4, 5)})
        for more, held in (("", rows), (", rated", beside)):
            yield kind(f"{nothing} of {label}{more}", table(held), read_as(held))
        none_at_all = ("What is", "no answer")
        yield kind(f"{nothing} of {label}, missing", table(rows), read_as(rows, [nothing]), answer=none_at_all)
    for yes, no, unsure in (("Y", "N", "?"), ("yes", "no", "None"), ("ja", "nein", "unknown")):
        rows = rated({"factual": (yes, no, unsure), "fluent": (yes, no)})
        truth = read_as(rows, [unsure], {yes: 1, no: 0})
        yield kind(f"{unsure} beside {yes} and {no}", table(rows), truth)
        yield kind(f"{unsure}, an answer", table(rows), read_as(rows), answer=("What is", "an answer"))
    pick = random.Random(4)
    for nothing, names, chosen in (
        ("None", ("model_a", "model_b"), "AB"),
        ("none", ("left", "right"), ("left", "right")),
    ):
        rows = [
            Judgement(f"q{i}", *pick.sample(SYSTEMS, 1), who, "preferred", pick.choice((1, 0, -1)))
            for i in range(20)
            for who in PEOPLE
        ]
        rows = [r._replace(other=next(s for s in SYSTEMS if s != r.system)) for r in rows]
        told = {1: chosen[0], -1: chosen[1], 0: nothing}
        lines = [[r.item, r.system, r.other, r.annotator, told[int(r.score)]] for r in rows]
        yield kind(f"{nothing} preferred", [["item", *names, "rater", "preferred"], *lines], rows)


def three_answers() -> Iterable[Kind]:
    """Yes and no among three answers of one label, and alone in another."""
    for yes, no, middle in (("yes", "no", "unsure"), ("Yes", "No", "Maybe"), ("Yes", "No", "Partially")):
        rows = rated({"factual": (no, middle, yes), "fluent": (yes, no)})
        yield kind(f"{middle} beside {yes}", table(rows), read_as(rows))
    rows = rated(
        {
            "sensible": ("No", "Somewhat", "Yes"),
            "specific": ("Yes", "No"),
            "safe": ("Yes", "No"),
            "quality": (1, 2, 3, 4, 5),
        }
    )
    yield kind("three answers, two labels of two", table(rows), read_as(rows))


def commas() -> Iterable[Kind]:
    for name, low, high, digits, delimiter in (
        *(("score", 0, 100, 1, ";"), ("Note", 0, 20, 2, ";"), ("quality", 1, 5, 1, ","), ("punteggio", 1, 5, 1, "\t")),
    ):
        rows = rated({name.lower(): lambda pick, low=low, high=high, d=digits: round(pick.uniform(low, high), d)})
        lines = [[*r[:-1], str(r[-1]).replace(".", ",")] for r in table(rows)]
        lines[0][-1] = name
        yield kind(f"comma {name} {delimiter!r}", lines, rows, delimiter)


def gold() -> Iterable[Kind]:
    """Who differ of an item judged it themselves, whatever it is called."""
    for label, words in (
        ("better_than_gold", ("better", "same", "worse")),
        ("output_vs_gold", ("higher", "equal", "lower")),
        ("as_good_as_gold", (1, 2, 3, 4, 5)),
    ):
        rows = rated({"fluency": (1, 2, 3, 4, 5), label: words})
        yield kind(label, table(rows), read_as(rows))
    rows = rated({"fluency": (1, 2, 3, 4, 5)})
    lines = table(rows)
    right = [3 if int(line[0][1:]) == 2 else "" for line in lines[1:]]
    lines = [[*line, g] for line, g in zip(lines, ["fluency_gold", *right], strict=True)]
    yield kind("gold of a platform", lines, rows)


def severity() -> Iterable[Kind]:
    for label, words in (("severity", ("Major", "Minor", "None")), ("Severity", ("critical", "major", "minor"))):
        rows = rated({label.lower(): words, "fluency": (1, 2, 3, 4, 5), "adequacy": (1, 2, 3, 4)})
        yield kind(f"{label} {words[2]}", table(rows), read_as(rows))
    rows = rated({"error_severity": ("MAJOR", "MINOR", "NEUTRAL"), "quality": (1, 2, 3, 4, 5, 6, 7)})
    yield kind("severity of an error", table(rows), read_as(rows))


def occasions() -> Iterable[Kind]:
    """The same people judge the same items again."""
    for column, values in (
        ("round", (1, 2)),
        ("run", ("r1", "r2", "r3")),
        ("Split", ("a", "b")),
        ("wave", (1, 2)),
        ("session_no", (1, 2, 3)),
    ):
        first, *again = (
            rated({"quality": (1, 2, 3, 4, 5), "tempo": tuple(range(k, k + 3))}) for k, _ in enumerate(values)
        )
        rows = [first, *again]
        lines = [[*a, v] for held, v in zip(rows, values, strict=True) for a in table(held)[1:]]
        truth = [r._replace(item=f"{v}/{r.item}") for held, v in zip(rows, values, strict=True) for r in held]
        said = {} if column.lower() in ("round", "run", "split") else {"answer": ("What does", "all")}
        head = table(first)[0]
        yield kind(f"occasion {column}", [[*head, column], *lines], truth, **said)


def numbers() -> Iterable[Kind]:
    """Items, systems and people are numbers, and so are scores."""
    for head, label in (
        (("q", "sys", "rater"), "score"),
        (("ex", "system", "judge"), "y"),
        (("stim", "model", "annotator"), "rating"),
    ):
        label_id = "score" if label == "rating" else label
        rows = rated({label_id: (1, 2, 3, 4, 5)}, items=6, systems=("1", "2", "3"))
        who = {p: str(i + 1) for i, p in enumerate(PEOPLE)}
        lines = [[int(r.item[1:]) + 1, r.system, who[str(r.annotator)], r.score] for r in rows]
        yield kind(f"numbers {head[0]}", [[*head, label], *lines], rows)


def in_names() -> Iterable[Kind]:
    """Columns named for the two that they compare, or cells that name both."""
    pick = random.Random(8)
    pairs = (("ours", "baseline"), ("ours", "gold"), ("baseline", "gold"))
    words = {"_vs_": ("win", "lose", "tie"), " vs ": None, " vs. ": ("A", "B", "same"), "_versus_": None}
    for between, told in words.items():
        for known in (True, False):
            rows = [
                Judgement(f"q{i}", one, who if known else None, "better", pick.choice((1, -1, 0)), other)
                for i in range(12)
                for who in PEOPLE[: 1 + 2 * known]
                for one, other in pairs
            ]
            say = lambda r, told=told: (told or (r.system, r.other, "tie"))[{1: 0, -1: 1, 0: 2}[int(r.score)]]  # noqa: E731
            lines = [
                [rows[k].item, *[rows[k].annotator] * known, *map(say, rows[k : k + 3])] for k in range(0, len(rows), 3)
            ]
            head = ["example", *["annotator"] * known, *(between.join(pair) for pair in pairs)]
            yield kind(f"columns{between}{known}", [head, *lines], rows)
    for between in (" vs. ", " vs ", "-vs-"):
        rows = [
            Judgement(f"q{i}", *pair[:1], who, "better", pick.choice((1, -1, 0)), pair[1])
            for i in range(12)
            for who in PEOPLE
            for pair in [pick.choice(pairs)]
        ]
        share = {1: "1", -1: "0", 0: "0.5"}
        lines = [[r.item, between.join((r.system, str(r.other))), r.annotator, share[int(r.score)]] for r in rows]
        yield kind(f"cells{between}", [["prompt", "pair", "rater", "score"], *lines], rows)
    for first, second in (("baseline", "candidate"), ("old", "new"), ("control", "treatment")):
        rows = [
            Judgement(f"q{i}", "gpt-x", who, "preferred", pick.choice((1, -1, 0)), f"ft-{i % 3}")
            for i in range(12)
            for who in PEOPLE
        ]
        told_of = {1: first, -1: second, 0: "tie"}
        lines = [[r.item, r.system, r.other, r.annotator, told_of[int(r.score)]] for r in rows]
        yield kind(f"names {first}", [["prompt_id", first, second, "rater", "preferred"], *lines], rows)


def versions() -> Iterable[Kind]:
    """A system that only a person can tell is among the first answers."""
    for column, values in (("is_llm", ("1", "0")), ("written_by_gpt", ("1", "0")), ("from_model", ("0", "1"))):
        rows = [
            r._replace(system=values[int(r.item[1:]) % 2]) for r in rated({"empathy": (1, 2, 3, 4, 5)}, systems=("",))
        ]
        lines = table(rows, ("advice", column, "subject"))
        yield kind(f"system {column}", lines, rows, answer=("Which column", f"the column {column!r}"))


def cases() -> list[Kind]:
    every = (none, three_answers, commas, gold, severity, occasions, numbers, in_names, versions)
    return [case for make in every for case in make()]
