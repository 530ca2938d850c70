"""Mixed models of the scores of one label: how severe annotators are.

Systems, annotators, dialogues, and annotators within systems (how differently an annotator judges the systems) are
random and crossed. Marks given fewer than FEW_MARKS times per dialogue do not tell how much dialogues differ: the
Laplace approximation of so few 0/1 scores per level lets the standard deviation of dialogues run away. Their model has
no dialogues. Turns of a dialogue are part of the residual. Scores enter as numbers (`linear`, by REML), as ordered
categories of a latent scale (`ordinal`) or as marks (`logistic`; both by maximum likelihood with the Laplace
approximation, which estimates variances a little too low).

The models need annotators who are people and enough of them: a variance estimated from two degrees of freedom (three
annotators) has a 95% interval whose ends differ by a factor of 146.

References
----------
Baayen, Davidson and Bates 2008, Journal of Memory and Language 59, 390-412 (crossed random effects). Agresti 2002,
Categorical Data Analysis, sections 7.2 and 12.1 (ordinal and logistic models).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from judgebook.statistics import ordinal_mixed, reml
from judgebook.statistics.intervals import MIN_MINORITY

#: fewer annotators or systems than these are no sample to estimate a variance from
MIN_ANNOTATORS, MIN_SYSTEMS = 5, 3
#: most levels of systems, annotators and annotators within systems together with which the last are a part of their
#: own
MOST_LEVELS = 450
#: rows times levels above which the ordinal and logistic models are left out: they would take seconds per label
MOST_WORK = 200_000
#: ordered scores with more values than this are treated as numbers
MOST_CATEGORIES = 10
#: share of the variance below which a linear model has no residual, as where annotators always agree
NO_RESIDUAL = 1e-7
#: marks per dialogue below which these do not tell how much dialogues differ
FEW_MARKS = 5
#: dialogues with a mark of the rarer kind, below which so few marks have no model. Of 640 or 960 judgements, 1.5% of
#: which are expected to be marks, fewer than 1% of studies have as many; of 5%, 58% to 98% do, and of 10% all
LEAST_MARKED = 25
TOO_LARGE = "too many scores and levels for the Laplace approximation"
_BOTH = "system_annotator"


@dataclass(frozen=True)
class Fitted:
    """A model of one label's scores.

    parts : names of the factors. levels : per part the (k,) names of its levels. sd : per part, on the scale of the
    scores or on the logit scale. effects, errors : per
    part the (k,) predicted effects and their standard errors, which take the variances as known.
    """

    model: str
    parts: tuple[str, ...]
    levels: dict[str, np.ndarray]
    sd: dict[str, float]
    effects: dict[str, np.ndarray]
    errors: dict[str, np.ndarray]


def models(scores: pd.Series) -> tuple[str, ...]:
    """The models that suit the scores of a label: marks, ordered categories, or numbers."""
    values = scores.unique()
    if set(values) <= {0.0, 1.0}:
        return ("logistic",)
    return ("linear", "ordinal") if len(values) <= MOST_CATEGORIES else ("linear",)


def why_not(rows: pd.DataFrame) -> str:
    """'' or why there is no model of the scores of one label.

    rows : system, annotator, annotator_known, dialogue, score.
    """
    if not rows["annotator_known"].all():
        return "annotators are positions, not people"
    annotators, systems = rows["annotator"].nunique(), rows["system"].nunique()
    if annotators < MIN_ANNOTATORS:
        return f"{'one annotator' if annotators == 1 else f'{annotators} annotators'}, fewer than {MIN_ANNOTATORS}"
    if systems < MIN_SYSTEMS:
        return f"{'one system' if systems == 1 else f'{systems} systems'}, fewer than {MIN_SYSTEMS}"
    if rows["score"].nunique() < 2:
        return "all scores are equal"
    marks = rows["score"].sum() if models(rows["score"]) == ("logistic",) else np.inf
    if (rarer := min(marks, len(rows) - marks)) < MIN_MINORITY and np.isfinite(marks):
        return f"{rarer:g} marks of one kind, fewer than {MIN_MINORITY}"
    return ""


def factors(rows: pd.DataFrame, most_levels: int = MOST_LEVELS) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The parts of the variance that the design separates: name -> (n,) codes and (k,) names of levels.

    A dialogue with a single score is not separated from the residual; of two factors that group scores alike the first
    stays.
    """
    out = {name: pd.factorize(rows[name], sort=True) for name in ("system", "annotator", "dialogue")}
    pairs = rows["system"].astype(str) + " " + rows["annotator"].astype(str)
    if len(out["system"][1]) + len(out["annotator"][1]) + pairs.nunique() <= most_levels:
        out[_BOTH] = pd.factorize(pairs, sort=True)
    sizes = {name: len(levels) for name, (_, levels) in out.items()}
    gone = {name for name, size in sizes.items() if size < 2 or size > 0.9 * len(rows)}
    for a, b in combinations(out, 2):
        together = len(pd.MultiIndex.from_arrays([out[a][0], out[b][0]]).unique())
        gone |= {b} if together == sizes[a] == sizes[b] and a not in gone else set()
    return {name: (codes, np.asarray(levels)) for name, (codes, levels) in out.items() if name not in gone}


def fit(rows: pd.DataFrame, model: str) -> Fitted | str:
    """A model of the scores of one label, or why it could not be fitted.

    Parameters
    ----------
    rows : DataFrame
        system, annotator, dialogue, score: all annotations of one label; `why_not` is ''.
    model : {"linear", "ordinal", "logistic"}
    """
    levels_of = factors(rows)
    codes, score = [c for c, _ in levels_of.values()], rows["score"].to_numpy(dtype=float)
    if model == "linear":
        fitted = reml.fit_linear_mixed(score, np.ones((len(rows), 1)), codes, None)
        if not fitted.converged:
            return "the restricted likelihood did not converge"
        if fitted.shares[-1] < NO_RESIDUAL:
            return "the factors explain every score: there is no residual to hold their variance against"
        return _named(model, levels_of, fitted, np.sqrt(fitted.variances))
    if model == "logistic" and _few_marks(rows, levels_of):
        if (marked := _marked_dialogues(rows)) < LEAST_MARKED:
            return f"{marked} dialogues with a mark of the rarer kind, fewer than {LEAST_MARKED}"
        del levels_of["dialogue"]
        codes = [c for c, _ in levels_of.values()]
    y = pd.factorize(score, sort=True)[0]
    same = pd.DataFrame(np.column_stack([*codes, y])).value_counts(sort=False)
    cells, counts = same.index.to_frame().to_numpy(), same.to_numpy()
    if len(cells) * (sum(len(levels) for _, levels in levels_of.values()) - max(map(np.max, codes))) > MOST_WORK:
        return TOO_LARGE
    columns = [np.ascontiguousarray(c) for c in cells.T]
    latent = ordinal_mixed.fit_ordinal_mixed(
        columns[-1],
        np.zeros((len(cells), 0)),
        columns[:-1],
        counts=counts,
        confidence=None,
    )
    if not latent.converged:
        return "the likelihood did not converge"
    return _named(model, levels_of, latent, latent.sd)


def _few_marks(rows: pd.DataFrame, levels_of: dict) -> bool:
    return "dialogue" in levels_of and len(rows) < FEW_MARKS * len(levels_of["dialogue"][1])


def _marked_dialogues(rows: pd.DataFrame) -> int:
    """Dialogues with a mark of the rarer kind: marks of the same dialogue say much the same."""
    rarer = float(rows["score"].mean() < 0.5)
    return int(rows.loc[rows["score"] == rarer, "dialogue"].nunique())


def _named(
    model: str, levels_of: dict, fitted: reml.LinearMixedFit | ordinal_mixed.OrdinalMixedFit, sd: np.ndarray
) -> Fitted:
    parts = tuple(levels_of)
    return Fitted(
        model=model,
        parts=parts,
        levels={name: names for name, (_, names) in levels_of.items()},
        sd=dict(zip(parts, sd.tolist(), strict=True)),
        effects=dict(zip(parts, fitted.effects, strict=True)),
        errors=dict(zip(parts, fitted.effect_se, strict=True)),
    )
