"""Marks of single turns beside ratings of the same conversations: whose they are, how closely they follow, and which
turns count for the rating of the whole.

Smith et al. 2022 asked the same person for both (which turns count: section 4.3.1, Figure 6). Elsewhere other people
rated the conversations: then marks and ratings are related over conversations, and nothing can be said about what one
person remembers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from judgebook.annotations.summary import with_means
from judgebook.questions.techniques.same_winner import stream
from judgebook.statistics.correlation import correlate, weighted_correlations
from judgebook.statistics.intervals import Sampling
from judgebook.statistics.resampling import replicate_weights
from judgebook.study.labels import Label
from judgebook.study.schema import Annotations

#: how often marker and rater must be the same person for both to be taken as theirs
MOSTLY = 0.5
#: conversations with fewer marked turns than this share of the median were broken off, and are left out
BROKEN_OFF = 0.5
#: most resamples of a correlation, as ranks are recomputed in each
MOST_RESAMPLES = 2_000


@dataclass(frozen=True)
class Paired:
    """Conversations of a corpus with marks by one group and ratings by one.

    head : corpus, group, group_b (of the ratings, None if the same). people : `same`, `other`, or `unknown` (the data
    do not say). counted : whether turns 1, 2, … are those of the conversation (`start`), or places among its last
    marked turns (`end`), where conversations differ in which turns are marked. rows : system, dialogue, annotator (None
    unless the same person gave both), 1, 2, … (mean mark), rating.
    """

    head: dict[str, object]
    people: str
    counted: str
    rows: pd.DataFrame

    @property
    def turns(self) -> list[int]:
        return [c for c in self.rows if isinstance(c, int)]


def paired(
    marks: Annotations, ratings: Annotations, labels: Sequence[Label], final: Sequence[str] = ()
) -> Iterator[Paired]:
    """Marks and ratings of the same conversations, for each corpus and pair of groups.

    Parameters
    ----------
    marks, ratings : Annotations
        Judgements by turn and of whole conversations. Labels of which a high score is bad are turned round; where
        labels have several scales, all are put on one from 0 to 1.
    labels : sequence of Label
    final : sequence of str
        Labels that are the final rating. By default those that are also marked by turn, or else all; if any is, the
        marks are restricted to these labels, too.
    """
    ratings = ratings[ratings["label"].isin(final)] if final else ratings
    shared = set(marks["label"]) & set(ratings["label"])
    marks, ratings = (rows[rows["label"].isin(shared)] if shared else rows for rows in (marks, ratings))
    marks, ratings = _on_one_scale(marks, labels), _on_one_scale(ratings, labels)
    for (corpus, group), of_group in marks.groupby(["corpus", "group"], sort=False):
        also_rated = ratings[(ratings["corpus"] == corpus) & ratings["dialogue"].isin(set(of_group["dialogue"]))]
        for other, rated in also_rated.groupby("group", sort=False):
            people = whose(of_group, rated)
            counted, rows = conversations(of_group, rated, same=people == "same")
            if len(rows):
                head = {"corpus": corpus, "group": group, "group_b": None if other == group else other}
                yield Paired(head, people, counted, rows)


def whose(marks: Annotations, ratings: Annotations) -> str:
    """`same` if those who marked the turns of a conversation mostly rated it as well, `other` if they did not, and
    `unknown` where one group gave both and the data do not identify its members.

    Positions in a list are no people: `pos0` of the marks may be anybody among the ratings.
    """
    if not (marks["annotator_known"].all() and ratings["annotator_known"].all()):
        return "unknown" if set(marks["group"]) == set(ratings["group"]) else "other"
    key = ["dialogue", "annotator"]
    who, raters = (pd.MultiIndex.from_frame(rows[key].drop_duplicates()) for rows in (marks, ratings))
    return "same" if who.isin(raters).mean() >= MOSTLY else "other"


def conversations(marks: Annotations, ratings: Annotations, *, same: bool) -> tuple[str, pd.DataFrame]:
    """How turns are counted, and one row per conversation (and annotator, if the `same` people gave both): the mean
    mark at each turn (columns 1, 2, …) and `rating`, both averaged over labels, as the paper does to reduce noise.

    Where conversations differ in which turns are marked, their last marked turns are used, as many as all have.
    """
    key = ["system", "dialogue", *(["annotator"] if same else [])]
    each = marks.groupby([*key, "turn"], observed=True)["score"].mean().sort_index().reset_index()
    place = each.groupby(key).cumcount(ascending=False)
    size = each.groupby(key)["turn"].transform("size")
    enough = size >= BROKEN_OFF * size.median()
    k = int(size[enough].min())
    alike = (each["turn"] + 1 + place == k)[enough].all() and (size[enough] == k).all()
    used = each.assign(place=k - place)[enough & (place < k)]
    turns = used.set_index([*key, "place"])["score"].unstack("place")  # noqa: PD010 (one value a place)
    turns.columns = [int(t) for t in turns.columns]
    rating = ratings.groupby(key, observed=True)["score"].mean().rename("rating")
    out = turns.join(rating, how="inner").dropna().reset_index()
    return "start" if alike else "end", out if same else out.assign(annotator=None)


def _on_one_scale(rows: pd.DataFrame, labels: Sequence[Label]) -> pd.DataFrame:
    """Ordered labels with a direction, high scores good; from 0 to 1 where their scales differ."""
    rows = with_means(rows, labels)
    by_key = {(x.method, x.id): x for x in labels if x.direction}
    judged = [by_key.get(key) for key in rows[["method", "label"]].itertuples(index=False, name=None)]
    rows = rows[[x is not None for x in judged]]
    of = [x for x in judged if x is not None]
    low, high = (np.array([x.scale[side] for x in of], dtype=float) for side in (0, 1))
    turned = np.array([x.direction < 0 for x in of], dtype=bool)
    score = np.where(turned, low + high - rows["score"].to_numpy(float), rows["score"].to_numpy(float))
    several = len({x.scale for x in of}) > 1
    return rows.assign(score=(score - low) / (high - low) if several else score)


def correlations(marks: Annotations, ratings: Annotations, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """`turn_mean_correlation` of the mean mark of a conversation (every turn counts once) with its mean rating, Pearson
    and Spearman.

    Each label that is marked by turn with the rating on the same label; one that is the only one marked, and not rated,
    with every rating. Conversations are resampled (BCa), and ranked anew in each resample. Nothing for several marked
    labels that are not rated: which of those predict a rating is the subject of notebook 04.
    """
    shared = set(marks["label"]) & set(ratings["label"])
    alone = len(set(marks["label"])) == 1 and not shared
    for (corpus, group), of_group in marks.groupby(["corpus", "group"], sort=False):
        turns = of_group.groupby(["label", "dialogue", "turn"], observed=True)["score"].mean()
        mean = turns.groupby(level=["label", "dialogue"]).mean()
        for (other, label), rated in ratings[ratings["corpus"] == corpus].groupby(["group", "label"], sort=False):
            if not (alone or (label in shared and label in mean)):
                continue
            of = of_group["label"].iloc[0] if alone else label
            pairs = pd.concat([mean[of], rated.groupby("dialogue")["score"].mean()], axis=1, join="inner").to_numpy()
            pairs = pairs.round(9)  # the last bits of a mean depend on the processor: they must not break ties
            head = {"corpus": corpus, "group": group, "group_b": None if other == group else other, "label": label}
            head |= {"statistic": "turn_mean_correlation", "level": "dialogue", "method": rated["method"].iloc[0]}
            rng = stream(sampling.seed, "turn means", corpus, group, other, of, label)
            for coefficient in ("pearson", "spearman"):
                correlation = _correlation(pairs, coefficient, rng, sampling)
                yield head | {"of": of, "coefficient": coefficient, "n": len(pairs)} | correlation


def _correlation(
    pairs: np.ndarray, coefficient: str, rng: np.random.Generator, sampling: Sampling
) -> dict[str, object]:
    x, y = pairs.T
    r, why = correlate(x, y, coefficient)
    if why:
        return {"estimate": r, "note": why}

    def statistic(drawn: np.ndarray) -> np.ndarray:
        return weighted_correlations(x, y[:, None], drawn, coefficient)[:, 0]

    n = min(sampling.n_resamples, MOST_RESAMPLES)
    replicates = replicate_weights(len(x), statistic, unit="dialogue", rng=rng, n_resamples=n)
    return replicates.interval(sampling.confidence).row()


#: least number of conversations per coefficient
LEAST = 3


def coefficients(
    x: np.ndarray,
    y: np.ndarray,
    confidence: float = 0.95,
    *,
    clusters: np.ndarray | None = None,
    contrasts: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients of the columns of x in a least-squares fit of y with an intercept, and the ends of their intervals.

    Parameters
    ----------
    x, y : (n, k) and (n,) arrays
    clusters : (n,) array, optional
        Which rows are not independent; by default all are.
    contrasts : (q, k) array, optional
        Linear combinations of coefficients to give instead of the coefficients.

    Returns
    -------
    tuple of three (k,) or (q,) arrays
        Intervals use what the fit changes without each cluster in turn (CR3), which for independent rows is HC3 and
        allows for heteroscedasticity, and Student's t with n - k - 1 degrees of freedom, or with one less than there
        are clusters. NaN where the columns do not determine the coefficients or there are too few clusters.

    References
    ----------
    MacKinnon and White 1985, Journal of Econometrics 29, 305-325. MacKinnon, Nielsen and Webb 2023, Journal of Applied
    Econometrics 38, 671-694 (without their factor (G - 1) / G, which HC3 has not).
    """
    design = np.column_stack([np.ones(len(x)), x])
    codes = np.arange(len(x)) if clusters is None else pd.factorize(clusters)[0]
    n_clusters = int(codes.max()) + 1 if len(codes) else 0
    weights = np.eye(x.shape[1]) if contrasts is None else np.atleast_2d(contrasts)
    none = np.full(len(weights), np.nan)
    if n_clusters < LEAST * design.shape[1] or np.linalg.matrix_rank(design) < design.shape[1]:
        return none, none, none
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ y
    changes = _without_each(design, y - design @ beta, inverse, codes)
    estimate = weights @ beta[1:]
    if changes is None:
        return estimate, none, none
    df = n_clusters - 1 if n_clusters < len(x) else len(x) - design.shape[1]
    half = stdtrit(df, (1 + confidence) / 2) * np.linalg.norm(changes[:, 1:] @ weights.T, axis=0)
    return estimate, estimate - half, estimate + half


def _without_each(
    design: np.ndarray, residual: np.ndarray, inverse: np.ndarray, codes: np.ndarray
) -> np.ndarray | None:
    """(clusters, k + 1) what leaving out each cluster changes in the fit; None where the fit depends on one cluster."""
    out = []
    for rows in np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1]):
        part = design[rows]
        left = np.eye(len(rows)) - part @ inverse @ part.T
        if np.linalg.eigvalsh(left)[0] < 1e-9:
            return None
        out.append(inverse @ part.T @ np.linalg.solve(left, residual[rows]))
    return np.array(out)


def recency(pairing: Paired, confidence: float = 0.95) -> Iterator[dict[str, Any]]:
    """`turn_recency`: the mean coefficient of the `first` half of turns and of the `second` (the middle one of an odd
    number belongs to neither), and their `difference`; and `turn_conversations`, how many conversations, and whose.

    Conversations are independent unless one person rated several; then people are. Nothing where the fit is undefined.
    Smith et al. 2022, Figure 6.
    """
    rows, turns = pairing.rows, pairing.turns
    head = pairing.head | {"level": "dialogue"}
    keys = {"statistic": "turn_conversations", "people": pairing.people, "counted": pairing.counted}
    yield head | keys | {"estimate": rows["dialogue"].nunique(), "n": len(rows)}
    if len(turns) < 2:
        return
    clusters, unit = _clusters(rows)
    x, y, halves = rows[turns].to_numpy(float), rows["rating"].to_numpy(float), _halves(len(turns))
    fitted = coefficients(x, y, confidence, clusters=clusters, contrasts=halves)
    if np.isfinite(fitted[0]).all():
        head |= {"statistic": "turn_recency", "n": len(rows), "ci_kind": "t", "resample_unit": unit}
        for half, values in zip(("first", "second", "difference"), zip(*fitted, strict=True), strict=True):
            yield head | {"half": half, **dict(zip(("estimate", "ci_low", "ci_high"), values, strict=True))}


def _halves(k: int) -> np.ndarray:
    """(3, k) weights of coefficients: their mean in the first half, in the second, and the difference."""
    h = k // 2
    first, second = (np.array(w) / h for w in ([1.0] * h + [0.0] * (k - h), [0.0] * (k - h) + [1.0] * h))
    return np.stack([first, second, second - first])


def _clusters(rows: pd.DataFrame) -> tuple[np.ndarray | None, str]:
    """Which rows belong together, and what that unit is: a person's conversations, or a conversation's people."""
    if rows["annotator"].isna().all() or not (rows["annotator"].duplicated() | rows["dialogue"].duplicated()).any():
        return None, "dialogue"
    unit = "dialogue" if rows["dialogue"].duplicated().any() else "annotator"
    return rows[unit].to_numpy(), unit
