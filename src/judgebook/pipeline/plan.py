"""`run_all.py plan`: notebook 14 with a budget or differences of one's own; its designs are printed."""

from __future__ import annotations

import json
from pathlib import Path

from judgebook.pipeline.run import Options, run
from judgebook.study import escape, params, store

NOTEBOOK = "14_planning"


def command(study: str, *, budget: float | None, power: float | None, differences: list[str], jobs: int) -> int:
    """Run notebook 14 of a study and print its designs; returns the exit code.

    differences : `label=value`.
    """
    given = {"planning.budget": budget, "planning.power": power}
    values = [f"{key}={value!r}" for key, value in given.items() if value is not None]
    values += [f"planning.difference.{pair}" for pair in differences]
    code = run([study], Options(only=[NOTEBOOK], values=values, jobs=jobs))
    key = params.load(study).key
    table = store.out_root() / "tables" / key / f"{NOTEBOOK}_designs.csv"
    if code or not table.is_file():
        return code
    _print(table)
    if drawn := sampled(key):
        print(f"\n{drawn}")
    report = store.out_root() / "reports" / key / f"{NOTEBOOK}.html"
    print(f"\nwith intervals and boundaries for early looks: {store.relative(report)}")
    return 0


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


def _print(path: Path) -> None:
    frame = escape.read_csv(path)
    shown = frame.map(_cell)
    width = {c: max(map(len, [c, *shown[c]])) for c in shown}
    print()
    for row in [dict(zip(shown, shown, strict=True)), *shown.to_dict("records")]:
        print("  ".join(row[c].ljust(width[c]) for c in shown).rstrip())


def _cell(value: object) -> str:
    """Numbers with two decimals, those of 100 and more and whole ones with none."""
    try:
        x = float(str(value))
    except ValueError:
        return str(value)
    return "" if x != x else f"{x:.0f}" if abs(x) >= 100 or x == int(x) else f"{x:.2f}"
