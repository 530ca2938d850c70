"""`notebooks/dag.yaml`: what each notebook needs, reads and is given."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field, ValidationError

from judgebook.pipeline.cache import Cache
from judgebook.pipeline.notebook import ALWAYS, NotebookError, check_knobs, facts
from judgebook.study import params, yaml_file
from judgebook.study.params import Study
from judgebook.study.sections.data import Section

NOTEBOOKS = params.ROOT / "notebooks"
#: parts of the YAML any notebook may use: names of things and the look of figures
COMMON = ("title", "simulated", "method", "label_set", "labels", "systems", "corpora", "groups", "figures")
_MISSING = object()


class Notebook(Section):
    """One entry of dag.yaml; the comment at its top says what the fields mean."""

    needs: list[str] = Field([])
    reads: list[str] = Field(["annotations"])
    sections: list[str] = Field([])
    knobs: dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], str] = Field({})
    requires: list[str] = Field([])
    weighted: str = ""
    unweighted: str = ""
    headline: str | None = None
    across: bool = False
    seconds: float = Field(3, gt=0)

    @property
    def of_study(self) -> bool:
        """Whether it shows results of the study, not only files of the project."""
        return bool(self.needs) or any("/" not in read for read in self.reads)


def load(folder: Path = NOTEBOOKS) -> dict[str, Notebook]:
    """The notebooks in the order of the report. Raises NotebookError naming everything that is wrong in dag.yaml."""
    path = folder / "dag.yaml"
    try:
        entries = yaml.load(path.read_text(encoding="utf-8"), yaml_file.Loader) or {}
    except (OSError, yaml.YAMLError) as error:
        raise NotebookError(f"{path}: {error}") from None
    out, problems = {}, []
    for name, entry in entries.items():
        try:
            out[name] = Notebook.model_validate(entry or {})
        except ValidationError as error:
            problems += [f"{name}: {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
    problems += [p for name, entry in out.items() for p in _check(name, entry, list(out), folder)]
    if problems:
        raise NotebookError("\n".join(f"notebooks/dag.yaml: {p}" for p in problems))
    return out


def of(entries: dict[str, Notebook], study: Study) -> dict[str, Notebook]:
    """The notebooks a study can have: notebooks across studies belong to studies without data of their own."""
    return {name: entry for name, entry in entries.items() if entry.across == study.across}


def _check(name: str, entry: Notebook, names: list[str], folder: Path) -> list[str]:
    problems = []
    if not (folder / f"{name}.ipynb").is_file():
        problems.append(f"{name}: there is no notebooks/{name}.ipynb")
    earlier = names[: names.index(name)]
    problems += [f"{name}: needs {n!r}, which is not listed above it" for n in entry.needs if n not in earlier]
    # files are attributed to notebooks by this prefix
    problems += [f"{name}: the name begins with that of {n}" for n in names if n != name and name.startswith(f"{n}_")]
    for section in [*entry.sections, *entry.knobs.values()]:
        if section.split(".")[0] not in Study.model_fields:
            near = difflib.get_close_matches(section.split(".")[0], Study.model_fields, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(Study.model_fields)}"
            problems.append(f"{name}: {section!r} is not in the YAML of a study; {hint}")
    return problems


def value(study: Study, dotted: str) -> Any:
    """The value at a dotted path of the study's YAML, as plain JSON. Raises NotebookError where there is none."""
    found: Any = study.model_dump(mode="json", include={dotted.split(".")[0]})
    for part in dotted.split("."):
        found = found.get(part, _MISSING) if isinstance(found, dict) else _MISSING
        if found is _MISSING:
            raise NotebookError(f"notebooks/dag.yaml: {dotted!r} is not in the YAML of {study.key}")
    return found


def knobs(name: str, entry: Notebook, study: Study, cache: Cache, folder: Path = NOTEBOOKS) -> dict[str, Any]:
    """Values for the notebook's knobs. Raises NotebookError for a name or type its parameters cell does not know."""
    given = {knob: value(study, path) for knob, path in entry.knobs.items()}
    clash = sorted(set(given) & set(ALWAYS))
    if clash:
        raise NotebookError(f"notebooks/dag.yaml: {name}: {', '.join(clash)} is set by the pipeline")
    return check_knobs(name, facts(folder / f"{name}.ipynb", cache), given)


def select(names: list[str], wanted: list[str], entries: dict[str, Notebook]) -> list[str]:
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
