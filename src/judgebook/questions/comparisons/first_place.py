"""How many votes would change the first place, and which voters could have changed it already.

All here is about the board of the votes alone: Davidson's model (Bradley and Terry's without ties), strengths of
largest likelihood, no random parts. Every number is found by refitting the board with the votes changed: so many are
enough, and one fewer, chosen in the same way, is not. The systems nearest to the first are tried, _CHALLENGERS of them.

Added votes are wins of one system over the first. Near the maximum the likelihood of strengths is a network of
resistors, in which a current from one node to another raises the one and lowers the other more than any third: so that
the more such votes there are, the less the first is first, and halving finds the least number. Turned votes, and voters
who are left out, go in the order of their influence on the lead: no claim that no other choice needs fewer.

References
----------
Davidson 1970, Journal of the American Statistical Association 65(329), 317-328. Doyle and Snell 1984, Random Walks and
Electric Networks (the maximum principle). Broderick, Giordano and Meager 2020, arXiv:2011.14999 (leaving out by
influence). Cook and Weisberg 1982, Residuals and Influence in Regression (one step instead of a fit).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy import sparse

from judgebook.model.comparisons import Comparisons, outcomes
from judgebook.statistics.paired_laplace import Integrated, PairedLaplace

#: precision of strengths beforehand: they exist where a system never loses, and are the same in three digits elsewhere
_RIDGE = 1e-4
#: challengers that are tried, those with the smallest leads over them; strengths that differ less are equal
_CHALLENGERS, _EQUAL = 5, 1e-7
#: votes that are added, at most, relative to those there are
MOST = 10
#: share of a lead that is gone by one step from which a voter is left out in earnest; and how many voters, at most
_NEAR, _TRIED = 0.5, 200


def strengths(
    first: np.ndarray,
    second: np.ndarray,
    score: np.ndarray,
    counts: np.ndarray,
    systems: int,
    covariates: np.ndarray | None = None,
) -> Integrated:
    """Strengths without random parts, and their covariance with that of log nu; arguments as of `PairedLaplace`."""
    some = counts > 0
    columns = None if covariates is None else covariates[some]
    model = PairedLaplace(first[some], second[some], score[some], counts[some], systems, [], _RIDGE, columns)
    return model.evaluate(np.zeros(0))


@dataclass(frozen=True)
class FirstPlace:
    """The least numbers that change the first place; None where MOST times as many votes as there are, or all that can
    be turned, do not; 0 where it is shared.

    first : the system that has it. added : wins of `by_added` over it, each as one more vote. turned : votes there are,
    turned in favour of `by_turned`. voters : codes of those without whom alone another is first; left_out : the fewest
    voters, of those with most influence, without whom another is. Both None where voters are not known.
    """

    first: int
    added: int | None
    by_added: int | None
    turned: int | None
    by_turned: int | None
    voters: np.ndarray | None
    left_out: int | None


class Board:
    """The votes of one label in cells of the same systems and score.

    Attributes: first, second, score : (cells,). of : (n,) the cell of each vote. counts : (cells,) votes.
    """

    def __init__(self, c: Comparisons, weight: np.ndarray | None = None):
        self.systems = s = len(c.systems)
        turned = c.first > c.second
        low, high = np.where(turned, c.second, c.first), np.where(turned, c.first, c.second)
        code = (low * s + high) * 3 + np.where(turned, -c.score, c.score).astype(int) + 1
        cells, self.of = np.unique(code, return_inverse=True)
        self.first, self.second, self.score = cells // 3 // s, cells // 3 % s, cells % 3 - 1
        self.counts = np.bincount(self.of, weight, len(cells))
        self.annotator = np.zeros(len(c), np.intp) if c.annotator is None else c.annotator

    def fit(self, counts: np.ndarray) -> np.ndarray:
        """(s,) strengths with other counts of the cells."""
        return strengths(self.first, self.second, self.score, counts, self.systems).strengths

    @cached_property
    def fitted(self) -> Integrated:
        return strengths(self.first, self.second, self.score, self.counts, self.systems)

    @cached_property
    def leader(self) -> int:
        return int(np.argmax(self.fitted.strengths))

    def changed(self, strengths: np.ndarray) -> bool:
        """Whether another system than the leader is first, or on a level with it."""
        others = np.delete(strengths, self.leader)
        return bool(others.max() > strengths[self.leader] - _EQUAL)

    @cached_property
    def challengers(self) -> np.ndarray:
        """Those the fewest votes away, by one step: the lead over what a win more is worth."""
        x, c, i = self.fitted.strengths, self.fitted.covariance, self.leader
        others = np.delete(np.arange(self.systems), i)
        lead = x[i] - x[others]
        spread = c[i, i] + np.diag(c)[others] - 2 * c[i, others]
        return others[np.argsort(lead / spread, kind="stable")][:_CHALLENGERS]

    def added(self) -> tuple[int | None, int | None]:
        """The least number of wins over the leader by one system, and which."""
        first, second, score = (np.append(x, 0) for x in (self.first, self.second, self.score))
        second[-1], score[-1] = self.leader, 1

        def enough(m: int, by: int) -> bool:
            first[-1] = by
            return self.changed(strengths(first, second, score, np.append(self.counts, m), self.systems).strengths)

        return self._of_all(enough, int(MOST * self.counts.sum()))

    def turned(self) -> tuple[int | None, int | None]:
        """The least number of votes turned in favour of one system over the leader, and which system."""

        def enough(m: int, by: int) -> bool:
            influence, target = self._of_turning(by)
            order = np.argsort(-influence, kind="stable")
            order = order[influence[order] > 0]
            upto = np.cumsum(self.counts[order])
            moved = np.zeros(len(self.counts))
            moved[order] = np.clip(m - (upto - self.counts[order]), 0, self.counts[order])
            twice = np.tile(self.first, 2), np.tile(self.second, 2), np.append(self.score, target)
            return self.changed(strengths(*twice, np.append(self.counts - moved, moved), self.systems).strengths)

        return self._of_all(enough, int(self.counts.sum()))

    def _of_turning(self, by: int) -> tuple[np.ndarray, np.ndarray]:
        """(cells,) by how much a vote that is turned lowers the lead over a system; and to which score."""
        along = self.fitted.covariance[self.leader] - self.fitted.covariance[by]
        drop = along[self.first] - along[self.second]
        target = np.where(drop > 0, -1, 1)
        influence = (self.score - target) / 2 * drop + (self.score == 0) * along[-1]
        return np.where(target == self.score, 0.0, influence), target

    def _of_all(self, enough: Callable[..., bool], most: int) -> tuple[int | None, int | None]:
        found, by = None, None
        for one in map(int, self.challengers):
            if found is not None and (found == 1 or not enough(found - 1, one)):
                continue
            if (m := least(partial(enough, by=one), most if found is None else found - 1)) is not None:
                found, by = m, one
        return found, by

    def left_out(self) -> tuple[np.ndarray, int | None]:
        """Voters without whom alone another system is first, and the fewest together without whom one is."""
        n = int(self.annotator.max()) + 1
        cast = sparse.coo_array((np.ones(len(self.of)), (self.annotator, self.of)), shape=(n, len(self.counts)))
        votes = cast.tocsr()
        x, at = self.fitted, self.leader
        won, tie, lost = outcomes(x.strengths[self.first] - x.strengths[self.second], x.eta)
        of_d, of_eta = self.score / 2 - (won - lost) / 2, (self.score == 0) - tie
        cells, k = np.arange(len(self.score)), self.systems
        rows, columns = np.tile(cells, 3), np.concatenate([self.first, self.second, np.full(len(cells), k)])
        scores = sparse.csr_array((np.concatenate([of_d, -of_d, of_eta]), (rows, columns)), shape=(len(cells), k + 1))
        steps = (votes @ scores) @ x.covariance  # of strengths by the votes of each voter
        leads = x.strengths[at] - x.strengths[self.challengers]
        left = leads - (steps[:, [at]] - steps[:, self.challengers])
        gone = 1 - (left / np.maximum(leads, _EQUAL)).min(axis=1)
        near = np.argsort(-gone, kind="stable")[:_TRIED]
        alone = [v for v in near[gone[near] > _NEAR] if self._without(votes, np.array([v]), 1)]
        if alone:
            return np.array(alone), 1
        sizes = []
        for j in range(len(self.challengers)):
            order = np.argsort(left[:, j], kind="stable")
            order = order[left[order, j] < leads[j]]
            sizes.append(least(partial(self._without, votes, order), min(len(order), n - 1)))
        return np.array(alone, int), min((m for m in sizes if m is not None), default=None)

    def _without(self, votes: sparse.csr_array, order: np.ndarray, m: int) -> bool:
        return self.changed(self.fit(self.counts - votes[order[:m]].sum(axis=0)))


def least(enough: Callable[[int], bool], most: int) -> int | None:
    """The least number from 1 to `most` that is enough, if all above one that is are; None where none is."""
    low, high = 0, 1
    while high < most and not enough(high):
        low, high = high, 2 * high
    high = min(high, most)
    if high < 1 or not enough(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def first_place(c: Comparisons) -> FirstPlace:
    """What it would take to change the first place of a board. Votes count once each; weights are not used."""
    board = Board(c)
    if board.changed(board.fitted.strengths):
        by, nobody = int(board.challengers[0]), None if c.annotator is None else np.zeros(0, int)
        return FirstPlace(board.leader, 0, by, 0, by, nobody, None if nobody is None else 0)
    voters, left_out = (None, None) if c.annotator is None else board.left_out()
    return FirstPlace(board.leader, *board.added(), *board.turned(), voters, left_out)
