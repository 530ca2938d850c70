"""How results of notebook 07 are put in order and named, in figures, tables and findings alike."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from judgebook.annotations.scores import sampling_weights, sides, weighted
from judgebook.annotations.summary import evaluated, evaluations
from judgebook.codes import distinct
from judgebook.codes import rows as rows_of
from judgebook.display.many import DRAWN, MANY, MOST
from judgebook.display.names import DisplayNames
from judgebook.questions.performance import davidson, leading
from judgebook.questions.performance.analysis import chosen, of_wins
from judgebook.questions.performance.fitted import BLOCK, standardised
from judgebook.questions.quality_control.worker_tests import of_those_who_passed
from judgebook.study.labels import METHODS
from judgebook.study.params import Study
from judgebook.study.results import Results
from judgebook.study.schema import Annotations
from judgebook.study.store import Run

NO_RESULTS = Results()
#: with more systems than this, those with the highest estimates are named
CROWDED = 15
#: marks of labels of which less is better, or that have no direction
SIGNS = {-1: " ↓", 0: " ○", 1: ""}
DIRECTIONS = {-1: "Less is better", 0: "Neither good nor bad, or not declared", 1: "More is better"}


def weights(results: Results) -> str:
    """What a caption says of sampling weights; empty without."""
    return " Estimates are weighted by sampling weights." if len(results["unweighted"]) else ""


def clusters(rates: pd.DataFrame) -> str:
    """What the primary intervals of `two_intervals` treat as samples, in words."""
    kinds = sorted(rates["interval"].unique(), key=len)
    return " or ".join(" and ".join(f"{unit}s" for unit in kind.split(" and ")) for kind in kinds)


def what(names: DisplayNames, method: str, statistic: str) -> str:
    """What an axis or a caption says of a statistic by one method."""
    titles = {
        "rate": f"share of {METHODS[method].unit}s",
        "mean": "mean rating",
        "share": "share won, and tied (light)",
    }
    return f"{names.name('method', method)}: {titles[statistic]}"


def of_many(arranged: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Of more than MOST systems the first and last in the order of figures, DRAWN in all, and what a caption says of
    that."""
    order = list(dict.fromkeys(arranged["system"]))
    if len(order) <= MOST:
        return arranged, ""
    half = DRAWN // 2
    drawn = arranged[arranged["system"].isin([*order[:half], *order[-half:]])]
    return drawn, f" Of {len(order)} systems the first {half} and the last {half} are drawn; all are in the table."


def of_many_labels(arranged: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Of more than MOST labels the DRAWN on which systems differ most, and what a caption says of that.

    Differences of a label are the standard deviation of its estimates over the median width of their intervals.
    """
    if arranged["label"].nunique() <= MOST:
        return arranged, ""
    widths = (arranged["ci_high"] - arranged["ci_low"]).groupby(arranged["label"]).median()
    size = arranged.groupby("label")["estimate"].std() / widths.where(widths > 0)
    clearest = size.nlargest(DRAWN).index
    note = f" Of {len(size)} labels the {len(clearest)} are drawn on which systems differ most,"
    note += " relative to the width of CIs."
    return arranged[arranged["label"].isin(clearest) | arranged["label"].isna()], note


def part_names(rows: pd.DataFrame, names: DisplayNames) -> pd.Series:
    """What distinguishes the parts of one figure: the corpus and the group, whichever differ."""
    group = pd.Series([names.name("group", g) for g in rows["group"]], index=rows.index, dtype=object)
    if len(set(rows["corpus"])) == 1:
        return group
    corpus = pd.Series([names.name("corpus", c) for c in rows["corpus"]], index=rows.index, dtype=object)
    return corpus + ", " + group if len(set(rows["group"])) > 1 else corpus


def arrange(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """Rows of one method with `panel`, `block` and `hue`, as `grid_plots.grid_figure` needs them.

    With up to MANY systems: parts (groups, corpora), labels, systems; one part with many labels is split by direction.
    With more systems: labels by parts, side by side, and systems.
    """
    rows = within_scale(names.sort(rows), names).assign(part=lambda f: part_names(f, names))
    keys = list(zip(rows["method"], rows["label"], strict=True))
    direction, label = ([getattr(names.labels[key], c) for key in keys] for c in ("direction", "title"))
    system = [names.name("system", s) for s in rows["system"]]
    marked = [title + SIGNS[d] for title, d in zip(label, direction, strict=True)]
    several = len(set(rows["part"])) > 1
    if rows["system"].nunique() > MANY:
        panel = [f"{part}: {label}" for label, part in zip(marked, rows["part"], strict=True)] if several else marked
        return _filled(rows.assign(panel=panel, block=system, hue=""))
    if not several and len(set(direction)) > 1 and len(set(label)) > 8:
        other = DIRECTIONS[1] + (", or neither (○)" if 0 in direction else "")
        panel = [DIRECTIONS[-1] if d < 0 else other for d in direction]
        block = [title if d else title + SIGNS[0] for title, d in zip(label, direction, strict=True)]
        return rows.assign(panel=panel, block=block, hue=system).sort_values("panel", kind="stable")
    return _padded(rows.assign(panel=rows["part"] if several else "", block=marked, hue=system))


def _filled(rows: pd.DataFrame) -> pd.DataFrame:
    """`rows` with empty ones for systems that a panel lacks, so that panels share their names."""
    known = rows.drop_duplicates(["panel", "block"]).groupby("panel", sort=False)["label"].first()
    blocks = list(dict.fromkeys(rows["block"]))
    places = pd.MultiIndex.from_product([list(known.index), blocks], names=["panel", "block"])
    out = rows.set_index(["panel", "block"]).reindex(places).reset_index().fillna({"ci_kind": "", "hue": ""})
    system = dict(zip(rows["block"], rows["system"], strict=True))
    return out.assign(label=out["panel"].map(known), system=out["block"].map(system))


def within_scale(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """Intervals of means cut at the ends of the scale: Student's t of two ratings would fill the axis."""
    if "statistic" not in rows or not (means := (rows["statistic"] == "mean").to_numpy()[:, None]).any():
        return rows
    scales = np.array([names.labels[key].scale for key in zip(rows["method"], rows["label"], strict=True)])
    low, high = np.where(means, scales, [-np.inf, np.inf]).T
    return rows.assign(**{c: rows[c].clip(low, high) for c in ("ci_low", "ci_high", "light_low", "light_high")})


def _padded(rows: pd.DataFrame) -> pd.DataFrame:
    """`rows` with empty ones, so that all panels have the same blocks and hues."""
    pairs = [(block, hue) for block, part in rows.groupby("block", sort=False) for hue in part["hue"].unique()]
    every = [(panel, *pair) for panel in rows["panel"].unique() for pair in pairs]
    places = pd.MultiIndex.from_tuples(every, names=["panel", "block", "hue"])
    return rows.set_index(places.names).reindex(places).reset_index().fillna({"ci_kind": ""})


def one_axis(rows: pd.DataFrame) -> bool:
    """Whether the panels of `arrange`d rows can share an axis: those of parts can, those of labels differ in scale."""
    return rows["system"].nunique() <= MANY and not set(rows["panel"]) & set(DIRECTIONS.values())


def median_effects(results: Results, names: DisplayNames) -> pd.DataFrame:
    """Median, smallest and largest design effect over labels and systems, by method, part and kind of cluster."""
    rows = names.sort(of_wins(results["design_effect"]))
    keys = ["corpus", "method", "group", "unit"]
    value = rows.groupby(keys, sort=False)["estimate"].agg(estimate="median", ci_low="min", ci_high="max")
    return _same_people(value.join(rows.groupby(keys)["n_clusters"].median().round().astype(int)).reset_index())


def _same_people(rows: pd.DataFrame) -> pd.DataFrame:
    """Of equal rows by annotator and by interactor, who are then the same people, one."""
    note = rows["unit"].isin(["annotator", "interactor"])
    values = [c for c in rows if c != "unit"]
    twice = note & rows.assign(said=note).duplicated([*values, "said"], keep=False)
    unit = rows["unit"].mask(twice & (rows["unit"] == "annotator"), "annotator, who is the interactor")
    return rows.assign(unit=unit)[~(twice & (rows["unit"] == "interactor"))].reset_index(drop=True)


def any_clustering(results: Results) -> bool:
    """Whether any design effect is not 1."""
    return bool((results["design_effect"]["estimate"].dropna() - 1).abs().gt(0.02).any())


def best_first(names: DisplayNames, run: Run) -> DisplayNames:
    """`names` with systems in the order of `by_score`: what a notebook shows."""
    return in_order(names, run.study, run.read("annotations"))


def in_order(
    names: DisplayNames, study: Study, annotations: Annotations, results: Results = NO_RESULTS
) -> DisplayNames:
    """`names` with systems in the order of the fit in `results` of notebook 07, of `by_score` where it has none;
    colours, and the order of analyses, stay as they are."""
    return names.in_order("system", by_fit(results, annotations) or by_score(study, annotations))


def by_fit(results: Results, annotations: Annotations) -> list[str]:
    """Ids of the ranked systems from best to worst as the first leader board has them: by the overall order of the main
    evaluation, by its only label or, without either, by its first label with a direction. Empty without a fit."""
    if not results:
        return []
    parts = evaluations(evaluated(annotations))
    rows = leading.order(results, parts)
    rows = rows if len(rows) else leading.rankings(results, parts)
    first = rows.groupby([*leading.PART, "label"], sort=False, dropna=False).ngroup() == 0
    return list(rows.loc[first, "system"])


def by_score(study: Study, annotations: Annotations) -> list[str]:
    """Ids of the ranked systems from best to worst, by plain means, for notebooks that are drawn before there is a fit,
    which takes too long to be made in each: by the overall mean of the main evaluation or, without one, by its first
    label with a direction.

    annotations : of the study, all or those of the evaluation. Empty where nothing orders systems.
    """
    everybody, labels = evaluated(annotations), study.label_list()
    people = of_those_who_passed(everybody, labels, study.control_system, study.quality_control)
    judged = chosen(people, study.unranked_systems, labels)
    judged = rows_of(judged, ~judged[["system", "system_b"]].isin(list(study.unranked_systems)).any(axis=1))
    signs, wanted = {(x.method, x.id): x.direction for x in labels}, study.performance.overall
    for corpus, group, method in evaluations(everybody):
        part = judged[(judged[BLOCK] == [corpus, method, group]).all(axis=1)]
        signed = [(rows, signs.get((method, label), 0)) for label, rows in part.groupby("label", sort=False)]
        signed = [(rows, sign) for rows, sign in signed if sign]
        entering = [(rows, sign) for rows, sign in signed if wanted == "all" or rows["label"].iloc[0] in wanted]
        scores = list(_standardised(entering, distinct(part["system"], part["system_b"])))
        if len(scores) < 2:
            scores = [s for s in (_scores(*one) for one in signed) if len(s) > 1][:1]
        if scores:
            means = pd.concat(scores, axis=1).mean(axis=1).sort_index()
            return list(means.index[np.argsort(-means.to_numpy(), kind="stable")])
    return []


def _standardised(signed: list[tuple[Annotations, int]], systems: set[str]) -> Iterator[pd.Series]:
    """Means of each label that varies and has all systems, at least two, in standard deviations of its items."""
    for rows, sign in signed:
        one = standardised(system_scores(rows), sign)
        if one is not None and set(one["system"]) == systems and len(systems) > 1:
            yield _means(one)


def _scores(rows: Annotations, sign: int) -> pd.Series:
    """Strengths of systems that were compared, or win rates where these do not exist, and means of others; more is
    better."""
    if rows["system_b"].notna().all():
        strengths = davidson.point(rows, sampling_weights(rows))
        if strengths.notna().all():
            return sign * strengths
    return sign * _means(system_scores(rows))


def system_scores(rows: Annotations) -> pd.DataFrame:
    """A row per annotation and judged system, with `weight`; a comparison gives two, ties worth a half."""
    if METHODS[rows["method"].iloc[0]].unit != "pair":
        return weighted(rows)
    either_side = weighted(sides(rows))
    return either_side.assign(score=(either_side["score"] + 1) / 2)


def _means(scores: pd.DataFrame) -> pd.Series:
    totals = scores.assign(sum=scores["score"] * scores["weight"]).groupby("system")[["sum", "weight"]].sum()
    return totals["sum"] / totals["weight"]
