"""What notebook 19 shows and says of boards at equal covariates; `text.md.j2` puts it into words."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from judgebook.display import captions, cells
from judgebook.display.grid_plots import DRAWN, MOST
from judgebook.display.names import BAD, GOOD, OPEN, DisplayNames
from judgebook.display.plots import forest
from judgebook.display.style import INK, PAGE, handle, legend_of, panel, subplots, tips
from judgebook.display.text import Phrases, span
from judgebook.display.views import Plot, Prose, Table
from judgebook.questions.comparisons.adjusted import COLLECTED, EQUAL, THESE
from judgebook.questions.performance.arrangement import part_names
from judgebook.study.results import ResultRows, Results, where

_PHRASES = Phrases(__package__)
BOARD = ["corpus", "group", "method", "label"]
#: panels beside each other, letters of a system's name, inches of a row and around the rows
_ACROSS, _NAME, _ROW, _AROUND = 3, 40, 0.165, 1.0


def surely(rows: ResultRows) -> pd.Series:
    """Which moves are larger than chance explains: their interval has no 0 in it."""
    return (rows["ci_low"] > 0) | (rows["ci_high"] < 0)


def facts(results: Results, names: DisplayNames) -> dict[str, Any]:
    """`boards` : of each label and group who votes, n systems, how many `moved` surely, the `system` that moved most of
    these, by how many places (`most`) and whether `up`, the first `before` and `after`, whether it is another
    (`turned`) and surely. covariates : made equal. reasons : why others are not. these : whether effects hold for these
    prompts only."""
    places, moved = results["board_place"], results["places_moved"]
    effects = results["covariate_effect"]
    known = effects[effects["estimate"].notna()]
    reasons = effects[effects["estimate"].isna()].drop_duplicates("covariate")
    told = [{"name": r["covariate"], "why": r["note"]} for r in reasons.to_dict("records")]
    boards = []
    for (key, rows), who in zip(moved.groupby(BOARD, sort=False), who_votes(moved, names), strict=True):
        sure = rows[surely(rows)]
        at = where(places, **dict(zip(BOARD, key, strict=True))).set_index("system")
        before, after = (at.loc[at["board"] == b, "estimate"].idxmin() for b in (COLLECTED, EQUAL))
        one: dict[str, Any] = {"who": who, "n": len(rows), "moved": len(sure), "turned": before != after}
        one |= {"before": names.name("system", before), "after": names.name("system", after)}
        one["turned_surely"] = bool(sure["system"].isin([before, after]).any())
        if len(sure):
            most = sure.loc[sure["estimate"].abs().idxmax()]
            one |= {"system": names.name("system", most["system"]), "up": bool(most["estimate"] > 0)}
            one["most"] = int(abs(most["estimate"]))
        boards.append(one)
    covariates, these = list(dict.fromkeys(known["covariate"])), bool((known["resample_unit"] == THESE).any())
    return {"boards": boards, "covariates": covariates, "reasons": told, "these": these}


def who_votes(rows: ResultRows, names: DisplayNames) -> list[str]:
    """What distinguishes each board, in order: the label, corpus and group, whichever differ; '' of a single one."""
    first = rows.drop_duplicates(BOARD)
    labels = [
        names.distinct_label(label, method) for label, method in zip(first["label"], first["method"], strict=True)
    ]
    parts = part_names(first, names)
    kinds = [labels if len(set(labels)) > 1 else None, list(parts) if len(set(parts)) > 1 else None]
    return [", ".join(kind[i] for kind in kinds if kind) for i in range(len(first))]


def findings(results: Results, names: DisplayNames) -> Iterator[Prose]:
    """The headline: what moves at equal covariates."""
    yield Prose(_PHRASES.say("headline", **facts(results, names)))


def effects(results: Results, names: DisplayNames, ratios: tuple[str, ...] = ()) -> Iterator[Prose | Plot]:
    """What each covariate does to votes, in words and as a figure; where groups differ."""
    wins, told = _wins(results), facts(results, names)
    left_out = int(results["votes_left_out"]["estimate"].sum())
    if wins.empty:
        return
    who = dict(
        zip(wins.drop_duplicates(BOARD)[BOARD].itertuples(index=False, name=None), who_votes(wins, names), strict=True)
    )
    every = [
        {
            "name": name,
            "ratio": name in ratios,
            "of": [{"who": who[tuple(row[c] for c in BOARD)], "wins": row} for row in rows.to_dict("records")],
            "ends": [100 * rows["estimate"].min(), 100 * rows["estimate"].max()],
            "beyond": int((rows["p_adjusted"] < 1 - names.confidence).sum()),
        }
        for name, rows in wins.groupby("covariate", sort=False)
    ]
    yield Prose(
        _PHRASES.say("effects", by_covariate=every, left_out=left_out, **{k: told[k] for k in ("reasons", "these")})
    )
    yield Prose(_PHRASES.say("same", differences=_differences(results, names)))
    yield _forest(wins, names)


def _wins(results: Results) -> ResultRows:
    """`covariate_wins`, with the adjusted p-values of effects."""
    keys = [*BOARD, "covariate"]
    of_effects = results["covariate_effect"].set_index(keys)["p_adjusted"]
    return results["covariate_wins"].drop(columns="p_adjusted").join(of_effects, on=keys)


def _differences(results: Results, names: DisplayNames) -> list[dict[str, Any]]:
    rows = results["covariate_difference"]
    return [
        {
            "name": row["covariate"],
            "gap": row["estimate"],
            "row": row,
            "who": names.name("group", row["group"]),
            "reference": names.name("group", row["group_b"]),
        }
        for row in rows[rows["p_adjusted"] < 1 - names.confidence].to_dict("records")
    ]


def _forest(wins: ResultRows, names: DisplayNames) -> Plot:
    """Of 100 votes, how many go to the side with more of a covariate: a panel for each."""
    rows = wins.assign(**{c: 100 * wins[c] for c in ("estimate", "ci_low", "ci_high")})
    called = {c: _PHRASES.say("more", name=c, ratio=False) for c in dict.fromkeys(rows["covariate"])}
    parts = [names.sort(part) for _, part in rows.groupby("covariate", sort=False)]
    low, high = rows["ci_low"].min(), rows["ci_high"].max()
    limits = (min(low, 45.0) - 2, max(high, 55.0) + 2)
    heights = [len(part) + 2.5 for part in parts]
    fig, axes = subplots(
        len(parts),
        1,
        squeeze=False,
        sharex=True,
        width=5.4,
        height=_ROW * sum(heights) + 0.5 * len(parts) + 0.4,
        gridspec_kw={"height_ratios": heights},
    )
    for ax, part, title in zip(axes.flat, parts, called.values(), strict=True):
        forest(part, ax, names, xlim=limits, reference=(50.0,), decimals=0)
        panel(ax, part, names)
        ax.set_title(title[0].upper() + title[1:])
    axes[-1, 0].set_xlabel("Votes won of 100 between otherwise equal answers, ties left out")
    groups = list(names.sort(rows)["group"].unique())
    if len(groups) > 1:
        legend_of(
            fig, [handle(names.name("group", g), names.color("group", g), names.marker("group", g)) for g in groups]
        )
    caption = f"Lines: {names.ci} of each effect alone; 50 means no effect."
    told = [
        f"{called[name]}: {span(part['estimate'], 0)} of 100" + (f" on {len(part)} boards" if len(part) > 1 else "")
        for name, part in rows.groupby("covariate", sort=False)
    ]
    alt = f"Votes won: {'; '.join(told)}."
    return Plot(fig, "effects", alt, caption, effects_title(wins, names), "Votes won, by covariate")


def effects_title(wins: ResultRows, names: DisplayNames) -> str:
    """Whom the first covariate sways that sways anybody."""
    for name, rows in wins.groupby("covariate", sort=False):
        clear = rows[rows["p_adjusted"] < 1 - names.confidence]
        more, less = clear[clear["estimate"] > 0.5], clear[clear["estimate"] < 0.5]
        if len(more) or len(less):
            told = ([*dict.fromkeys(names.name("group", g) for g in part["group"])] for part in (more, less))
            more_, less_ = told
            return _PHRASES.say("effects_title", name=name, more=more_, less=less_, n=rows["group"].nunique())
    return _PHRASES.say("effects_title", name="", more=[], less=[], n=0)


def moved(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Places as collected and at equal covariates, a figure for each label and a panel for each run and group."""
    told = facts(results, names)
    rows = results["places_moved"]
    if rows.empty:
        return
    at = results["board_place"].pivot_table(index=[*BOARD, "system"], columns="board", values="estimate")
    rows = rows.join(at, on=[*BOARD, "system"]).assign(sure=surely(rows))
    for i, (_, part) in enumerate(rows.groupby(["method", "label"], sort=False)):
        boards = [b for b, key in zip(told["boards"], rows.groupby(BOARD, sort=False).groups, strict=True)
                  if key[2:] == (part["method"].iloc[0], part["label"].iloc[0])]  # fmt: skip
        if i and not any(board["moved"] for board in boards):
            continue  # that nothing moves is shown once
        title = _PHRASES.say("moved_title", boards=boards, covariates=told["covariates"])
        yield _dumbbells(part, names, f"moved_{i}" if i else "moved", title)


def _dumbbells(rows: pd.DataFrame, names: DisplayNames, name: str, title: str) -> Plot:
    parts = part_names(rows, names)
    panels = list(dict.fromkeys(parts))[:_ACROSS]
    main = rows[parts == panels[0]].sort_values(COLLECTED, kind="stable")
    shown = list(dict.fromkeys([*main["system"], *rows["system"]]))
    every = len(shown)
    if every > MOST:
        size = rows["estimate"].abs().where(rows["sure"], 0).groupby(rows["system"]).max()
        most = set(size.sort_values(ascending=False, kind="stable").index[:DRAWN])
        shown = [s for s in shown if s in most]
    titles = [fill(names.name("system", s), _NAME) for s in shown]
    lines = sum(t.count("\n") + 1 for t in titles)
    fig, axes = subplots(
        1,
        len(panels),
        squeeze=False,
        sharey=True,
        width=PAGE if len(panels) > 1 else 4.8,
        height=_ROW * lines + _AROUND,
    )
    for ax, part in zip(axes.flat, panels, strict=True):
        of = rows[parts == part].set_index("system").reindex(shown)
        _dumbbell(ax, of, titles, part, int(rows.loc[parts == part, COLLECTED].max()))
        panel(ax, rows[parts == part], names)
        ax.set_title(fill(part, 26) if len(panels) > 1 else "")
    axes[0, 0].set_yticks(range(len(titles)), titles)
    axes[0, 0].set_ylim(len(titles) - 0.4, -0.6)
    fig.supxlabel("Place (1 is the first)", fontsize=8)
    legend_of(fig, _keys())
    caption = f"Band: places possible within the joint {names.ci} of the effects. A move is beyond chance if the band"
    caption += " lies wholly on one side of the place as collected, which is taken as exact here; the table has how"
    caption += " uncertain it is."
    caption = captions.joined(caption, captions.chosen(len(shown), every, "systems that moved most beyond chance"))
    listed = [
        f"{t.replace(chr(10), ' ')} {r[COLLECTED]:g} to {r[EQUAL]:g}"
        for t, r in zip(titles, main.set_index("system").reindex(shown).to_dict("records"), strict=True)
    ]
    alt = f"Places as collected and at equal covariates, {panels[0]}: {'; '.join(listed)}."
    return Plot(fig, name, alt, caption, title, "Places of systems as collected and at equal covariates")


def _keys() -> list[Any]:
    return [
        handle("as collected", INK, "o", 0, markerfacecolor="white"),
        handle("at equal covariates: higher, beyond chance", GOOD, "D", 0),
        handle("lower, beyond chance", BAD, "v", 0),
        handle("within chance", OPEN, "s", 0),
    ]


def _dumbbell(ax: Axes, rows: pd.DataFrame, titles: list[str], part: str, last: int) -> None:
    y, before, after = np.arange(len(rows)), rows[COLLECTED].to_numpy(float), rows[EQUAL].to_numpy(float)
    ends = before[:, None] - rows[["ci_high", "ci_low"]].to_numpy(float)
    ax.hlines(y, *ends.T, color="#D5DCE4", linewidth=5)
    up, sure = rows["estimate"].to_numpy(float) > 0, rows["sure"].fillna(False).to_numpy(bool)
    for of, color, marker in ((sure & up, GOOD, "D"), (sure & ~up, BAD, "v"), (~sure, OPEN, "s")):
        ax.hlines(y[of], before[of], after[of], color=color, linewidth=1.3)
        ax.plot(after[of], y[of], marker, color=color, markersize=4.2, linestyle="")
    ax.plot(before, y, "o", color=INK, markerfacecolor="white", markersize=4.2, linestyle="")
    ax.set_xlim(last + 0.03 * last + 0.5, 0.5 - 0.03 * last)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="x")
    said = [
        f"{title.replace(chr(10), ' ')}, {part}: place {b:g}, then {a:g}"
        for title, b, a in zip(titles, before, after, strict=True)
    ]
    tips(ax, said, np.fmin(before, after), y - 0.3, x_to=np.fmax(before, after), y_to=y + 0.3)


def boards(results: Results, names: DisplayNames) -> Iterator[Table]:
    """Both boards side by side, by method: places with intervals, places and strength moved."""
    places = results["board_place"]
    if places.empty:
        return
    keys = [*BOARD, "system"]
    both = {b: places[places["board"] == b].set_index(keys) for b in (COLLECTED, EQUAL)}
    moves = {s: results[s].set_index(keys) for s in ("places_moved", "strength_moved")}
    strength = where(results["board_strength"], board=EQUAL).set_index(keys)
    rows = both[COLLECTED].reset_index()
    rows = rows.assign(_part=part_names(rows, names)).sort_values(
        ["method", "label", "_part", "estimate"], kind="stable"
    )
    index = pd.MultiIndex.from_frame(rows[keys])
    out = names.named(rows[keys]).reset_index(drop=True)
    out["Place"] = cells.intervals(both[COLLECTED].reindex(index), 0).to_numpy()
    out["Place, equal"] = cells.intervals(both[EQUAL].reindex(index), 0).to_numpy()
    out["Places moved"] = cells.intervals(moves["places_moved"].reindex(index), 0).to_numpy()
    out["Strength, equal"] = cells.intervals(strength.reindex(index)).to_numpy()
    out["Strength moved"] = cells.intervals(moves["strength_moved"].reindex(index)).to_numpy()
    caption = f"Places as collected and at equal covariates, with {names.ci} of all pairs of systems at once; places"
    caption += " moved (above 0: nearer to the first) and strengths (log odds), with intervals of all moves at once."
    caption += (
        " Adjusting spreads strengths out: what a strength moves is on the adjusted scale, not the difference from"
    )
    caption += " the strength in notebook 07."
    why = dict.fromkeys(out.columns, "The systems cannot be compared, or nothing was made equal.")
    yield Table(out, "boards", caption, why=why, folded=len(out) > MOST)
