"""Files in which what determines what says more than names: ids that start again for each language, turns, ratings of
both sides of a comparison, a folder per person, systems named in no known language; made ones, with what is right."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from doors.kinds_people import Kind, Right
from judgebook.extras.new.transcripts import of_files
from judgebook.study.schema import DataError

SYSTEMS, PEOPLE = ("NMT", "DeepL"), ("anna", "bob", "cleo")


class Refused(NamedTuple):
    """write : as of a `Kind`. says : a part of why the file is refused."""

    write: Callable[[Path], list[Path]]
    says: str
    name: str = ""

    def read(self, folder: Path) -> str:
        try:
            return f"read as\n{of_files('kind', self.write(folder), folder).text}"
        except DataError as problem:
            return "" if self.says in str(problem) else str(problem)


def score(*key: object) -> int:
    return random.Random(repr(key)).randint(1, 5)


def file(rows: Iterable[Iterable[object]], name: str = "data.csv", by: str = ",") -> Callable[[Path], list[Path]]:
    def write(folder: Path) -> list[Path]:
        (folder / name).write_text("".join(by.join(map(str, row)) + "\n" for row in rows))
        return [folder / name]

    return write


def right(systems: int, people: int | None, items: int, *labels: list[int]) -> Right:
    return Right(systems, people, items, sum(map(len, labels)), tuple(sorted(map(sum, labels))))


def again(
    part: str,
    values: tuple[str, ...],
    *,
    labels: tuple[str, ...] = ("adequacy",),
    own: bool = False,
    id_: str = "{}",
    systems: tuple[str, ...] = SYSTEMS,
    shuffled: bool = False,
    answer: str = "",
    merged: bool = False,
) -> Kind:
    """Segments that are numbered anew for each value of a column. own : each value has people of its own. merged : the
    column says something of the people, who all judged the same."""
    rows = [
        [v, id_.format(i), *([s] if systems else []), f"{v}-{p}" if own else p]
        for v in values
        for i in range(4)
        for s in systems or ("",)
        for p in PEOPLE
    ]
    held = [[score(*row, x) for row in rows] for x in labels]
    rows = [[*row, *scores] for row, *scores in zip(rows, *held, strict=True)]
    if shuffled:
        random.Random(2).shuffle(rows)
    head = [part, "seg", *(["engine"] if systems else []), "linguist", *labels]
    n = (1 if merged else len(values)) * 4 * max(1, len(systems))
    of = right(len(systems) or 1, len(PEOPLE) * (len(values) if own else 1), n, *held)
    return Kind(file([head, *rows]), of, {f"What is '{part}'": answer} if answer else {})


def turns(item: str, turn: str, first: int, step: int) -> Kind:
    """Replies of one system in each dialogue, numbered in it."""
    said = [(d, SYSTEMS[d % 2], first + step * t) for d in range(1, 8) for t in range(3)]
    rows = [[d, t, s, f"{d}{t} {s} yes", p, score(d, t, p)] for d, s, t in said for p in PEOPLE[:2]]
    head = [item, turn, "system", "reply", "rater", "engaging"]
    return Kind(file([head, *rows]), right(2, 2, 21, [row[-1] for row in rows]))


def crossed(head: tuple[str, str, str, str], systems: tuple[object, ...], people: tuple[object, ...], n: int) -> Kind:
    """Each person judges what each system did with each item; no column is called as we know it."""
    rows = [[i, s, p, score(i, s, p)] for i in range(1, n + 1) for s in systems for p in people]
    return Kind(file([head, *rows]), right(len(systems), len(people), n * len(systems), [row[-1] for row in rows]))


def both_sides(pattern: str, rating: str, sides: tuple[str, str], head: tuple[str, str], won: str) -> Kind:
    """Who won, and ratings of each side. pattern : of the columns of a side."""
    rows, chosen, rated = [], [], []
    for n in range(12):
        for p in PEOPLE[:2]:
            pair = [("sft", "ppo", "dpo")[(n + k + (p == "bob")) % 3] for k in (0, 1)]
            first = score(n, p, "won") > 2
            given = [score(n, p, s) for s in pair]
            rows.append([f"t{n}", *pair, p, sides[not first], *given])
            chosen.append(1 if first else -1)
            rated += given
    names = [pattern.format(x=x, side=s) for x in ("model", rating) for s in sides]
    of = right(3, 2, len({(row[0], s) for row in rows for s in row[1:3]}), chosen, rated)
    return Kind(file([[head[0], *names[:2], head[1], won, *names[2:]], *rows]), of)


def folders(name: str, inside: str, by: str) -> Kind:
    """A folder for each person, with a file of the same name in it."""
    rows = {p: [[i, s, score(i, s, p), score(p, i, s)] for i in range(8) for s in SYSTEMS] for p in PEOPLE}

    def write(folder: Path) -> list[Path]:
        for p in PEOPLE:
            (folder / "data" / name.format(p)).mkdir(parents=True)
            file([["id", "model", "coherent", "fluent"], *rows[p]], inside, by)(folder / "data" / name.format(p))
        return [folder / "data"]

    held = [[row[k] for p in PEOPLE for row in rows[p]] for k in (2, 3)]
    return Kind(write, right(2, 3, 16, *held))


def form(what: str, bots: tuple[str, ...]) -> Kind:
    """One row per person; the systems in brackets behind each of several numbered questions."""
    head = [f"{what} {q} [{b}]" for q in range(1, 5) for b in bots]
    rows = [[f"2025-03-0{k} 14:00:00", *(score(k, h) for h in head)] for k in range(1, 8)]
    return Kind(
        file([["Timestamp", *head], *rows]),
        right(len(bots), 7, 4 * len(bots), [x for row in rows for x in row[1:]]),
    )


def three_parts(s: str, people: tuple[str, ...]) -> Kind:
    """Columns named for a system, a label and a person."""
    labels = ("flu", "coh")
    head = [s.join((m, x, p)) for m in ("rasa", "gpt") for x in labels for p in people]
    rows = [[i, *(score(i, h) for h in head)] for i in range(1, 21)]
    held = [[v for row in rows for h, v in zip(head, row[1:], strict=True) if h.split(s)[1] == x] for x in labels]
    return Kind(file([["dlg", *head], *rows]), right(2, len(people), 40, *held))


def marked(key: str, spans: str, who: str) -> Refused:
    """Marked errors of numbered texts, without a severity: the number is no judgement."""
    content = [
        {key: n, "model": s, "output": f"{s} says {n} of it", spans: [{"start": 2 * n, "kind": "omission", who: "a1"}]}
        for n in range(10)
        for s in SYSTEMS
    ]

    def write(folder: Path) -> list[Path]:
        (folder / "data.json").write_text(json.dumps(content))
        return [folder / "data.json"]

    return Refused(write, f"found {key}, model, output, {spans}")


def lettered(letter: str, n: int, systems: tuple[str, ...] = SYSTEMS) -> Kind:
    """Columns called by a letter and a number, whatever they hold."""
    rows = [
        [f"d{i:03}", s, f"what {s} said of thing number {i}", *(score(i, s, k) for k in range(n))]
        for i in range(12)
        for s in systems
    ]
    held = [[row[3 + k] for row in rows] for k in range(n)]
    head = [f"{letter}{k}" for k in range(1, n + 4)]
    return Kind(file([head, *rows]), right(len(systems), None, 12 * len(systems), *held))


def with_itself(item: str, n: int) -> Kind:
    """Comparisons in both orders, and some of a system with itself, which say nothing."""
    pairs = [(a, b) for a in ("x1", "y1", "z1") for b in ("x1", "y1", "z1")]
    rows = [
        [i, a, b, p, random.Random(repr((i, a, b, p))).choice("AB")] for i in range(n) for a, b in pairs for p in PEOPLE
    ]
    # the first in the alphabet stands first where both orders are one
    kept = [1 if (w == "A") == (a < b) else -1 for _, a, b, _, w in rows if a != b]
    return Kind(file([[item, "model_a", "model_b", "judge", "winner"], *rows]), right(2, 3, 2 * n, kept))


KINDS: dict[str, Kind | Refused] = {
    "ids again, lang": again("lang", ("de", "fr")),
    "ids again, Sprache, shuffled": again("Sprache", ("de", "fr", "it"), shuffled=True),
    "ids again, domain, two labels": again("domain", ("hotel", "taxi"), labels=("adequacy", "fluency")),
    "ids again, task, one system": again("task", ("qa", "sum"), id_="q{}", systems=()),
    "ids again, own people, lp": again("lp", ("en-de", "en-zh"), own=True),
    "ids again, own people, genre": again("genre", ("news", "chat", "talk"), own=True, labels=("adequacy", "fluency")),
    "ids again, own people, no known name": again("kk", ("p", "q"), own=True, answer="'seg' starts again"),
    "the same ids, people of two schools": again("school", ("MIT", "UPF"), own=True, merged=True),
    "turn_idx 1, 3, 5": turns("dialogue_id", "turn_idx", 1, 2),
    "Nachricht 1, 2, 3": turns("Chat", "Nachricht", 1, 1),
    "ronde 0, 2, 4": turns("gesprek", "beurt", 0, 2),
    "Dutch": crossed(
        ("gesprek", "systeem", "beoordelaar", "vloeiendheid"), ("GEITje", "Fietje"), ("p1", "p2", "p3"), 5
    ),
    "Arabic": crossed(("المحادثة", "النظام", "المقيم", "الطلاقة"), ("جيس", "علام"), ("م1", "م2", "م3"), 5),
    "Hungarian": crossed(("mondat", "gép", "bíráló", "folyékonyság"), ("puli", "racka"), ("b1", "b2", "b3", "b4"), 7),
    "run": crossed(("query", "run", "assessor", "relevance"), ("bm25", "dpr", "colbert"), ("x", "y"), 6),
    "Run of TREC": crossed(("Topic", "Run", "Assessor", "Rel"), ("bm25", "dpr", "colbert"), ("NIST1", "NIST2"), 6),
    "numbers": crossed(("topic", "condition", "subject", "rating"), (1, 2, 3), (1, 2, 3, 4), 5),
    "numbers, others": crossed(("text", "variant", "judge", "rating"), (0, 1), (11, 12, 13), 9),
    "ratings of both sides": both_sides("{x}_{side}", "helpfulness", ("a", "b"), ("doc_id", "worker"), "preference"),
    "ratings of left and right": both_sides("{side}_{x}", "quality", ("left", "right"), ("prompt", "rater"), "winner"),
    "ratings of 1 and 2": both_sides("{x}{side}", "fluency", ("1", "2"), ("item", "annotator"), "choice"),
    "folders rater_anna": folders("rater_{}", "ratings.csv", ","),
    "folders anna": folders("{}", "scores.tsv", "\t"),
    "folders anna-done": folders("{}-done", "export.csv", ";"),
    "form, Bot A": form("Rate the responses to question", ("Bot A", "Bot B", "Bot C")),
    "form, Model 1": form("How good are the answers in chat", ("Model 1", "Model 2")),
    "form, names of models": form("Dialogue", ("gpt-4", "llama-2", "claude")),
    "three parts, _": three_parts("_", ("a1", "a2")),
    "three parts, .": three_parts(".", ("r1", "r2", "r3")),
    "three parts, -": three_parts("-", ("rater1", "rater2")),
    "marked errors, example": marked("example", "spans", "annotator"),
    "marked errors, case": marked("case", "tags", "by"),
    "marked errors, n": marked("n", "errors", "who"),
    "columns c1, c2, …": lettered("c", 2),
    "columns x1, x2, …": lettered("x", 3),
    "columns q1, q2, …": lettered("q", 2, ("bart", "t5", "gpt")),
    "a system with itself": with_itself("item", 6),
    "a system with itself, doc": with_itself("doc", 4),
    "a system with itself, prompt": with_itself("prompt", 9),
}


def cases() -> list[Kind | Refused]:
    return [kind._replace(name=name) for name, kind in KINDS.items()]
