"""What annotators say about their choices: how long their reasons are, and the words that are typical of them.

Smith et al. 2022, Appendix D, Tables 6 and 7: reasons for choosing one system or the other, by pair of systems.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.techniques.same_winner import stream
from judgebook.questions.techniques.sittings import TechniqueData, oriented
from judgebook.statistics.intervals import Sampling
from judgebook.statistics.resampling import replicate_sums

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


def reasons(data: TechniqueData, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Length of the reasons for choosing each system of a pair, and their typical terms.

    Parameters
    ----------
    data : TechniqueData
        Judgements with a column `reason`. Reasons for a tie are left out.

    Returns
    -------
    Rows of `reason_words` (mean number of words between spaces, Table 6; `system` is the one chosen, `system_b` the
    other), `reason_words_difference` (reasons for the first system of a pair minus those for the second) and
    `reason_term` (`tf_idf` of the 20 highest terms, Table 7). Conversations are resampled, or people where they are
    fewer: how many words somebody writes is a habit (BCa). Nothing without reasons, or for a pair with reasons for one
    system only.
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
            means = sums[:, 1::2] / sums[:, ::2]
        return np.concatenate([means, means[:, :1] - means[:, 1:]], axis=1)

    sums, n = rows.reshape(len(rows), -1), sampling.n_resamples
    replicates = replicate_sums(sums, statistic, unit=unit, rng=rng, n_resamples=n)
    *means, difference = replicates.intervals(sampling.confidence)
    yield head | {"statistic": "reason_words_difference", "n": len(part)} | difference.row()
    scores = tf_idf(text.tolist(), second.astype(int), people if len(who) > 1 else None)
    for k, mean in enumerate(means):
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
