"""What annotators typed: checks of messages by hand; lengths of reasons by hand, their terms by scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from judgebook.questions.techniques import sittings, texts
from judgebook.questions.techniques.question import MessageChecks, Technique
from judgebook.statistics import Sampling
from judgebook.study.results import collect, fold


def dialogues(**typed):
    rows = [
        {"corpus": "main", "dialogue": who, "session": who, "interactor": who, "turn": i, "user_text": text}
        for who, said in typed.items()
        for i, text in enumerate(said)
    ]
    return pd.DataFrame(rows).astype({"turn": "Int32"})


GOOD = ["Hi!", "I saw a kite today", "It was striped and small", "My neighbour has seven of them"]
RULES = {"first_turn": 2, "greetings": ["hi", "hello"], "offensive": ["fiddlesticks"]}


def failed(typed, **rules):
    found = texts.check(dialogues(w=typed), **{**RULES, **rules}).iloc[0]
    return {name for name in texts.CHECKS if found[name]}


SHOUTED = [text.upper() for text in GOOD]


@pytest.mark.parametrize(
    ("typed", "checks", "rules"),
    [
        (GOOD, set(), {}),
        (["Hi!", "Yes.", "I see.", "Ok then."], {"short"}, {}),
        (["Hi!", "Hello you, a fine day", *GOOD[2:]], {"greeting"}, {}),
        (["Hi!", "History is what I like", *GOOD[2:]], set(), {}),  # whole words count
        (GOOD, {"greeting"}, {"first_turn": 1}),  # unless the greeting is fixed
        (["Hi!", *SHOUTED[1:3], GOOD[3]], {"capitals"}, {}),
        (["Hi!", SHOUTED[1], *GOOD[2:]], set(), {}),  # one message is not several
        (["Hi!", "I I I I", "A A A A", GOOD[3]], set(), {}),  # no word of two letters
        ([*GOOD, "i saw a kite today "], {"repeated"}, {}),
        ([*GOOD, "Oh FiddleSticks, it is gone now"], {"offensive"}, {}),
        ([*GOOD, "Oh FiddleSticks, it is gone now"], set(), {"offensive": []}),
    ],
)
def test_each_check_alone(typed, checks, rules):
    assert failed(typed, **rules) == checks


def test_all_judgements_of_who_fails_are_left_out():
    found = texts.check(
        dialogues(good=GOOD, bad=["Hi!", "Yes.", "No.", "Ok."], worse=["Hi!", "Hello.", "No.", "Ok."]), **RULES
    )
    assert texts.failing(found) == ["bad", "worse"]
    counted = {(row["check"], row["of"]): row["estimate"] for row in texts.counts(found, MessageChecks(**RULES))}
    for of in ("conversations", "people"):
        assert [counted[c, of] for c in ("short", "greeting", "any", "all")] == [2, 1, 2, 3]


def test_two_answers_to_one_message_are_one_message():
    once = dialogues(w=[*GOOD, "Something else altogether it is"])
    twice = pd.concat([once, once.assign(dialogue="other")])
    assert texts.check(twice, **RULES).equals(texts.check(once, **RULES))


TEXTS = ["The answer is short and direct", "It follows what I said, and follows well", "short, simple", "I like dogs"]
TEXTS += ["Follows the topic of dogs", "More detailed", "detailed and longer answer", "It is longer.", "dogs!"]


def judged(rows):
    """rows : (conversation, system, system_b, score, reason)"""
    frame = pd.DataFrame(rows, columns=["conversation", "system", "system_b", "score", "reason"])
    fixed = {"corpus": "main", "group": "all", "label": "better", "turn": 0, "annotator_known": True}
    frame["annotator"] = [f"w{i}" for i in range(len(frame))]
    return frame.assign(dialogue="x" + frame["conversation"], dialogue_b="y" + frame["conversation"], **fixed)


def of(frame):
    technique = Technique(method="pairwise_turn", title="Turns")
    found = sittings.TechniqueData({"t": technique}, {"t": frame}, {}, [("a", "b")], ["better"], {})
    return collect(texts.reasons(found, Sampling(n_resamples=200, confidence=0.95, seed=1)))


def test_terms_are_those_of_scikit_learn():
    kinds = np.array([0, 1, 0, 0, 1, 0, 1, 1, 0])
    vectorizer = TfidfVectorizer(stop_words=sorted(texts.STOP), max_df=texts.MAX_SHARE, min_df=texts.LEAST)
    matrix = vectorizer.fit_transform(TEXTS).toarray()
    for k, found in enumerate(texts.tf_idf(TEXTS, kinds)):
        mean = pd.Series(matrix[kinds == k].mean(axis=0), vectorizer.get_feature_names_out())
        pd.testing.assert_series_equal(found, mean[mean > 0], check_names=False)


def test_lengths_by_hand_whichever_side_was_shown_first():
    rows = [("1", "a", "b", 1, "one two three"), ("1", "a", "b", -1, "one"), ("2", "b", "a", 1, "one  two three")]
    rows += [("2", "b", "a", -1, "one"), ("3", "a", "b", 0, "a tie says nothing"), ("3", "a", "b", 1, None)]
    rows += [("4", "a", "b", 1, " ")]
    results = of(judged(rows))
    words = results["reason_words"].set_index("system")
    assert words["estimate"].to_dict() == {"a": 2.0, "b": 2.0}
    assert words["n"].to_dict() == {"a": 2, "b": 2}
    assert len(fold(results, study="x", notebook="11")) == sum(map(len, results.values()))


def test_terms_of_one_reason_only_are_not_shown():
    rows = [("1", "a", "b", 1, "zyx short"), ("2", "a", "b", -1, "detailed"), ("3", "a", "b", 1, "short")]
    rows += [("4", "a", "b", -1, "detailed")]
    terms = of(judged(rows))["reason_term"]
    assert terms.groupby("system")["term"].agg(list).to_dict() == {"a": ["short"], "b": ["detailed"]}


def test_without_reasons_or_with_reasons_for_one_system_there_is_nothing():
    assert of(judged([("1", "a", "b", 1, None), ("2", "a", "b", -1, None)])) == {}
    assert of(judged([("1", "a", "b", 1, "fine"), ("2", "a", "b", 1, "good")])) == {}


def test_terms_of_one_person_only_are_not_shown():
    people = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4])
    found = pd.concat(
        texts.tf_idf(["kite kite", "kite", "short", "dogs", "short", "dogs", "x", "y", "z"], people % 2, people)
    )
    assert set(found.index) == {"short", "dogs"}


def test_people_are_resampled_where_they_are_fewer_than_conversations():
    """Each person writes reasons of one length: the spread is that between few people, not between many texts."""
    rng = np.random.default_rng(1)
    frame = judged([(str(i), "a", "b", rng.choice([1, -1]), " ".join(["word"] * (3 + 4 * (i % 5)))) for i in range(60)])
    people = frame.assign(annotator=[f"w{i % 5}" for i in range(60)])
    alone, together = (
        of(x)["reason_words"].assign(width=lambda f: f["ci_high"] - f["ci_low"]) for x in (frame, people)
    )
    assert (set(alone["resample_unit"]), set(together["resample_unit"])) == ({"conversation"}, {"annotator"})
    assert together["width"].mean() > 1.5 * alone["width"].mean()
