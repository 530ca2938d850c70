"""Who notices a planted fault: the design check, and the tools that a user might otherwise pick.

The files of `tests/faults/bank.py`, each with one fault, and their clean twins are given to five packages in an
environment of its own, `build/other-tools`, and to `judgebook.questions.design.analysis.examine`. Prints the table;
with --write, it also writes `docs/faults.md` and `faults.csv`. What the packages say is kept in
`build/faults-SEED.jsonl`: delete that file to ask them again (6 minutes of CPU time).

    PYTHONPATH=src python benchmarks/faults.py [--seed 1] [--write]
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader

from judgebook.questions.design import analysis
from judgebook.sources import build
from judgebook.study import params
from judgebook.study.schema import DataError

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "faults"))

import bank  # noqa: E402

ENVIRONMENT = ROOT / "build" / "other-tools"
VERSIONS = {
    "evalaudit": "0.6.0",
    "interrater": "2.0.0",
    "evalstats": "0.3.3",
    "errorbars": "0.2.4",
    "arenakit": "0.1.1",
}
OURS = "design check"
#: the finding has to be among so many: a reader reads no further
FIRST = 3
#: kinds of study that a tool reads at all
READS = {"evalstats": bank.SCORES, "errorbars": bank.SCORES, "arenakit": bank.PAIRS}
#: what the documentation of a tool says it looks at, as codes of faults; of the rest, only what it notices is counted
CLAIMS: dict[str, set[str]] = {
    "evalaudit": {"order_effect", "annotator_is_session", "constant_label", "constant_annotator", "unequal_n"},
    "interrater": {"outside_scale", "missing_codes", "unused_scale_ends", "annotator_spellings", "constant_label",
                   "constant_annotator", "annotator_is_session"},
    "evalstats": {"unequal_n", "missing_by_system", "outside_scale", "missing_codes", "unbalanced_contexts"},
    "errorbars": {"repeated_rows", "single_item_context", "unbalanced_contexts"},
    "arenakit": {"order_effect", "dominant_voter", "uncompared_pairs", "cycles", "unequal_n"},
}  # fmt: skip
#: what a text says that names the fault, in any wording that we saw or could think of
PATTERNS = {
    "confounded_annotators": r"share no (rater|annotator)|confound|different (raters|annotators) (judged|rated)|nested",
    "unequal_n": r"only 6 observations|Only \d item\(s\) per compared|below 30 battles|No interval: .*undef",
    "missing_by_system": r"missing scores for model|could not parse score value ''|error for Battle\s+winner",
    "annotator_is_session": r"graded by more than one rater|needs at least 2 raters|undefined for a single rater",
    "repeated_rows": r"already has a score|duplicate|repeated subject",
    "copied_annotator": r"identical (answers|ratings|raters)|copied|copies|agree(s)? perfectly|duplicate rater",
    "enriched_sample": r"not a random sample|not representative|inclusion|selection bias|enriched|oversampl",
    "order_effect": r"FLAG +position_bias|favours whichever|reads first",
    "constant_annotator": r"(rater|annotator) .{0,40}(never var|constant|no variance|always)|zero.variance rater",
    "fast_annotator": r"too fast|seconds|response time|speed",
    "dependent_judge": r"not independent|circular|derived from|suspiciously|too good",
    "unused_scale_ends": r"never chosen by anybody|unused categor|scale ends? (is|are) never",
    "outside_scale": r"falls outside it|neither a declared category|outside the (scale|range)",
    "missing_codes": r"falls outside it|neither a declared category|looks like a missing",
    "undeclared_direction": r"(lower|higher) is better|direction (is|was) not|direction of the (label|metric|score)",
    "system_spellings": r"(spelling|spelt|case|capital).{0,40}(model|system|Dune)|differ only in",
    "annotator_spellings": r"rater columns are .* but the semantics declare|spelling|spelt",
    "few_annotators": r"annotators: leaving out one of so few|leave-one-out alpha is undefined|only (2|two) raters",
    "dominant_annotator": r"one (rater|annotator) .{0,40}(most|share)|(rater|annotator)s? .{0,60}(7\d|8\d)(\.\d)?%",
    "dominant_voter": r"FLAG +annotator_influence|busiest .{0,12}voters account for [5-9]\d",
    "uncompared_pairs": r"[0-5] of 6 possible pairs were ever compared|never (met|compared)| 0 +(True|False)\n",
    "cycles": r"FLAG +intransitivity|cyclic|in a circle|intransitive",
    "order_is_system": r"skip +position|cannot be told apart from the models|always shown first",
    "single_item_context": r"already has a score|Only \d+ item\(s\) per compared|design effect +(1\.[2-9]|[2-9])",
    "constant_label": r"scale nobody varied|never chosen by anybody|zero variance across inputs|all scores identical",
    "drift": r"over time|stricter|trend|later (items|ratings|judgements)",
    "unbalanced_contexts": r"no (questions|items) (in common|shared)|share no (questions|items)|0 shared|no overlap",
}


class Case(NamedTuple):
    """A file: its folder's name, the design, and the fault, '' for a clean twin."""

    name: str
    design: bank.Design
    fault: str


def cases() -> list[Case]:
    """Clean twins first, then every fault in every design in which it can be planted."""
    both = [(d, "") for d in bank.DESIGNS] + [(d, code) for code in bank.FAULTS for d in bank.cases(code)]
    return [Case(f"{d.name}_{code or 'clean'}", d, code) for d, code in both]


def make(case: Case, seed: int) -> bank.Case:
    return bank.planted(case.fault, case.design, seed) if case.fault else bank.clean(case.design, seed)


def write(folder: Path, seed: int) -> None:
    """The files, each with what its owner knows beside what is in it: scales, models that judged, people hired."""
    for case in cases():
        made, twin = make(case, seed), bank.clean(case.design, seed)
        own = folder / case.name
        own.mkdir()
        made.write(own)
        # who lists the answers that were offered does not list 99
        labels = (twin if case.fault == "missing_codes" else made).study["labels"]
        known = {"scales": {k: v["scale"] for k, v in labels.items()}, "judges": list(made.source.get("judges", {}))}
        known["hired"] = sorted(set(twin.data["rater"]))
        (own / "known.json").write_text(json.dumps(known))


def others(seed: int) -> dict[tuple[str, str], str]:
    """What each tool says of each file: (tool, file) -> text."""
    kept = ROOT / "build" / f"faults-{seed}.jsonl"
    if not kept.exists():
        python = ENVIRONMENT / "bin" / "python"
        if not python.exists():
            venv.create(ENVIRONMENT, with_pip=True)
            wanted = [f"{name}=={version}" for name, version in VERSIONS.items()]
            subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), seed)
            script = Path(__file__).with_name("faults_other_tools.py")
            done = subprocess.run([python, script, folder], check=True, capture_output=True, text=True)
        kept.write_text(done.stdout, encoding="utf-8")
    rows = map(json.loads, kept.read_text(encoding="utf-8").splitlines())
    return {(row["tool"], row["file"]): row["text"] for row in rows}


def ours(case: Case, seed: int) -> list[str]:
    """Codes of what the design check finds, the most expensive first; or what the reader of files refuses."""
    with tempfile.TemporaryDirectory() as folder:
        study = params.load(make(case, seed).write(Path(folder)))
        try:
            built = build.build(study)
        except DataError as error:
            refused = "expected a whole number from" in str(error)
            return ["outside_scale" if refused else "refused"]
    frames = {k: built.frames[k] for k in ("counts", "metric_scores", "dialogue_facts")}
    found = analysis.examine(
        built.frames["annotations"], built.frames["dialogues"], study.label_list(), own_ids=built.own_ids, **frames
    )
    return [one.code for one in found.findings]


def named(code: str, text: str, twin: str) -> bool:
    """Whether a text on the planted file names the fault, and the text on its clean twin does not."""
    return says(code, text) and not says(code, twin)


def says(code: str, text: str) -> bool:
    return re.search(PATTERNS[code], text, re.IGNORECASE) is not None


def table(seed: int) -> tuple[list[dict[str, str]], dict[str, str]]:
    """A row for each fault with `k of n` for each tool, and the false alarms of each tool on clean files."""
    said = others(seed)
    found = {case: ours(case, seed) for case in cases()}
    rows = []
    for code in bank.FAULTS:
        own = [case for case in found if case.fault == code]
        row = {"fault": code, OURS: f"{sum(code in found[c][:FIRST] for c in own)} of {len(own)}"}
        for tool in VERSIONS:
            read = [c for c in own if c.design.kind in READS.get(tool, bank.ALL)]
            k = sum(named(code, said[tool, c.name], said[tool, f"{c.design.name}_clean"]) for c in read)
            row[tool] = f"{k} of {len(read)}" if read and (k or code in CLAIMS[tool]) else "–"
        rows.append(row)
    clean = [case for case in found if not case.fault]
    alarms = {OURS: f"{sum(found[c] not in ([], ['few_annotators']) for c in clean)} of {len(clean)}"}
    for tool in VERSIONS:
        read = [c for c in clean if c.design.kind in READS.get(tool, bank.ALL)]
        k = sum(any(says(code, said[tool, c.name]) for code in CLAIMS[tool]) for c in read)
        alarms[tool] = f"{k} of {len(read)}"
    return rows, alarms


def total(rows: list[dict[str, str]], tool: str) -> str:
    """Of all files with a fault that a tool looks at or notices: how many it names."""
    counts = [tuple(map(int, row[tool].split(" of "))) for row in rows if row[tool] != "–"]
    return f"{sum(k for k, _ in counts)} of {sum(n for _, n in counts)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="docs/faults.md and benchmarks/faults.csv as well")
    given = parser.parse_args()
    rows, alarms = table(given.seed)
    rows += [
        {"fault": "all faults", **{tool: total(rows, tool) for tool in alarms}},
        {"fault": "false alarms", **alarms},
    ]
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent), trim_blocks=True, keep_trailing_newline=True
    )
    plants = {code: fault.plant.__doc__ for code, fault in bank.FAULTS.items()}
    text = templates.get_template("faults.md.j2").render(
        rows=rows, tools=list(alarms), versions=VERSIONS, plants=plants, first=FIRST, seed=given.seed, n=len(cases())
    )
    print(text)
    if given.write:
        (ROOT / "docs" / "faults.md").write_text(text, encoding="utf-8")
        with open(Path(__file__).with_suffix(".csv"), "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
