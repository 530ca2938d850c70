"""How annotators work, whatever they judge: how fast, how varied their answers are, and whether they drift."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtr, stdtrit

from judgebook.questions.annotators.severity import standardised
from judgebook.statistics import reml
from judgebook.statistics.correlation import rounded
from judgebook.study.schema import Annotations

#: fewer dialogues or work units of an annotator show no trend and no speed
MIN_UNITS = 5
#: times longer or shorter than this many robust standard deviations are taken as that: pages are left open
CLIP = 3.0
#: a robust standard deviation over the median absolute deviation, for normal values
_MAD = 1.4826


def speed(times: pd.DataFrame, confidence: float) -> tuple[list[dict[str, Any]], pd.Series]:
    """`annotator_speed`: an annotator's times over those usual for the task, and (annotators,) z values of their logs.

    Parameters
    ----------
    times : DataFrame
        annotator, method, task, minutes: one row per work unit of one corpus and group (`collection.costs.minutes`).

    Notes
    -----
    Logarithms of minutes, less the median of their task, have annotators as random effects; far values are clipped.
    """
    times = times[times["minutes"] > 0]
    log = np.log(times["minutes"])
    rest = log - log.groupby([times["method"], times["task"]]).transform("median")
    limit = CLIP * (_MAD * rest.abs().median() or rest.std())  # where most times are equal, the deviation is 0
    enough = times["annotator"].map(times["annotator"].value_counts()) >= MIN_UNITS
    rest, who = rest.clip(-limit, limit)[enough], times.loc[enough, "annotator"]
    codes, names = pd.factorize(who, sort=True)
    if len(names) < 3 or rest.std() == 0:
        return [], pd.Series(dtype=float)
    fitted = reml.fit_linear_mixed(rest.to_numpy(float), np.ones((len(rest), 1)), [codes], None)
    if not fitted.converged:
        return [], pd.Series(dtype=float)
    effect, error, n = fitted.effects[0], fitted.effect_se[0], np.bincount(codes)
    half = stdtrit(len(names) - 1, (1 + confidence) / 2) * error
    rows = [
        {"statistic": "annotator_speed", "annotator": name, "estimate": value, "ci_low": low, "ci_high": high,
         "ci_kind": "t", "n": int(k)}
        for name, value, low, high, k in zip(names, *np.exp([effect, effect - half, effect + half]), n, strict=True)
    ]  # fmt: skip
    spread = np.sqrt(np.maximum(fitted.variances[0] - error**2, 0.0))
    z = np.divide(effect, spread, out=np.zeros(len(effect)), where=spread > 1e-6)
    return rows, pd.Series(z, index=names)


def answers(rows: Annotations, rng: np.random.Generator, n_draws: int) -> tuple[list[dict[str, Any]], pd.Series]:
    """How varied an annotator's answers are, and (annotators,) z values of their entropy.

    Parameters
    ----------
    rows : DataFrame
        Annotations of one corpus, group and method, as they were shown.
    n_draws : int
        Random sets of dialogues with which an annotator's are compared.

    Returns
    -------
    rows of `annotator_answers`, by `of`: `commonest`, the share of the commonest answer, and `entropy` in bits, both
    the mean over labels, and `run`, the longest run of equal answers in a row. z values are low where answers vary less
    than in as many dialogues of all annotators, as with a straight-liner, and high where they vary more.
    """
    z: dict[str, list[float]] = {}
    seen: dict[str, list[tuple[float, float]]] = {}
    for _, of_label in rows.groupby("label", sort=False):
        if of_label["score"].nunique() < 2:
            continue
        block = of_label.groupby(["annotator", "dialogue", "dialogue_b"], dropna=False, sort=True).ngroup().to_numpy()
        value = pd.factorize(of_label["score"], sort=True)[0]
        counts = np.zeros((block.max() + 1, value.max() + 1))
        np.add.at(counts, (block, value), 1)
        who = of_label["annotator"].groupby(block).first().to_numpy()
        codes, names = pd.factorize(who, sort=True)
        total = np.zeros((len(names), counts.shape[1]))
        np.add.at(total, codes, counts)
        commonest, entropy = total.max(axis=1) / total.sum(axis=1), _entropy(total)
        for n in np.unique(sizes := np.bincount(codes)):
            drawn = rng.integers(0, len(counts), (n_draws, n))
            usual = _entropy(counts[drawn].sum(axis=1))
            mean, sd = usual.mean(), usual.std()
            for code in np.flatnonzero(sizes == n):
                seen.setdefault(names[code], []).append((float(commonest[code]), float(entropy[code])))
                if n >= MIN_UNITS and sd > 0:
                    z.setdefault(names[code], []).append((float(entropy[code]) - mean) / sd)
    runs = longest_runs(rows)
    n = rows.groupby("annotator").size()
    out = []
    for name, pairs in sorted(seen.items()):
        commonest, entropy = np.mean(pairs, axis=0)
        same = {"statistic": "annotator_answers", "annotator": name, "n": int(n[name])}
        values = {"commonest": commonest, "entropy": entropy, "run": runs[name]}
        out += [same | {"of": of, "estimate": float(v)} for of, v in values.items()]
    return out, pd.Series({name: np.mean(v) * np.sqrt(len(v)) for name, v in sorted(z.items())}, dtype=float)


def _entropy(counts: np.ndarray) -> np.ndarray:
    """Bits, of each row of counts."""
    p = counts / counts.sum(axis=1, keepdims=True)
    return -np.sum(p * np.log2(np.where(p > 0, p, 1.0)), axis=1)


def longest_runs(rows: Annotations) -> pd.Series:
    """Longest run of equal answers of each annotator, in the order of the source, over all labels of a work unit."""
    unit = rows["work_unit"].astype(object).fillna(rows["dialogue"].astype(object))
    frame = pd.DataFrame({"annotator": rows["annotator"], "unit": unit, "score": rows["score"]})
    frame = frame.assign(row=rows["source_row"]).sort_values(["annotator", "unit", "row"], kind="stable")
    new = (frame[["annotator", "unit", "score"]] != frame[["annotator", "unit", "score"]].shift()).any(axis=1)
    size = frame.groupby(new.cumsum().to_numpy())["annotator"].agg(["first", "size"])
    return size.groupby("first")["size"].max()


def drift(rows: Annotations, confidence: float) -> tuple[list[dict[str, Any]], pd.Series]:
    """`annotator_drift`: change of severity from an annotator's first dialogue to the last, and (annotators,) z values.

    rows : annotations of one corpus, group and method, none of them comparisons, from `severity.towards_better`.

    Scores are standardised by label; what is due to systems and to the annotator's severity is taken off, and the means
    of dialogues are regressed on their order: by time of completion, or as in the source where times are not known. For
    z values the means enter as normal scores, since those of rare marks have a long tail.
    """
    rows = standardised(rows)
    if rows.empty:
        return [], pd.Series(dtype=float)
    rest = rows["score"] - rows.groupby(["label", "system"])["score"].transform("mean")
    frame = pd.DataFrame({"annotator": rows["annotator"], "dialogue": rows["dialogue"], "row": rows["source_row"]})
    frame = frame.assign(rest=rest - rest.groupby([rows["annotator"], rows["label"]]).transform("mean"))
    frame["time"] = rows["completed_at"]
    by = frame.groupby(["annotator", "dialogue"], sort=False)
    units = by.agg(rest=("rest", "mean"), time=("time", "min"), row=("row", "min")).reset_index()
    units["normal"] = ndtri((pd.Series(rounded(units["rest"])).rank().to_numpy() - 0.5) / len(units))
    out, z = [], {}
    for name, of_annotator in units.groupby("annotator", sort=True):
        if len(of_annotator) < MIN_UNITS:
            continue
        of_annotator = of_annotator.sort_values(
            "row" if of_annotator["time"].isna().any() else ["time", "row"], kind="stable"
        )
        row, _ = _trend(of_annotator["rest"].to_numpy(float), confidence)
        _, z[name] = _trend(of_annotator["normal"].to_numpy(float), confidence)
        out.append({"statistic": "annotator_drift", "annotator": name, **row})
    return out, pd.Series(z, dtype=float)


def _trend(y: np.ndarray, confidence: float) -> tuple[dict[str, Any], float]:
    """Slope of y on its order from 0 to 1, with Student's t interval, and its t value as a normal deviate."""
    n = len(y)
    x = np.linspace(0, 1, n) - 0.5
    slope = float(x @ y / (x @ x))
    rest = y - y.mean() - slope * x
    error = float(np.sqrt(rest @ rest / (n - 2) / (x @ x)))
    half = float(stdtrit(n - 2, (1 + confidence) / 2)) * error
    row = {"estimate": slope, "ci_low": slope - half, "ci_high": slope + half, "ci_kind": "t", "n": n}
    t = slope / error if error > 0 else 0.0
    return row, float(-np.sign(t) * ndtri(max(stdtr(n - 2, -abs(t)), 1e-300)))
