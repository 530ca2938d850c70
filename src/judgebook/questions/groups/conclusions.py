"""For how many pairs of systems do two groups conclude the same? Rows of `conclusion_count`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.cells import parts
from judgebook.questions.groups.effects import KEY
from judgebook.study.results import Results, where

#: questions -> keys of their rows
QUESTIONS = {
    "sign": {"of": "sign", "resample": "session"},
    "people": {"of": "sign", "resample": "session and annotator"},
    "size": {"of": "size"},
    "order": {"of": "order"},
}
#: columns of `counted`; contrary: opposite, or different in size
VERDICTS = ["same", "undecided", "contrary"]
_ROW = [*KEY, "level"]


def conclusions(results: Results, margin: float) -> Iterator[dict[str, Any]]:
    """Counts of pairs of systems by three questions, for each label and two groups.

    Parameters
    ----------
    results : Results
        With `effect_size` and `effect_difference`.
    margin : float
        Differences of effect sizes within it are negligible.

    Returns
    -------
    Rows by `of` and `verdict`. *sign*: both groups find the same system better, or opposite ones; undecided where an
    interval includes 0. *order*: the same by the estimates alone, which agree for half of the pairs by chance where
    systems do not differ. *size*: the interval of the difference lies within ±margin (same), excludes 0 and does not
    (different), or neither (undecided).
    """
    sizes = results["effect_size"]
    signs = (sizes["ci_low"] > 0).astype(float) - (sizes["ci_high"] < 0)
    for _, part in sizes.assign(sign=signs).groupby("resample", sort=False):
        yield from _same_sign(part, "sign", ["effect", "resample"])
    over_sessions = where(sizes, resample="session")
    yield from _same_sign(over_sessions.assign(sign=np.sign(over_sessions["estimate"])), "order", [])
    differences = results.select("effect_difference", resample="session")
    low, high = differences["ci_low"], differences["ci_high"]
    same = (low > -margin) & (high < margin)
    verdict = np.select([same, ~same & ((low > 0) | (high < 0))], ["same", "different"], "undecided")
    for key, part in parts(differences.assign(verdict=verdict), [*_ROW, "group", "group_b"], sort=False):
        yield from _counted(key | {"of": "size", "margin": margin}, part["verdict"], "different")


def _same_sign(sizes: pd.DataFrame, of: str, keys: list[str]) -> Iterator[dict[str, Any]]:
    """By the column `sign` of effect sizes; pairs without a sign in one of the groups are not counted."""
    index = [*_ROW, *keys]
    # unstack, because pivot_table leaves out a group whose signs are all missing
    signs = sizes.set_index([*index, "system", "system_b", "group"])["sign"].unstack("group")  # noqa: PD010
    for key, part in signs.groupby(level=index, sort=False):
        for a, b in combinations(part.columns, 2):
            verdicts = (part[a] * part[b]).dropna().map({1.0: "same", -1.0: "opposite", 0.0: "undecided"})
            head = dict(zip(index, key, strict=True)) | {"of": of, "group": a, "group_b": b}
            yield from _counted(head, verdicts, "opposite")


def _counted(head: dict[str, Any], verdicts: pd.Series, contrary: str) -> Iterator[dict[str, Any]]:
    for verdict in ("same", contrary, "undecided"):
        counts = {"estimate": float((verdicts == verdict).sum()), "n": len(verdicts)}
        yield head | {"statistic": "conclusion_count", "verdict": verdict} | counts


def counted(results: Results, question: str) -> pd.DataFrame:
    """Pairs of systems added up over labels: method, group, group_b and a column for each of VERDICTS."""
    rows = results.select("conclusion_count", **QUESTIONS[question])
    rows = rows.replace({"verdict": {"opposite": "contrary", "different": "contrary"}})
    sums = rows.groupby(["method", "group", "group_b", "verdict"], sort=False)["estimate"].sum()
    return sums.unstack("verdict").reindex(columns=VERDICTS).rename_axis(columns=None).reset_index()  # noqa: PD010
