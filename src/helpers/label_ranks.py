"""Which labels are related to quality most strongly, and how sure is their order? And what labels of a method share.

Labels are ordered by |r|. The interval of a rank holds for all labels at once (`ranking.rank_intervals`), with people
resampled as in `validity.importance`, all labels on the same resamples, since labels of one dialogue hang together.

When it misleads: |r| of an unrelated label is not 0 but about 1/sqrt(n), so that the last ranks are chance; and labels
that one annotator gave together share that annotator's impression of the dialogue (a halo), which is what
`shared_source` is about.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from helpers.ranking import rank_intervals
from helpers.resampling import generator, replicate_sums
from helpers.schema import condition
from helpers.values import Design

Row = dict[str, object]


def importance_ranks(design: Design, *, seed: int, n_resamples: int = 10_000, confidence: float = 0.95) -> pd.DataFrame:
    """Rank of each label by |r| with the target, 1 the strongest, with a simultaneous interval.

    Labels without variation are left out. Returns result rows importance_rank, condition target=…; n is the number of
    rows with the label.

    Checked against ranks of `scipy.stats.pearsonr`; the joint coverage of the intervals by simulation.
    """
    x = design.x.to_numpy(float)
    live = [i for i in range(x.shape[1]) if np.isfinite(x[:, i]).sum() > 3 and np.ptp(x[np.isfinite(x[:, i]), i]) > 0]
    if len(live) < 2 or np.ptp(design.y) == 0:
        return pd.DataFrame()
    people, code = np.unique(design.clusters.astype(str), return_inverse=True)
    sums = np.zeros((len(people), 6 * len(live)))
    np.add.at(sums, code, _moments(x[:, live], design.y))
    rng = generator(seed, "importance_ranks", design.target)
    found = replicate_sums(sums, _strengths, unit=design.unit, rng=rng, n_resamples=n_resamples)
    rank, low, high, _, reason = rank_intervals(found, confidence)
    fixed = {"statistic": "importance_rank", "level": design.level, "condition": condition(target=design.target)}
    fixed |= {"resample_unit": design.unit, "n_clusters": len(people), "note": reason or None, "seed": seed}
    fixed |= {"ci_kind": "not_estimable" if reason else "simultaneous"}
    fixed |= {"n_undefined": int((~np.isfinite(found.values).all(axis=1)).sum())}
    rows = []
    for j, i in enumerate(live):
        method, label = design.x.columns[i]
        own = {"method": method, "label": label, "n": int(np.isfinite(x[:, i]).sum())}
        rows.append(fixed | own | {"estimate": rank[j], "ci_low": low[j], "ci_high": high[j]})
    return pd.DataFrame(rows)


def _moments(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(n, 6 m): one, x, y, x², y², xy of each label, zeros where it is missing; centred first, for precision."""
    known = np.isfinite(x).astype(float)
    v = np.nan_to_num(x - np.nanmean(x, axis=0))
    w = (y - y.mean())[:, None] * known
    return np.concatenate([known, v, w, v**2, w**2, v * w], axis=1)


def _strengths(sums: np.ndarray) -> np.ndarray:
    """(k, m): |r| from column sums of `_moments`; missing where a label or the target does not vary."""
    n, x, y, xx, yy, xy = np.split(sums, 6, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        vx, vy = xx - x * x / n, yy - y * y / n
        defined = (vx > 1e-12 * xx) & (vy > 1e-12 * yy)
        return np.where(defined, np.abs(xy - x * y / n) / np.sqrt(vx * vy), np.nan)


def shared_source(values: pd.DataFrame) -> pd.DataFrame:
    """What the labels of each method have in common: who gave them, and how closely they go together.

    values : `values.dialogue_values` of one corpus and group. Returns result rows single_source_share (share of the
    dialogues or pairs judged by all labels of the method whose labels all come from one person) and
    label_intercorrelation (mean |r| over pairs of labels), for methods with two labels or more. A high second value
    where the first is high can be a halo: one impression behind all labels. Checked by hand.
    """
    rows: list[Row] = []
    for method, part in values.groupby("method", sort=False):
        pair = part["dialogue_b"].notna().any()
        unit = ["dialogue", "dialogue_b"] if pair else ["dialogue"]
        x = part.set_index([*unit, "label"])["value"].unstack("label").dropna()  # noqa: PD010 (a repeat must raise)
        if x.shape[1] < 2 or len(x) < 3:
            continue
        who = part.set_index([*unit, "label"])["annotator"].unstack("label").reindex(x.index)  # noqa: PD010
        one = who.nunique(axis=1).eq(1) & who.notna().all(axis=1)
        r = x.loc[:, x.max() > x.min()].corr().to_numpy()
        r = r[np.triu_indices(len(r), 1)]
        base = {"level": "pair" if pair else "dialogue", "method": method, "n": len(x)}
        rows.append(base | {"statistic": "single_source_share", "estimate": float(one.mean())})
        if len(r):
            rows.append(base | {"statistic": "label_intercorrelation", "estimate": float(np.abs(r).mean())})
    return pd.DataFrame(rows)
