"""The fit under every combination of decisions that could have been made otherwise (`importance.vary` in the YAML).

Which people's ratings are predicted, and whose judgements predict, is decided before looking. A reader may have decided
otherwise: here are the results of all such decisions, the one made among them (Simonsohn, Simmons and Nelson 2020,
Specification curve analysis, Nature Human Behaviour 4, 1208-1214). They are not independent, and how many of them agree
is no test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from judgebook.annotations.dialogue_values import Design
from judgebook.questions.validity import targets
from judgebook.questions.validity.coverage import Predictors, Row
from judgebook.questions.validity.question import Coverage, Importance
from judgebook.statistics.intervals import generator
from judgebook.statistics.subset_stability import best_subset_losses, fit_intervals
from judgebook.study.schema import Annotations, Dialogues

#: between decisions, and between a decision and its option, in the key `specification`
AND, IS = "; ", ": "


def combinations(section: Importance) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
    """Every combination of options, as decision -> option, with the settings of `targets.find` it amounts to."""
    decisions = list(section.vary)
    for chosen in product(*(section.vary[d].items() for d in decisions)):
        changes: dict[str, Any] = {}
        for _, option in chosen:
            changes |= option.changes()
        yield {d: name for d, (name, _) in zip(decisions, chosen, strict=True)}, section.settings() | changes


def options_made(section: Importance) -> dict[str, str]:
    """decision -> the option that the study took."""
    return {d: next(name for name, o in options.items() if not o.changes()) for d, options in section.vary.items()}


def options_of(specification: str) -> dict[str, str]:
    """decision -> option, from the key `specification` of a row of `kind` option."""
    return dict(part.split(IS, 1) for part in specification.split(AND))


def fits(
    annotations: Annotations,
    dialogues: Dialogues,
    section: Importance,
    options: Coverage,
    *,
    seed: int,
    pick_seed: int,
    confidence: float,
    parts: Mapping[str, Sequence[str]] | None = None,
) -> list[Row]:
    """Cross-validated fit of each method at the number of labels all methods have, under every combination.

    annotations, dialogues, parts : as `targets.find` takes them. seed : of folds. pick_seed : the study's own.

    Returns rows of specification_fit with keys target, kind, k and specification: `kind` option, one per combination
    (`specification` names its options), with intervals as in `coverage.compare`; and `kind` draw, for the decisions
    made with other random draws of annotators (`section.draws`, the first the study's own). A combination that leaves
    too few data for a method has no row for it. Nothing where the study has no alternatives.
    """
    if not section.vary:
        return []

    def find(settings: Mapping[str, Any]) -> targets.Targets:
        return targets.find(annotations, dialogues, parts=parts, twice=False, **settings)

    as_made = find(section.settings() | {"pick_seed": pick_seed})
    most = {d.target: _largest(_usable(d, options)) for d in as_made.designs.values()}
    rows: list[Row] = []
    for named, settings in _every(section, pick_seed):
        try:
            study_targets = find(settings)
        except ValueError:  # nothing in common: no method has a row
            continue
        for design in study_targets.designs.values():
            for row in _of(design, options, most.get(design.target, 0), seed, confidence):
                rows.append(
                    row | named | {"corpus": study_targets.corpus, "group": study_targets.groups[row["method"]]}
                )
    return rows


def _every(section: Importance, pick_seed: int) -> Iterator[tuple[Row, dict[str, Any]]]:
    """Keys of the rows, and settings of `targets.find`, of all combinations and draws."""
    for chosen, settings in combinations(section):
        name = AND.join(f"{decision}{IS}{option}" for decision, option in chosen.items())
        yield {"kind": "option", "specification": name}, settings | {"pick_seed": pick_seed}
    for i in range(section.draws):
        yield {"kind": "draw", "specification": str(i)}, section.settings() | {"pick_seed": pick_seed + i}


def _usable(design: Design, options: Coverage) -> list[Predictors]:
    methods = dict.fromkeys(design.x.columns.get_level_values(0))
    return [one for one in (Predictors(design, m, options.exclude, exact=True) for m in methods) if not one.reason]


def _largest(usable: list[Predictors]) -> int:
    """The number of labels that all methods have; 0 without methods."""
    return min((one.fitness.p for one in usable), default=0)


def _of(design: Design, options: Coverage, most: int, seed: int, confidence: float) -> Iterator[Row]:
    """A row for each method: as `coverage.compare` computes it, with at most `most` labels; 0: as many as there are."""
    usable = _usable(design, options)
    common = design.common([(one.method, label) for one in usable for label in one.labels])
    for one in (Predictors(common, one.method, options.exclude) for one in usable):
        if one.reason:
            continue
        rng, k = generator(seed, "compare", design.target, one.method), min(most or one.fitness.p, _largest(usable))
        losses = best_subset_losses(one.fitness, one.clusters, rng, [k], options.n_folds, options.n_repeats)
        (interval,) = fit_intervals(losses, one.clusters, design.unit, confidence)
        row: Row = {"k": k, "seed": seed} | interval.row()
        yield from one.numbered([one.row("specification_fit", **row)])
