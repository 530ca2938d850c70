"""Estimates of answers, each with the rows of results where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from judgebook.study.results import ResultRows, Results, identities, once
from judgebook.summary.answers.parts import Estimate, Source
from judgebook.summary.evidence import Evidence

_COPIED = ("estimate", "ci_low", "ci_high", "family", "p_adjusted", "note")
_ABOUT = ("corpus", "group", "method", "label", "system")


def sources(evidence: Evidence, notebook: str, statistic: str, rows: ResultRows) -> list[Source]:
    """Where rows of a statistic are stored: as few selections by columns as say exactly which."""
    stored = _stored(evidence.results[notebook], statistic)
    file = f"data/processed/{evidence.study.key}/results/{notebook}.parquet"
    about = {"notebook": notebook, "file": file}
    return [
        Source(**about, columns={"statistic": statistic, **columns}, n=n)
        for columns, n in _selections(stored, identities(statistic, rows).drop_duplicates())
    ]


@once
def _stored(results: Results, statistic: str) -> pd.DataFrame:
    return identities(statistic, results[statistic])


def _selections(stored: pd.DataFrame, wanted: pd.DataFrame) -> list[tuple[dict[str, Any], int]]:
    """Columns with their values that together select the wanted rows, and no others; with the number of rows."""
    if wanted.empty:
        return []
    values = {column: list(dict.fromkeys(wanted[column])) for column in wanted}
    selected = np.ones(len(stored), dtype=bool)
    for column, some in values.items():
        selected &= stored[column].isin(some).to_numpy()
    several = [column for column, some in values.items() if len(some) > 1]
    if selected.sum() <= len(wanted) or not several:
        shown = {column: some if len(some) > 1 else some[0] for column, some in values.items() if some != [""]}
        return [(shown, len(wanted))]
    parts = wanted.groupby(several[0], sort=False)
    return [one for _, part in parts for one in _selections(stored, part)]


def estimate(
    evidence: Evidence,
    notebook: str,
    statistic: str,
    row: pd.Series,
    *,
    unit: str = "",
    kind: type[Estimate] = Estimate,
    **more: Any,
) -> Any:
    """A row of results as data, a `kind`. more : further fields, or others than those of the row."""
    found: Mapping[str, Any] = row.dropna().to_dict()
    fields = {c: found[c] for c in (*_COPIED, *_ABOUT) if c in found}
    fields |= {"n": int(found["n"])} if "n" in found else {}
    fields |= {"n_of": found.get("resample_unit", ""), "unit": unit, "estimate": row["estimate"]}
    fields |= {"level": evidence.confidence} if "ci_low" in found else {}
    source = next(iter(sources(evidence, notebook, statistic, row.to_frame().T)), None)
    return kind(**(fields | {"source": source} | more))
