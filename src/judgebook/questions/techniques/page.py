"""The sections of notebook 11, without what it takes to compute them; `text.md.j2` puts into words what they say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from judgebook.annotations.features import undirected
from judgebook.display import captions
from judgebook.display.names import DisplayNames
from judgebook.display.page import NotebookPage, Section
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.techniques import sittings, turns, views
from judgebook.questions.techniques.question import Techniques
from judgebook.questions.techniques.sittings import TechniqueData, pair_key, together, uses
from judgebook.questions.techniques.turns import Paired, Turned
from judgebook.questions.techniques.views import FEW, median_hours, shown
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


class Sections(NotebookPage):
    """data, turned : what was judged as a whole and by turn. pairings : ratings and comparisons of the same systems."""

    data: sittings.TechniqueData
    turned: turns.Turned
    pairings: list[turns.Paired]
    results: Results
    names: DisplayNames

    def findings(self) -> Section:
        options, simulated = self.study.techniques, self.study.simulated
        yield findings(self.results, self.data, self.names, self.pairings, options, simulated=simulated)

    def compared(self) -> Section:
        yield compared(self.data, self.turned, self.names)
        yield without_winner(self.data, self.labels)

    def win_rates(self, every: pd.DataFrame, ties: str) -> Section:
        """Figure and tables of win rates. ties : how they count in the figure, half or drop."""
        rows = every[every["label"].isin(views.shown(self.data))] if len(every) else every
        if len(rows):
            drawn = views.described(rows[rows["ties"].isin([ties, "none"])], self.data, self.names)
            yield views.rates_figure(drawn, self.names, views.TIES[ties])
            yield views.rates(rows, self.data, self.names)

    def scores(self, every: pd.DataFrame) -> Section:
        """Tables of the scores of systems judged one at a time."""
        if len(every):
            yield views.scores(every, self.data, self.names)
            yield views.scores(every, self.turned.data, self.names, name="turn_scores")

    def chunks(self, every: pd.DataFrame) -> Section:
        """Table of standard deviations over parts of equal working time."""
        if len(every):
            yield views.chunks(every, self.data, self.names)

    def arranged(self, rows: pd.DataFrame, panel: str, hue: str) -> tuple[pd.DataFrame, str]:
        """Rates by turn with display names of the panel and the line of a figure, of at most 6 pairs or 12 systems; and
        what a caption says of those left out.

        panel, hue : Pair, System or Dimension.
        """
        data = self.turned.data if rows["method"].iloc[0] in self.turned.data.techniques else self.data
        shown = views.described(rows[rows["label"].isin(views.shown(data))].assign(technique=""), data, self.names)
        shown["Dimension"] = shown["label"].map(self.names.titles["dimension"])
        shown = shown.assign(panel=shown[panel].astype(str), hue=shown[hue].astype(str), x=shown["turn"])
        of, most, what = ("panel", 6, "pairs") if panel == "Pair" else ("hue", 12, "systems")
        every = shown[of].unique()
        note = captions.chosen(min(most, len(every)), len(every), f"{what} that come first")
        return shown[shown[of].isin(every[:most])], f" {note}" if note else ""

    def hours(self) -> Section:
        yield views.hours_figure(self.results, self.data, self.names, self.study.techniques)
        yield views.hours(self.results, self.data, self.names, self.study.techniques)
        yield views.seconds(self.results, self.data, self.names)
        yield reused(self.data, self.names)

    def turn_means(self) -> Section:
        yield views.turn_means(self.results, self.names)

    def reasons(self) -> Section:
        yield views.reasons(self.results, self.data, self.names)

    def messages(self) -> Section:
        yield views.checks(self.results)
