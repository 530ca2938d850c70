"""How far apart systems are in one evaluator group, and how much that differs between groups.

Finch, Finch and Choi 2024, section 5: the effect size of each pair of systems (Cohen's d of ratings, Cohen's h of
rates and win shares), and between two groups the mean over pairs of systems of its absolute difference. Effects depend
on the scores only through their number, sum and sum of squares: `sums` is always an array whose last axis holds these
three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.scores import sides, weighted
from judgebook.execution import run
from judgebook.study.labels import METHODS
from judgebook.study.schema import Annotations

#: columns that distinguish one `LabelScores` from the next
KEY = ["corpus", "method", "label"]
#: other columns of `LabelScores.scores`
_COLUMNS = [
    "group", "system", "system_b", "score", "weight", "session", "dialogue", "item", "annotator", "annotator_known"
]  # fmt: skip
#: numbers that one chunk of effects may hold at once: more do not fit a processor's cache
CHUNK = 100_000
#: with more pairs of systems and labels than this, single pairs have no results, and means over pairs have at most
#: MOST_RESAMPLES resamples: 59 systems judged on two labels still have 10,000
MANY_PAIRS, MOST_RESAMPLES = 5_000, 500


def _mean_and_squares(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and sum of squared deviations. Rounding must not make a constant sample vary."""
    n, s, q = np.moveaxis(sums, -1, 0)
    within = q - s**2 / n
    return s / n, np.where(within <= 1e-12 * q, 0.0, within)


def pair_effects(sums: np.ndarray, effect: str, pairs: tuple[np.ndarray, np.ndarray] | None = None) -> np.ndarray:
    """Effect size of pairs of systems, first minus second: of all, in the order of `itertools.combinations`, or of
    some.

    Parameters
    ----------
    sums : (..., systems, 3) array
        Leading axes are independent cases.
    effect : `d` or `h`
        Cohen's d, the difference of means over the pooled standard deviation (ddof 1), or Cohen's h of 0/1 scores, the
        difference of 2 arcsin(sqrt(p)), from -pi to pi.
    pairs : two arrays of int, optional
        Places of both systems.

    Returns
    -------
    (..., pairs) array. Missing where a sample is empty; d also where both have one score, or all scores within each
    sample are equal. Proportions of 0 and 1 are no special case of h.

    References
    ----------
    Cohen 1988, Statistical Power Analysis for the Behavioral Sciences, 2nd edition, eq. 2.5.1, 2.5.2 and 6.2.1.
    """
    i, j = all_pairs(sums.shape[-2]) if pairs is None else pairs
    with np.errstate(divide="ignore", invalid="ignore"):  # each system's part once
        if effect == "h":
            angle = 2 * np.arcsin(np.sqrt(sums[..., 1] / sums[..., 0]))
            return angle[..., i] - angle[..., j]
        (mean, within), n = _mean_and_squares(sums), sums[..., 0]
        pooled = (within[..., i] + within[..., j]) / (n[..., i] + n[..., j] - 2)
        return np.where(pooled > 0, (mean[..., i] - mean[..., j]) / np.sqrt(pooled), np.nan)


def between_groups(effects: np.ndarray) -> np.ndarray:
    """Effects of one group minus those of another: (..., groups, pairs of systems) gives (..., pairs of groups, pairs
    of systems), pairs in the order of `itertools.combinations`."""
    i, j = all_pairs(effects.shape[-2])
    return effects[..., i, :] - effects[..., j, :]


def group_differences(effects: np.ndarray) -> np.ndarray:
    """Mean over pairs of systems of the absolute difference of their effect between two groups (Finch et al. 2024,
    section 5): (..., groups, pairs of systems) gives (..., pairs of groups)."""
    return np.abs(between_groups(effects)).mean(axis=-1)


def over_pairs(sums: np.ndarray, effect: str) -> np.ndarray:
    """Mean |effect| of each group and difference of each pair of groups: (k, groups, systems, 3) gives (k, groups +
    pairs of groups). The effects of all pairs of systems are held for a few of the k at a time."""
    k, groups, systems = sums.shape[:3]
    size, out = max(1, CHUNK // max(1, groups**2 * systems**2 // 2)), []
    for start in range(0, k, size):
        effects = pair_effects(sums[start : start + size], effect)
        out.append(np.concatenate([np.abs(effects).mean(axis=-1), group_differences(effects)], axis=1))
    return np.concatenate(out)


@lru_cache(maxsize=8)
def all_pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Places of both of every two, in the order of `itertools.combinations`."""
    return np.triu_indices(n, 1)


def unit_sums(
    scores: pd.DataFrame, units: pd.Series | np.ndarray, groups: list[str], systems: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of the scores by unit, group and system.

    Parameters
    ----------
    scores : DataFrame
        Columns group, system, score and, where not all count the same, weight; missing scores are left out.
    units : (rows,)
        What each row belongs to.

    Returns
    -------
    The distinct units (u,), and a (u, groups, systems, 3) array.
    """
    x = scores["score"].to_numpy(dtype=float)
    group, system = pd.Index(groups).get_indexer(scores["group"]), pd.Index(systems).get_indexer(scores["system"])
    place, distinct = pd.factorize(pd.Series(units), use_na_sentinel=False)
    codes, names = pd.factorize(pd.Series(distinct).astype(str), sort=True)  # text of each only once
    codes = codes[place]
    scored = np.isfinite(x)
    x, w = x[scored], scores["weight"].to_numpy(float)[scored] if "weight" in scores else 1.0
    shape = (len(names), len(groups), len(systems))
    cell = np.ravel_multi_index((codes[scored], group[scored], system[scored]), shape)
    sums = [np.bincount(cell, w * v, int(np.prod(shape))).reshape(shape) for v in (np.ones(len(x)), x, x**2)]
    return np.asarray(names, dtype=str), np.stack(sums, axis=-1)


@dataclass(frozen=True)
class LabelScores:
    """The scores of systems on one label: what every statistic of this folder is computed from.

    key : corpus, method, label. scores : one row per judged system (`scored`). groups, systems : sorted. effect : `h`
    for comparisons and 0/1 marks, else `d`.
    """

    key: tuple[str, str, str]
    scores: pd.DataFrame
    groups: list[str]
    systems: list[str]
    effect: str

    @property
    def group_pairs(self) -> list[tuple[str, str]]:
        return list(combinations(self.groups, 2))

    @property
    def means(self) -> list[tuple[str, str, str | None]]:
        """Statistic and groups of what `over_pairs` gives."""
        of_groups: list[tuple[str, str, str | None]] = [("mean_absolute_effect", g, None) for g in self.groups]
        return [*of_groups, *(("group_difference", a, b) for a, b in self.group_pairs)]

    def sums(self, column: str) -> tuple[np.ndarray, np.ndarray]:
        """`unit_sums` of the units that a column names."""
        return unit_sums(self.scores, self.scores[column], self.groups, self.systems)

    def home(self, annotators: np.ndarray) -> np.ndarray:
        """The group of each annotator."""
        return self.scores.drop_duplicates("annotator").set_index("annotator")["group"].loc[annotators].to_numpy(str)

    def row(self, statistic: str, group: str, group_b: str | None = None, **keys: object) -> dict[str, Any]:
        """Identity and counts of a result row."""
        out = dict(zip(KEY, self.key, strict=True)) | {"statistic": statistic, "level": METHODS[self.key[1]].unit}
        sizes = [self._sizes.get(g, (0, 0)) for g in (group, group_b) if g]
        counts = dict(zip(("n", "n_annotators"), map(sum, zip(*sizes, strict=True)), strict=True))
        return out | {"group": group, "group_b": group_b, "effect": self.effect, **keys, **counts}

    @cached_property
    def _sizes(self) -> dict[str, tuple[int, int]]:
        """Scores (items, if these are weighted) and annotators of each group; counted once, as there are many rows."""
        scored = self.scores[self.scores["score"].notna()]
        group, names = pd.factorize(scored["group"])
        n = np.bincount(group, scored.get("weight"), len(names)).round().astype(int)
        who = pd.factorize(scored["annotator"])[0]
        most = int(who.max(initial=0)) + 1
        people = np.unique((group * most + who)[who >= 0]) // most
        counts = zip(n.tolist(), np.bincount(people, minlength=len(names)).tolist(), strict=True)
        return dict(zip(names, counts, strict=True))


def label_scores(annotations: Annotations, *, per_item: bool = False) -> Iterator[LabelScores]:
    """`LabelScores` of each corpus, method and label.

    annotations : one annotation per item and group, or all. per_item : items count once, whatever the number of their
    annotations: means and rates are those of item means, while d stays in standard deviations of single annotations,
    which groups with different numbers of annotations per item share. Raises ValueError for a label with fewer than two
    systems.
    """
    for key, rows in annotations.groupby(KEY, sort=False):
        rows = rows.drop(columns="sampling_weight", errors="ignore")  # effects are of the dialogues that were judged
        scores = weighted(scored(rows)) if per_item else scored(rows)
        systems = sorted(scores["system"].unique())
        if len(systems) < 2:
            raise ValueError(f"effect sizes compare systems; {'/'.join(key)} has only {systems}")
        proportions = METHODS[key[1]].unit == "pair" or rows["score"].isin([0, 1]).all()
        scores = scores[[c for c in _COLUMNS if c in scores]]
        yield LabelScores(key, scores, sorted(rows["group"].unique()), systems, "h" if proportions else "d")


def for_each_label(
    statistic: Callable[[LabelScores], Iterable[dict[str, Any]]], annotations: Annotations, *, per_item: bool = False
) -> Iterator[dict[str, Any]]:
    """The rows that a statistic gives for each corpus, method and label.

    statistic : a function of a module, or a `functools.partial` of one, as it may be sent to another process.
    """
    pieces = [(statistic, one) for one in label_scores(annotations, per_item=per_item)]
    for rows in run(_rows_of, pieces, doing="groups, label"):
        yield from rows


def _rows_of(statistic: Callable[[LabelScores], Iterable[dict[str, Any]]], one: LabelScores) -> list[dict[str, Any]]:
    return list(statistic(one))


def n_pairs(annotations: Annotations) -> int:
    """Pairs of systems, added up over labels."""
    sides = [annotations[[*KEY, s]].rename(columns={s: "system"}) for s in ("system", "system_b")]
    m = pd.concat(sides).dropna(subset="system").groupby(KEY)["system"].nunique()
    return int((m * (m - 1) // 2).sum())


def scored(rows: Annotations) -> pd.DataFrame:
    """Scores of systems, one row per judged system: a comparison gives two, each 1 (won), 0 (lost) or missing (tied).

    Adds `item`, what is judged together: the dialogue, or the pair compared. Comparisons already seen from one side
    (marked in `one_side` by `picks.pick_as_published`) are not turned.
    """
    if METHODS[rows["method"].iloc[0]].unit != "pair":
        return rows.assign(item=rows["dialogue"])
    one_side = "one_side" in rows and rows["one_side"].all()
    out = rows.assign(item=rows["dialogue"]) if one_side else sides(rows)
    return out.assign(score=np.where(out["score"] == 0, np.nan, (out["score"] + 1) / 2))


def without_one_annotator(one: LabelScores) -> Iterator[dict[str, Any]]:
    """The group difference, and its range when any one annotator is left out: rows of `group_difference`.

    What the annotator judged is then not judged by the group; no other annotation takes its place. `n_undefined` counts
    the annotators without whom a system has no judgements.
    """
    people, sums = one.sums("annotator")
    whole = group_differences(pair_effects(sums.sum(axis=0), one.effect))
    without = over_pairs(sums.sum(axis=0) - sums, one.effect)[:, len(one.groups) :]
    for k, pair in enumerate(one.group_pairs):
        inside = np.isin(one.home(people), pair)
        defined = np.isfinite(without[:, k])
        values, names = without[inside & defined, k], people[inside & defined]
        row = one.row("group_difference", *pair, resample="none", over="people") | {"estimate": whole[k]}
        row |= {"ci_kind": "not_estimable", "n_undefined": int((inside & ~defined).sum())}
        row["note"] = "without some annotator a system has no judgements" if row["n_undefined"] else None
        if len(values):
            row |= {"ci_low": values.min(), "ci_high": values.max(), "ci_kind": "range"}
            row["note"] = row["note"] or f"largest change without {names[np.argmax(np.abs(values - whole[k]))]}"
        yield row
