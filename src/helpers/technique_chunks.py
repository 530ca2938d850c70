"""How far the results of a technique scatter over parts of the data that took equal working time."""

from __future__ import annotations

import numpy as np
import pandas as pd

from helpers import effective_rates as effective
from helpers import technique_power as power
from helpers.schema import condition
from helpers.techniques import Collected
from helpers.winrates import pairwise

#: the label of means over all labels
OVERALL = "overall"


def variability(c: Collected, minutes: float) -> pd.DataFrame:
    """`chunk_sd` rows: how far win rates of parts of equal working time scatter (Smith et al. 2022, Table 8).

    Sittings are ordered by time, those of each pair, or system, and label cut into parts of so many minutes; the last,
    not full one is left out. Pairwise: the win rate of each part, ties as half a win. Systems judged apart: the
    effective win rate of the first part of one system against the first of the other, and so on. `of=observed` is the
    standard deviation (ddof 1); for comparisons, `of=independent` is what independent ratings of one constant rate
    would give.

    Checked by hand.
    """
    out = []
    for name, spec in c.specs.items():
        two = pairwise(spec.method)
        for cell, rows in c.cells(name):
            timed = rows.dropna(subset=["seconds"]).sort_values(["at", "order"], kind="stable")
            for a, b in c.pairs:
                parts = _parts(timed, (a, b), minutes, two, spec.rate)
                if parts is not None:
                    head = {**cell, "method": spec.method, "system": a, "system_b": b, "level": c.level(name)}
                    out += [head | row for row in _scatter(parts, spec.rate, two, name, minutes)]
    return pd.concat([pd.DataFrame(out), _over_labels(pd.DataFrame(out))], ignore_index=True)


def _over_labels(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over labels, where there are several, as the paper prints them (label `overall`)."""
    if rows.empty or rows["label"].nunique() < 2:
        return rows.iloc[:0]
    key = ["corpus", "group", "method", "system", "system_b", "level", "statistic", "condition"]
    found = rows.groupby(key, sort=False, as_index=False).agg(estimate=("estimate", "mean"), n=("n", "sum"))
    missing = found["estimate"].isna()
    return found.assign(label=OVERALL, note=np.where(missing, "fewer than two full parts of every label", None))


def _parts(
    timed: pd.DataFrame, pair: tuple[str, str], minutes: float, two: bool, rate: str
) -> list[tuple[float, int]] | None:
    """Win rate and ratings of each part, or None where the pair was not judged."""
    a, b = pair
    if two:
        sides = [timed[(timed["system"] == a) & (timed["system_b"] == b)]]
    else:
        sides = [timed[timed["system"] == s] for s in pair]
    if any(s.empty for s in sides):
        return None
    numbered = [s.assign(part=power.chunks(s["seconds"].to_numpy(), minutes)) for s in sides]
    grouped = [dict(iter(s[s["part"] >= 0].groupby("part"))) for s in numbered]
    out = []
    for k in sorted(set(grouped[0]).intersection(*grouped[1:])):
        rows = grouped[0][k]
        if two:
            weights = rows["n"] if rate == "linear" else np.ones(len(rows))
            out.append(((1 + float(np.average(rows["value"], weights=weights))) / 2, int(np.sum(weights))))
        else:
            above, tied = effective.higher(rows["value"], grouped[1][k]["value"])
            out.append((above + tied / 2, len(rows)))
    return out


def _scatter(
    parts: list[tuple[float, int]], rate: str, two: bool, name: str, minutes: float
) -> list[dict[str, object]]:
    rates = np.array([r for r, _ in parts])
    few = len(parts) < 2
    head = {"statistic": "chunk_sd", "n": len(parts), "note": "fewer than two full parts" if few else None}
    keys = {"minutes": f"{minutes:g}"}
    out = [head | {"estimate": np.nan if few else float(rates.std(ddof=1))} | _named(name, of="observed", **keys)]
    if two and rate == "linear" and not few:
        p, n = rates.mean(), np.array([n for _, n in parts])
        spread = float(np.sqrt(np.mean(p * (1 - p) / n)))
        out.append(head | {"estimate": spread} | _named(name, of="independent", **keys))
    return out


def _named(technique: str, **keys: object) -> dict[str, str]:
    return {"condition": condition(technique=technique, **keys)}
