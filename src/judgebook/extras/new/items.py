"""How an item of a table is known, who judged it, and what looks odd."""

from __future__ import annotations

import pandas as pd

from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import Guess
from judgebook.extras.new.words import is_prose
from judgebook.sources.nature import plain

#: how files call what was said before a reply
_BEFORE = {"context", "history", "dialoguehistory", "conversationhistory", "dialoguecontext", "source"}


def check(out: Guess, cells: pd.DataFrame) -> None:
    """How an item is known, who judged it, and what looks odd."""
    texts = [out.columns[c] for c in ("user_text", "system_text") if c in out.columns]
    if len(texts) == 1 and "system_text" in out.columns:  # one reply may be given to several
        texts = [*[c for c in cells if plain(c) in _BEFORE and is_prose(cells[c])][:1], *texts]
    dialogue, system = out.columns.get("dialogue"), out.columns.get("system")
    if any("{dialogue}" in pattern for pattern in out.patterns.values()):
        pass
    elif dialogue is None and texts and cells.duplicated(texts).any():
        out.identify = [*texts, *([system] if system else [])]
        out.why["identify"] = "no column names the dialogue: the same texts are the same item"
    elif dialogue is None:
        out.columns["dialogue"] = "{row}"
        out.why["dialogue"] = "no column names the dialogue: each row is one"
    elif "{system}" in out.scores:
        out.columns["context"] = out.columns.pop("dialogue")
        out.identify = [dialogue, "{system}"]
        out.why["identify"] = "one id covers responses from several systems: it is their shared context"
    elif system and cells.groupby(dialogue)[system].nunique().gt(1).any():
        out.columns["context"] = out.columns.pop("dialogue")
        out.identify = [dialogue, system]
        out.why["identify"] = "one id covers responses from several systems: it is their shared context"
    if "annotator" not in out.columns and "{annotator}" not in out.scores:
        out.positions = True
        out.why["annotators"] = "no column says who judged: repeated rows of an item are pos0, pos1, …"
    if texts and system and out.identify:
        _of_systems(out, cells, [c for c in texts if c != out.columns.get("system_text")], system)
    named = [out.columns[c] for c in ("dialogue", "turn") if c in out.columns]
    twice = int(cells.duplicated(named).sum()) if "{annotator}" in out.scores and named not in ([], ["{row}"]) else 0
    if twice:
        repeats = "one row repeats" if twice == 1 else f"{twice} rows repeat"
        out.warnings.append(f"{repeats} an id: is a turn, a system or an annotator missing?")


def _of_systems(out: Guess, cells: pd.DataFrame, before: list[str], system: str) -> None:
    """Ask of a column that says with the system which reply was given: the systems may differ by it, too."""
    reply = out.columns.get("system_text")
    if reply is None or not before or cells.groupby([*before, system])[reply].nunique().max() == 1:
        return
    for column in cells.columns.difference([*out.columns.values(), *before]):
        each = cells.groupby([*before, system, column])[reply].nunique()
        if 1 < cells[column].nunique() <= 12 and each.mean() < 1.1:
            both = Answer(f"yes: name them by {column!r} and {system!r} together")
            text = f"Are the systems named by both {system!r} and {column!r}, which say together how a reply was made?"
            out.ask("system", text, f"no, by {system!r}", both)
