"""What the random pick of one annotation an item can do to a value, and what it proves when a printed one lies inside.

A printed value that rests on an unknown pick can only be held against the range of many picks. A wide range contains
almost anything; so beside it stands how often printed values of *other* labels lie inside it, too.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from helpers.agreement import first_annotations, matrix
from helpers.coincidences import terms
from helpers.effects import ANALYSIS
from helpers.group_null import over_picks
from helpers.labels import METHODS, Label
from helpers.resampling import generator
from helpers.schema import condition


def effect_ranges(annotations: pd.DataFrame, *, seed: int, n_picks: int = 1_000, sides: str = "together", **options):
    """Mean and range over picks of mean |effect| and group difference: result rows with `over=picks`.

    annotations : **all** annotations. Other arguments as in `group_null.over_picks`, through which it is checked.
    """
    found = over_picks(annotations, seed=seed, n_picks=n_picks, sides=sides, **options)
    keys = [*ANALYSIS, "statistic", "group", "group_b"]
    out = found.groupby(keys, dropna=False, sort=False)["estimate"].agg(["mean", "min", "max", "count"]).reset_index()
    out = out.rename(columns={"mean": "estimate", "min": "ci_low", "max": "ci_high"})
    none = out["count"] == 0
    return out.assign(
        level=[METHODS[m].unit for m in out["method"]],
        condition=condition(over="picks", sides=sides),
        ci_kind=np.where(none, "not_estimable", "range"),
        n_undefined=n_picks - out["count"],
        note=np.where(none, "an effect is undefined on these data", None),
    ).drop(columns="count")


def alpha_ranges(
    annotations: pd.DataFrame,
    labels: Iterable[Label],
    group: str,
    group_b: str,
    *,
    seed: int,
    n_picks: int = 1_000,
    kinds: Iterable[str] = ("human",),
) -> pd.DataFrame:
    """Mean and range over picks of alpha between two groups, one annotation of each: result rows with `over=picks`.

    annotations : **all** annotations. Labels that no item of both groups has are left out. Checked against `alpha` of
    every pick, written out.
    """
    known, out = {(x.method, x.id): x for x in labels}, []
    both = annotations[annotations["group"].isin([group, group_b])]
    both = first_annotations(both, first=None, kinds=tuple(kinds))
    for (corpus, method, name), rows in both.groupby(ANALYSIS, sort=False):
        wide = [matrix(rows[rows["group"] == g]) for g in (group, group_b)]
        shared = wide[0].index.intersection(wide[1].index)
        if shared.empty:
            continue
        rng = generator(seed, "alpha_over_picks", corpus, method, name, group, group_b)
        values = _alphas([w.loc[shared].to_numpy() for w in wide], known[method, name], rng, n_picks)
        defined = values[np.isfinite(values)]
        ends = (defined.mean(), defined.min(), defined.max()) if len(defined) else (np.nan,) * 3
        keys = {
            "measurement": known[method, name].level,
            "raters": "one_each",
            "kind": "+".join(kinds),
            "over": "picks",
        }
        head = {"corpus": corpus, "method": method, "label": name, "statistic": "alpha", "group": group}
        head |= {"group_b": group_b, "level": METHODS[method].unit, "condition": condition(**keys), "n": len(shared)}
        head |= dict(zip(("estimate", "ci_low", "ci_high"), ends, strict=True)) | {
            "n_undefined": n_picks - len(defined)
        }
        none = None if len(defined) else "all values are equal"
        out.append(head | {"ci_kind": "not_estimable" if none else "range", "note": none})
    return pd.DataFrame(out)


def _alphas(values: list[np.ndarray], label: Label, rng: np.random.Generator, n: int) -> np.ndarray:
    """Alpha of n picks. values : for each of two groups (items, annotations), NaN behind the last annotation."""
    mirrored = METHODS[label.method].unit == "pair"
    found = np.unique(np.concatenate([v[np.isfinite(v)] for v in values]))
    kinds = np.unique(np.r_[found, -found]) if mirrored else found
    v, code = len(kinds), 0
    for given in values:
        m = np.isfinite(given).sum(axis=1)
        chosen = np.floor(rng.random((n, len(given))) * m).astype(int)
        code = code * v + np.searchsorted(kinds, given[np.arange(len(given)), chosen])
    weights = np.stack([np.bincount(row, minlength=v * v) for row in code])
    one = np.eye(v, dtype=int)
    t = terms((one[:, None] + one[None]).reshape(-1, v), kinds, label.level, mirrored=mirrored)
    with np.errstate(divide="ignore", invalid="ignore"):
        return t.measures(weights @ t.rows)["alpha"]


def inside(printed: pd.DataFrame, ranges: pd.DataFrame, row: str, column: str, panels: dict[str, str]) -> pd.DataFrame:
    """Whether printed values lie inside the range over picks of their result, and how often those of other labels do.

    printed : cells of `published.load`, one panel a method (`panels`), with the label in the column `label_in` says:
    either `row` or `column` is "label"; the other names the column of `ranges` (say, group) that tells its cells apart.
    ranges : result rows with the range as ci_low, ci_high. A value lies inside when its rounding does.

    Returns the cells that have a range with `low`, `high`, `inside` and `wrong_inside`, the share of the other labels'
    printed values of the same panel and group inside the same range. Checked by hand.
    """
    label, other = ("row", "column") if row == "label" else ("column", "row")
    name = column if row == "label" else row
    at = ranges.set_index(["method", "label", name])[["ci_low", "ci_high"]]
    keys = pd.MultiIndex.from_arrays([printed["panel"].map(panels), printed[label], printed[other]])
    out = printed.assign(**at.reindex(keys).set_axis(printed.index).set_axis(["low", "high"], axis=1))
    out = out.dropna(subset=["low", "high"])
    half = 0.5 * 10.0 ** -out["decimals"] + 1e-9
    out["inside"] = (out["low"] - half <= out["value"]) & (out["value"] <= out["high"] + half)
    wrong = []
    for i, cell in out.iterrows():
        rest = out[(out["panel"] == cell["panel"]) & (out[other] == cell[other]) & (out.index != i)]["value"]
        fits = (cell["low"] - half[i] <= rest) & (rest <= cell["high"] + half[i])
        wrong.append(fits.mean() if len(fits) else np.nan)
    return out.assign(wrong_inside=np.array(wrong, dtype=float))
