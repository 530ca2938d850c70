"""Where the variance of scores comes from: systems, annotators, dialogues, and what is left.

Shares of the variance by a mixed model with crossed effects (`annotations.mixed_models`), for labels that enough known
annotators judged: of scores as numbers (linear), of ordered scores on a latent scale (ordinal), of marks on the logit
scale (logistic). On the latter two the residual variance is fixed, and shares do not depend on how often a mark is
given.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from judgebook import codes
from judgebook.annotations import mixed_models
from judgebook.annotations.cells import cells
from judgebook.questions.agreement.items import first_annotations
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations

#: work of all models together, levels cubed: about two minutes
MOST_WORK = 1_000_000_000
LEFT_OUT = "left out, as so many labels and annotators take long: name it in `mixed_models.labels`"


def variance_shares(
    annotations: Annotations,
    labels: Iterable[Label],
    *,
    confidence: float = 0.95,
    kinds: Sequence[str] = ("human",),
    only: Collection[str] | None = None,
) -> Results:
    """`variance_share` of each corpus, group, method and label, by model and part.

    annotations : columns of `schema.ANNOTATIONS`; comparisons are left out: they belong to two systems and dialogues.
    only : labels that are modelled; None: all, in their order, until MOST_WORK.

    Returns rows with `model` and `part` (system, annotator, system_annotator, dialogue, residual). Parts that a design
    does not separate have no row and are in the residual. A label without a model has one row, whose note says why.
    """
    chosen = first_annotations(annotations, first=None, kinds=kinds)
    chosen = chosen if only is None else chosen[chosen["label"].isin(list(only))]
    rows: list[dict[str, Any]] = []
    work = 0
    for cell, label, frame in cells(codes.rows(chosen, chosen["dialogue_b"].isna()), labels):
        head = {"statistic": "variance_share", **cell, "level": METHODS[label.method].unit, "n": len(frame)}
        head |= {"n_clusters": frame["dialogue"].nunique(), "n_annotators": frame["annotator"].nunique()}
        work += _work(frame)
        if only is None and work > MOST_WORK:
            none = {"model": "none", "part": "residual", "ci_kind": "not_estimable", "note": LEFT_OUT}
            rows.append({**head, **none})
            continue
        fits = [mixed_models.first_fit(frame, confidence=confidence)]
        if not isinstance(fits[0], str) and "ordinal" in mixed_models.models(frame["score"]):
            fits.append(mixed_models.fit(frame, "ordinal", confidence=confidence))
        for one in fits:
            if isinstance(one, str):
                if one is fits[0]:
                    rows.append({**head, "model": "none", "part": "residual", "ci_kind": "not_estimable", "note": one})
                continue
            kind = "profile" if one.model == "linear" else "wald"
            for part, share in one.shares.items():
                ends = {"ci_low": one.share_low[part], "ci_high": one.share_high[part], "ci_kind": kind}
                rows.append({**head, "model": one.model, "part": part, "estimate": share, **ends})
    return collect(rows)


def _work(frame: Annotations) -> int:
    """Levels of all factors but dialogues, which cost little, cubed."""
    factors = mixed_models.factors(frame, mixed_models.MOST_LEVELS)
    return sum(len(levels) for name, (_, levels) in factors.items() if name != "dialogue") ** 3
