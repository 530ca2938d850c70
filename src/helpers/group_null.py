"""Does a difference between evaluator groups exceed chance, and does it hang on one person or on one pick?

- `permutation_null`: the difference to expect when it does not matter which group, or which annotator, judged;
- `leave_one_annotator_out`: the difference without each person in turn;
- `over_picks`: the values under other picks of one annotation an item.

The published difference and its notation are in `effects`; intervals are in `groups`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd

from helpers.effects import ANALYSIS, Analysis, analyses, group_differences, pair_effects, unit_sums
from helpers.labels import METHODS
from helpers.resampling import Permutation, generator, permutation_test
from helpers.schema import condition

#: all ways to hand annotators to groups are gone through when there are no more
EXACT_LIMIT = 10_000
#: numbers that one chunk of arrangements may hold at once
CHUNK = 4_000_000


def permutation_null(
    annotations: pd.DataFrame,
    *,
    seed: int,
    exchange: str = "judgement",
    block: str = "session",
    effect: str | None = None,
    groups: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    n_permutations: int = 10_000,
) -> pd.DataFrame:
    """The group difference to expect if it did not matter which group judged: its mean, its 95 % point, and a p-value.

    Parameters
    ----------
    annotations : frame
        One annotation an item and group.
    exchange : 'judgement' or 'annotator'
        What the null makes exchangeable. *judgement*: what both groups judged is swapped between them, all of a `block`
        together; what one group alone judged is handed to either group at random, within the same system (or pair of
        systems), each group keeping its number. The people are then fixed: a small p-value says that these people
        differ from those. *annotator*: whole annotators change groups, with all their work. A small p-value then
        speaks of the groups; with few annotators there is none, which is as it should be.
    block : str
        Column whose judgements are swapped together, as those of a session resemble each other. Where it is absent or
        missing each item is swapped alone.

    Returns
    -------
    Result rows `group_difference_null` (`point=mean`, `point=q95`) and `group_difference_test`, or the reason why not.

    Notes
    -----
    For d, scores are standardised within the group first. Neither leniency nor the spread of scores is a difference in
    effect sizes, and neither must enter the null. Rate of false alarms checked by simulation, small cases by counting
    all arrangements.
    """
    if exchange not in ("judgement", "annotator"):
        raise ValueError(f"exchange: expected 'judgement' or 'annotator', found {exchange!r}")
    out = []
    for one in analyses(annotations, effect, groups, systems):
        for pair in combinations(one.groups, 2):
            scores = _standardised(one.scores[one.scores["group"].isin(pair)], one.effect)
            total = unit_sums(scores, np.zeros(len(scores)), pair, one.systems)[1].sum(axis=(0, 1)).ravel()
            rng = generator(seed, "group_null", exchange, *one.key, *pair)
            test = _test(_Pair(one, pair, scores, total), exchange, block, rng, n_permutations)
            out += _null_rows(one, pair, exchange, test)
    return pd.DataFrame(out)


def _standardised(scores: pd.DataFrame, effect: str) -> pd.DataFrame:
    if effect == "h":
        return scores
    by = scores.groupby("group")["score"]
    spread = by.transform("std").fillna(0.0)
    return scores.assign(score=(scores["score"] - by.transform("mean")) / spread.where(spread > 0, 1.0))


@dataclass(frozen=True)
class _Pair:
    """Two groups of one analysis: standardised scores, and how to get the difference from sums of the first group."""

    one: Analysis
    groups: tuple[str, str]
    scores: pd.DataFrame
    total: np.ndarray

    def difference(self, first: np.ndarray) -> np.ndarray:
        """(k,) differences when the first group has the sums `first` (k, systems * 3) and the second has the rest."""
        both = np.stack([first, self.total - first], axis=1)
        both = np.where(np.abs(both) < 1e-9, 0.0, both)  # all less all must leave nothing, in spite of rounding
        both = both.reshape(len(first), 2, len(self.one.systems), 3)
        return group_differences(pair_effects(both, self.one.effect))[:, 0]


def _exchange_judgements(pair: _Pair, block: str) -> tuple[np.ndarray, Callable]:
    """Sums of the first group, and a function that draws them with judgements exchanged within items and blocks."""
    scores, (a, b) = pair.scores, pair.groups
    items, sums = unit_sums(scores, scores["item"].to_numpy(), (a, b), pair.one.systems)
    sums = sums.reshape(len(items), 2, -1)
    judged = np.stack([np.isin(items, scores.loc[scores["group"] == g, "item"].to_numpy(str)) for g in (a, b)], axis=1)
    shared = judged.all(axis=1)
    facts = scores.drop_duplicates("item").set_index("item").loc[items]
    blocks = facts[block].where(facts[block].notna(), items) if block in facts else facts.index
    codes = pd.factorize(np.asarray(blocks)[shared])[0]
    swap = np.zeros((codes.max(initial=-1) + 1, sums.shape[2]))
    np.add.at(swap, codes, sums[shared, 1] - sums[shared, 0])
    base, alone, mine = sums[shared, 0].sum(axis=0), sums[~shared].sum(axis=1), judged[~shared, 0]
    kind = facts["system"].to_numpy()
    if METHODS[pair.one.key[1]].unit == "pair":
        kind = np.array(["\x1f".join(sorted(p)) for p in zip(facts["system"], facts["system_b"], strict=True)])

    def draw(rng: np.random.Generator, k: int) -> np.ndarray:
        first = base + rng.integers(0, 2, (k, len(swap))).astype(float) @ swap
        return first + _subsets(rng, k, kind[~shared], mine) @ alone

    return base + mine @ alone, draw


def _exchange_annotators(pair: _Pair) -> tuple[np.ndarray, Callable, np.ndarray | None]:
    """The same with whole annotators exchanged; the sums of all arrangements where these are few."""
    scores, (a, _) = pair.scores, pair.groups
    names, sums = unit_sums(scores, scores["annotator"].to_numpy(), pair.groups, pair.one.systems)
    work = sums.sum(axis=1).reshape(len(names), -1)
    mine = scores.drop_duplicates("annotator").set_index("annotator")["group"].loc[names].eq(a).to_numpy()
    n, n_mine, exact = len(names), int(mine.sum()), None
    if comb(n, n_mine) <= EXACT_LIMIT:
        masks = np.zeros((comb(n, n_mine), n))
        for row, chosen in zip(masks, combinations(range(n), n_mine), strict=True):
            row[list(chosen)] = 1.0
        exact = masks @ work
    return mine @ work, lambda rng, k: _subsets(rng, k, np.zeros(n), mine) @ work, exact


def _test(pair: _Pair, exchange: str, block: str, rng: np.random.Generator, n: int) -> Permutation | str:
    """The permutation test of one analysis and two groups, or the reason why there is none."""
    exact = None
    if exchange == "annotator":
        known = pair.scores.get("annotator_known")
        people = pair.scores.groupby("group")["annotator"].nunique().reindex(list(pair.groups), fill_value=0)
        if known is not None and not known.all():
            return "annotators are positions, not people"
        if people.min() < 2:
            return f"{people.idxmin()} has {people.min()} annotator: the group cannot be told from the person"
        first, draw, exact = _exchange_annotators(pair)
    else:
        first, draw = _exchange_judgements(pair, block)
    width = len(pair.scores)

    def permute(rng: np.random.Generator, k: int) -> np.ndarray:
        sizes = [len(part) for part in np.array_split(range(k), -(-k * width // CHUNK))]
        return np.concatenate([pair.difference(draw(rng, size)) for size in sizes])

    return permutation_test(
        pair.difference(first[None])[0],
        permute,
        rng=rng,
        n_permutations=n,
        alternative="greater",
        exact=None if exact is None else pair.difference(exact),
    )


def _subsets(rng: np.random.Generator, k: int, kind: np.ndarray, mine: np.ndarray) -> np.ndarray:
    """(k, n) 0/1: random subsets with as many of each kind as `mine` has."""
    out = np.zeros((k, len(mine)))
    for value in np.unique(kind):
        at = np.flatnonzero(kind == value)
        n = int(mine[at].sum())
        if n:
            chosen = np.argpartition(rng.random((k, len(at))), n - 1, axis=1)[:, :n]
            out[np.arange(k)[:, None], at[chosen]] = 1.0
    return out


def _null_rows(one: Analysis, pair: tuple[str, str], exchange: str, test) -> list[dict]:
    names = {p: one.row("group_difference_null", *pair, exchange=exchange, point=p) for p in ("mean", "q95")}
    row = one.row("group_difference_test", *pair, exchange=exchange)
    if isinstance(test, str):
        return [{**r, "estimate": np.nan, "note": test} for r in (*names.values(), row)]
    defined = test.null[np.isfinite(test.null)]
    reason = None if len(defined) and np.isfinite(test.observed) else "an effect is undefined on these data"
    points = (np.mean(defined), np.quantile(defined, 0.95)) if len(defined) else (np.nan, np.nan)
    out = [{**r, "estimate": v, "note": reason} for r, v in zip(names.values(), points, strict=True)]
    how = f"{'all' if test.exact else 'random'} {len(test.null)} arrangements"
    out.append({**row, "estimate": test.observed, "p_value": test.p_value, "note": reason or how})
    return [{**r, "resample_unit": exchange, "n_undefined": test.n_undefined} for r in out]


def leave_one_annotator_out(
    annotations: pd.DataFrame,
    *,
    effect: str | None = None,
    groups: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
) -> pd.DataFrame:
    """The group difference without each annotator in turn: result rows `group_difference` with `without=<annotator>`.

    annotations : one annotation an item and group. Without its annotator an item is not judged by the group; no other
    annotation takes its place. Undefined values carry the reason. Checked against recomputing without the rows.
    """
    out = []
    for one in analyses(annotations, effect, groups, systems):
        names, sums = unit_sums(one.scores, one.scores["annotator"].to_numpy(), one.groups, one.systems)
        home = one.scores.drop_duplicates("annotator").set_index("annotator")["group"].loc[names]
        values = group_differences(pair_effects(sums.sum(axis=0) - sums, one.effect))
        for k, pair in enumerate(combinations(one.groups, 2)):
            head = one.row("group_difference", *pair)
            for i in np.flatnonzero(home.isin(pair)):
                keys = condition(effect=one.effect, resample="none", without=names[i])
                reason = None if np.isfinite(values[i, k]) else f"a system is left without judgements of {home.iloc[i]}"
                out.append({**head, "condition": keys, "estimate": values[i, k], "note": reason})
    return pd.DataFrame(out)


def over_picks(
    annotations: pd.DataFrame,
    *,
    seed: int,
    n_picks: int = 1_000,
    sides: str = "together",
    effect: str | None = None,
    groups: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Mean |effect| and group difference under other picks of one annotation an item.

    annotations : **all** annotations. sides : 'together', the two sides of a comparison take the same pick; or 'apart',
    each side its own, as the printed values of Finch et al. 2024 need it. Returns one row a pick: ANALYSIS, `pick`,
    `statistic`, `group`, `group_b`, `estimate`. Where a group has one annotation of every item all picks are the same.
    Checked by hand on a case with two picks, and against the range of the printed values.
    """
    if sides not in ("together", "apart"):
        raise ValueError(f"sides: expected 'together' or 'apart', found {sides!r}")
    out = []
    for one in analyses(annotations, effect, groups, systems):
        rng = generator(seed, "over_picks", *one.key)
        item = one.scores["item" if sides == "together" else "dialogue"]
        units = one.scores["group"] + "\x1f" + item + "\x1f" + one.scores["annotator"]
        names, sums = unit_sums(one.scores, units.to_numpy(), one.groups, one.systems)
        items = pd.Series(names).str.rsplit("\x1f", n=1).str[0].factorize()[0]
        chosen = np.zeros((n_picks, len(names)))
        order = np.argsort(items + rng.random((n_picks, len(names))), axis=1)  # items stay together, shuffled within
        first = np.flatnonzero(np.diff(items[order[0]], prepend=-1))
        chosen[np.arange(n_picks)[:, None], order[:, first]] = 1.0
        cells = (chosen @ sums.reshape(len(names), -1)).reshape(n_picks, len(one.groups), len(one.systems), 3)
        effects = pair_effects(cells, one.effect)
        values = np.concatenate([np.abs(effects).mean(axis=-1), group_differences(effects)], axis=1)
        labels = [("mean_absolute_effect", g, None) for g in one.groups]
        labels += [("group_difference", *p) for p in combinations(one.groups, 2)]
        for (statistic, group, group_b), column in zip(labels, values.T, strict=True):
            head = {**dict(zip(ANALYSIS, one.key, strict=True)), "statistic": statistic}
            head |= {"group": group, "group_b": group_b}
            out.append(pd.DataFrame({**head, "pick": range(n_picks), "estimate": column}))
    return pd.concat(out, ignore_index=True)
