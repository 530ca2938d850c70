"""What became of every printed number: one row each, none without a verdict.

Verdicts, from what decides first:

1. Raw data, where a result corresponds to the number (`verdicts.judge`): `match`, `match_source`, `match_fitted`,
   `within_noise`, `differs`. What the paper prints elsewhere cannot change these; where it contradicts the number, the
   note says so.
2. Other printed numbers, where no raw data speak (`audit`): `match_arithmetic` where they determine the number and
   agree, `paper_inconsistent` where they exclude it, with the evidence.
3. `needs_download`, `needs_data` (nobody can get them), `states_design` (nothing is computed) or `not_attempted`, with
   the file or the reason.

Negative controls say how often printed numbers match what they should not match: a match means something only where
wrong values seldom match. Wrong values come from the same results: those of another column or row of the table, and
those under definitions that the mapping calls wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from compendium.published import elements, mapping, verdicts
from compendium.published import numbers as published
from compendium.published.consistency.analysis import CONSISTENT_WITH, CONTRADICTS, FOLLOWS, Audit
from compendium.published.mapping import Mapping
from compendium.published.numbers import KEY
from compendium.published.verdicts import DIFFERS, DOWNLOAD, FITTED, MATCH, NOISE, SOURCE, Sources
from judgebook.study import escape
from judgebook.study.results import Results, collect

ARITHMETIC, INCONSISTENT = "match_arithmetic", "paper_inconsistent"
NEEDS, DESIGN, NOT_ATTEMPTED = "needs_data", "states_design", "not_attempted"
#: verdict -> as readers know it, from what says most to what says least
VERDICTS = {
    MATCH: "matches by rule",
    SOURCE: "by the source's rule, not ours",
    NOISE: "within the noise of a pick",
    FITTED: "matches, fitted",
    DIFFERS: "differs",
    ARITHMETIC: "follows from other numbers",
    INCONSISTENT: "contradicted in print",
    DOWNLOAD: "needs a download",
    NEEDS: "needs unpublished data",
    DESIGN: "states a design",
    NOT_ATTEMPTED: "not attempted",
}
#: verdicts based on raw data
ATTEMPTED = (MATCH, SOURCE, NOISE, FITTED, DIFFERS)
#: who printed a number
FIVE, OTHERS = "The five papers", "Other sources"
COLUMNS = [*KEY, "published", "decimals", "reproduced", "tolerance", "verdict", "note"]
COLUMNS += ["low", "high", "wrong_inside", "arithmetic", "study", "notebook", "shows"]


def scoreboard(
    results: Sources, printed: pd.DataFrame, audit: Audit, papers: Iterable[Mapping] | None = None
) -> pd.DataFrame:
    """A row for each printed number, with its verdict and its basis.

    Parameters
    ----------
    results : mapping of (study, notebook) to Results or None
    printed : DataFrame
        From `numbers.load`.
    audit : Audit
        Of the same numbers.
    papers : iterable of Mapping, optional
        All mappings unless given.

    Returns
    -------
    DataFrame with COLUMNS, in the order of `printed`. published : as printed. reproduced, tolerance, low, high : as in
    `verdicts.judge`; for numbers that follow from others, the middle and ends of what those allow. wrong_inside : for
    `within_noise`, the share of the other printed numbers of the same entry that lie inside the same range.
    arithmetic : the state of the number in the audit. study, notebook, shows : where the result comes from.

    Raises
    ------
    ValueError
        For numbers that no line of the mappings names, and for a line that names none.
    """
    papers = list(mapping.load() if papers is None else papers)
    judged = verdicts.judge(results, printed, papers)
    judged["wrong_inside"] = _wrong_inside(judged)
    of_results = judged.rename(columns={"here": "reproduced"})
    of_results = of_results[[c for c in COLUMNS if c in of_results and c not in (*KEY, "decimals")]]
    out = printed.assign(published=printed["printed"])[[*KEY, "published", "decimals"]]
    out = out.join(of_results).join(_arithmetic(printed, audit))
    text = ["verdict", "note", "arithmetic", "study", "notebook", "shows"]
    out = out.astype(dict.fromkeys([*text, "evidence"], object))
    attempted, lines = (
        out["verdict"].isin(ATTEMPTED),
        verdicts.first_lines(printed, papers, lambda paper: paper.without),
    )
    contradicted = out["arithmetic"] == CONTRADICTS
    both = attempted & contradicted
    out.loc[both, "note"] += " Other printed numbers contradict it: " + out.loc[both, "evidence"]
    out["note"] = out["note"].str.strip()
    out = _by_arithmetic(out, ~attempted & (contradicted | (out["arithmetic"] == FOLLOWS)))
    silent = [i for i in out.index[out["verdict"].isna()] if i not in lines]
    if silent:
        first = "/".join(out.loc[silent[0], KEY])
        raise ValueError(f"{len(silent)} printed numbers have no line in a mapping, the first is {first}")
    left = out.index[out["verdict"].isna()]
    out.loc[left, "verdict"] = [lines[i].verdict for i in left]
    out.loc[left, "note"] = [lines[i].note for i in left]
    fitting = left[
        (out.loc[left, "arithmetic"] == CONSISTENT_WITH) & out.loc[left, "verdict"].isin([DESIGN, NOT_ATTEMPTED])
    ]
    out.loc[fitting, "note"] += " Other printed numbers leave room for it: " + out.loc[fitting, "evidence"]
    return out.assign(**{c: out[c].where(out[c].notna(), "") for c in text})[COLUMNS]


def _arithmetic(printed: pd.DataFrame, audit: Audit) -> pd.DataFrame:
    """Of every number: its state in the audit, the evidence, and what other numbers allow; aligned with `printed`."""
    rank = {verdict: i for i, verdict in enumerate((CONTRADICTS, FOLLOWS, CONSISTENT_WITH))}
    strongest = audit.arithmetic.sort_values("verdict", key=lambda v: v.map(rank), kind="stable").drop_duplicates(KEY)
    strongest = strongest.rename(columns={"low": "allowed_low", "high": "allowed_high"}).set_index(KEY)
    states = audit.cells.set_index(KEY)["state"].rename("arithmetic")
    columns = strongest[["allowed_low", "allowed_high", "evidence"]]
    return states.to_frame().join(columns).reindex(pd.MultiIndex.from_frame(printed[KEY])).set_axis(printed.index)


def _by_arithmetic(out: pd.DataFrame, rows: pd.Series) -> pd.DataFrame:
    """Verdicts of `rows` from other printed numbers: the range they allow, and the evidence."""
    low, high = out["allowed_low"], out["allowed_high"]
    changed = {
        "verdict": out["arithmetic"].map({FOLLOWS: ARITHMETIC, CONTRADICTS: INCONSISTENT}),
        "note": out["evidence"],
        "reproduced": (low + high) / 2,
        "tolerance": published.tolerance(out["decimals"]) + (high - low) / 2,
        **{"low": low, "high": high, "study": None, "notebook": None, "shows": None},
    }
    return out.assign(**{column: out[column].mask(rows, value) for column, value in changed.items()})


def _wrong_inside(judged: pd.DataFrame) -> pd.Series:
    """For numbers within noise: how many of the others of the same entry lie inside the same range."""
    share = pd.Series(np.nan, index=judged.index)
    half, entry = published.tolerance(judged["decimals"]) + 1e-9, judged["entry"].map(id)
    for i, cell in judged[judged["verdict"] == NOISE].iterrows():
        others = judged.loc[(entry == entry[i]) & (judged.index != i), "value"]
        if len(others):
            share[i] = others.between(cell["low"] - half[i], cell["high"] + half[i]).mean()
    return share


def counts(cells: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """How many numbers have each verdict: a row for each value of `by` in order of appearance, a column a verdict."""
    order = cells.drop_duplicates(by).set_index(by).index
    table = pd.crosstab([cells[c] for c in by], cells["verdict"])
    return table.reindex(index=order, columns=list(VERDICTS), fill_value=0).rename_axis(columns=None).reset_index()


def apart(cells: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The numbers of the five papers, and those of all other sources; without a part that has none."""
    five = cells["paper"].isin(list(elements.load()))
    parts = {FIVE: cells[five], OTHERS: cells[~five]}
    return {name: part for name, part in parts.items() if len(part)}


def badge(cells: pd.DataFrame) -> str:
    """The outcome for the README: a paragraph for the five papers, and one for other sources."""
    rest = {
        ARITHMETIC: "follow from other printed numbers",
        INCONSISTENT: "are contradicted by them where raw data do not decide",
        DOWNLOAD: "need a file that you can download",
        NEEDS: "need data that were never published",
        DESIGN: "state a design or a fact from which nothing is computed",
        NOT_ATTEMPTED: "were not attempted",
    }
    parts = [f"Of all {len(part):,} printed numbers, {_listed(part, rest)}." for part in apart(cells).values()]
    return "\n\n".join(f"**{outcome}** {part}" for outcome, part in zip(outcomes(cells), parts, strict=True))


def outcomes(cells: pd.DataFrame) -> list[str]:
    """What raw data decide of the numbers of the five papers, and of those of other sources: a sentence each."""
    words = {
        SOURCE: "come out under the source's own rule, which is not ours",
        FITTED: "match only under a fitted choice",
        NOISE: "lie within the noise of a random pick",
        DIFFERS: "differ, each for a stated reason",
    }
    out = []
    for name, part in apart(cells).items():
        n, match = int(part["verdict"].isin(ATTEMPTED).sum()), int((part["verdict"] == MATCH).sum())
        share = f" ({match / n:.0%})" if n else ""
        decided = f"{name}: {match:,} of the {n:,} numbers that raw data decide match by rule{share}"
        out.append("; ".join(filter(None, [decided, _listed(part, words)])) + ".")
    return out


def _listed(cells: pd.DataFrame, words: dict[str, str]) -> str:
    """How many numbers have each of these verdicts, in words; only those that occur."""
    n = cells["verdict"].value_counts()
    counted = [f"{n[verdict]:,} {text}" for verdict, text in words.items() if verdict in n]
    return " and ".join(filter(None, [", ".join(counted[:-1]), *counted[-1:]]))


def read(path: Path) -> pd.DataFrame:
    """`replication.csv` with the types `scoreboard` gives it; the committed one has fewer columns."""
    text = dict.fromkeys([*KEY, "published", "verdict", "note", "arithmetic", "study", "notebook", "shows"], str)
    frame = escape.read_csv(path)
    return frame.assign(**{c: pd.to_numeric(frame[c]) for c in frame if c not in text})


COUNTED = ["paper", "element", "control", "numbers", "matches", "comparisons", "wrong_matches"]
OTHER_COLUMN, OTHER_ROW = "another column's value", "another row's value"


def controls(results: Sources, printed: pd.DataFrame, papers: Iterable[Mapping]) -> pd.DataFrame:
    """How many printed numbers match their result by rule, and how many match a wrong one, by element and control.

    Parameters
    ----------
    results : mapping of (study, notebook) to Results or None
    printed : DataFrame
        From `numbers.load`.
    papers : iterable of Mapping

    Returns
    -------
    DataFrame with COUNTED. numbers, matches : numbers that have a result by rule and a wrong value, and how many equal
    their result. comparisons, wrong_matches : the same numbers compared with every wrong value, each other column (row)
    of the same table, panel and row (column) once.
    """
    by_rule: dict[object, verdicts.Reproduction] = {}
    for i, tried in verdicts.attempts(results, printed, list(papers)).items():
        if rules := verdicts.rules_of(tried):
            by_rule[i] = rules[0]
    cells = printed.loc[list(by_rule)].assign(here=[a.value for a in by_rule.values()])
    wrong = []
    for _, of_entry in cells.groupby([id(a.entry) for a in by_rule.values()], sort=False):
        entry = by_rule[of_entry.index[0]].entry
        values = {OTHER_COLUMN: _swapped(of_entry, "row", "column"), OTHER_ROW: _swapped(of_entry, "column", "row")}
        for name, change in entry.wrong.items():
            source = results.get((entry.study, entry.notebook)) if entry.study else None
            values[name] = verdicts.reproduced(source, of_entry, entry.changed(change))["value"]
        wrong += [v.dropna().rename("wrong").to_frame().assign(control=name) for name, v in values.items()]
    if not wrong:
        return pd.DataFrame(columns=COUNTED)
    pairs = pd.concat(wrong).rename_axis("cell").join(cells).reset_index()
    pairs["matches"] = published.agrees(pairs["value"], pairs["decimals"], pairs["here"])
    pairs["matches"] &= ~pairs.duplicated(["cell", "control"])
    pairs["wrong_matches"] = published.agrees(pairs["value"], pairs["decimals"], pairs["wrong"])
    sums = {"numbers": ("cell", "nunique"), "matches": ("matches", "sum")}
    sums |= {"comparisons": ("cell", "size"), "wrong_matches": ("wrong_matches", "sum")}
    return pairs.groupby(COUNTED[:3], sort=False, as_index=False).agg(**sums)


def _swapped(cells: pd.DataFrame, same: str, across: str) -> pd.Series:
    """For every cell the results of the others in its panel that have its unit and `same`, and another `across`."""
    keys = ["element", "panel", "unit", same]
    left = cells[[*keys, across]].rename_axis("cell").reset_index()
    pairs = left.merge(cells[[*keys, across, "here"]], on=keys, suffixes=("", "_other"))
    return pairs[pairs[across] != pairs[f"{across}_other"]].set_index("cell")["here"]


def overall(wrong: pd.DataFrame) -> pd.DataFrame:
    """The same over all papers, by kind of control: one row per kind."""
    kind = wrong["control"].where(wrong["control"].isin([OTHER_COLUMN, OTHER_ROW]), "a wrong definition")
    return wrong.groupby(kind, sort=False)[COUNTED[3:]].sum().rename_axis("control").reset_index()


def analyse(
    sources: Sources, printed: pd.DataFrame, audit: Audit, papers: Iterable[Mapping]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The verdict on every printed number (`scoreboard`), and negative controls (`controls`).

    Parameters
    ----------
    sources : mapping of (study, notebook) to Results or None
        None where the notebook was not run.
    printed : DataFrame
        From `numbers.load`.
    audit : Audit
        Of the same numbers.
    papers : iterable of Mapping
    """
    papers = list(papers)
    return scoreboard(sources, printed, audit, papers), controls(sources, printed, papers)


def results(cells: pd.DataFrame, wrong: pd.DataFrame) -> Results:
    """`printed_numbers` by paper and verdict, `control_match_rate` by paper, element and control."""
    counts = cells.groupby(["paper", "verdict"]).size().rename("estimate").reset_index()
    rates = wrong[["paper", "element", "control"]].assign(n=wrong["comparisons"])
    rates["estimate"] = wrong["wrong_matches"] / wrong["comparisons"]
    return collect(counts.assign(statistic="printed_numbers"), rates.assign(statistic="control_match_rate"))
