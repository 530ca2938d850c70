"""Tests between systems, conclusions that two runs share, correlations of labels over systems, ranks.

Ji et al. 2022 compare all pairs of systems by one-sided rank-sum tests on the mean standardised score per dialogue and
call a conclusion identical when both runs agree on it, in both directions (section 4.2). Such a share mixes two kinds
of disagreement, which are distinguished here: one run contradicts the other, or one run finds what the other lacks the
power to find.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from judgebook.questions.agreement.kappa_icc import cohen_kappa
from judgebook.questions.quality_control.worker_tests import OVERALL, rank_sum
from judgebook.statistics.correlation import correlate


def rank_sum_tests(dialogues: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """Whether one system's dialogues are rated higher than another's, for every ordered pair: `system_test`.

    Parameters
    ----------
    dialogues : DataFrame
        corpus, system, value; one row per dialogue (`worker_tests.dialogue_means`). They count as independent, although
        a worker rates several.
    systems : sequence of str

    Returns
    -------
    DataFrame of which `p_value` is one-sided, and `estimate` the probability that a dialogue of `system` is rated above
    one of `system_b`. Missing where one of the systems has no dialogue.

    References
    ----------
    Ji et al. 2022, Figures 3 and 6.
    """
    pairs = list(combinations(systems, 2))
    out = []
    for corpus, part in dialogues.groupby("corpus", sort=False):
        values = {s: part.loc[part["system"] == s, "value"].to_numpy(float) for s in systems}
        sides = [(values[a], values[b]) for a, b in pairs]
        block = np.repeat(range(len(pairs)), [len(x) + len(y) for x, y in sides])
        first = np.concatenate([np.repeat([True, False], [len(x), len(y)]) for x, y in sides])
        tested = rank_sum(block, first, np.concatenate([v for side in sides for v in side])).reindex(range(len(pairs)))
        for (a, b), row in zip(pairs, tested.itertuples(), strict=True):
            n = None if np.isnan(row.superiority) else row.n_first + row.n_second
            keys = {"statistic": "system_test", "corpus": corpus, "level": "dialogue", "label": OVERALL, "n": n}
            out.append(keys | {"system": a, "system_b": b, "estimate": row.superiority, "p_value": row.p_greater})
            out.append(keys | {"system": b, "system_b": a, "estimate": 1 - row.superiority, "p_value": row.p_less})
    return pd.DataFrame(out)


def wald(gaps: pd.DataFrame) -> pd.Series:
    """Two-sided p-values of differences (estimate) from their jackknife standard errors (jackknife_error) over workers,
    by Student's t with one degree of freedom fewer than there are workers with equal loads (effective).

    Normal quantiles would reject 7% to 13% of true nulls with 6 to 20 workers, and 8% to 9% with 200 of whom one did a
    sixth of the work; this test rejects 5% to 6% (`benchmarks/levels/other_tests.csv`).
    """
    t = gaps["estimate"] / gaps["jackknife_error"].where(gaps["jackknife_error"] > 0)
    return 2 * stdtr(gaps["effective"] - 1, -np.abs(t))


def conclusions(tests: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """What is concluded of each pair, by corpus (columns): 1 the first system is better, -1 worse, 0 open.

    tests : `system_test` (both directions, one-sided) or `system_gap` with `p_value` (two-sided). The result has both
    orientations of a pair.
    """
    won = (tests["p_value"] < alpha) & ((tests["statistic"] == "system_test") | (tests["estimate"] > 0))
    lost = (tests["p_value"] < alpha) & (tests["statistic"] != "system_test") & (tests["estimate"] < 0)
    sign = won.astype(int) - lost.astype(int)
    columns = ["corpus", "system", "system_b"]
    forth = tests[columns].assign(sign=sign)
    back = forth.rename(columns={"system": "system_b", "system_b": "system"}).assign(sign=-sign)
    signs = pd.concat([forth, back]).groupby(columns, sort=False)["sign"].sum().clip(-1, 1)
    return signs.unstack("corpus")[list(dict.fromkeys(tests["corpus"]))]  # noqa: PD010


def concordance(tests: pd.DataFrame, alpha: float) -> Iterator[dict[str, Any]]:
    """How far the conclusions of each corpus are those of the first one: `concordance`.

    `of` is identical (share of pairs), contradiction (number of pairs found different with the opposite sign),
    power_mismatch (number found different in one corpus only), chance (share identical if conclusions were permuted in
    each corpus) or kappa (Cohen's, of both orientations, so that the order within a pair does not matter); and, for
    each corpus by itself, significant (number of pairs). n counts pairs.
    """
    concluded = conclusions(tests, alpha)
    base = concluded.columns[0]
    for corpus in concluded:
        x, y = concluded[base].to_numpy(), concluded[corpus].to_numpy()
        values = {"significant": np.sum(y != 0) / 2}
        if corpus != base:
            share = [[np.mean(v == s) for s in (-1, 0, 1)] for v in (x, y)]
            values |= {"identical": np.mean(x == y), "chance": float(np.dot(share[0], share[1]))}
            values |= {"contradiction": np.sum(x * y < 0) / 2, "power_mismatch": np.sum((x == 0) != (y == 0)) / 2}
            values["kappa"] = cohen_kappa(np.column_stack([x, y]).astype(float))[0]
        row = {
            "statistic": "concordance",
            "corpus": corpus,
            "level": "system",
            "n": len(concluded) // 2,
            "alpha": alpha,
        }
        for of, value in values.items():
            yield row | {"of": of, "against": None if of == "significant" else base, "estimate": value}


def criteria(means: pd.DataFrame, systems: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Correlation of each pair of labels over systems, in both directions: `criteria_correlation`.

    means : from `worker_tests.system_means`. systems : those over which labels are correlated. Ji et al. 2022, Table 7,
    gives these for raw scores of the first run.
    """
    for corpus, part in means[means["system"].isin(systems)].groupby("corpus", sort=False):
        wide = part.pivot_table(index="system", columns="label", values="estimate", sort=False)
        for a, b in permutations(wide, 2):
            row = {"statistic": "criteria_correlation", "corpus": corpus, "level": "system", "label": a, "label_b": b}
            n = int(wide[[a, b]].notna().all(axis=1).sum())
            for coefficient in ("pearson", "spearman"):
                r, note = correlate(wide[a].to_numpy(), wide[b].to_numpy(), coefficient)
                yield row | {"coefficient": coefficient, "estimate": r, "n": n, "note": note or None}


def ranks(means: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """Rank of every system by its overall mean within its corpus, 1 the best: corpus, system, estimate.

    means : from `worker_tests.system_means`. Ties share the mean of their ranks.
    """
    rows = means[(means["label"] == OVERALL) & means["system"].isin(systems)].dropna(subset="estimate")
    return rows[["corpus", "system"]].assign(estimate=rows.groupby("corpus")["estimate"].rank(ascending=False))
