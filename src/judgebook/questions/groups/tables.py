"""Tables of notebook 08."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judgebook.display import cells, tables
from judgebook.display.names import DisplayNames
from judgebook.display.text import percent
from judgebook.display.views import Prose, Table
from judgebook.questions.groups.analysis import counted, differences
from judgebook.questions.groups.claims import OBJECTIVE, OTHER, SHARED
from judgebook.study.results import Results

_SIZES = {"evaluators_of_method": "Evaluators", "evaluated": "Evaluated once or twice"}
_SIZES |= {"doubly_annotated": "Evaluated twice"}
_UNDEFINED = "An effect size is undefined for these data."
ALL_PAIRS = "All pairs of groups"
_NO_PEOPLE = "Fewer than two annotators in a group, or annotators are positions."
#: of `claims.MEASURES`
_MEASURES = {"difference": "Difference, noise-corrected", "correlation": "Correlation"}
_NO_AGREEMENT = {
    "Difference, noise-corrected, annotators resampled": "Annotators are positions.",
    "Correlation": "Not more variation than noise.",
}
_WHY = {
    **dict.fromkeys(("Difference", "Expected by chance", "Noise-corrected", "Smallest margin"), _UNDEFINED),
    **dict.fromkeys(("p, annotators (Holm)", "Without one annotator"), _NO_PEOPLE),
}


def ordered(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """Rows by method and label, single groups before pairs of groups, with `groups`, the display names of both."""
    pairs = [[g for g in pair if isinstance(g, str)] for pair in zip(rows["group"], rows["group_b"], strict=True)]
    pairs = [sorted(pair, key=lambda g: names.position("group", g)) for pair in pairs]
    titles = [" / ".join(names.name("group", g) for g in pair) or ALL_PAIRS for pair in pairs]
    place = [(len(pair), *(names.position("group", g) for g in pair)) for pair in pairs]
    rows = rows.assign(groups=titles, place=place).sort_values("place", kind="stable")
    return rows.loc[names.sort(rows.drop(columns="group")).index]


def named(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """Corpus (where several), method, label and groups of `ordered` rows, as readers know them."""
    return names.named(rows[["corpus", "method", "label"]]).assign(Groups=rows["groups"])


def who_judged(results: Results, names: DisplayNames, payments: Mapping[str, Mapping], currency: str) -> Table:
    """Numbers of evaluators and evaluated dialogues or pairs, and payments, as Table 2 of Finch et al. 2024."""
    counts = results.select("count", scope=None).dropna(subset="method")
    wide = names.sort(tables.pivot(counts, ["corpus", "group", "method"], "what", _SIZES))
    paid = [payments.get(g, {}).get(m) for g, m in zip(wide["group"], wide["method"], strict=True)]
    payment = f"Payment per work unit ({currency})"
    # payments that differ by task are not one number
    wide[payment] = pd.Series([p if isinstance(p, float) else None for p in paid], wide.index, dtype=float)
    why = {"Evaluators": "Annotators are positions in a list.", payment: "The YAML states none, or one per task."}
    caption = "Evaluators, and dialogues or pairs evaluated, for labels judged by at least two groups."
    return Table(names.named(wide), "groups", caption, why=why)


def compared(results: Results, names: DisplayNames, confidence: float) -> Table:
    """Every difference between groups with tests and robustness."""
    rows = ordered(differences(results, confidence), names)
    columns = {"null_mean": "Expected by chance", "null_q95": "95% chance limit", "p_adjusted": "p (Holm)"}
    out = named(rows, names).assign(Difference=tables.intervals(rows).where(rows["estimate"].notna()))
    out = out.join(rows[list(columns)].rename(columns=columns))
    out["p, annotators (Holm)"] = rows["p_people"]
    ends = {"estimate": rows["debiased"], "ci_low": rows["debiased_low"], "ci_high": rows["debiased_high"]}
    out["Noise-corrected"] = tables.intervals(pd.DataFrame(ends)).where(rows["debiased"].notna())
    out["Without one annotator"] = cells.ranges(rows[["without_low", "without_high"]])
    out["Smallest margin"] = rows["margin"]
    out["Verdict"] = rows["verdict"]
    ci = f"{percent(confidence)} CI over sessions"
    caption = f"Differences between groups ({ci}), the values expected by chance, and robustness."
    return Table(out, "differences", caption, {c: 3 for c in out if c.startswith("p")}, _WHY)


def conclusions(results: Results, names: DisplayNames, margin: float) -> Table | Prose:
    """Of how many pairs of systems two groups conclude the same, by method."""
    if results["conclusion_count"].empty:
        return Prose("Effect sizes of single pairs of systems are not given: there are none, or too many.")
    headings = {
        ("sign", "same"): "Same system better",
        ("sign", "contrary"): "Opposite systems",
        ("sign", "undecided"): "Not decided",
        ("size", "same"): f"Effects equivalent within ±{margin:g}",
        ("size", "contrary"): "Effects differ",
    }
    counts = {of: counted(results, of) for of in ("sign", "size")}
    methods = sorted(counts["sign"].index, key=lambda m: names.position("method", m))
    n = counts["sign"].sum(axis=1).astype(int)
    out = pd.DataFrame({"Method": [names.name("method", m) for m in methods], "Pairs of systems": n[methods].to_list()})
    for (of, verdict), heading in headings.items():
        shares = counts[of][verdict] / counts[of].sum(axis=1)
        out[heading] = cells.percents(shares.reindex(methods).reset_index(drop=True))
    caption = "Do two groups conclude the same of a pair of systems? Shares of pairs of systems, over labels and pairs"
    caption += " of groups. Not decided: at least one group finds no difference. CIs are over sessions: for"
    caption += " these annotators. By chance, 5% of effects differ."
    return Table(out, "verdicts", caption)


def by_method(results: Results, names: DisplayNames) -> Table:
    """How much groups differ under each of two methods, on the labels that both have, and the contrast."""
    caption = "Agreement of groups on effect sizes by method, over the labels that both methods have, with 95% CI."
    return Table(_robustness(results, names, [SHARED]), "by_method", caption, why=_NO_AGREEMENT)


def by_objectivity(results: Results, names: DisplayNames) -> Table:
    """How much groups differ on objective labels and on the others, and the contrast."""
    caption = "Agreement of groups on effect sizes, objective labels against the others (post hoc), with 95% CI."
    return Table(_robustness(results, names, [OBJECTIVE, OTHER]), "by_objectivity", caption, why=_NO_AGREEMENT)


def _robustness(results: Results, names: DisplayNames, labels: list[str]) -> pd.DataFrame:
    """A row for each side of a comparison and, below, one for their contrast."""
    parts = [results.select(s, labels=labels).assign(contrast=s) for s in ("robustness", "robustness_contrast")]
    rows = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    if rows.empty:
        return rows
    methods = zip(rows["method"], rows["against"], strict=True)
    rows["sides"] = [" ".join(sorted(x)) for x in methods] if SHARED in labels else rows["method"]
    rows = ordered(rows, names)
    keys = zip(*(rows[c] for c in ("contrast", "method", "labels", "against")), strict=True)
    rows["title"] = [side_title(names, *key) for key in keys]
    index, out = ["corpus", "sides", "groups", "title"], []
    for of, heading in _MEASURES.items():
        for resample, part in rows[rows["of"] == of].groupby("resample", sort=False):
            people = resample != "session"
            if of == "difference" or not people:
                values = tables.intervals(part.set_index(index))
                out.append(values.rename(heading + (", annotators resampled" if people else "")))
    wide = pd.concat(out, axis=1).reset_index()
    blocks = wide.groupby(["corpus", "sides", "groups"], sort=False).ngroup()
    wide = wide.loc[blocks.sort_values(kind="stable").index].drop(columns="sides")
    wide["corpus"] = [names.name("corpus", c) for c in wide["corpus"]]
    wide = wide.rename(columns={"corpus": "Corpus", "groups": "Groups", "title": "Method"})
    return wide if len(set(wide["Corpus"])) > 1 else wide.drop(columns="Corpus")


def side_title(names: DisplayNames, statistic: str, method: str, labels: str, against: str) -> str:
    """What a row of `robustness` or `robustness_contrast` is about: a method (and its labels), or one minus another."""
    method_name = names.name("method", method)
    contrast = statistic == "robustness_contrast"
    if labels == SHARED:
        return f"{method_name} − {names.name('method', against)}" if contrast else method_name
    return f"{method_name}, {labels}{f' − {against}' if contrast else ''}"


def extremes(results: Results, names: DisplayNames) -> Table:
    """Shares of scores at an end of the scale by group, on items on which two groups disagreed."""
    rows, index = ordered(results["extreme_share_difference"], names), ["corpus", "method", "group", "group_b"]
    shares = 100 * results["extreme_share"].set_index(index)["estimate"]
    pairs = list(zip(rows["group"], rows["group_b"], strict=True))
    out = names.named(rows[["corpus", "method"]])
    out["Groups"] = [" − ".join(names.name("group", g) for g in pair) for pair in pairs]
    out["Number"] = rows["n"]
    for heading, order in (("First", index), ("Second", [*index[:2], *index[:1:-1]])):
        out[heading] = shares.reindex(pd.MultiIndex.from_frame(rows[order].set_axis(index, axis=1))).to_numpy()
    values = 100 * rows[["estimate", "ci_low", "ci_high"]]
    out["Difference"] = tables.intervals(values, 0).where(values["estimate"].notna(), None)
    caption = "Scores at an end of the scale (%), on items that both groups rated and on which they disagreed."
    caption += " Difference: first minus second group, with 95% CI over sessions."
    return Table(out, "extremes", caption, 0, dict.fromkeys(("First", "Second", "Difference"), "No disagreement."))


def alphas(results: Results, names: DisplayNames) -> Table | Prose:
    """Alpha within and between groups."""
    # the primary analysis, with the interval over dialogues or pairs
    rows = results.select("alpha", resample=["dialogue", "pair"], scope=None, pick=None)
    rows = ordered(rows, names)
    if rows.empty:
        return Prose("No item was judged twice, within a group or by two groups.")
    out = named(rows, names).assign(Items=rows["n"].astype("Int64"), Alpha=tables.intervals(rows), Note=rows["note"])
    return Table(out, "alpha", "Krippendorff's alpha within and between groups, with 95% CI over dialogues or pairs.")
