"""Automatic metrics computed from the texts of a study: overlap with a reference, similarity, length, repetition.

Each scores one response. The reference of a response is another response to the same context (`dialogues.reference`);
a response that serves as reference has none of its own and gets no score that needs one.

The libraries come with the extra `metrics` and need no download: sacrebleu (BLEU, chrF), rouge-score, nltk (METEOR) and
wordllama, whose weights are in its wheel. Without them the metrics that need none are left.

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

from helpers.labels import METHODS

#: words and punctuation marks, for METEOR and distinct-n; METEOR's usual tokeniser needs a download
TOKEN = re.compile(r"\w+|[^\w\s]")
#: a new revision makes cached scores void
REVISION = 1
CACHE = ["metric", "made_by", "key", "score"]
INSTALL = 'python -m pip install "sacrebleu" "rouge-score" "nltk" "wordllama"'


@dataclass(frozen=True)
class TextMetric:
    """against : what a response is held against: 'reference', 'last_turn', or None. package : what it needs installed.

    score : responses and, aligned, what they are held against -> scores; neither is ever empty text.
    """

    title: str
    against: str | None
    package: str | None
    score: Callable[[list[str], list[str]], Iterable[float]]


def _bleu(texts: list[str], others: list[str]) -> Iterable[float]:
    """Sentence BLEU of sacrebleu, 0 to 100: tokeniser 13a, exponential smoothing, orders that the response has."""
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

    folder = Path(wordllama.__file__).parent  # holds weights and tokeniser; without it a hub would be asked
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


def made_by(metric: str) -> str | None:
    """The package and version that computes a metric, with the revision of this module; None: it is not installed.

    Checked with a package that is absent.
    """
    package = METRICS[metric].package
    try:
        return f"{REVISION}" if package is None else f"{REVISION} {package}=={version(package)}"
    except PackageNotFoundError:
        return None


def not_installed(metrics: Iterable[str]) -> list[str]:
    """Those of the metrics whose package is absent. Checked with a package that is absent."""
    return [metric for metric in metrics if made_by(metric) is None]


def choose(wanted: Sequence[str] | None) -> list[str]:
    """The metrics to compute: all for None. Raises ValueError naming those that do not exist. Checked by hand."""
    unknown = sorted(set(wanted or ()) - set(METRICS))
    if unknown:
        raise ValueError(f"metrics.computed: expected some of {', '.join(METRICS)}, found {', '.join(unknown)}")
    return list(METRICS) if wanted is None else [m for m in METRICS if m in wanted]


def items(dialogues: pd.DataFrame, annotations: pd.DataFrame) -> pd.DataFrame:
    """The system turns that were rated, or belong to a dialogue that was: corpus, dialogue, turn, `text`, `reference`,
    `last_turn` (the last line of what was said before it; missing where nothing is known).

    Checked by hand.
    """
    spoken = dialogues[dialogues["system_text"].notna()].copy()
    pairs = annotations[["corpus", "dialogue", "turn"]].drop_duplicates()
    whole = pairs.loc[pairs["turn"].isna(), ["corpus", "dialogue"]].assign(whole=True)
    rated = spoken.merge(pairs.assign(rated=True), on=["corpus", "dialogue", "turn"], how="left")
    rated = rated.merge(whole, on=["corpus", "dialogue"], how="left")
    kept = rated[rated["rated"].notna() | rated["whole"].notna()]
    lines = kept["user_text"].map(lambda t: t.strip().rpartition("\n")[2] if isinstance(t, str) else None)
    out = kept.assign(text=kept["system_text"], last_turn=lines)
    return out[["corpus", "dialogue", "turn", "text", "reference", "last_turn"]].reset_index(drop=True)


def compute(
    responses: pd.DataFrame, metrics: Sequence[str], known: pd.DataFrame | None = None, *, progress: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores of responses, and the cache that spares computing them again.

    Parameters
    ----------
    responses : frame
        From `items`.
    metrics : sequence of str
        Keys of METRICS; those whose package is absent are passed over, as are those that have nothing to be held
        against in a corpus.
    known : frame, optional
        The cache of an earlier call: metric, made_by (package and version), key, score. A key is a hash of the texts:
        the cache holds none. Scores of other versions are not used and not kept.

    Returns
    -------
    frame of scores (corpus, dialogue, turn, metric, score; missing where there is no reference or no text), and the
    cache.

    Notes
    -----
    Equal texts are scored once. Checked against the libraries called one response at a time, and examples by hand.
    """
    known = pd.DataFrame(columns=CACHE) if known is None else known
    scores, cache = [], []
    for metric in [m for m in metrics if made_by(m) is not None]:
        spec = METRICS[metric]
        other = responses[spec.against] if spec.against else pd.Series("", index=responses.index)
        here = responses.assign(other=other)
        usable = _has_text(here["text"]) & (_has_text(here["other"]) if spec.against else True)
        in_corpus = usable.groupby(here["corpus"]).transform("any").astype(bool)
        if not in_corpus.any():
            continue
        keys = pd.Series(None, index=here.index, dtype=object)
        pairs = zip(here.loc[usable, "text"], here.loc[usable, "other"], strict=True)
        keys[usable] = [hashlib.sha256(f"{a}\x1f{b}".encode()).hexdigest()[:32] for a, b in pairs]
        found = _score(metric, here[usable].assign(key=keys[usable]).drop_duplicates("key"), known, progress)
        cache.append(found)
        value = keys.map(found.set_index("key")["score"]).astype(float)
        scores.append(here.assign(metric=metric, score=value).loc[in_corpus, _SCORES])
    out = pd.concat(scores, ignore_index=True) if scores else pd.DataFrame(columns=_SCORES)
    return out, pd.concat(cache, ignore_index=True) if cache else known


_SCORES = ["corpus", "dialogue", "turn", "metric", "score"]


def _has_text(texts: pd.Series) -> pd.Series:
    return texts.map(lambda t: isinstance(t, str) and bool(t.strip())).astype(bool)


def _score(metric: str, pairs: pd.DataFrame, known: pd.DataFrame, progress: bool) -> pd.DataFrame:
    """Cache rows of one metric for distinct pairs of texts, those that `known` has taken from there."""
    by = made_by(metric)
    old = known[(known["metric"] == metric) & (known["made_by"] == by)].set_index("key")["score"]
    new = pairs[~pairs["key"].isin(old.index)]
    found = dict(old)
    if len(new):
        from tqdm import tqdm

        values = METRICS[metric].score(list(new["text"]), list(new["other"]))
        bar = tqdm(values, desc=METRICS[metric].title, total=len(new), disable=not progress, leave=False)
        found |= dict(zip(new["key"], map(float, bar), strict=True))
    return pd.DataFrame({"metric": metric, "made_by": by, "key": list(found), "score": list(found.values())})


def of_dialogues(scores: pd.DataFrame, annotations: pd.DataFrame) -> pd.DataFrame:
    """Scores of turns, and means over the turns of each dialogue that was rated as a whole (turn missing).

    Turns that nobody rated stand only in these means. Checked by hand.
    """
    keys = ["corpus", "dialogue"]
    levels = annotations["method"].map(lambda m: METHODS[m].unit)
    turns = annotations.loc[levels == "turn", [*keys, "turn"]].drop_duplicates()
    whole = annotations.loc[levels == "dialogue", keys].drop_duplicates()
    means = scores.groupby([*keys, "metric"], sort=False)["score"].mean().reset_index().merge(whole, on=keys)
    means["turn"] = pd.array([pd.NA] * len(means), dtype="Int32")
    parts = [f for f in (scores.merge(turns, on=[*keys, "turn"]), means) if len(f)]
    return pd.concat(parts, ignore_index=True)[_SCORES] if parts else scores[_SCORES].iloc[:0]
