"""docs/results.md: where results lie and what their columns mean, from the declarations that the code uses."""

from __future__ import annotations

from collections.abc import Iterator
from math import isinf

from judgebook.study import result_schema, schema
from judgebook.study.yaml_guide import table

HEAD = """\
# Results of a run

Written by `python run_all.py schema` from `src/judgebook/study/` (`result_schema.py`, `schema.yaml`) and
from `statistics.yaml` of the folder of each question.

For each study, a run leaves in the project's folder (or in `--out`, `$COMPENDIUM_OUT`):

| folder | contains |
| --- | --- |
| `reports/<study>/` | the pages, and the answers of the first one as `answers.json` |
| `figures/<study>/`, `tables/<study>/` | every figure, and every table as CSV and LaTeX |
| `data/processed/<study>/` | the data as they were read (`annotations.parquet` and other frames), `params.yaml` |
| `data/processed/<study>/results/` | the numbers: one file per notebook, as CSV (up to a million rows) and Parquet |

In Python, where the package is installed, from a notebook of `python run_all.py lab`, or with `src/` on the path:

```python
import judgebook as jb

study = jb.open_study("ji2022")
study.statistics  # what the notebooks stored
study.results("mean")  # one row per estimate, with interval
study.results("mean", label="fluent", interval="session")
study.results("contrast")  # every two systems: difference in the fit that the report answers with, p_value, p_adjusted
study.scores  # one row per judgement
study.params.systems  # names shown
```

[examples/explore.ipynb](../examples/explore.ipynb) draws a figure from them. `params` are those of the last run: a
notebook that was left out of it keeps results from its own settings, and its page says so. Elsewhere, read the CSV
files: the same rows, with the keys of a statistic in the column `condition`.

A difference is that of `system` minus `system_b`, on the scale of the label, and each pair is stored once: turn the
sign to ask about `system_b`, and where less of a label is better (its `direction` is -1). `primary` marks
alpha, Gwet's AC, the reliability of means, and rates, means and shares: one row for each thing that is estimated.

[Notebooks of your own](own_project.md#a-statistic-of-your-own) store statistics that are not in the list below.
"""


def text(answers: str) -> str:
    """docs/results.md as the code says it should be. answers : its section on `answers.json`."""
    columns = [(f"`{name}`", dtype.lower(), doc) for name, (dtype, doc) in result_schema.COLUMNS.items()]
    parts = [
        HEAD,
        answers,
        "## Columns of results",
        "A column that a statistic does not use is empty; `results()` leaves it out.",
        table(("column", "type", "meaning"), columns),
        "## Statistics",
        "[Keys](#keys) tell its rows apart, in addition to the identifiers above; in Python each is a column.",
        table(("statistic", "what it is", "keys", "range"), map(_statistic, result_schema.statistics().items())),
        KEYS,
        table(("key", "type", "statistics", "meaning"), _keys()),
        "## Frames",
    ]
    for name, frame in FRAMES.items():
        rows = [
            (f"`{c}`", column.dtype.lower(), "yes" if column.missing else "", column.doc) for c, column in frame.items()
        ]
        parts += [f"### `{name}`", table(("column", "type", "may be missing", "meaning"), rows)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


KEYS = """\
## Keys

What a key says of a row. Values between backticks are all that it has; other keys hold names of the study, or what the
text says. Where statistics are named, the meaning is that for these."""

FRAMES = {
    "annotations": schema.ANNOTATIONS,
    "dialogues": schema.DIALOGUES,
    "metric_scores": schema.METRIC_SCORES,
    "screening": schema.SCREENING,
    "work_units": schema.WORK_UNITS,
    "dialogue_facts": schema.DIALOGUE_FACTS,
    "counts": schema.COUNTS,
}


def _keys() -> Iterator[tuple[str, ...]]:
    """A row for each meaning of each key, with the statistics that give it this meaning where it has others."""
    found: dict[str, dict[tuple[str, str], list[str]]] = {}
    for name, one in result_schema.statistics().items():
        for key, meaning in one.meanings.items():
            what = _TYPES[one.type_of(key)], meaning
            found.setdefault(key, {}).setdefault(what, []).append(f"`{name}`")
    for key, meanings in sorted(found.items()):
        for (type_, meaning), statistics in meanings.items():
            yield f"`{key}`", type_, ", ".join(statistics) if len(meanings) > 1 else "", meaning


#: types of keys, in words
_TYPES = {str: "text", int: "whole number", float: "number"}


def _statistic(item: tuple[str, result_schema.Statistic]) -> tuple[str, ...]:
    name, statistic = item
    low, high = statistic.range
    known = [f"≥ {low:g}"] * (not isinf(low)) + [f"≤ {high:g}"] * (not isinf(high))
    ends = f"{low:g} to {high:g}" if len(known) == 2 else "".join(known)
    return f"`{name}`", statistic.title, ", ".join(f"`{k}`" for k in statistic.keys), ends
