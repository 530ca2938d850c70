"""A linear mixed model of scores: how severe annotators are.

Systems, annotators, dialogues, and annotators within systems (how differently an annotator judges the systems) are
random and crossed; turns of a dialogue are part of the residual. Variances are estimated by REML.

The model needs annotators who are people and enough of them: a variance estimated from two degrees of freedom (three
annotators) has a 95% interval whose ends differ by a factor of 146.

References
----------
Baayen, Davidson and Bates 2008, Journal of Memory and Language 59, 390-412 (crossed random effects).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from judgebook.statistics import reml

#: fewer annotators or systems than these are no sample to estimate a variance from
MIN_ANNOTATORS, MIN_SYSTEMS = 5, 3
#: most levels of systems, annotators and annotators within systems together with which the last are a part of their
#: own
MOST_LEVELS = 450
#: share of the variance below which there is no residual, as where annotators always agree
NO_RESIDUAL = 1e-7
_BOTH = "system_annotator"


@dataclass(frozen=True)
class Fitted:
    """parts : names of the factors. Per part: levels, the (k,) names of its levels; sd, its standard deviation; effects
    and errors, the (k,) predicted effects and their standard errors, which take the variances as known."""

    parts: tuple[str, ...]
    levels: dict[str, np.ndarray]
    sd: dict[str, float]
    effects: dict[str, np.ndarray]
    errors: dict[str, np.ndarray]


def why_not(rows: pd.DataFrame) -> str:
    """'' or why there is no model of scores.

    rows : system, annotator, annotator_known, dialogue, score.
    """
    if not rows["annotator_known"].all():
        return "annotators are positions, not people"
    annotators, systems = rows["annotator"].nunique(), rows["system"].nunique()
    if annotators < MIN_ANNOTATORS:
        return f"{'one annotator' if annotators == 1 else f'{annotators} annotators'}, fewer than {MIN_ANNOTATORS}"
    if systems < MIN_SYSTEMS:
        return f"{'one system' if systems == 1 else f'{systems} systems'}, fewer than {MIN_SYSTEMS}"
    return "all scores are equal" if rows["score"].nunique() < 2 else ""


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


def fit(rows: pd.DataFrame) -> Fitted | str:
    """The model of scores, or why it could not be fitted.

    rows : system, annotator, dialogue, score; `why_not` is ''.
    """
    levels_of = factors(rows)
    codes, score = [c for c, _ in levels_of.values()], rows["score"].to_numpy(dtype=float)
    fitted = reml.fit_linear_mixed(score, np.ones((len(rows), 1)), codes)
    if not fitted.converged:
        return "the restricted likelihood did not converge"
    if fitted.shares[-1] < NO_RESIDUAL:
        return "the factors explain every score: there is no residual to hold their variance against"
    return Fitted(
        parts=tuple(levels_of),
        levels={name: names for name, (_, names) in levels_of.items()},
        sd=dict(zip(levels_of, np.sqrt(fitted.variances).tolist(), strict=True)),
        effects=dict(zip(levels_of, fitted.effects, strict=True)),
        errors=dict(zip(levels_of, fitted.effect_se, strict=True)),
    )
