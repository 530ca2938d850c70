"""How far apart systems are in one evaluator group, and how much that differs between groups, as published.

Finch, Finch and Choi 2024, section 5: the effect size of each pair of systems (Cohen's d for ratings, Cohen's h of
bot-vs-all win shares for comparisons), and between two groups the mean over pairs of systems of its absolute
difference. Effects depend on the scores through their number, sum and sum of squares only; `sums` always means an
array whose last axis holds these three. What stands beside the published value is in `groups`.

Reference: Cohen 1988, Statistical Power Analysis for the Behavioral Sciences, 2nd edition, sections 2.2 and 6.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np
import pandas as pd

from helpers.labels import METHODS
from helpers.resampling import bootstrap_sums, generator
from helpers.schema import condition
from helpers.scores import sides

#: columns that tell one analysis from the next
ANALYSIS = ["corpus", "method", "label"]


def score_sums(scores: np.ndarray) -> np.ndarray:
    """(n, sum, sum of squares) of the scores that are not missing. Checked by hand."""
    x = np.asarray(scores, dtype=float)
    x = x[np.isfinite(x)]
    return np.array([len(x), x.sum(), np.square(x).sum()])


def cohens_d(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cohen's d of two samples: difference of means over the pooled standard deviation (ddof 1).

    a, b : (..., 3) sums of the two samples; leading axes are independent cases. Returns (...). Undefined (NaN) where a
    sample is empty, both have one score, or all scores within each sample are equal.

    Cohen 1988, eq. 2.5.1 and 2.5.2. Checked against `pingouin.compute_effsize`.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_a, within_a = _mean_and_squares(a)
        mean_b, within_b = _mean_and_squares(b)
        pooled = (within_a + within_b) / (a[..., 0] + b[..., 0] - 2)
        return np.where(pooled > 0, (mean_a - mean_b) / np.sqrt(pooled), np.nan)


def _mean_and_squares(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and sum of squared deviations. Rounding must not make a constant sample vary: its scores have no spread."""
    n, s, q = np.moveaxis(sums, -1, 0)
    within = q - s**2 / n
    return s / n, np.where(within <= 1e-12 * q, 0.0, within)


def cohens_h(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cohen's h of two proportions: difference of 2 arcsin(sqrt(p)).

    a, b : (..., 3) sums of 0/1 scores. Returns (...), from -pi to pi. Undefined (NaN) where a sample is empty; shares
    of 0 and 1 are no special case.

    Cohen 1988, eq. 6.2.1. Checked against `statsmodels.stats.proportion.proportion_effectsize`.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        p_a, p_b = a[..., 1] / a[..., 0], b[..., 1] / b[..., 0]
        return 2 * np.arcsin(np.sqrt(p_a)) - 2 * np.arcsin(np.sqrt(p_b))


EFFECTS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {"d": cohens_d, "h": cohens_h}


def pair_effects(sums: np.ndarray, effect: str) -> np.ndarray:
    """Effect size of every pair of systems, first minus second, pairs in the order of `itertools.combinations`.

    sums : (..., systems, 3). Returns (..., pairs). Checked by hand.
    """
    if effect not in EFFECTS:
        raise ValueError(f"effect: expected one of {', '.join(EFFECTS)}, found {effect!r}")
    i, j = np.array(list(combinations(range(sums.shape[-2]), 2)), dtype=int).reshape(-1, 2).T
    return EFFECTS[effect](sums[..., i, :], sums[..., j, :])


def group_differences(effects: np.ndarray) -> np.ndarray:
    """Mean over pairs of systems of the absolute difference of their effect between two groups.

    effects : (..., groups, pairs of systems). Returns (..., pairs of groups), in the order of `itertools.combinations`.
    Finch et al. 2024, section 5. Checked by hand and against a plain loop.
    """
    i, j = np.array(list(combinations(range(effects.shape[-2]), 2)), dtype=int).reshape(-1, 2).T
    return np.abs(effects[..., i, :] - effects[..., j, :]).mean(axis=-1)


def _effect_of(rows: pd.DataFrame) -> str:
    """The effect size that suits the scores of one label: h for comparisons and 0/1 marks, else d."""
    pairwise = METHODS[rows["method"].iloc[0]].unit == "pair"
    return "h" if pairwise or rows["score"].isin([0, 1]).all() else "d"


def scored(rows: pd.DataFrame) -> pd.DataFrame:
    """Scores of systems, one row a judged system: a comparison gives two, each 1 (won), 0 (lost) or missing (tied).

    Adds `item`, what is judged together: the dialogue, or the pair compared. Comparisons that are seen from one side
    already (`picks.pick_as_published` marks them in `one_side`) are not turned. Checked by hand.
    """
    if METHODS[rows["method"].iloc[0]].unit != "pair":
        return rows.assign(item=rows["dialogue"])
    one_side = "one_side" in rows and rows["one_side"].all()
    out = rows.assign(item=rows["dialogue"]) if one_side else sides(rows)
    return out.assign(score=np.where(out["score"] == 0, np.nan, (out["score"] + 1) / 2))


def _levels(frame: pd.DataFrame, column: str, order: Sequence[str] | None) -> list[str]:
    """The values a column has, in the order given, or sorted. Raises ValueError where `order` leaves one out."""
    found = sorted(frame[column].dropna().unique())
    if order is None:
        return found
    if absent := [v for v in found if v not in order]:
        raise ValueError(f"{column}: {absent} are in the data, but not in the order given: {list(order)}")
    return [v for v in order if v in found]


def unit_sums(
    scores: pd.DataFrame, units: np.ndarray, groups: Sequence[str], systems: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of the scores by unit, group and system.

    scores : `group, system, score`; missing scores and other groups are left out. units : (rows,), what each row
    belongs to. Returns the distinct units (u,) and a (u, groups, systems, 3) array. Checked by hand.
    """
    x = scores["score"].to_numpy(dtype=float)
    group, system = pd.Index(groups).get_indexer(scores["group"]), pd.Index(systems).get_indexer(scores["system"])
    names, codes = np.unique(np.asarray(units, dtype=str), return_inverse=True)
    out = np.zeros((len(names), len(groups), len(systems), 3))
    kept = np.isfinite(x) & (group >= 0) & (system >= 0)
    x = x[kept]
    np.add.at(out, (codes[kept], group[kept], system[kept]), np.stack([np.ones(len(x)), x, x**2], axis=1))
    return names, out


def analyses(annotations: pd.DataFrame, effect: str | None, groups, systems) -> Iterator[Analysis]:
    """One `Analysis` for each corpus, method and label. Raises ValueError with fewer than two systems.

    Checked through `published`, by plain loops.
    """
    for key, rows in annotations.groupby(ANALYSIS, sort=False):
        scores = scored(rows)
        bots = _levels(scores, "system", systems)
        if len(bots) < 2:
            raise ValueError(f"effect sizes compare systems; {'/'.join(key)} has only {bots}")
        yield Analysis(key, scores, _levels(rows, "group", groups), bots, effect or _effect_of(rows))


@dataclass(frozen=True)
class Analysis:
    """The scores of one corpus, method and label, with the order of groups and systems and the effect size to use."""

    key: tuple[str, str, str]
    scores: pd.DataFrame
    groups: list[str]
    systems: list[str]
    effect: str

    def row(self, statistic: str, group: str, group_b: str | None = None, **keys: object) -> dict:
        """The identity and counts of a result row. Annotators belong to one group. Checked by hand."""
        used = [self.counts.get(g, {}) for g in (group, group_b)]
        return {
            **dict(zip(ANALYSIS, self.key, strict=True)),
            "statistic": statistic,
            "level": METHODS[self.key[1]].unit,
            "group": group,
            "group_b": group_b,
            "condition": condition(effect=self.effect, **keys),
            "n": sum(c.get("n", 0) for c in used),
            "n_annotators": sum(c.get("annotator", 0) for c in used) if "annotator" in self.scores else None,
        }

    @cached_property
    def counts(self) -> dict[str, dict[str, int]]:
        """Scores (`n`) and annotators of each group; counted once, as there are many rows of one analysis.

        Checked by hand.
        """
        by = self.scores.dropna(subset="score").groupby("group")
        people = by["annotator"].nunique() if "annotator" in self.scores else {}
        return {g: {"n": int(n), "annotator": int(people.get(g, 0))} for g, n in by.size().items()}


def published(
    annotations: pd.DataFrame,
    *,
    seed: int,
    effect: str | None = None,
    groups: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Mean |effect| of each group and the difference between each two groups, with the paper's intervals.

    Parameters
    ----------
    annotations : frame
        One annotation an item and group (`group, system, score`, for comparisons `system_b`); corpus, method and label
        tell analyses apart.
    effect : 'd' or 'h'
        By default h for comparisons and 0/1 marks, else d.
    groups, systems : sequence of str, optional
        Their order; sorted by default.

    Returns
    -------
    Result rows `mean_absolute_effect` (Table 4) and `group_difference` (Figure 1). Undefined values carry the reason.

    Notes
    -----
    BCa, scores resampled within system and group, as if no two groups had judged the same dialogue and the two sides of
    a comparison were two judgements. A mean of absolute values has no value below zero to cover: where groups do not
    differ these intervals never cover the truth. See `groups` for what to read instead. Point estimates checked against
    Table 4, intervals against `scipy.stats.bootstrap`.
    """
    out = []
    for one in analyses(annotations, effect, groups, systems):
        rows, counts = _patterns(one)
        found = bootstrap_sums(
            rows,
            _published_statistic(one),
            unit="score within system and group",
            rng=generator(seed, "published_group_difference", *one.key),
            counts=counts,
            n_resamples=n_resamples,
            confidence=confidence,
        )
        names = [("mean_absolute_effect", g, None) for g in one.groups]
        names += [("group_difference", a, b) for a, b in combinations(one.groups, 2)]
        for name, interval in zip(names, found, strict=True):
            out.append({**one.row(*name, resample="score"), **interval.row()})
    return pd.DataFrame(out)


def differences(annotations: pd.DataFrame, *, effect: str | None = None, groups=None, systems=None) -> pd.DataFrame:
    """The group differences alone, without intervals: rows `group_difference` with `resample=none`.

    Arguments as in `published`, against which it is checked.
    """
    out = []
    for one in analyses(annotations, effect, groups, systems):
        sums = unit_sums(one.scores, np.zeros(len(one.scores)), one.groups, one.systems)[1][0]
        values = group_differences(pair_effects(sums, one.effect))
        pairs = zip(combinations(one.groups, 2), values, strict=True)
        out += [{**one.row("group_difference", *g, resample="none"), "estimate": v} for g, v in pairs]
    return pd.DataFrame(out)


def _patterns(one: Analysis) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The distinct scores of each group and system as rows of sums, and how often each occurs."""
    rows, counts = [], []
    cells = dict(list(one.scores.dropna(subset="score").groupby(["group", "system"])["score"]))
    for cell in product(one.groups, one.systems):
        values, n = np.unique(cells[cell].to_numpy(float), return_counts=True) if cell in cells else ([0.0], [1])
        sums = np.stack([np.full(len(values), float(cell in cells)), values, np.square(values)], axis=1)
        rows.append(sums)  # an empty sample is one unit without a score: every effect that needs it is undefined
        counts.append(np.asarray(n))
    return rows, counts


def _published_statistic(one: Analysis) -> Callable[..., np.ndarray]:
    shape = (-1, len(one.groups), len(one.systems), 3)

    def statistic(*sums: np.ndarray) -> np.ndarray:
        effects = pair_effects(np.stack(sums, axis=1).reshape(shape), one.effect)
        return np.concatenate([np.abs(effects).mean(axis=-1), group_differences(effects)], axis=1)

    return statistic
