"""Alpha as plain numbers, for tables that need no intervals, and the rows of alpha that notebook 03 speaks from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers import agreement
from helpers.alpha import alpha_of
from helpers.coincidences import patterns
from helpers.labels import METHODS, Label
from helpers.schema import condition, read_condition

CELL = ["corpus", "group", "method", "label"]


def plain_alphas(annotations: pd.DataFrame, labels: Iterable[Label], *, first: int | None = None) -> pd.DataFrame:
    """Alpha of the first so many annotations by people (None: all), without intervals: `alpha` rows by corpus, group,
    method and label.

    Labels that nobody judged twice have no row. Equal to `agreement.alpha_table` with the same annotations.

    Checked against `agreement.alpha_table`.
    """
    known = {(label.method, label.id): label for label in labels}
    chosen = agreement.first_annotations(annotations, first=first)
    chosen = chosen[chosen.duplicated(["item", "group"], keep=False)]
    rows = []
    for cell, part in chosen.groupby(CELL, sort=False):
        keys, label = dict(zip(CELL, cell, strict=True)), known[cell[2], cell[3]]
        unit = METHODS[label.method].unit
        values = agreement.matrix(part).to_numpy()
        domain = np.unique(np.r_[part["score"], -part["score"]]) if unit == "pair" else None
        found = alpha_of(patterns(values, domain), label.level, mirrored=unit == "pair")
        where = condition(measurement=label.level, raters=f"first{first}" if first else "all", kind="human")
        rows.append(keys | {"level": unit, "condition": where, "estimate": found.estimate, "n": found.n_items})
    return pd.DataFrame(rows, columns=[*CELL, "level", "condition", "estimate", "n"]).assign(statistic="alpha")


def nominal_alphas(annotations: pd.DataFrame, labels: Iterable[Label], *, first: int | None = None) -> pd.DataFrame:
    """`plain_alphas` of labels with ordered scores as if their order meant nothing: wrong, and a control of what
    matches the right definition.

    Checked against the `krippendorff` package.
    """
    wrong = [replace(label, level="nominal") for label in labels]
    ordered = {(x.method, x.id) for x in labels if x.level == "ordinal" and x.scale != (0, 1)}
    keep = [pair in ordered for pair in zip(annotations["method"], annotations["label"], strict=True)]
    return plain_alphas(annotations[keep], wrong, first=first)


def alphas(results: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of alpha with the primary interval, and those with an interval over turns. Labels nobody judged twice
    (n of 0) are left out.

    Checked by hand.
    """
    rows = results[(results["statistic"] == "alpha") & (results["n"] > 0)]
    over_turns = rows["resample_unit"] == "turn"
    return rows[~over_turns], rows[over_turns]


def with_scope(results: pd.DataFrame, scope: str) -> pd.DataFrame:
    """The rows of alpha, marked in their condition as computed on a paper's scope. Checked by hand."""
    rows = results[results["statistic"] == "alpha"].copy()
    rows["condition"] = [condition(**read_condition(c), scope=scope) for c in rows["condition"]]
    return rows
