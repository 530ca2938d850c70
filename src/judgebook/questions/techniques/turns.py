"""Judgements of single turns, whether or not anything is compared: rates of systems judged turn by turn, and what marks
of turns say of the rating of the same conversation.

Smith et al. 2022, Tables 2 and 5: how often the turns of a system are marked. They asked the same person for marks and
for the final rating (which turns count: section 4.3.1, Figure 6). Elsewhere other people rated the conversations: then
marks and ratings are related over conversations, and nothing can be said about what one person remembers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.summary import by_turn, with_means
from judgebook.questions.techniques.question import Technique, Techniques
from judgebook.questions.techniques.sittings import TechniqueData, sittings, stream
from judgebook.statistics.correlation import correlate, weighted_correlations
from judgebook.statistics.intervals import Sampling
from judgebook.statistics.resampling import replicate_weights
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import Annotations

#: added to the name of a method: whether at least half of a conversation's marks are 1
HALF = "_half"
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


@dataclass(frozen=True)
class Turned:
    """Judgements of single systems by turn, and ratings of the same systems' whole conversations.

    data : the methods by turn that are not among the compared techniques, without pairs. marks, ratings : annotations.
    """

    data: TechniqueData
    marks: pd.DataFrame
    ratings: pd.DataFrame

    def pairings(self, labels: Sequence[Label], final: Sequence[str]) -> list[Paired]:
        """Marks with ratings of the same conversations; see `paired`."""
        return list(paired(self.marks, self.ratings, labels, final)) if len(self.marks) and len(self.ratings) else []

    def titles(
        self, compared: TechniqueData, labels: Sequence[Label], options: Techniques
    ) -> dict[str, dict[str, str]]:
        """Display names of what is compared, and of what is only judged by turn or rated, for `display_names`."""
        rated = {x.id: x.title for x in labels if (x.method, x.id) in _judged(self.ratings)}
        of_marks, of_pairs = self.data.titles(labels, options), compared.titles(labels, options)
        names = {kind: of_marks[kind] | of_pairs[kind] for kind in of_pairs}
        return names | {"dimension": rated | names["dimension"]}


def _judged(rows: pd.DataFrame) -> set[tuple[str, str]]:
    return set(zip(rows["method"], rows["label"], strict=True))


def gather(
    annotations: pd.DataFrame,
    compared: TechniqueData,
    labels: Sequence[Label],
    systems: Sequence[str],
    options: Techniques,
) -> Turned:
    """What people said of turns and of conversations of single systems; if the study names its techniques, under these.

    compared : the techniques. systems : those shown, in order.
    """
    people = annotations[(annotations["annotator_kind"] == "human") & annotations["dialogue_b"].isna()]
    people = with_means(people[people["system"].isin(systems)], labels)
    if options.compare:
        used = [compared.judgements[t].index for t in compared.techniques if not compared.compares(t)]
        people = people.loc[people.index.isin(np.concatenate(used) if used else [])]
    marks, ratings = by_turn(people), people[people["turn"].isna()]
    other = marks[~marks["method"].isin({t.method for t in compared.techniques.values()})]
    return Turned(_alone(other, labels, systems), marks, ratings)


def _alone(marks: pd.DataFrame, labels: Sequence[Label], systems: Sequence[str]) -> TechniqueData:
    """Methods by turn as techniques without pairs: all marks, and (`HALF`) whether at least half of a conversation's
    marks are 1, where marks are 0 or 1."""
    techniques, judged, sittings_of = {}, {}, {}
    for method in (m for m in METHODS if m in set(marks["method"])):
        rows, title = marks[marks["method"] == method], METHODS[method].title
        kinds = {method: Technique(method=method, title=f"{title}, all turns")}
        if rows["score"].isin([0, 1]).all():
            kinds[method + HALF] = Technique(method=method, title=f"{title}, at least half of turns", rate="winner")
        for name, technique in kinds.items():
            techniques[name], judged[name] = technique, rows
            sittings_of[name] = sittings(rows, rate=technique.rate)
    scale_of = {(x.method, x.id): x.scale for x in labels}
    order = list(dict.fromkeys(x.id for x in labels if (x.method, x.id) in _judged(marks)))
    scales = {}
    for name, technique in techniques.items():
        label_scales = [scale_of[technique.method, x] for x in judged[name]["label"].unique()]
        whole = (min(low for low, _ in label_scales), max(high for _, high in label_scales))
        scales[name] = (0.0, 1.0) if technique.rate == "winner" else whole
    shown = [s for s in systems if s in set(marks["system"])]
    return TechniqueData(techniques, judged, sittings_of, [], order, scales, shown)


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


def whose_rows(pairings: Sequence[Paired]) -> Iterator[dict[str, Any]]:
    """`turn_conversations`: how many conversations have marks and ratings, and whose these are."""
    for pairing in pairings:
        keys = {"statistic": "turn_conversations", "people": pairing.people, "counted": pairing.counted}
        counts = {"estimate": pairing.rows["dialogue"].nunique(), "n": len(pairing.rows)}
        yield pairing.head | {"level": "dialogue"} | keys | counts
