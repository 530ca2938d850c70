"""Where results of a study stand among those of public studies, for labels that can be compared: the page and its
figures.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from compendium.atlas import declared, tables
from compendium.atlas.standing import NAME, TITLE, words
from compendium.atlas.standing.words import FEWEST
from judgebook.display.names import COLORS, NEUTRAL
from judgebook.display.style import INK, PAGE, handle, legend_of, subplots, tips
from judgebook.display.text import Phrases, interval, number
from judgebook.display.views import Plot, Prose, Table
from judgebook.pipeline import page_jobs
from judgebook.pipeline.composed import PageRun, Sections, composed
from judgebook.questions.planning.assumed import form, once
from judgebook.study import results
from judgebook.study.labels import Label
from judgebook.study.results import Results
from judgebook.study.stored import open_study
from judgebook.summary import evidence

_KEYS = ["study", "corpus", "group", "method", "label"]
#: statistic of the atlas -> statistic or column that it is divided by; in the order of the page
COMPARED = {
    "alpha": "",
    "reliability": "",
    "pairs_different": "n",
    "sturdy": "",
    "detectable_difference": "width",
}


@dataclass(frozen=True)
class Strip:
    """One statistic of one label, beside that of comparable public studies.

    words : what makes them comparable, what the label is about and how it was asked for. others : study -> its median
    over comparable labels, of at least FEWEST studies. value, low, high : of the label; the ends missing without an
    interval.
    """

    statistic: str
    label: Label
    words: tuple[str, str]
    value: float
    low: float
    high: float
    others: Mapping[str, float]

    @property
    def below(self) -> int:
        """Studies with a lower value."""
        return sum(value < self.value for value in self.others.values())


@cache
def atlas(table: str) -> pd.DataFrame:
    """A committed table of the atlas."""
    return pd.read_csv(declared.FOLDER / f"{table}.csv", keep_default_na=False, na_values=[""])


def strips(
    own: tuple[pd.DataFrame, pd.DataFrame], atlas: tuple[pd.DataFrame, pd.DataFrame], labels: Iterable[Label]
) -> list[Strip]:
    """What can be compared, by statistic and label.

    own, atlas : labels and values, with the columns of these tables of the atlas; of the own study, `kind` is missing
    where it is not known. labels : of the study.
    """
    public = atlas[0][(atlas[0]["aggregated"] == 0) & ~atlas[0]["study"].isin(own[0]["study"])]
    public = once(public, atlas[1])
    public, mine = (_with_values(*tables) for tables in ((public, atlas[1]), (own[0][own[0]["main"] == 1], own[1])))
    by_id = {(label.method, label.id): label for label in labels}
    out = []
    for statistic in COMPARED:
        others = public[public["statistic"] == statistic]
        for row in mine[mine["statistic"] == statistic].to_dict("records"):
            alike = others[(others["kind"] == row["kind"]) & (others["form"] == row["form"])]
            medians = alike.groupby("study")["value"].median()
            if len(medians) >= FEWEST:
                label = by_id[row["method"], row["label"]]
                ends = (row["low_end"], row["high_end"])
                out.append(Strip(statistic, label, (row["kind"], row["form"]), row["value"], *ends, medians.to_dict()))
    return out


def _with_values(labels: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Rows of values that are known, relative to what makes them comparable."""
    labels = labels.assign(form=form(labels), width=labels["high"] - labels["low"])
    rows = values[values["statistic"].isin(COMPARED) & values["estimate"].notna()]
    rows = rows.merge(labels[[*_KEYS, "kind", "form", "width"]], on=_KEYS)
    rows = rows[rows["kind"].notna() & rows["form"].notna()]
    by = rows["statistic"].map(COMPARED)
    divisor = rows["n"].where(by == "n", rows["width"].where(by == "width", 1.0)).astype(float)
    ends = {name: rows[column].astype(float) / divisor for name, column in _ENDS.items()}
    return rows.assign(**ends).dropna(subset="value")


_ENDS = {"value": "estimate", "low_end": "ci_low", "high_end": "ci_high"}


_PHRASES = Phrases(__package__)
#: labels of a figure; the table has all
_MOST = 20


def named(statistic: str) -> str:
    return _PHRASES.say("what", statistic=statistic)


def answer(strips: Sequence[Strip], n_labels: int) -> Prose:
    """A line for each statistic, with its first label, and what the comparison does not say."""
    lines = []
    for statistic, rows in _by_statistic(strips):
        first = rows[0]
        facts = {"first": first.label.title, "value": _value(first), "below": first.below, "of": len(first.others)}
        words = dict(zip(("kind", "form"), first.words, strict=True))
        lines.append(_PHRASES.say("seen", **_counted(statistic, rows), **facts, **words))
    compared = {(strip.label.method, strip.label.id) for strip in strips}
    return Prose("\n".join(lines) + "\n\n" + _PHRASES.say("caveat", n_left=n_labels - len(compared)))


def figures(strips: Sequence[Strip], titles: Mapping[str, str]) -> Iterator[Plot]:
    """A figure for each statistic. titles : study -> title."""
    for statistic, rows in _by_statistic(strips):
        yield _figure(statistic, rows[:_MOST], titles)


def table(strips: Sequence[Strip]) -> Table:
    """A row for each strip."""
    rows = [
        {
            "Label": strip.label.title,
            "Statistic": named(strip.statistic),
            "Value": _value(strip),
            "Median of studies": float(np.median([*strip.others.values()])),
            "Higher than": f"{strip.below} of {len(strip.others)}",
            "Compared by": ", ".join(strip.words),
        }
        for strip in strips
    ]
    caption = (
        "Values in brackets are 95% intervals. Each public study counts once, by its median over comparable labels."
    )
    return Table(pd.DataFrame(rows), "standing", caption)


def _by_statistic(strips: Sequence[Strip]) -> Iterator[tuple[str, list[Strip]]]:
    for statistic in COMPARED:
        if rows := [strip for strip in strips if strip.statistic == statistic]:
            yield statistic, rows


def _counted(statistic: str, rows: Sequence[Strip]) -> dict[str, object]:
    above = sum(strip.value > np.median([*strip.others.values()]) for strip in rows)
    return {"name": named(statistic), "n": len(rows), "above": int(above)}


def _value(strip: Strip) -> str:
    return interval(strip.value, strip.low, strip.high)


def _figure(statistic: str, rows: Sequence[Strip], titles: Mapping[str, str]) -> Plot:
    fig, ax = subplots(width=PAGE, height=0.42 * len(rows) + 1.2)
    for y, strip in enumerate(rows):
        _strip(ax, -y, strip, titles)
    ax.set_yticks([-y for y in range(len(rows))], [strip.label.title for strip in rows])
    ax.set_ylim(-len(rows) + 0.4, 0.6)
    name = named(statistic)
    ax.set_xlabel(name[:1].upper() + name[1:])
    ax.grid(axis="x")
    keys = [handle("this study", COLORS[0], "D"), handle("a public study", NEUTRAL[2], "o", linewidth=0)]
    legend_of(fig, [*keys, handle("their median", INK, "|", linewidth=0)])
    lines = [f"{s.label.title} {_value(s)}, higher than in {s.below} of {len(s.others)}" for s in rows]
    alt = f"Strips of {name}: {'; '.join(lines)}."
    caption = _PHRASES.say("caption", name=name, most=max(len(strip.others) for strip in rows))
    title = _PHRASES.say("title", **_counted(statistic, rows))
    return Plot(fig, statistic, alt, caption, title, name)


def _strip(ax: Axes, y: float, strip: Strip, titles: Mapping[str, str]) -> None:
    values = np.array([*strip.others.values()])
    ax.plot(values, np.full(len(values), y), "o", color=NEUTRAL[2], markersize=4.5, alpha=0.8)
    ax.plot([np.median(values)] * 2, [y - 0.28, y + 0.28], color=INK, linewidth=1.2)
    tips(ax, [f"{titles.get(n, n)}: {number(v)}" for n, v in strip.others.items()], values, np.full(len(values), y))
    if np.isfinite([strip.low, strip.high]).all():
        ax.plot([strip.low, strip.high], [y, y], color=COLORS[0], linewidth=1.6)
    ax.plot(strip.value, y, "D", color=COLORS[0], markersize=6)
    tips(ax, [f"{strip.label.title}: {_value(strip)}"], [strip.value], [y])


def written(target: Path, shared: page_jobs.Shared, name: str, stored: dict[str, Path]) -> None:
    """Write the page with its figures and table. stored : notebook -> its results."""
    study = open_study(name).params
    found = of_study(name, stored)
    titles = atlas("studies").set_index("study")["title"].to_dict()
    shown: Sections = [
        ("What we see", [answer(found, len(study.label_list()))]),
        ("Beside public studies", figures(found, titles)),
        ("All numbers", [table(found)]),
    ]
    run = PageRun(study, NAME, NAME, folder=target.with_suffix(""))
    question = f"# {TITLE}\n\nHow do these results compare with those of public studies?"
    page_jobs.write(target, composed(run, question, shown, shared.page(NAME), TITLE))


def of_study(name: str, stored: dict[str, Path]) -> list[Strip]:
    """The strips of a study that was run. stored : notebook -> its results."""
    read = evidence.read(name, {}, computed=False)
    kinds = words.kinds(read.study)
    by_notebook = defaultdict(Results, {name: results.read(path) for name, path in stored.items()})
    rows = tables.value_rows(by_notebook, evidence.parts(read))
    about = {label: kind for (_, label), kind in kinds.items()}
    about = {label.id: about.get(label.id, "") for label in read.study.label_list()}
    labels = tables.label_rows(read, declared.About(genre="", judges="", labels=about))
    keys = zip(labels["method"], labels["label"], strict=True)
    labels = labels.assign(kind=[kinds.get(key) for key in keys])
    own = (labels, rows.assign(study=name))
    return strips(own, (atlas("labels"), atlas("values")), read.study.label_list())
