"""What human evaluations are like: the results of notebook 92, from the tables of the atlas.

A study counts once: labels of one study share annotators and dialogues, and studies are what is resampled. A share of
few claims says little: means of shares are weighted for that (`weights`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from judgebook import project
from judgebook.questions.planning.assumed import form, nested, once, variances
from judgebook.statistics.correlation import weighted_correlations
from judgebook.statistics.intervals import Sampling
from judgebook.statistics.resampling import bootstrap_weights, ratio_interval
from judgebook.study.results import Results, collect

FOLDER = project.ROOT / "data" / "atlas"


def read(folder: Path = FOLDER) -> tuple[dict[str, str], pd.DataFrame, pd.DataFrame]:
    """Title of each study by its name, labels, and values. Raises FileNotFoundError where a table is not there."""
    tables = (
        pd.read_csv(folder / f"{name}.csv", keep_default_na=False, na_values=[""])
        for name in ("studies", "labels", "values")
    )
    studies, labels, values = tables
    return dict(zip(studies["study"], studies["title"], strict=True)), labels, values


KEYS = ["study", "corpus", "group", "method", "label"]
#: quantity -> the values it can have; design effects are averaged as logarithms
QUANTITIES = {
    "alpha": (-np.inf, 1.0),
    "different": (0.0, 1.0),
    "reliability": (0.0, 1.0),
    "design_effect_dialogue": (0.0, np.inf),
    "design_effect_annotator": (0.0, np.inf),
}
MODERATORS = ("form", "unit", "judges", "kind")
#: shown, but not averaged: shares of variance are those of few studies
SHARES = ("share_annotator", "share_system_annotator", "share_dialogue", "share_residual")
STAND = ("dialogues", "annotators", "rerun")
#: studies, at least, that an interval rests on
FEWEST = 5
_UNIT = "study"


def labelled(labels: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Values that there are, with what is known of their labels, in a row each.

    labels, values : tables of the atlas. Only labels of the corpus and group that a study answers from, and none whose
    judgements are already those of several people, which say nothing of agreement and variance. `different` is added:
    the share of pairs of systems that are shown to differ.
    """
    kept = once(labels, values)
    kept = kept[(kept["main"] == 1) & (kept["aggregated"] == 0)].assign(form=form, none="all")
    kept = kept[[*KEYS, *MODERATORS, "none"]]
    rows = values[values["estimate"].notna()].merge(kept, on=KEYS)
    pairs = rows[(rows["statistic"] == "pairs_different") & (rows["n"] > 0)]
    shares = pairs.assign(statistic="different", estimate=pairs["estimate"] / pairs["n"])
    return pd.concat([rows, shares], ignore_index=True)


def by_study(rows: pd.DataFrame, by: str = "none") -> pd.DataFrame:
    """Medians over the labels of each study, by statistic and moderator: a frame of `statistic`, `by`, study, estimate.

    rows : of `labelled`.
    """
    return rows.groupby(["statistic", by, "study"], as_index=False)["estimate"].median()


def analyse(labels: pd.DataFrame, values: pd.DataFrame, sampling: Sampling) -> Results:
    """Means over studies, and the five findings.

    labels, values : tables of the atlas.
    """
    rows = labelled(labels, values)
    return collect(
        list(_means(rows, sampling.confidence)),
        list(_stand(labels, values, sampling)),
        list(_agreement(rows, sampling)),
        [_second_rater(second_rater(labels, values), sampling)],
    )


def _means(rows: pd.DataFrame, confidence: float) -> Iterator[dict[str, Any]]:
    for quantity, (low, high) in QUANTITIES.items():
        of = rows[rows["statistic"] == quantity]
        for moderator in ("none", *MODERATORS):
            for category, part in of.groupby(moderator):
                if part["study"].nunique() < FEWEST:
                    continue
                logarithm = quantity.startswith("design")
                back = np.exp if logarithm else float
                value = part["estimate"].astype(float)
                reference, error = nested(part["study"], np.log(value) if logarithm else value)
                t = float(stdtrit(reference.df, (1 + confidence) / 2))
                row = {"quantity": quantity, "moderator": moderator, "category": category, "ci_kind": "t"}
                row |= {"estimate": float(back(reference.mean)), "resample_unit": _UNIT}
                row |= {"n": reference.n_labels, "n_clusters": reference.n_studies}
                for statistic, sd in {"field_mean": error, "field_prediction": reference.sd}.items():
                    ends = (float(back(reference.mean + sign * t * sd)) for sign in (-1, 1))
                    yield (
                        row
                        | {"statistic": statistic}
                        | dict(zip(("ci_low", "ci_high"), np.clip([*ends], low, high), strict=True))
                    )


def claims(labels: pd.DataFrame, values: pd.DataFrame, against: str) -> pd.DataFrame:
    """Of each study, the claims that stand (`stand`) `against` one of STAND, and those for which that is known (`of`).

    labels, values : tables of the atlas. The index is the study; those without such a claim are left out. Of the corpus
    and group that a study answers from; against another run, of every run.
    """
    rows = values[values["statistic"] == f"claims_{against}"].merge(labels[[*KEYS, "main"]], on=KEYS)
    part = rows if against == "rerun" else rows[rows["main"] == 1]
    sums = part.groupby("study")[["estimate", "n"]].sum().set_axis(["stand", "of"], axis=1)
    return sums[sums["of"] > 0]


def weights(of: pd.DataFrame) -> np.ndarray:
    """What each study counts in the mean of shares: n / (1 + (n - 1) rho) of n claims, whose variance, up to a factor,
    is the reciprocal, rho being the correlation of claims of a study.

    of : of `claims`. Weights: Kleinman 1973, JASA 68, 46-54; rho: the analysis-of-variance estimator (Donner 1986,
    International Statistical Review 54, 67-82), from 0 to 1. Where no study has two claims, all count the same.
    """
    n, stand = of["of"].to_numpy(float), of["stand"].to_numpy(float)
    k, total = len(n), n.sum()
    if k < 2 or total == k:
        return np.ones(k)
    between = (n * (stand / n - stand.sum() / total) ** 2).sum() / (k - 1)
    within = (stand * (n - stand) / n).sum() / (total - k)
    size = (total - (n**2).sum() / total) / (k - 1)
    spread = between + (size - 1) * within
    rho = float(np.clip((between - within) / spread, 0, 1)) if spread > 0 else 0.0
    return n / (1 + (n - 1) * rho)


def _stand(labels: pd.DataFrame, values: pd.DataFrame, sampling: Sampling) -> Iterator[dict[str, Any]]:
    stand = {against: claims(labels, values, against) for against in STAND}
    both = stand["dialogues"].index.intersection(stand["annotators"].index)
    summaries = [(against, summary, of) for against, of in stand.items() for summary in ("mean", "pooled")]
    for against, summary, of in [*summaries, ("dialogues", "both", stand["dialogues"].loc[both])]:
        share, counts = of["stand"] / of["of"], weights(of)
        sums = of.to_numpy(float) if summary == "pooled" else np.stack([share * counts, counts], 1)
        row: dict[str, Any] = {"statistic": "field_finding", "finding": f"stand_{against}", "summary": summary}
        if len(of) < FEWEST:
            sums = sums.sum(axis=0)
            row |= {"estimate": sums[0] / sums[1], "note": f"{len(of)} studies are too few for an interval"}
        else:
            row |= ratio_interval(sums, _UNIT, sampling.stream("claims", against, summary), sampling).row()
        yield row | {"n": int(of["of"].sum()), "n_clusters": len(of)}


def resolved(rows: pd.DataFrame) -> pd.DataFrame:
    """Of each study the medians over its labels of alpha, `different` and reliability; missing where no label has both
    alpha and the other.

    rows : of `labelled`; the index is the study.
    """
    wide = rows.pivot_table(index=KEYS, columns="statistic", values="estimate", aggfunc="first")
    wide = wide[wide["alpha"].notna()]
    return wide.groupby("study")[["alpha", "different", "reliability"]].median()


def _agreement(rows: pd.DataFrame, sampling: Sampling) -> Iterator[dict[str, Any]]:
    medians = resolved(rows)
    for other in ("different", "reliability"):
        pair = medians[["alpha", other]].dropna().to_numpy()

        def correlation(weights: np.ndarray, pair: np.ndarray = pair) -> np.ndarray:
            return weighted_correlations(pair[:, 0], pair[:, 1:], weights, "spearman")[:, 0]

        interval = bootstrap_weights(
            len(pair),
            correlation,
            unit=_UNIT,
            rng=sampling.stream("agreement", other),
            n_resamples=sampling.n_resamples,
            confidence=sampling.confidence,
        )
        row = {"statistic": "field_finding", "finding": f"agreement_{other}", "summary": "correlation"}
        yield interval.row() | row | {"n": len(pair), "n_clusters": len(pair)}  # type: ignore[union-attr]


def second_rater(labels: pd.DataFrame, values: pd.DataFrame) -> pd.Series:
    """Variance of a dialogue's value with one rater, relative to that with two, by study: the median over its labels.

    A second dialogue halves the variance of a mean: there, the ratio is 2. Labels of which no item was judged twice are
    left out.
    """
    main = labels[labels["main"] == 1]
    one, two = (variances(main, values, raters) for raters in (1, 2))
    ratio = (one / two).where(two > 0).dropna()
    return ratio.groupby("study").median()


def _second_rater(ratios: pd.Series, sampling: Sampling) -> dict[str, Any]:
    sums = np.stack([ratios.to_numpy(), np.ones(len(ratios))], 1)
    row = {"statistic": "field_finding", "finding": "second_rater", "summary": "mean", "n_clusters": len(ratios)}
    return ratio_interval(sums, _UNIT, sampling.stream("second_rater"), sampling).row() | row
