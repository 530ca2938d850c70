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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from judgebook.annotations.cells import cells
from judgebook.questions.agreement.items import first_annotations
from judgebook.statistics.intervals import generator
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect

#: facets of each model, richest first; the last always remains
MODELS = (
    ("system", "annotator", "system_annotator", "dialogue"),
    ("system", "annotator", "dialogue"),
    ("system", "dialogue"),
)
COEFFICIENTS = ("generalizability", "dependability")
#: the design of the study itself, among those of a decision study
OWN = "study"
#: judgements drawn at once
MOST_DRAWN = 4_000_000


@dataclass(frozen=True)
class Components:
    """Variance components: `raw` as estimated, `variance` with those below 0 set to 0. The residual comes last."""

    raw: dict[str, float]
    n: int
    n_systems: int
    n_dialogues: int
    n_annotators: int
    note: str = ""
    design: _Design | None = None

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
        design = _Design({f: codes[f] for f in facets})
        if design.solvable:
            raw = design.components((x - x.mean())[:, None])[:, 0]
            return Components(dict(zip(design.names, raw.tolist(), strict=True)), *counts, design=design)
    return Components({}, *counts, note="the design does not separate systems from dialogues")


class _Design:
    """Who judged what: the equations T = K (mu^2, variances), T_f being the sum over levels of f of total^2 / n.

    codes : facet -> (n,) levels, systems first. solvable : whether K can be inverted. in_error : (facets + 1,), how
    much of each component is in the variance of a system's mean relative to the others', on average.
    """

    def __init__(self, codes: dict[str, np.ndarray]):
        self.codes, self.names = codes, [*codes, "residual"]
        n = len(codes["system"])
        by = {"mean": np.zeros(n, dtype=np.int64), **codes, "residual": np.arange(n)}
        k, self.sums = [], []
        for levels in by.values():
            n_f = np.bincount(levels)
            k.append([n, *(_shared(levels, by[g], n_f) for g in codes), np.sum(n_f > 0)])
            weight = 1 / np.sqrt(n_f[levels])
            self.sums.append(sparse.csr_array((weight, (levels, np.arange(n))), shape=(len(n_f), n)))
        k = np.array(k, dtype=float)
        scale = k[-1]  # every column by its largest entry, so that the condition number means something
        self.solvable = bool(np.linalg.cond(k / scale) <= 1e6)
        self.inverse = np.linalg.inv(k / scale) / scale[:, None] if self.solvable else np.full(k.shape, nan)

    def components(self, x: np.ndarray) -> np.ndarray:
        """(facets + 1, b) raw variance components of b sets of judgements (n, b), each with mean 0."""
        totals = [s @ x for s in self.sums[:-1]] + [x]  # each judgement is its own residual
        return (self.inverse @ [np.square(t).sum(axis=0) for t in totals])[1:]

    @cached_property
    def in_error(self) -> np.ndarray:
        """See the class. A facet crossed with systems counts by how differently systems meet its levels."""
        system, out = self.codes["system"], [0.0]
        n = np.bincount(system)
        for name in [*list(self.codes)[1:], "residual"]:
            levels = self.codes.get(name, np.arange(len(system)))
            share = sparse.coo_array((1 / n[system], (system, levels))).tocsr()
            centred = share.toarray() - share.mean(axis=0) if name == "annotator" else share
            m = len(n) - 1 if name == "annotator" else len(n)
            out.append(float((centred**2).sum() / m))
        return np.array(out)

    def draw(self, variances: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
        """(n, size) judgements drawn from the model, less their means."""
        n = len(self.codes["system"])
        x = np.sqrt(variances[-1]) * rng.standard_normal((n, size))
        for variance, levels in zip(variances[:-1], self.codes.values(), strict=True):
            effects = np.sqrt(variance) * rng.standard_normal((levels.max() + 1, size))
            x += effects[levels]
        x -= x.mean(axis=0)
        return x


def _shared(f: np.ndarray, g: np.ndarray, n_f: np.ndarray) -> float:
    """Sum over levels of f and g of n_fg^2 / n_f: how much the variance of g enters T_f."""
    cells, n = np.unique(f * (g.max() + 1) + g, return_counts=True)
    return float(np.sum(n**2 / n_f[cells // (g.max() + 1)]))


def error_variances(
    variance: Mapping[str, Any], n_dialogues: int, n_annotators: int, people: int | None = None
) -> tuple[Any, Any]:
    """Relative and absolute error variance of the mean of a system over `n_dialogues`, each judged by `n_annotators`.

    people : annotators in total, of whom `n_annotators` are drawn for each dialogue; None where the same ones judge all
    (Brennan 2001, chapters 2 to 4; design (d:s) x a). variance : numbers or arrays.
    """
    everybody = people or n_annotators
    drawn = (1 / n_annotators - 1 / everybody) / n_dialogues  # of a severity: what differs from dialogue to dialogue
    relative = (
        variance["dialogue"] / n_dialogues
        + variance.get("system_annotator", 0.0) * (1 / everybody + drawn)
        + variance.get("annotator", 0.0) * drawn
        + variance["residual"] / (n_dialogues * n_annotators)
    )
    return relative, relative + variance.get("annotator", 0.0) / everybody


def generalizability(
    components: Components, n_dialogues: int, n_annotators: int, people: int | None = None
) -> dict[str, float]:
    """Reliability of system means over `n_dialogues` per system, each judged by `n_annotators`: the same ones, or drawn
    from `people`.

    Returns `generalizability`, E rho^2, for the order and differences of systems judged alike, and `dependability`,
    Phi, for their absolute level (Shavelson and Webb 1991, Generalizability Theory: A Primer; Brennan 2001). Where
    annotators are positions, n_annotators judgements of a dialogue are by different people each time, and both are the
    same. NaN without components, and where all that enter are 0.
    """
    v = components.variance
    if not v:
        return dict.fromkeys(COEFFICIENTS, nan)
    totals = [v["system"] + error for error in error_variances(v, n_dialogues, n_annotators, people)]
    return {name: v["system"] / total if total > 0 else nan for name, total in zip(COEFFICIENTS, totals, strict=True)}


@dataclass(frozen=True)
class Draws:
    """Components as they might have been estimated, `drawn` facet -> (b,), and (b,) variances of systems that go with
    the estimate: its pivot over those of the draws."""

    drawn: dict[str, np.ndarray]
    system: np.ndarray


def draws(components: Components, *, rng: np.random.Generator, n_resamples: int = 1000) -> Draws | None:
    """A parametric bootstrap: judgements of new systems, dialogues and annotators drawn from the fitted model.

    1 + (variance of systems) / (error variance of a mean in this design) is estimated with a relative error that hardly
    depends on its value: in balanced designs without annotators it is an F statistic (Searle, Casella and McCulloch
    1992, section 3.6). Dividing the estimate by its relative errors in the draws gives variances of systems that are
    compatible with the data. None without components, or if all but that of systems are 0.
    """
    if components.design is None:
        return None
    design, raw = components.design, np.array(list(components.raw.values()))
    fitted = np.maximum(raw, 0.0)
    error = float(design.in_error @ fitted)
    if error <= 0:
        return None
    size = max(1, min(n_resamples, MOST_DRAWN // components.n))
    parts = [len(p) for p in np.array_split(np.arange(n_resamples), -(-n_resamples // size))]
    simulated = np.concatenate([design.components(design.draw(fitted, part, rng)) for part in parts], axis=1)
    drawn = np.maximum(simulated, 0.0)
    errors = np.maximum(design.in_error @ drawn, 1e-9 * error)
    relative = (1 + simulated[0] / errors) / (1 + fitted[0] / error)
    with np.errstate(divide="ignore"):
        ratio = np.where(relative > 0, (1 + raw[0] / error) / relative, np.inf)
    system = np.maximum(ratio - 1, 0.0) * error**2 / errors
    return Draws(dict(zip(design.names, drawn, strict=True)), system)


def intervals(
    components: Components,
    simulated: Draws | None,
    n_dialogues: int,
    n_annotators: int,
    confidence: float = 0.95,
    people: int | None = None,
) -> dict[str, tuple[float, float]]:
    """Intervals of the coefficients of `generalizability`, from `draws`; error variances enter by their relative errors
    in the draws, too. In simulations of five designs 95% intervals covered 89% to 97% (tests)."""
    if simulated is None:
        return dict.fromkeys(COEFFICIENTS, (nan, nan))
    design = (n_dialogues, n_annotators, people)
    estimate = error_variances(components.variance, *design)
    drawn = error_variances(simulated.drawn, *design)
    return {
        name: _ends(fitted, errors, simulated, confidence)
        for name, fitted, errors in zip(COEFFICIENTS, estimate, drawn, strict=True)
    }


def _ends(fitted: float, drawn: np.ndarray, simulated: Draws, confidence: float) -> tuple[float, float]:
    """Ends of a reliability whose error variance is estimated as `fitted`, and in the draws as `drawn`."""
    error = fitted**2 / np.maximum(drawn, 1e-9 * fitted)
    with np.errstate(invalid="ignore"):
        values = np.where(np.isinf(simulated.system), 1.0, simulated.system / (simulated.system + error))
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def of_own_means(
    components: Components, simulated: Draws | None, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Generalizability of the means of the very judgements that the components come from, and its interval.

    The error variance is that of a system's mean relative to the others' in the study's own design
    (`_Design.in_error`), with its numbers of dialogues and whoever judged them: annotators of some systems only are in
    it. NaN without components.
    """
    if components.design is None:
        return nan, nan, nan
    names, in_error = components.design.names, components.design.in_error
    error = float(in_error @ list(components.variance.values()))
    total = components.variance["system"] + error
    estimate = components.variance["system"] / total if total > 0 else nan
    if simulated is None:
        return estimate, nan, nan
    return estimate, *_ends(
        error, in_error @ np.array([simulated.drawn[name] for name in names]), simulated, confidence
    )


def decision_study(
    annotations: pd.DataFrame,
    labels: Iterable[Label],
    *,
    n_dialogues: Sequence[int] = (10, 25, 50, 100, 200),
    n_annotators: Sequence[int] = (1, 2, 3, 5),
    kinds: Sequence[str] = ("human",),
    seed: int = 1,
    confidence: float = 0.95,
) -> Results:
    """Variance components of each corpus, group, method and label, and the reliability of system means by design.

    annotations : columns of `schema.ANNOTATIONS`; comparisons are left out, as they have no value of one system. A
    judgement of turns is averaged over the dialogue for each annotator first, so that the unit is the dialogue.

    Returns `facet_variance`, `generalizability` and `dependability`; the latter two with intervals that treat systems,
    dialogues and annotators as samples (`draws`), which are wide with few systems; `note` says how many there
    are. `generalizability` of `design` OWN is that of the study's own means (`of_own_means`).
    """
    chosen = first_annotations(annotations, first=None, kinds=kinds)
    kind, rows = "+".join(kinds), []
    for cell, _, frame in cells(chosen[chosen["dialogue_b"].isna()], labels):
        scores = frame.groupby(["system", "dialogue", "annotator"], sort=False)["score"].mean().reset_index()
        components = variance_components(scores, annotators_known=bool(frame["annotator_known"].all()))
        common = {**cell, "level": "system", "kind": kind, "note": components.note or _note(components)}
        common |= {
            "n": components.n_systems,
            "n_clusters": components.n_dialogues,
            "n_annotators": components.n_annotators,
        }
        for facet, value in components.variance.items():
            rows.append({**common, "statistic": "facet_variance", "facet": facet, "estimate": value})
        drawn = draws(components, rng=generator(seed, "decision_study", *cell.values()))
        own_mean, low, high = of_own_means(components, drawn, confidence)
        size = {
            "n_dialogues": _typical(scores),
            "annotators_per_dialogue": max(1, round(components.n / components.n_dialogues)),
        }
        interval = {"estimate": own_mean, "ci_low": low, "ci_high": high}
        interval["ci_kind"] = "parametric" if np.isfinite(low) else "not_estimable"
        rows.append({**common, "statistic": "generalizability", "design": OWN, **size, "seed": seed, **interval})
        for d, a in product(n_dialogues, n_annotators):
            design = {"n_dialogues": d, "annotators_per_dialogue": a, "seed": seed}
            ends = intervals(components, drawn, d, a, confidence)
            for name, value in generalizability(components, d, a).items():
                low, high = ends[name]
                interval = {"estimate": value, "ci_low": low, "ci_high": high}
                interval["ci_kind"] = "parametric" if np.isfinite(low) else "not_estimable"
                rows.append({**common, "statistic": name, **design, **interval})
    return collect(rows)


def _typical(scores: pd.DataFrame) -> int:
    """Dialogues per system: their harmonic mean, which is what the variances of means average to."""
    n = scores.groupby("system")["dialogue"].nunique()
    return round(len(n) / float((1 / n).sum()))


def _note(components: Components) -> str:
    below = f"; estimated below 0 and set to 0: {', '.join(components.negative)}" if components.negative else ""
    return f"{components.n_systems} systems{below}"
