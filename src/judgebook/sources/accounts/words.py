"""The accounts of a study in words: lines, rows, annotations, those kept, and every difference with its place."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgebook.sources import sampling
from judgebook.sources.accounts import physical
from judgebook.sources.reading import PLACES, SEPARATOR, first_places

#: files whose accounts are given one by one
_FILES = 3
_STEPS = ["lines", "rows", "annotations", "kept"]


def chains(counts: pd.DataFrame) -> pd.DataFrame:
    """How many lines, rows (or records), annotations there are in each file, and annotations kept; index: files in
    their order. Missing where a file has no lines, or its adapter counts none."""
    step = counts["what"].where(~counts["what"].isin(physical.ROWS), "rows")
    step = step.where(~counts["what"].str.endswith("annotations"), "annotations")
    step = step.where((step != "annotations") | (counts["action"] == "read"), "kept")
    counted = counts["action"].eq("read") | (step.eq("kept") & counts["action"].eq("kept"))
    rows = counts[counted & step.isin(_STEPS)]
    wide = rows.pivot_table(index="file", columns=step[rows.index], values="n", aggfunc="sum", sort=False)
    return wide.reindex(columns=_STEPS).astype("Int64")


def differences(counts: pd.DataFrame) -> pd.DataFrame:
    """What was changed or dropped: what, action, reason, n, labels (of missing scores) and where it is, in words."""
    why = counts[counts["action"].isin(["mended", "dropped"]) & (counts["what"] != sampling.NOT_USED)]
    out = []
    for (what, action, reason), rows in why.groupby(["what", "action", "reason"], sort=False):
        labels = ", ".join(rows["label"].dropna().unique())
        out.append((what, action, reason, int(rows["n"].sum()), labels, _places(rows)))
    return pd.DataFrame(out, columns=["what", "action", "reason", "n", "labels", "where"])


def _places(rows: pd.DataFrame) -> str:
    """`rows 17, 31, 44, …`; of several files, how many these are."""
    files = rows["file"].unique()
    if len(files) > 1:
        return f"{len(files)} files"
    where = rows["where"].dropna().tolist()
    places = [place for place in first_places(where).split(SEPARATOR) if place]
    named = [place.rpartition(" ")[::2] for place in places]
    if len({before for before, _ in named}) == 1 and len(named) > 1:
        places = [f"{named[0][0]}s {named[0][1]}", *(number for _, number in named[1:])]
    more = [] if len(places) < PLACES or rows["n"].sum() == len(places) else ["…"]
    return ", ".join([*places, *more])


def sentences(counts: pd.DataFrame, n_labels: int) -> Iterator[str]:
    """The accounts of a study, one line for each file and for all, and one for each difference."""
    steps = chains(counts)
    if len(steps) > 1:
        yield f"all {len(steps)} files: {_chain(steps.sum(min_count=1), counts, n_labels)}"
    for file, numbers in steps.head(_FILES).iterrows():
        labels = n_labels if len(steps) == 1 else 0
        yield f"{file}: {_chain(numbers, counts[counts['file'] == file], labels)}"
    if len(steps) > _FILES:
        yield f"… and {len(steps) - _FILES} more files (notebook 00 lists each)"
    for row in differences(counts).itertuples():
        if row.reason == physical.SWALLOWED:
            yield f"warning: {_counted(row.n, row.what)} {row.reason} ({row.where})"
        elif row.what != physical.LINES:
            of = f" of {row.labels}" if row.labels else ""
            place = f" ({row.where})" if row.where else ""
            yield f"{row.action}: {_counted(row.n, row.what)}{of}: {row.reason}{place}"


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what.removesuffix('s') if n == 1 else what}"


def _chain(numbers: pd.Series, counts: pd.DataFrame, n_labels: int) -> str:
    """`1,204 lines -> 1,203 rows (1 header) -> 4,812 annotations (4 labels) -> 4,790 kept`."""
    given = {step: int(n) for step, n in numbers.items() if pd.notna(n)}
    of_lines = counts[counts["what"] == physical.LINES]
    lost = of_lines[of_lines["action"] == "dropped"].groupby("reason", sort=False)["n"].sum()
    notes = [f"{n:,} {reason}" for reason, n in lost.items() if reason != physical.SWALLOWED]
    times = counts.loc[counts["what"] == physical.SOURCES, "n"]
    if len(times):
        notes.append(f"read by {times.max()} sources")
    if given.get("rows") == 1 and "lines" not in given:  # one JSON value holds them all
        del given["rows"]
    rows = next((what for what in physical.ROWS if (counts["what"] == what).any()), physical.ROWS[0])
    said = {"lines": "lines", "rows": rows, "annotations": "annotations", "kept": "kept"}
    more = {"rows": ", ".join(notes), "annotations": f"{n_labels} label{'s' * (n_labels != 1)}" if n_labels else ""}
    steps = [_counted(n, said[step]) + (f" ({more[step]})" if more.get(step) else "") for step, n in given.items()]
    return " -> ".join(steps)
