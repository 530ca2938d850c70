"""A row for each marked error, with its severity or its kind."""

from __future__ import annotations

import re

import pandas as pd

from judgebook.extras.new import roles
from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import Guess, ask_if_answers
from judgebook.extras.new.spelling import quoted
from judgebook.extras.new.words import is_prose
from judgebook.sources.nature import nature, plain

_SPAN = re.compile(r"(?:^|[^a-z])span|(?:^|[^a-z])(?:start|begin)(?:$|[^a-z])", re.I)
_KIND = re.compile(r"categor|error_?type|(?:^|[^a-z])type|kind|class", re.I)
#: severities that have a weight, and words for none
_WEIGHED = {"major", "minor", "neutral"}
_NONE = {"noerror", "noerrors", "none", "noissue", "null", "na", "nan"}
#: of five major errors at most, as annotators were told
_HIGHEST = 25
_SOURCE = "# weights: 5 for a major error and 1 for a minor one (Freitag et al., 2021); 0 where nothing was marked"


def marked(out: Guess, cells: pd.DataFrame) -> bool:
    """Errors of a segment in rows of their own: their weights are added, or kinds without severities are a set."""
    if "annotator" not in out.columns:
        return False
    severity = next((c for c in cells if plain(c).endswith("severity") and c not in out.columns.values()), None)
    kind = next((c for c in cells if _KIND.search(c) and c != severity and _few_words(cells, c)), None)
    if severity:
        t, keys = out.table, [out.columns[c] for c in ("dialogue", "system", "annotator", "turn") if c in out.columns]
        rated = [c for c in t.rated if c not in out.columns.values()] if t else []
        several = kind or any(map(_SPAN.search, cells)) or (t and t.repeated([c for c in keys if c in t.code]))
        if rated and (not several or any(f"label {c}" in out.answers for c in rated)):  # how bad the item is
            return False
        for column in rated:
            ask_if_answers(out, column, "errors are marked beside it")
        return _weighed(out, cells, severity, kind)
    if kind and any(_SPAN.search(c) for c in cells) and "system" in out.columns:
        return _kinds(out, cells, kind)
    return False


def _few_words(cells: pd.DataFrame, column: str) -> bool:
    held = cells[column].str.strip()
    return 1 < held.nunique() <= 60 and pd.to_numeric(held[held != ""], errors="coerce").isna().all()


def _weighed(out: Guess, cells: pd.DataFrame, severity: str, kind: str | None) -> bool:
    held = cells[severity].str.strip().where(~cells[severity].isin(out.na_values), "")
    spelt = {s: plain(s) for s in held.unique() if s and plain(s) not in _NONE}
    if not {*spelt.values()} & _WEIGHED:
        return False
    odd = [s for s, word in spelt.items() if word not in _WEIGHED]
    weights = ", ".join(f"{quoted(s)}: {_HIGHEST if 'critical' in s.lower() else 1}" for s in odd)
    rules = [f"category: {quoted(kind)}"] if kind else []
    rules += [f"weights: {{{weights}}}"] if odd else []
    _item(out, cells)
    out.scores, out.one_label = severity, "mqm"
    out.score_columns = [severity, *([kind] if kind else [])]
    out.why["scores"] = "the severity of each error"
    out.more = [f"errors: {{{', '.join(rules)}}}", _SOURCE]
    if odd:
        text = f"What weight have {', '.join(odd)} in {severity!r}, where a major error has 5?"
        out.ask("label mqm", text, f"{{{weights}}}", Answer("others: write them in `errors`"))
    # of any weight, so many errors at most
    by = [out.columns["annotator"], *(c for c in out.identify if c in cells)]
    most = float(
        held.map(lambda s: 0 if not s or plain(s) in _NONE else _HIGHEST).groupby([cells[c] for c in by]).sum().max()
    )
    out.labels["mqm"] = ("mqm", 0, max(_HIGHEST, most), False)
    out.ways["mqm"] = -1
    return True


def _kinds(out: Guess, cells: pd.DataFrame, kind: str) -> bool:
    """Kinds of errors as a set: `none` where a row says that nothing was marked."""
    _item(out, cells)
    by = [out.columns["annotator"], *(c for c in out.identify if c in cells)]
    if not cells.duplicated(by).any():
        out.identify = []
        return False
    answers = sorted(set(cells[kind].str.strip()) - {""})
    out.sets[kind] = "", answers
    out.score_columns = [kind]
    empty = [a for a in answers if plain(a) in _NONE]
    out.na_values = [v for v in out.na_values if v not in empty]
    if empty:
        how = Answer("no answer: write it in `na_values`")
        out.ask(f"no answer in {kind}", f"What is {empty[0]!r} in {kind!r}?", "nothing is wrong", how)
    return True


def _item(out: Guess, cells: pd.DataFrame) -> None:
    """The segment: the finest of the columns that name it, with the others where it comes again in them."""
    named = [c for c in cells if roles.role_of(c) == "dialogue" or c == out.columns.get("dialogue")]
    named += [c for c in cells if c not in named and nature(c, cells[c]).kind == "id" and c not in out.columns.values()]
    named = [c for c in named if (cells[c] != "").all() and cells[c].duplicated().any() and not is_prose(cells[c])]
    named = sorted(named, key=lambda c: -cells[c].nunique())
    finest = named[:1]
    if len(named) > 1 and cells.groupby(named[0])[named[1:]].nunique().max().max() > 1:
        finest = [*named[1:], named[0]]
    for ours in ("dialogue", "context", "label", "score"):
        out.columns.pop(ours, None)
    if len(finest) == 1:
        out.columns["context"] = finest[0]
    system = out.columns.get("system")
    out.identify = [*(finest or ["{row}"]), *([system] if system else [])]
    out.why["identify"] = "what was judged; its errors have a row each"
