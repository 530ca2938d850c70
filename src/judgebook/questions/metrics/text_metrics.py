"""Automatic metrics computed from the texts of a study: overlap with a reference, similarity, length, repetition.

Each scores one response; a dialogue gets the mean over its responses, and its number of turns. The reference of a
response is another response to the same context (`dialogues.reference`); a response that serves as reference has none
of its own and gets no score that needs one.

The libraries come with the extra `metrics` and need no download: sacrebleu (BLEU, chrF), rouge-score, nltk (METEOR) and
wordllama, whose weights are in its wheel. Without them only the metrics that need no library are computed.

References: Papineni et al. 2002 and Post 2018 (BLEU), Popović 2015 (chrF), Lin 2004 (ROUGE-L), Lavie and Agarwal 2007
(METEOR), Li et al. 2016 (distinct-n), See et al. 2019 (repetition across the turns of a dialogue); Zhang et al. 2022,
section 2.2, for the similarity of the response to the last turn: the AM part of the DSTC10 baseline, there with a
fine-tuned RoBERTa, so that values cannot be compared with printed ones.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from judgebook.study.labels import METHODS
from judgebook.study.schema import Annotations, Dialogues

#: words and punctuation marks, for METEOR and distinct-n; METEOR's usual tokenizer needs a download
TOKEN = re.compile(r"\w+|[^\w\s]")
#: a new revision makes cached scores void
REVISION = 1
CACHE = ["metric", "made_by", "key", "score"]
INSTALL = 'python -m pip install "sacrebleu" "rouge-score" "nltk" "wordllama"'


@dataclass(frozen=True)
class TextMetric:
    """against : what a response is compared with: 'reference', 'last_turn', 'earlier', or None. package : what it needs
    installed.

    score : responses and, aligned, what they are compared with -> scores; neither is ever empty text. summed : a
    dialogue has the sum of its responses' scores and not their mean; responses that were rated themselves have none.
    """

    title: str
    against: str | None
    package: str | None
    score: Callable[[list[str], list[str]], Iterable[float]]
    summed: bool = False


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
    def synsets(word: str) -> list[object]:
        return []


def _meteor(texts: list[str], others: list[str]) -> Iterable[float]:
    """METEOR of nltk with its two stages that need no WordNet: equal words, equal stems."""
    from nltk.translate.meteor_score import single_meteor_score

    for text, other in zip(texts, others, strict=True):
        yield single_meteor_score(TOKEN.findall(other), TOKEN.findall(text), wordnet=_NoWordNet)


def _similarity(texts: list[str], others: list[str]) -> np.ndarray:
    """Cosine of the mean word vectors of wordllama (256 dimensions)."""
    model = _embeddings()
    a, b = (np.asarray(model.embed(list(side), norm=True), dtype=float) for side in (texts, others))
    return np.sum(a * b, axis=1)


def _embeddings() -> Any:
    from pathlib import Path

    root = logging.getLogger()
    before = root.level, [*root.handlers]
    import wordllama  # has the whole process log, so that notes of other libraries would stand on the page

    root.setLevel(before[0])
    root.handlers[:] = before[1]
    folder = Path(wordllama.__file__).parent  # holds weights and tokeniser; without it a hub would be queried
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)


def _length(texts: list[str], others: list[str]) -> Iterable[float]:
    """Words by white space."""
    return (float(len(text.split())) for text in texts)


def _distinct(n: int) -> Callable[[list[str], list[str]], Iterable[float]]:
    def score(texts: list[str], others: list[str]) -> Iterable[float]:
        """Distinct n-grams of the response over all its n-grams, lower case; missing with fewer than n words."""
        for text in texts:
            grams = _grams(text, n)
            yield len(set(grams)) / len(grams) if grams else nan

    return score


def _grams(text: str, n: int) -> list[tuple[str, ...]]:
    words = TOKEN.findall(text.lower())
    return list(zip(*(words[i:] for i in range(n)), strict=False))


def _new_bigrams(texts: list[str], others: list[str]) -> Iterable[float]:
    """Share of the response's bigrams that occur in none of the system's earlier responses, one per line of `others`:
    1 minus the repetition of See et al. 2019. Missing with a single word."""
    for text, other in zip(texts, others, strict=True):
        grams, before = _grams(text, 2), {gram for line in other.split("\n") for gram in _grams(line, 2)}
        yield sum(gram not in before for gram in grams) / len(grams) if grams else nan


def _one(texts: list[str], others: list[str]) -> Iterable[float]:
    return (1.0 for _ in texts)


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
    "new_bigrams": TextMetric("New bigrams", "earlier", None, _new_bigrams),
    "turns": TextMetric("Length in turns", None, None, _one, summed=True),
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
    dialogues: Dialogues,
    annotations: Annotations,
    metrics: Sequence[str],
    earlier: pd.DataFrame | None = None,
    *,
    progress: bool = False,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores of the turns and dialogues that were rated, and the cache: `compute` for the `items` of a study."""
    scores, cache = compute(items(dialogues, annotations), metrics, earlier, progress=progress)
    return of_dialogues(scores, annotations), cache


def items(dialogues: Dialogues, annotations: Annotations) -> pd.DataFrame:
    """The system turns that were rated, or belong to a dialogue that was: corpus, dialogue, turn, `text`, `reference`,
    `last_turn` (the last line of the user's message; missing where it is not known), `earlier` (the system's earlier
    responses in the dialogue, one per line; missing in the first)."""
    turn, keys = ["corpus", "dialogue", "turn"], ["corpus", "dialogue"]
    spoken, rated = dialogues[dialogues["system_text"].notna()], annotations[turn].drop_duplicates()
    wanted = _in(spoken, rated, turn) | _in(spoken, rated[rated["turn"].isna()], keys)
    lines = spoken["user_text"].map(lambda t: t.strip().rpartition("\n")[2] if isinstance(t, str) else None)
    out = spoken.assign(text=spoken["system_text"], last_turn=lines, earlier=_earlier(spoken))
    return out.loc[wanted, [*turn, "text", "reference", "last_turn", "earlier"]].reset_index(drop=True)


def _earlier(spoken: Dialogues) -> pd.Series:
    turns: dict[tuple[str, str], list[str]] = defaultdict(list)
    out = {}
    for row in spoken.sort_values("turn", kind="stable")[["corpus", "dialogue", "system_text"]].itertuples():
        lines = turns[row.corpus, row.dialogue]
        out[row.Index] = "\n".join(lines) or None
        lines.append(" ".join(row.system_text.split()))
    return pd.Series(out, dtype=object)


def _in(frame: pd.DataFrame, other: pd.DataFrame, keys: list[str]) -> np.ndarray:
    return pd.MultiIndex.from_frame(frame[keys]).isin(pd.MultiIndex.from_frame(other[keys]))


def compute(
    responses: pd.DataFrame, metrics: Sequence[str], earlier: pd.DataFrame | None = None, *, progress: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores of responses, and the cache that spares computing them again. Equal texts are scored once.

    Parameters
    ----------
    responses : DataFrame
        From `items`.
    metrics : sequence of str
        Keys of METRICS; those whose package is absent are passed over, as are those that have nothing to compare with
        in a corpus.
    earlier : DataFrame, optional
        The cache of an earlier call: metric, made_by (package and version), key, score. A key is a hash of the texts:
        the cache holds none. Scores of other versions are not used and not kept.

    Returns
    -------
    DataFrame of scores (corpus, dialogue, turn, metric, score; missing where there is no reference or no text), and the
    cache.
    """
    earlier = pd.DataFrame(columns=CACHE) if earlier is None else earlier
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
        cache.append(_score(metric, pairs[usable].drop_duplicates("key"), earlier, progress))
        score = pairs["key"].map(cache[-1].set_index("key")["score"]).astype(float)
        scores.append(pairs.assign(metric=metric, score=score).loc[in_corpus, _SCORES])
    out = pd.concat(scores, ignore_index=True) if scores else pd.DataFrame(columns=_SCORES)
    return out, pd.concat(cache, ignore_index=True) if cache else earlier


def _has_text(texts: pd.Series) -> pd.Series:
    return texts.map(lambda t: isinstance(t, str) and bool(t.strip())).astype(bool)


def _score(metric: str, pairs: pd.DataFrame, earlier: pd.DataFrame, progress: bool) -> pd.DataFrame:
    """Cache rows of one metric for distinct pairs of texts, as far as possible from `earlier`."""
    by = made_by(metric)
    old = earlier[(earlier["metric"] == metric) & (earlier["made_by"] == by)].set_index("key")["score"]
    new = pairs[~pairs["key"].isin(old.index)]
    scores = dict(old)
    if len(new):
        from tqdm import tqdm

        values = METRICS[metric].score(list(new["text"]), list(new["other"]))
        bar = tqdm(values, desc=METRICS[metric].title, total=len(new), disable=not progress, leave=False)
        scores |= dict(zip(new["key"], map(float, bar), strict=True))
    return pd.DataFrame({"metric": metric, "made_by": by, "key": list(scores), "score": list(scores.values())})


def of_dialogues(scores: pd.DataFrame, annotations: Annotations) -> pd.DataFrame:
    """Scores of turns that were rated, and means or sums over the turns of dialogues that were rated (turn missing)."""
    keys, unit = ["corpus", "dialogue"], annotations["method"].map(lambda m: METHODS[m].unit)
    turns = annotations.loc[unit == "turn", [*keys, "turn"]].drop_duplicates()
    whole = annotations.loc[unit == "dialogue", keys].drop_duplicates()
    totals = [m for m, spec in METRICS.items() if spec.summed]
    aggregated = scores.groupby([*keys, "metric"], sort=False)["score"].agg(["mean", "sum"]).reset_index()
    values = aggregated.assign(
        score=aggregated["mean"].where(~aggregated["metric"].isin(totals), aggregated["sum"])
    ).merge(whole, on=keys)
    values["turn"] = pd.array([pd.NA] * len(values), dtype="Int32")
    of_turns = scores[~scores["metric"].isin(totals)].merge(turns, on=[*keys, "turn"])
    parts = [f for f in (of_turns, values) if len(f)]
    return pd.concat(parts, ignore_index=True)[_SCORES] if parts else scores[_SCORES].iloc[:0]
