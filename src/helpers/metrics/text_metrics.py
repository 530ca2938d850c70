"""Automatic metrics computed from the texts of a study: overlap with a reference, similarity, length, repetition.

Each scores one response. The reference of a response is another response to the same context (`dialogues.reference`);
a response that serves as reference has none of its own and gets no score that needs one.

The libraries come with the extra `metrics` and need no download: sacrebleu (BLEU, chrF), rouge-score, nltk (METEOR) and
wordllama, whose weights are in its wheel. Without them only the metrics that need no library are computed.

References: Papineni et al. 2002 and Post 2018 (BLEU), Popović 2015 (chrF), Lin 2004 (ROUGE-L), Lavie and Agarwal 2007
(METEOR), Li et al. 2016 (distinct-n); Zhang et al. 2022, section 2.2, for the similarity of the response to the last
turn: the AM part of the DSTC10 baseline, there with a fine-tuned RoBERTa.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from math import nan

import numpy as np
import pandas as pd

from helpers.study.labels import METHODS

#: words and punctuation marks, for METEOR and distinct-n; METEOR's usual tokenizer needs a download
TOKEN = re.compile(r"\w+|[^\w\s]")
#: a new revision makes cached scores void
REVISION = 1
CACHE = ["metric", "made_by", "key", "score"]
INSTALL = 'python -m pip install "sacrebleu" "rouge-score" "nltk" "wordllama"'


@dataclass(frozen=True)
class TextMetric:
    """against : what a response is compared with: 'reference', 'last_turn', or None. package : what it needs installed.

    score : responses and, aligned, what they are compared with -> scores; neither is ever empty text.
    """

    title: str
    against: str | None
    package: str | None
    score: Callable[[list[str], list[str]], Iterable[float]]


def _bleu(texts: list[str], others: list[str]) -> Iterable[float]:
    """Sentence BLEU of sacrebleu, 0 to 100: tokenizer 13a, exponential smoothing, orders that the response has."""
    from sacrebleu.metrics import BLEU

    metric = BLEU(effective_order=True)
    return (metric.sentence_score(text, [other]).score for text, other in zip(texts, others, strict=True))


def _chrf(texts: list[str], others: list[str]) -> Iterable[float]:
    from sacrebleu.metrics import CHRF

    metric = CHRF()
    return (metric.sentence_score(text, [other]).score for text, other in zip(texts, others, strict=True))


def _rouge_l(texts: list[str], others: list[str]) -> Iterable[float]:
    """F-measure of the longest common subsequence, words without stemming."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    return (scorer.score(other, text)["rougeL"].fmeasure for text, other in zip(texts, others, strict=True))


class _NoWordNet:
    """In place of WordNet, which needs a download: no word has synonyms."""

    @staticmethod
    def synsets(word: str) -> list:
        return []


def _meteor(texts: list[str], others: list[str]) -> Iterable[float]:
    """METEOR of nltk with its two stages that need no WordNet: equal words, equal stems."""
    from nltk.translate.meteor_score import single_meteor_score

    for text, other in zip(texts, others, strict=True):
        yield single_meteor_score(TOKEN.findall(other), TOKEN.findall(text), wordnet=_NoWordNet)


def _similarity(texts: list[str], others: list[str]) -> np.ndarray:
    """Cosine of the mean word vectors of wordllama (256 dimensions)."""
    from pathlib import Path

    import wordllama

    folder = Path(wordllama.__file__).parent  # holds weights and tokeniser; without it a hub would be queried
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    a, b = (np.asarray(model.embed(list(side), norm=True), dtype=float) for side in (texts, others))
    return np.sum(a * b, axis=1)


def _length(texts: list[str], others: list[str]) -> Iterable[float]:
    """Words by white space."""
    return (float(len(text.split())) for text in texts)


def _distinct(n: int) -> Callable[[list[str], list[str]], Iterable[float]]:
    def score(texts: list[str], others: list[str]) -> Iterable[float]:
        """Distinct n-grams of the response over all its n-grams, lower case; missing with fewer than n words."""
        for text in texts:
            words = TOKEN.findall(text.lower())
            grams = list(zip(*(words[i:] for i in range(n)), strict=False))
            yield len(set(grams)) / len(grams) if grams else nan

    return score


METRICS: dict[str, TextMetric] = {
    "bleu": TextMetric("BLEU", "reference", "sacrebleu", _bleu),
    "chrf": TextMetric("chrF", "reference", "sacrebleu", _chrf),
    "rouge_l": TextMetric("ROUGE-L", "reference", "rouge-score", _rouge_l),
    "meteor_no_wordnet": TextMetric("METEOR without WordNet", "reference", "nltk", _meteor),
    "similarity_reference": TextMetric("Similarity to reference", "reference", "wordllama", _similarity),
    "similarity_last_turn": TextMetric("Similarity to last turn", "last_turn", "wordllama", _similarity),
    "length": TextMetric("Length in words", None, None, _length),
    "distinct_1": TextMetric("Distinct-1", None, None, _distinct(1)),
    "distinct_2": TextMetric("Distinct-2", None, None, _distinct(2)),
}
_SCORES = ["corpus", "dialogue", "turn", "metric", "score"]


def made_by(metric: str) -> str | None:
    """The package and version that computes a metric, with the revision of this module; None: it is not installed."""
    package = METRICS[metric].package
    try:
        return f"{REVISION}" if package is None else f"{REVISION} {package}=={version(package)}"
    except PackageNotFoundError:
        return None


def not_installed(metrics: Iterable[str]) -> list[str]:
    """Those of the metrics whose package is absent."""
    return [metric for metric in metrics if made_by(metric) is None]


def choose(wanted: Sequence[str] | None, given: Iterable[str] = ()) -> list[str]:
    """The metrics to compute: all for None, without those that are `given`. Raises ValueError for an unknown one."""
    unknown = sorted(set(wanted or ()) - set(METRICS))
    if unknown:
        raise ValueError(f"metrics.computed: expected some of {', '.join(METRICS)}, found {', '.join(unknown)}")
    return [m for m in METRICS if (wanted is None or m in wanted) and m not in set(given)]


def score_texts(
    dialogues: pd.DataFrame,
    annotations: pd.DataFrame,
    metrics: Sequence[str],
    known: pd.DataFrame | None = None,
    *,
    progress: bool = False,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores of the turns and dialogues that were rated, and the cache: `compute` for the `items` of a study."""
    scores, cache = compute(items(dialogues, annotations), metrics, known, progress=progress)
    return of_dialogues(scores, annotations), cache


def items(dialogues: pd.DataFrame, annotations: pd.DataFrame) -> pd.DataFrame:
    """The system turns that were rated, or belong to a dialogue that was: corpus, dialogue, turn, `text`, `reference`,
    `last_turn` (the last line of the user's message; missing where it is not known)."""
    turn, keys = ["corpus", "dialogue", "turn"], ["corpus", "dialogue"]
    spoken, rated = dialogues[dialogues["system_text"].notna()], annotations[turn].drop_duplicates()
    kept = _in(spoken, rated, turn) | _in(spoken, rated[rated["turn"].isna()], keys)
    lines = spoken["user_text"].map(lambda t: t.strip().rpartition("\n")[2] if isinstance(t, str) else None)
    out = spoken.assign(text=spoken["system_text"], last_turn=lines)
    return out.loc[kept, [*turn, "text", "reference", "last_turn"]].reset_index(drop=True)


def _in(frame: pd.DataFrame, other: pd.DataFrame, keys: list[str]) -> np.ndarray:
    return pd.MultiIndex.from_frame(frame[keys]).isin(pd.MultiIndex.from_frame(other[keys]))


def compute(
    responses: pd.DataFrame, metrics: Sequence[str], known: pd.DataFrame | None = None, *, progress: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores of responses, and the cache that spares computing them again. Equal texts are scored once.

    Parameters
    ----------
    responses : DataFrame
        From `items`.
    metrics : sequence of str
        Keys of METRICS; those whose package is absent are passed over, as are those that have nothing to compare with
        in a corpus.
    known : DataFrame, optional
        The cache of an earlier call: metric, made_by (package and version), key, score. A key is a hash of the texts:
        the cache holds none. Scores of other versions are not used and not kept.

    Returns
    -------
    DataFrame of scores (corpus, dialogue, turn, metric, score; missing where there is no reference or no text), and the
    cache.
    """
    known = pd.DataFrame(columns=CACHE) if known is None else known
    scores, cache = [], []
    for metric in [m for m in metrics if made_by(m) is not None]:
        against = METRICS[metric].against
        pairs = responses.assign(other=responses[against] if against else "", key=None)
        usable = _has_text(pairs["text"]) & (_has_text(pairs["other"]) if against else True)
        in_corpus = usable.groupby(pairs["corpus"]).transform("any").astype(bool)
        if not in_corpus.any():
            continue
        texts = pairs.loc[usable, ["text", "other"]].itertuples(index=False)
        pairs.loc[usable, "key"] = [hashlib.sha256(f"{a}\x1f{b}".encode()).hexdigest()[:32] for a, b in texts]
        cache.append(_score(metric, pairs[usable].drop_duplicates("key"), known, progress))
        score = pairs["key"].map(cache[-1].set_index("key")["score"]).astype(float)
        scores.append(pairs.assign(metric=metric, score=score).loc[in_corpus, _SCORES])
    out = pd.concat(scores, ignore_index=True) if scores else pd.DataFrame(columns=_SCORES)
    return out, pd.concat(cache, ignore_index=True) if cache else known


def _has_text(texts: pd.Series) -> pd.Series:
    return texts.map(lambda t: isinstance(t, str) and bool(t.strip())).astype(bool)


def _score(metric: str, pairs: pd.DataFrame, known: pd.DataFrame, progress: bool) -> pd.DataFrame:
    """Cache rows of one metric for distinct pairs of texts, as far as possible from `known`."""
    by = made_by(metric)
    old = known[(known["metric"] == metric) & (known["made_by"] == by)].set_index("key")["score"]
    new = pairs[~pairs["key"].isin(old.index)]
    scores = dict(old)
    if len(new):
        from tqdm import tqdm

        values = METRICS[metric].score(list(new["text"]), list(new["other"]))
        bar = tqdm(values, desc=METRICS[metric].title, total=len(new), disable=not progress, leave=False)
        scores |= dict(zip(new["key"], map(float, bar), strict=True))
    return pd.DataFrame({"metric": metric, "made_by": by, "key": list(scores), "score": list(scores.values())})


def of_dialogues(scores: pd.DataFrame, annotations: pd.DataFrame) -> pd.DataFrame:
    """Scores of turns that were rated, and means over the turns of each dialogue that was rated (turn missing)."""
    keys, unit = ["corpus", "dialogue"], annotations["method"].map(lambda m: METHODS[m].unit)
    turns = annotations.loc[unit == "turn", [*keys, "turn"]].drop_duplicates()
    whole = annotations.loc[unit == "dialogue", keys].drop_duplicates()
    means = scores.groupby([*keys, "metric"], sort=False)["score"].mean().reset_index().merge(whole, on=keys)
    means["turn"] = pd.array([pd.NA] * len(means), dtype="Int32")
    parts = [f for f in (scores.merge(turns, on=[*keys, "turn"]), means) if len(f)]
    return pd.concat(parts, ignore_index=True)[_SCORES] if parts else scores[_SCORES].iloc[:0]
