"""Which replies or posts are acceptable? The results of notebook 12 as we would defend them; what Zhang et al. 2022,
section 3, print is computed there.

Intervals resample prompts, because several people judge each, between the extremes that judgements of an item are
independent or copies of each other; a test of the order of systems flips whole prompts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd

from judgebook.questions.agreement.analysis import alpha_table
from judgebook.questions.agreement.items import without_weights
from judgebook.questions.moderation import preferences
from judgebook.questions.moderation.question import Moderation
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations

#: metrics of overlap with the reference reply
METRICS = ("bleu", "chrf", "rouge_l", "matching_reference")


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
    frames: pd.DataFrame,
    replies: pd.DataFrame,
    overlap: pd.DataFrame,
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
    frames : DataFrame
        From `preferences.outcomes`.
    replies, overlap : DataFrame
        From `preferences.replies`, and their scores by `text_metrics.compute`; may be empty.
    sampling : Sampling
        Of intervals.
    permute_seed : int
        Of the test.
    """
    return collect(
        *_categories(judged["category"], labels, sampling),
        preferences.shares(frames, sampling=sampling),
        preferences.shares(frames, sampling=sampling, against=True),
        preferences.leads(frames, sampling=sampling, permute_seed=permute_seed),
        preferences.flagged(judged["flagged"], sampling=sampling),
        preferences.overlap(overlap, replies, sampling=sampling) if len(overlap) else (),
    )


def _categories(marks: Annotations, labels: Sequence[Label], sampling: Sampling) -> Iterator[Results]:
    """How far annotators agree on the categories."""
    judged = set(marks[["method", "label"]].drop_duplicates().itertuples(index=False, name=None))
    declared = [label for label in labels if (label.method, label.id) in judged]
    ordered = marks["score"].nunique() > 2 and not any(label.unordered for label in declared)
    levels = ("nominal", "ordinal") if ordered else ("nominal",)
    for level in levels if declared else ():
        one_level = [replace(label, level=level) for label in declared]
        yield alpha_table(without_weights(marks), one_level, sampling=sampling, first=None, unit="turn", alone=True)
