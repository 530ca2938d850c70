"""Metrics from texts are those of the libraries, computed once for equal texts, offline; some need no library."""

import socket
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import sentence_bleu, sentence_chrf

from judgebook.questions.metrics import text_metrics

TEXTS = [
    ("c", "d0", 0, "the cat sat on the mat today", "a cat sat on the mat", "where is the cat ?", "a cat\nsat on it"),
    ("c", "d1", 0, "no idea", "a cat sat on the mat", "where is the cat ?", "No idea"),
    ("c", "d2", 0, "a cat sat on the mat", None, "where is the cat ?", None),
    ("c", "d3", 0, "  ", "a cat sat on the mat", None, None),
    ("c", "d4", 0, "no idea", "a cat sat on the mat", "where is the cat ?", "No idea"),
]
FRAME = pd.DataFrame(TEXTS, columns=["corpus", "dialogue", "turn", "text", "reference", "last_turn", "earlier"])


def table(scores):
    return scores.set_index(["dialogue", "metric"])["score"].unstack()  # noqa: PD010


@pytest.fixture(scope="module")
def scores():
    return table(text_metrics.compute(FRAME, list(text_metrics.METRICS))[0])


def test_overlap_is_that_of_the_libraries(scores):
    rouge = RougeScorer(["rougeL"])
    for dialogue, text in (("d0", TEXTS[0][3]), ("d1", TEXTS[1][3])):
        reference = TEXTS[0][4]
        assert scores.at[dialogue, "bleu"] == pytest.approx(sentence_bleu(text, [reference]).score)
        assert scores.at[dialogue, "chrf"] == pytest.approx(sentence_chrf(text, [reference]).score)
        assert scores.at[dialogue, "rouge_l"] == pytest.approx(rouge.score(reference, text)["rougeL"].fmeasure)


def test_meteor_by_hand(scores):
    """Lavie and Agarwal 2007: 5 of 7 words match 5 of 6, in one chunk: `cat sat on the mat`."""
    p, r = 5 / 7, 5 / 6
    expected = p * r / (0.9 * p + 0.1 * r) * (1 - 0.5 * (1 / 5) ** 3)
    assert scores.at["d0", "meteor_no_wordnet"] == pytest.approx(expected)
    assert scores.at["d1", "meteor_no_wordnet"] == 0


def test_simple_ones_by_hand(scores):
    assert scores.at["d0", "length"] == 7
    assert scores.at["d0", "distinct_1"] == pytest.approx(6 / 7)
    assert scores.at["d0", "distinct_2"] == 1
    repeated = FRAME.assign(text="so so so")
    found = table(text_metrics.compute(repeated, ["distinct_1", "distinct_2"])[0])
    assert found.loc["d0"].tolist() == pytest.approx([1 / 3, 1 / 2])
    assert table(text_metrics.compute(FRAME.assign(text="so"), ["distinct_2"])[0]).isna().all().all()


def test_new_bigrams_by_hand(scores):
    """Of the six bigrams of d0, `sat on` was said before; `cat sat` would join two of the earlier responses."""
    assert scores.at["d0", "new_bigrams"] == pytest.approx(5 / 6)
    assert scores.at["d1", "new_bigrams"] == 0
    assert scores.loc["d2":"d3", "new_bigrams"].isna().all()  # nothing was said before


def test_similarity_is_a_cosine_that_knows_equal_texts(scores):
    same = FRAME.assign(reference=FRAME["text"])
    found = table(text_metrics.compute(same, ["similarity_reference"])[0])["similarity_reference"]
    assert found.dropna().to_numpy() == pytest.approx(np.ones(4), abs=1e-5)
    # words about the same thing are closer than words about something else
    assert scores.at["d0", "similarity_reference"] > scores.at["d1", "similarity_reference"]


def test_what_has_no_reference_or_no_text_is_missing(scores):
    needs = [m for m, spec in text_metrics.METRICS.items() if spec.against == "reference"]
    assert scores.loc["d2", needs].isna().all()
    assert scores.loc["d2", "similarity_last_turn"] == pytest.approx(scores.loc["d2", "similarity_last_turn"])
    assert scores.loc["d3"].isna().all()
    assert scores.loc[["d0", "d1", "d4"], needs].notna().all().all()


def test_no_network_is_touched(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    found, _ = text_metrics.compute(FRAME, list(text_metrics.METRICS))
    assert set(found["metric"]) == set(text_metrics.METRICS)


def test_equal_texts_are_scored_once_and_the_cache_spares_the_rest(monkeypatch):
    first, cache = text_metrics.compute(FRAME, ["length", "bleu"])
    assert cache["metric"].value_counts().to_dict() == {"length": 3, "bleu": 2}  # d1 and d4 are equal
    assert not cache.astype(str).apply(lambda column: column.str.contains("cat")).any().any()
    called = []
    spec = text_metrics.METRICS["length"]

    def count(texts, others):
        called.append(len(texts))
        return spec.score(texts, others)

    counted = text_metrics.TextMetric(spec.title, spec.against, spec.package, count)
    monkeypatch.setitem(text_metrics.METRICS, "length", counted)
    again, _ = text_metrics.compute(FRAME, ["length", "bleu"], cache)
    pd.testing.assert_frame_equal(first, again)
    assert called == []
    more = pd.concat([FRAME, FRAME.head(1).assign(text="something new", dialogue="d9")])
    assert len(text_metrics.compute(more, ["length"], cache)[1]) == 4
    assert called == [1]


def test_scores_of_another_version_are_void():
    _, cache = text_metrics.compute(FRAME, ["bleu"])
    stale = cache.assign(made_by="1 sacrebleu==0.0.1", score=-1.0)
    found, fresh = text_metrics.compute(FRAME, ["bleu"], stale)
    assert (found["score"].dropna() >= 0).all()
    assert set(fresh["made_by"]) == {text_metrics.made_by("bleu")}
    assert text_metrics.made_by("bleu") == f"{text_metrics.REVISION} sacrebleu=={version('sacrebleu')}"
    assert text_metrics.made_by("length") == f"{text_metrics.REVISION}"


DIALOGUES = pd.DataFrame(
    {
        "corpus": "main",
        "dialogue": ["x", "x", "y", "z"],
        "turn": pd.array([0, 1, 0, 0], dtype="Int32"),
        "user_text": ["hello\nhow are you?\n", None, "so", "never rated"],
        "system_text": ["fine", "and you ?", "well then", "hm"],
        "reference": None,
    }
)
RATED = pd.DataFrame(
    {
        "corpus": "main",
        "dialogue": ["x", "x", "y"],
        "turn": pd.array([1, None, 0], dtype="Int32"),
        "method": ["turn_rating", "dialogue_rating", "turn_rating"],
    }
)


def test_turns_that_were_rated_or_belong_to_a_rated_dialogue_are_scored():
    found = text_metrics.items(DIALOGUES, RATED)
    assert found[["dialogue", "turn"]].to_numpy().tolist() == [["x", 0], ["x", 1], ["y", 0]]
    assert found["last_turn"].fillna("-").tolist() == ["how are you?", "-", "so"]
    assert found["earlier"].isna().tolist() == [True, False, True]
    assert found["earlier"][1] == found["text"][0]


def test_a_dialogue_has_the_mean_of_its_turns():
    found, _ = text_metrics.score_texts(DIALOGUES, RATED, ["length"])
    rows = found.assign(turn=found["turn"].astype(object).where(found["turn"].notna(), None))
    assert rows[["dialogue", "turn", "score"]].to_numpy().tolist() == [["x", 1, 3.0], ["y", 0, 2.0], ["x", None, 2.0]]
