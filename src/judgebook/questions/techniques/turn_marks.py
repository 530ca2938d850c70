"""Systems judged turn by turn, whether or not anything is compared: rates of systems, and rates over a conversation.

Smith et al. 2022, Tables 2 and 5: how often the turns of a system are marked, over all turns and at each. Neither needs
a comparison, so they are also shown for methods that share no label with one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from judgebook.annotations.families import adjust_rows
from judgebook.annotations.summary import by_turn, with_means
from judgebook.questions.techniques.question import Technique, Techniques
from judgebook.questions.techniques.sittings import QUESTION, TechniqueData, pairwise, sittings
from judgebook.questions.techniques.turn_ratings import Paired, paired
from judgebook.study.labels import METHODS, Label

#: with fewer conversations there is no interval of the difference between their halves
FEWEST = 10
#: added to the name of a method: whether at least half of a conversation's marks are 1
HALF = "_half"


@dataclass(frozen=True)
class Turned:
    """Judgements of single systems by turn, and ratings of the same systems' whole conversations.

    data : the methods by turn that are not among the compared techniques, without pairs. marks, ratings : annotations.
    """

    data: TechniqueData
    marks: pd.DataFrame
    ratings: pd.DataFrame

    def pairings(self, labels: Sequence[Label], final: Sequence[str]) -> list[Paired]:
        """Marks with ratings of the same conversations; see `turn_ratings.paired`."""
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
    return Turned(_alone(other, labels, systems, options.left_open), marks, ratings)


def _alone(marks: pd.DataFrame, labels: Sequence[Label], systems: Sequence[str], left_open: float) -> TechniqueData:
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
            sittings_of[name] = sittings(rows, rate=technique.rate, left_open=left_open)
    scale_of = {(x.method, x.id): x.scale for x in labels}
    order = list(dict.fromkeys(x.id for x in labels if (x.method, x.id) in _judged(marks)))
    scales = {}
    for name, technique in techniques.items():
        label_scales = [scale_of[technique.method, x] for x in judged[name]["label"].unique()]
        whole = (min(low for low, _ in label_scales), max(high for _, high in label_scales))
        scales[name] = (0.0, 1.0) if technique.rate == "winner" else whole
    shown = [s for s in systems if s in set(marks["system"])]
    return TechniqueData(techniques, judged, sittings_of, [], order, scales, shown)


def halves(data: TechniqueData, confidence: float = 0.95) -> pd.DataFrame:
    """`turn_half`: mean mark in the first and in the second half of a conversation's marked turns (the middle one of an
    odd number belongs to neither), and the `difference`, second minus first.

    Each conversation counts once, and several marks of a turn are averaged first. The interval is Student's t over
    conversations; p-values are adjusted within corpus, group and method (Holm).
    """
    rows: list[dict[str, Any]] = []
    for technique, spec in data.techniques.items():
        if pairwise(spec.method) or technique.endswith(HALF):
            continue
        for key, part in data.judgements[technique].groupby(QUESTION, sort=False):
            head = dict(zip(QUESTION, key, strict=True)) | {"method": spec.method, "level": "dialogue"}
            means = _halves(part)
            if len(means) >= FEWEST:
                rows += _half_rows(head, means, confidence)
    frame = pd.DataFrame(rows)
    return adjust_rows(frame, ["corpus", "group", "method"], "labels") if rows else frame


def _half_rows(head: dict, means: np.ndarray, confidence: float) -> Iterator[dict[str, Any]]:
    n, change = len(means), means[:, 1] - means[:, 0]
    error = np.std(change, ddof=1) / np.sqrt(n)
    half = stdtrit(n - 1, (1 + confidence) / 2) * error
    head = head | {"statistic": "turn_half", "n": n, "resample_unit": "dialogue"}
    for name, values in {"first": means[:, 0], "second": means[:, 1]}.items():
        yield head | {"half": name, "estimate": values.mean()}
    row = head | {"half": "difference", "estimate": change.mean(), "ci_kind": "t"}
    if error > 0:
        ends = {"ci_low": change.mean() - half, "ci_high": change.mean() + half}
        row |= ends | {"p_value": 2 * stdtr(n - 1, -abs(change.mean()) / error)}
    yield row | {"note": None if error > 0 else "no conversation changes"}


def _halves(marks: pd.DataFrame) -> np.ndarray:
    """(conversations, 2) mean mark of the first and the second half of the marked turns."""
    each = marks.groupby(["dialogue", "turn"], observed=True)["score"].mean().sort_index().reset_index()
    place, size = each.groupby("dialogue").cumcount(), each.groupby("dialogue")["turn"].transform("size")
    half = np.where(place < size // 2, 0, np.where(place >= size - size // 2, 1, -1))
    wide = each[half >= 0].assign(half=half[half >= 0]).groupby(["dialogue", "half"])["score"].mean().unstack("half")  # noqa: PD010
    return wide.dropna().to_numpy(float)
