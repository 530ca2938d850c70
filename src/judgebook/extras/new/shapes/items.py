"""What several options in a row were shown for."""

from __future__ import annotations

import pandas as pd

from judgebook.extras.new import roles
from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import Guess
from judgebook.extras.new.grids import shared
from judgebook.extras.new.words import is_prose

#: columns that say who and what, which a shape gives anew
_ITEM = ("system", "system_b", "dialogue", "dialogue_b", "context", "label", "score")

_SHOWN = ["input", "context", "system", "text"]


def of_options(out: Guess, cells: pd.DataFrame, options: list[str], system: str) -> None:
    """The context and the id of each option of a row. options : columns that say what was shown. system : its name.

    A column of which each annotator has each value once is taken, best one that has the same value for the same
    options; else the options themselves.
    """
    several = [c for c in out.identify if c in cells and c != out.columns.get("system")]
    named = [out.columns.get(ours) for ours in ("dialogue", "context")]
    for ours in _ITEM:
        out.columns.pop(ours, None)
        out.why.pop(ours, None)
    free = [c for c in cells if c and c not in {*out.columns.values(), *options, *out.shown}]
    again = len(options) > 1 and cells.duplicated(options).any()
    each = shown(cells, options) if options else None
    also = [c for c in free if roles.role_of(c) == "dialogue" or (again and each is not None and tells(cells[c], each))]
    who = [out.columns[c] for c in ("annotator",) if c in out.columns]

    def once(columns: list[str]) -> bool:
        return bool(cells.duplicated(columns).any()) and not (who and cells.duplicated([*columns, *who]).any())

    columns = [c for c in dict.fromkeys([*named, *also]) if c in cells and once([c])]
    columns.sort(key=lambda c: each is not None and not tells(cells[c], each))
    item = next(iter(columns), None) or (None if again else next((c for c in named if c), None))
    if item:
        out.columns["context"], out.identify = item, [item, system]
    elif several and once(several):
        out.context, out.identify = several, [*several, system]
    else:
        out.identify = [*(options if again else ["{row}"]), system]
    out.why["identify"] = "the options of a row are judged together"
    if item and len(options) > 1:
        _ask_shown_again(out, cells, options, system)
    if "annotator" not in out.columns:
        out.positions = True


def _ask_shown_again(out: Guess, cells: pd.DataFrame, options: list[str], system: str) -> None:
    """Ask whether a text that one system has in several contexts is one item: its reply to the same input."""
    context, base = out.columns["context"], shared(options)
    places = [o.removeprefix(base) for o in options]
    prose = {c for c in cells if is_prose(cells[c])}
    bases = [c.removesuffix(places[0]) for c in cells if c in prose]
    texts = next((base for base in bases if all(base + p in prose for p in places)), "")
    rows = cells.drop_duplicates(context)
    free = [c for c in cells if c and c not in {*out.columns.values(), *options, *prose}]
    for wider in free if texts else ():
        shown = pd.concat([rows[[wider, context, base + p, texts + p]].set_axis(_SHOWN, axis=1) for p in places])
        each = shown[shown["input"] != ""].groupby(["input", "system"])
        again = int(each["context"].nunique().gt(1).sum())
        if again and each["text"].nunique().max() == 1 and cells.groupby(context)[wider].nunique().max() == 1:
            edits = {"sources.*.columns.context": wider, "sources.*.identify.dialogue": [wider, system]}
            how = Answer(f"what {wider!r} and the system name", edits)
            evidence = f"{again:,} texts are those of the same {wider!r} and system in several of them"
            out.ask("item", "What is one item?", f"what {context!r} and the system name", how, evidence=evidence)
            return


def shown(cells: pd.DataFrame, options: list[str]) -> pd.Series:
    """The options of each row, in whatever order."""
    return cells[options].apply(lambda row: "\n".join(sorted(row)), axis=1)


def tells(item: pd.Series, each: pd.Series) -> bool:
    """Whether a column, of which values come again, says which options a row shows (`each`)."""
    return bool(item.duplicated().any() and each.groupby(item).nunique().max() <= 1)


def alternative(pairs: str) -> str:
    """A comment that says how scores of options are read as comparisons."""
    return (
        f"# as comparisons: `pairs: {pairs}` here, `method: comparative` above, "
        "and a label with `scale: [-1, 1]` (docs/own_data.md)"
    )
