"""Files whose systems stand in a path, in an id or in names of columns, and whose labels have odd names or forms: made
ones, with what is right."""

from __future__ import annotations

import csv
import io
import itertools
import json
import random
import statistics
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


def about_people() -> Iterator[Kind]:
    """What is constant within every person is no label; a condition that varies within them is a system."""
    names = (
        ("Proband", "Bedingung", "Aufgabe", "Vertrauen", "Alter", "Geschlecht"),
        ("participante", "condicion", "tarea", "confianza", "edad", "sexo"),
        ("sujet", "condition", "tache", "confiance", "âge", "sexe"),
        ("participant", "arm", "stimulus", "trust", "age", "gender"),
        ("who", "version", "story", "liking", "alter", "geschlecht"),
        ("pid", "Fassung", "Beispiel", "Note", "age", "native"),
    )
    for (who, condition, item, label, *facts), inside in [(x, y) for x in names for y in (True, False)]:
        rows = [
            {who: f"P{p:02}", condition: ("plain", "avatar")[(p + i * inside) % 2], item: x, label: rate(1, 7)}
            | {facts[0]: 19 + p * 7 % 40, facts[1]: "mf"[p // 2 % 2]}
            for p in range(16)
            for i, x in enumerate(("bank", "doctor", "travel", "school"))
        ]
        right = 2, 16, 8, {label.lower(): total(r[label] for r in rows)}
        kind = Kind(f"people {who} {inside}", "data.csv", text_of(rows), right)
        yield kind if inside else kind._replace(asked=("system",), answers=(("system", "2"),))


def digits() -> Iterator[Kind]:
    for k, high in ((3, 5), (4, 3), (5, 3), (6, 2), (9, 4)):
        rows = [
            {"id": f"x{i}", "reply": say(), "quality": rate(), "given": "".join(str(rate(0, high)) for _ in range(k))}
            for i in range(30)
        ]
        right = 1, 0, 30, {"quality": total(r["quality"] for r in rows)}
        yield Kind(f"digits {k}", "data.csv", text_of(rows), right, ("label given",))


def computed() -> Iterator[Kind]:
    """Scores standardised, and means, sums and what most said, are no labels."""
    for who, item, system, raw, z in (
        ("wid", "sid", "mt", "raw", "z"),
        ("rater", "seg", "engine", "score", "norm"),
        ("x1", "x2", "x3", "x4", "x5"),
        ("Bewerter", "Satz", "System", "Punkte", "standardisiert"),
        ("annotateur", "phrase", "modele", "note", "centre"),
    ):
        rows = [
            {who: f"u{a}", item: f"s{i}", system: s, raw: rate(0, 100)}
            for i in range(8)
            for s in ("A.base", "B.large", "C.tiny")
            for a in PICK.sample(range(4), 2)
        ]
        for row in rows:
            own = [r[raw] for r in rows if r[who] == row[who]]
            row[z] = round((row[raw] - statistics.mean(own)) / statistics.stdev(own), 4)
        right = 3, 4, 24, {"score" if raw == "score" else raw.lower(): total(r[raw] for r in rows)}
        yield Kind(f"standardised {z}", "data.csv", text_of(rows), right)
    told = {"avg": statistics.mean, "Summe": sum, "mediana": statistics.median, "sd": statistics.stdev}
    for (name, how), people in itertools.product((told | {"majority": statistics.mode}).items(), (3, 5)):
        columns = [f"rater{k}" for k in range(people)]
        rows = [
            {"seg": f"s{i}", "system": s} | {c: rate() for c in columns} for i in range(20) for s in ("ours", "gpt")
        ]
        scores = total(r[c] for r in rows for c in columns)
        rows = [r | {name: round(how([r[c] for c in columns]), 2)} for r in rows]
        yield Kind(f"{name} of {people}", "data.csv", text_of(rows), (2, people, 40, {"score": scores}))


def systems_by_any_name() -> Iterator[Kind]:
    for system, names, label in (
        ("translator", ("Human", "GPT"), "fluency"),
        ("voice", ("Taco", "VITS"), "naturalness"),
        ("written_by", ("student", "teacher", "llama-2"), "quality"),
        ("Übersetzer", ("DeepL", "Google", "Mensch"), "Genauigkeit"),
        ("robot", ("Nao", "Pepper"), "engagement"),
    ):
        rows = [
            {"rater": f"p{a}", "sentence": f"s{i}", system: s, label: rate()}
            for a in range(3)
            for i in range(6)
            for s in names
        ]
        right = len(names), 3, 6 * len(names), {label.lower(): total(r[label] for r in rows)}
        yield Kind(f"system {system}", "data.csv", text_of(rows), right)
        plain = [{"rater": r["rater"], "sentence": r["sentence"], system: r[system], "score": r[label]} for r in rows]
        plain = [r | {system: f"{'nsew'[names.index(r[system])]}-side"} for r in plain]
        right = *right[:3], {"score": right[3][label.lower()]}
        chosen = (("system", "2"),) if len(names) == 2 else ()
        yield Kind(f"system {system}, no hint", "data.csv", text_of(plain), right, ("system",), chosen)
    for item, system, who in (
        ("Satz_Nr", "Übersetzer", "Bewerter"),
        ("SENT_NO", "engine", "judge"),
        ("Item_Number", "variante", "Gutachter"),
        ("oracion_id", "autor", "evaluador"),
        ("Phrase_Nr", "Fassung", "juge"),
    ):
        rows = [
            {item: i, "src": f"this is the text of {i}", system: s, "out": f"{s} says this of {i}", who: a}
            | {"fluency": rate(1, 6), "adequacy": rate(1, 6)}
            for i in range(1, 7)
            for s in ("DeepL", "Google", "Mensch")
            for a in ("Anna", "Jürgen")
        ]
        of = {x: total(r[x] for r in rows) for x in ("fluency", "adequacy")}
        yield Kind(f"numbered {item}", "data.csv", text_of(rows), (3, 2, 18, of))


def parts_of_names() -> Iterator[Kind]:
    systems = ("dalle", "sd", "imagen")
    for form, who in (
        ("img0{i}_{s}", "pid"),
        ("{s}_scene{i}", "participant"),
        ("{s}.{i}", "ResponseId"),
        ("clip{i} - {s}", "Teilnehmer"),
        ("{i}-{s}", "user_id"),
    ):
        names = [(i, s) for i in range(1, 5) for s in systems]
        rows = [
            {who: f"R_{k:03x}z", "native": ("yes", "no")[k % 2], "age": 20 + k}
            | {form.format(i=i, s=s): rate(1, 7) for i, s in names}
            for k in range(12)
        ]
        columns = [form.format(i=i, s=s) for i, s in names]
        right = 3, 12, 12, {"score": total(r[c] for r in rows for c in columns)}
        yield Kind(f"items and systems {form}", "data.csv", text_of(rows), right, ("system: columns",))
    labels = ("simplicity", "fluency", "plot")
    for sides, form, texts in (
        ("ABC", "{s}_{x}", True),
        ("XY", "{x}.{s}", True),
        ("AB", "{s}-{x}", False),
        ("LMN", "{x} ({s})", True),
        ("PQRS", "{s}: {x}", False),
    ):
        rows = [
            {"rater": f"r{a}", "source": f"a text with the number {i}"}
            | ({s: f"{s} made this of text {i}" for s in sides} if texts else {})
            | {form.format(s=s, x=x): rate() for s in sides for x in labels}
            for a in range(2)
            for i in range(10)
        ]
        of = {x: total(r[form.format(s=s, x=x)] for r in rows for s in sides) for x in labels}
        yield Kind(f"sides {form}", "data.csv", text_of(rows), (len(sides), 2, 10 * len(sides), of), ("system",))
    for expert, crowd, answers in (
        ("expert", "crowd_{}", ("hate", "none", "offensive")),
        ("Expert", "worker{}", ("hate", "none", "offensive")),
        ("reviewer", "annotator_{}", ("news", "opinion")),
        ("expert", "crowd_{}", (1, 2, 3, 4, 5)),
        ("judge", "rater {}", (0, 1, 2)),
    ):
        columns = [expert, *(crowd.format(k) for k in (1, 2, 3))]
        rows = [{"post": f"t{i}", "text": say()} | {c: PICK.choice(answers) for c in columns} for i in range(30)]
        given = [answers.index(r[c]) if isinstance(answers[0], str) else r[c] for r in rows for c in columns]
        right = 1, 4, 30, {"score": total(given)}
        yield Kind(f"people {expert}, {crowd} {answers[0]}", "data.csv", text_of(rows), right, ("annotator",))


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
    told = [*about_people(), *digits(), *computed(), *systems_by_any_name(), *parts_of_names()]
    return [*paths(), *beside(), *labels(), *lists(), *repeated(), *told, *released()]
