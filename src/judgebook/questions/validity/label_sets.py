"""What is lost by keeping only some labels: coverage of a chosen set of labels against all of its method.

Finch et al. 2023 recommend a final set of behaviours (section 7.5) and show coverage of all of them only (Figure 3).
Which labels are in that set is printed in bold type, which the text of the paper does not preserve; so the sets here
are those that a study states (`costs.final_labels`), those that reach every threshold, and those named in section
7.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from judgebook.annotations.dialogue_values import Design
from judgebook.questions.validity.coverage import Predictors
from judgebook.statistics.intervals import generator
from judgebook.statistics.resampling import bootstrap_sums
from judgebook.statistics.subset_stability import held_out_losses

#: names of sets: all labels of a method; stated by the study; reach every threshold; named distinct in section 7.4
ALL, FINAL, KEPT, NAMED = "all", "final", "kept", "named"
#: sets -> method -> labels
Sets = Mapping[str, Mapping[str, Sequence[str]]]


def compare_sets(
    design: Design,
    sets: Sets,
    *,
    seed: int,
    exclude: Sequence[str] = ("quality",),
    n_folds: int = 10,
    n_repeats: int = 5,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> Iterator[dict]:
    """Fit of each set of labels and of all labels of its method, on the dialogues or pairs that have all of them.

    Parameters
    ----------
    design : Design
        Linear model for dialogue quality, logit for comparative quality.
    sets : mapping
        Name -> method -> labels. Labels that are unknown, constant or in `exclude` are left out; a set without any
        label of a method, or with all of them, has no row.

    Returns
    -------
    Rows of `set_fit` (R² or McFadden's pseudo-R², by `target`) of each `set` and of all, and of `set_fit_difference`,
    a set minus all. `kind` is same_data (fitted and evaluated on the same rows, where more labels cannot fit worse) or
    cross_validated (on people left out, folds as in `coverage.compare`), for which people are resampled (BCa) with the
    fitted models held fixed. The interval does not say that other people would give other models, nor that a set chosen
    on the same data looks better than it is.
    """
    for method in dict.fromkeys(m for named in sets.values() for m in named):
        one = Predictors(design, method, exclude)
        masks = {ALL: np.ones(one.fitness.p, dtype=bool)}
        masks |= {name: np.isin(one.labels, list(named.get(method, ()))) for name, named in sets.items()}
        masks = {name: mask for name, mask in masks.items() if name == ALL or (mask.any() and not mask.all())}
        if one.reason or len(masks) < 2:
            continue
        rng = generator(seed, "label_sets", design.target, method)
        every = np.array(list(masks.values()))
        losses = held_out_losses(one.fitness, one.clusters, rng, every, n_folds, n_repeats)
        same = one.fitness.fit(every)
        intervals = _intervals(losses, one.clusters, design.unit, rng, n_resamples, confidence)
        parts = []
        for i, (name, mask) in enumerate(masks.items()):
            row = {"set": name, "kind": "same_data", "k": int(mask.sum())}
            parts.append(one.row("set_fit", same[i], **row))
            parts.append(one.row("set_fit", np.nan, **row | {"kind": "cross_validated"}) | intervals[i].row())
            if name != ALL:
                parts.append(one.row("set_fit_difference", same[i] - same[0], **row))
                found = intervals[len(masks) + i].row()
                parts.append(one.row("set_fit_difference", np.nan, **row | {"kind": "cross_validated"}) | found)
        yield from one.numbered(parts)


def _intervals(losses: np.ndarray, clusters: np.ndarray, unit: str, rng, n_resamples: int, confidence: float) -> list:
    """Of the cross-validated fit of each set, and of each minus the first."""
    known = np.isfinite(losses).all(axis=1)
    people, code = np.unique(clusters[known], return_inverse=True)
    rows = np.zeros((len(people), losses.shape[1]))
    np.add.at(rows, code, losses[known])

    def statistic(sums: np.ndarray) -> np.ndarray:
        fits = 1 - sums[:, :-1] / sums[:, -1:]
        return np.concatenate([fits, fits - fits[:, :1]], axis=1)

    return bootstrap_sums(rows, statistic, unit=unit, rng=rng, n_resamples=n_resamples, confidence=confidence)
