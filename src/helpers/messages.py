"""Checks of what annotators typed, by which their judgements are left out (Smith et al. 2022, Appendix B)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from helpers.schema import condition

#: check -> what fails it
CHECKS = {
    "short": "messages of too few words on average",
    "greeting": "a greeting in the first message, although one is already there",
    "capitals": "several messages all in capitals",
    "repeated": "a later message that repeats the first",
    "offensive": "offensive words",
}


def check(
    dialogues: pd.DataFrame,
    *,
    first_turn: int = 1,
    min_words: float = 3,
    greetings: Sequence[str] = (),
    capitals: int = 2,
    offensive: Sequence[str] = (),
) -> pd.DataFrame:
    """Which checks the messages of each conversation fail: one row a person and session, a column a check.

    Parameters
    ----------
    dialogues : frame
        Columns of `schema.DIALOGUES`; turns without a message or an interactor are left out. Where a session holds two
        answers to the same messages, they count once.
    first_turn : int
        The first message the person typed, turns counted from 1: a fixed greeting before it is no message.
    min_words : float
        Fewer words than this on average fail, words parted by white space.
    greetings, offensive : words
        As a whole word, in either case: in the first message, or in any. An empty list checks nothing.
    capitals : int
        So many messages without a small letter fail; messages need a word of two letters or more.

    Notes
    -----
    The paper says in words what fails ("several", "offensive language"); numbers and lists are choices of the YAML.
    Checked by hand.
    """
    typed = dialogues.dropna(subset=["user_text", "interactor", "turn"])
    typed = typed[typed["turn"] + 1 >= first_turn].sort_values("turn", kind="stable")
    session = typed["session"].astype(object).where(typed["session"].notna(), typed["dialogue"].astype(object))
    typed = typed.assign(session=session).drop_duplicates(["corpus", "session", "interactor", "turn"])
    text = typed["user_text"].astype(str).str.strip()
    typed = typed.assign(
        text=text.str.casefold(),
        words=text.str.split().str.len(),
        capital=text.str.contains(r"[^\W\d_]{2}") & (text == text.str.upper()),
        greets=_has(text, greetings),
        offends=_has(text, offensive),
    )
    group = typed.groupby(["corpus", "session", "interactor"], sort=False)
    first = group["text"].transform("first")
    later = group.cumcount() > 0
    typed = typed.assign(repeats=later & (typed["text"] == first))
    out = group.agg(short=("words", "mean"), greeting=("greets", "first"), capitals=("capital", "sum"))
    again = typed.groupby(["corpus", "session", "interactor"], sort=False).agg(
        repeated=("repeats", "any"), offensive=("offends", "any")
    )
    out = out.assign(short=out["short"] < min_words, capitals=out["capitals"] >= capitals).join(again)
    return out[list(CHECKS)].astype(bool).reset_index().rename(columns={"interactor": "annotator"})


def _has(text: pd.Series, words: Sequence[str]) -> pd.Series:
    if not words:
        return pd.Series(False, index=text.index)
    pattern = rf"\b(?:{'|'.join(re.escape(w) for w in words)})\b"
    return text.str.contains(pattern, case=False, regex=True)


def failing(checks: pd.DataFrame) -> list[str]:
    """People with a conversation that fails a check: all their judgements are left out, of every technique.

    Checked by hand.
    """
    bad = checks[list(CHECKS)].any(axis=1)
    return sorted(checks.loc[bad, "annotator"].unique())


def counts(checks: pd.DataFrame) -> pd.DataFrame:
    """Conversations and people that fail each check, and any: check, conversations, people. Checked by hand."""
    each = {name: checks[name] for name in CHECKS} | {"any": checks[list(CHECKS)].any(axis=1)}
    rows = [
        {"check": name, "conversations": int(bad.sum()), "people": checks.loc[bad, "annotator"].nunique()}
        for name, bad in each.items()
    ]
    return pd.DataFrame(rows)


def rows(counted: pd.DataFrame) -> pd.DataFrame:
    """`message_check` result rows of `counts`. Checked by hand."""
    return pd.DataFrame(
        [
            {
                "statistic": "message_check",
                "estimate": float(row[of]),
                "condition": condition(check=row["check"], of=of),
            }
            for row in counted.to_dict("records")
            for of in ("conversations", "people")
        ]
    )
