"""The notebooks of a report: what each says without being run (its code, its knobs, its question), and what it needs,
reads and is given, as its question declares it, held against a study.

Parameter names become code when a notebook runs. Only names declared in its parameters cell are passed.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from judgebook import project
from judgebook.errors import JudgebookError
from judgebook.pipeline.cache import Cache, digest
from judgebook.pipeline.closure import imported
from judgebook.report.blocks import Knob, parameters
from judgebook.study import params
from judgebook.study.own_notebook import CALL, OwnNotebookError, arguments, declaration
from judgebook.study.params import Study
from judgebook.study.questions import Question, declared, place

#: what every parameters cell declares in addition to the notebook's own knobs
ALWAYS = ("study", "run_id")


class NotebookError(JudgebookError, ValueError):
    """A notebook or its question breaks the contract. The message says how to mend it."""


@dataclass(frozen=True)
class Facts:
    """source : digest of cells and tags. imports : what it imports of this project. title, question : first cell.
    declares : what a notebook of somebody's own says that it reads; None where it does not declare itself."""

    source: str
    imports: tuple[str, ...]
    knobs: tuple[Knob, ...]
    title: str
    question: str
    declares: dict[str, Any] | None = None


def facts(path: Path, cache: Cache) -> Facts:
    """What the file says. Raises NotebookError where it is not a notebook or has no parameters cell."""
    read = cache.derived("notebook", path, lambda p: asdict(_read(p)))
    knobs = tuple(Knob(**k) for k in read["knobs"])
    return Facts(**{**read, "knobs": knobs, "imports": tuple(read["imports"])})


def _read(path: Path) -> Facts:
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        cells = [{**c, "source": "".join(c["source"]), "tags": c.get("metadata", {}).get("tags", [])} for c in cells]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotebookError(f"{path.name}: not a notebook: {error}") from None
    code = [c["source"] for c in cells if c["cell_type"] == "code"]
    heads = [c["source"] for c in cells if c["cell_type"] == "code" and "parameters" in c["tags"]]
    if len(heads) != 1:
        raise NotebookError(f"{path.name}: expected one code cell tagged `parameters`, found {len(heads)}")
    code = [_without_magics(source) for source in code]
    try:
        imports = sorted({name for source in code for name in imported(source)})
        knobs = tuple(parameters(heads[0]))
        declares = arguments(path.stem, code)
    except OwnNotebookError as error:
        raise NotebookError(str(error)) from None
    except SyntaxError as error:
        raise NotebookError(f"{path.name}: not Python: {error}") from None
    missing = [name for name in ALWAYS if name not in {k.name for k in knobs}]
    if missing:
        raise NotebookError(f"{path.name}: the parameters cell does not declare {', '.join(missing)}")
    title, question = _heading(cells, path.stem)
    content = [[c["cell_type"], c["source"], c["tags"]] for c in cells]
    return Facts(digest(content), tuple(imports), knobs, title, question, declares)


def _without_magics(source: str) -> str:
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in source.splitlines())


def _heading(cells: list[dict], stem: str) -> tuple[str, str]:
    """The first heading of the first text cell, and the paragraph after it, as one line each."""
    text = next((c["source"] for c in cells if c["cell_type"] == "markdown"), "")
    match = re.search(r"^#\s+(.+)$", text, re.MULTILINE)
    title = match[1].strip() if match else stem
    paragraphs = [" ".join(p.split()) for p in (text[match.end() :] if match else text).split("\n\n")]
    return title, next((p for p in paragraphs if p and not p.startswith("#")), "")


NOTEBOOKS = params.ROOT / "notebooks"
#: parts of the YAML any notebook may use: names of things, what orders systems, and the look of figures
COMMON = (
    *("title", "simulated", "methods", "method", "label_set", "labels", "systems", "corpora", "groups", "figures"),
    *("performance.overall", "quality_control", "control_system", "unranked_systems"),
)
_MISSING = object()


def load(folder: Path = NOTEBOOKS, *, own: bool = True) -> dict[str, Question]:
    """The questions whose notebook is in the folder, in the order of the report.

    own : with the notebooks in the folder that somebody works in which declare themselves. Raises NotebookError naming
    everything that is wrong in what they declare.
    """
    out = {name: question for name, question in declared().items() if (folder / f"{name}.ipynb").is_file()}
    if own:
        every = [*out.values(), *_own(folder)]
        out = {question.notebook: question for question in sorted(every, key=place)}
    if problems := [p for name, question in out.items() for p in _check(name, question, list(out))]:
        raise NotebookError("\n".join(problems))
    in_turn(list(out), out)
    return out


def file(name: str, folder: Path = NOTEBOOKS) -> Path:
    """The file of a notebook: in the folder of the project's notebooks, or of somebody's own."""
    return next((p for f in _folders(folder) if (p := f / f"{name}.ipynb").is_file()), folder / f"{name}.ipynb")


def helper(name: str) -> Path:
    """The module in `helpers` that a notebook of the project calls; somebody's own has none."""
    return params.ROOT / "src" / "helpers" / f"{name.partition('_')[2]}.py"


def _folders(folder: Path) -> list[Path]:
    return list(dict.fromkeys([folder, project.folder() / "notebooks"]))


def _own(folder: Path) -> list[Question]:
    """Notebooks that declare themselves. Others that are in the folder for other purposes are none of ours."""
    out, problems = [], []
    for path in (p for f in _folders(folder) for p in sorted(f.glob("[!.]*.ipynb")) if p.is_file()):
        if CALL not in path.read_text(encoding="utf-8", errors="replace"):
            continue
        try:
            about = facts(path, Cache(None))
            if about.declares is None:
                continue
            if path.stem in declared():
                raise NotebookError(f"{path.stem}: a notebook of the project has this name: choose another")
            if {"judgebook.study.stored", "judgebook.open_study"} & {*about.imports}:
                raise NotebookError(
                    f"{path.stem}: it reads by open_study, which no declaration covers: use run.read and"
                    " run.read_results, or leave it out of the report by removing the call of own_notebook"
                )
            out.append(declaration(path.stem, about.declares, about.title))
        except (NotebookError, OwnNotebookError) as error:
            problems.append(str(error))
    if problems:
        raise NotebookError("\n".join(f"notebooks/{problem}" for problem in problems))
    return out


def left_out(entries: dict[str, Question], folder: Path = NOTEBOOKS) -> list[str]:
    """Why notebooks with the name of one for a report are not in it, and what to write: sentences without full stop."""
    paths = {path.stem: path for f in _folders(folder) for path in f.glob("*.ipynb")}
    names = sorted(name for name in {*paths} - {*entries} - {*declared()} if re.fullmatch(r"\d\d_\w+", name))
    return [f"notebooks/{name}.ipynb is left out: {_why_left_out(name, paths[name])}" for name in names]


def _why_left_out(name: str, path: Path) -> str:
    try:
        facts(path, Cache(None))
    except (NotebookError, OSError) as error:
        return str(error).removeprefix(f"{path.name}: ")
    return (
        f'it does not begin with {CALL}(…): write `run = {CALL}("{name}", study, run_id, reads=["annotations"])`, with '
        "what it reads, in its first cell after the parameters (docs/own_project.md)"
    )


def absent(entries: dict[str, Question]) -> list[str]:
    """Files that notebooks of somebody's own declare and that are not there, as `left_out` has sentences."""
    return [
        f"notebooks/{name}.ipynb: reads: expected a file below the project's folder, found no {read}"
        for name, entry in entries.items()
        for read in entry.reads
        if entry.own and "/" in read and not (project.folder() / read).is_file()
    ]


def of(entries: dict[str, Question], study: Study) -> dict[str, Question]:
    """The notebooks a study can have: notebooks across studies belong to studies without data of their own."""
    ours = {name: entry for name, entry in entries.items() if entry.across == study.across}
    return {name: entry for name, entry in ours.items() if entry.only in ("", study.key)}


def _check(name: str, entry: Question, names: list[str]) -> list[str]:
    problems = [f"{name}: needs {n!r}, which there is not" for n in entry.needs if n not in names]
    # files are attributed to notebooks by this prefix
    problems += [f"{name}: the name begins with that of {n}" for n in names if n != name and name.startswith(f"{n}_")]
    for section in [*entry.own_sections, *entry.knobs.values()]:
        if section.split(".")[0] not in Study.model_fields:
            near = difflib.get_close_matches(section.split(".")[0], Study.model_fields, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(Study.model_fields)}"
            problems.append(f"{name}: {section!r} is not in the YAML of a study; {hint}")
    return problems


def value(study: Study, dotted: str) -> Any:
    """The value at a dotted path of the study's YAML, as plain JSON. Raises NotebookError where there is none."""
    node: Any = study.model_dump(mode="json", include={dotted.split(".")[0]})
    for part in dotted.split("."):
        node = node.get(part, _MISSING) if isinstance(node, dict) else _MISSING
        if node is _MISSING:
            raise NotebookError(f"{dotted!r} is not in the YAML of {study.key}")
    return node


def knobs(name: str, entry: Question, study: Study, cache: Cache, folder: Path = NOTEBOOKS) -> dict[str, Any]:
    """Values for the notebook's knobs. Raises NotebookError for a name that its parameters cell does not declare."""
    given = {knob: value(study, path) for knob, path in entry.knobs.items()}
    if clash := sorted(set(given) & set(ALWAYS)):
        raise NotebookError(f"{name}: {', '.join(clash)} is set by the pipeline")
    names = [knob.name for knob in facts(file(name, folder), cache).knobs]
    if unknown := [knob for knob in given if knob not in names]:
        raise NotebookError(f"{name}: {unknown[0]!r} is not in its parameters cell; known: {', '.join(names)}")
    return given


def select(names: list[str], wanted: list[str], entries: dict[str, Question]) -> list[str]:
    """The notebooks `wanted` means (`03_iaa`, `03` or `iaa`) and all they need, in order.

    Raises NotebookError for a name that fits none, with what there is.
    """
    chosen: set[str] = set()
    for want in wanted:
        hits = [n for n in names if want in (n, n.partition("_")[0], n.partition("_")[2])]
        if not hits:
            near = difflib.get_close_matches(
                want, [p for n in names for p in (n, n.partition("_")[2])], n=1, cutoff=0.5
            )
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
            raise NotebookError(f"--only: no notebook {want!r}; {hint}")
        chosen.update(hits)
    return [n for n in names if n in in_turn(sorted(chosen), entries)]


def in_turn(names: list[str], entries: dict[str, Question]) -> list[str]:
    """`names` with all they need, each behind what it needs. Raises NotebookError where two need each other."""
    needed: dict[str, None] = {}

    def add(name: str, before: tuple[str, ...] = ()) -> None:
        if name in before:
            raise NotebookError(f"{name}: needs {before[-1]!r}, which needs it")
        for other in entries[name].needs:
            if other not in needed:
                add(other, (*before, name))
        needed[name] = None

    for name in names:
        add(name)
    return [*needed]
