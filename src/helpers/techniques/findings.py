"""What notebook 11 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from helpers.display.names import DisplayNames
from helpers.display.text import Phrases
from helpers.display.views import Prose
from helpers.study.results import Results
from helpers.study.sections.analyses import Techniques
from helpers.techniques.sittings import TechniqueData
from helpers.techniques.tables import median_hours, pair_title, shown
from helpers.techniques.win_rates import REUSED

_PHRASES = Phrases(__package__)


def findings(
    results: Results, data: TechniqueData, names: DisplayNames, options: Techniques, *, simulated: bool
) -> Iterator[Prose]:
    """The headline; type I errors; whether ratings and comparisons agree; ties."""
    parts = _hours(results, data, names)
    facts = {"parts": parts, "power": options.power, "simulated": simulated, "techniques": len(data.techniques)}
    facts["same"] = len({part["ranked"][0][0] if part["ranked"] else None for part in parts}) == 1
    yield Prose(_PHRASES.say("headline", **facts))
    yield Prose(_PHRASES.say("errors", **_errors(results), alpha=options.alpha, most=options.most_ratings))
    yield Prose(_PHRASES.say("same_winner", **_same_winner(results)))
    yield Prose(_PHRASES.say("ties", **_ties(results, names)))


def compared(data: TechniqueData, names: DisplayNames) -> Prose:
    """The techniques, pairs of systems and dimensions."""
    named = [(names.titles["pair"].get(pair), *(names.name("system", s) for s in pair)) for pair in data.pairs]
    facts = {
        "techniques": [names.name("technique", t) for t in data.techniques],
        "pairs": [p for p in named if p[0]],
        "systems": [names.name("system", s) for s in data.systems],
        "n_pairs": len(data.pairs),
        "dimensions": [names.name("dimension", x) for x in data.labels],
        "shown": [names.name("dimension", x) for x in shown(data)],
    }
    return Prose(_PHRASES.say("compared", **facts))


def left_out(results: Results, people: int) -> Prose:
    """How many people fail a check of their messages. people : how many typed messages."""
    failed = results.select("message_check", check="any").set_index("of")["estimate"]
    return Prose(_PHRASES.say("left_out", failed=failed.astype(int).to_dict(), people=people))


def turns(results: Results) -> Prose:
    """How the first turn of comparisons differs from later ones."""
    rows = results["turn_rate"].dropna(subset="system_b")
    if rows.empty:
        return Prose("" if len(results["turn_rate"]) else "In this study whole dialogues are judged, not turns.")
    rows = rows.assign(first=rows["turn"].astype(int) == rows["turn"].astype(int).min())
    mean = rows.groupby(["system", "system_b", "label", "first"])["estimate"].mean().unstack("first")  # noqa: PD010
    higher = int((mean[False] > mean[True]).sum())
    return Prose(_PHRASES.say("turns", first=mean[True].mean(), later=mean[False].mean(), higher=higher, n=len(mean)))


def reused(results: Results, names: DisplayNames) -> Prose:
    """Where dialogues are used in several comparisons, hours that treat these as independent are too low."""
    rows = results["technique_uses"]
    rows = rows[rows["estimate"] >= REUSED]
    uses = [(names.name("technique", t), mean) for t, mean in rows[["technique", "estimate"]].itertuples(index=False)]
    return Prose(_PHRASES.say("reused", uses=uses))


def printed(rates: pd.DataFrame, names: DisplayNames) -> Prose:
    """How many printed effective win rates the printed rates allow, by the way of counting ties."""
    if rates.empty:
        return Prose("No printed rates are given for this study.")
    neither = ~rates.groupby(["system", "system_b", "label"])["fits"].any()
    lost = [f"{pair_title(names, a, b)}, {names.name('dimension', x)}" for a, b, x in neither.index[neither]]
    fits = rates.groupby("ties")["fits"].sum().astype(int).to_dict()
    return Prose(_PHRASES.say("printed", fits=fits, n=len(neither), lost=lost))


def nearness(cells: pd.DataFrame, *, simulated: bool) -> Prose:
    """What closeness to printed numbers shows in a study simulated from them. cells : `calibrated.beside`."""
    if cells.empty or not simulated:
        return Prose("")
    linear = cells[(cells["element"] == "Table 1") & cells["column"].str.endswith("_lin") & cells["low"].notna()]
    half = 0.5 * 10.0 ** -linear["decimals"]
    inside = int(linear["value"].between(linear["low"] - half, linear["high"] + half).sum())
    return Prose(_PHRASES.say("nearness", n=len(linear), inside=inside))


def _hours(results: Results, data: TechniqueData, names: DisplayNames) -> list[dict]:
    """For each corpus and group the techniques with the fewest and the most hours, and those without a median."""
    median, out = median_hours(results, data, names), []
    places = [c for c in ("Corpus", "Group") if c in median]
    for place, part in median.groupby(places, sort=False) if places else [((), median)]:
        reached = part.dropna(subset="Hours").sort_values("Hours", kind="stable")
        ranked = list(
            reached[["Technique", "Hours", "Lower quartile", "Upper quartile"]].itertuples(index=False, name=None)
        )
        never = list(part.loc[part["Hours"].isna(), "Technique"])
        out.append({"place": ", ".join(place), "ranked": ranked, "never": never})
    return [part for part in out if part["ranked"] or part["never"]]


def _errors(results: Results) -> dict:
    planned, every = (results[f"technique_false_{test}"] for test in ("positive", "crossing"))
    rates = list(planned.groupby("technique")["estimate"].mean())
    return {"planned": planned["estimate"].mean(), "rates": rates, "every": list(every["estimate"])}


def _same_winner(results: Results) -> dict:
    shares, tied = results["same_winner"]["estimate"], results["tied_share"]
    together = results["same_sitting"]["estimate"]
    ties = [list(tied.loc[tied["of"] == tied[side], "estimate"]) for side in ("technique", "against")]
    return {"shares": list(shares), "ties": ties, "together": len(together) > 0 and together.max() > 0.5}


def _ties(results: Results, names: DisplayNames) -> dict:
    rows = pd.concat([results.select(s, ties=["drop", "half"]) for s in ("technique_win_rate", "effective_win_rate")])
    rows = rows[rows["data"].isna()]
    key = ["corpus", "group", "technique", "system", "system_b", "label"]
    wide = rows.pivot_table(index=key, columns="ties", values="estimate").dropna()
    if wide.empty or not (wide["drop"] != wide["half"]).any():
        return {"gap": None, "technique": "", "most": None}
    gap = 100 * (wide["drop"] - wide["half"]).abs()
    means = gap.groupby(level="technique").mean().sort_values(ascending=False)
    return {"gap": gap.mean(), "technique": names.name("technique", means.index[0]), "most": means.iloc[0]}
