"""Checks of what annotators typed, which decide whose judgements are excluded (Smith et al. 2022, Appendix B)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.techniques.question import MessageChecks, Technique
from judgebook.statistics.intervals import Sampling
from judgebook.statistics.resampling import replicate_sums
from judgebook.study.labels import Label

#: check -> what fails it
CHECKS = {
    "short": "messages with too few words on average",
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
    """Which checks the messages of each conversation fail: one row per person and conversation, one column per check.

    Parameters
    ----------
    dialogues : DataFrame
        Columns of `schema.DIALOGUES`; turns without a message or an interactor are left out. The dialogues of a session
        are one conversation if they always answer the same messages in a corpus, and otherwise a conversation each.
    first_turn : int
        The turn of the first message that the person typed, counted from 1: a fixed greeting before it is not checked.
    min_words : float
        Fewer words (separated by white space) on average fail.
    greetings, offensive : sequence of str
        Whole words, whatever their case, that fail in the first message, or in any. An empty list checks nothing.
    capitals : int
        This many messages without a lower-case letter fail; only messages with a word of two letters or more count.

    References
    ----------
    Smith et al. 2022, Appendix B, says in words what fails ("several", "offensive language"); numbers and lists are
    choices of the YAML.
    """
    typed = dialogues.dropna(subset=["user_text", "interactor", "turn"])
    typed = typed[typed["turn"] + 1 >= first_turn].sort_values("turn", kind="stable")
    turn_of = [typed[c] for c in ("corpus", "session", "interactor", "turn")]
    several = typed.groupby(turn_of, observed=True)["user_text"].transform("nunique").gt(1)
    apart = several.groupby(typed["corpus"], observed=True).transform("any")
    dialogue = typed["dialogue"].astype(object)
    session = typed["session"].astype(object).where(typed["session"].notna() & ~apart, dialogue)
    typed = typed.assign(session=session).drop_duplicates(["corpus", "session", "interactor", "turn"])
    text = typed["user_text"].astype(str).str.strip()
    typed = typed.assign(
        text=text.str.casefold(),
        words=text.str.split().str.len(),
        capital=text.str.contains(r"[^\W\d_]{2}") & (text == text.str.upper()),
        greets=_has(text, greetings),
        offends=_has(text, offensive),
    )
    session_of = ["corpus", "session", "interactor"]
    group = typed.groupby(session_of, sort=False)
    first = group["text"].transform("first")
    later = group.cumcount() > 0
    group = typed.assign(repeats=later & (typed["text"] == first)).groupby(session_of, sort=False)
    out = group.agg(
        short=("words", "mean"), greeting=("greets", "first"), capitals=("capital", "sum"), repeated=("repeats", "any"),
        offensive=("offends", "any"),
    )  # fmt: skip
    out = out.assign(short=out["short"] < min_words, capitals=out["capitals"] >= capitals)
    return out[list(CHECKS)].astype(bool).reset_index().rename(columns={"interactor": "annotator"})


def _has(text: pd.Series, words: Sequence[str]) -> pd.Series:
    if not words:
        return pd.Series(False, index=text.index)
    pattern = rf"\b(?:{'|'.join(re.escape(w) for w in words)})\b"
    return text.str.contains(pattern, case=False, regex=True)


def screened(
    annotations: pd.DataFrame,
    dialogues: pd.DataFrame,
    techniques: Mapping[str, Technique],
    rules: MessageChecks | None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Annotations without those of people whose messages fail a check, under any technique, and the checks (`check`).

    Only conversations in the corpora of the techniques are checked (all, where none are named); without rules none are.
    """
    corpora = {t.corpus for t in techniques.values()} or {None}
    corpora = set(annotations["corpus"]) if None in corpora else corpora
    typed = dialogues[dialogues["corpus"].isin(corpora if rules else ())]
    checks = check(typed, **dict(rules or {}))
    return annotations[~annotations["annotator"].isin(failing(checks))], checks


def failing(checks: pd.DataFrame) -> list[str]:
    """People with a conversation that fails a check."""
    return sorted(checks.loc[checks[list(CHECKS)].any(axis=1), "annotator"].unique())


def effects(
    annotations: pd.DataFrame,
    checks: pd.DataFrame,
    labels: Sequence[Label],
    sampling: Sampling,
) -> Iterator[dict[str, Any]]:
    """`message_effect`: how the mean rating of each system changes if the people who fail a check are left out.

    annotations : of everybody. Ratings of whole conversations by the people whose messages were checked, high scores
    good, averaged over labels of one scale; nothing where scales differ. People are resampled (BCa).
    """
    directions = {(x.method, x.id): x for x in labels if x.direction}
    rated = annotations[annotations["turn"].isna() & annotations["dialogue_b"].isna()]
    rated = rated[rated["annotator"].isin(set(checks["annotator"]))]
    judged = [directions.get(key) for key in zip(rated["method"], rated["label"], strict=True)]
    judged_by = [x for x in judged if x is not None]
    if len({x.scale for x in judged_by}) != 1 or not (failed := set(failing(checks))):
        return
    low, high = judged_by[0].scale
    rated = rated[[x is not None for x in judged]]
    turned = np.array([x.direction < 0 for x in judged_by])
    rated = rated.assign(score=np.where(turned, low + high - rated["score"], rated["score"]).astype(float))
    for (corpus, system), part in rated.groupby(["corpus", "system"], sort=False, observed=True):
        each = part.groupby("annotator", observed=True)["score"].agg(["size", "sum"])
        passed = ~each.index.isin(failed)
        rows = np.column_stack([each, each.mul(passed, axis=0)]).astype(float)
        head = {"statistic": "message_effect", "level": "system", "corpus": corpus, "system": system, "n": len(each)}
        if not 1 < passed.sum() < len(passed):
            yield head | {"estimate": np.nan, "note": "all who rated the system pass, or at most one does"}
            continue
        replicates = replicate_sums(
            rows,
            lambda s: s[:, 3] / s[:, 2] - s[:, 1] / s[:, 0],
            unit="annotator",
            rng=sampling.stream("messages", corpus, system),
            n_resamples=sampling.n_resamples,
        )
        yield head | replicates.interval(sampling.confidence).row()


def counts(checks: pd.DataFrame, rules: MessageChecks | None) -> Iterator[dict[str, Any]]:
    """Conversations and people that fail each check that is made, and any of them, and how many were checked (`all`):
    rows of `message_check`."""
    unused = {
        name for name, words in (("greeting", "greetings"), ("offensive", "offensive")) if not getattr(rules, words, ())
    }
    failed = checks.assign(any=checks[list(CHECKS)].any(axis=1), all=True)
    for check in (*(c for c in CHECKS if c not in unused), "any", "all") if len(checks) else ():
        row = {"statistic": "message_check", "check": check}
        yield row | {"of": "conversations", "estimate": float(failed[check].sum())}
        yield row | {"of": "people", "estimate": float(failed.loc[failed[check], "annotator"].nunique())}
