"""What notebook 92 shows: figures, in which every study is a point, named where a pointer rests on it; findings, put
into words by `text.md.j2`; tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from compendium.field import analysis
from judgebook.display import cells
from judgebook.display.names import COLORS, NEUTRAL
from judgebook.display.style import INK, handle, legend_of, log_axis, subplots, tips
from judgebook.display.text import Phrases, interval, number
from judgebook.display.views import Plot, Prose, Table
from judgebook.study.results import ResultRows, Results

_PHRASES = Phrases(__package__)


def word(name: str) -> str:
    """What a quantity or category is called in texts."""
    return _PHRASES.say("word", name=name)


def claims(stand: Mapping[str, pd.DataFrame], results: Results, titles: Mapping[str, str]) -> Plot:
    """Shares of claims that stand. stand : against what -> `analysis.claims`."""
    strips = {f"stand_{against}": of["stand"] / of["of"] for against, of in stand.items()}
    means = results.select("field_finding", summary="mean").set_index("finding")
    title = _PHRASES.say("claims_title", **{name: means.loc[name] for name in [*strips][:2]})
    return _strips("claims", strips, means, titles, title, "Share of a study's claims that stand")


def moderated(rows: pd.DataFrame, results: Results, moderator: str, titles: Mapping[str, str]) -> Plot:
    """Alpha by what labels are about, or by how they were asked for. rows : of `analysis.labelled`."""
    of = analysis.by_study(rows[rows["statistic"] == "alpha"], moderator)
    strips = {name: part.set_index("study")["estimate"] for name, part in of.groupby(moderator)}
    strips = dict(sorted(strips.items(), key=lambda item: -item[1].median()))
    means = results.select("field_mean", quantity="alpha", moderator=moderator).set_index("category")
    title = _PHRASES.say("alpha_title", moderator=moderator)
    return _strips(f"alpha_{moderator}", strips, means, titles, title, "Krippendorff's alpha")


def shares(rows: pd.DataFrame, results: Results, titles: Mapping[str, str]) -> Plot:
    """Reliability of system means and shares of the variance of judgements. rows : of `analysis.labelled`."""
    strips = _quantities(rows, ["reliability", *analysis.SHARES])
    return _strips("shares", strips, _overall(results), titles, _PHRASES.say("shares_title"), "Share")


def design_effects(rows: pd.DataFrame, results: Results, titles: Mapping[str, str]) -> Plot:
    """Design effects. rows : of `analysis.labelled`."""
    strips = _quantities(rows, ["design_effect_dialogue", "design_effect_annotator"])
    title = _PHRASES.say("design_title")
    return _strips("design_effects", strips, _overall(results), titles, title, "Design effect", log=True)


def _quantities(rows: pd.DataFrame, names: list[str]) -> dict[str, pd.Series]:
    of = analysis.by_study(rows).set_index("study")
    return {name: of.loc[of["statistic"] == name, "estimate"] for name in names}


def _stacked(values: pd.Series, *, log: bool) -> np.ndarray:
    """How far above its line each point lies: those that would cover each other are stacked, the first on the line."""
    on_axis = np.log10(values) if log else values
    width = max(float(np.ptp(on_axis)), 1e-9) / 60
    level = on_axis.groupby((on_axis / width).round()).cumcount()
    return level.to_numpy() * min(0.13, 0.62 / max(1, level.max()))


def _overall(results: Results) -> ResultRows:
    return results.select("field_mean", moderator="none").set_index("quantity")


def _strips(
    name: str,
    strips: Mapping[str, pd.Series],
    means: ResultRows,
    titles: Mapping[str, str],
    title: str,
    about: str,
    *,
    log: bool = False,
) -> Plot:
    """strips : row -> study -> value. means : indexed by row."""
    fig, ax = subplots(height=0.55 * len(strips) + 1.25)
    lines = []
    for y, (row, values) in enumerate(strips.items()):
        places = _stacked(values, log=log) - y
        ax.plot(values, places, "o", color=NEUTRAL[2], markersize=4.5, alpha=0.8)
        tips(ax, [f"{titles[s]}: {number(v)}" for s, v in values.items()], values, places)
        ax.plot([values.median()] * 2, [-y - 0.28, -y + 0.28], color=INK, linewidth=1.2)
        lines.append(f"{word(row)}, median {number(values.median())} of {len(values)}")
        if row in means.index and np.isfinite((mean := means.loc[row])["ci_low"]):
            ax.plot([mean["ci_low"], mean["ci_high"]], [-y - 0.2] * 2, color=COLORS[0], linewidth=1.6)
            ax.plot(mean["estimate"], -y - 0.2, "D", color=COLORS[0], markersize=5)
            said = interval(*(mean[c] for c in ("estimate", "ci_low", "ci_high")))
            tips(ax, [f"{word(row)}, mean: {said}"], [mean["estimate"]], [-y - 0.2])
            lines[-1] += f", mean {said}"
    if log:
        log_axis(ax)
    ax.set_yticks([-y for y in range(len(strips))], [f"{word(row)} ({len(v)})" for row, v in strips.items()])
    ax.set_ylim(-len(strips) + 0.6, 0.75)
    ax.set_xlabel(about)
    ax.grid(axis="x")
    keys = [handle("a study", NEUTRAL[2], "o", linewidth=0), handle("median", INK, "|", linewidth=0)]
    legend_of(fig, [*keys, handle("mean, 95% interval", COLORS[0], "D")])
    caption = _PHRASES.say("caption", geometric=log, name=name)
    return Plot(fig, name, f"{about}, a point for each study. {'; '.join(lines)}.", caption, title, about)


def findings(results: Results) -> Iterator[Prose]:
    """What to repeat."""
    rows = results["field_finding"]
    means, expected = (_by_quantity(results[name]) for name in ("field_mean", "field_prediction"))
    facts = _facts(rows)
    facts |= {name: means[name] for name in ("alpha", "different")}
    facts |= {f"{name}s": means[f"design_effect_{name}"] for name in ("dialogue", "annotator")}
    yield Prose(_PHRASES.say("seen", another=expected["alpha"], **facts))


def explained(results: Results, ratios: pd.Series, rerun: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[Prose]:
    """The five findings, each with its caveat. ratios : of `analysis.second_rater`. rerun : of `analysis.claims`.
    titles : of studies."""
    rows = results["field_finding"]
    quartiles = [float(ratios.quantile(q)) for q in (0.25, 0.75)]
    runs = [(titles[row.Index], int(row.stand), int(row.of)) for row in rerun.itertuples()]
    yield Prose(_PHRASES.say("explained", rerun=runs, quartiles=quartiles, **_facts(rows)))


def _facts(rows: ResultRows) -> dict[str, object]:
    """By name of the finding, `pooled_` and its name for that over all claims alike; `both` is that of dialogues in the
    studies in which annotators can be a sample, too."""
    prefix = {"pooled": "pooled_"}
    facts = {prefix.get(r.summary, "") + str(r.finding): r for r in rows[rows["summary"] != "both"].itertuples()}
    return facts | {"both": next(rows[rows["summary"] == "both"].itertuples())}


def _by_quantity(rows: ResultRows) -> dict[str, object]:
    return {r.quantity: r for r in rows[rows["moderator"] == "none"].itertuples()}


def means(results: Results) -> Table:
    """Means over studies, and what to expect of another one."""
    rows, expected = results["field_mean"], results["field_prediction"]
    out = pd.DataFrame({"Quantity": rows["quantity"].map(word), "Labels": rows["category"].map(word)})
    out["Mean"] = cells.intervals(rows)
    out["Another study"] = cells.ranges(expected[["ci_low", "ci_high"]])
    out = out.assign(Studies=rows["n_clusters"], **{"Number of labels": rows["n"]})
    caption = (
        "Means over studies, by what is told of a label, with 95% intervals, and the range in which 95% of labels of"
        " another study are expected. Random effects of studies, labels within them; values are cut at the ends of the"
        " scale, and design effects averaged as logarithms. Left out where fewer than five studies have such labels."
    )
    return Table(out, "means", caption)
