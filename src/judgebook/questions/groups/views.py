"""What notebook 08 shows and says: figures, tables, and sentences, which `text.md.j2` puts into words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes

from judgebook.display import captions, cells, tables
from judgebook.display.grid_plots import DRAWN, ROW, filled, grid_figure, interval_keys, intervals, pages
from judgebook.display.names import BAD, GOOD, OPEN, DisplayNames
from judgebook.display.page import NotebookPage, Section
from judgebook.display.style import INK, handle
from judgebook.display.text import Phrases, percent, span
from judgebook.display.views import Plot, Prose, Table
from judgebook.questions.groups import analysis
from judgebook.questions.groups.analysis import BOTH, DIFFERS, counted
from judgebook.questions.groups.claims import OBJECTIVE, OTHER, SHARED
from judgebook.study.labels import METHODS
from judgebook.study.results import Results, where

GREY = "#C9C9C9"
_PHRASES = Phrases(__package__)
#: verdict on a difference -> colour, marker, words
_MARKS = {
    analysis.DIFFERS: (BAD, "o", "different (Holm)"),
    analysis.BOTH: (BAD, "D", "different, but within the margin (Holm)"),
    analysis.EQUIVALENT: (GOOD, "s", "equivalent within the margin (Holm)"),
    analysis.UNDECIDED: (OPEN, "o", "inconclusive"),
    analysis.UNTESTED: (OPEN, "x", "no test"),
}


def differences(results: Results, names: DisplayNames, confidence: float, margin: float) -> Iterator[Plot]:
    """Differences between groups and those expected by chance: figures of each corpus."""
    rows = analysis.differences(results, confidence)
    for name, part in _by(rows, names, ["corpus"], "differences"):
        heading = title(part)
        yield from (replace(plot, title=heading) for plot in _differences(part, names, name, confidence, margin))


def title(rows: pd.DataFrame) -> str:
    """How many differences are shown, and how many are small. rows : with `verdict`."""
    tested = rows.loc[rows["verdict"] != analysis.UNTESTED, "verdict"]
    same = int(tested.isin([analysis.EQUIVALENT, analysis.BOTH]).sum())
    differ = int(tested.isin([analysis.DIFFERS, analysis.BOTH]).sum())
    return _PHRASES.say("differences_title", n=len(tested), differ=differ, same=same)


def _differences(
    rows: pd.DataFrame, names: DisplayNames, name: str, confidence: float, margin: float
) -> Iterator[Plot]:
    rows = ordered(rows, names)
    label = [names.name("label", x, m) for x, m in zip(rows["label"], rows["method"], strict=True)]
    method = [names.name("method", m) for m in rows["method"]]
    rows = rows.assign(block=label, panel=rows["groups"])
    if rows["groups"].nunique() > rows["block"].nunique():
        rows = rows.assign(block=rows["groups"], panel=label)
    rows["panel"] = [f"{m}: {title}" for m, title in zip(method, rows["panel"], strict=True)]
    verdicts = [v for v in _MARKS if v in set(rows["verdict"])]

    def paint(ax: Axes, part: pd.DataFrame, *_: str) -> None:
        y = part["y"]
        ax.barh(y, part["null_q95"].fillna(0), 0.85 * ROW, color=GREY, alpha=0.55)
        ax.plot(part["null_mean"], y, "|", color="#6B6B6B", markersize=5, markeredgewidth=1.2)
        ax.hlines(y + 0.35 * ROW, part["debiased_low"], part["debiased_high"], color=INK, linewidth=0.8)
        ax.plot(part["debiased"], y + 0.35 * ROW, "d", color=INK, markersize=2.4)
        for verdict, of_verdict in part.groupby("verdict", sort=False):
            ax.plot(of_verdict["estimate"], of_verdict["y"], linewidth=0, markersize=3.8, **_style(verdict))
        ax.axvline(margin, color=INK, linewidth=0.6, linestyle=(0, (3, 2)))

    light = f"noise-corrected, {percent(confidence)} CI"
    keys = [handle(_MARKS[v][2], linewidth=0, **_style(v)) for v in verdicts]
    keys += [
        mpl.patches.Patch(color=GREY, alpha=0.55, label="95% chance limit"),
        handle("expected by chance", "#6B6B6B", "|", linewidth=0),
        handle(light, INK, "d", linewidth=0.8),
        handle(f"margin {margin:g}", INK, "", linewidth=0.6, linestyle=(0, (3, 2))),
    ]
    caption = (
        "Large marks: mean over pairs of systems of the absolute difference between the effect sizes of two groups"
    )
    caption += f" of annotators ({captions.sample(rows['n'], 'scores')}), coloured by verdict. Grey bars: differences"
    caption += " that groups formed at random stay below with 95% probability; their mean is the upright line."
    caption += f" Diamonds and lines: the difference without noise, {percent(confidence)} CI over sessions."
    # a row for each label: a verdict is a colour, no row of its own
    placed = rows.assign(hue="")
    for suffix, page in pages(placed, columns=3, around=1.7):
        xlabel = "Mean absolute difference of effect sizes"
        fig = grid_figure(page, paint, xlabel=xlabel, columns=3, sharex=True, keys=keys)
        counts = page["verdict"].value_counts()
        methods = dict.fromkeys(names.name("method", m) for m in page["method"])
        of = f"{', '.join(methods)}. " if len(set(rows["method"])) > 1 else ""
        alt = f"{of}{len(page)} differences between groups by label{_spanned(page)}; verdicts: "
        alt += ", ".join(f"{_MARKS[v][2]} {counts[v]}" for v in verdicts if v in counts)
        unit = "Mean absolute difference of effect sizes between two groups, over pairs of systems"
        yield Plot(fig, f"{name}{suffix}", f"{alt}.", of + caption, subtitle=unit)


def _style(verdict: str) -> dict[str, str]:
    color, marker, _ = _MARKS[verdict]
    return {"color": color, "marker": marker, "markerfacecolor": "white" if color == OPEN else color}


def effects(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Effect sizes of pairs of systems by label and group: figures of each corpus and method."""
    sizes = names.pairs(results["effect_size"])
    pairs = list(zip(sizes["system"], sizes["system_b"], strict=True))
    sizes["block"] = [names.pair_name(*pair) for pair in pairs]
    sizes["pair"] = [tuple(names.position("system", s) for s in pair) for pair in pairs]
    sizes["hue"] = [names.name("group", g) for g in sizes["group"]]
    sizes = names.sort(sizes.drop(columns="system").sort_values("pair", kind="stable"))
    for name, part in _by(sizes, names, ["corpus", "method"], "effects"):
        method = part["method"].iloc[0]
        xlabel = " and ".join(f"Cohen's {effect}" for effect in sorted(set(part["effect"])))
        pairs_of = "pairs of systems on whose effect sizes the groups differ most"
        shown, pairs_note = _most_contested(part, "block", pairs_of)
        shown, labels_note = _most_contested(shown, "label", "labels on which they do")
        caption = f"Marks: effect size ({xlabel}) of the difference between two systems, by label and by group of"
        caption += " annotators; above 0 the first system named is rated higher."
        over = captions.intervals(names.ci, "sessions", part["n_clusters"])
        caption = captions.joined(caption, over, captions.joined(pairs_note, labels_note))
        keys = interval_keys(f"{names.ci} over sessions", None, shown)
        shown = shown.assign(panel=[names.name("label", x, method) for x in shown["label"]])
        order = list(shown.drop_duplicates("block").sort_values("pair", kind="stable")["block"])
        for suffix, page in pages(filled(shown, order)):
            fig = grid_figure(
                page, intervals, names=names, xlabel=xlabel, reference=0, named="no difference", sharex=True, keys=keys
            )
            alt = f"{xlabel} by label, {names.name('method', method)}: {page['estimate'].notna().sum()} values with"
            yield Plot(fig, f"{name}{suffix}", f"{alt} intervals{_spanned(page)}.", caption)


def _most_contested(rows: pd.DataFrame, column: str, which: str) -> tuple[pd.DataFrame, str]:
    """Of many pairs of systems, or labels, those on which the groups differ most, and what a caption says of them."""
    if (total := rows[column].nunique()) <= DRAWN:
        return rows, ""
    spread = rows.groupby(["block", "label"])["estimate"].agg(lambda v: v.max() - v.min())
    most = spread.groupby(column).mean().nlargest(DRAWN).index
    return rows[rows[column].isin(most)], captions.chosen(len(most), total, which)


def _by(rows: pd.DataFrame, names: DisplayNames, columns: list[str], stem: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """The part of each figure, and the figure's name: with the method, and the number of the corpus from the second."""
    corpora = list(dict.fromkeys(rows["corpus"]))
    for (corpus, *method), part in rows.groupby(columns, sort=False):
        number = [f"corpus{corpora.index(corpus) + 1}"] if corpus != corpora[0] else []
        yield "_".join([stem, *number, *map(names.stem, method)]), part


def _spanned(rows: pd.DataFrame) -> str:
    estimates = rows["estimate"].dropna()
    return f" from {span(estimates)}" if len(estimates) else ", none of them defined"


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
    rows = ordered(analysis.differences(results, confidence), names)
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


def alphas(results: Results, names: DisplayNames) -> Table | Prose:
    """Alpha within and between groups."""
    # the primary analysis, with the interval over dialogues or pairs
    rows = results.select("alpha", resample=["dialogue", "pair"], scope=None, pick=None)
    rows = ordered(rows, names)
    if rows.empty:
        return Prose("No item was judged twice, within a group or by two groups.")
    out = named(rows, names).assign(Items=rows["n"].astype("Int64"), Alpha=tables.intervals(rows), Note=rows["note"])
    return Table(out, "alpha", "Krippendorff's alpha within and between groups, with 95% CI over dialogues or pairs.")


#: groups with fewer people than this are not a sample of anyone
FEW_PEOPLE = 5


def findings(results: Results, names: DisplayNames, *, confidence: float) -> Iterator[Prose]:
    """The headline, and what differs."""
    rows = ordered(analysis.differences(results, confidence), names)
    few, differ = _few_people(results, names), rows[rows["verdict"].isin([DIFFERS, BOTH])]
    counts = analysis.counted(results, "sign") if len(results["conclusion_count"]) else pd.DataFrame()
    agree = {v: list(counts[v] / counts.sum(axis=1)) if len(counts) else [] for v in ("same", "contrary")}
    yield Prose(_PHRASES.say("headline", **_headline(rows, len(differ), 1 - confidence), **agree, few=few))
    moved = (rows["without_high"] - rows["without_low"]).dropna()
    range_ = {"median": moved.median(), "most": moved.max()} if len(moved) else None
    yield Prose(_PHRASES.say("details", differ=by_place(differ, rows, names), moved=range_, few=few))


def _headline(rows: pd.DataFrame, n_differ: int, level: float) -> dict[str, Any]:
    """How many differences are significant, and how many when whole annotators are permuted."""
    by_people = rows["p_people"].dropna()
    facts = {"n": int(rows["p_adjusted"].count()), "n_differ": n_differ, "n_people": len(by_people)}
    return facts | {"differ_people": int((by_people < level).sum())}


def by_place(chosen: pd.DataFrame, rows: pd.DataFrame, names: DisplayNames) -> list[tuple[str, list[str]]]:
    """Labels by method and pair of groups, which are named where `rows` have several of them."""
    titles = named(rows, names)
    columns = [c for c, several in titles.nunique().items() if several > 1 and c != "Label"]
    titles = titles.loc[chosen.index]
    keys = pd.Series([", ".join(key) for key in titles[columns].itertuples(index=False)], titles.index, dtype=str)
    return [(key, list(part)) for key, part in titles["Label"].groupby(keys, sort=False)]


def _few_people(results: Results, names: DisplayNames) -> list[tuple[str, int]]:
    people = results.select("count", what="evaluators", kind="human", scope=None)
    few = people[people["estimate"] < FEW_PEOPLE]
    return [(names.name("group", g), int(n)) for g, n in zip(few["group"], few["estimate"], strict=True)]


def claims(results: Results, names: DisplayNames, objective: Sequence[str]) -> Iterator[Prose]:
    """A sentence for each of three claims of Finch et al. 2024, section 5, with the interval that decides."""
    yield Prose(_PHRASES.say("by_method_claim", contrasts=_contrasts(results, names, SHARED)))
    rows = results["extreme_share_difference"].dropna(subset="ci_low")
    disagreed = [_extreme(row, results, names) for row in rows.to_dict("records")]
    yield Prose(_PHRASES.say("extreme_claim", pairs=disagreed))
    titles = dict.fromkeys(label.title for (_, key), label in names.labels.items() if key in objective)
    yield Prose(_PHRASES.say("objective_claim", contrasts=_contrasts(results, names, OBJECTIVE), labels=list(titles)))


def _contrasts(results: Results, names: DisplayNames, labels: str) -> list[dict[str, Any]]:
    """Contrasts of the difference over all pairs of groups (or of the only two groups), and whether each is clear."""
    rows = results.select("robustness_contrast", labels=labels, of="difference")
    key = ["corpus", "method", "against"]
    rows = rows.sort_values("group", na_position="first", kind="stable").drop_duplicates([*key, "resample"])
    people = where(rows, resample="session and annotator").set_index(key)
    out = []
    for row in where(rows, resample="session").dropna(subset="ci_low").to_dict("records"):
        at = tuple(row[c] for c in key)
        wider = people.loc[at] if at in people.index else None
        facts = {"method": names.name("method", row["method"]), "against": names.name("method", row["against"])}
        units = {METHODS[row[c]].unit == "pair" for c in ("method", "against") if row[c] in METHODS}
        resolved = {"resolved": _excludes_zero(row), "people": wider is not None and _excludes_zero(wider)}
        out.append({**facts, **resolved, "row": row, "asked": wider is not None, "scales": len(units) > 1})
    return out


def _excludes_zero(row: Mapping[str, Any]) -> bool:
    return bool(row["ci_low"] > 0 or row["ci_high"] < 0)


def _extreme(row: Mapping[str, Any], results: Results, names: DisplayNames) -> dict[str, Any]:
    share = results.select("extreme_share", method=row["method"], corpus=row["corpus"])
    share = share.set_index(["group", "group_b"])["estimate"]
    pair = (row["group"], row["group_b"])
    facts = {"groups": [names.name("group", g) for g in pair], "method": names.name("method", row["method"])}
    return facts | {"shares": [share[pair], share[pair[::-1]]], "row": row, "resolved": _excludes_zero(row)}


class Sections(NotebookPage):
    results: Results
    names: DisplayNames

    def differences(self) -> Section:
        level, margin = self.study.bootstrap.confidence, self.study.group_effects.margin
        yield differences(self.results, self.names, confidence=level, margin=margin)
        yield compared(self.results, self.names, level)

    def conclusions(self) -> Section:
        yield conclusions(self.results, self.names, self.study.group_effects.margin)
        yield effects(self.results, self.names)

    def claims(self) -> Section:
        yield claims(self.results, self.names, self.study.group_effects.objective)
        yield by_method(self.results, self.names)
        yield by_objectivity(self.results, self.names)

    def agreement(self) -> Section:
        yield alphas(self.results, self.names)

    def who_judged(self) -> Section:
        yield who_judged(self.results, self.names, self.study.costs.payments, self.study.costs.currency)
