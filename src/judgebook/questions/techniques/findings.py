"""What notebook 11 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from judgebook.annotations.features import undirected
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.techniques.question import Techniques
from judgebook.questions.techniques.same_winner import REUSED
from judgebook.questions.techniques.sittings import TechniqueData, pair_key
from judgebook.questions.techniques.tables import FEW, median_hours, shown
from judgebook.questions.techniques.turn_marks import Turned
from judgebook.questions.techniques.turn_ratings import Paired
from judgebook.study.labels import Label
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)


def findings(
    results: Results,
    data: TechniqueData,
    names: DisplayNames,
    pairings: Sequence[Paired],
    options: Techniques,
    *,
    simulated: bool,
) -> Iterator[Prose]:
    """The headline; type I errors; whether ratings and comparisons agree; what marks of turns say."""
    parts = _hours(results, data, names)
    facts = {"power": options.power, "simulated": simulated, "parts": parts, "techniques": len(data.techniques)}
    same = len({part["ranked"][0][0] if part["ranked"] else None for part in parts}) == 1
    yield Prose(_PHRASES.say("headline", **facts, together=_together(results), same=same))
    yield Prose(_PHRASES.say("errors", **_errors(results), alpha=options.alpha))
    yield Prose(_PHRASES.say("same_winner", **_same_winner(results)))
    recency, first = _recency(results, names, pairings), not data.techniques
    yield Prose(_PHRASES.say("after_turns", parts=recency, first=first))
    yield Prose(_PHRASES.say("means", parts=_means(results, names)))
    yield Prose(_PHRASES.say("changes", parts=_changes(results, names), first=first and not recency))
    yield left_out(results, data, names)


def compared(data: TechniqueData, turned: Turned, names: DisplayNames) -> Prose:
    """The techniques, pairs of systems and dimensions; or what there is where nothing is compared."""
    if not data.techniques:
        marks = [
            {
                "group": names.name("group", group),
                "several": len(set(turned.marks["group"])) > 1,
                "n": rows["dialogue"].nunique(),
                "each": rows.groupby(["dialogue", "turn", "label"], observed=True).size().median(),
                "dimensions": [names.name("dimension", x) for x in rows["label"].unique()],
            }
            for group, rows in turned.marks.groupby("group", sort=False)
        ]
        systems = [names.name("system", s) for s in turned.data.systems]
        return Prose(_PHRASES.say("alone", marks=marks, systems=systems, rated=len(turned.ratings) > 0))
    named = [
        (names.titles["pair"].get(pair_key(*pair)), *(names.name("system", s) for s in pair)) for pair in data.pairs
    ]
    facts = {
        "techniques": [names.name("technique", t) for t in data.techniques],
        "pairs": [p for p in named if p[0]],
        "systems": [names.name("system", s) for s in data.systems],
        "n_pairs": len(data.pairs),
        "dimensions": [names.name("dimension", x) for x in data.labels],
        "shown": [names.name("dimension", x) for x in shown(data)],
    }
    return Prose(_PHRASES.say("compared", **facts))


def without_winner(data: TechniqueData, labels: Sequence[Label]) -> Prose:
    """Which judged labels nobody wins by, because nobody said which way is better, and what to write."""
    specs = [spec for name, spec in data.techniques.items() if data.pairs]
    judged = [x for x in labels for t in specs if x.method == t.method and t.rename.get(x.id, x.id) in data.labels]
    return Prose(undirected(judged))


def left_out(results: Results, data: TechniqueData, names: DisplayNames) -> Prose:
    """How many people fail a check of their messages, and what leaving them out changes."""
    counts = results["message_check"].pivot(index="check", columns="of", values="estimate").astype(int).T.to_dict()  # noqa: PD010
    moved, facts = results["message_effect"].dropna(subset="estimate"), dict[str, Any](n=0)
    if len(moved):
        most = moved.loc[moved["estimate"].abs().idxmax()]
        facts = {"n": len(moved), "fall": int((moved["estimate"] < 0).sum()), "most": most.to_dict()}
        facts["system"] = names.name("system", most["system"])
    first = not data.techniques and results["turn_half"].empty
    return Prose(_PHRASES.say("left_out", found=counts, first=first, facts=facts))


def reused(results: Results, names: DisplayNames) -> Prose:
    """Where dialogues are used in several comparisons, hours that treat these as independent are too low."""
    rows = results["technique_uses"]
    rows = rows[rows["estimate"] >= REUSED]
    uses = [(names.name("technique", t), mean) for t, mean in rows[["technique", "estimate"]].itertuples(index=False)]
    return Prose(_PHRASES.say("reused", uses=uses))


def first_significant(results: Results, options: Techniques) -> Prose:
    """How often tests after every rating find a difference between equal systems."""
    every = list(results["technique_false_crossing"]["estimate"])
    return Prose(_PHRASES.say("crossing", every=every, most=options.most_ratings))


def _hours(results: Results, data: TechniqueData, names: DisplayNames) -> list[dict]:
    """For each corpus and group the techniques with the fewest and the most hours, and those without a median."""
    median, out = median_hours(results, data, names), []
    places = [c for c in ("Corpus", "Group") if c in median]
    for place, part in median.groupby(places, sort=False) if places else [((), median)]:
        reached = part.dropna(subset="Hours").sort_values("Hours", kind="stable")
        named = reached["Differences"].map(
            lambda n: "" if n == 1 else "shortest and longest" if n < FEW else "quartiles"
        )
        columns = ["Technique", "Hours", "Lower quartile", "Upper quartile", "ends"]
        ranked = list(reached.assign(ends=named)[columns].itertuples(index=False, name=None))
        never = list(part.loc[part["Hours"].isna(), "Technique"])
        overlap = len(ranked) > 1 and not ranked[0][3] < ranked[-1][2]
        out.append({"place": ", ".join(place), "ranked": ranked, "never": never, "overlap": overlap})
    return [part for part in out if part["ranked"] or part["never"]]


def _errors(results: Results) -> dict:
    planned = results["technique_false_positive"]
    return {"planned": planned["estimate"].mean(), "rates": list(planned.groupby("technique")["estimate"].mean())}


def _same_winner(results: Results) -> dict:
    shares, tied = results["same_winner"]["estimate"].dropna(), results["tied_share"]
    ties = [list(tied.loc[tied["of"] == tied[side], "estimate"]) for side in ("technique", "against")]
    return {"shares": list(shares), "ties": ties, "together": _together(results)}


def _together(results: Results) -> bool:
    """Whether most ratings and comparisons of some techniques were given in the same sittings."""
    return bool((results["same_sitting"]["estimate"] > 0.5).any())


def _recency(results: Results, names: DisplayNames, pairings: Sequence[Paired]) -> list[dict]:
    """For each corpus and groups of markers and raters: whose marks and ratings, and whether later turns count more."""
    key, out = ["corpus", "group", "group_b"], []
    for row, pairing in zip(results["turn_conversations"].to_dict("records"), pairings, strict=True):
        place = {k: row[k] if pd.notna(row[k]) else None for k in key}
        recency = results.select("turn_recency", **place).dropna(subset=["estimate", "ci_low"])
        raters = names.name("group", place["group_b"] or row["group"])
        part = {
            "people": row["people"],
            "counted": row["counted"],
            "n": int(row["estimate"]),
            "turns": len(pairing.turns),
        }
        part |= {"markers": names.name("group", row["group"]), "raters": raters}
        part["halves"] = {r["half"]: r for r in recency.to_dict("records")}
        out.append(part | {"place": _place(results["turn_conversations"], row, names)})
    return out


def _place(rows: pd.DataFrame, row: dict, names: DisplayNames) -> str:
    """Corpus and groups of a result, where there are several."""
    words = [names.name("corpus", row["corpus"])] if len(set(rows["corpus"])) > 1 else []
    groups = [g for g in ("group", "group_b") if len(rows[g].drop_duplicates()) > 1 and pd.notna(row[g])]
    return ", ".join([*words, *(names.name("group", row[g]) for g in groups)])


def _means(results: Results, names: DisplayNames) -> list[dict]:
    """Correlations of mean marks with ratings, the largest and the smallest, for each corpus and groups."""
    rows, out = results.select("turn_mean_correlation", coefficient="spearman").dropna(subset="estimate"), []
    for _, part in rows.groupby(["corpus", "group", "group_b"], dropna=False, sort=False):
        means = part.sort_values("estimate", ascending=False).to_dict("records")
        means = [row | {"title": names.name("dimension", row["label"])} for row in means]
        out.append({"rows": means, "place": _place(rows, means[0], names)})
    return out


def _changes(results: Results, names: DisplayNames) -> list[dict]:
    """Dimensions whose marks change over a conversation, for each corpus, group and method."""
    rows, out = results.select("turn_half", half="difference"), []
    for _, part in rows.groupby(["corpus", "group", "method"], sort=False):
        changes = [row | {"title": names.name("dimension", row["label"])} for row in part.to_dict("records")]
        place = [_place(rows, changes[0], names)]
        place += [names.name("method", changes[0]["method"])] * (len(set(rows["method"])) > 1)
        some = [row for row in changes if row["p_adjusted"] < 0.05]
        out.append({"rows": changes, "some": some, "n": len(changes), "place": ", ".join(p for p in place if p)})
    return out
