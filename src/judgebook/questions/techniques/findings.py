"""What notebook 11 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from judgebook.annotations.features import undirected
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.techniques.question import Techniques
from judgebook.questions.techniques.sittings import TechniqueData, pair_key, together, uses
from judgebook.questions.techniques.tables import FEW, median_hours, shown
from judgebook.questions.techniques.turns import Paired, Turned
from judgebook.study.labels import Label
from judgebook.study.results import Results

#: conversations are called reused when each is in at least this many comparisons on average
REUSED = 1.5
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
    """The headline; type I errors; what marks of turns say of ratings, and whose they are."""
    parts, means = _hours(results, data, names), _means(results, names)
    nothing = not (data.techniques or means or len(results["message_check"]))
    facts = {
        "nothing": nothing,
        "power": options.power,
        "simulated": simulated,
        "parts": parts,
        "techniques": len(data.techniques),
    }
    same = len({part["ranked"][0][0] if part["ranked"] else None for part in parts}) == 1
    yield Prose(_PHRASES.say("headline", **facts, together=together(data), same=same))
    yield Prose(_PHRASES.say("errors", **_errors(results), alpha=options.alpha))
    yield Prose(_PHRASES.say("means", parts=means, first=not data.techniques))
    yield Prose(_PHRASES.say("whose", parts=_whose(results, names, pairings)))
    yield left_out(results, first=not data.techniques and not means)


def compared(data: TechniqueData, turned: Turned, names: DisplayNames) -> Prose:
    """The techniques, pairs of systems and dimensions; or what there is where nothing is compared."""
    if not data.techniques:
        return Prose(_PHRASES.say("alone", rated=len(turned.ratings) > 0))
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


def left_out(results: Results, *, first: bool) -> Prose:
    """How many people fail a check of their messages."""
    counts = results["message_check"].pivot(index="check", columns="of", values="estimate").astype(int).T.to_dict()  # noqa: PD010
    return Prose(_PHRASES.say("left_out", found=counts, first=first))


def reused(data: TechniqueData, names: DisplayNames) -> Prose:
    """Where dialogues are used in several comparisons, hours that treat these as independent are too low."""
    compared = {
        t: rows.groupby(["corpus", "group"], sort=False) for t, rows in data.sittings.items() if data.compares(t)
    }
    often = [(names.name("technique", t), uses(part)) for t, parts in compared.items() for _, part in parts]
    return Prose(_PHRASES.say("reused", uses=[(name, mean) for name, mean in often if mean >= REUSED]))


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


def _whose(results: Results, names: DisplayNames, pairings: Sequence[Paired]) -> list[dict]:
    """For each corpus and groups of markers and raters, whose the marks of turns and the ratings are."""
    rows, out = results["turn_conversations"], []
    for row, pairing in zip(rows.to_dict("records"), pairings, strict=True):
        raters = row["group_b"] if pd.notna(row["group_b"]) else row["group"]
        who = {"markers": names.name("group", row["group"]), "raters": names.name("group", raters)}
        what = {"people": row["people"], "counted": row["counted"], "turns": len(pairing.turns)}
        out.append(what | who | {"place": _place(rows, row, names)})
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
