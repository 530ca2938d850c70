"""Which replies or posts are acceptable, and whose are preferred? The results of notebook 12 as we would defend them;
what Zhang et al. 2022, section 3, print is computed there.

Annotators choose between the replies of two systems to one prompt, call them tied (both good) or unrelated (both bad),
and flag replies. Several people judge every item, so that judgements are not independent: prompts are resampled,
between the extremes that judgements of an item are independent or copies of each other; a test of the order of systems
flips whole prompts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.cells import adjust_rows, parts
from judgebook.annotations.scores import sides
from judgebook.questions.agreement.analysis import alpha_table
from judgebook.questions.agreement.items import without_weights
from judgebook.questions.moderation.question import Moderation
from judgebook.questions.performance.rates import rare_interval, wilson_of
from judgebook.statistics.intervals import Sampling, generator
from judgebook.statistics.permutation import sign_flip_test
from judgebook.statistics.resampling import ratio_interval
from judgebook.study.labels import Label
from judgebook.study.results import ResultRows, Results, collect
from judgebook.study.schema import Annotations

#: outcomes of a comparison for one side, in the order of the paper's Table 6
OUTCOMES = ("wins", "tied", "unrelated", "loses")


def judgements(annotations: Annotations, section: Moderation) -> dict[str, Annotations]:
    """People's annotations by what they judge: category, better, unrelated, flagged."""
    people = annotations[annotations["annotator_kind"] == "human"]
    return {
        name: people[people["label"] == getattr(section, name)]
        for name in ("category", "better", "unrelated", "flagged")
    }


def category_names(labels: Sequence[Label], section: Moderation) -> dict[str, dict[str, str]]:
    """Kinds of display names: of the scores of the category label, where its answers are words, and its own."""
    category_labels = [label for label in labels if label.id == section.category and label.categories]
    scores = {f"{label.scale[0] + i:g}": title for label in category_labels for i, title in enumerate(label.categories)}
    return {"score": scores, "asked": {label.id: label.title for label in category_labels}}


def analyse(
    judged: dict[str, Annotations],
    labels: Sequence[Label],
    both: pd.DataFrame,
    *,
    sampling: Sampling,
    permute_seed: int,
) -> Results:
    """All results of notebook 12.

    Parameters
    ----------
    judged : dict
        From `judgements`.
    labels : sequence of Label
        For the category label.
    both : DataFrame
        From `outcomes`.
    sampling : Sampling
        Of intervals.
    permute_seed : int
        Of the test.
    """
    marks = judged["category"]
    asked_of = set(marks[["method", "label"]].drop_duplicates().itertuples(index=False, name=None))
    nominal = [replace(label, level="nominal") for label in labels if (label.method, label.id) in asked_of]
    alphas = alpha_table(without_weights(marks), nominal, sampling=sampling, first=None, unit="turn", alone=True)
    return collect(
        alphas if nominal else (),
        shares(both, sampling=sampling),
        leads(both, sampling=sampling, permute_seed=permute_seed),
        flagged(judged["flagged"], sampling=sampling),
    )


def outcomes(better: Annotations, unrelated: Annotations) -> pd.DataFrame:
    """Comparisons seen from both sides, with `outcome`: wins, tied, unrelated or loses.

    Parameters
    ----------
    better : DataFrame
        Comparisons with score -1, 0, 1.
    unrelated : DataFrame
        Marks of the left reply by the same annotators: a comparison with score 0 is unrelated where the mark is 1, and
        tied elsewhere.

    Raises
    ------
    ValueError
        Where a comparison with a winner is also marked as unrelated.
    """
    key = ["corpus", "dialogue", "annotator"]
    bad = unrelated.loc[unrelated["score"] == 1, key].drop_duplicates().assign(unrelated=True)
    rows = better.merge(bad, on=key, how="left")
    clash = rows["unrelated"].notna() & (rows["score"] != 0)
    if clash.any():
        raise ValueError(f"{clash.sum()} comparisons have a winner and are marked as unrelated on both sides")
    names = rows["score"].map({1.0: "wins", -1.0: "loses", 0.0: "tied"})
    both_sides = sides(rows.assign(outcome=names.where(rows["unrelated"].isna(), "unrelated")))
    second = np.arange(len(both_sides)) >= len(rows)
    turned = both_sides["outcome"].replace({"wins": "loses", "loses": "wins"})
    return both_sides.assign(outcome=both_sides["outcome"].where(~second, turned))


def shares(judged: pd.DataFrame, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """`moderation_share` by system (Table 6).

    judged : from `outcomes`. A share has three intervals: Wilson's as if all judgements were independent (`interval` n)
    and as if those of an item were copies (items); with prompts resampled (context: BCa, or an exact bound where an
    outcome is rare).
    """
    key = ["corpus", "system"]
    for names, rows in judged.groupby(key, sort=False):
        head = dict(zip(key, names, strict=True)) | {"level": "pair", "n_annotators": rows["annotator"].nunique()}
        items = len(rows.drop_duplicates(["dialogue", "dialogue_b"]))
        for outcome in OUTCOMES:
            hit = (rows["outcome"] == outcome).to_numpy(float)
            row = head | {"outcome": outcome, "n": len(hit)}
            yield from (row | wilson for wilson in two_extremes(int(hit.sum()), len(hit), items, sampling.confidence))
            interval = _by_prompt(hit, rows["context"], sampling.stream("moderation", *names, outcome), sampling)
            yield row | {"statistic": "moderation_share", "interval": "context"} | interval


def two_extremes(hits: float, n: int, items: float, confidence: float) -> Iterator[dict[str, Any]]:
    """`moderation_share` with Wilson's interval at n judgements, which holds if they are independent, and at the number
    of items, which holds if the judgements of an item are copies of each other."""
    for interval, unit, size in (("n", "judgement", n), ("items", "item", items)):
        low, high = map(float, wilson_of(hits / n, size, confidence))
        row = {"statistic": "moderation_share", "interval": interval, "estimate": hits / n, "ci_low": low}
        yield row | {"ci_high": high, "ci_kind": "wilson", "resample_unit": unit, "n_clusters": round(size)}


def _by_prompt(hit: np.ndarray, prompt: pd.Series, rng: np.random.Generator, sampling: Sampling) -> dict[str, object]:
    """Share of hits with whole prompts resampled."""
    codes = pd.factorize(prompt)[0]
    n, s = np.bincount(codes).astype(float), np.bincount(codes, hit)
    if bound := rare_interval(n, s, s, "prompt", sampling.confidence):
        return bound
    rows, counts = np.unique(np.column_stack([s, n]), axis=0, return_counts=True)
    return ratio_interval(rows, "prompt", rng, sampling, counts=counts).row()


def leads(judged: pd.DataFrame, *, sampling: Sampling, permute_seed: int) -> ResultRows:
    """`moderation_lead`: wins minus losses of one system against another, as a share of their comparisons.

    Under the null hypothesis either system is as likely to win a prompt: the sign of a prompt's wins minus losses is
    flipped at random, so that its judgements by several people stay together (as often as intervals are resampled,
    where not all flips can be enumerated). p-values are adjusted by Holm's method. Intervals resample prompts (BCa).
    """
    out = []
    value = judged["outcome"].map({"wins": 1.0, "loses": -1.0}).fillna(0.0)
    first = judged["system"].astype(str) < judged["system_b"].astype(str)
    for key, rows in parts(judged[first].assign(value=value), ["corpus", "system", "system_b"]):
        codes = pd.factorize(rows["context"])[0]
        s, n = np.bincount(codes, rows["value"]), np.bincount(codes).astype(float)
        names = ("lead", *key.values())
        rng = generator(permute_seed, *names, "test")
        test = sign_flip_test(s, rng=rng, n_permutations=sampling.n_resamples)
        interval = ratio_interval(np.column_stack([s, n]), "prompt", sampling.stream(*names), sampling)
        head = {"statistic": "moderation_lead", **key, "level": "pair"} | interval.row()
        out.append(head | {"p_value": test.p_value, "n": len(rows), "seed": sampling.seed})
    return adjust_rows(pd.DataFrame(out), ["corpus"], "pairs of systems") if out else pd.DataFrame()


def flagged(marks: Annotations, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """`flagged_rate`: share of judgements of a system's replies that flag it, prompts resampled."""
    for (corpus, system), rows in marks.groupby(["corpus", "system"], sort=False):
        hit = (rows["score"] == 1).to_numpy(float)
        interval = _by_prompt(hit, rows["context"], sampling.stream("flagged", corpus, system), sampling)
        head = {"statistic": "flagged_rate", "corpus": corpus, "system": system, "level": "turn", "interval": "context"}
        yield head | {"n": len(hit), "n_annotators": rows["annotator"].nunique()} | interval


def preferred(rows: pd.DataFrame, alpha: float = 0.05) -> list[tuple[str, str]]:
    """Pairs of systems that differ significantly, the preferred one first. rows : `moderation_lead`."""
    rows = rows[rows["p_adjusted"] < alpha]
    pairs = zip(rows["estimate"], rows["system"], rows["system_b"], strict=True)
    return [(a, b) if lead > 0 else (b, a) for lead, a, b in pairs]
