"""Judgements that a bundle has (`bundle --with-judgements`): a study whose settings lie beside them is read from these.

`data/judgements` of a bundle holds frames as CSV, one file each, as the run that was bundled had them but for what is
not shared. They are read as they are: what a YAML says about files, and what it leaves out, was applied when they were
made. In the place of texts that are not shared are stand-ins, with which what is counted in texts comes out. Only
notebooks that compute with nothing else of texts (`Question.private`) see them.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgebook.sources.ids import naming
from judgebook.study import escape, params

if TYPE_CHECKING:
    import pandas as pd

    from judgebook.study.schema import Column, Problem

#: in a bundle, whose settings are in `params/`
FOLDER = "data/judgements"
#: beside the frames: which columns have values that were left out or coarsened
ABOUT = "about.json"
#: tables: scores of texts by metrics, and pseudonyms of people whose ids are spelt alike
SCORES, SPELLINGS = "text_metrics", "spellings"
#: a file that every bundle has: another folder of this name is none
_BUNDLE = "ro-crate-metadata.json"


def files(study: params.Study) -> list[Path]:
    """The files that the bundle of a study has in the place of its raw files; none where its YAML is in no bundle."""
    if study.path is None or study.path.parent.name != "params":
        return []
    root = study.path.parent.parent
    return sorted((root / FOLDER).glob("*.csv")) if params.is_file(root / _BUNDLE) else []


def texts_left_out(study: params.Study) -> bool:
    """Whether the bundle lacks texts that the study has."""
    return any((path.parent / ABOUT).is_file() and about(path.parent)["texts_left_out"] for path in files(study)[:1])


def about(folder: Path) -> dict[str, Any]:
    return json.loads((folder / ABOUT).read_text(encoding="utf-8"))


def read(study: params.Study) -> tuple[dict[str, pd.DataFrame], dict[str, Any], dict[str, pd.DataFrame]]:
    """All frames of the schema, the study's profile, and what only a bundle has: its tables of `columns`, and frames
    with stand-ins for texts. Raises DataError naming file, row and column that are not as a bundle has them."""
    from judgebook.annotations.features import profile
    from judgebook.study import schema

    made = {path.stem: path for path in files(study)}
    frames = {name: _frame(name, made.get(name), study) for name in schema.FRAMES}
    left_out = texts_left_out(study)
    # without scores there is an empty table of them: nobody may compute them from stand-ins
    names = [name for name in columns() if name in made or (name == SCORES and left_out)]
    more = {name: _frame(name, made.get(name), study) for name in names}
    features = profile(frames, study)
    for name, texts in naming.TEXTS.items() if left_out else ():
        more[name] = frames[name]
        frames[name] = frames[name].assign(**{c: frames[name][c].mask(frames[name][c].notna()) for c in texts})
    return frames, features, more


@cache
def columns() -> dict[str, dict[str, Column]]:
    """The tables of a bundle that are no frames of the schema -> their columns."""
    from judgebook.study import schema

    names = {
        "annotator": "pseudonym, as in annotations",
        "like": "the first annotator whose id in the source is the same but for case, blanks and look-alike characters",
    }
    return {
        SCORES: {c: column for c, column in schema.METRIC_SCORES.items() if c != "study"},
        SPELLINGS: {name: schema.Column(dtype="str", doc=doc) for name, doc in names.items()},
    }


def _frame(name: str, path: Path | None, study: params.Study) -> pd.DataFrame:
    """A frame; empty where the bundle has none of it."""
    import pandas as pd

    from judgebook.study import schema

    spec = (schema.FRAMES | columns())[name]
    if path is None:
        return schema.conform(pd.DataFrame(columns=[c for c in spec if c != "study"]), spec, **_constant(spec, study))
    cells = escape.read_csv(path)
    out = cells.astype(object).where(cells != "", None)
    required = [c for c, column in spec.items() if c in out and not column.missing]
    out[required] = cells[required]  # an empty text is a value where none may be missing
    problems = [p for c, column in spec.items() if c in out for p in _problems(path, out[c], column)]
    problems += [
        schema.Problem(path.name, "header", c, f"a column of {', '.join(spec)}", "another")
        for c in out
        if c not in spec
    ]
    if problems:
        raise schema.DataError(problems)
    for column in (c for c in out if spec[c].dtype in ("bool", "boolean")):
        out[column] = out[column].map({"True": True, "False": False})
    return schema.conform(out, spec, **_constant(spec, study))


def _problems(path: Path, cells: pd.Series, column: Column) -> list[Problem]:
    """Cells that are not of the type of their column."""
    import pandas as pd

    from judgebook.study import schema

    if column.dtype in ("bool", "boolean"):
        bad, expected = ~cells.isin(["True", "False"]) & cells.notna(), "True or False"
    elif column.dtype.startswith("datetime"):
        bad = pd.to_datetime(cells, errors="coerce", format="ISO8601").isna() & cells.notna()
        expected = "a time such as 2026-01-31 12:00:00"
    elif column.dtype == "str":
        return []
    else:
        bad, expected = pd.to_numeric(cells, errors="coerce").isna() & cells.notna(), "a number"
    return schema.several(
        cells.index[bad],
        lambda i: schema.Problem(path.name, f"row {i + 2}", str(cells.name), expected, repr(cells[i])),
    )


def _constant(spec: dict[str, Column], study: params.Study) -> dict[str, str]:
    return {"study": study.key} if "study" in spec else {}
