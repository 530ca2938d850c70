"""What annotators typed (Smith et al. 2022): checks of messages decide whose judgements are excluded (Appendix B); of
reasons for a choice, how long they are, and the words that are typical of them (Appendix D, Tables 6 and 7)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.techniques.question import MessageChecks, Technique
from judgebook.questions.techniques.sittings import TechniqueData, oriented, stream
from judgebook.statistics.intervals import Sampling
from judgebook.statistics.resampling import replicate_sums

#: check -> what fails it
CHECKS = {
    "short": "messages with too few words on average",
    "greeting": "a greeting in the first message, although one is already there",
    "capitals": "several messages all in capitals",
    "repeated": "a later message that repeats the first",
    "offensive": "offensive words",
}
#: fewer words a message on average, or as many messages in capitals, fail a check
MIN_WORDS, CAPITALS = 3, 2
#: terms shown for each system, as in Table 7, and the largest share of reasons that may hold a term
TOP, MAX_SHARE = 20, 0.8
#: a term found in fewer reasons, or in those of fewer people, is one person's wording: it is typical of nothing, and
#: could give away who wrote it
LEAST = 2
#: English stop words, as in the list of NLTK (after Porter)
_WORDS = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
itself they them their theirs themselves what which who whom this that these those am is are was were be been being
have has had having do does did doing a an the and but if or because as until while of at by for with about against
between into through during before after above below to from up down in out on off over under again further then once
here there when where why how all any both each few more most other some such no nor not only own same so than too very
s t can will just don should now d ll m o re ve y ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn needn
shan shouldn wasn weren won wouldn
"""
STOP = frozenset(_WORDS.split())
_TOKEN = re.compile(r"(?u)\b\w\w+\b")


def check(
    dialogues: pd.DataFrame,
    *,
    first_turn: int = 1,
    greetings: Sequence[str] = (),
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
    greetings, offensive : sequence of str
        Whole words, whatever their case, that fail in the first message, or in any. An empty list checks nothing.

    Notes
    -----
    Fewer than MIN_WORDS words (separated by white space) on average fail, as do CAPITALS messages without a lower-case
    letter; only messages with a word of two letters or more count. Appendix B of Smith et al. 2022 says in words what
    fails ("several", "offensive language"): numbers are chosen here, lists by the YAML.
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
    out = out.assign(short=out["short"] < MIN_WORDS, capitals=out["capitals"] >= CAPITALS)
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


def reasons(data: TechniqueData, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Length of the reasons for choosing each system of a pair, and their typical terms.

    Parameters
    ----------
    data : TechniqueData
        Judgements with a column `reason`. Reasons for a tie are left out.

    Returns
    -------
    Rows of `reason_words` (mean number of words between spaces, Table 6; `system` is the one chosen, `system_b` the
    other) and `reason_term` (`tf_idf` of the 20 highest terms, Table 7). Conversations are resampled, or people where
    they are fewer: how many words somebody writes is a habit (BCa). Nothing without reasons, or for a pair with reasons
    for one system only.
    """
    for technique in (t for t in data.techniques if data.compares(t)):
        marks = data.judgements[technique]
        if "reason" not in marks or marks["reason"].isna().all():
            continue
        marks = marks[marks["reason"].astype("str").str.strip().str.len() > 0].dropna(subset="reason")
        marks = oriented(marks, data.pairs).query("score != 0")
        head = {"method": data.techniques[technique].method, "level": "pair", "technique": technique}
        for key, part in marks.groupby(["corpus", "group", "label", "system", "system_b"], sort=False):
            if len(set(part["score"])) > 1:
                names = dict(zip(("corpus", "group", "label", "system", "system_b"), key, strict=True))
                yield from _pair(part, head | names, stream(sampling.seed, "reasons", technique, *key), sampling)


def _pair(
    part: pd.DataFrame, head: dict[str, Any], rng: np.random.Generator, sampling: Sampling
) -> Iterator[dict[str, Any]]:
    text, second = part["reason"].astype(str), (part["score"] < 0).to_numpy()
    conversation = pd.factorize(part["dialogue"].astype(str) + "\x1f" + part["dialogue_b"].astype(str))[0]
    people, who = pd.factorize(part["annotator"].where(part["annotator_known"]))
    fewer = len(who) <= conversation.max() and (people >= 0).all()
    unit, codes = ("annotator", people) if fewer else ("conversation", conversation)
    words = text.str.split().str.len().to_numpy(float)
    rows = np.zeros((codes.max() + 1, 2, 2))
    np.add.at(rows, (codes, second.astype(int)), np.stack([np.ones(len(words)), words], axis=1))

    def statistic(sums: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(sums[:, 1::2] / sums[:, ::2])

    sums, n = rows.reshape(len(rows), -1), sampling.n_resamples
    replicates = replicate_sums(sums, statistic, unit=unit, rng=rng, n_resamples=n)
    scores = tf_idf(text.tolist(), second.astype(int), people if len(who) > 1 else None)
    for k, mean in enumerate(replicates.intervals(sampling.confidence)):
        side = head if k == 0 else head | {"system": head["system_b"], "system_b": head["system"]}
        side |= {"n": int((second == k).sum())}
        yield side | {"statistic": "reason_words"} | mean.row()
        for term, score in scores[k].sort_values(ascending=False, kind="stable").head(TOP).items():
            yield side | {"statistic": "reason_term", "term": term, "estimate": score}


def tf_idf(texts: Sequence[str], kinds: np.ndarray, people: np.ndarray | None = None) -> list[pd.Series]:
    """Mean TF-IDF of each term over the texts of a kind.

    texts : (n,). kinds : (n,), 0 or 1. people : (n,) who wrote them; terms that one person alone used are left out.
    Returns for each kind a Series over terms, in alphabetical order.

    Notes
    -----
    As the TfidfVectorizer of scikit-learn, which the paper used, fitted to the texts of both kinds: words of two
    characters or more in lower case, idf = ln((1 + n) / (1 + df)) + 1, each text scaled to length 1; without stop words
    and terms in more than 80% of texts. The paper does not say how the scores of texts are combined; here, by their
    mean. Terms found in one text only are left out.
    """
    words = [(i, word) for i, text in enumerate(texts) for word in _TOKEN.findall(text.lower()) if word not in STOP]
    counts = pd.DataFrame(words, columns=["text", "term"]).groupby(["text", "term"]).size().rename("tf").reset_index()
    df = counts.groupby("term")["text"].transform("size")
    frequent = (df >= LEAST) & (df <= MAX_SHARE * len(texts))
    if people is not None:
        by = pd.Series(np.asarray(people)[counts["text"].to_numpy(int)], counts.index)
        frequent &= by.groupby(counts["term"]).transform("nunique") >= LEAST
    counts = counts[frequent]
    idf = np.log((1 + len(texts)) / (1 + df.loc[counts.index])) + 1
    weight = counts["tf"] * idf
    norm = np.sqrt((weight**2).groupby(counts["text"]).transform("sum"))
    kind = np.asarray(kinds)[counts["text"].to_numpy(int)]
    sums = [(weight / norm)[kind == k].groupby(counts["term"][kind == k]).sum() for k in (0, 1)]
    return [total / max(1, int(np.sum(np.asarray(kinds) == k))) for k, total in enumerate(sums)]
