"""Checks of what annotators typed, by hand."""

import pandas as pd
import pytest

from helpers.study.sections.analyses import MessageChecks, Technique
from helpers.techniques import messages


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


def test_good_messages_pass():
    assert failed(GOOD) == set()


@pytest.mark.parametrize(
    ("texts", "check"),
    [
        (["Hi!", "Yes.", "I see.", "Ok then."], "short"),
        (["Hi!", "Hello you, a fine day", *GOOD[2:]], "greeting"),
        (["Hi!", GOOD[1].upper(), GOOD[2].upper(), GOOD[3]], "capitals"),
        ([*GOOD, "i saw a kite today "], "repeated"),
        ([*GOOD, "Oh FiddleSticks, it is gone now"], "offensive"),
    ],
)
def test_each_check_fails_alone(texts, check):
    assert failed(texts) == {check}


def test_words_count_only_as_whole_words():
    assert failed(["Hi!", "History is what I like", *GOOD[2:]]) == set()


def test_a_fixed_greeting_is_no_message():
    assert failed(GOOD, first_turn=1) == {"greeting"}


def test_one_message_in_capitals_is_not_several():
    assert failed(["Hi!", GOOD[1].upper(), *GOOD[2:]]) == set()
    assert failed(["Hi!", "I I I I", "A A A A", GOOD[3]]) == set()  # no word of two letters


def test_lists_that_are_empty_check_nothing():
    assert failed([*GOOD, "Oh fiddlesticks, it is gone"], offensive=[]) == set()


def test_all_judgements_of_who_fails_are_left_out():
    found = messages.check(
        dialogues(good=GOOD, bad=["Hi!", "Yes.", "No.", "Ok."], worse=["Hi!", "Hello.", "No.", "Ok."]), **RULES
    )
    assert messages.failing(found) == ["bad", "worse"]
    counted = {(row["check"], row["of"]): row["estimate"] for row in messages.counts(found)}
    assert [counted[c, "conversations"] for c in ("short", "greeting", "any")] == [2, 1, 2]
    assert [counted[c, "people"] for c in ("short", "greeting", "any")] == [2, 1, 2]


def test_only_corpora_of_the_techniques_are_checked():
    typed = dialogues(good=GOOD, bad=["Hi!", "Yes.", "No.", "Ok."])
    annotations = pd.DataFrame({"corpus": "main", "annotator": ["good", "bad"]})
    rules = MessageChecks(**RULES)
    for corpus, kept in ((None, ["good"]), ("main", ["good"]), ("other", ["good", "bad"])):
        techniques = {"one": Technique(method="single_turn", corpus=corpus)}
        found, _ = messages.screened(annotations, typed, techniques, rules)
        assert found["annotator"].tolist() == kept
    everybody, checks = messages.screened(annotations, typed, {"one": Technique(method="single_turn")}, None)
    assert len(everybody) == 2
    assert list(messages.counts(checks)) == []


def test_two_answers_to_one_message_are_one_message():
    once = dialogues(w=[*GOOD, "Something else altogether it is"])
    twice = pd.concat([once, once.assign(dialogue="other")])
    assert messages.check(twice, **RULES).equals(messages.check(once, **RULES))
