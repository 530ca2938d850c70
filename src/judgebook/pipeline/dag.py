"""What each notebook needs, reads and is given, as its question declares it, held against a study."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any

from judgebook import project
from judgebook.pipeline.cache import Cache
from judgebook.pipeline.notebook import ALWAYS, NotebookError, check_knobs, facts
from judgebook.study import params
from judgebook.study.own_notebook import CALL, OwnNotebookError, declaration
from judgebook.study.params import Study
from judgebook.study.questions import Question, declared, place

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
    """Values for the notebook's knobs. Raises NotebookError for a name or type its parameters cell does not know."""
    given = {knob: value(study, path) for knob, path in entry.knobs.items()}
    clash = sorted(set(given) & set(ALWAYS))
    if clash:
        raise NotebookError(f"{name}: {', '.join(clash)} is set by the pipeline")
    return check_knobs(name, facts(file(name, folder), cache), given)


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
