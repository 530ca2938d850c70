"""Which voters do not vote by what they see, and what the board is without them.

Only votes that are no ties count here: given that it is none, Davidson's model says that the first side wins with odds
of e^d, d the difference of strengths, however often somebody ties. Each voter is of one kind, the shares of which all
voters tell together (maximum likelihood of a mixture on a grid, by EM, from a few voters assumed beforehand):

- careful: tastes for systems and for the side that is shown first are added to d, both normal, integrated over by
  Laplace's approximation. How much tastes vary is a mixture, too: a few may differ much where most do not.
- otherwise a share of the votes, from a quarter to nearly all, is cast at random; for the side shown first or second;
  or, of those with one system, for or against it. The rest are by the board.

A voter is doubtful if the chance that half of the votes or more are of the second sort is DOUBTFUL or more. At most
(1 - DOUBTFUL) / DOUBTFUL x q / (1 - q) of careful voters are then so, q the share of voters of the second sort (by
Markov's inequality for the ratio of likelihoods), if tastes are as assumed. In simulations 0.2% of careful voters were
doubtful, on no board more than 2%. The board is fitted again, each voter counting as much as careful is probable. One
who votes at random is found with many votes only; on a board of equal systems nothing tells such a voter from a careful
one, nor does any harm.

Copies are pairs of voters whose votes on common items are the same more often than those of others on these items, and
than that the two agree with others explains. Errors of two are taken to add up.

References
----------
Laird 1978, Journal of the American Statistical Association 73, 805-811 (mixing distributions by EM). Efron 2010,
Large-Scale Inference, chapter 2 (empirical Bayes and false discoveries). Zeger, Liang and Albert 1988, Biometrics 44,
1049-1060 (slopes of the average voter and of each). Hoeffding 1956, Annals of Mathematical Statistics 27, 713-721 (the
binomial distribution bounds that of unequal chances).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import bdtr, expit, log_expit

from judgebook.model.comparisons import Comparisons
from judgebook.model.fit import SIDE, crossed
from judgebook.questions.comparisons.first_place import Board, strengths

#: chance of voting otherwise in half of the votes or more, from which a voter is doubtful
DOUBTFUL, HALF = 0.95, 0.5
#: kinds of voters
CAREFUL, RANDOM, FIRST, SECOND, ONE = "careful", "random", "first side", "second side", "one system"
#: variances of tastes and of preferences of a side: on a board of equal systems, in the round before the last, in the
#: last; shares of votes that are cast otherwise
_FLAT, _USUAL, _SHARES = ((1.0, 0.03),), ((0.3, 0.03),), (0.25, 0.5, 0.75, 0.97)
_EVERY = ((0.03, 0.03), (0.3, 0.03), (0.3, 0.5), (1.5, 0.5))
#: voters that are assumed beforehand, careful and not; steps of EM, and change of a
#: share that ends it; least weight of one on the board
_CAREFUL, _OTHERS, _STEPS, _PRECISION, _LEAST = 9.0, 1.0, 500, 1e-5, 1e-3
#: rounds of board and voters, and the share of voters that may still change
_ROUNDS, _SETTLED = 8, 1e-3
#: votes on a system, at least, of one who is for or against it; a log likelihood that no voter has
_MET, _NEVER = 4, -1e9
#: (16 sqrt(3) / 15 pi)^2: by how much effects with a variance flatten a logistic curve
_FLATTER = 0.346
#: entries of matrices that are held at once; how much larger a batch's largest voter may be; steps of Newton's method,
#: and one that is short enough
_AT_ONCE, _AS_LARGE, _NEWTON, _SHORT = 4_000_000, 1.3, 12, 0.1
#: copies: common items, at least; votes that differ, at most; chance of any false pair; pairs of votes of which the
#: agreement of others is known beforehand, and by which it is known at all; products of votes that are held
_COMMON, _DIFFER, _ALPHA, _PRIOR, _KNOWN, _PRODUCTS = 10, 0.02, 0.05, 5.0, 100, 5e7


@dataclass(frozen=True)
class Voters:
    """What is known of each voter, (v,) by code.

    doubtful : chance that half of the votes or more are not by what the voter saw. shares : kind -> share of the votes
    that are expected to be of this kind, of all but CAREFUL. system : of ONE, the system that is most likely, and
    in_favour whether for it; -1 where there are too few votes on any. votes : that are no ties. copies : of another
    voter, who has as many votes or more; -1 of nobody.
    """

    doubtful: np.ndarray
    shares: dict[str, np.ndarray]
    system: np.ndarray
    in_favour: np.ndarray
    votes: np.ndarray
    copies: np.ndarray

    @property
    def kind(self) -> np.ndarray:
        """(v,) CAREFUL, or of what kind most of the doubtful votes are."""
        names = np.array(list(self.shares), dtype=object)
        most = names[np.argmax(np.stack(list(self.shares.values())), axis=0)]
        return np.where(self.doubtful >= DOUBTFUL, most, CAREFUL)

    @property
    def flagged(self) -> np.ndarray:
        """(v,) whether doubtful or a copy."""
        return (self.doubtful >= DOUBTFUL) | (self.copies >= 0)


def voters(c: Comparisons) -> Voters:
    """What votes say of voters. Sides count where the covariate SIDE says that the first was shown first.

    Raises ValueError where voters are not known.
    """
    if c.annotator is None:
        raise ValueError("annotator: expected who judged, found None")
    n, s, decided = int(c.annotator.max()) + 1, len(c.systems), c.score != 0
    who, first, second, y = (np.asarray(x)[decided] for x in (c.annotator, c.first, c.second, 1.0 * c.score))
    votes = _Votes(who, first, second, y, n, s, SIDE in c.covariates)
    nobody = _Shares(0.0, np.zeros((n, 0)), np.zeros(0), np.zeros(0, object), np.full(2 * s, 0.5 / s), np.zeros(0))
    # where most votes on a system are by those who favour it, the board is theirs, and all others seem to be against it
    starts = nobody, votes.shares(nobody, _FLAT, flat=True)
    found = max((votes.settled(start, _USUAL) for start in starts), key=lambda s: s.log_likelihood)
    found = votes.settled(found, _EVERY)
    names = [RANDOM, *[FIRST, SECOND] * votes.sided, ONE]
    of_kind = [found.kinds == name for name in names]
    owner, likeliest = votes.met[0], np.full(n, -1)
    order = np.lexsort((found.of_system, np.tile(owner, 2)))
    likeliest[np.tile(owner, 2)[order]] = order  # of several the last counts
    known, system = likeliest >= 0, np.tile(votes.met[1], 2)
    return Voters(
        found.doubtful,
        {name: found.chances[:, k] @ found.share[k] for name, k in zip(names, of_kind, strict=True)},
        np.where(known, system[likeliest] if len(system) else -1, -1),
        known & (likeliest < len(owner)),
        np.bincount(votes.who, minlength=n),
        copies(c),
    )


class _Shares(NamedTuple):
    """The mixture. log_likelihood : of all votes; chances : (n, k) of the components of each voter; share : (k,) of the
    votes that are cast otherwise; kinds : (k,); favoured : (2 s,) chances of the systems of ONE, first of those in
    favour, then of those against; of_system : (2 e,) the same of each voter and system that met."""

    log_likelihood: float
    chances: np.ndarray
    share: np.ndarray
    kinds: np.ndarray
    favoured: np.ndarray
    of_system: np.ndarray

    @property
    def doubtful(self) -> np.ndarray:
        out: np.ndarray = self.chances[:, self.share >= HALF].sum(axis=1)
        return out


class _Batch(NamedTuple):
    """Voters with g x q effects: of the side, and of the systems each met. some : (g,) who; rows : of votes; owner :
    their places in `some`; at : (3, rows) effects on a vote; cell : (6, rows) of pairs of these."""

    some: np.ndarray
    rows: np.ndarray
    owner: np.ndarray
    q: int
    at: np.ndarray
    cell: np.ndarray


@dataclass(frozen=True)
class _Votes:
    """Votes that are no ties. who, first, second : (m,) codes of n voters and s systems; y : (m,) 1 where the first
    wins, else -1; sided : whether the first was shown first. modes : variances -> effects of each batch, found last."""

    who: np.ndarray
    first: np.ndarray
    second: np.ndarray
    y: np.ndarray
    n: int
    s: int
    sided: bool
    modes: dict[tuple[float, float], list[np.ndarray]] = field(default_factory=dict)

    def settled(self, found: _Shares, variances: tuple[tuple[float, float], ...]) -> _Shares:
        """The mixture on the board of those who are careful by it."""
        for _ in range(_ROUNDS):
            before, found = found, self.shares(found, variances)
            if np.abs(found.doubtful - before.doubtful).mean() < _SETTLED:
                break
        return found

    def shares(self, before: _Shares, variances: tuple[tuple[float, float], ...], *, flat: bool = False) -> _Shares:
        """The mixture on the board of those who were careful before; flat : on one of equal systems."""
        d = np.zeros(len(self.y)) if flat else self.board(1 - before.doubtful)
        careful = [self.careful(d, v) for v in variances]
        others, of_system = self.otherwise(d, before.favoured)
        kinds = np.array([CAREFUL] * len(careful) + [kind for kind, _ in others], dtype=object)
        share = np.array([0.0] * len(careful) + [part for _, part in others])
        log_likelihood, chances = _mixed(np.column_stack([*careful, *others.values()]), share)
        one, (owner, system) = chances[:, (kinds == ONE) & (share >= HALF)].sum(axis=1), self.met
        named = np.bincount(np.append(system, system + self.s), np.tile(one[owner], 2) * of_system, 2 * self.s)
        return _Shares(log_likelihood, chances, share, kinds, (0.5 / self.s + named) / (1 + named.sum()), of_system)

    def board(self, weight: np.ndarray) -> np.ndarray:
        """(m,) log odds of the first by strengths and the side, votes of a voter with a weight, (n,)."""
        if not len(self.y):
            return self.y
        code = (self.first * self.s + self.second) * 2 + (self.y > 0)
        _, cell, row = np.unique(code, return_index=True, return_inverse=True)
        counts, side = np.bincount(row, np.maximum(weight, _LEAST)[self.who]), np.ones((len(cell), int(self.sided)))
        found = strengths(self.first[cell], self.second[cell], self.y[cell], counts, self.s, side)
        d: np.ndarray = found.strengths[self.first] - found.strengths[self.second] + found.slopes.sum()
        return d

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(p,) voter and system that met, in one code; (2 m,) which each vote and side is about; (p,) votes."""
        code = np.concatenate([self.who * self.s + self.first, self.who * self.s + self.second])
        return np.unique(code, return_inverse=True, return_counts=True)

    @cached_property
    def met(self) -> tuple[np.ndarray, np.ndarray]:
        """(e,) voters, in order, and systems that they may be for or against."""
        cells, _, size = self.pairs
        owner, system = np.divmod(cells[size >= _MET], self.s)
        return owner, system

    def otherwise(self, d: np.ndarray, favoured: np.ndarray) -> tuple[dict[tuple[str, float], np.ndarray], np.ndarray]:
        """Kind and share of votes cast otherwise -> (n,) log likelihoods of voters; and `of_system`."""
        who, y, n, h = self.who, self.y, self.n, expit(self.y * d)
        rules = {RANDOM: np.full(len(y), 0.5)}
        rules |= {FIRST: (y > 0) * 1.0, SECOND: (y < 0) * 1.0} if self.sided else {}
        out, base, (_, place, size), (owner, system) = {}, np.bincount(who, np.log(h), n), self.pairs, self.met
        heads, of_system = np.flatnonzero(np.diff(owner, prepend=-1)), np.zeros(0)
        for share in _SHARES:
            for kind, chance in rules.items():
                out[kind, share] = np.bincount(who, np.log(share * chance + (1 - share) * h), n)
            won, lost = np.log(share / h + 1 - share), np.log(1 - share)
            pro, con = np.where(y > 0, won, lost), np.where(y < 0, won, lost)
            both = [
                np.bincount(place, np.append(*sides), len(size))[size >= _MET] for sides in ((pro, con), (con, pro))
            ]
            gained = np.stack(both) + np.log(favoured.reshape(2, -1)[:, system])
            total = np.full(n, _NEVER)
            if len(heads):
                total[owner[heads]] = np.logaddexp.reduceat(np.logaddexp(*gained), heads)
            out[ONE, share], of_system = base + total, np.exp(gained - total[owner]).ravel()
        return out, of_system

    @cached_property
    def batches(self) -> list[_Batch]:
        cells, place, _ = self.pairs
        met = np.bincount(cells // self.s, minlength=self.n)
        local = (place - np.tile((np.cumsum(met) - met)[self.who], 2)).reshape(2, -1) + 1  # 0 is the side
        inside, order, out = np.stack([np.zeros(len(self.who), np.intp), *local]), np.argsort(met, kind="stable"), []
        one, other = np.triu_indices(3)
        by_voter = np.split(
            np.argsort(self.who, kind="stable"), np.cumsum(np.bincount(self.who, minlength=self.n))[:-1]
        )
        while len(order):
            held = np.arange(1, len(order) + 1) * (met[order] + 1) ** 2
            fits = (met[order] <= _AS_LARGE * met[order[0]] + 2) & (held <= _AT_ONCE)
            some, order = np.split(order, [max(1, len(order) if fits.all() else int(fits.argmin()))])
            rows, q = np.concatenate([by_voter[v] for v in some]), int(met[some].max()) + 1
            owner = np.repeat(np.arange(len(some)), [len(by_voter[v]) for v in some])
            at = owner * q + inside[:, rows]
            out.append(_Batch(some, rows, owner, q, at, at[one] * q + inside[other][:, rows]))
        return out

    def careful(self, d: np.ndarray, variances: tuple[float, float]) -> np.ndarray:
        """(n,) log likelihoods of careful voters. variances : of tastes and of preferences of a side."""
        taste, side = variances[0], variances[1] * self.sided
        value = np.sqrt([side, taste, taste])[:, None] * [[1], [1], [-1]]
        one, other = np.triu_indices(3)
        product = value[one] * value[other] / np.where(one == other, 2, 1)[:, None]
        d, out = d * np.sqrt(1 + _FLATTER * (2 * taste + side)), np.zeros(self.n)
        modes = self.modes.setdefault(variances, [np.zeros(len(b.some) * b.q) for b in self.batches])
        for b, u in zip(self.batches, modes, strict=True):
            g, y, base, step = len(b.some), self.y[b.rows], d[b.rows], np.full(1, np.inf)
            for _ in range(_NEWTON):
                linear = y * (base + (value * u[b.at]).sum(axis=0))
                miss = expit(-linear)
                half = np.bincount(b.cell.ravel(), (product * (miss * (1 - miss))).ravel(), g * b.q**2)
                half = half.reshape(g, b.q, b.q)
                hessian = half + half.transpose(0, 2, 1) + np.eye(b.q)
                if np.abs(step).max(initial=0.0) < _SHORT:
                    break
                gradient = np.bincount(b.at.ravel(), (value * y * miss).ravel(), g * b.q) - u
                u += (step := np.linalg.solve(hessian, gradient.reshape(g, b.q, 1)).ravel())
            fit = np.bincount(b.owner, log_expit(linear), g) - (u.reshape(g, b.q) ** 2).sum(axis=1) / 2
            out[b.some] = fit - np.linalg.slogdet(hessian)[1] / 2
        return out


def _mixed(logs: np.ndarray, shares: np.ndarray) -> tuple[float, np.ndarray]:
    """The log likelihood, and (n, k) chances of the components of each voter."""
    top = logs.max(axis=1, keepdims=True)
    likelihood = np.exp(logs - top)
    assumed = np.where(shares > 0, _OTHERS / (shares > 0).sum(), _CAREFUL / (shares == 0).sum())
    weight, before = assumed / assumed.sum(), np.inf
    for _ in range(_STEPS):
        total = likelihood @ weight
        if np.abs(weight - before).max() < _PRECISION:
            break
        before, weight = weight, (weight * ((1 / total) @ likelihood) + assumed) / (len(logs) + assumed.sum())
    return float((top[:, 0] + np.log(total)).sum()), likelihood * weight / total[:, None]


def copies(c: Comparisons, alpha: float = _ALPHA) -> np.ndarray:
    """(v,) the voter of whom each is a copy, -1 of nobody: pairs of voters with the same votes on nearly all common
    items (a pair of answers to a context), where those of others on these items differ. The chance of any false pair is
    at most alpha, if others judge apart. One of each group counts: with most votes, the first of these."""
    who = np.asarray(c.annotator)
    n, s, turned = int(who.max()) + 1, len(c.systems), c.first > c.second
    pair = np.where(turned, c.second * s + c.first, c.first * s + c.second)
    item = crossed(np.asarray(c.context), crossed(pair, 0 * pair))
    once = np.unique(who * (int(item.max()) + 1) + item, return_index=True)[1]  # of repeated votes the first
    who, item, score = who[once], item[once], np.where(turned, -c.score, c.score)[once].astype(int)
    size = np.bincount(item)
    out = np.full(n, -1)
    if not 0 < (size.astype(float) * (size - 1)).sum() <= _PRODUCTS:
        return out

    each = [sparse.coo_array((score == k, (who, item)), shape=(n, len(size))).tocsr().astype(float) for k in (-1, 0, 1)]
    there = sum(each[1:], each[0])
    shared = sparse.triu(there @ there.T, 1).tocoo()
    enough = shared.data >= _COMMON
    (a, b), shares = (x[enough] for x in shared.coords), shared.data[enough]
    if not len(a):
        return out
    differ = shares - np.sum([(of @ of.T)[a, b] for of in each], axis=0)
    alike = differ <= _DIFFER * shares
    # what others agree on: of each item all pairs of votes but those of voters who are alike
    pairs = [_pairs(of, a[alike], b[alike]) for of in (*each, there)]
    same, total = np.sum(pairs[:-1], axis=0), pairs[-1]
    chances = np.bincount(score + 1) / len(score)
    known = same.sum() / total.sum() if total.sum() >= _KNOWN else 1 - (1 - chances @ chances) / 4
    usual = (same + _PRIOR * known) / (total + _PRIOR)
    expected = shares - ((there * usual[None]).tocsr() @ there.T)[a, b]
    # of those who differ less from others, as careful voters do, less of each other is expected
    ends, rest = np.append(a, b), np.tile(~alike, 2)
    met = [np.bincount(ends[rest], np.tile(x, 2)[rest], n) + _PRIOR for x in (differ, expected)]
    own = met[0] / met[1]
    expected *= np.clip(own[a] + own[b] - 1, _LEAST, None)
    named = alike & (bdtr(differ, shares.astype(int), np.minimum(expected / shares, 1)) < alpha / len(a))
    joined = sparse.coo_array((np.ones(named.sum()), (a[named], b[named])), shape=(n, n))
    group = connected_components(joined, directed=False)[1]
    order = np.lexsort((np.arange(n), -np.bincount(who, minlength=n)))
    _, at, of = np.unique(group[order], return_index=True, return_inverse=True)
    out[order] = order[at][of]
    return np.where(out == np.arange(n), -1, out)


def _pairs(cast: sparse.csr_array, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(items,) pairs of votes on each. cast : (voters, items); a, b : pairs of voters who do not count."""
    votes = cast.sum(axis=0)
    out: np.ndarray = votes * (votes - 1) / 2 - cast[a].multiply(cast[b]).sum(axis=0)
    return out


def without(c: Comparisons, some: np.ndarray) -> Comparisons:
    """The votes of all but some voters, (v,) whether to leave them out; voters keep their codes, systems theirs."""
    keep = ~some[np.asarray(c.annotator)]
    arrays = {k: getattr(c, k)[keep] for k in ("first", "second", "score", "context", "annotator")}
    weight = None if c.weight is None else c.weight[keep]
    return replace(c, **arrays, weight=weight, covariates={k: v[keep] for k, v in c.covariates.items()})


def places(c: Comparisons) -> np.ndarray:
    """(s,) places on the board of the votes alone, 1 the first."""
    x = Board(c).fitted.strengths
    return np.argsort(np.argsort(-x, kind="stable"), kind="stable") + 1
