"""What notebook 05 shows and says: figures, tables, and sentences, which `text.md.j2` puts into words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgebook.display.cells import Cell
from judgebook.display.grid_plots import DRAWN
from judgebook.display.names import DisplayNames
from judgebook.display.plots import heatmap
from judgebook.display.style import PAGE, subplots
from judgebook.display.text import Phrases, counted, number, p_value, percent, told
from judgebook.display.views import Plot, Prose, Table
from judgebook.questions.performance import leading
from judgebook.questions.performance.fitted import POWER
from judgebook.questions.sensitivity.analysis import JudgedGroup, compared, of_group
from judgebook.study.labels import METHODS
from judgebook.study.results import Results
from judgebook.study.sections import margins as of_study

_PHRASES = Phrases(__package__)


def who(one: JudgedGroup, judged: Sequence[JudgedGroup], names: DisplayNames) -> str:
    """What tells one group or corpus from the others; '' where there is one."""
    where = [names.name("corpus", one.corpus)] if len({x.corpus for x in judged}) > 1 else []
    return ", ".join([*where, *([] if one.group == "all" else [names.name("group", one.group)])])


def findings(results: Results, judged: Sequence[JudgedGroup], names: DisplayNames) -> Prose:
    """The headline. results : of notebook 07."""
    parts = [(who(one, judged, names), of_group(results, one)) for one in judged]
    groups = [{"who": name, **tally(of_part)} for name, of_part in parts]
    points = _points([of_part for _, of_part in parts], names)
    return Prose(_PHRASES.say("headline", groups=groups, power=POWER, **points))


def tally(results: Results) -> dict:
    """How many labels and comparisons can be compared by the fits, how many are decided, and for whom."""
    rows = compared(results)
    sure = rows[rows["sure"]]
    n_labels, n_apart = (len(frame[["method", "label"]].drop_duplicates()) for frame in (rows, sure))
    return {
        "n_labels": n_labels,
        "n_apart": n_apart,
        "n": len(rows),
        "n_sure": len(sure),
        "full": n_apart == n_labels,
        "share": len(sure) / max(len(rows), 1),
        "others": bool(results["contrast"]["resample_unit"].str.contains("annotator").any()),
    }


def shares(method: str, label: str, names: DisplayNames) -> bool:
    """Whether differences are told in percentage points: of marks and comparisons."""
    return METHODS[method].unit == "pair" or names.labels[method, label].binary


def _points(parts: Sequence[Results], names: DisplayNames) -> dict[str, list[float]]:
    """Medians over labels, by method and group, of the difference that is decided with 80% power: of marks and
    comparisons (percentage points), and of ratings (points on their scales)."""
    out: dict[str, list[float]] = {"shares": [], "points": []}
    for results in parts:
        rows = results["difference_found"].dropna(subset="estimate")
        for method, of_method in rows.groupby("method", sort=False):
            share = all(shares(str(method), label, names) for label in of_method["label"])
            out["shares" if share else "points"].append((100 if share else 1) * of_method["estimate"].median())
    return out


def sample(judged: Sequence[JudgedGroup], names: DisplayNames, *, n: int) -> Prose:
    """How many dialogues per system each group judged, and how many a draw has."""
    groups = [
        {"who": who(one, judged, names), "few": min(one.dialogues), "many": max(one.dialogues)}
        | {"drawn": one.draw_size(n)}
        for one in judged
    ]
    return Prose(_PHRASES.say("sample", groups=groups, n=n, weighted=any(one.weighted for one in judged)))


LABEL = ["method", "label"]
#: percentage points that no two systems differ by: all wins against all losses differ by as much
MOST = 200


def count_tables(results: Results, judged: Sequence[JudgedGroup], names: DisplayNames) -> Iterator[Table]:
    """`count_table` of each corpus and group."""
    for i, one in enumerate(judged):
        part = who(one, judged, names)
        caption = f"{part + ': p' if part else 'P'}airs of systems that differ. Decided: by the fits, all pairs of a"
        caption += f" label at once. Found: the smallest difference that is decided with {percent(POWER)} power"
        caption += " (marks, comparisons: percentage points)."
        frame = count_table(of_group(results, one), names)
        if len(frame):
            why = dict.fromkeys(frame.columns, "Too few data for a fit.")
            yield Table(frame, f"counts_{i}" if i else "counts", caption, why=why)


def count_table(results: Results, names: DisplayNames) -> pd.DataFrame:
    """Pairs of systems that differ by the fits, one row per label."""
    pairs = compared(results).groupby(LABEL, sort=False)["sure"].agg(Pairs="size", Decided="sum")
    out = names.sort(pairs.reset_index()).set_index(LABEL)
    out["Found"] = _found(results, names)
    return names.named(out.reset_index())


def _found(results: Results, names: DisplayNames) -> pd.Series:
    """The difference that is decided with 80% power, a cell by (method, label): percentage points, or points."""
    rows = results["difference_found"].dropna(subset="estimate").set_index(LABEL)["estimate"]
    scaled = [(100 * x, 1) if shares(str(key[0]), str(key[1]), names) else (x, 2) for key, x in rows.items()]
    texts = [Cell(f"> {MOST}" if d == 1 and x > MOST else number(x, d), {"": x}) for x, d in scaled]
    return pd.Series(texts, rows.index, dtype=object)


def margins(
    results: Results, names: DisplayNames, part: str = "", name: str = "", *, of: Mapping[tuple[str, str], float]
) -> Table | None:
    """What the fits show of pairs of systems on labels with a margin: one row per label; None without any.

    part, name : what the results are of, where there are several groups; of the file. of : (method, label) -> margin.
    """
    rows = [leading.by_margin(r, of, str(m)) for m, r in results["contrast"].groupby("method", sort=False)]
    judged = pd.concat(rows).dropna(subset="margin") if rows else pd.DataFrame()
    if judged.empty:
        return None
    kinds = {"Differ": leading.DIFFER, "Differ by less than the margin": leading.SLIGHTLY}
    kinds |= {"Equivalent": leading.ALIKE, "One not worse": leading.NOT_WORSE, "Undecided": leading.UNDECIDED}
    counted = judged.groupby([*LABEL, "verdict"], sort=False).size().unstack(fill_value=0)  # noqa: PD010
    out = pd.DataFrame({title: counted.get(kind, 0) for title, kind in kinds.items()}, index=counted.index)
    out.insert(0, "Margin", [of_study.told(of[key], names.labels[key]) for key in out.index])
    caption = f"{part + ': p' if part else 'P'}airs of systems by what the fits show, with the margins of the study."
    caption += " Equivalent: the interval of the difference lies within the margin; one not worse: that system is at"
    caption += " most worse by less than the margin. Intervals hold for all pairs of a label at once."
    return Table(names.named(names.sort(out.reset_index())), name, caption)


#: p-values below this have the deepest colour
FLOOR = 1e-3
#: marks of labels of which less is better, or that have no direction
SIGNS = {-1: " ↓", 0: " ○", 1: ""}
SIGNIFICANCE = """Each cell is a label and a pair of systems. Blue: the first system is better, red: the second; the
deeper, the smaller the p-value; dots: decided by the fits, all pairs of systems of a label at once; {n}."""
LESS = " ↓: less is better."
NEITHER = (
    " Grey, ○: neither good nor bad, or not declared; in place of dots, + if the first system is higher, − if lower."
)


def significance(results: Results, names: DisplayNames, part: str = "", name: str = "significance") -> Plot | None:
    """Which systems differ on which label, by the fits; None where none can be compared.

    results : of one corpus and group; part : its name, where there are several.
    """
    fits = compared(results)
    if fits.empty:
        return None
    rows = _signed(fits, names)
    caption = " ".join(SIGNIFICANCE.split()).format(n=counted(fits["n"], "judgements per label"))
    caption += LESS * bool((rows["direction"] == -1).any()) + NEITHER * bool((rows["direction"] == 0).any())
    n_pairs = rows["pair"].nunique()
    if n_pairs > DRAWN:
        often = rows.groupby("pair", sort=False)["sure"].sum().nlargest(DRAWN)
        rows = rows[rows["pair"].isin(often.index)]
        caption += f" Of {n_pairs} pairs of systems the {DRAWN} that are decided on most labels are drawn."
    caption = f"{part}: {caption[0].lower()}{caption[1:]}" if part else caption
    alt = f"Heatmap of p-values: {fits['sure'].sum()} of {len(fits)} differences between systems are decided."
    title = significance_title(fits) + (f" ({part})" if part else "")
    return Plot(_by_label(rows, names), name, f"{part}: {alt}" if part else alt, caption, title)


def significance_title(rows: pd.DataFrame) -> str:
    """How many differences are decided. rows : of `analysis.compared`."""
    return _PHRASES.say("significance_title", n=len(rows), found=int(rows["sure"].sum()))


def _signed(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """With `direction` of the label, `title` and `pair`, as readers see them, and `better`: 1 where the first system is
    better, -1 where the second is, 0 where a label has no direction."""
    rows = names.pairs(rows)
    second = rows["system_b"].map({system: i for i, system in enumerate(names.titles["system"])})
    rows = names.sort(rows.loc[second.sort_values(kind="stable").index])  # pairs in one order, whatever they are from
    keys = list(zip(rows["method"], rows["label"], strict=True))
    direction = np.array([names.labels[key].direction for key in keys])
    title = [names.name("label", label, m) + SIGNS[d] for (m, label), d in zip(keys, direction, strict=True)]
    pair = [names.pair_name(*systems) for systems in rows[["system", "system_b"]].to_numpy()]
    return rows.assign(direction=direction, better=np.sign(rows["estimate"]) * direction, title=title, pair=pair)


def _by_label(rows: pd.DataFrame, names: DisplayNames) -> Figure:
    """Labels by pairs of systems, a panel for each method."""
    methods = list(dict.fromkeys(rows["method"]))
    labels = [rows.loc[rows["method"] == m, "label"].nunique() for m in methods]
    height = (0.19 if sum(labels) < 32 else 0.155) * sum(labels) + 0.3 * len(labels)
    # names of pairs stand slanted below: long ones need room where there are few rows
    longest = max((len(n) for n in names.titles["system"].values()), default=0)
    size = {"width": PAGE, "height": max(height + 1.7, height + 1.2 + 0.11 * longest if sum(labels) < 4 else 0)}
    ratios = {"height_ratios": [n + 0.8 for n in labels]}
    fig, axes = subplots(len(methods), 1, squeeze=False, gridspec_kw=ratios, **size)
    for ax, method in zip(axes[:, 0], methods, strict=True):
        _pairs(ax, rows[rows["method"] == method], list(dict.fromkeys(rows["pair"])))
        ax.set_title(names.name("method", method))
        if method != methods[-1]:
            ax.set_xticks([])
    bar = fig.colorbar(axes[0, 0].collections[0], ax=axes, location="bottom", shrink=0.6, aspect=40, pad=0.02)
    ends = [-np.log10(p) for p in (FLOOR, 0.01, 0.05)]
    texts = [f"{'≤ ' if p == FLOOR else ''}{p:g}" for p in (FLOOR, 0.01, 0.05)]
    bar.set_ticks([-e for e in ends] + [0] + ends[::-1], labels=[*texts, "1", *texts[::-1]])
    bar.set_label("p-value: second system better (left), first system better (right)")
    return fig


def _pairs(ax: Axes, rows: pd.DataFrame, pairs: list[str]) -> None:
    size, neither = -np.log10(rows["p_adjusted"].clip(lower=FLOOR)), rows["direction"] == 0
    signs = np.where(neither, np.where(rows["estimate"] > 0, "+", "−"), "•")
    tooltips = [
        f"{row['title']}, {told(row['pair'], row)}, p = {p_value(row['p_adjusted'])}" for row in rows.to_dict("records")
    ]
    drawn = {"depth": size * rows["better"], "grey": size.where(neither), "star": np.where(rows["sure"], signs, "")}
    drawn["said"] = tooltips
    cells = rows.assign(**drawn).set_index(["title", "pair"])
    value, grey, text, said = (
        cells[column].unstack().reindex(index=dict.fromkeys(rows["title"]), columns=pairs)  # noqa: PD010
        for column in drawn
    )
    limit = -np.log10(FLOOR)
    heatmap(value, ax, texts=text.fillna(""), titles=said, cmap="RdBu", vmin=-limit, vmax=limit)
    if neither.any():  # half the depth, so that signs stay legible
        ax.pcolormesh(grey.to_numpy(float), cmap="Greys", vmin=0, vmax=2 * limit, edgecolor="white", linewidth=0.5)
