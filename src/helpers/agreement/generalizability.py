"""How reliable is a system mean over given numbers of dialogues and annotators? Variance components, decision study.

Dialogues d are nested in systems s; annotators a judge dialogues of several systems. A judgement is
mu + s + a + sa + d + residual, all but mu random. Where annotators are positions, or nobody judged two dialogues, they
cannot be separated from the residual and the model is mu + s + d + residual.

Components are estimated from uncorrected sums of squares set equal to their expectations (Henderson's method 1:
Henderson 1953, Biometrics 9, 226-252; Searle, Casella and McCulloch 1992, Variance Components, chapter 5; Brennan 2001,
Generalizability Theory, chapter 7, calls it the analogous ANOVA procedure). It requires neither balance nor iteration,
and equals the analysis of variance for balanced designs. Negative estimates are set to 0 and reported.

With few systems, the variance between them is poorly estimated: with four it has three degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import nan

import numpy as np
import pandas as pd

from helpers.agreement.items import cells, first_annotations
from helpers.study.labels import Label
from helpers.study.results import Results, collect

#: facets of each model, richest first; the last always remains
MODELS = (
    ("system", "annotator", "system_annotator", "dialogue"),
    ("system", "annotator", "dialogue"),
    ("system", "dialogue"),
)


def spearman_brown(r: float | np.ndarray, k: float | np.ndarray) -> float | np.ndarray:
    """Reliability of the mean of k parallel measurements, given that of one (Spearman 1910; Brown 1910).

    k may be a fraction: with 1/2 the reliability of half as many.
    """
    return k * r / (1 + (k - 1) * r)


@dataclass(frozen=True)
class Components:
    """Variance components: `raw` as estimated, `variance` with those below 0 set to 0. The residual comes last."""

    raw: dict[str, float]
    n: int
    n_systems: int
    n_dialogues: int
    n_annotators: int
    note: str = ""

    @property
    def variance(self) -> dict[str, float]:
        """Variance components, none below 0."""
        return {facet: max(value, 0.0) for facet, value in self.raw.items()}

    @property
    def negative(self) -> list[str]:
        """Facets whose estimate is below 0."""
        return [facet for facet, value in self.raw.items() if value < 0]


def variance_components(scores: pd.DataFrame, *, annotators_known: bool = True) -> Components:
    """Variance components of judgements of dialogues.

    Parameters
    ----------
    scores : DataFrame
        Columns system, dialogue, annotator, score; one row per dialogue and annotator. A dialogue has one system.
    annotators_known : bool
        False: annotators are positions, which are nobody in particular.

    Returns
    -------
    Components; empty, with a note, where no dialogue has two judgements or there is only one system.
    """
    codes = {
        "system": pd.factorize(scores["system"])[0],
        "annotator": pd.factorize(scores["annotator"])[0],
        "dialogue": scores.groupby(["system", "dialogue"], sort=False).ngroup().to_numpy(),
    }
    codes["system_annotator"] = codes["system"] * (codes["annotator"].max(initial=0) + 1) + codes["annotator"]
    size = [len(np.unique(codes[name])) for name in ("system", "dialogue", "annotator")]
    counts = (len(scores), *size)
    if size[0] < 2:
        return Components({}, *counts, note="one system only: there is nothing to compare")
    if len(scores) == size[1]:
        return Components(
            {}, *counts, note="no dialogue has two judgements: annotators and dialogues cannot be separated"
        )
    x = scores["score"].to_numpy(dtype=float)
    for facets in MODELS if annotators_known else MODELS[-1:]:
        solved = _henderson(x - x.mean(), {f: codes[f] for f in facets})
        if solved is not None:
            return Components(solved, *counts)
    return Components({}, *counts, note="the design does not separate systems from dialogues")


def _henderson(x: np.ndarray, codes: dict[str, np.ndarray]) -> dict[str, float] | None:
    """Solve T = K (mu^2, variances), T_f being the sum over levels of f of total^2 / n; None where K is singular."""
    facets = list(codes)
    by = {"mean": np.zeros(len(x), dtype=np.int64), **codes, "residual": np.arange(len(x))}
    t, k = [], []
    for f in by:
        n_f = np.bincount(by[f])
        t.append(np.sum(np.bincount(by[f], x)[n_f > 0] ** 2 / n_f[n_f > 0]))
        k.append([len(x), *(_shared(by[f], by[g], n_f) for g in facets), np.sum(n_f > 0)])
    k = np.array(k, dtype=float)
    scale = k[-1]  # every column by its largest entry, so that the condition number means something
    if np.linalg.cond(k / scale) > 1e6:
        return None
    found = np.linalg.solve(k / scale, t) / scale
    return dict(zip([*facets, "residual"], found[1:].tolist(), strict=True))


def _shared(f: np.ndarray, g: np.ndarray, n_f: np.ndarray) -> float:
    """Sum over levels of f and g of n_fg^2 / n_f: how much the variance of g enters T_f."""
    cells, n = np.unique(f * (g.max() + 1) + g, return_counts=True)
    return float(np.sum(n**2 / n_f[cells // (g.max() + 1)]))


def generalizability(components: Components, n_dialogues: int, n_annotators: int) -> dict[str, float]:
    """Reliability of system means over `n_dialogues` per system, each judged by the same `n_annotators`.

    Returns `generalizability`, E rho^2, for the order and differences of systems judged alike, and `dependability`,
    Phi, for their absolute level (Shavelson and Webb 1991, Generalizability Theory: A Primer; Brennan 2001, chapters 2
    to 4; design (d:s) x a). Where annotators are positions, n_annotators judgements of a dialogue are by different
    people each time, and both are the same. NaN without components, and where all that enter are 0.
    """
    v = components.variance
    if not v:
        return {"generalizability": nan, "dependability": nan}
    relative = (
        v["dialogue"] / n_dialogues
        + v.get("system_annotator", 0.0) / n_annotators
        + v["residual"] / (n_dialogues * n_annotators)
    )
    absolute = relative + v.get("annotator", 0.0) / n_annotators
    names = ("generalizability", "dependability")
    totals = [v["system"] + error for error in (relative, absolute)]
    return {name: v["system"] / total if total > 0 else nan for name, total in zip(names, totals, strict=True)}


def decision_study(
    annotations: pd.DataFrame,
    labels: Iterable[Label],
    *,
    n_dialogues: Sequence[int] = (10, 25, 50, 100, 200),
    n_annotators: Sequence[int] = (1, 2, 3, 5),
    kinds: Sequence[str] = ("human",),
) -> Results:
    """Variance components of each corpus, group, method and label, and the reliability of system means by design.

    annotations : columns of `schema.ANNOTATIONS`; comparisons are left out, as they have no value of one system. A
    judgement of turns is averaged over the dialogue for each annotator first, so that the unit is the dialogue.

    Returns `facet_variance`, `generalizability` and `dependability`, without intervals: with few systems none is
    trustworthy, and `note` says how many there are.
    """
    chosen = first_annotations(annotations, first=None, kinds=kinds)
    kind, rows = "+".join(kinds), []
    for cell, _, frame in cells(chosen[chosen["dialogue_b"].isna()], labels):
        scores = frame.groupby(["system", "dialogue", "annotator"], sort=False)["score"].mean().reset_index()
        found = variance_components(scores, annotators_known=bool(frame["annotator_known"].all()))
        common = {**cell, "level": "system", "kind": kind, "note": found.note or _note(found)}
        common |= {"n": found.n_systems, "n_clusters": found.n_dialogues, "n_annotators": found.n_annotators}
        for facet, value in found.variance.items():
            rows.append({**common, "statistic": "facet_variance", "facet": facet, "estimate": value})
        for d, a in product(n_dialogues, n_annotators):
            design = {"n_dialogues": d, "annotators_per_dialogue": a}
            for name, value in generalizability(found, d, a).items():
                rows.append({**common, "statistic": name, **design, "estimate": value})
    return collect(rows)


def _note(found: Components) -> str:
    below = f"; estimated below 0 and set to 0: {', '.join(found.negative)}" if found.negative else ""
    return f"{found.n_systems} systems{below}"
