"""How far the results of a technique vary over parts of the data that took equal working time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from judgebook.questions.techniques.effective_rates import higher
from judgebook.questions.techniques.sittings import OVERALL, TechniqueData, sides
from judgebook.study.results import Results, collect


def variability(data: TechniqueData, minutes: float) -> Results:
    """Standard deviation (ddof 1) of win rates over parts of equal working time: rows of `chunk_sd`.

    Sittings are ordered by time; those of each pair, or system, and label are divided into parts of `minutes`; the
    last, which is not full, is left out. Pairwise: the win rate of each part, ties as half a win. Otherwise the
    effective win rate of the first part of one system against the first of the other, and so on. `of` is `observed`,
    or, for comparisons with the linear rate, `independent`: what independent ratings with a constant rate would give.
    With several labels there are also means over them (label `overall`).

    References
    ----------
    Smith et al. 2022, Table 8.
    """
    rows = collect(_rows(data, minutes))["chunk_sd"]
    if rows["label"].nunique() < 2:
        return Results(chunk_sd=rows)
    key = ["corpus", "group", "method", "system", "system_b", "level", "technique", "minutes", "of"]
    means = rows.groupby(key, sort=False, as_index=False).agg(estimate=("estimate", "mean"), n=("n", "sum"))
    few = means["estimate"].isna().map({True: "fewer than two full parts of every label", False: None})
    return collect(rows.assign(statistic="chunk_sd"), means.assign(statistic="chunk_sd", label=OVERALL, note=few))


def _rows(data: TechniqueData, minutes: float) -> Iterator[dict]:
    for technique, spec in data.techniques.items():
        linear = data.compares(technique) and spec.rate == "linear"
        for head, rows in data.cells(technique):
            timed = rows.dropna(subset=["seconds"]).sort_values(["at", "order"], kind="stable")
            for a, b in data.pairs:
                frames = sides(timed, (a, b)) if len(timed) else []
                if not frames or any(f.empty for f in frames):
                    continue
                parts = _parts(frames, minutes, weighted=linear)
                few = len(parts) < 2
                row = head | {"statistic": "chunk_sd", "system": a, "system_b": b, "minutes": minutes, "n": len(parts)}
                row |= {"note": "fewer than two full parts" if few else None}
                rates, n = np.array(parts).reshape(-1, 2).T
                yield row | {"of": "observed", "estimate": np.nan if few else float(rates.std(ddof=1))}
                if linear and not few:
                    p = rates.mean()
                    yield row | {"of": "independent", "estimate": float(np.sqrt(np.mean(p * (1 - p) / n)))}


def _parts(frames: list[pd.DataFrame], minutes: float, *, weighted: bool) -> list[tuple[float, int]]:
    """Win rate and number of ratings of each part that all sides have; weighted: every mark counts the same."""
    numbered = [f.assign(part=part_numbers(f["seconds"].to_numpy(), minutes)) for f in frames]
    grouped = [dict(iter(f[f["part"] >= 0].groupby("part"))) for f in numbered]
    out = []
    for k in sorted(set(grouped[0]).intersection(*grouped[1:])):
        rows = grouped[0][k]
        if len(frames) == 1:
            weights = rows["n"] if weighted else np.ones(len(rows))
            out.append(((1 + float(np.average(rows["value"], weights=weights))) / 2, int(np.sum(weights))))
        else:
            above, tied = higher(rows["value"], grouped[1][k]["value"])
            out.append((above + tied / 2, len(rows)))
    return out


def part_numbers(seconds: np.ndarray, minutes: float) -> np.ndarray:
    """The part of equal working time to which each unit belongs, units in the order in which they were done.

    A unit belongs to the part in which its work began. The last part, which is not full, is -1.
    """
    ends = np.cumsum(seconds)
    started = np.floor((ends - seconds) / (60 * minutes)).astype(int)
    return np.where(started < int(ends[-1] // (60 * minutes)), started, -1) if len(ends) else started
