"""What the page of a comparison shows: sentences, put into words by `text.md.j2`, tables and a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from judgebook.display import cells
from judgebook.display.cells import Cell
from judgebook.display.names import NEUTRAL, DisplayNames
from judgebook.display.style import INK, PAGE, handle, legend_of, subplots, tips
from judgebook.display.text import Phrases, interval, listing, number, span
from judgebook.display.views import Plot, Prose, Table
from judgebook.extras.compare.analysis import CLEARLY, LARGE, NOT, OPEN, RUNS, WEAKLY, Comparison
from judgebook.study import escape

_PHRASES = Phrases(__package__)
VERDICTS = {CLEARLY: "Clearly", WEAKLY: "Weakly", NOT: "Not", OPEN: "Cannot be told"}
#: panels of a figure; more go to the next. Systems that a legend can name
PANELS, FEW = 8, 12
#: frames of a comparison that are stored as CSV
FRAMES = ("labels", "means", "variation", "pairs", "settings", "missing")
_UNITS = {"person": "people", "dialogue": "dialogues", "pair": "pairs of dialogues"}


def label_name(row: Mapping[str, object], names: DisplayNames) -> str:
    """Display name of a label; that of its method follows where the study has the label under several."""
    title = names.name("label", str(row["label"]), str(row["method"]))
    several = sum(label_.title == title for label_ in names.labels.values()) > 1
    return f"{title}, {names.name('method', str(row['method']))}" if several else title


def over(rows: pd.DataFrame) -> str:
    """What clusters are: `people`, `people or dialogues`."""
    return listing((_UNITS[unit] for unit in dict.fromkeys(rows["unit"])), "or")


def _titled(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    return pd.DataFrame({"Label": [label_name(row, names) for row in rows.to_dict("records")]}, index=rows.index)


def answer(runs: Comparison, names: DisplayNames) -> Prose:
    """How far did the repetition reproduce? The labels by verdict, in one sentence."""
    rows = runs.labels
    ends = rows["r_high"].fillna(rows["fisher_high"])
    graded = {
        verdict: [label_name(r, names) for r in rows[rows["verdict"] == verdict].to_dict("records")]
        for verdict in (CLEARLY, WEAKLY, NOT, OPEN)
    }
    weak = rows[rows["verdict"] == WEAKLY]
    facts = {
        "a": runs.a.title,
        "b": runs.b.title,
        "n": len(rows),
        "differ": len(runs.settings),
        "identical": runs.identical,
        "copies": runs.copies,
        "turned": bool(((rows["sure_opposite"] > 0) | (ends < 0))[rows["verdict"] == NOT].all()),
        "itself": runs.a.spec == runs.b.spec,
        "study": runs.a.study.title,
        "least": float(weak["r_low"].fillna(weak["fisher_low"]).min()),
        "large": LARGE,
        "confidence": runs.confidence,
    }
    return Prose(_PHRASES.say("answer", labels=graded, **facts))


def findings(runs: Comparison, names: DisplayNames) -> Iterator[Prose]:
    """Correlation and order, conclusions, levels; nothing where the judgements are the same."""
    if runs.identical:
        return
    rows = runs.labels
    places = rows.sort_values("r", kind="stable").dropna(subset="r")
    ends = [{"name": label_name(r, names)} | r for r in places.iloc[[0, -1]].to_dict("records")] if len(places) else []
    yield Prose(_PHRASES.say("agreement", ends=ends))
    counted = rows[["tested", "same_sign", "opposite", "only_a", "only_b", "changed"]].sum().astype(int).to_dict()
    yield Prose(_PHRASES.say("conclusions", a=runs.a.title, b=runs.b.title, n=len(rows), **counted))
    varied = runs.variation.dropna(subset="cv")
    if len(varied):
        facts = {**runs.spread, "higher": float((varied["b"] > varied["a"]).mean())}
        yield Prose(_PHRASES.say("levels", over=over(rows), a=runs.a.title, b=runs.b.title, **facts))


def rule(runs: Comparison) -> Prose:
    """The rule by which labels are graded."""
    facts = {"over": over(runs.labels), "large": LARGE, "confidence": runs.confidence}
    return Prose(_PHRASES.say("rule", **facts))


def terminal(runs: Comparison, names: DisplayNames) -> str:
    """The comparison as text: the answer, labels, the rule, what only one side has, which settings differ."""
    lines = [_plain(answer(runs, names)), ""]
    lines += ["Simulated data.", ""] if runs.a.study.simulated or runs.b.study.simulated else []
    if not runs.identical:
        cells = list(_lines(runs, names))
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines += ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells]
        lines += [
            f"A: {runs.a.title}; B: {runs.b.title}; CIs over {over(runs.labels)}; CV* in percent",
            "",
            _plain(rule(runs)),
            "",
        ]
    only = missing(runs, names).frame
    for (what, side), rows in only.groupby(["What", "In"], sort=False):
        lines.append(f"not compared: {what.lower()} in {side}: {', '.join(rows['Name'])}")
    if len(runs.settings):
        lines.append(f"differ: {', '.join(runs.settings['what'].head(8))}" + (" …" if len(runs.settings) > 8 else ""))
    return "\n".join(lines)


def _lines(runs: Comparison, names: DisplayNames) -> Iterator[list[str]]:
    """Cells of the table on the terminal."""
    yield ["label", "reproduced", "r", "same order", "both/opposite", "only A/B", "CV*"]
    for row in runs.labels.to_dict("records"):
        cells = [label_name(row, names), VERDICTS[row["verdict"]].lower()]
        cells += [interval(row["r"], row["r_low"], row["r_high"])]
        cells += [f"{row['same']} of {row['pairs']}", f"{row['same_sign']}/{row['opposite']}"]
        cells += [f"{row['only_a']}/{row['only_b']}", number(row["cv"], 1)]
        yield cells


def _plain(prose: Prose) -> str:
    return escape.unmarked(prose.text)


def grades(runs: Comparison, names: DisplayNames) -> Table:
    """The verdict on each label, and what it rests on."""
    rows = runs.labels
    by_clusters = np.isfinite(rows["r_low"].to_numpy(float))
    out = _titled(rows, names).assign(Reproduced=rows["verdict"].map(VERDICTS), r=rows["r"])
    for end in ("low", "high"):
        out[f"r, {end}"] = rows[f"r_{end}"].where(by_clusters, rows[f"fisher_{end}"])
    heads = {"same": "Same order", "pairs": "of pairs", "same_sign": "Same, significant"}
    heads |= {"opposite": "Opposite, significant", "changed": "Changed"}
    out = out.assign(**{heading: rows[column] for column, heading in heads.items()})
    caption = f"How far each label was reproduced: r of system means with the ends of its {runs.confidence:.0%} CI over"
    caption += f" {over(rows)}{'' if by_clusters.all() else ' or systems'}. Same order: pairs of systems. Same and"
    caption += f" opposite, significant: those that differ so in both runs (p < {1 - runs.confidence:.2g}, unadjusted)."
    caption += (
        " Changed: pairs whose difference is not the same in both runs, significant with all pairs tested at once."
    )
    return Table(out, "grades", caption, why=pd.Series(_why(rows), rows.index))


def _why(rows: pd.DataFrame) -> list[str]:
    return [note or "fewer than three systems, or all means are equal" for note in rows["r_note"].fillna("")]


def variation(runs: Comparison, names: DisplayNames) -> Table:
    """CV* by label."""
    rows = runs.labels
    out = _titled(rows, names)
    out["Mean CV*"] = [_with_ends(*row) for row in rows[["cv", "cv_low", "cv_high"]].to_numpy(float)]
    out["Sampling alone"] = rows["cv_expected"]
    if len(out) > 1:
        out.loc[len(out)] = ["Mean", *(runs.spread[k] for k in ("cv", "expected"))]
    caption = "CV* in percent, mean over systems (CI conservative: all systems at once), and what it would be if both"
    caption += f" runs measured the same and only {over(rows)} differed. Scores are counted from the scale's low end."
    return Table(out, "variation", caption, 1, {"Mean CV*": _NO_CV, "Sampling alone": _NO_CV})


_NO_CV = "Not rated in both runs, or the mean lies at the low end of the scale."


def _with_ends(value: float, low: float, high: float) -> Cell | None:
    return cells.of_interval(value, low, high, 1) if np.isfinite(value) else None


def settings(runs: Comparison) -> Table:
    """What differs between the runs apart from their results."""
    out = runs.settings.set_axis(["What", runs.a.title, runs.b.title], axis=1)
    short = {c: [v if len(v) <= 100 else v[:99] + "…" for v in out[c]] for c in out.columns[1:]}
    return Table(out.assign(**short), "settings", "Settings, data and versions that differ.")


def missing(runs: Comparison, names: DisplayNames) -> Table:
    """Systems and labels that only one run has."""
    rows = runs.missing
    shown = []
    for kind, key in zip(rows["kind"], rows["id"], strict=True):
        method, _, label = key.rpartition("/")
        shown.append(
            label_name({"label": label, "method": method}, names) if "label" in kind else names.name(kind, key)
        )
    titles = {0: runs.a.title, 1: runs.b.title, 2: "both"}
    out = pd.DataFrame({"What": rows["kind"].str.capitalize(), "Name": shown, "In": rows["in_"].map(titles)})
    return Table(
        out,
        "missing",
        "Systems and labels that are not compared, because only one run has them or their scales differ.",
    )


def against(runs: Comparison, names: DisplayNames) -> Iterator[Plot]:
    """System means in the second run against those in the first, with intervals, a panel per label."""
    labels, few = runs.labels, len(runs.systems) <= FEW
    for k, first in enumerate(range(0, len(labels), PANELS)):
        page = labels.iloc[first : first + PANELS]
        columns = min(4 if len(page) > 4 else len(page), len(page))
        rows = -(-len(page) // columns)
        size = {"width": PAGE if columns > 2 else 3.4 * columns, "height": 2.1 * rows + (1.3 if few else 0.8)}
        fig, axes = subplots(rows, columns, squeeze=False, **size)
        for ax, row in zip(axes.flat, page.to_dict("records"), strict=False):
            wide = _wide(runs, row)
            _panel(ax, wide, names, few)
            tips(ax, _told(wide, runs, names), wide["estimate_A"], wide["estimate_B"])
            r = f"r = {number(row['r'])}" if np.isfinite(row["r"]) else "r undefined"
            ax.set_title(f"{fill(label_name(row, names), 22)}\n{r}", fontsize=7.5)
        for ax in list(axes.flat)[len(page) :]:
            ax.axis("off")
        shown = sorted(runs.systems, key=partial(names.position, "system")) if few else ()
        keys = [handle(names.name("system", s), *_style(names, s, few), linewidth=0) for s in shown]
        legend_of(fig, [*keys, handle("equal means", INK, "", linewidth=0.7, linestyle="--")])
        fig.supxlabel(f"Mean score: {runs.a.title}", fontsize=8)
        fig.supylabel(f"Mean score: {runs.b.title}", fontsize=8)
        alt = f"Scatter plots: means of {len(runs.systems)} systems in {runs.b.title} against {runs.a.title}, a panel"
        alt += " per label" + (f"; r from {span(page['r'].dropna())}." if page["r"].notna().any() else ".")
        caption = f"Points are systems: mean score in each run; lines are {runs.confidence:.0%} CIs over {over(page)}."
        caption += " On the dashed line both runs have the same mean. r is Pearson's correlation."
        title, unit = against_title(runs), f"Mean score of each system, {runs.b.title} against {runs.a.title}"
        yield Plot(fig, f"against_{k}" if k else "against", alt, caption, title, unit)


def against_title(runs: Comparison) -> str:
    """On how many labels the order of system means is clearly repeated."""
    rows = runs.labels
    clearly = int((rows["verdict"] == CLEARLY).sum())
    return _PHRASES.say("against_title", n=len(rows), clearly=clearly, identical=runs.identical)


def _panel(ax: Axes, wide: pd.DataFrame, names: DisplayNames, few: bool) -> None:
    for system, row in wide.iterrows():
        color, marker = _style(names, system, few)
        ends = {run: [row[f"ci_low_{run}"], row[f"ci_high_{run}"]] for run in RUNS}
        ax.plot(ends["A"], [row["estimate_B"]] * 2, color=color, linewidth=0.9, alpha=0.8)
        ax.plot([row["estimate_A"]] * 2, ends["B"], color=color, linewidth=0.9, alpha=0.8)
        ax.plot(row["estimate_A"], row["estimate_B"], marker, color=color, markersize=4)
    low, high = (f([*ax.get_xlim(), *ax.get_ylim()]) for f in (min, max))
    ax.plot([low, high], [low, high], color=INK, linewidth=0.7, linestyle="--", zorder=0)
    ax.set(xlim=(low, high), ylim=(low, high))
    ax.locator_params(nbins=4)
    ax.set_box_aspect(1)


def _style(names: DisplayNames, system: str, few: bool) -> tuple[str, str]:
    return (names.color("system", system), names.marker("system", system)) if few else (NEUTRAL[0], "o")


def _told(wide: pd.DataFrame, comparison: Comparison, names: DisplayNames) -> Iterator[str]:
    """What a pointer is told of each system."""
    for system, row in wide.iterrows():
        runs = zip(RUNS, (comparison.a.title, comparison.b.title), strict=True)
        ends = [f"{t} {interval(*(row[f'{c}_{run}'] for c in ('estimate', 'ci_low', 'ci_high')))}" for run, t in runs]
        yield f"{names.name('system', system)}: {', '.join(ends)}"


def _wide(runs: Comparison, row: dict) -> pd.DataFrame:
    """A row per system with the mean and interval in each run."""
    keys = ["method", "label"]
    rows = runs.means[(runs.means[keys] == [row[k] for k in keys]).all(axis=1)]
    wide = rows.pivot_table(
        index="system", columns="run", values=["estimate", "ci_low", "ci_high"], dropna=False, sort=False
    )
    return wide.set_axis([f"{what}_{run}" for what, run in wide.columns], axis=1)
