"""Notebook 08: what Finch et al. 2024 print, by their own pick of one annotation per item.

A printed value that depends on an unknown pick can only be compared with the range over many picks. A wide range
contains almost anything, so it is reported with the share of printed values of *other* labels that also lie inside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from compendium.published import comparison, numbers
from compendium.published.mapping import title
from compendium.simulation.truth import truth
from judgebook.annotations.picks import pick_as_published
from judgebook.annotations.summary import in_scope
from judgebook.display import cells
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose, Section, Table
from judgebook.questions.agreement.coincidences import terms
from judgebook.questions.agreement.items import first_annotations, matrix, without_weights
from judgebook.questions.groups import analysis
from judgebook.questions.groups.analysis import alpha_between, alpha_within, group_counts
from judgebook.questions.groups.effects import KEY, LabelScores, for_each_label, over_pairs
from judgebook.questions.groups.permutation_null import permutation_null
from judgebook.questions.groups.question import GroupEffects
from judgebook.questions.groups.views import by_place, ordered
from judgebook.statistics.intervals import Sampling, generator
from judgebook.study.labels import METHODS, Label
from judgebook.study.params import Study
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations
from judgebook.study.sections.data import Scope, Simulate
from judgebook.study.store import Run

#: numbers that one chunk of picks may hold at once
CHUNK = 1_000_000


def picked_effects(one: LabelScores, *, seed: int, n_picks: int = 1_000) -> np.ndarray:
    """Mean |effect| of each group and difference of each pair of groups under other picks of one annotation per item,
    each side of a comparison with a pick of its own, as the printed values need it.

    one : of **all** annotations. Returns (picks, groups + pairs of groups). Where a group has one annotation of every
    item all picks are the same.
    """
    rng = generator(seed, "over_picks", *one.key)
    scores = one.scores
    scores = scores.assign(unit=scores["group"] + "\x1f" + scores["dialogue"] + "\x1f" + scores["annotator"])
    names, sums = LabelScores(one.key, scores, one.groups, one.systems, one.effect).sums("unit")
    items = pd.Series(names).str.rsplit("\x1f", n=1).str[0].factorize()[0]
    first, size, out = np.flatnonzero(np.diff(items, prepend=-1)), max(1, CHUNK // len(names)), []
    # the one annotation of an item is in every pick; of several, most sums of each are 0
    rows, several = sums.reshape(len(names), -1), np.diff(np.r_[first, len(names)]) > 1
    varying, always = several[items], rows[first[~several]].sum(axis=0)
    place, columns = np.cumsum(varying) - 1, sparse.csr_array(rows[varying].T)
    for k in (min(size, n_picks - start) for start in range(0, n_picks, size)):
        chosen = np.zeros((k, columns.shape[1]))
        order = np.argsort(items + rng.random((k, len(names))), axis=1)  # items stay together, shuffled within
        np.put_along_axis(chosen, place[order[:, first[several]]], 1.0, axis=1)
        cells = always + (columns @ chosen.T).T
        out.append(over_pairs(cells.reshape(k, len(one.groups), len(one.systems), 3), one.effect))
    return np.concatenate(out)


def effect_ranges(one: LabelScores, *, seed: int, n_picks: int) -> Iterator[dict[str, Any]]:
    """Mean and range of `picked_effects`: `mean_absolute_effect` and `group_difference` with `over` of picks."""
    values = picked_effects(one, seed=seed, n_picks=n_picks)
    for (statistic, group, group_b), column in zip(one.means, values.T, strict=True):
        head = dict(zip(KEY, one.key, strict=True)) | {"level": METHODS[one.key[1]].unit, "statistic": statistic}
        keys = {"group": group, "group_b": group_b, "over": "picks", "sides": "apart"}
        yield head | keys | value_range(column, "an effect is undefined on these data")


def value_range(values: np.ndarray, reason: str) -> dict[str, Any]:
    """Mean and range of the values that are defined, as columns of a result row; `reason` : why none is."""
    defined = values[np.isfinite(values)]
    if not len(defined):
        return {"ci_kind": "not_estimable", "n_undefined": len(values), "note": reason}
    ends = {"estimate": defined.mean(), "ci_low": defined.min(), "ci_high": defined.max(), "ci_kind": "range"}
    return ends | {"n_undefined": len(values) - len(defined)}


def alpha_ranges(
    annotations: Annotations, labels: Sequence[Label], group: str, group_b: str, *, seed: int, n_picks: int = 1_000
) -> Iterator[dict[str, Any]]:
    """Mean and range over picks of alpha between two groups, one annotation of each: rows of `alpha`.

    annotations : **all** annotations. Labels of which no item was judged by people of both groups are left out.
    """
    by_key = {(x.method, x.id): x for x in labels}
    of_pair = first_annotations(annotations[annotations["group"].isin([group, group_b])], first=None)
    for key, rows in of_pair.groupby(KEY, sort=False):
        wide = [matrix(rows[rows["group"] == g]) for g in (group, group_b)]
        shared, label = wide[0].index.intersection(wide[1].index), by_key[key[1:]]
        if shared.empty:
            continue
        rng = generator(seed, "alpha_over_picks", *key, group, group_b)
        values = _alphas([w.loc[shared].to_numpy() for w in wide], label, rng, n_picks)
        head = dict(zip(KEY, key, strict=True)) | {"statistic": "alpha", "level": METHODS[label.method].unit}
        head |= {"group": group, "group_b": group_b, "n": len(shared), "measurement": label.level}
        keys = {"raters": "one_each", "kind": "human", "over": "picks"}
        yield head | keys | value_range(values, "all values are equal")


def _alphas(values: list[np.ndarray], label: Label, rng: np.random.Generator, n: int) -> np.ndarray:
    """Alpha of n picks. values : for each of two groups (items, annotations), NaN behind the last annotation."""
    mirrored = METHODS[label.method].unit == "pair"
    distinct = np.unique(np.concatenate([v[np.isfinite(v)] for v in values]))
    kinds = np.unique(np.r_[distinct, -distinct]) if mirrored else distinct
    v, code = len(kinds), np.zeros((n, len(values[0])), dtype=int)
    for judged in values:
        m = np.isfinite(judged).sum(axis=1)
        chosen = np.floor(rng.random((n, len(judged))) * m).astype(int)
        code = code * v + np.searchsorted(kinds, judged[np.arange(len(judged)), chosen])
    weights = np.stack([np.bincount(row, minlength=v * v) for row in code])
    one = np.eye(v, dtype=int)
    t = terms((one[:, None] + one[None]).reshape(-1, v), kinds, label.level, mirrored=mirrored)
    with np.errstate(divide="ignore", invalid="ignore"):
        return t.measures(weights @ t.rows)["alpha"]


_PHRASES = Phrases(__package__)


#: panels of the printed tables of Finch et al. 2024 -> methods
PANELS = {"likert": "dialogue_likert", "pairwise": "comparative"}


def inside(printed: pd.DataFrame, results: Results) -> pd.DataFrame:
    """Whether printed values of Finch et al. 2024 lie inside the range over picks, and how often wrong ones do.

    Parameters
    ----------
    printed : DataFrame
        Of `published.numbers.load`. Table 3 has labels in columns, Table 4 in rows.
    results : Results
        With ranges over picks of `alpha` and `mean_absolute_effect` on the paper's scope.

    Returns
    -------
    The printed values that have a range, with `of` (alpha or effect), method, label, group, group_b, low, high, inside,
    and `wrong_inside`: the share of the printed values of other labels, by the same method and groups, that lie inside
    the same range. A value lies inside when a number that rounds to it does.
    """
    tables = {"alpha": ("Table 3", "row", "column"), "effect": ("Table 4", "column", "row")}
    cells = pd.concat(
        printed[printed["element"] == table].assign(of=of, groups=lambda f, g=g: f[g], label=lambda f, x=x: f[x])
        for of, (table, g, x) in tables.items()
    )
    out = cells.assign(method=cells["panel"].map(PANELS)).merge(_ranges(results), on=_CELL)
    half = numbers.tolerance(out["decimals"]) + 1e-9
    low, high = out["low"] - half, out["high"] + half
    out["inside"] = out["value"].between(low, high)
    same = out.groupby(["of", "method", "groups"])["value"]
    hits = [same.get_group(key).between(*ends).sum() for key, *ends in zip(_keys(out), low, high, strict=True)]
    others = same.transform("size") - 1
    return out.assign(wrong_inside=(np.array(hits) - out["inside"]) / others.where(others > 0))


def _keys(cells: pd.DataFrame) -> Iterator[tuple[str, str, str]]:
    return zip(cells["of"], cells["method"], cells["groups"], strict=True)


def _ranges(results: Results) -> pd.DataFrame:
    """The ends of each range over picks on the paper's scope, by the cell of a printed table."""
    frames = {"alpha": results.select("alpha", over="picks", scope="paper")}
    frames["effect"] = results.select("mean_absolute_effect", over="picks", scope="paper")
    rows = pd.concat([f.assign(of=of) for of, f in frames.items()])
    rows["groups"] = rows["group"].where(rows["group_b"].isna(), rows["group"] + "__" + rows["group_b"])
    rows = rows.rename(columns={"ci_low": "low", "ci_high": "high"}).dropna(subset=["low"])
    return rows[[*_CELL, "group", "group_b", "low", "high"]]


def wrong_inside(printed: pd.DataFrame, results: Results) -> pd.DataFrame:
    """The share of wrong values inside each range: a frame of rows of `wrong_inside`."""
    out = inside(printed, results).assign(statistic="wrong_inside", corpus="main", scope="paper")
    out = out.rename(columns={"wrong_inside": "estimate"})
    return out[["statistic", "corpus", "method", "label", "group", "group_b", "of", "scope", "estimate"]]


_CELL = ["of", "method", "label", "groups"]


def analyse(
    annotations: Annotations,
    labels: Sequence[Label],
    options: GroupEffects,
    scope: Scope | None,
    printed: pd.DataFrame,
    *,
    sampling: Sampling,
    pick_seed: int,
    permute_seed: int,
) -> Results:
    """Alpha between groups by the paper's own pick (`pick` is paper), on all data and on its scope (`scope` is paper).

    On its scope also: the permutation null of Figure 1, ranges over picks, alpha within groups (Table 3), counts (Table
    2), and how many wrong values lie inside the ranges.

    Tests are adjusted. printed : numbers of the paper. Other parameters as of the library's `analyse`.
    """
    annotations, parts = without_weights(annotations), list[Results]()
    frames: dict[str | None, Annotations] = {"paper": annotations}
    if scope:
        inside = in_scope(annotations, dialogues=scope.exclude_dialogues, sessions=scope.exclude_sessions)
        frames = {None: annotations, "paper": inside}
    for name, frame in frames.items():
        by_pair = pick_as_published(frame, comparisons="pair", seed=pick_seed, source_order=options.source_order)
        results = alpha_between(by_pair, labels, sampling)
        parts.append(Results({s: rows.assign(pick="paper", scope=name) for s, rows in results.items()}))
    exchanged = partial(permutation_null, seed=permute_seed, n_permutations=options.n_permutations)
    null = collect(for_each_label(exchanged, by_pair))
    ranges = partial(effect_ranges, seed=permute_seed, n_picks=options.n_picks)
    around = collect(
        Results({s: rows.assign(pick="paper") for s, rows in null.items()}),
        for_each_label(ranges, frame),
        *(
            alpha_ranges(frame, labels, a, b, seed=permute_seed, n_picks=options.n_picks)
            for a, b in combinations(sorted(frame["group"].unique()), 2)
        ),
        alpha_within(frame, labels, sampling),
        group_counts(frame),
    )
    around = Results({s: rows.assign(scope="paper") for s, rows in around.items()})
    return analysis.adjusted(collect(*parts, around, wrong_inside(printed, around)))


def picks_table(results: Results, printed: pd.DataFrame) -> Table:
    """Printed values that depend on a random pick, with the range over picks."""
    rows = inside(printed, results)
    out = rows[["element", "panel", "row", "column", "printed"]].rename(columns=str.capitalize)
    for side in ("panel", "row", "column"):
        out[side.capitalize()] = [title(*key) for key in zip(rows["paper"], rows[side], strict=True)]
    out["Range over picks"] = cells.ranges(rows[["low", "high"]])
    out["Inside"] = rows["inside"]
    out["Other labels inside"] = cells.percents(rows["wrong_inside"])
    return Table(out, "picks", "Printed values that depend on a random pick, and their range over picks.")


def over_picks(results: Results, printed: pd.DataFrame, study: Study) -> Prose:
    """What it proves that printed values lie inside the range over picks, and what was inferred about the data."""
    rows = inside(printed, results)
    free = rows[rows["high"] > rows["low"]]
    facts = {"n": len(rows), "free": len(free), "inside": int(free["inside"].sum())}
    inferred = [(g.title or key, g.note) for key, g in study.groups.items() if g.fitted]
    inferred += [("Scope", study.scope.note)] if study.scope else []
    return Prose(_PHRASES.say("over_picks", **facts, wrong=free["wrong_inside"].mean(), inferred=inferred))


def figure_one(results: Results, names: DisplayNames, confidence: float) -> Prose:
    """What Figure 1 shows compared with chance."""
    rows = ordered(analysis.differences(results, confidence, scope="paper", pick="paper"), names)
    beyond = rows[rows["exceeds"].fillna(False)]
    facts = {"n": len(rows), "n_beyond": len(beyond), "beyond": by_place(beyond, rows, names)}
    facts["limits"] = list(rows["null_q95"].dropna())
    facts["significant"] = int((rows["p_adjusted"] < 1 - confidence).sum())
    return Prose(_PHRASES.say("figure_one", **facts, above=[int((rows["estimate"] > x).sum()) for x in (0.4, 0.2)]))


def _recovered(rows: pd.DataFrame, simulate: Simulate, level: float) -> dict[str, Any]:
    """How many differences are found where there is none in truth, and where there is one."""
    true = pd.DataFrame(truth(simulate)["group_differences"])
    keys = ["method", "label", "pair"]
    rows, true = (
        f.assign(pair=["/".join(sorted(p)) for p in zip(f["group"], f["group_b"], strict=True)]) for f in (rows, true)
    )
    rows = rows.dropna(subset="p").merge(true[[*keys, "difference", "null"]], on=keys)
    out = {"median": rows.loc[~rows["null"], "difference"].median()}
    for name, part in (("null", rows[rows["null"]]), ("real", rows[~rows["null"]])):
        out[name] = {"n": len(part), "beyond": int((part["p"] < level).sum())}
        out[name]["significant"] = int((part["p_adjusted"] < level).sum())
    return out


def recovered(results: Results, names: DisplayNames, simulate: Simulate, confidence: float) -> Prose:
    """Whether a simulation's truth was found."""
    rows = ordered(analysis.differences(results, confidence), names)
    return Prose(_PHRASES.say("groups_recovered", level=1 - confidence, **_recovered(rows, simulate, 1 - confidence)))


def views(results: Results, run: Run, names: DisplayNames) -> Section:
    """Printed values and those of the study, with ranges over picks where it names the paper."""
    yield comparison.views(results, run, "Printed agreement and effect sizes, and those of this study.")
    if run.study.group_effects.paper:
        printed = numbers.load(run.study.group_effects.paper)
        yield picks_table(results, printed)
        yield over_picks(results, printed, run.study)
        yield figure_one(results, names, run.study.bootstrap.confidence)
