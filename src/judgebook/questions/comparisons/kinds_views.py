"""What notebook 19 shows and says of boards by kind of prompt; `text.md.j2` puts it into words."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd

from judgebook.display import captions, cells
from judgebook.display.grid_plots import DRAWN
from judgebook.display.names import BAD, GOOD, OPEN, DisplayNames
from judgebook.display.style import PAGE, handle, legend_of, panel, subplots
from judgebook.display.text import Phrases, number
from judgebook.display.views import Plot, Prose, Table
from judgebook.questions.comparisons.views import BOARD, surely, who_votes
from judgebook.study.results import ResultRows, Results, where

_PHRASES = Phrases(__package__)
#: panels beside each other, letters of a system's name, inches of a row and around the rows
_ACROSS, _NAME, _ROW, _AROUND = 5, 30, 0.165, 1.0


def facts(results: Results, names: DisplayNames, confidence: float) -> list[dict[str, Any]]:
    """Of each label and group: `who` votes, `row` of the difference between kinds, `why` there is none and `caution`
    about it, `prompts`, `mix` of kinds as shares of votes, whether kinds `differ`, and the `systems` whose strength
    does, each with the kind where it is farthest from its strength over all, and whether `up`; `ties`, the kinds with
    most and fewest where intervals do not meet."""
    rows = results["kinds_differ"]
    out = []
    for row, who in zip(rows.to_dict("records"), who_votes(rows, names), strict=True):
        of = {c: row[c] for c in BOARD}
        note, known = row["note"] if isinstance(row["note"], str) else "", pd.notna(row["estimate"])
        shares, special = where(results["kind_share"], **of), where(results["kind_special"], **of)
        alone, ties = where(results["kinds_differ_for"], **of), where(results["kind_ties"], **of)
        listed = []
        for system in alone.loc[alone["p_value"] < 1 - confidence, "system"]:
            own = special[special["system"] == system]
            most = own.loc[own["estimate"].abs().idxmax()]
            listed.append(
                {"system": names.name("system", system), "kind": most["prompt_kind"], "up": bool(most["estimate"] > 0)}
            )
        one: dict[str, Any] = {"who": who, "row": row, "systems": listed, "differ": row["p_value"] < 1 - confidence}
        one |= {"why": "" if known else note, "caution": note if known else "", "ties": ()}
        one["mix"] = [{"kind": r["prompt_kind"], "share": r["estimate"]} for r in shares.to_dict("records")]
        one["prompts"] = int(shares["n_clusters"].sum())
        if len(ties) > 1:
            least, most = (ties.loc[i].to_dict() for i in (ties["estimate"].idxmin(), ties["estimate"].idxmax()))
            one["ties"] = (most, least) if most["ci_low"] > least["ci_high"] else ()
        out.append(one)
    return out


def kinds(results: Results, names: DisplayNames, confidence: float) -> Iterator[Prose | Plot | Table]:
    """Whether systems keep their order between kinds of prompts, in words, as a figure for each label and group where
    kinds differ, and as a table."""
    told = facts(results, names, confidence)
    if not told:
        return
    yield Prose(_PHRASES.say("by_kind", boards=told))
    differ = [one for one in told if one["differ"]]
    for i, one in enumerate(differ):
        special = where(results["kind_special"], **{c: one["row"][c] for c in BOARD})
        yield _special(special, names, f"kinds_{i}" if i else "kinds", _PHRASES.say("kinds_title", board=one))
    yield from _table(results, names, folded=not differ)


def _special(rows: ResultRows, names: DisplayNames, name: str, title: str) -> Plot:
    """How much stronger systems are in a kind than over all, a panel for each kind: those that differ most."""
    panels = list(dict.fromkeys(rows["prompt_kind"]))[:_ACROSS]
    sized = rows.assign(size=rows["estimate"].abs()).groupby("system", sort=False)["size"].max()
    every, shown = len(sized), set(sized.nlargest(DRAWN).index)
    order = [s for s in names.sort(rows.drop_duplicates("system"))["system"] if s in shown]
    fig, axes = subplots(
        1, len(panels), squeeze=False, sharey=True, sharex=True, width=PAGE, height=_ROW * len(order) + _AROUND
    )
    y = np.arange(len(order))
    for ax, kind in zip(axes.flat, panels, strict=True):
        of = rows[rows["prompt_kind"] == kind].set_index("system").loc[order]
        ax.axvline(0, color="#BBBBBB", linewidth=0.8, zorder=0)
        sure, x = surely(of).to_numpy(), of["estimate"].to_numpy(float)
        for which, color, marker in ((sure & (x > 0), GOOD, "D"), (sure & (x < 0), BAD, "v"), (~sure, OPEN, "o")):
            ax.hlines(y[which], of["ci_low"].to_numpy()[which], of["ci_high"].to_numpy()[which], color=color)
            ax.plot(x[which], y[which], marker, color=color, markersize=4, linestyle="")
        ax.set_title(fill(str(kind), 18))
        panel(ax, of.reset_index(), names)
    axes[0, 0].set_yticks(y, [names.name("system", s)[:_NAME] for s in order])
    axes[0, 0].set_ylim(len(order) - 0.4, -0.6)
    fig.supxlabel("Strength in this kind less that over all kinds (log odds of a win)", fontsize=8)
    legend_of(
        fig, [handle("stronger", GOOD, "D", 0), handle("weaker", BAD, "v", 0), handle("within chance", OPEN, "o", 0)]
    )
    caption = captions.joined(
        f"Lines: {names.ci}, each alone.",
        captions.chosen(len(order), every, "systems that differ most"),
        captions.chosen(len(panels), rows["prompt_kind"].nunique(), "kinds"),
    )
    alt = "; ".join(
        f"{names.name('system', r['system'])}, {r['prompt_kind']}: {number(r['estimate'])}"
        for r in rows[rows["system"].isin(order[:10]) & surely(rows)].to_dict("records")
    )
    alt = f"Strength of systems by kind of prompt less that over all kinds. Beyond chance: {alt or 'none'}."
    return Plot(fig, name, alt, caption, title, "Strength by kind of prompt")


def _table(results: Results, names: DisplayNames, *, folded: bool) -> Iterator[Table]:
    places = results["kind_place"]
    if places.empty:
        return
    keys = [*BOARD, "system"]
    rows = places.drop_duplicates(keys)[keys].reset_index(drop=True)
    index, out = pd.MultiIndex.from_frame(rows), names.named(rows)
    for kind, of in places.groupby("prompt_kind", sort=False):
        out[f"Place, {kind}"] = cells.intervals(of.set_index(keys).reindex(index), 0).to_numpy()
    if len(wanted := results["target_mix_place"]):
        out["Place, wanted mix"] = cells.intervals(wanted.set_index(keys).reindex(index), 0).to_numpy()
    test = results["kinds_differ_for"].set_index(keys)["p_value"].reindex(index)
    out["p"] = cells.p_values(test).to_numpy()
    caption = (
        f"Places by kind of prompt as collected, with {names.ci} of all pairs of systems at once; p: test that the"
    )
    caption += " system's strength differs between kinds, corrected for testing many systems (Holm)."
    yield Table(
        out,
        "kind_places",
        caption,
        folded=folded,
        why=dict.fromkeys(out.columns, "No votes on the system in this kind."),
    )
