"""What a table of system scores supports: tests between systems, conclusions that two runs share, criteria, ranks.

Ji et al. 2022 compare every two systems by a one-sided rank-sum test on the mean standardised score of a dialogue and
call a conclusion identical when both runs agree on it, in both directions (section 4.2). Such a share mixes two kinds
of disagreement: one run contradicts the other, or one run finds what the other has not the power to find. They are
told apart here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np
import pandas as pd
from scipy.special import ndtr
from scipy.stats import rankdata

from helpers.coefficients import cohen_kappa
from helpers.correlation import correlate
from helpers.quality import OVERALL, rank_sum


def rank_sum_tests(dialogues: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """Whether one system's dialogues are rated higher than another's, for every ordered pair: `system_test` rows.

    dialogues : corpus, system, value; one row a dialogue (`quality.dialogue_means`).

    `p_value` is one-sided (Ji et al. 2022, Figures 3 and 6), `estimate` the probability that a dialogue of `system` is
    rated above one of `system_b`. Dialogues count as independent, although a worker rates several. Missing where one of
    the systems has no dialogue. Checked against `scipy.stats.mannwhitneyu`.
    """
    pairs = list(combinations(systems, 2))
    out = []
    for corpus, part in dialogues.groupby("corpus", sort=False):
        values = {s: part.loc[part["system"] == s, "value"].to_numpy(float) for s in systems}
        sides = [(values[a], values[b]) for a, b in pairs]
        block = np.repeat(range(len(pairs)), [len(x) + len(y) for x, y in sides])
        first = np.concatenate([np.repeat([True, False], [len(x), len(y)]) for x, y in sides])
        found = rank_sum(block, first, np.concatenate([v for side in sides for v in side])).reindex(range(len(pairs)))
        for (a, b), row in zip(pairs, found.itertuples(), strict=True):
            n = None if np.isnan(row.superiority) else row.n_first + row.n_second
            keys = {"statistic": "system_test", "corpus": corpus, "level": "dialogue", "label": OVERALL, "n": n}
            out.append(keys | {"system": a, "system_b": b, "estimate": row.superiority, "p_value": row.p_greater})
            out.append(keys | {"system": b, "system_b": a, "estimate": 1 - row.superiority, "p_value": row.p_less})
    return pd.DataFrame(out)


def wald(gaps: pd.DataFrame) -> pd.DataFrame:
    """`system_gap` rows with a two-sided p-value from gap and resampled standard error, and Holm's over the corpus.

    Checked against `statsmodels.stats.multitest.multipletests`, which does the adjustment.
    """
    from statsmodels.stats.multitest import multipletests

    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * ndtr(-np.abs(gaps["estimate"] / gaps["standard_error"].where(gaps["standard_error"] > 0)))
    out = gaps.assign(p_value=p, p_adjusted=np.nan, family="pairs of systems in a corpus, Holm")
    for _, part in out.dropna(subset="p_value").groupby("corpus"):
        out.loc[part.index, "p_adjusted"] = multipletests(part["p_value"], method="holm")[1]
    return out


def conclusions(tests: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """What is concluded of each pair, by corpus (columns): 1 the first system is better, -1 worse, 0 open.

    tests : `system_test` rows (both directions, one-sided) or `system_gap` rows with `p_value` (two-sided). Both
    orientations of a pair are in the result.

    Checked by hand.
    """
    won = (tests["p_value"] < alpha) & ((tests["statistic"] == "system_test") | (tests["estimate"] > 0))
    lost = (tests["p_value"] < alpha) & (tests["statistic"] != "system_test") & (tests["estimate"] < 0)
    sign = won.astype(int) - lost.astype(int)
    columns = ["corpus", "system", "system_b"]
    forth = tests[columns].assign(sign=sign)
    back = forth.rename(columns={"system": "system_b", "system_b": "system"}).assign(sign=-sign)
    both = pd.concat([forth, back]).groupby(columns, sort=False)["sign"].sum().clip(-1, 1)
    return both.unstack("corpus")[list(dict.fromkeys(tests["corpus"]))]  # noqa: PD010


def concordance(tests: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """How far the conclusions of each corpus are those of the first one: `concordance` rows with `keys` still apart.

    `of` is identical (share of pairs), contradiction (number of pairs found different the other way round),
    power_mismatch (number found different in one corpus only), chance (share identical if conclusions were dealt out
    anew in each corpus) or kappa (Cohen's, of both orientations, so that the order within a pair does not matter); and,
    for each corpus by itself, significant (number of pairs). n counts pairs.

    Checked by hand.
    """
    found = conclusions(tests, alpha)
    base, n, rows = found.columns[0], len(found) // 2, []
    for corpus in found:
        x, y = found[base].to_numpy(), found[corpus].to_numpy()
        values = {"significant": np.sum(y != 0) / 2}
        if corpus != base:
            share = [[np.mean(v == s) for s in (-1, 0, 1)] for v in (x, y)]
            values |= {"identical": np.mean(x == y), "chance": float(np.dot(*share))}
            values |= {"contradiction": np.sum(x * y < 0) / 2, "power_mismatch": np.sum((x == 0) != (y == 0)) / 2}
            values["kappa"] = cohen_kappa(np.column_stack([x, y]).astype(float))[0]
        for of, value in values.items():
            against = None if of == "significant" else base
            rows.append({"corpus": corpus, "estimate": value, "keys": {"of": of, "against": against, "alpha": alpha}})
    return pd.DataFrame(rows).assign(statistic="concordance", level="system", n=n)


def criteria(means: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """How far labels order systems alike: `criteria_correlation` rows, Pearson's and Spearman's, each pair both ways.

    means : rows of `quality.system_means`; `systems` are correlated over. Ji et al. 2022, Table 7, has these for raw
    scores of the first run. Checked against scipy's coefficients.
    """
    rows = []
    for corpus, part in means[means["system"].isin(systems)].groupby("corpus", sort=False):
        wide = part.pivot_table(index="system", columns="label", values="estimate", sort=False)
        labels = [OVERALL, *(c for c in wide if c != OVERALL)]
        for a, b in permutations(labels, 2):
            for coefficient in ("pearson", "spearman"):
                r, note = correlate(wide[a].to_numpy(), wide[b].to_numpy(), coefficient)
                keys = {"corpus": corpus, "label": a, "label_b": b, "n": int(wide[[a, b]].notna().all(axis=1).sum())}
                rows.append(keys | {"estimate": r, "note": note or None, "keys": {"coefficient": coefficient}})
    return pd.DataFrame(rows).assign(statistic="criteria_correlation", level="system")


def ranks(means: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """Rank of every system by its overall mean within its corpus, 1 the best; ties share the mean of their ranks.

    means : rows of `quality.system_means`. Columns corpus, system, estimate (the rank).

    Checked by hand.
    """
    rows = means[(means["label"] == OVERALL) & means["system"].isin(systems) & means["estimate"].notna()]
    rank = rows.groupby("corpus")["estimate"].transform(lambda v: rankdata(-v.to_numpy()))
    return rows[["corpus", "system"]].assign(estimate=rank)
