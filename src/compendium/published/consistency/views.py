"""What notebook 91 shows of the audit, and of what earlier studies examined."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import combinations

import pandas as pd
from matplotlib.ticker import PercentFormatter

from compendium.published import numbers
from compendium.published.consistency import analysis, rules
from compendium.published.consistency.analysis import CONTRADICTS, FOLLOWS, Audit, by_check, failures
from compendium.published.consistency.rules import CONSISTENT
from compendium.published.mapping import title
from compendium.published.numbers import PLACE
from judgebook.display.plots import heatmap
from judgebook.display.style import subplots
from judgebook.display.text import Phrases
from judgebook.display.views import Plot, Prose, Table

_PHRASES = Phrases(__package__)


def findings(audited: Audit) -> Iterator[Prose]:
    """The headline; where each paper's checks fail; what it means that a number follows."""
    checks = by_check(audited.checks)
    firm, conditional = failures(checks)
    facts = {
        "n": len(audited.cells),
        "n_papers": len(audited.titles),
        "checks": len(checks),
        "places": len(audited.checks),
    }
    facts |= {
        name: int((audited.cells["state"] == s).sum()) for name, s in (("follow", FOLLOWS), ("against", CONTRADICTS))
    }
    yield Prose(_PHRASES.say("headline", firm=len(firm), conditional=len(conditional), **facts))
    papers = [(name, firm.loc[firm["paper"] == paper, "element"]) for paper, name in audited.titles.items()]
    yield Prose(_PHRASES.say("papers", papers=[(name, len(e), list(dict.fromkeys(e))) for name, e in papers]))
    yield Prose(_PHRASES.say("meaning"))


#: outcome of checks -> display name
KINDS = {
    rules.CONSISTENT: "consistent",
    rules.INCONSISTENT: "inconsistent",
    analysis.CONDITIONAL: "inconsistent only under an assumption",
    rules.OPEN: "not checkable",
}
#: state of printed numbers -> display name
STATE_NAMES = {
    analysis.FOLLOWS: "follows from others",
    analysis.CONSISTENT_WITH: "consistent with others",
    analysis.CONTRADICTS: "contradicts others",
    analysis.INVOLVED: "used to check others",
    analysis.NONE: "in no check",
}


def outcomes(audited: Audit) -> Plot:
    """Checks by outcome, and printed numbers by state, per paper; those of whose numbers none is related to another
    share a row."""
    states = _counted(audited.cells, "state", STATE_NAMES, audited.titles)
    alone = states.index[states[STATE_NAMES[analysis.NONE].capitalize()] == states.sum(axis=1)]
    states = _pooled(states, alone)
    checks = _pooled(_counted(by_check(audited.checks), "kind", KINDS, audited.titles), alone)
    fig, axes = subplots(2, 1, height=0.4 * len(checks) + 2.2)
    for ax, (name, counts) in zip(axes, {"Checks": checks, "Printed numbers": states}.items(), strict=True):
        total = counts.sum(axis=1)
        tooltips = counts.apply(lambda column, of=total: [f"{n:,} of {k:,}" for n, k in zip(column, of, strict=True)])
        tooltips = tooltips.apply(lambda column: [f"{p}, {column.name.lower()}: {v}" for p, v in column.items()])
        texts = counts.map(lambda n: f"{n:,}" if n else "")
        heatmap(counts.div(total, axis=0), ax, texts=texts, titles=tooltips, vmin=0, vmax=1)
        ax.set_title(name)
    place = {"ax": axes, "location": "bottom", "shrink": 0.5, "aspect": 35, "pad": 0.02}
    bar = fig.colorbar(axes[0].collections[0], label="Share of the paper's checks, or of its printed numbers", **place)
    bar.ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    failed = "; ".join(f"{p}: {row['Inconsistent']} of {row.sum()} inconsistent" for p, row in checks.iterrows())
    follow = "; ".join(
        f"{p}: {row['Follows from others']} of {row.sum()} follow from others" for p, row in states.iterrows()
    )
    alt = f"Counts by paper. Checks by outcome: {failed}. Printed numbers by state: {follow}."
    caption = (
        f"How {checks.to_numpy().sum():,} checks came out, and what they say of {states.to_numpy().sum():,} printed"
    )
    caption += " numbers, by paper or data set. Cells give counts; the darker, the larger the share of the paper's own."
    unit = "Checks by outcome, and printed numbers by state, by paper"
    return Plot(fig, "outcomes", alt, caption, failures_title(by_check(audited.checks)), unit)


def failures_title(checks: pd.DataFrame) -> str:
    """How many checks fail. checks : of `by_check`."""
    firm, conditional = map(len, failures(checks))
    return _PHRASES.say("failures_title", checks=len(checks), firm=firm, conditional=conditional)


def _pooled(counted: pd.DataFrame, rows: pd.Index) -> pd.DataFrame:
    """Some rows, where there are several, as one at the end, which says how many they are."""
    if len(rows) < 2:
        return counted
    together = counted.loc[rows].sum().to_frame(f"{len(rows)} others").T
    return pd.concat([counted.drop(index=rows), together])


def _counted(frame: pd.DataFrame, column: str, kinds: Mapping[str, str], titles: Mapping[str, str]) -> pd.DataFrame:
    """A row for each paper and a column for each value of `column`, with display names."""
    counted = pd.crosstab(frame["paper"], frame[column])
    counted = counted.reindex(index=list(titles), columns=list(kinds), fill_value=0)
    return counted.rename(index=titles).set_axis([name.capitalize() for name in kinds.values()], axis=1)


def failing(audited: Audit) -> Iterator[Table | Prose]:
    """Checks that fail somewhere: those without an assumption, those that depend on one, and notes on the text."""
    checks = by_check(audited.checks)
    rows = checks[checks["failed"] > 0]
    fails = [f"{failed} of {places}" for failed, places in zip(rows["failed"], rows["places"], strict=True)]
    columns = {"rule": "Rule", "evidence": "Evidence", "assumes": "If"}
    shown = rows.rename(columns=columns).assign(Paper=rows["paper"].map(audited.titles), Fails=fails)
    firm, order = shown["If"] == "", ["Paper", "Rule", "Fails", "Evidence"]
    if not firm.any():
        yield Prose("No check fails without an assumption.")
    caption = "Checks that fail, whatever the rounding, and in how many of their places."
    yield Table(shown.loc[firm, order], "inconsistent", caption)
    caption = "Checks that fail under an assumption that the paper does not state."
    yield Table(shown.loc[~firm, [*order, "If"]], "conditional", caption)
    notes = audited.notes.assign(paper=audited.notes["paper"].map(audited.titles))
    notes = notes.set_axis(["Paper", "Where", "Note"], axis=1)
    yield Table(notes, "notes", "Contradictions and doubts in the text, noted by hand, because no rule covers them.")


#: rules whose evidence repeats the printed number: a sentence lists them
BRIEF = ("copy", "distinct")
#: that numbers are within the range of their unit says little; an order that explains a failure is no agreement
LEFT_OUT = ("range", "reordered")
#: a check made in more places shows the first only; of bounds, which say less, fewer are shown
MOST_PLACES, MOST_BOUNDS = 9, 4
_BOUND = re.compile(r"expected (?:at|more|less) ")
#: what separates a check in words from what is printed
_PRINTED = " Printed "


def agreeing(audited: Audit, papers: Collection[str]) -> Iterator[Table | Prose]:
    """For each of `papers`: a table of the checks that fail nowhere and agree somewhere, and a sentence that lists
    numbers printed more than once. Places where a check could not be made are left out."""
    checks = by_check(audited.checks)
    agree = checks[(checks["kind"] == CONSISTENT) & checks["paper"].isin(papers) & ~checks["rule"].isin(LEFT_OUT)]
    groups = dict(list(audited.checks[audited.checks["outcome"] == CONSISTENT].groupby(["paper", "check"])))
    for paper, name in audited.titles.items():
        rows = agree[agree["paper"] == paper]
        places = [groups[paper, check] for check in rows.loc[~rows["rule"].isin(BRIEF), "check"]]
        frame = pd.DataFrame({"Check": [_evidence(p) for p in places], "Places": [len(p) for p in places]})
        yield Table(frame, f"agree_{paper}", f"{name}: checks that agree, and in how many places.")
        again = [_again(groups[paper, check]) for check in rows.loc[rows["rule"].isin(BRIEF), "check"]]
        yield Prose(_PHRASES.say("again", paper=name, again=again) if again else "")


def _evidence(places: pd.DataFrame) -> str:
    """The evidence of the first place, what is printed and expected in the others, and what is assumed."""
    first, *others = map(_without_rounding, places["evidence"])
    sentences, most = [first], MOST_BOUNDS if _BOUND.search(first) else MOST_PLACES
    if others and len(places) <= most and all(_PRINTED in text for text in others):
        tails = [_short(text.rpartition(_PRINTED)[2]) for text in others]
        sentences.append(f"Also {'; '.join(map(' '.join, zip(_names(places)[1:], tails, strict=True)))}.")
    elif others:
        sentences.append(f"The same in {len(others)} other place{'s' if len(others) > 1 else ''}.")
    if assumed := places["assumes"].iloc[0]:
        sentences.append(f"If {assumed}.")
    return " ".join(sentences)


def _without_rounding(evidence: str) -> str:
    """`Printed 7.43, expected …` of `Printed 7.43 (7.425 to 7.435), expected …`."""
    return re.sub(rf"({_PRINTED}\S+) \([^()]*\)(?=[,;])", r"\1", evidence)


def _short(tail: str) -> str:
    """`7.43 (7.421 to 7.430)` of `7.43, expected 7.421 to 7.430.`"""
    return re.sub(r"(?:, expected|; the columns allow) (.*)", r" (\1)", tail.rstrip("."))


def _names(places: pd.DataFrame) -> list[str]:
    """What tells the targets of a check apart, as readers know it."""
    paper = places["paper"].iloc[0]
    parts = places["target"].str.partition(":")[2].str.split("/", expand=True).set_axis(PLACE, axis=1)
    parts = parts[[part for part in parts if parts[part].unique().size > 1]]
    return [", ".join(title(paper, part) for part in row) for row in parts.itertuples(index=False)]


def _again(places: pd.DataFrame) -> str:
    """The first check in words, with the numbers printed in all places."""
    claim = places["evidence"].iloc[0].partition(_PRINTED)[0].rstrip(".")
    return f"{claim} ({', '.join(places['printed'])})"


PAPER, FILE, OWN = "finch2023", "finch2023_table02.csv", "this_work"


def marks() -> pd.DataFrame:
    """Studies x aspects, as booleans, in the order of print; the paper itself is the row OWN."""
    cells = numbers.labels(FILE)
    wide = cells.pivot(index="row", columns="column", values="value") == "1"  # noqa: PD010
    return wide.loc[cells["row"].unique(), cells["column"].unique()]


def survey(examined: pd.DataFrame) -> Iterator[Prose | Table]:
    """Whether an earlier study examined all aspects, and which two aspects none examined together; all pairs."""
    earlier, names = examined.drop(index=OWN), {aspect: title(PAPER, aspect) for aspect in examined}
    together, counts = earlier.astype(int).T @ earlier.astype(int), earlier.sum(axis=1)
    never = [(names[a].lower(), names[b].lower()) for a, b in combinations(names, 2) if not together.at[a, b]]
    who = [title(PAPER, study) for study in counts.index[counts == counts.max()]]
    facts = {"n": len(earlier), "aspects": len(names), "own": int(examined.loc[OWN].sum()), "never": never}
    facts |= {"most": int(counts.max()), "who": who}
    yield Prose(_PHRASES.say("survey", all=int((counts == len(names)).sum()), **facts))
    table = together.rename(columns=names).assign(Aspect=list(names.values()))[["Aspect", *names.values()]]
    caption = f"Earlier studies, of {len(earlier)}, that examined both aspects; diagonal: that examined it."
    yield Table(table.reset_index(drop=True), "survey", caption)
