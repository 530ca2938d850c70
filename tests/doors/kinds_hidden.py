"""Files whose systems stand in a path, in an id or in names of columns, and whose labels have odd names or forms: made
ones, with what is right."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from judgebook.extras.new.asking.terminal import carried, settle
from judgebook.extras.new.draft import drafted
from judgebook.sources import build
from judgebook.study import params

SHARED = Path(__file__).parents[3] / "shared/doors_2026-11-29"
WORDS = ("the", "a", "cat", "dog", "runs", "quickly", "over", "my", "fence", "and", "barks", "at", "night")
PICK = random.Random(3)


class Kind(NamedTuple):
    """right : systems, people (0: unknown), items, and label -> number and sum of its scores. asked : facts that must
    be asked about. answers : fact -> number of the answer given; Enter for all others."""

    name: str
    file: str
    content: str
    right: tuple[int, int, int, dict[str, tuple[int, float]]]
    asked: tuple[str, ...] = ()
    answers: tuple[tuple[str, str], ...] = ()

    def read(self, folder: Path) -> str:
        """What is not right; "" if nothing is."""
        data, answers = folder / self.file, {}
        data.write_text(self.content, encoding="utf-8")
        out = drafted("kind", data, folder)
        answers |= {q.text: dict(self.answers)[q.fact] for q in out.questions if q.fact in dict(self.answers)}
        missing = {*self.asked} - {q.fact for q in out.questions}
        typed = lambda text: next((n for asks, n in answers.items() if asks in text), "")  # noqa: E731
        out = settle(out, lambda given: drafted("kind", data, folder, given), typed)
        path = folder / "kind.yaml"
        path.write_text(carried(out), encoding="utf-8")
        marks = build.build(params.load(path)).frames["annotations"]
        people = marks["annotator"].nunique() if marks["annotator_known"].all() else 0
        scores = marks.groupby("label", observed=True)["score"].agg(["size", "sum"])
        labels = {str(label): (int(n), float(total)) for label, n, total in scores.itertuples()}
        read = marks["system"].nunique(), people, len(marks.drop_duplicates(["dialogue", "turn"])), labels
        wrong = f"expected {self.right}, read {read}" if read != self.right else ""
        return wrong + (f"; not asked: {missing}" if missing else "") and f"{wrong} {missing}\n{path.read_text()}"


def say() -> str:
    return " ".join(PICK.choices(WORDS, k=8))


def rate(low: int = 1, high: int = 5) -> int:
    return PICK.randint(low, high)


def text_of(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, [*rows[0]])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def total(values: Any) -> tuple[int, float]:
    held = [*values]
    return len(held), float(sum(held))


def paths() -> Iterator[Kind]:
    forms = {
        "wavs/{s}/utt{i:03d}.wav": ("gt", "fastspeech2", "vits"),
        "{i}_{s}": ("gpt_4", "human", "llama-2_7b"),
        "s3://bucket/{d}/{s}/{i}.mp4": ("ours+full", "ours-nolip", "baseline"),
        "q{i}__{s}__v1": ("bart", "pegasus"),
        "Exp.1\\{s}\\clip-{i}.wav": ("ModelA", "ModelB", "real"),
        "{s}-{i}": ("A", "B", "C"),  # a guess that somebody must make
        "{s}.{i}": ("ada", "bob", "cyd", "dan"),
    }
    for form, systems in forms.items():
        rows = [
            {"stimulus": form.format(s=s, i=i, d="de" if i % 2 else "en"), "listener": f"L{a}", "naturalness": rate()}
            for i in range(10)
            for s in systems
            for a in PICK.sample(range(6), 3)
        ]
        PICK.shuffle(rows)
        right = len(systems), 6, 10 * len(systems), {"naturalness": total(r["naturalness"] for r in rows)}
        chosen = (("system", "2"),) if form in ("{s}-{i}", "{s}.{i}") else ()
        yield Kind(f"path {form}", "data.csv", text_of(rows), right, ("system",), chosen)


def beside() -> Iterator[Kind]:
    forms = {
        "{s}.{f}": ("reply", "rating"),
        "{f} ({s})": ("Answer", "Quality"),
        "{s}_{f}": ("output", "fluency", "relevance"),
        "{f}_{s}": ("summary", "score"),
        "{f} [{s}]": ("text", "fluency", "humor"),
    }
    systems = ("dodeca", "memnet", "human")
    for form, (text, *labels) in forms.items():
        rows = []
        for i in range(20):
            row: dict[str, Any] = {"qid": f"q{i}", "context": say()}
            for s in systems:
                row |= {form.format(s=s, f=text): say()} | {form.format(s=s, f=label): rate() for label in labels}
            rows.append(row)
        ids = {label: "score" if label == "rating" else label.lower() for label in labels}
        scores = {ids[x]: total(r[form.format(s=s, f=x)] for r in rows for s in systems) for x in labels}
        yield Kind(f"beside {form}", "data.csv", text_of(rows), (3, 0, 60, scores), ("system",))
    rows = []
    for i in range(20):
        row = {"id": i, "prompt": say()}
        for s in ("gpt4", "llama"):
            row |= {f"{s}_response": say()} | {f"{s}_fluency_rater{k}": rate() for k in (1, 2, 3)}
        rows.append(row)
    scores = {"fluency": total(v for r in rows for c, v in r.items() if "fluency" in c)}
    yield Kind("beside, three raters", "data.csv", text_of(rows), (2, 3, 40, scores), ("system",))


def labels() -> Iterator[Kind]:
    keys = ("no_hallucination", "no_errors", "id_quality", "Factoid", "nb_errors", "fluent")

    def judged(give: Any, names: tuple[str, ...] = keys) -> list[dict[str, Any]]:
        people = [(i, a) for i in range(40) for a in PICK.sample(range(5), 3)]
        return [{"doc": f"d{i}", "who": f"p{a}"} | {k: give() for k in names} for i, a in people]

    rows = judged(lambda: rate(0, 1))
    scores = {k.lower(): total(r[k] for r in rows) for k in keys}
    yield Kind("labels, numbers", "data.csv", text_of(rows), (1, 5, 40, scores))
    worded = [r | {k: ("no", "yes")[r[k]] for k in keys} for r in rows]
    yield Kind("labels, words", "data.csv", text_of(worded), (1, 5, 40, scores))
    marks = [{k: rate(0, 1) for k in keys} for _ in range(60)]
    of = {k.lower(): total(m[k] for m in marks) for k in keys}
    people = [{"annotator": f"a{n % 2}", "labels": m} for n, m in enumerate(marks)]
    nested = [{"doc_id": f"d{i}", "text": say(), "annotations": people[2 * i : 2 * i + 2]} for i in range(30)]
    yield Kind("labels, nested", "data.json", json.dumps(nested), (1, 2, 30, of))
    flat = [{"doc_id": f"d{i}", "text": say(), "annotations": marks[i]} for i in range(60)]
    yield Kind("labels, nested once", "data.json", json.dumps(flat), (1, 0, 60, of))
    shown = []
    for r in judged(rate, ("Answer.quality",)):
        i = int(r["doc"][1:])
        given = {"Input.shown": i % 10, "Input.difficulty": i % 5 + 1, "Input.condition": "ab"[i % 2]}
        shown.append(r | given | {"Answer.reason": say()})
    of = {"quality": total(r["Answer.quality"] for r in shown)}
    yield Kind("labels, a form's", "data.csv", text_of(shown), (1, 5, 40, of))
    options = {"(+1): Positive effect": 1, "0: No effect": 0, "(-1): Negative effect": -1, "N/A: no direction": None}
    rows = judged(lambda: PICK.choice([*options]), ("effect",))
    told = [r for r in rows if options[r["effect"]] is not None]
    right = 1, 5, len({r["doc"] for r in told}), {"effect": total(options[r["effect"]] for r in told)}
    yield Kind("labels, numbered options", "data.csv", text_of(rows), right)


def lists() -> Iterator[Kind]:
    rows = [
        {"id": f"d{i}", "reply": say(), "model": "xy"[i % 2], "Fluency": [rate(), rate(), rate()], "overall": rate()}
        for i in range(30)
    ]
    of = {"fluency": total(v for r in rows for v in r["Fluency"]), "overall": total(r["overall"] for r in rows)}
    spelt = [r | {"Fluency": str(r["Fluency"])} for r in rows]
    alone = [{k: v for k, v in r.items() if k != "overall"} for r in spelt]
    one = {"fluency": of["fluency"]}
    yield Kind("lists", "data.csv", text_of(alone), (2, 0, 30, one), ("annotator",))
    yield Kind("lists, JSON", "data.json", json.dumps(alone), (2, 0, 30, one), ("annotator",))
    yield Kind("lists below a key", "data.json", json.dumps({"data": alone}), (2, 0, 30, one), ("annotator",))
    yield Kind("lists beside a label", "data.csv", text_of(spelt), (2, 0, 30, of), ("annotator",))
    yield Kind("lists beside a label, JSON", "data.json", json.dumps(spelt), (2, 0, 30, of), ("annotator",))


def repeated() -> Iterator[Kind]:
    def text(head: list[str], rows: list[list[Any]]) -> str:
        out = io.StringIO()
        csv.writer(out).writerows([head, *rows])
        return out.getvalue()

    blocks = [[f"t{i}", say(), rate(), "{}", say(), rate(), "{}"] for i in range(12)]
    head = ["topic", "[ada] say {{topic}}", "Score", "Named Scores", "[bob] say {{topic}}", "Score", "Named Scores"]
    of = {"score": total(r[k] for r in blocks for k in (2, 5))}
    yield Kind("repeated blocks", "data.csv", text(head, blocks), (2, 0, 24, of), ("system",))
    twice = [[f"d{i // 2}", f"p{i % 2}", rate(), f"note {i}"] for i in range(20)]
    of = {"fluency": total(r[2] for r in twice)}
    copies = text(["id", "rater", "fluency", "notes", "notes"], [[*r, r[3]] for r in twice])
    yield Kind("repeated notes", "data.csv", copies, (1, 2, 10, of))
    copies = text(["id", "rater", "fluency", "notes", "fluency"], [[*r, r[2]] for r in twice])
    yield Kind("repeated label", "data.csv", copies, (1, 2, 10, of), ("label fluency",))


def released() -> Iterator[Kind]:
    right = {
        "condition_is_system.tsv": (4, 12, 16, {"fluency": 48, "grammar": 48}),
        "systems_in_label_columns.csv": (2, 0, 72, {"label": 72}),
        "rare_label_ending_id.csv": (1, 0, 180, {"factoid": 180, "word_order": 180}),
        "repeated_block_same_cells.csv": (2, 0, 16, {"score": 16}),
        "system_in_path.csv": (3, 20, 36, {"score": 162}),
    }
    for name in right if SHARED.is_dir() else ():
        content = (SHARED / name).read_text(encoding="utf-8")
        head, *lines = csv.reader(io.StringIO(content), delimiter="\t" if name.endswith("tsv") else ",")
        columns = {"label": ("alpha_label", "beta_label"), "word_order": ("Word Order",), "score": ("Score", "score")}
        *counts, of = right[name]
        places = {x: [i for i, c in enumerate(head) if c in columns.get(x, (x, x.title()))] for x in of}
        sums = {x: total(float(line[i]) for line in lines for i in places[x]) for x in of}
        assert {x: n for x, (n, _) in sums.items()} == of
        yield Kind(f"released {name}", name, content, (*counts, sums), ("system",))


def cases() -> list[Kind]:
    return [*paths(), *beside(), *labels(), *lists(), *repeated(), *released()]
