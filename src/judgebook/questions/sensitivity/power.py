"""Power, detectable differences, and type I error.

Power is never that for the observed differences, which are too large where they were found: it is that for a stated
difference, or for true differences as large as the observed ones suggest once their noise is taken away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import chdtri, nctdtrinc, stdtr, stdtrit

from judgebook.questions.sensitivity.contrasts import ALPHAS, draw_p_values, in_both
from judgebook.questions.sensitivity.differences import TEST
from judgebook.questions.sensitivity.panels import Panel
from judgebook.questions.sensitivity.system_tests import session_test
from judgebook.statistics.intervals import exact_binomial, generator

#: whose judgements a detectable difference is about: of the annotators of the study, or of others like them
SAME, SAMPLE = "the same", "a sample"
#: power of a test by which a difference counts as detectable
POWER = 0.8
#: degrees of freedom between which `median_detectable` bounds the others, and what bounds leave for rounding
_STEPS, _SLACK = 50, 1e-6


def detectable(
    differences: pd.DataFrame, n: int | None = None, power: float = POWER, alpha: float = 0.05
) -> np.ndarray:
    """The difference that a t test finds with the given power, for each of `differences.differences`.

    n : dialogues per system; by default as many as there are. With more dialogues the standard error falls with the
    square root of their number, and the degrees of freedom rise with it. A smaller
    difference is likely to be missed, so finding none says little.

    Returns (rows,) in units of the label; NaN without a standard error.
    """
    se, df = _at(differences, n)
    return _in_errors(df, power, alpha) * se


def _in_errors(df: np.ndarray, power: float, alpha: float) -> np.ndarray:
    """What a t test detects, in standard errors; less with more degrees of freedom."""
    return nctdtrinc(df, 1 - power, stdtrit(df, 1 - alpha / 2))


def median_detectable(
    differences: pd.DataFrame, n: int | None = None, power: float = POWER, alpha: float = 0.05
) -> float:
    """The median of `detectable`, of differences that all have a standard error.

    Each value requires a search, and there may be hundreds of thousands. Values at a few degrees of freedom bound the
    others, and for most of these the bounds show on which side of the median they lie.
    """
    se, df = _at(differences, n)
    steps = np.sort(df)[np.linspace(0, len(df) - 1, _STEPS).astype(int)]
    ends = _in_errors(steps, power, alpha)
    place = np.searchsorted(steps, df, side="right").clip(max=_STEPS - 1)
    low, high = ends[place] * (1 - _SLACK) * se, ends[place - 1] * (1 + _SLACK) * se
    middle = [(len(df) - 1) // 2, len(df) // 2]
    least, most = np.partition(low, middle)[middle[0]], np.partition(high, middle)[middle[1]]
    value = np.where(high < least, -np.inf, np.inf)
    near = ~((high < least) | (low > most))
    value[near] = _in_errors(df[near], power, alpha) * se[near]
    return float(np.median(value))


def _at(differences: pd.DataFrame, n: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors and degrees of freedom with `n` dialogues per system."""
    more = 1.0 if n is None else n / differences["per_system"].to_numpy(float)
    df = np.maximum(differences["df"].to_numpy(float) * more, 1)
    return differences["se"].to_numpy(float) / np.sqrt(more), df


def spread(differences: pd.DataFrame, confidence: float = 0.95) -> tuple[float, float, float]:
    """Variance of the true differences between two systems of one label, freed of the noise of the observed ones, and
    its interval.

    The mean square of the differences of all pairs of m systems is twice the variance of the systems, times chi-squared
    over its m - 1 degrees of freedom, and contains the mean squared standard error; none is below 0. NaN without two
    systems. An analysis of variance with known errors; exact if systems are normal and equally well known.

    differences : those of one label.
    """
    estimated = differences[differences["se"].notna()]
    df = len({*estimated["system"], *estimated["system_b"]}) - 1
    if df < 1:
        return np.nan, np.nan, np.nan
    square, noise = np.mean(estimated["estimate"] ** 2), np.mean(estimated["se"] ** 2)
    tail = (1 - confidence) / 2
    ends = square * df / chdtri(df, np.array([tail, 1 - tail]))
    low, high = np.maximum(ends - noise, 0)
    return max(square - noise, 0.0), float(low), float(high)


def expected_power(
    differences: pd.DataFrame, variance: float | np.ndarray, n: int, alpha: float = 0.05
) -> float | np.ndarray:
    """Share of pairs of systems that a t test finds with `n` dialogues per system, if their true differences vary with
    `variance`, a number or (v,): alpha if no two systems differ.

    A difference is then normal with the sum of that variance and its own error. NaN without a standard error. Not the
    power for the observed differences, which are too large where they were found.
    """
    se, df = _at(differences, n)
    finite, variance = np.isfinite(se), np.asarray(variance, dtype=float)
    if not finite.any():
        return np.full(variance.shape, np.nan)[()]
    se, df = se[finite], df[finite]
    ratio = se / np.sqrt(variance[..., None] + se**2)
    share = np.mean(2 * stdtr(df, -stdtrit(df, 1 - alpha / 2) * ratio), axis=-1)
    return np.where(np.isfinite(variance), share, np.nan)[()]


def planning(differences: pd.DataFrame, sizes: Sequence[int], confidence: float = 0.95) -> Iterator[dict]:
    """`power`, `detectable_effect` and `detectable_difference` of each label and number of dialogues per system.

    Yields rows of `power` with `effect` of `shrunken` (`expected_power`, with the interval that `spread` has), and
    of `detectable_effect` with 80% power by a single test: of the median pair of systems, as observed (`n_dialogues`
    missing) and for each size; and of `detectable_difference`, as `detectable_differences`.

    differences : of `differences.differences` over sessions.
    """
    for head, estimated in _by_label(differences):
        variances = np.array(spread(estimated, confidence))
        for n in sizes:
            value, low, high = np.asarray(expected_power(estimated, variances, n)).tolist()
            row = {"estimate": value, "ci_low": low, "ci_high": high, "ci_kind": "chi_squared", "n_dialogues": n}
            yield head | row | {"statistic": "power", "effect": "shrunken"}
        for size in (None, *sizes):
            row = {"statistic": "detectable_effect", "estimate": median_detectable(estimated, size)}
            yield head | row | {"power": POWER, "scale": "label", "n_dialogues": size}
    yield from detectable_differences(differences, SAME, sizes)


def detectable_differences(differences: pd.DataFrame, people: str, sizes: Sequence[int] = ()) -> Iterator[dict]:
    """What is found with 80% power after Holm's adjustment within the label, of the median pair of systems.

    The level is that of Holm's first step, 0.05 over the number of pairs: that of a difference that is the only one,
    and what each difference needs in the worst case; later steps ask for less.

    differences : of `differences.differences`, over sessions (`people` SAME) or over annotators too (SAMPLE). sizes :
    dialogues per system, besides those there are; only with SAME, as more dialogues do not bring more annotators.
    """
    for head, estimated in _by_label(differences):
        alpha = head["alpha"] / len(estimated)
        for n in (None, *sizes):
            row = {"statistic": "detectable_difference", "people": people, "adjust": "holm", "power": POWER}
            yield head | row | {"estimate": median_detectable(estimated, n, alpha=alpha), "n_dialogues": n}


def _by_label(differences: pd.DataFrame) -> Iterator[tuple[dict, pd.DataFrame]]:
    """Columns of a label's rows, and its differences that have a standard error; not of labels without any."""
    if differences.empty:
        return
    for (method, label), part in differences.groupby(["method", "label"], sort=False):
        estimated = part.dropna(subset="se")
        if len(estimated):
            head = {"method": method, "label": label, "level": part["level"].iloc[0], "test": TEST, "alpha": 0.05}
            yield head | {"resample_unit": part["resample_unit"].iloc[0], "n": len(estimated)}, estimated


def resample(data: Panel, n: int, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """How often each row is in a draw of `n` dialogues of either system: (pairs, draws, rows).

    Sessions that met both systems are drawn whole, in their observed proportion; other dialogues singly; all with
    replacement.
    """
    out = np.zeros((len(data.pairs), n_draws, len(data.system)))
    for i, (a, b) in enumerate(data.pairs):
        rows = np.flatnonzero(data.rows_of(a, b))
        if data.unit == "pair":
            out[i][:, rows] = _draw(len(rows), n, n_draws, rng)
            continue
        in_two = in_both(data.take(rows))
        left = data.system[rows] == a
        # sessions with both systems in the proportion that the smaller system has them
        share = in_two.sum() / 2 / max(1, min(left.sum(), (~left).sum()))
        paired = min(n, round(n * share))
        names, session = np.unique(data.session[rows[in_two]].astype(str), return_inverse=True)
        if len(names):
            out[i][:, rows[in_two]] = _draw(len(names), paired, n_draws, rng)[:, session]
        for side in (left, ~left):
            single = rows[side & ~in_two]
            out[i][:, single] = _draw(len(single), n - paired if len(names) else n, n_draws, rng)
    return out


def _draw(size: int, n: int, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    if size == 0 or n <= 0:
        return np.zeros((n_draws, size))
    return rng.multinomial(n, np.full(size, 1 / size), size=n_draws)


def null_rejection(
    data: Panel,
    tests: Sequence[str],
    *,
    n: int,
    n_runs: int,
    seed: int,
    alphas: Sequence[float] = ALPHAS,
    within: str = "session",
    n_permutations: int = 499,
) -> pd.DataFrame:
    """Type I error of each test, from placebo comparisons within single systems.

    Each run takes 2n dialogues of one system at random (systems in turn; all where there are fewer) and calls some of
    them another system: in the proportion in which the study has dialogues of the system and of another one (others in
    turn), half of them where it has as many. Both parts have the same spread and the same annotators: what a test does
    where systems differ in either cannot be seen. Of comparisons n are taken, and the sign of each is random. `session`
    permutes anew in every run; with one system no session has both parts, so `within` decides whether dialogues are
    exchanged throughout or within persons.

    Returns rows of `null_rejection` for each label: the share of runs with p < alpha and its exact interval.
    """
    rng = generator(seed, "null_rejection", data.method)
    p_values = {test: np.full((n_runs, len(data.labels)), np.nan) for test in tests}
    for run in range(n_runs):
        placebo = _placebo(data, run, n, rng)
        for test in tests:
            if test == "session":
                p_values[test][run] = _permuted(placebo.per_dialogue(), within, rng, n_permutations)
            else:
                p_values[test][run] = draw_p_values(placebo, test)[0][0, 0]
    rows: list[dict] = []
    for test, p in p_values.items():
        done = np.sum(~np.isnan(p), axis=0)
        for alpha in alphas:
            hits = np.sum(p < alpha, axis=0)
            keys = {"test": test, "alpha": alpha, "n_dialogues": n, "within": within if test == "session" else None}
            for j, label in enumerate(data.labels):
                row = _share("null_rejection", data, label, hits[j], done[j], keys, seed)
                rows.append(row | {"n_undefined": n_runs - done[j]})
    return pd.DataFrame(rows)


def _placebo(data: Panel, run: int, n: int, rng: np.random.Generator) -> Panel:
    """One system's dialogues as if they were of two systems; comparisons with random signs."""
    if data.unit == "pair":
        rows = rng.permutation(len(data.system))[:n]
        part, zeros = data.take(rows), np.zeros(len(rows), dtype=int)
        total = part.total * rng.choice([-1.0, 1.0], len(rows))[:, None]
        return replace(part, systems=["one", "other"], total=total, system=zeros, system_b=zeros + 1)
    m = len(data.systems)
    system, other = run % m, (run % m + 1 + run // m % max(m - 1, 1)) % m
    rows = rng.permutation(np.flatnonzero(data.system == system))
    size = min(n, len(rows) // 2)
    sizes = np.bincount(data.system, minlength=m)[[system, other]]
    first = int(np.clip(round(2 * size * sizes.min() / sizes.sum()), min(2, size), size))
    return replace(
        data.take(rows[: 2 * size]), systems=["one", "other"], system=(np.arange(2 * size) >= first).astype(int)
    )


def _permuted(part: Panel, within: str, rng: np.random.Generator, n_permutations: int) -> np.ndarray:
    """(labels,) p-values of the primary test; missing for labels that some dialogues lack, or without a block."""
    p, judged = np.full(len(part.labels), np.nan), np.flatnonzero((part.n > 0).all(axis=0))
    whole = part.only_labels(judged)
    with suppress(ValueError):  # nothing can be exchanged
        p[judged] = session_test(whole, 0, within, rng=rng, n_permutations=n_permutations).p_value
    return p


def _share(statistic: str, data: Panel, label: str, hits: int, n: int, keys: dict, seed: int) -> dict:
    low, high = exact_binomial(int(hits), int(n)) if n else (np.nan, np.nan)
    level = data.row if keys["test"] in ("session", "dialogue_welch") else data.unit
    head = {"statistic": statistic, "level": level, "method": data.method, "label": label, **keys, "seed": seed}
    interval = {"estimate": hits / n if n else np.nan, "ci_low": low, "ci_high": high, "ci_kind": "exact_bound"}
    note = None if n else "no run had anything to compare"
    return head | interval | {"resample_unit": "run", "n": int(n), "note": note}
