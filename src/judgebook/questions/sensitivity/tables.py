"""Tables of notebook 05."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from judgebook.display.cells import Cell
from judgebook.display.names import DisplayNames
from judgebook.display.text import number, percent
from judgebook.display.views import Table
from judgebook.questions.performance import leading
from judgebook.questions.performance.fitted import POWER
from judgebook.questions.sensitivity.analysis import JudgedGroup, compared, of_group
from judgebook.questions.sensitivity.findings import shares, who
from judgebook.study.results import Results
from judgebook.study.sections.margins import told

LABEL = ["method", "label"]
#: percentage points that no two systems differ by: all wins against all losses differ by as much
MOST = 200


def count_tables(results: Results, judged: Sequence[JudgedGroup], names: DisplayNames) -> Iterator[Table]:
    """`count_table` of each corpus and group."""
    for i, one in enumerate(judged):
        part = who(one, judged, names)
        caption = f"{part + ': p' if part else 'P'}airs of systems that differ. Decided: by the fits, all pairs of a"
        caption += f" label at once. Found: the smallest difference that is decided with {percent(POWER)} power"
        caption += " (marks, comparisons: percentage points)."
        frame = count_table(of_group(results, one), names)
        if len(frame):
            why = dict.fromkeys(frame.columns, "Too few data for a fit.")
            yield Table(frame, f"counts_{i}" if i else "counts", caption, why=why)


def count_table(results: Results, names: DisplayNames) -> pd.DataFrame:
    """Pairs of systems that differ by the fits, one row per label."""
    pairs = compared(results).groupby(LABEL, sort=False)["sure"].agg(Pairs="size", Decided="sum")
    out = names.sort(pairs.reset_index()).set_index(LABEL)
    out["Found"] = _found(results, names)
    return names.named(out.reset_index())


def _found(results: Results, names: DisplayNames) -> pd.Series:
    """The difference that is decided with 80% power, a cell by (method, label): percentage points, or points."""
    rows = results["difference_found"].dropna(subset="estimate").set_index(LABEL)["estimate"]
    scaled = [(100 * x, 1) if shares(str(key[0]), str(key[1]), names) else (x, 2) for key, x in rows.items()]
    texts = [Cell(f"> {MOST}" if d == 1 and x > MOST else number(x, d), {"": x}) for x, d in scaled]
    return pd.Series(texts, rows.index, dtype=object)


def margins(
    results: Results, names: DisplayNames, part: str = "", name: str = "", *, of: Mapping[tuple[str, str], float]
) -> Table | None:
    """What the fits show of pairs of systems on labels with a margin: one row per label; None without any.

    part, name : what the results are of, where there are several groups; of the file. of : (method, label) -> margin.
    """
    rows = [leading.by_margin(r, of, str(m)) for m, r in results["contrast"].groupby("method", sort=False)]
    judged = pd.concat(rows).dropna(subset="margin") if rows else pd.DataFrame()
    if judged.empty:
        return None
    kinds = {"Differ": leading.DIFFER, "Differ by less than the margin": leading.SLIGHTLY}
    kinds |= {"Equivalent": leading.ALIKE, "One not worse": leading.NOT_WORSE, "Undecided": leading.UNDECIDED}
    counted = judged.groupby([*LABEL, "verdict"], sort=False).size().unstack(fill_value=0)  # noqa: PD010
    out = pd.DataFrame({title: counted.get(kind, 0) for title, kind in kinds.items()}, index=counted.index)
    out.insert(0, "Margin", [told(of[key], names.labels[key]) for key in out.index])
    caption = f"{part + ': p' if part else 'P'}airs of systems by what the fits show, with the margins of the study."
    caption += " Equivalent: the interval of the difference lies within the margin; one not worse: that system is at"
    caption += " most worse by less than the margin. Intervals hold for all pairs of a label at once."
    return Table(names.named(names.sort(out.reset_index())), name, caption)
