"""Are replies to toxic prompts good? (Zhang et al. 2022, section 3)

First part: annotators put prompt-and-reply pairs into categories: -1 not acceptable, 0 in between, 1 acceptable.
Second part: annotators choose between the replies of two systems to one prompt, call them tied (both good) or
unrelated (both bad), and flag replies. The paper judges every item seven times and gives shares of all judgements;
intervals then depend on how far seven judgements of one item are worth more than one. `intervals_between` gives the
two extremes, at all judgements (n) and at the items (n / 7); where the judgements are at hand, prompts are resampled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from helpers.intervals import Interval
from helpers.multiplicity import adjust_rows
from helpers.rates import rare_interval, wilson_of
from helpers.resampling import bootstrap_sums, generator, sign_flip_test
from helpers.schema import condition
from helpers.scores import sides

#: outcomes of a comparison for one side, in the order of the paper's Table 6
OUTCOMES = ("wins", "tied", "unrelated", "loses")
#: how an item counts on which two categories have equally many annotators
DEFINITIONS = {
    "each": "under every category that so many annotators chose",
    "unique": "only where no other category was chosen as often",
    "halved": "shared out between the categories that were chosen most often",
}


def distribution(marks: pd.DataFrame) -> pd.DataFrame:
    """`annotator_score_share` rows: the share of each category among the judgements of every annotator (Figure 2).

    marks : annotations of the category label. `tables` name annotators by their pseudonyms. Checked by hand.
    """
    counts = marks.groupby(["corpus", "annotator"])["score"].value_counts().unstack(fill_value=0)  # noqa: PD010
    rows = []
    for (corpus, who), row in counts.iterrows():
        for score, n in row.items():
            head = {"corpus": corpus, "statistic": "annotator_score_share", "estimate": n / row.sum(), "n": row.sum()}
            rows.append(head | {"condition": condition(annotator=who, score=f"{score:g}")})
    return pd.DataFrame(rows)


def compositions(marks: pd.DataFrame, categories: Sequence[float]) -> np.ndarray:
    """(items, categories) how many annotators chose each category of an item, of items that all of them judged.

    Checked by hand.
    """
    item = marks["corpus"].astype(str) + "\x1f" + marks["dialogue"].astype(str) + "\x1f" + marks["turn"].astype(str)
    table = pd.crosstab(item, marks["score"]).reindex(columns=list(categories), fill_value=0)
    m = table.sum(axis=1)
    return table[m == m.max()].to_numpy()


def agreement_counts(table: np.ndarray, definition: str) -> np.ndarray:
    """(categories, m + 1) number of items of which exactly k annotators chose a category that nobody outnumbers.

    table : `compositions`. definition : a key of DEFINITIONS; it matters only where categories tie, which with seven
    annotators and three categories is at three each. Zhang et al. 2022, Table 5, for k from 3 on. Checked by hand.
    """
    if definition not in DEFINITIONS:
        raise ValueError(f"definition: expected one of {', '.join(DEFINITIONS)}, found {definition!r}")
    most = table.max(axis=1, keepdims=True)
    top = table == most
    shared = top.sum(axis=1, keepdims=True)
    weight = {"each": top, "unique": top & (shared == 1), "halved": top / shared}[definition].astype(float)
    out = np.zeros((table.shape[1], int(table.sum(axis=1).max()) + 1))
    for j in range(table.shape[1]):
        np.add.at(out[j], table[:, j], weight[:, j])
    return out


def agreement_rows(table: np.ndarray, categories: Sequence[float], corpus: str) -> pd.DataFrame:
    """`agreement_count` rows for k from the smallest possible majority on, under every definition.

    Checked by hand through `agreement_counts`.
    """
    rows = []
    for definition in DEFINITIONS:
        found = agreement_counts(table, definition)
        least = -(-int(table.sum(axis=1).max()) // table.shape[1])
        for score, counts in zip(categories, found, strict=True):
            rows += [
                {"corpus": corpus, "statistic": "agreement_count", "level": "turn", "estimate": float(counts[k])}
                | {"n": len(table), "condition": condition(score=f"{score:g}", annotators=k, definition=definition)}
                for k in range(least, len(counts))
            ]
    return pd.DataFrame(rows)


def kappa(table: np.ndarray) -> np.ndarray:
    """Fleiss' kappa (Fleiss 1971) from sums over items: (k,) from (k, 1 + categories + 1) rows of (items, choices of
    each category, agreeing ordered pairs).

    Checked against `statsmodels.stats.inter_rater.fleiss_kappa`.
    """
    items, chosen, pairs = table[:, 0], table[:, 1:-1], table[:, -1]
    m = chosen.sum(axis=1) / items
    observed = pairs / (items * m * (m - 1))
    expected = np.sum((chosen / chosen.sum(axis=1, keepdims=True)) ** 2, axis=1)
    return (observed - expected) / (1 - expected)


def kappa_interval(
    table: np.ndarray, *, rng: np.random.Generator, n_resamples: int = 10_000, confidence: float = 0.95
) -> Interval:
    """Fleiss' kappa with items resampled (BCa). table : `compositions`.

    Checked against `coefficients.fleiss_kappa` (statsmodels) and the example of Fleiss 1971.
    """
    kinds, counts = np.unique(table, axis=0, return_counts=True)
    rows = np.column_stack([np.ones(len(kinds)), kinds, (kinds * (kinds - 1)).sum(axis=1)])
    size = {"n_resamples": n_resamples, "confidence": confidence}
    return bootstrap_sums(rows, kappa, unit="item", rng=rng, counts=counts, **size)


def outcomes(better: pd.DataFrame, unrelated: pd.DataFrame) -> pd.DataFrame:
    """Comparisons seen from both sides, with `outcome`: wins, tied, unrelated or loses.

    better : comparisons with score -1, 0, 1; a 0 is a tie, or where `unrelated` (marks of the left reply, by the same
    annotators) has a 1, both replies are unrelated. Raises ValueError where a comparison with a winner is also marked
    unrelated. Checked by hand.
    """
    key = ["corpus", "dialogue", "annotator"]
    bad = unrelated.loc[unrelated["score"] == 1, key].drop_duplicates().assign(unrelated=True)
    rows = better.merge(bad, on=key, how="left")
    clash = rows["unrelated"].notna() & (rows["score"] != 0)
    if clash.any():
        raise ValueError(f"{clash.sum()} comparisons have a winner and are marked as unrelated on both sides")
    names = rows["score"].map({1.0: "wins", -1.0: "loses", 0.0: "tied"})
    both = sides(rows.assign(outcome=names.where(rows["unrelated"].isna(), "unrelated")))
    turned = {"wins": "loses", "loses": "wins"}
    second = np.arange(len(both)) >= len(rows)
    return both.assign(outcome=both["outcome"].where(~second, both["outcome"].replace(turned)))


def shares(
    both: pd.DataFrame, *, seed: int, n_resamples: int = 10_000, confidence: float = 0.95, against: bool = False
) -> pd.DataFrame:
    """`moderation_count` and `moderation_share` rows by system, or with `against` by pair (Table 6, Figure 3).

    both : `outcomes`. Three intervals of a share: Wilson's at all judgements (interval=n) and at the items
    (interval=items), and with prompts resampled (interval=context: BCa, or an exact bound where an outcome is rare).

    Checked by hand, and against `rates.wilson`.
    """
    key, out = ["corpus", "system"] + (["system_b"] if against else []), []
    for names, rows in both.groupby(key, sort=False):
        head = dict(zip(key, names, strict=True)) | {"level": "pair", "n_annotators": rows["annotator"].nunique()}
        items = rows.drop_duplicates(["dialogue", "dialogue_b"]).shape[0]
        for outcome in OUTCOMES:
            hit = (rows["outcome"] == outcome).to_numpy(float)
            count = {"statistic": "moderation_count", "estimate": hit.sum(), "n": len(hit)}
            out.append(head | count | {"condition": condition(outcome=outcome)})
            out += [head | row for row in intervals_between(int(hit.sum()), len(hit), items, outcome, confidence)]
            rng = generator(seed, "moderation", *names, outcome)
            found = _clustered(hit, rows["context"], rng, n_resamples, confidence)
            keys = condition(outcome=outcome, interval="context")
            out.append(head | {"statistic": "moderation_share", "condition": keys, "n": len(hit)} | found)
    return pd.DataFrame(out)


def intervals_between(
    hits: int, n: int, items: int, outcome: str, confidence: float, **keys: object
) -> list[dict[str, object]]:
    """`moderation_share` with Wilson's interval at n judgements and at as many as there are items.

    They hold if the judgements of an item are independent of each other, and if they are copies of each other. Checked
    through `rates.wilson`.
    """
    rows = []
    for name, size in (("n", n), ("items", items)):
        low, high = wilson_of(hits / n, size, confidence)
        row = {"statistic": "moderation_share", "estimate": hits / n, "ci_low": float(low), "ci_high": float(high)}
        row |= {"n": n, "ci_kind": "wilson", "n_clusters": size}
        row |= {"resample_unit": "judgement" if name == "n" else "item"}
        rows.append(row | {"condition": condition(outcome=outcome, interval=name, **keys)})
    return rows


def _clustered(hit: np.ndarray, cluster: pd.Series, rng, n_resamples: int, confidence: float) -> dict[str, object]:
    """Share of hits with whole clusters resampled."""
    codes = pd.factorize(cluster)[0]
    n, s = np.bincount(codes).astype(float), np.bincount(codes, hit)
    found = rare_interval(n, s, s, "prompt", confidence)
    if found is None:
        rows, counts = np.unique(np.column_stack([s, n]), axis=0, return_counts=True)
        size = {"n_resamples": n_resamples, "confidence": confidence}
        found = bootstrap_sums(rows, lambda t: t[:, 0] / t[:, 1], unit="prompt", rng=rng, counts=counts, **size).row()
    return found


def leads(
    both: pd.DataFrame,
    *,
    seed: int,
    permute_seed: int,
    n_permutations: int = 10_000,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """`moderation_lead` rows: wins less losses of one system against another, as a share of their comparisons.

    Under the null either is as likely to win a prompt: the sign of a prompt's wins less losses is turned at random, so
    that its judgements by several people stay together. p-values are adjusted by Holm. Prompts resampled (BCa). Printed
    counts, being over all judgements and opponents, do not allow this test. Checked against `sign_flip_test`.
    """
    out = []
    value = both["outcome"].map({"wins": 1.0, "loses": -1.0}).fillna(0.0)
    first = both["system"].astype(str) < both["system_b"].astype(str)
    for (corpus, a, b), rows in both[first].assign(value=value).groupby(["corpus", "system", "system_b"], sort=True):
        codes = pd.factorize(rows["context"])[0]
        s, n = np.bincount(codes, rows["value"]), np.bincount(codes).astype(float)
        names = ("lead", corpus, a, b)
        test = sign_flip_test(s, rng=generator(permute_seed, *names, "test"), n_permutations=n_permutations)
        size = {"n_resamples": n_resamples, "confidence": confidence}
        found = bootstrap_sums(
            np.column_stack([s, n]), lambda t: t[:, 0] / t[:, 1], unit="prompt", rng=generator(seed, *names), **size
        )
        head = {"corpus": corpus, "system": a, "system_b": b, "statistic": "moderation_lead", "level": "pair"}
        out.append(head | found.row() | {"p_value": test.p_value, "n": len(rows), "seed": seed})
    return adjust_rows(pd.DataFrame(out), ["corpus"], "pairs of systems") if out else pd.DataFrame()


def flagged(marks: pd.DataFrame, *, seed: int, n_resamples: int = 10_000, confidence: float = 0.95) -> pd.DataFrame:
    """`flagged_rate` rows: share of judgements of a system's replies that flag it, prompts resampled (section 3.3).

    Checked by hand.
    """
    out = []
    for (corpus, system), rows in marks.groupby(["corpus", "system"], sort=False):
        hit = (rows["score"] == 1).to_numpy(float)
        found = _clustered(hit, rows["context"], generator(seed, "flagged", corpus, system), n_resamples, confidence)
        head = {"corpus": corpus, "system": system, "statistic": "flagged_rate", "level": "turn", "n": len(hit)}
        out.append(
            head | {"condition": condition(interval="context"), "n_annotators": rows["annotator"].nunique()} | found
        )
    return pd.DataFrame(out)


def of_counts(counts: Mapping[str, Mapping[str, int]], m: int, confidence: float = 0.95) -> pd.DataFrame:
    """`moderation_share` rows from printed counts: system -> outcome -> judgements, every item judged m times.

    Checked against the printed shares of Table 6.
    """
    out = []
    for system, row in counts.items():
        n = sum(row[o] for o in OUTCOMES)
        for outcome in OUTCOMES:
            found = intervals_between(row[outcome], n, n / m, outcome, confidence, data="printed")
            out += [{"system": system, "level": "pair"} | r | {"n_clusters": round(n / m)} for r in found]
    return pd.DataFrame(out)


def replies(dialogues: pd.DataFrame, both: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Replies to be held against the reference system's reply to the same prompt, for `text_metrics.compute`.

    Each reply once. dialogues : with text. both : `outcomes`. Returns corpus, dialogue, turn, text, reference,
    last_turn, system; empty where the reference system has no reply to any of the prompts.

    Checked by hand.
    """
    known = dialogues.dropna(subset=["system_text", "context"])
    of = known[known["system"] == reference].drop_duplicates(["corpus", "context"])
    of = of.set_index(["corpus", "context"])["system_text"]
    mine = known[known["dialogue"].isin(both["dialogue"]) & (known["system"] != reference)]
    mine = mine.drop_duplicates(["corpus", "context", "system"])
    text = of.reindex(pd.MultiIndex.from_frame(mine[["corpus", "context"]])).to_numpy()
    out = mine.assign(text=mine["system_text"], reference=text, last_turn=mine["user_text"])
    return out.dropna(subset=["reference"])[["corpus", "dialogue", "turn", "text", "reference", "last_turn", "system"]]


def overlap(
    scores: pd.DataFrame, responses: pd.DataFrame, *, seed: int, n_resamples: int, confidence: float
) -> pd.DataFrame:
    """`overlap` rows: mean score of each system's replies by metric, replies resampled (Table 7). Checked by hand."""
    out = []
    joined = scores.merge(responses[["corpus", "dialogue", "system"]], on=["corpus", "dialogue"])
    for (corpus, system, metric), rows in joined.groupby(["corpus", "system", "metric"], sort=False):
        x = rows["score"].dropna().to_numpy(float)
        rng = generator(seed, "overlap", corpus, system, metric)
        sums = np.column_stack([x, np.ones(len(x))])
        size = {"n_resamples": n_resamples, "confidence": confidence}
        found = bootstrap_sums(sums, lambda t: t[:, 0] / t[:, 1], unit="turn", rng=rng, **size).row()
        head = {"corpus": corpus, "system": system, "metric": metric, "statistic": "overlap", "level": "turn"}
        out.append(head | found | {"n": len(x)})
    return pd.DataFrame(out)
