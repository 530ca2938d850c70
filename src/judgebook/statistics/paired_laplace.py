"""The integrated likelihood of comparisons in pairs with ties, where strengths have random parts, by Laplace's
approximation, and its gradient.

With d the difference of what the two sides have and eta the log of the tie parameter, a win is worth e^(d/2), a loss
e^(-d/2), a tie e^eta, each divided by their sum. d = strength + sd u of the first side less the same of the second, for
each random part, u standard normal. Strengths and eta are integrated over, too (with a flat prior), which makes of the
maximum what restricted likelihood is in linear models: variances do not shrink for the strengths that are estimated.

One random part is in groups (the answers to a context, the tastes of an annotator): its levels meet no levels of other
groups, and each group is eliminated on its own. What is left is dense: the other part, strengths, eta.

Where the parts are so many and so crossed that no dense matrix holds them, `large_laplace` has the same gradient.

References
----------
Davidson 1970, Journal of the American Statistical Association 65(329), 317-328. Tierney and Kadane 1986, Journal of the
American Statistical Association 81, 82-86 (Laplace). Noh and Lee 2007, Journal of Multivariate Analysis 98, 896-915
(restricted likelihood in generalised models). Skaug and Fournier 2006, Computational Statistics & Data Analysis 51,
699-709 (gradient by the implicit function).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from judgebook.statistics.elimination import cholesky, cholesky_inverse

#: what a step may gain that is not taken any more; without random parts strengths are all that is sought, and those
#: that are equal are to be so in nine digits
_NEGLIGIBLE, _EXACT = 1e-12, 1e-20
#: what a step gains over the one before, with the same factor, as long as that serves
_SHORTER = 0.6
#: precision of slopes beforehand, which keeps matrices regular where some of the votes do not say what they are
SLOPES = 1e-6
#: entries of matrices of groups that are held at once, and how many times as many levels as its smallest group a batch
#: may have
_AT_ONCE, _AS_LARGE = 2_000_000, 1.3
#: products of numbers in matrices that take as long as a number that is gathered from elsewhere
_GATHER = 150


@dataclass(frozen=True)
class Part:
    """A random part.

    levels : (n, c) codes from 0 without gaps of the effects on each comparison. group : (n,) codes from 0 without gaps.
    by_d, by_eta : (c,) how much of each effect is added to d and to eta. times : (n,) what both are multiplied by; None
    stands for 1.
    """

    levels: np.ndarray
    group: np.ndarray
    by_d: tuple[float, ...] = (1.0, -1.0)
    by_eta: tuple[float, ...] = (0.0, 0.0)
    times: np.ndarray | None = None

    @property
    def size(self) -> int:
        return int(self.levels.max()) + 1


@dataclass(frozen=True)
class _Batch:
    """Groups that are eliminated together. Of each the unknowns are numbered: p levels, then q of the rest.

    rows : of comparisons. begin : where the levels are among all unknowns. cells : (2, k, rows) where each product of a
    level and an unknown of a comparison is in (groups, p, p + q). columns : (groups, q) which of the rest these are.
    """

    rows: np.ndarray
    groups: int
    p: int
    q: int
    begin: int
    cells: np.ndarray
    columns: np.ndarray

    @property
    def levels(self) -> slice:
        return slice(self.begin, self.begin + self.groups * self.p)


@dataclass(frozen=True)
class _Factor:
    """Of the Hessian: by batch the inverse of groups and their product with the border; inverse and log determinant."""

    inverse: list[np.ndarray]
    border: list[np.ndarray]
    rest: np.ndarray
    log_det: float


@dataclass(frozen=True)
class Integrated:
    """At given standard deviations. log_likelihood : integrated, but for a constant. gradient : of it by variances.

    strengths : (s,) with mean 0; eta : -inf without ties. covariance : (s + 1, s + 1) of these, of strengths only
    differences count. slopes : (c,) of covariates, slopes_covariance : (c, c + s), of these and with strengths.
    """

    log_likelihood: float
    gradient: np.ndarray
    strengths: np.ndarray
    eta: float
    covariance: np.ndarray
    slopes: np.ndarray
    slopes_covariance: np.ndarray


class PairedLaplace:
    """Comparisons of `systems` systems.

    first, second : (n,) systems; score : (n,) in 1, 0, -1; counts : (n,) how often each counts. parts : of each random
    part the levels of both sides and the group of these, codes from 0 without gaps. ridge : precision of a normal prior
    of centred strengths and of eta. covariates : (n, c), what each adds to d is its slope times this.
    """

    def __init__(
        self,
        first: np.ndarray,
        second: np.ndarray,
        score: np.ndarray,
        counts: np.ndarray,
        systems: int,
        parts: Sequence[Part],
        ridge: float = 0.0,
        covariates: np.ndarray | None = None,
    ):
        self.n, self.systems, self.parts = len(first), systems, len(parts)
        self.score, self.counts, self.tied = score.astype(float), counts.astype(float), score == 0
        self.main, self.others = _split(parts)
        n_others = sum(parts[i].size for i in self.others)
        covariates = np.zeros((self.n, 0)) if covariates is None else covariates
        c = covariates.shape[1]
        self.at_slopes, self.at_strengths, self.size = n_others, n_others + c, n_others + c + systems + 1
        sides = np.column_stack([first, second]) + self.at_strengths
        slopes = np.broadcast_to(np.arange(self.at_slopes, self.at_strengths), covariates.shape)
        rest = np.column_stack([_numbered(parts, self.others, self.n), slopes, sides, np.full(self.n, self.size - 1)])
        main = _numbered(parts, self.main, self.n)
        group = parts[self.main[0]].group if parts else np.zeros(self.n, np.intp)
        #: by unknown of a comparison: part (-1: none), and what it adds to d and to eta
        order = [parts[i] for i in (*self.main, *self.others)]
        self.part_of = np.repeat([*self.main, *self.others, -1], [*(len(p.by_d) for p in order), c + 3])
        by_d = np.array([*(v for p in order for v in p.by_d), *np.zeros(c), 1.0, -1.0, 0.0])
        by_eta = np.array([*(v for p in order for v in p.by_eta), *np.zeros(c), 0.0, 0.0, 1.0])
        self.by = np.stack([by_d, by_eta])[:, :, None]  # (2, k, n), or (2, k, 1) where all comparisons have the same
        if c or any(part.times is not None for part in parts):
            self.by = np.repeat(self.by, self.n, axis=2)
            self.by[0, len(self.part_of) - c - 3 : -3] = covariates.T
        for i, part in enumerate(parts):
            if part.times is not None:
                self.by[:, self.part_of == i] *= part.times
        self.eta_from = 0.0 if self.tied.any() else -np.inf
        self.prior = np.zeros((self.size, self.size))
        strengths = slice(self.at_strengths, self.size - 1)
        self.prior[strengths, strengths] = 1.0 - ridge / systems  # strengths add up to 0
        self.prior.flat[:: self.size + 1] += np.repeat([1.0, SLOPES, ridge, ridge], [n_others, c, systems, 1])
        self.prior[-1, -1] += not self.tied.any()
        self._batches(group, main, rest)
        self.x, self.sd = np.zeros(self.n_levels + self.size), np.ones(len(parts))
        self.negligible = _NEGLIGIBLE if parts else _EXACT
        self.factor: _Factor | None = None
        self.tangent: np.ndarray | None = None  # of the mode by standard deviations

    def _batches(self, group: np.ndarray, main: np.ndarray, rest: np.ndarray) -> None:
        groups, self.levels_of = int(group.max()) + 1, main.shape[1]
        self.inside = (rest * (self.size + 1)).T[:, None] + rest.T  # of each product of two of the rest
        own, p_of, _, _ = _within(group, main, groups)
        met, q_of, columns, owner = _within(group, rest, groups)
        place = np.arange(len(columns)) - np.repeat(np.cumsum(q_of) - q_of, q_of)
        order, self.batches, begin = np.lexsort((q_of, p_of)), list[_Batch](), 0
        batch_of, inside = np.zeros(groups, np.intp), np.zeros(groups, np.intp)
        while len(order):
            p, q = p_of[order], np.maximum.accumulate(q_of[order])
            fits = (np.arange(1, len(p) + 1) * (p + q) ** 2 <= _AT_ONCE) & (p <= _AS_LARGE * p[0] + 2)
            some, order = np.split(order, [max(1, int(fits.argmin()) if not fits.all() else len(p))])
            batch_of[some], inside[some] = len(self.batches), np.arange(len(some))
            p_most, q_most = int(p_of[some].max()), int(q_of[some].max())
            self.batches.append(_Batch(np.zeros(0), len(some), p_most, q_most, begin, np.zeros(0), np.zeros(0)))
            begin += len(some) * p_most
        self.n_levels = begin
        self.unknowns = np.column_stack([main, rest + begin])  # of each row, among all
        of_row, of_column = batch_of[group], batch_of[owner]
        for number, b in enumerate(self.batches):
            rows, some = np.flatnonzero(of_row == number), np.flatnonzero(of_column == number)
            table = np.full((b.groups, b.q), self.size)  # the last is nowhere
            table[inside[owner[some]], place[some]] = columns[some]
            local = np.column_stack([own[rows], met[rows] + b.p]).T
            width, base = b.p + b.q, inside[group[rows]]
            self.unknowns[rows, : main.shape[1]] = (b.begin + base * b.p + own[rows].T).T
            cells = (base * b.p + local[: main.shape[1], None]) * width + local
            self.batches[number] = _Batch(rows, b.groups, b.p, b.q, b.begin, cells, table)

    def _slopes(self, sd: np.ndarray) -> np.ndarray:
        """(2, k, n or 1) of d and eta by the unknowns of a comparison."""
        slopes: np.ndarray = self.by * np.append(sd, 1.0)[self.part_of][:, None]
        return slopes

    def _linear(self, x: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        d, eta = _along(z, x[self.unknowns])
        return d, eta + self.eta_from

    def _value(self, x: np.ndarray, z: np.ndarray) -> float:
        d, eta = self._linear(x, z)
        log_p = self.score * d / 2 - log_sum(d, eta)
        log_p[self.tied] += eta[self.tied]
        core = x[self.n_levels :]
        return float(self.counts @ log_p - (x[: self.n_levels] @ x[: self.n_levels] + core @ self.prior @ core) / 2)

    def _collect(self, of_d: np.ndarray, of_eta: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Sums over comparisons by unknown, of what belongs to d and to eta."""
        out = np.zeros(len(self.x))
        for column, by_d, by_eta in zip(self.unknowns.T, *z, strict=True):
            if by_d.any() or by_eta.any():
                out += np.bincount(column, by_d * of_d + by_eta * of_eta, len(out))
        return out

    def _factor(self, weights: tuple[np.ndarray, ...], z: np.ndarray) -> _Factor:
        """weights : second derivatives of minus the log likelihood by d, by both, by eta."""
        d, e = z
        products = d[:, None] * d, d[:, None] * e + e[:, None] * d, e[:, None] * e
        m, inverses, borders, log_det = self.levels_of, [], [], 0.0
        values = sum(product * w for product, w in zip(products, weights, strict=True))
        schur = np.bincount(self.inside.ravel(), values[m:, m:].ravel(), (self.size + 1) ** 2)
        for b in self.batches if m else ():
            own, side = np.split(
                np.bincount(b.cells.ravel(), values[:m, :, b.rows].ravel(), b.groups * b.p * (b.p + b.q)).reshape(
                    b.groups, b.p, -1
                ),
                [b.p],
                axis=2,
            )
            root = np.linalg.cholesky(own + np.eye(b.p))
            log_det += float(2 * np.log(root.diagonal(axis1=1, axis2=2)).sum())
            root = np.linalg.inv(root)
            half = root @ side
            if self._meets_most(b):
                whole = self._spread(b, half).reshape(-1, self.size + 1)
                schur -= (whole.T @ whole).ravel()
            else:
                at = (b.columns * (self.size + 1))[:, :, None] + b.columns[:, None]
                schur -= np.bincount(at.ravel(), np.stack([x.T @ x for x in half]).ravel(), len(schur))
            inverses.append(root.transpose(0, 2, 1) @ root)
            borders.append(root.transpose(0, 2, 1) @ half)
        core = schur.reshape(self.size + 1, -1)[:-1, :-1] + self.prior
        inverse, more = cholesky_inverse(core, cholesky(core))
        return _Factor(inverses, borders, inverse, log_det + more)

    def _meets_most(self, b: _Batch) -> bool:
        """Whether groups meet so many of the rest that products with all of it take less time than with those alone."""
        return bool(b.p * self.size**2 < _GATHER * b.q**2)

    def _spread(self, b: _Batch, of_columns: np.ndarray) -> np.ndarray:
        """(groups, p, size + 1) of (groups, p, q)."""
        out = np.zeros((b.groups, b.p, self.size + 1))
        np.put_along_axis(out, np.broadcast_to(b.columns[:, None], of_columns.shape), of_columns, axis=2)
        return out

    def _solve(self, f: _Factor, side: np.ndarray) -> np.ndarray:
        out, core = np.zeros_like(side), np.append(side[self.n_levels :], 0.0)
        for b, border in zip(self.batches, f.border, strict=False):
            own = side[b.levels].reshape(b.groups, b.p)
            core -= np.bincount(b.columns.ravel(), np.einsum("gp,gpq->gq", own, border).ravel(), len(core))
        out[self.n_levels :] = found = f.rest @ core[:-1]
        found = np.append(found, 0.0)
        for b, inverse, border in zip(self.batches, f.inverse, f.border, strict=False):
            whole = inverse @ side[b.levels].reshape(b.groups, b.p, 1) - border @ found[b.columns][:, :, None]
            out[b.levels] = whole.ravel()
        return out

    def mode(self, sd: np.ndarray) -> tuple[float, _Factor, Cumulants]:
        """By Newton's method with halved steps, from where the last mode leads. A factor serves for several steps, as
        long as these get short."""
        z, x = self._slopes(sd), self.x
        value, factor, last = self._value(x, z), self.factor, np.inf
        if self.tangent is not None:
            led = x + (sd - self.sd) @ self.tangent
            if (new := self._value(led, z)) > value:
                x, value = led, new
        for _ in range(100):
            at = Cumulants.of(*self._linear(x, z), self.counts)
            gradient = self._collect(*self._scores(at), z)
            gradient[: self.n_levels] -= x[: self.n_levels]
            gradient[self.n_levels :] -= self.prior @ x[self.n_levels :]
            fresh = factor is None
            factor = factor or self._factor(at.second, z)
            step = self._solve(factor, gradient)
            if (gain := float(gradient @ step)) < self.negligible:
                break
            if not fresh and gain > _SHORTER * last:
                factor, last = None, np.inf
                continue
            last = gain
            for _ in range(40):
                new = self._value(x + step, z)
                if new >= value - 1e-12 * abs(value):
                    break
                step /= 2
                last = 0.0  # the next is with a new factor
            else:
                break
            x, value = x + step, new
        self.x, self.sd = x, sd
        self.factor = factor = factor if fresh and factor else self._factor(at.second, z)
        return value, factor, at

    def _scores(self, at: Cumulants) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of log likelihoods by d and eta."""
        return self.counts * (self.score / 2 - at.mean), self.counts * (self.tied - at.tie)

    def evaluate(self, variances: np.ndarray) -> Integrated:
        """variances : (parts,) above 0."""
        sd = np.sqrt(variances)
        value, factor, at = self.mode(sd)
        gradient = self._gradient(self._slopes(sd), sd, factor, at) if self.parts else np.zeros(0)
        return self._integrated(value - factor.log_det / 2, gradient, self.x, factor)

    def corrected(self, variances: np.ndarray) -> Integrated:
        """To the next order of Laplace's approximation, but for terms of two comparisons at once; without a gradient.

        Strengths and slopes are those of the largest likelihood with the effects integrated out, and the covariance is
        of second derivatives as they are expected then. variances : (parts,) above 0.
        """
        sd = np.sqrt(variances)
        value, factor, at = self.mode(sd)
        z = self._slopes(sd)
        q = self._leverages(z, self._entries(z, factor, self._of_effects(factor.rest)))[2]
        pull = self._collect(*at.of_third(q), z)
        moved = -self._solve(factor, pull) / 2
        nearer = self._factor(at.expected(q, *_along(z, moved[self.unknowns])), z)
        gain = -float(pull @ moved) / 4 - at.of_fourth(q, q) / 8
        return self._integrated(value - factor.log_det / 2 + gain, np.zeros(0), self.x + moved, nearer)

    def _integrated(self, value: float, gradient: np.ndarray, x: np.ndarray, factor: _Factor) -> Integrated:
        core, s, slopes = (
            x[self.n_levels :],
            slice(self.at_strengths, self.size),
            slice(self.at_slopes, self.at_strengths),
        )
        return Integrated(
            value,
            gradient,
            core[s][:-1].copy(),
            float(x[-1]) + self.eta_from,
            factor.rest[s, s],
            core[slopes].copy(),
            factor.rest[slopes, self.at_slopes : -1],
        )

    def _of_effects(self, rest: np.ndarray) -> np.ndarray:
        """Of the inverse of the rest, that of its effects alone, with zeros for slopes, strengths and eta."""
        n = self.at_slopes
        out = np.zeros_like(rest)
        out[:n, :n] = rest[:n, :n] - rest[:n, n:] @ np.linalg.solve(rest[n:, n:], rest[n:, :n])
        return out

    def _entries(self, z: np.ndarray, factor: _Factor, rest: np.ndarray) -> np.ndarray:
        """(k, k, n) entries of the inverse that a comparison has. rest : the inverse of what is not in groups."""
        k, m, padded = z.shape[1], self.levels_of, np.pad(rest, ((0, 1), (0, 1)))
        entries = np.zeros((k, k, self.n))
        entries[m:, m:] = padded.ravel()[self.inside]
        for b, inverse, border in zip(self.batches, factor.inverse, factor.border, strict=False):
            if self._meets_most(b):
                across = -np.take_along_axis(self._spread(b, border) @ padded, b.columns[:, None], axis=2)
            else:
                across = -border @ padded[b.columns[:, :, None], b.columns[:, None]]
            local = np.concatenate([inverse - across @ border.transpose(0, 2, 1), across], axis=2)
            entries[:m, :, b.rows] = local.ravel()[b.cells]
        entries[m:, :m] = entries[:m, m:].transpose(1, 0, 2)
        return entries

    @staticmethod
    def _leverages(z: np.ndarray, entries: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(k, n) products of entries with what is added to d, and to eta; (3, n) variances of d, of both, of eta."""
        along, across = np.einsum("ijn,ajn->ain", entries, z)
        q = ((of * by).sum(axis=0) for of, by in ((along, z[0]), (along, z[1]), (across, z[1])))
        return along, across, np.stack([*q])

    def _gradient(self, z: np.ndarray, sd: np.ndarray, factor: _Factor, at: Cumulants) -> np.ndarray:
        by, second = self._scores(at), at.second
        along, across, q = self._leverages(z, self._entries(z, factor, factor.rest))
        t_d, t_e = at.of_third(q)
        r = self._solve(factor, self._collect(t_d, t_e, z))
        out, self.tangent = np.zeros(len(sd)), np.zeros((len(sd), len(self.x)))
        for part in range(len(sd)):
            own = self.by * (self.part_of == part)[:, None]  # of slopes by this standard deviation
            d, e = _along(own, self.x[self.unknowns])
            pulled = self._collect(*by, own)
            pulled -= self._collect(second[0] * d + second[1] * e, second[1] * d + second[2] * e, z)
            self.tangent[part] = self._solve(factor, pulled)
            moved = second[0] * (along * own[0]).sum(axis=0) + second[2] * (across * own[1]).sum(axis=0)
            moved += second[1] * (across * own[0] + along * own[1]).sum(axis=0)
            out[part] = by[0] @ d + by[1] @ e - (2 * moved.sum() + t_d @ d + t_e @ e + r @ pulled) / 2
        by_variance: np.ndarray = out / (2 * sd)
        return by_variance


def _along(z: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(2, n) d and eta of unknowns (n, k) with slopes (2, k, n or 1)."""
    found: np.ndarray = z[:, :, 0] @ x.T if z.shape[2] == 1 else np.einsum("akn,nk->an", z, x)
    return found


def dense_size(parts: Sequence[Part]) -> int:
    """How many levels are left in the dense matrix."""
    return sum(parts[i].size for i in _split(parts)[1])


def _split(parts: Sequence[Part]) -> tuple[list[int], list[int]]:
    """Which parts are eliminated: of all with the same groups those with most levels; and the others."""
    alike = [[i for i, other in enumerate(parts) if np.array_equal(part.group, other.group)] for part in parts]
    main = max(alike, key=lambda some: sum(parts[i].size for i in some), default=[])
    return main, [i for i in range(len(parts)) if i not in main]


def _numbered(parts: Sequence[Part], some: list[int], n: int) -> np.ndarray:
    """(n, k) levels of some parts, numbered one part after the other."""
    begins = np.cumsum([0, *(parts[i].size for i in some)])
    columns = [parts[i].levels + begin for i, begin in zip(some, begins, strict=False)]
    return np.column_stack([np.zeros((n, 0), np.intp), *columns])


@dataclass(frozen=True)
class Cumulants:
    """Of half the score and of being a tie, by comparison. mean : of half the score; tie : chance.

    second, third, fourth : times counts; in the order of how often the tie is among the factors.
    """

    mean: np.ndarray
    tie: np.ndarray
    second: tuple[np.ndarray, np.ndarray, np.ndarray]
    third: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    half: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, d: np.ndarray, eta: np.ndarray, counts: np.ndarray) -> Cumulants:
        total = log_sum(d, eta)
        won, lost, t = np.exp(d / 2 - total), np.exp(-d / 2 - total), np.exp(eta - total)
        m, half = (won - lost) / 2, (won + lost) / 4
        second = half - m**2, -m * t, t * (1 - t)
        third = m * (0.25 - 3 * half + 2 * m**2), t * (2 * m**2 - half), m * t * (2 * t - 1), t * (1 - t) * (1 - 2 * t)
        a, b, c = (counts * each for each in second)
        e, f, g, h = (counts * each for each in third)
        return cls(m, t, (a, b, c), (e, f, g, h), half, counts)

    @cached_property
    def fourth(self) -> tuple[np.ndarray, ...]:
        m, t, half = self.mean, self.tie, self.half
        a, b, c = half - m**2, -m * t, t * (1 - t)
        skew = 0.25 - 3 * half + 2 * m**2
        found = (
            a * skew + m**2 * (4 * a + 3 * half - 0.75),
            b * skew + m * (4 * m * b + 3 * t * half),
            c * (2 * m**2 - half) + t * (4 * m * b + t * half),
            b * t * (2 * t - 1) + m * c * (4 * t - 1),
            c * (1 - 6 * c),
        )
        return tuple(self.counts * each for each in found)

    def of_third(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n,) sums of third cumulants with d, and with eta. q : (3, n) covariances of d and d, d and eta, eta and
        eta."""
        e, f, g, h = self.third
        return e * q[0] + 2 * f * q[1] + g * q[2], f * q[0] + 2 * g * q[1] + h * q[2]

    def of_fourth(self, q: np.ndarray, other: np.ndarray) -> float:
        """Sum of fourth cumulants with two such covariances."""
        dd, de, ee = q
        a, b, c = other
        terms = dd * a, 2 * (dd * b + de * a), dd * c + 4 * de * b + ee * a, 2 * (de * c + ee * b), ee * c
        return float(sum((k * x).sum() for k, x in zip(self.fourth, terms, strict=True)))

    def expected(self, q: np.ndarray, d: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, ...]:
        """Second cumulants as they are expected at d and eta from here, with covariances q; as they are here where
        that is not positive definite."""
        third, fourth = self.third, self.fourth
        found = [
            at
            + third[i] * d
            + third[i + 1] * eta
            + (fourth[i] * q[0] + 2 * fourth[i + 1] * q[1] + fourth[i + 2] * q[2]) / 2
            for i, at in enumerate(self.second)
        ]
        fine = (found[0] > 0) & (found[2] >= 0) & (found[0] * found[2] >= found[1] ** 2)
        return tuple(np.where(fine, new, old) for new, old in zip(found, self.second, strict=True))


def log_sum(d: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """Log of the sum of the weights of a win, a loss and a tie."""
    out: np.ndarray = np.logaddexp(np.abs(d) / 2 + np.log1p(np.exp(-np.abs(d))), eta)
    return out


def _within(group: np.ndarray, columns: np.ndarray, groups: int) -> tuple[np.ndarray, ...]:
    """(n, k) places of columns among those of their group; (groups,) how many; the columns group by group; whose."""
    width = int(columns.max(initial=0)) + 1
    cells, place = np.unique(group[:, None] * width + columns, return_inverse=True)
    owner, column = np.divmod(cells, width)
    count = np.bincount(owner, minlength=groups)
    local = place.reshape(columns.shape) - (np.cumsum(count) - count)[group][:, None]
    return local, count, column, owner
