"""What changes the first place: by hand, by every choice there is, and by doing it with the model of votes."""

from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest

from judgebook.model import comparisons
from judgebook.model.comparisons import Comparisons
from judgebook.questions.comparisons.first_place import Board, first_place, least


def alone(c):
    """Strengths by the model of votes, without random parts."""
    return comparisons.fit(replace(c, context=np.arange(len(c)), annotator=None)).levels.estimates


def drawn(seed, n=150, s=4, voters=12, gap=0.2):
    rng = np.random.default_rng([3, seed])
    first = rng.integers(s, size=n)
    second = (first + rng.integers(1, s, n)) % s
    d = gap * (second - first)
    weight = np.cumsum(np.column_stack([np.exp(-d / 2), np.full(n, 0.7), np.exp(d / 2)]), axis=1)
    score = (rng.random(n)[:, None] > weight / weight[:, -1:]).sum(axis=1) - 1
    return Comparisons(tuple("abcdef"[:s]), first, second, score, np.arange(n), rng.permutation(np.arange(n) % voters))


def more(c, winner, loser, m):
    """With m more votes by another voter."""
    ends = {"first": winner, "second": loser, "score": 1, "annotator": c.annotator.max() + 1}
    new = {k: np.append(getattr(c, k), np.full(m, v)) for k, v in ends.items()}
    return replace(c, **new, context=np.arange(len(c) + m))


def test_two_systems_by_hand():
    """12 wins and 6 losses: six wins more, or three votes turned, make it even; of ties, turning counts once."""
    c = Comparisons(("a", "b"), np.zeros(18, int), np.ones(18, int), np.repeat([1, -1], [12, 6]), np.arange(18))
    found = first_place(c)
    assert (found.first, found.added, found.by_added, found.turned, found.by_turned) == (0, 6, 1, 3, 1)
    assert found.voters is None
    assert found.left_out is None
    # five voters, of whom the first two cast six wins each, and the others six losses
    of_voters = first_place(replace(c, annotator=np.repeat([0, 1, 2, 3, 4], [6, 6, 2, 2, 2])))
    assert of_voters.voters.tolist() == [0, 1]
    assert of_voters.left_out == 1
    # where all votes are ties, the first place is shared
    even = first_place(replace(c, score=np.zeros(18, int)))
    assert (even.added, even.turned) == (0, 0)


@pytest.mark.parametrize("seed", range(3))
def test_votes_are_added_and_voters_left_out(seed):
    """In the model of votes, not by what said so."""
    c = drawn(seed)
    found, board = first_place(c), Board(c)
    np.testing.assert_allclose(board.fitted.strengths, alone(c), atol=1e-3)
    assert found.first == alone(c).argmax()
    assert alone(more(c, found.by_added, found.first, found.added)).argmax() != found.first
    for by in {*range(4)} - {found.first}:
        assert alone(more(c, by, found.first, found.added - 1)).argmax() == found.first
    without = [alone(replace(c, weight=(c.annotator != v) * 1.0)).argmax() for v in range(12)]
    assert sorted(found.voters) == np.flatnonzero(np.array(without) != found.first).tolist()


def test_some_board_hangs_on_one_voter_and_some_on_several():
    sizes = [first_place(drawn(seed, gap=gap)).left_out for seed in range(3) for gap in (0.05, 0.4)]
    assert 1 in sizes
    assert max(sizes) > 1


@pytest.mark.parametrize("seed", [1, 2])
def test_turned_votes_against_every_choice_of_votes(seed):
    """Of three systems: no smaller number of votes suffices in any choice, or one fewer at most."""
    c = drawn(seed, n=60, s=3, gap=0.25)
    board, found = Board(c), first_place(c)
    cells = len(board.counts)
    opposite = {
        (a, b, score): i for i, (a, b, score) in enumerate(zip(board.first, board.second, board.score, strict=True))
    }

    def enough(moves):
        counts = board.counts.copy()
        for start, end in moves:
            counts[start] -= 1
            counts[end] += 1
        return (counts >= 0).all() and board.changed(board.fit(counts))

    ends = [opposite[board.first[i], board.second[i], score] for i in range(cells) for score in (1, -1)]
    moves = [(i // 2, end) for i, end in enumerate(ends) if i // 2 != end]
    fewest = next(m for m in range(1, 9) if any(map(enough, combinations_with_replacement(moves, m))))
    assert fewest <= found.turned <= fewest + 1
    print("FEW", fewest, found)


def test_the_least_number_that_is_enough():
    assert [least(lambda m: m >= 7, most) for most in (100, 7, 6)] == [7, 7, None]
