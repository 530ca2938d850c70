"""What each notebook needs, reads and is given, as its question declares it, held against a study."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from judgebook.pipeline.cache import Cache
from judgebook.pipeline.notebook import ALWAYS, NotebookError, check_knobs, facts
from judgebook.study import params
from judgebook.study.params import Study
from judgebook.study.questions import Question, declared

NOTEBOOKS = params.ROOT / "notebooks"
#: parts of the YAML any notebook may use: names of things, what orders systems, and the look of figures
COMMON = (
    *("title", "simulated", "methods", "method", "label_set", "labels", "systems", "corpora", "groups", "figures"),
    *("performance.overall", "quality_control", "control_system", "unranked_systems"),
)
_MISSING = object()


def load(folder: Path = NOTEBOOKS) -> dict[str, Question]:
    """The questions whose notebook is in the folder, in the order of the report.

    Raises NotebookError naming everything that is wrong in what they declare.
    """
    out = {name: question for name, question in declared().items() if (folder / f"{name}.ipynb").is_file()}
    if problems := [p for name, question in out.items() for p in _check(name, question, list(out))]:
        raise NotebookError("\n".join(problems))
    return out


def of(entries: dict[str, Question], study: Study) -> dict[str, Question]:
    """The notebooks a study can have: notebooks across studies belong to studies without data of their own."""
    return {name: entry for name, entry in entries.items() if entry.across == study.across}


def _check(name: str, entry: Question, names: list[str]) -> list[str]:
    earlier = names[: names.index(name)]
    problems = [f"{name}: needs {n!r}, which does not come before it" for n in entry.needs if n not in earlier]
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
    return check_knobs(name, facts(folder / f"{name}.ipynb", cache), given)


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
    for name in reversed(names):
        if name in chosen:
            chosen.update(entries[name].needs)
    return [n for n in names if n in chosen]
