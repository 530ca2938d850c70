"""`run_all.py annotate`: the folder of a project for Label Studio, with what reads the answers: a YAML with the same
labels and scales, and the key that says what each page was about."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from judgebook import project
from judgebook.extras.annotate import label_studio
from judgebook.extras.annotate import pages as design
from judgebook.extras.annotate.label_studio import Question, questions
from judgebook.extras.annotate.pages import Page
from judgebook.study import escape, params, store
from judgebook.study.definitions import source_of
from judgebook.study.labels import METHODS
from judgebook.study.params import ParamsError, Study

#: our columns of a key, where its pages have them
_KEYED = ("corpus", "dialogue", "system", "turn", "dialogue_b", "system_b", "session", "context", "first_shown")
KEY, EXPORT = "key.jsonl", "export.json"
#: whoever gives all intended answers passes the training
PASSES = {"deciding_dialogue": "all", "other_tasks_below": 1}
STEPS = """\
1. `pip install label-studio`, `label-studio start`, and create a project.
2. Settings → Labeling Interface → Code: paste `config.xml`. Import: `tasks.json`.
3. Give each annotator a tab of the Data Manager with the filter `person` = 1, 2, …, ordered by task id, and ask them
   to open their tab and press *Label All Tasks*. Each task is for one annotator; items that two annotators judge occur
   twice.
4. Project → Export → JSON; save the file here as `export.json`.
5. `{run} check {name}`, then `{run} --study {name}`, with this file's path.
"""


def command(
    named: str,
    *,
    file: Path | None = None,
    methods: list[str] | None = None,
    labels: list[str] | None = None,
    per_system: int | None = None,
    people: int = 2,
    each: int = 1,
    overlap: int | None = None,
    at_most: int | None = None,
    seed: int = 1,
) -> int:
    """Write a project for each method of a study; returns the exit code.

    Parameters
    ----------
    named : a study, or the path of its YAML.
    file : dialogues; default: those of the study.
    methods, labels : only these.
    per_system : dialogues drawn from each system, at least.
    people : annotators. each : how many of them judge each dialogue or pair. overlap : dialogues or pairs that one more
    judges; None: a quarter, but at least 25, if one annotator judges each of them, else 0. at_most : dialogues or pairs
    of each method that one annotator judges.

    Raises
    ------
    ParamsError : the study has no such method or label, no dialogues with texts, or too few annotators for `at_most`.
    DataError : the file of dialogues cannot be read, or contradicts itself.
    """
    if each > people:
        raise ParamsError(f"--each {each}: expected at most the number of annotators, {people}")
    study = params.load(named)
    every = list(dict.fromkeys(label.method for label in study.label_list()))
    _refuse("--method", methods, every)
    _refuse("--labels", labels, [label.id for label in study.label_list()])
    by_method = {method: questions(study, method, labels) for method in methods or every}
    wanted = {method: asked for method, asked in by_method.items() if asked}
    if not wanted:
        raise ParamsError(
            f"{study.key}: expected labels to ask for, found none; check `labels:`, --labels and --method"
        )
    frame, left_out = design.dialogues(study, file), {}
    drawn = design.chosen(frame, per_system, seed, pairs=any(METHODS[method].unit == "pair" for method in wanted))
    for method, asked in wanted.items():
        try:
            trained = design.training(frame, study.elicitation.training, METHODS[method].unit, people)
            hidden = {page.item["dialogue"] for page in trained}
            items = design.bundles(drawn[~drawn["dialogue"].isin(hidden)], method)
            if not items:
                raise ParamsError("nothing to judge")
            usual = max(25, len(items) // 4) if each == 1 else 0
            twice = min(len(items), usual if overlap is None else overlap) if people > each else 0
            main = design.plan(items, people, twice, seed, each=each, at_most=at_most)
        except ParamsError as error:
            left_out[method] = str(error)
            continue
        judges = "one annotator" if each == 1 else f"{each} annotators"
        thing = "pairs" if METHODS[method].unit == "pair" else "dialogues"
        load = Counter(page.person for page in main)
        said = [
            f"{len(items):,} {thing}, each judged by {judges}, {twice:,} of them by one more; {len(main):,} pages, "
            f"{_span(min(load.values()), max(load.values()))} for each of {len(load)} annotators",
            f"{len(asked)} labels; training items: {len(trained) // people}; seed {seed}",
        ]
        pages = sorted([*trained, *main], key=lambda page: (page.person, page.phase == "main"))
        shown = store.relative(write(study, method, asked, frame, pages, said))
        print(f"{METHODS[method].title}: {shown}/")
        ends = f"README.md says how to load it; then: {project.command()} check {shown}/{study.key}_annotated.yaml"
        print("\n".join(f"  {line}" for line in [*said, ends]))
    if len(left_out) == len(wanted):
        raise ParamsError("; ".join(dict.fromkeys(left_out.values())))
    for method, why in left_out.items():
        print(f"{METHODS[method].title}: left out: {why}")
    return 0


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _refuse(option: str, given: list[str] | None, expected: list[str]) -> None:
    if unknown := sorted(set(given or []) - set(expected)):
        raise ParamsError(f"{option}: expected {', '.join(dict.fromkeys(expected))}; found {', '.join(unknown)}")


def write(
    study: Study, method: str, asked: list[Question], dialogues: pd.DataFrame, pages: list[Page], said: list[str]
) -> Path:
    """Write the project of one method; returns its folder.

    Parameters
    ----------
    dialogues : as `pages.dialogues`, those of all pages. said : what the README says of the design.
    """
    texts, unit, name = design.Texts(dialogues), METHODS[method].unit, f"{study.key}_annotated.yaml"
    files = label_studio.files(study.elicitation.instructions, unit, asked, pages, texts)
    files[KEY] = "".join(json.dumps(page.key, ensure_ascii=False, default=str) + "\n" for page in pages)
    files[name] = answers(study, method, asked, pages)
    source = source_of(study, method)
    lines = [f"# {escape.markdown(study.title)}: {METHODS[method].title}, for Label Studio", ""]
    lines += [f"- {line}" for line in [*said, *([f"definitions: {source}"] if source else [])]]
    lines += ["", STEPS.format(run=project.command(), name=name)]
    lines += [f"`{KEY}` says which dialogue and system each page shows, and which sides are swapped: keep it from the"]
    files["README.md"] = "\n".join([*lines, "annotators.", ""])
    folder = store.out_root() / "annotation" / study.key / method
    for file, content in files.items():
        with store.atomic(folder / file) as temporary:
            temporary.write_text(content, encoding="utf-8", newline="\n")
    return folder


def answers(study: Study, method: str, asked: list[Question], pages: list[Page]) -> str:
    """The YAML of a study of the answers, to stand in the project's folder."""
    keys = {column for page in pages for column in page.key}
    result = "annotations.[].result.[]"
    kinds = dict.fromkeys("choices.[]" if question.options else "number" for question in asked)
    paths = [f"{result}.value.{kind}" for kind in kinds]
    columns = {"label": f"{result}.from_name", "annotator": "annotations.[].completed_by"}
    columns |= {"work_unit": "annotations.[].id", "seconds": "annotations.[].lead_time"}
    source: dict[str, Any] = {
        "adapter": "records",
        "file": EXPORT,
        "scores": paths[0] if len(paths) == 1 else paths,
        "columns": columns | {c: f"item.{c}" for c in _KEYED if c in keys},
        "join": [{"file": KEY, "name": "item", "by": "data.item", "key": "id"}],
        "drop": {"annotations.[].was_cancelled": True},
        "skip_columns": ["data.*", *(f"item.{column}" for column in sorted(keys - {*_KEYED, "id"}))],
    }
    values = {
        spelt: float(option.score)
        for question in asked
        if not question.label.categories
        for option in question.options
        for spelt in (option.code, option.shown)
        if spelt != f"{option.score:g}"
    }
    source |= {"values": values} if values else {}
    renamed = {question.name: question.label.id for question in asked if question.name != question.label.id}
    source |= {"label_names": renamed} if renamed else {}
    systems = {str(page.item[c]) for page in pages for c in ("system", "system_b") if c in page.item}
    out: dict[str, Any] = {"title": f"{study.title}: annotated", "method": method, "sources": [source]}
    out |= {"labels": {question.name: _label(question) for question in asked}}
    shown = {system: name for system, name in study.systems.items() if system in systems}
    out |= {"systems": shown} if shown else {}
    out |= {"simulated": True} if study.simulated else {}
    out |= _training(study, asked, pages)
    head = "# Reads the annotators' answers from the export saved in the same folder. See docs/annotate.md.\n"
    return head + yaml.safe_dump(out, sort_keys=False, allow_unicode=True, width=110)


def _training(study: Study, asked: list[Question], pages: list[Page]) -> dict[str, Any]:
    """The training items of this project with the intended answers to what is asked, and when an annotator passes."""
    trained = {(p.item["dialogue"], p.item.get("dialogue_b"), p.item.get("turn")) for p in pages if p.phase != "main"}
    labels = {question.label.id for question in asked}
    items = [
        item.model_dump(exclude_defaults=True) | {"answers": {k: v for k, v in item.answers.items() if k in labels}}
        for item in study.elicitation.training
        if (item.dialogue, item.dialogue_b, item.turn) in trained
    ]
    return {"elicitation": {"training": items}, "pilot": PASSES} if items else {}


def _label(question: Question) -> dict[str, Any]:
    label = question.label
    out: dict[str, Any] = {} if question.name == label.id else {"id": label.id}
    out |= {"title": label.title} | ({"direction": label.direction} if label.direction_declared else {})
    out |= {"level": label.level}
    if label.categories:
        out |= {"categories": list(label.categories)}
        out |= {} if label.level == "sets" else {"scale": [float(end) for end in label.scale]}
    else:
        out |= {"scale": [float(end) for end in label.scale]}
    out |= {"task": label.task} if label.task else {}
    return out | ({} if label.integer else {"integer": False})
