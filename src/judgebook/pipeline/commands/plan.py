"""`run_all.py plan`: notebook 14 with a budget or differences of one's own; its decision and designs are printed, and
dialogues that people should judge next are written as a CSV file. Without a study: sizes from what is stated."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd

from judgebook import project
from judgebook.pipeline.commands.options import amount
from judgebook.pipeline.run import Options, run
from judgebook.plugins import UsageError
from judgebook.report.blocks import ANSWER, blocks, section
from judgebook.report.prose import opening
from judgebook.study import escape, params, store

NOTEBOOK = "14_planning"
#: what the designs of the table are for, by the name they have there
HEADS = {
    "cheapest": "The design with the least work that finds the difference worth finding",
    "first from second": "The design that tells the first system from the second, if they differ as in this study",
    "within the budget": "The design within the budget that finds the smallest difference",
}
#: designs that are listed label by label; of more there is a line for each method
MOST = 12
WIDTH = 100


def command(study: str, *, budget: float | None, power: float | None, differences: list[str], jobs: int) -> int:
    """Run notebook 14 of a study and print what it recommends, then its designs; returns the exit code.

    differences : `label=value`.
    """
    given = {"planning.budget": budget, "planning.power": power}
    values = [f"{key}={value!r}" for key, value in given.items() if value is not None]
    values += [f"margin.{pair}" for pair in differences]
    code = run([study], Options(only=[NOTEBOOK], values=values, jobs=jobs))
    key = params.load(study).key
    table = store.out_root() / "tables" / key / f"{NOTEBOOK}_designs.csv"
    if code or not table.is_file():
        return code
    print(f"\n{decision(key)}")
    print("\n".join(designs(escape.read_csv(table))))
    if drawn := sampled(key):
        print(f"\n{drawn}")
    if path := next_items(key):
        print(f"\ndialogues to be judged next, with the probability of each: {store.relative(path)}")
    report = store.out_root() / "reports" / key / f"{NOTEBOOK}.html"
    print(f"\nall designs: {store.relative(table)}")
    print(f"with intervals and boundaries for early looks: {store.relative(report)}")
    return 0


#: what says how scores vary, and what goes with each
_STATED = {"sd": {"agreement"}, "rate": {"agreement"}, "like": {"scale", "pilot"}}


def without_pilot(differences: list[str], *, budget: float | None, power: float | None, **stated: Any) -> int:
    """Print what a study needs, of which only this is stated; returns the exit code.

    stated : those of `sd`, `rate`, `like`, `scale`, `pilot`, `annotators`, `agreement` and `systems` that are.

    Raises UsageError where that does not say what is to be found, and among scores that vary how.
    """
    from judgebook.questions.planning import assumed

    ways = [name for name in _STATED if name in stated]
    if not differences or len(ways) != 1:
        raise UsageError(
            "expected --study NAME, the pilot; without one, --difference D and one of --sd S, --rate P, --like WORDS"
        )
    if other := sorted(stated.keys() & set.union(*_STATED.values()) - _STATED[ways[0]]):
        raise UsageError(f"--{other[0]} does not go with --{ways[0]}")
    if budget is not None:
        raise UsageError("--budget needs a pilot, which says how long judgements take: give --study")
    if stated.get("systems") == 1:
        raise UsageError("--systems: expected at least 2, found 1")
    options = {"power": power, **stated} if power else stated
    difference = _number(differences)
    rate = stated.get("rate")
    if rate is not None and not (0 < rate < 1 and rate + difference <= 1):
        raise UsageError(
            f"expected --rate above 0, and at most 1 with the difference, found {rate:g} and {difference:g}"
        )
    if "like" not in stated:
        print(assumed.stated(difference, **options))
        return 0
    labels, values = (pd.read_csv(project.ROOT / "data" / "atlas" / f"{name}.csv") for name in ("labels", "values"))
    options = {name: value for name, value in options.items() if name != "like"}
    try:
        print(assumed.like(labels, values, stated["like"], difference, **options))
    except ValueError as error:
        raise UsageError(f"--like: {error}") from None
    return 0


def _number(differences: list[str]) -> float:
    """The only difference, as a number.

    Raises UsageError for several, for one of a label, and for no number above 0.
    """
    try:
        value = amount(differences[0]) if len(differences) == 1 else 0.0
    except ArgumentTypeError:
        value = 0.0
    if not value:
        found = " ".join(differences)[:80]
        raise UsageError(f"--difference without --study: expected one number above 0, found {found}")
    return value


def decision(key: str) -> str:
    """What the page of the notebook opens with: the recommended design, and what the budget buys."""
    path = store.processed(key) / "notebooks" / f"{NOTEBOOK}.ipynb"
    seen = section(blocks(json.loads(path.read_text(encoding="utf-8"))), ANSWER)
    return "\n".join(fill(line, WIDTH) for line in escape.unmarked(opening(seen)[0]).splitlines())


def next_items(key: str) -> Path | None:
    """Write the list of dialogues that people should judge next, which a source of the next study may join; None where
    there is none (and none of an earlier run is left)."""
    path = store.out_root() / "tables" / key / f"{NOTEBOOK}_next_items.csv"
    stored = store.processed(key) / "results" / f"{NOTEBOOK}.next_items.parquet"
    frame = pd.read_parquet(stored) if stored.is_file() else pd.DataFrame()
    if frame.empty:
        path.unlink(missing_ok=True)
        return None
    store.write_frame(frame, path, raw=True)
    return path


def sampled(key: str) -> str:
    """What the plan assumes where dialogues of the study were drawn with unequal probability; empty where not."""
    drawn = json.loads((store.processed(key) / "profile.json").read_text(encoding="utf-8")).get("sampling")
    if not drawn:
        return ""
    return (
        "Dialogues of this study were drawn with unequal probability; the plan knows no sampling weights. Its variances"
        " are those of the dialogues that were judged, and its numbers are for dialogues drawn with equal probability."
        f" If the next are drawn as these were, multiply their number, and the cost, by {drawn['design_effect']:.2f}"
        " (design effect of the weights)."
    )


def designs(table: pd.DataFrame) -> Iterator[str]:
    """Lines for the table of designs: for each purpose a head, and the labels of each method below its name."""
    kinds = table["Design"] if "Design" in table else pd.Series("cheapest", table.index)
    for kind, rows in table.drop(columns="Design", errors="ignore").groupby(kinds, sort=False):
        yield f"\n{HEADS.get(str(kind), str(kind))}:"
        if len(rows) > MOST and "Method" in rows:
            yield from _aligned(pd.DataFrame(_by_method(rows)))
            continue
        methods = rows["Method"] if "Method" in rows else pd.Series("", rows.index)
        for method, part in rows.drop(columns="Method", errors="ignore").groupby(methods, sort=False):
            yield from [str(method)] if method else []
            yield from _aligned(part)


def _by_method(rows: pd.DataFrame) -> Iterator[dict[str, object]]:
    """A row for each method: on how many labels its designs find the difference worth finding, and from and to what
    number of dialogues and what cost."""
    sizes = list(rows.columns[list(rows).index("Dialogues per system") :])
    rows = rows.assign(**{c: pd.to_numeric(rows[c], errors="coerce") for c in ("Worth finding", *sizes)})
    for method, part in rows.groupby("Method", sort=False):
        designs = part[part["Dialogues per system"].notna()]
        enough = ~(designs["Difference found"] > 1.001 * designs["Worth finding"])
        row = {"Method": method, "Labels": len(part), "Found on": int(enough.sum())}
        yield row | {c: _span(designs[c]) for c in sizes if c != "Difference found"}


def _span(values: pd.Series) -> str:
    ends = [_cell(v) for v in (values.min(), values.max())] if values.notna().any() else [""]
    return " to ".join(dict.fromkeys(ends))


def _aligned(frame: pd.DataFrame) -> Iterator[str]:
    shown = frame.map(_cell)
    width = {c: max(map(len, [c, *shown[c]])) for c in shown}
    for row in [dict(zip(shown, shown, strict=True)), *shown.to_dict("records")]:
        yield ("  " + "  ".join(row[c].ljust(width[c]) for c in shown)).rstrip()


def _cell(value: object) -> str:
    """Numbers with two decimals, those of 100 and more and whole ones with none."""
    try:
        x = float(str(value))
    except ValueError:
        return str(value)
    return "" if x != x else f"{x:.0f}" if abs(x) >= 100 or x == int(x) else f"{x:.2f}"
