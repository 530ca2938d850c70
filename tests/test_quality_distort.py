"""Degraded replies (Ji et al. 2022, A.1), by hand."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import published
from helpers.distort import degraded_replies, distort, n_replaced


def rng(seed=0):
    return np.random.default_rng(seed)


def test_length_table_is_the_printed_one():
    table = published.load("ji2022", "Text A.1").set_index("row")["value"]
    ends = {"n_1_to_3": (1, 3), "n_4_to_5": (4, 5), "n_6_to_8": (6, 8), "n_9_to_15": (9, 15), "n_16_to_29": (16, 29)}
    for row, (low, high) in ends.items():
        assert {n_replaced(n) for n in range(low, high + 1)} == {table[row]}
    assert [n_replaced(n) for n in (30, 34, 35, 101)] == [n // table["n_30_or_more"] for n in (30, 34, 35, 101)]
    with pytest.raises(ValueError, match="at least one word, found 0"):
        n_replaced(0)


@pytest.mark.parametrize(
    ("response", "donor", "possible"),
    [
        ("a", "x", {"x"}),
        ("a b", "x", {"x b", "a x"}),
        ("a b c", "x", {"a x c"}),
        ("a b c d", "x y", {"a x y d"}),
        ("a b c d e", "x y", {"a x y d e", "a b x y e"}),
        ("a b c d e f", "x y z", {"a x y z e f", "a b x y z f"}),
    ],
)
def test_first_and_last_word_stay_from_three_words_on(response, donor, possible):
    drawn = [distort(response, [donor], rng(seed)) for seed in range(60)]
    assert set(drawn) == possible


@given(st.integers(1, 60), st.integers(0, 10_000))
def test_a_run_of_the_right_length_is_replaced(n, seed):
    words = [f"w{i}" for i in range(n)]
    donor = [f"x{i}" for i in range(70)]
    found = distort(" ".join(words), [" ".join(donor)], rng(seed)).split()
    changed = [i for i in range(n) if found[i] != words[i]]
    r = n_replaced(n)
    assert len(found) == n
    assert changed == list(range(changed[0], changed[0] + r))
    new = [donor.index(found[i]) for i in changed]
    assert new == list(range(new[0], new[0] + r))
    if n >= 3:
        assert found[0] == words[0]
        assert found[-1] == words[-1]


def test_every_place_and_every_run_of_other_dialogues_is_equally_likely():
    one = rng()
    drawn = Counter(distort("a b c d e", ["x y z", "p q", "k"], one) for _ in range(6000))
    runs = ("x y", "y z", "p q")
    assert set(drawn) == {f"a {r} d e" for r in runs} | {f"a b {r} e" for r in runs}
    assert all(abs(n - 1000) < 4 * np.sqrt(6000 * (1 / 6) * (5 / 6)) for n in drawn.values())


def test_the_new_run_differs_from_the_old_one():
    assert {distort("a", ["a b"], rng(seed)) for seed in range(30)} == {"b"}
    with pytest.raises(ValueError, match="expected a text with 1 words in a row other than 'a', found none"):
        distort("a", ["a", "a a"], rng())


def test_donors_too_short_are_named():
    with pytest.raises(ValueError, match="2 words in a row"):
        distort("a b c d", ["x", "y"], rng())
    with pytest.raises(ValueError, match="found none"):
        distort("a b", [], rng())


def test_the_same_seed_gives_the_same_text_and_nothing_else_is_drawn_on():
    texts = ["one two three four", "five six seven"]
    np.random.seed(1)  # noqa: NPY002 the global state must play no part
    first = distort("a b c d e f", [" ".join(texts)], rng(3))
    np.random.seed(2)  # noqa: NPY002
    assert distort("a b c d e f", [" ".join(texts)], rng(3)) == first


def test_a_response_without_words_is_left_alone():
    assert distort(" ", ["x"], rng()) == " "


def test_degraded_replies_take_words_from_another_dialogue():
    dialogues = [["a1 a2 a3 a4", "a5"], ["b1 b2 b3 b4", ""], ["c1 c2 c3 c4"]]
    replies = degraded_replies(dialogues, 400, rng(5))
    assert len(replies) == 400
    whole = [reply.split() for reply in replies if len(reply.split()) == 4]
    for words in whole:
        assert words[0][0] == words[-1][0]
        assert words[1][0] == words[2][0] != words[0][0]
    # four responses with words are equally likely; one of them has a single word, which is always replaced
    assert abs(len(whole) - 300) < 4 * np.sqrt(400 * 0.25 * 0.75)
    assert all(reply[0] in "bc" for reply in replies if len(reply.split()) == 1)
    assert degraded_replies(dialogues, 400, rng(5)) == replies
    with pytest.raises(ValueError, match="at least two with words, found 1"):
        degraded_replies([["a b"], [""]], 1, rng())
