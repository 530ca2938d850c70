"""What notebook 80 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.operating_characteristics.procedures import (
    ALTERNATIVE,
    NOMINAL,
    PRIMARY,
    PUBLISHED,
    SAMPLE,
    by_question,
    closer,
    interval_role,
    pool,
    primary_procedures,
    rejection_rates,
)
from judgebook.questions.operating_characteristics.question import Operating
from judgebook.questions.operating_characteristics.tables import design_of, rate, test_name, title
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)
#: fewer items, or marks of the rarer value, than this are few
FEW_ITEMS, FEW_MARKS = 25, 30


def findings(results: Results, names: DisplayNames, *, confidence: float, simulated: bool) -> Iterator[Prose]:
    """The headlines: primary procedures, published tests and intervals; type I error by method; sequential testing."""
    yield from procedures(results, names, confidence)
    rates = names.sort(rejection_rates(results))
    rates = rates[rates["role"] != ALTERNATIVE]
    name = [test_name(t, level) for t, level in zip(rates["test"], rates["level"], strict=True)]
    rates = rates.assign(title=[names.name("method", m) for m in rates["method"]], name=name)
    fits = results.select("null_rejection", test="contrast").query("n > 0")["estimate"]
    methods = [(m, part.to_dict("records")) for m, part in rates.groupby("title", sort=False)]
    facts = {"published": rates.to_dict("records"), "fits": list(fits), "intervals": _closer(results, confidence)}
    yield Prose(_PHRASES.say("headline", level=confidence, nominal=NOMINAL, simulated=simulated, **facts))
    yield Prose(_PHRASES.say("size", methods=methods, nominal=NOMINAL))
    yield Prose(_PHRASES.say("sequential", nominal=NOMINAL, **_sequential(results["false_crossing"])))


def procedures(results: Results, names: DisplayNames, confidence: float) -> Iterator[Prose]:
    """How many primary procedures keep their nominal rate, which do not, and what holds if annotators are a sample."""
    rows = primary_procedures(results, confidence)
    if rows.empty:
        return
    rows["title"] = [title(r) for r in rows.itertuples()]
    rows["where"] = [names.name("method", m) if isinstance(m, str) else "" for m in rows["method"]]
    rows["rate"] = [rate(r) for r in rows.to_dict("records")]
    rows["design"] = [design_of(r) for r in rows.itertuples()]
    claimed = rows[rows["claimed"]]
    others = rows[~rows["claimed"] & ~rows["kept"] & (rows["people"] == SAMPLE)]
    facts = {"broken": claimed[~claimed["kept"]].to_dict("records"), "people": others.to_dict("records")}
    yield Prose(_PHRASES.say("procedures", n=len(claimed), kept=int(claimed["kept"].sum()), **facts))
    yield Prose(_PHRASES.say("people", **facts))


def _closer(results: Results, confidence: float) -> dict[str, list[str]]:
    """Questions for which primary, published or neither intervals have the coverage closer to the confidence level."""
    out: dict[str, list[str]] = {PRIMARY: [], PUBLISHED: [], "neither": []}
    rows = by_question(results)
    for question, part in rows.groupby("question", sort=False) if len(rows) else ():
        one = {role: of_role.iloc[0] for role, of_role in part.groupby("role")}
        if PUBLISHED in one and PRIMARY in one:
            out[closer(one[PUBLISHED], one[PRIMARY], confidence) or "neither"].append(question)
    return out


def _sequential(rows: pd.DataFrame) -> dict:
    shares = {looks: list(of_looks["estimate"]) for looks, of_looks in rows.groupby("looks")}
    n = int(rows["n_dialogues"].max()) if len(rows) else 0
    return {"each": shares.get("each", []), "last": shares.get("last", []), "n": n}


def simulated_from(results: Results, names: DisplayNames, sizes: Operating) -> Prose:
    """Whose judgements samples are drawn from, how many, and which parts the data do not allow."""
    shown = {s: results[s] for s in ("null_rejection", "interval_coverage")}
    of = set(shown["interval_coverage"]["of"])
    parts = {
        "tests": len(shown["null_rejection"]),
        "agreement": "alpha" in of,
        "estimates": of & {"rate", "mean"},
        "correlation": "r" in of,
        "groups": "group_difference" in of,
    }
    group = next((g for g in pd.concat(shown.values())["group"] if g != "all"), None)
    facts = {
        "group": group and names.name("group", group),
        "absent": [p for p, present in parts.items() if not present],
    }
    return Prose(_PHRASES.say("simulated_from", n_runs=sizes.n_runs, n_resamples=sizes.n_resamples, **facts))


def alpha(results: Results, confidence: float) -> Prose:
    """Coverage of intervals of alpha: over dialogues and turns, and with few items or marks."""
    rows = results.select("interval_coverage", of="alpha", scenario=None).query("n > 0")
    dialogues = []
    for n, part in rows[rows["sample"] == "dialogue"].groupby("sample_size"):
        roles = [interval_role("alpha", r.interval, r.over) for r in part.itertuples()]
        shares = pool(part.assign(role=roles), ["role"]).set_index("role")["estimate"]
        over_turns = part[(part["over"] == "turn") & (part["interval"] == "bca")]["estimate"]
        turns = shares[PUBLISHED] if len(over_turns) else None
        facts = {"n": int(n), "primary": shares[PRIMARY], "turns": turns, "lowest": over_turns.min()}
        dialogues.append(facts)
    items = rows[(rows["sample"] == "item") & (rows["interval"] == "bca")]
    ratings, marks = items[items["marks"].isna()], items[items["marks"].notna()]
    facts = {"ratings": _few(ratings, "sample_size", FEW_ITEMS), "marks": _few(marks, "marks", FEW_MARKS)}
    return Prose(_PHRASES.say("alpha", dialogues=dialogues, few=(FEW_ITEMS, FEW_MARKS), level=confidence, **facts))


def _few(rows: pd.DataFrame, size: str, enough: int) -> dict[str, dict | None]:
    """Range of coverage over labels, and share of samples without an interval, with few and with enough."""
    out: dict[str, dict | None] = {}
    for key, part in (("enough", rows[rows[size] >= enough]), ("few", rows[rows[size] < enough])):
        missing, reported = part["n_undefined"].sum(), part["n"].sum()
        facts = (
            {"range": list(part["estimate"]), "missing": float(missing / (missing + reported))} if len(part) else None
        )
        out[key] = facts
    return out if len(rows) else {}
