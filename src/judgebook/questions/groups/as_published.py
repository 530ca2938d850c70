"""What Finch et al. 2024 print of evaluator groups, computed with the pick of the authors' code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import pandas as pd

from judgebook.annotations.picks import pick_as_published
from judgebook.annotations.summary import in_scope
from judgebook.published import numbers
from judgebook.questions.agreement.items import without_weights
from judgebook.questions.groups.alphas import alpha_between, alpha_ranges, alpha_within
from judgebook.questions.groups.effects import for_each_label, published
from judgebook.questions.groups.permutation_null import permutation_null
from judgebook.questions.groups.pick_ranges import effect_ranges, wrong_inside
from judgebook.questions.groups.question import GroupEffects
from judgebook.questions.groups.who_judged import group_counts
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect
from judgebook.study.sections.data import Scope


def as_published(
    annotations: pd.DataFrame,
    labels: Sequence[Label],
    options: GroupEffects,
    scope: Scope | None,
    *,
    pick_seed: int,
    permute_seed: int,
    **boot: float,
) -> Iterator[Results]:
    """The paper's values by its own pick (`pick` is paper), on all data and on its scope (`scope` is paper).

    On its scope also: the permutation null of Figure 1, ranges over picks, alpha within groups (Table 3), counts (Table
    2), and how many wrong values lie inside the ranges. Parameters as `analysis.analyse`.
    """
    annotations = without_weights(annotations)
    seeds = {"seed": pick_seed, "source_order": options.source_order}
    frames = {"paper": annotations}
    if scope:
        kept = in_scope(annotations, dialogues=scope.exclude_dialogues, sessions=scope.exclude_sessions)
        frames = {None: annotations, "paper": kept}
    for name, frame in frames.items():
        by_dialogue, by_pair = (pick_as_published(frame, comparisons=c, **seeds) for c in ("dialogue", "pair"))
        table, figure = (collect(for_each_label(published, f, **boot)) for f in (by_dialogue, by_pair))
        figure["mean_absolute_effect"] = table["mean_absolute_effect"]
        found = collect(figure, alpha_between(by_pair, labels, **boot))
        yield Results({s: rows.assign(pick="paper", scope=name) for s, rows in found.items()})
    null = collect(for_each_label(permutation_null, by_pair, seed=permute_seed, n_permutations=options.n_permutations))
    ranges = {"seed": permute_seed, "n_picks": options.n_picks}
    around = collect(
        Results({s: rows.assign(pick="paper") for s, rows in null.items()}),
        for_each_label(effect_ranges, frame, sides="apart", **ranges),
        *(alpha_ranges(frame, labels, *pair, **ranges) for pair in combinations(sorted(frame["group"].unique()), 2)),
        alpha_within(frame, labels, **boot),
        group_counts(frame),
    )
    around = Results({s: rows.assign(scope="paper") for s, rows in around.items()})
    yield collect(around, wrong_inside(numbers.load(options.paper), around))
