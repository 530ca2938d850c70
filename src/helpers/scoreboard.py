"""What became of every printed number: one row each, none without a verdict.

Verdicts, from what decides first:

1. Raw data, where a result corresponds to the number (`verdicts.judge`): `match`, `match_fitted`, `within_noise`,
   `differs`. What the paper prints elsewhere cannot change these; where it contradicts the number, the note says so.
2. Other printed numbers, where no raw data speak (`audit`): `match_arithmetic` where they determine the number and
   agree, `paper_inconsistent` where they exclude it, with the evidence.
3. `needs_data` or `not_attempted`, with the file or the reason, as the mapping says.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import mapping, published, verdicts
from helpers.audit.report import CONTRADICTS, FOLLOWS, Audit
from helpers.mapping import Mapping
from helpers.published import PLACE
from helpers.schema import condition
from helpers.verdicts import DIFFERS, FITTED, MATCH, NEEDS, NOISE, Results

ARITHMETIC, INCONSISTENT, NOT_ATTEMPTED = "match_arithmetic", "paper_inconsistent", "not_attempted"
#: verdict -> as readers know it, from what says most to what says least
VERDICTS = {
    MATCH: "matches by rule",
    NOISE: "within the noise of a pick",
    FITTED: "matches, fitted",
    DIFFERS: "differs",
    ARITHMETIC: "follows from other numbers",
    INCONSISTENT: "contradicted by the paper",
    NEEDS: "needs data",
    NOT_ATTEMPTED: "not attempted",
}
#: verdicts that rest on raw data
ATTEMPTED = (MATCH, NOISE, FITTED, DIFFERS)
COLUMNS = ["paper", *PLACE, "published", "decimals", "reproduced", "tolerance", "verdict", "note"]
COLUMNS += ["low", "high", "wrong_inside", "arithmetic", "study", "notebook", "shows"]
_KEY = ["paper", *PLACE]


def board(
    results: Results, printed: pd.DataFrame, audit: Audit, papers: Iterable[Mapping] | None = None
) -> pd.DataFrame:
    """The scoreboard: a row for each of `printed`, in its order, with COLUMNS.

    published : as printed. reproduced, tolerance, low, high : as in `verdicts.judge`; for numbers that follow from
    others, the middle and ends of what those allow. wrong_inside : for `within_noise`, the share of the other printed
    numbers of the same kind that lie inside the same range. arithmetic : the state of the number in the audit.
    study, notebook, shows : where the result comes from.

    Raises ValueError for numbers that no line of the mappings speaks of, and for a line that names none.
    """
    papers = list(mapping.load() if papers is None else papers)
    judged = verdicts.judge(results, printed, papers).rename(columns={"here": "reproduced"})
    out = printed.assign(published=printed["printed"]).reindex(columns=[*_KEY, "published", "value", "decimals"])
    own = judged.drop(columns=[c for c in judged if c in out or c not in COLUMNS])
    out = out.join(own).join(_wrong_inside(judged))
    out = out.join(_arithmetic(printed, audit))
    text = ["verdict", "note", "arithmetic", "study", "notebook", "shows"]
    out = _decided(out.astype(dict.fromkeys([*text, "evidence"], object)), _without(printed, papers))
    silent = out["verdict"].isna()
    if silent.any():
        first = "/".join(out.loc[silent.idxmax(), _KEY])
        raise ValueError(f"{silent.sum()} printed numbers have no line in a mapping, the first is {first}")
    return out.assign(**{c: out[c].where(out[c].notna(), "") for c in text})[COLUMNS]


def _arithmetic(printed: pd.DataFrame, audit: Audit) -> pd.DataFrame:
    """Of every number: its state in the audit, the evidence, and what other numbers allow; aligned with `printed`."""
    told = audit.arithmetic[audit.arithmetic["verdict"].isin([FOLLOWS, CONTRADICTS])]
    told = told.sort_values("verdict", key=lambda v: v.map({CONTRADICTS: 0, FOLLOWS: 1}), kind="stable")
    told = told.drop_duplicates(_KEY).set_index(_KEY)[["low", "high", "evidence"]]
    states = audit.cells.set_index(_KEY)["state"].rename("arithmetic")
    keys = pd.MultiIndex.from_frame(printed[_KEY])
    found = pd.concat([states.reindex(keys), told.reindex(keys)], axis=1).set_axis(printed.index)
    return found.rename(columns={"low": "allowed_low", "high": "allowed_high"})


def _without(printed: pd.DataFrame, papers: Iterable[Mapping]) -> pd.DataFrame:
    """Verdict and note of numbers that no result corresponds to; the first line of a mapping that fits counts."""
    rows: dict[object, tuple[str, str]] = {}
    for paper in papers:
        for line in paper.without:
            for i in published.select(printed, paper.paper, line.cells).index:
                rows.setdefault(i, (line.verdict, line.note))
    found = pd.DataFrame(rows.values(), index=list(rows), columns=["verdict", "note"], dtype=object)
    return found.reindex(printed.index)


def _decided(out: pd.DataFrame, without: pd.DataFrame) -> pd.DataFrame:
    """Verdicts and what belongs to them, in the order the module's text gives."""
    raw, verdict, evidence = out["verdict"].isin(ATTEMPTED), out["verdict"].copy(), out["evidence"]
    follows, against = (~raw & (out["arithmetic"] == state) for state in (FOLLOWS, CONTRADICTS))
    other = follows | against
    low, high = out["allowed_low"], out["allowed_high"]
    columns = {
        "verdict": verdict.mask(follows, ARITHMETIC).mask(against, INCONSISTENT),
        "note": out["note"].mask(other, evidence),
        "reproduced": out["reproduced"].mask(other, (low + high) / 2),
        "tolerance": out["tolerance"].mask(other, published.tolerance(out["decimals"]) + (high - low) / 2),
        "low": out["low"].mask(other, low),
        "high": out["high"].mask(other, high),
    }
    out = out.assign(**columns, **{c: out[c].mask(other) for c in ("study", "notebook", "shows")})
    beside = raw & (out["arithmetic"] == CONTRADICTS)
    said = [f"{n} The paper contradicts the number: {e}".strip() for n, e in zip(out["note"], evidence, strict=True)]
    left = out["verdict"].isna()
    note = out["note"].mask(beside, pd.Series(said, index=out.index)).mask(left, without["note"])
    return out.assign(verdict=out["verdict"].mask(left, without["verdict"]), note=note)


def _wrong_inside(judged: pd.DataFrame) -> pd.Series:
    """For numbers within noise: how many of the others that the same entry speaks of lie inside the same range."""
    share = pd.Series(np.nan, index=judged.index, name="wrong_inside")
    half = published.tolerance(judged["decimals"]) + 1e-9
    for i, cell in judged[judged["verdict"] == NOISE].iterrows():
        others = judged[(judged["entry"] == cell["entry"]) & (judged.index != i)]["value"]
        if len(others):
            share[i] = ((cell["low"] - half[i] <= others) & (others <= cell["high"] + half[i])).mean()
    return share


def counts(cells: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """How many numbers have each verdict: a row for each value of `by` in order of appearance, a column a verdict."""
    order = cells.drop_duplicates(by).set_index(by).index
    table = pd.crosstab([cells[c] for c in by], cells["verdict"])
    return table.reindex(index=order, columns=list(VERDICTS), fill_value=0).rename_axis(columns=None).reset_index()


def badge(cells: pd.DataFrame) -> str:
    """The outcome in one line, for the README."""
    n = cells["verdict"].value_counts().reindex(list(VERDICTS), fill_value=0)
    attempted = sum(n[list(ATTEMPTED)])
    return (
        f"**{n[MATCH]} of {attempted} attempted numbers match by rule; {n[DIFFERS]} differ, explained.** "
        f"Counted apart: {n[FITTED]} match only with something fitted, {n[NOISE]} lie within the noise of a random "
        f"pick. Of {len(cells):,} printed numbers, another {n[ARITHMETIC]} follow from others, {n[INCONSISTENT]} are "
        f"contradicted by their own paper, {n[NEEDS]:,} need data that are not public, "
        f"{n[NOT_ATTEMPTED]} were not attempted."
    )


def results(cells: pd.DataFrame, controls: pd.DataFrame) -> pd.DataFrame:
    """Result rows: `printed_numbers` by paper and verdict, `control_match_rate` by paper, element and control."""
    rows = [
        {"statistic": "printed_numbers", "condition": condition(paper=p, verdict=v), "estimate": n}
        for (p, v), n in cells.groupby(["paper", "verdict"]).size().items()
    ]
    for c in controls.itertuples():
        keys = {"paper": c.paper, "element": c.element.replace(";", ","), "control": c.control.replace(";", ",")}
        row = {"statistic": "control_match_rate", "condition": condition(**keys), "n": c.comparisons}
        rows.append(row | {"estimate": c.wrong_matches / c.comparisons})
    return pd.DataFrame(rows)


def read(path: Path) -> pd.DataFrame:
    """`replication.csv` with the types `board` gives it; the committed one has fewer columns."""
    text = dict.fromkeys([*_KEY, "published", "verdict", "note", "arithmetic", "study", "notebook", "shows"], str)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return frame.assign(**{c: pd.to_numeric(frame[c]) for c in frame if c not in text})
