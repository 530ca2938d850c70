"""What notebook 16 shows and says: figures, tables, and sentences, which `text.md.j2` puts into words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from judgebook.display import captions
from judgebook.display.cells import Cell
from judgebook.display.names import NEUTRAL, DisplayNames
from judgebook.display.style import PAGE, handle, legend_of, subplots, tips
from judgebook.display.text import Phrases, number, percent
from judgebook.display.views import Plot, Prose, Table
from judgebook.questions.fragility.analysis import CONTEXT, DATA, DIALOGUES, PERSON, SESSION, STURDY_SHARE
from judgebook.questions.fragility.leaving_out import STURDY_DIALOGUES
from judgebook.questions.fragility.specifications import ALPHA, CHOICES, KEYS
from judgebook.study.results import Results

#: conclusions that have a panel of their own
MOST = 4
_PHRASES = Phrases(__package__)
SIGNIFICANT, NOT = "#000000", "#B5B5B5"
TITLES = {
    "workers": {
        "passed": "workers who pass",
        "stricter": "stricter threshold",
        "looser": "looser threshold",
        "all": "all workers",
    },
    "ratings": {"mean": "mean of all annotations", "pick": "one annotation per item"},
    "scores": {"raw": "raw scores", "standardised": "standardised by annotator"},
    "units": {"dialogue": "dialogues", "item": "turns"},
    "people": {"the same": "the same annotators", "a sample": "annotators as a sample"},
    "ties": {"kept": "ties kept", "dropped": "ties dropped"},
}


def curves(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Specification curves of the conclusions that fewest specifications keep: one panel each, choices below."""
    share = results.select("specification_share", kept="significance")
    if share.empty or share["n"].max() < 2:
        return
    chosen = share.sort_values("estimate", kind="stable").head(MOST)
    rows, several = results["specification"], len(set(share["corpus"])) > 1
    panels = []
    for one in chosen.to_dict("records"):
        of_conclusion = rows[(rows[["corpus", *KEYS]] == [one[k] for k in ("corpus", *KEYS)]).all(axis=1)]
        of_conclusion = of_conclusion.assign(place=range(len(of_conclusion))).dropna(subset="estimate")
        of_conclusion = names.pairs(of_conclusion)
        panels.append((one, of_conclusion.sort_values("estimate", kind="stable").reset_index(drop=True)))
    ratios = [inches for _, of_conclusion in panels for inches in (1.3, 0.17 * max(len(_lines(of_conclusion)), 1))]
    size = {"width": PAGE, "height": sum(ratios) + 0.45 * len(panels) + 0.6}
    fig, axes = subplots(2 * len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": ratios}, **size)
    for i, (one, of_conclusion) in enumerate(panels):
        _curve(axes[2 * i, 0], of_conclusion, names)
        axes[2 * i, 0].set_title(_heading(one, names, several=several), fontsize=8)
        _choices(axes[2 * i + 1, 0], of_conclusion, names)
    keys = [handle(f"significant (adjusted p < {ALPHA:g})", SIGNIFICANT, "o"), handle("not significant", NOT, "o")]
    legend_of(fig, [*keys, handle(names.ci, NEUTRAL[0], "", linewidth=1)])
    caption = (
        "Upper panels: the difference between two systems under each combination of choices, in increasing order, in"
        f" standard deviations of dialogues (or of pairs compared), with {names.ci}; black: significant after Holm's"
        " adjustment within the label. Lower panels: the choices in each combination."
    )
    note = captions.chosen(len(panels), len(share), "conclusions that are significant under the fewest combinations")
    shares = [f"{_heading(o, names, several=several)} {percent(o['estimate'])}" for o, _ in panels]
    alt = f"Specification curves; share of combinations with a significant difference: {'; '.join(shares)}."
    title = _PHRASES.say("curves_title", n=len(share), always=int((share["estimate"] == 1).sum()))
    unit = "Difference between two systems in standard deviations, by combination of choices"
    yield Plot(fig, "curves", alt, captions.joined(caption, note), title, unit)


def _heading(one: Mapping[str, Any], names: DisplayNames, *, several: bool) -> str:
    """Label and systems of a conclusion, and its corpus where there are several."""
    pair = names.pair_name(one["system"], one["system_b"])
    where = f" ({names.name('corpus', one['corpus'])})" if several else ""
    return f"{names.distinct_label(one['label'], one['method'])}: {pair}{where}"


def _curve(ax: Axes, of_conclusion: pd.DataFrame, names: DisplayNames) -> None:
    x, colour = np.arange(len(of_conclusion)), np.where(of_conclusion["p_adjusted"] < ALPHA, SIGNIFICANT, NOT)
    bounded = of_conclusion["ci_low"].notna()
    ax.vlines(
        x[bounded],
        of_conclusion["ci_low"][bounded],
        of_conclusion["ci_high"][bounded],
        color=NEUTRAL[0],
        linewidth=0.8,
        zorder=1,
    )
    ax.scatter(x, of_conclusion["estimate"], c=list(colour), s=10, zorder=2)
    ax.axhline(0, color="#8A8A8A", linewidth=0.9, zorder=0)
    open_ = list(dict.fromkeys(c for c, _ in _lines(of_conclusion)))
    tooltips = [
        f"{', '.join(title(c, row[c], names) for c in open_)}: {number(row['estimate'])}"
        for row in of_conclusion.to_dict("records")
    ]
    tips(ax, tooltips, x, of_conclusion["estimate"])
    ax.set(xlim=(-0.6, len(of_conclusion) - 0.4), xticks=[], ylabel="Difference (SD)")


def title(choice: str, value: str, names: DisplayNames) -> str:
    """A value of a choice, as readers see it."""
    return names.name("corpus", value) if choice == DATA else TITLES[choice][value]


def _lines(of_conclusion: pd.DataFrame) -> list[tuple[str, str]]:
    """Choices that were open, and their values."""
    values = {choice: [v for v in options if (of_conclusion[choice] == v).any()] for choice, options in CHOICES.items()}
    values[DATA] = list(dict.fromkeys(of_conclusion.sort_values("place", kind="stable")[DATA]))
    return [(c, value) for c, options in values.items() if len(options) > 1 for value in options]


def _choices(ax: Axes, of_conclusion: pd.DataFrame, names: DisplayNames) -> None:
    lines = _lines(of_conclusion)
    for y, (choice, value) in enumerate(lines):
        at = np.flatnonzero(of_conclusion[choice] == value)
        ax.scatter(at, np.full(len(at), y), marker="s", s=6, color="#444444")
    ax.set(xlim=(-0.6, len(of_conclusion) - 0.4), ylim=(len(lines) - 0.4, -0.6), xticks=[], yticks=range(len(lines)))
    ax.set_yticklabels([title(c, v, names) for c, v in lines], fontsize=7)
    ax.set_xlabel("Combinations of choices, by the size of the difference", fontsize=7)
    ax.tick_params(axis="y", length=0)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)


_BY = ["corpus", *KEYS]
#: what a conclusion can depend on, for readers
HANGS_ON = {
    "workers": "quality control of workers",
    "ratings": "whether all annotations of an item are used or only one",
    "scores": "whether scores are standardised",
    "units": "whether dialogues or turns are the units",
    "people": "whether annotators are treated as a sample",
    "ties": "whether ties are kept",
    DATA: "which run is analysed",
    "choices": "several choices together",
    DIALOGUES: f"fewer than {STURDY_DIALOGUES:.0%} of the dialogues",
    PERSON: "one annotator",
    SESSION: "one session",
    CONTEXT: "one context",
}


def findings(results: Results) -> Iterator[Prose]:
    """How many conclusions are sturdy, and what the others depend on; what sturdy means, and the choices."""
    verdicts, share = results["sturdy"]["estimate"], results.select("specification_share", kept="sign")
    notes = results["hangs_on"]["reason"].value_counts(sort=False).sort_values(ascending=False)
    facts = {"n": len(verdicts), "hangs": [(HANGS_ON[what], int(n)) for what, n in notes.items()]}
    yield Prose(_PHRASES.say("headline", sturdy=int(verdicts.sum()), **facts))
    open_ = set(results["choice_effect"]["choice"])
    facts |= {
        "found": int(results["conclusions_found"]["estimate"].sum()),
        "n_specs": int(share["n"].max()) if len(share) else 0,
        "open": [HANGS_ON[c] for c in HANGS_ON if c in open_],
        "tried": results["without_person"]["without"].nunique(),
        "unit": " or ".join(sorted(set(results["without_session"]["resample_unit"]), reverse=True)),
    }
    yield Prose(_PHRASES.say("meaning", share=STURDY_SHARE, dialogues=STURDY_DIALOGUES, **facts))


def conclusions(results: Results, names: DisplayNames) -> Table:
    """Every conclusion: shares of specifications, how few dialogues or annotators reverse it, the verdict."""
    rows = results["conclusion"]
    key = pd.MultiIndex.from_frame(rows[_BY])
    out = names.pairs(rows[[*_BY, "estimate"]]).rename(columns={"estimate": "Difference"})
    for keeps, heading in (("sign", "Same sign, %"), ("significance", "Significant, %")):
        share = results.select("specification_share", kept=keeps).set_index(_BY)["estimate"]
        out[heading] = 100 * share.reindex(key).to_numpy()
    few = results["drop_few"].set_index(_BY).reindex(key)
    out["Dialogues to reverse it"] = [_of(n, total) for n, total in zip(few["estimate"], few["n"], strict=True)]
    verdict = results["sturdy"].set_index(_BY)["estimate"]
    reasons = results["hangs_on"].groupby(_BY)["reason"].agg(list).reindex(key)
    out["Sturdy?"] = ["yes" if v else "no" for v in verdict.reindex(key)]
    out["Depends on"] = ["; ".join(HANGS_ON[r] for r in each) if isinstance(each, list) else "–" for each in reasons]
    if len(set(out["corpus"])) == 1:
        out = out.drop(columns="corpus")
    caption = (
        "Conclusions of the primary analysis: pairs of systems that differ significantly on a label. Shares are of"
        " combinations of choices under which the difference has the same sign, and is also significant; combinations"
        " in which no test is possible are left out. To reverse it: the smallest number of dialogues that must be left"
        " out for the sign to change."
    )
    why = dict.fromkeys(out.columns, "Even leaving out half is not enough, or a system would have no data left.")
    out = names.named(names.sort(out))
    out = out.rename(columns={"system_b": "Other system"})
    out["Other system"] = [names.name("system", s) for s in out["Other system"]]
    return Table(out, "conclusions", caption, {"Same sign, %": 0, "Significant, %": 0}, why)


def _of(n: float, total: float) -> Cell | None:
    if pd.isna(n):
        return None
    return Cell(f"{int(n)} of {int(total)}", {"": n, "of": total})
