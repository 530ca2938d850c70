"""Checks of what annotators typed, by hand."""

import pandas as pd
import pytest

from judgebook.questions.techniques import messages
from judgebook.questions.techniques.question import MessageChecks
from judgebook.statistics import Sampling
from judgebook.study.labels import Label


def dialogues(**typed):
    rows = [
        {"corpus": "main", "dialogue": who, "session": who, "interactor": who, "turn": i, "user_text": text}
        for who, texts in typed.items()
        for i, text in enumerate(texts)
    ]
    return pd.DataFrame(rows).astype({"turn": "Int32"})


GOOD = ["Hi!", "I saw a kite today", "It was striped and small", "My neighbour has seven of them"]
RULES = {"first_turn": 2, "greetings": ["hi", "hello"], "offensive": ["fiddlesticks"]}


def failed(texts, **rules):
    found = messages.check(dialogues(w=texts), **{**RULES, **rules}).iloc[0]
    return {name for name in messages.CHECKS if found[name]}


SHOUTED = [text.upper() for text in GOOD]


@pytest.mark.parametrize(
    ("texts", "checks", "rules"),
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
def test_each_check_alone(texts, checks, rules):
    assert failed(texts, **rules) == checks


def test_all_judgements_of_who_fails_are_left_out():
    found = messages.check(
        dialogues(good=GOOD, bad=["Hi!", "Yes.", "No.", "Ok."], worse=["Hi!", "Hello.", "No.", "Ok."]), **RULES
    )
    assert messages.failing(found) == ["bad", "worse"]
    counted = {(row["check"], row["of"]): row["estimate"] for row in messages.counts(found, MessageChecks(**RULES))}
    for of in ("conversations", "people"):
        assert [counted[c, of] for c in ("short", "greeting", "any", "all")] == [2, 1, 2, 3]


def test_two_answers_to_one_message_are_one_message():
    once = dialogues(w=[*GOOD, "Something else altogether it is"])
    twice = pd.concat([once, once.assign(dialogue="other")])
    assert messages.check(twice, **RULES).equals(messages.check(once, **RULES))


def test_what_leaving_people_out_changes_by_hand():
    kinds = (("good", 1), ("bad", -1))
    labels = [Label(name, "dialogue_rating", name, (0, 10), direction=sign) for name, sign in kinds]
    rows = [("w1", "good", 4), ("w1", "bad", 4), ("w2", "good", 6), ("w3", "good", 10), ("w3", "bad", 0)]
    rows += [("x", "good", 0)]
    rated = pd.DataFrame(rows, columns=["annotator", "label", "score"]).assign(
        corpus="main", system="a", method="dialogue_rating", turn=None, dialogue_b=None
    )
    checks = messages.check(dialogues(w1=GOOD, w2=GOOD, w3=["Hi!", "Yes."]), **RULES)
    (row,) = messages.effects(rated, checks, labels, Sampling(n_resamples=200, confidence=0.95, seed=1))
    assert row["estimate"] == pytest.approx((4 + 6 + 6) / 3 - (4 + 6 + 6 + 10 + 10) / 5)
    assert row["n"] == 3
