"""What notebook 12 says, in words of `text.md.j2`, and the table of its test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from judgebook.display import tables
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases, number
from judgebook.display.views import Prose, Table
from judgebook.questions.moderation.analysis import preferred
from judgebook.study.results import Results

CATEGORIES = {"-1": "Not acceptable (−1)", "0": "In between (0)", "1": "Acceptable (1)"}
_PHRASES = Phrases(__package__)


def findings(results: Results, names: DisplayNames, *, simulated: bool, alpha: float = 0.05) -> Iterator[Prose]:
    """Which systems' replies are preferred; agreement of annotators; flagged replies."""
    rows = results["moderation_lead"]
    better = [[names.name("system", s) for s in pair] for pair in preferred(rows, alpha)]
    alphas = results["alpha"].to_dict("records")
    yield Prose(_PHRASES.say("headline", n=len(rows), better=better, simulated=simulated, alpha=(alphas or [None])[0]))
    rates = [
        (names.name("system", r["system"]), r) for _, r in results["flagged_rate"].sort_values("estimate").iterrows()
    ]
    yield Prose(_PHRASES.say("flagged", rates=rates))


def leads(results: Results, names: DisplayNames) -> Table:
    """Wins minus losses of pairs of systems, in percent of their comparisons, with Holm-adjusted p-values."""
    rows = names.pairs(results["moderation_lead"])
    scaled = rows.assign(**{k: 100 * rows[k] for k in ("estimate", "ci_low", "ci_high")})
    out = names.named(rows[["corpus", "system"]].assign(Against=[names.name("system", s) for s in rows["system_b"]]))
    out["Wins minus losses (%)"] = tables.intervals(scaled, 1)
    out = out.assign(**{"p (Holm)": rows["p_adjusted"], "Judgements": rows["n"]})
    caption = "Wins minus losses of pairs of systems. The test reverses the outcomes of whole prompts at random."
    return Table(out, "leads", caption, 3)


def category_titles(scores: Iterable[str], names: DisplayNames) -> dict[str, str]:
    """Scores of the category label in order, with display names."""
    titles = CATEGORIES | names.titles.get("score", {})
    return {s: titles.get(s, f"Category {number(float(s), 0)}") for s in sorted(set(scores), key=float)}


def asked(names: DisplayNames) -> str:
    """What the categories answer, for captions, where answers are words."""
    return "".join(f" (asked: {title})" for title in names.titles.get("asked", {}).values())
