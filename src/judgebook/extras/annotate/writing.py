"""`run_all.py annotate`: the folder of a project for an annotation tool."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pandas as pd

from judgebook import project
from judgebook.extras.annotate import answers, label_studio, potato
from judgebook.extras.annotate import pages as design
from judgebook.extras.annotate.questions import Question, questions
from judgebook.study import escape, params, store
from judgebook.study.definitions import source_of
from judgebook.study.labels import METHODS
from judgebook.study.params import ParamsError, Study

TOOLS = {"labelstudio": label_studio, "potato": potato}
TITLES = {"labelstudio": "Label Studio", "potato": "Potato"}


def command(
    named: str,
    tool: str,
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
    named : a study, or the path of its YAML. tool : a key of TOOLS.
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
    pairs = any(METHODS[method].unit == "pair" for method in wanted)
    drawn = design.chosen(frame, per_system, seed, pairs=pairs)
    if per_system is not None:
        print(_drawn(drawn, per_system))
    for method, asked in wanted.items():
        try:
            folder, lines = write(study, tool, method, asked, frame, drawn, people, each, overlap, at_most, seed)
        except ParamsError as error:
            left_out[method] = str(error)
            continue
        print(f"{METHODS[method].title}: {store.relative(folder)}/")
        for line in lines:
            print(f"  {line}")
    if len(left_out) == len(wanted):
        raise ParamsError("; ".join(dict.fromkeys(left_out.values())))
    for method, why in left_out.items():
        print(f"{METHODS[method].title}: left out: {why}")
    return 0


def _drawn(drawn: pd.DataFrame, per_system: int) -> str:
    """How many dialogues were drawn, where more than asked for: why."""
    of_system = drawn.groupby("system")["dialogue"].nunique()
    n, low, high = drawn["dialogue"].nunique(), of_system.min(), of_system.max()
    each = f"{_span(low, high)} of each of {len(of_system):,} systems"
    why = f" ({per_system:,} were asked for; dialogues of one session are drawn together)" if high > per_system else ""
    return f"Drawn: {n:,} dialogues, {each}{why}"


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _refuse(option: str, given: list[str] | None, expected: list[str]) -> None:
    if unknown := sorted(set(given or []) - set(expected)):
        raise ParamsError(f"{option}: expected {', '.join(dict.fromkeys(expected))}; found {', '.join(unknown)}")


def write(
    study: Study,
    tool: str,
    method: str,
    asked: list[Question],
    every: pd.DataFrame,
    drawn: pd.DataFrame,
    people: int,
    each: int,
    overlap: int | None,
    at_most: int | None,
    seed: int,
) -> tuple[Path, list[str]]:
    """Write the project of one method; returns its folder and what to say.

    Parameters
    ----------
    every, drawn : all dialogues (training items are looked up there), and those to be judged; as `pages.dialogues`.
    """
    unit = METHODS[method].unit
    trained = design.training(every, study.elicitation.training, unit, people)
    hidden = {page.item["dialogue"] for page in trained}
    items = design.bundles(drawn[~drawn["dialogue"].isin(hidden)], method)
    if not items:
        raise ParamsError(f"{METHODS[method].title}: nothing to judge")
    usual = max(25, len(items) // 4) if each == 1 else 0
    overlap = min(len(items), usual if overlap is None else overlap) if people > each else 0
    main = design.plan(items, people, overlap, seed, each=each, at_most=at_most)
    pages = sorted([*trained, *main], key=lambda page: (page.person, page.phase == "main"))
    texts = design.Texts(every)
    module = TOOLS[tool]
    title = f"{study.title}: {METHODS[method].title}"
    instructions = study.elicitation.instructions
    files = module.files(title, instructions, unit, asked, pages, texts)
    files[answers.KEY] = "".join(json.dumps(page.key, ensure_ascii=False, default=str) + "\n" for page in pages)
    name = f"{study.key}_annotated.yaml"
    files[name] = answers.text(study, module, method, asked, pages)
    folder = store.out_root() / "annotation" / study.key / tool / method
    load = Counter(page.person for page in main)
    shown = store.relative(folder)
    judges = "one annotator" if each == 1 else f"{each} annotators"
    thing = {"turn": "dialogues", "dialogue": "dialogues", "pair": "pairs"}[unit]
    lines = [
        f"{len(items):,} {thing}, each judged by {judges}, {overlap:,} of them by one more; "
        f"{len(main):,} pages, {_span(min(load.values()), max(load.values()))} for each of {len(load)} annotators",
        f"{len(asked)} labels; training items: {len(trained) // people}; seed {seed}",
        f"README.md says how to load it; then: {project.command()} check {shown}/{name}",
    ]
    source = source_of(study, method)
    files["README.md"] = _readme(study, tool, method, lines[:2], source, name)
    for file, content in files.items():
        with store.atomic(folder / file) as temporary:
            temporary.write_text(content, encoding="utf-8", newline="\n")
    return folder, lines


def _readme(study: Study, tool: str, method: str, lines: list[str], source: str, name: str) -> str:
    text = [f"# {escape.markdown(study.title)}: {METHODS[method].title}, for {TITLES[tool]}", ""]
    text += [f"- {line}" for line in lines]
    text += [f"- definitions: {source}"] if source else []
    text += ["", TOOLS[tool].STEPS]
    run, last = project.command(), len([line for line in TOOLS[tool].STEPS.splitlines() if line[:1].isdecimal()]) + 1
    text += [
        f"{last}. `{run} check {name}`, then `{run} --study {name}`, with this file's path.",
        "",
        f"`{answers.KEY}` says which dialogue and system each page shows, and which sides are swapped: keep it from "
        "the annotators.",
    ]
    return "\n".join(text) + "\n"
