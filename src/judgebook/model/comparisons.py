"""A model of votes between two answers on a label: systems fixed, answers and tastes of annotators random.

Davidson's model with ties: a vote is won with weight e^a, lost with e^b, tied with nu e^((a + b) / 2), where a and b
are what the two sides have: strength of the system + effect of this answer (context x system) + taste of this annotator
for the system. The tendency to tie differs between annotators, too. All random parts are normal; what a design does not
tell apart is left out with the reason. Covariates (the side, how much longer an answer is) add to a - b their slopes,
which vary between contexts and between annotators: strengths are then those of equal answers but for the system.
Strengths and nu are integrated over together with the random parts
(`statistics.paired_laplace`), so that variances are those of restricted likelihood. Differences have Satterthwaite's
degrees of freedom, as in `ratings`.

Laplace's approximation finds too little of the variances, and draws strengths and slopes towards 0 where votes on a
level are few. Its next order mends most of that: with ten votes on an answer and by an annotator on a system,
strengths and slopes are within 0.1 errors of the truth on average, and variances within a tenth.

References
----------
Davidson 1970, Journal of the American Statistical Association 65(329), 317-328. Böckenholt 2001, Psychological Methods
6, 49-66 (random effects of judges in models of pairs). Ford 1957, American Mathematical Monthly 64(8), 28-33 (when
strengths exist). Fai and Cornelius 1996, Journal of Statistical Computation and Simulation 54, 363-378.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, log, pi
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import logsumexp

from judgebook.model.contrasts import Levels, of_pairs
from judgebook.model.fit import ANNOTATOR, ANSWER, CONTEXT, RESIDUAL, SIDE, TASTE, Fit, Slopes, confounded, crossed
from judgebook.statistics.large_laplace import LargeLaplace
from judgebook.statistics.paired_laplace import Integrated, PairedLaplace, Part, dense_size

#: least and largest variance that is tried; the least stands for 0
_VARIANCES = (1e-6, 50.0)
_ZERO = 1.01 * _VARIANCES[0]
#: variance of what no part explains of each side, half of that of the logistic distribution (Nakagawa and Schielzeth
#: 2010, Biological Reviews 85, 935-956)
_CHANCE = pi**2 / 6
#: SD of centred strengths beforehand where the votes alone do not say how large they are
_WEAK = 5.0
#: variances below are 0 where the likelihood does not rise from 0
_SMALL = 1e-3
#: search by log variances: start, steps and their length at most, gain and slope that no longer matter
_START, _CLIMBS, _LONGEST, _PRECISION, _FLAT = 0.3, 50, 1.5, 1e-4, 0.05
#: start of scoring
_NEARER = 0.1
#: what a step of scoring may gain that is not taken any more; levels of all but what is eliminated that a dense matrix
#: may have
_GAIN, _DENSE = 1e-3, 2_500
#: of variances, for derivatives
_STEP = 0.05


@dataclass(frozen=True)
class Comparisons:
    """Votes on one label.

    systems : names, by code. first, second : (n,) codes of the systems of the two sides. score : (n,) 1 where the first
    wins, 0 of a tie, -1. context : (n,) codes from 0 without gaps of what both answered, each vote its own where there
    is none. annotator : (n,) such codes, None where nobody knows who judged. weight : (n,) how often a vote counts.
    covariates : name -> (n,) of the first side less of the second; SIDE stands for 1, that the first was shown first.
    alike : (s,) codes of systems, where those with the same are one to an annotator's taste; None where none are.
    """

    systems: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    score: np.ndarray
    context: np.ndarray
    annotator: np.ndarray | None = None
    weight: np.ndarray | None = None
    covariates: Mapping[str, np.ndarray] = field(default_factory=dict)
    alike: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.score)


def fit(comparisons: Comparisons) -> Fit:
    """The model of one label's votes: log strengths with mean 0.

    Votes with weights enter a pseudo-likelihood, as many as are effective: (sum of w)^2 / sum of w^2.

    Raises ValueError where there are not two systems, or no votes.
    """
    c, left_out, s = comparisons, dict[str, str](), len(comparisons.systems)
    if s < 2 or not len(c):
        raise ValueError(f"expected votes on two systems or more, found {len(c)} on {s}")
    weight = np.ones(len(c)) if c.weight is None else c.weight * (c.weight.sum() / (c.weight @ c.weight))
    parts = dict(_parts(c, left_out))
    apart, note = _apart(c, weight)
    measured, spread = _covariates(c, weight, left_out)
    codes = [np.asarray(c.context if name == ANSWER else c.annotator) for name in parts]
    # votes alike in everything are one row with a count, whichever side is named first
    turned = (c.first > c.second) & (SIDE not in spread)
    measured = np.where(turned[:, None], -measured, measured)
    low, high = np.where(turned, c.second, c.first), np.where(turned, c.first, c.second)
    score = np.sign(np.where(turned, -c.score, c.score)).astype(int)
    ties = _ties_vary(c)
    units = {
        n: np.asarray(code) for n, code in ((CONTEXT, c.context), (ANNOTATOR, c.annotator)) if spread and _several(code)
    }
    cell = crossed(low * s + high, score + 1)
    for code in [*([np.asarray(c.annotator)] if ties else []), *codes[::-1], *units.values(), *measured.T]:
        if int(cell.max()) + 1 < len(c):  # else no two are alike
            cell = crossed(pd.factorize(code)[0], cell)
    _, row, of = np.unique(cell, return_index=True, return_inverse=True)
    counts = np.bincount(of, weight)
    random = []
    for name, code in zip(parts, codes, strict=True):
        a, b = parts[name]
        random.append(Part(np.where(turned[:, None], np.column_stack([b, a]), np.column_stack([a, b]))[row], code[row]))
    if ties:
        who = np.asarray(c.annotator)[row]
        random.append(Part(who[:, None], who, by_d=(0.0,), by_eta=(1.0,)))
    varying = {
        (unit, name): Part(code[row][:, None], code[row], (1.0,), (0.0,), x[row])
        for unit, code in units.items()
        for name, x in zip(spread, measured.T, strict=True)
    }
    sided = [at for at in varying if at == (ANNOTATOR, SIDE)]
    others = [at for at in varying if at not in sided]
    random += [varying[at] for at in sided]
    rows = _Rows(low[row], high[row], score[row], counts, s, random, _WEAK**-2 if note else 0.0, measured[row])
    of_people = np.array([*(name == TASTE for name in parts), *[False] * (len(random) - len(parts))], bool)
    estimated = varied = _estimated(rows, of_people)
    more = [*random, *(varying[at] for at in others)]
    if others and dense_size(more) <= _DENSE:
        varied = _estimated(rows._replace(parts=more), np.zeros(len(more), bool))
    found, df, of_parts = estimated.at, estimated.df, dict(zip(parts, estimated.sizes.tolist(), strict=False))
    df[apart] = np.nan
    sds = dict(zip([*sided, *others], np.sqrt(varied.sizes[len(random) - len(sided) :]).tolist(), strict=False))
    if sided:
        of_parts[SIDE] = float(estimated.sizes[-1])
    slopes, strengths, covariance = None, found.strengths, found.covariance[:s, :s]
    if spread:
        slopes, shift, wider = _slopes(found, varied, spread, units, sds)
        strengths, covariance = strengths + shift, covariance + wider
    centred = strengths - strengths.mean()
    sides = np.concatenate([c.first, c.second])
    return Fit(
        c.systems,
        Levels(centred, covariance, df),
        of_parts | {RESIDUAL: _CHANCE},
        left_out,
        others=TASTE in parts,
        people=estimated.people,
        n=len(c),
        n_annotators=0 if c.annotator is None else int(c.annotator.max()) + 1,
        sizes=np.bincount(sides, minlength=s),
        confounded=confounded(c.annotator, ("prompt or session", c.context)),
        log_nu=found.eta,
        ties=float(estimated.sizes[len(parts)]) if ties else 0.0,
        note=note,
        slopes=slopes,
    )


def _covariates(c: Comparisons, weight: np.ndarray, left_out: dict[str, str]) -> tuple[np.ndarray, dict[str, float]]:
    """(n, k) covariates in units of their spread, and the spread of each. One that systems and the others before it
    determine is left out, with the reason."""
    n, s = len(c), len(c.systems)
    x = np.empty((n, len(c.covariates)))
    for column, (name, values) in zip(x.T, c.covariates.items(), strict=True):
        column[:] = 1.0 if name == SIDE else np.asarray(values, float)
    size = np.sqrt(weight @ x**2 / weight.sum())
    for name, of in zip(c.covariates, size, strict=True):
        if not np.isfinite(of):
            raise ValueError(f"covariate {name!r}: expected a number for each vote")
    x /= np.where(size > 0, size, 1.0)
    entries = np.repeat([1.0, -1.0], n), (np.tile(np.arange(n), 2), np.r_[c.first, c.second])
    sides = coo_array(entries, shape=(n, s)).tocsr()
    heavy = x * weight[:, None]
    met, gram = sides.T @ heavy, (sides.T @ sides.multiply(weight[:, None])).toarray()
    left = x.T @ heavy - met.T @ np.linalg.pinv(gram) @ met  # what systems do not say of covariates
    known, spread = list[int](), dict[str, float]()
    for i, name in enumerate(c.covariates):
        own = left[i, i] - left[i, known] @ np.linalg.pinv(left[np.ix_(known, known)]) @ left[known, i]
        if size[i] == 0 or own < 1e-6 * weight.sum():
            left_out[name] = "it is 0 in all votes" if size[i] == 0 else "systems and other covariates determine it"
            continue
        known.append(i)
        spread[name] = float(size[i])
    return x[:, known], spread


def _slopes(
    fixed: Integrated,
    varied: _Estimated,
    spread: Mapping[str, float],
    units: Iterable[str],
    sds: Mapping[tuple[str, str], float],
) -> tuple[Slopes, np.ndarray, np.ndarray]:
    """Of covariates in their own units; and by how much slopes that vary move strengths and widen their covariance.

    How strengths move with slopes follows from their covariance in the model in which slopes are the same everywhere
    (`fixed`). sds : by unit and name, of those in the other model.
    """
    unit, k = np.array([*spread.values()]), len(spread)
    crossing, own = fixed.slopes_covariance[:, k:], fixed.slopes_covariance[:, :k]
    pulled = np.linalg.solve(own, crossing - crossing.mean(axis=1, keepdims=True))
    estimates, wide = varied.at.slopes, varied.at.slopes_covariance[:, :k]
    varies = {by: np.array([sds.get((by, name), np.nan) for name in spread]) / unit for by in units}
    found = Slopes(
        tuple(spread),
        estimates / unit,
        np.sqrt(np.diag(wide)) / unit,
        varied.slopes_df,
        varies,
        estimates @ pulled,
        pulled.T @ wide @ pulled,
        unit,
    )
    return found, (estimates - fixed.slopes) @ pulled, pulled.T @ (wide - own) @ pulled


def outcomes(gap: np.ndarray, log_nu: float | np.ndarray) -> np.ndarray:
    """(3, n) chances that the stronger of two systems wins, ties and loses, by the difference of their strengths
    (Davidson 1970, equation 2.1)."""
    logs = np.stack([gap / 2, np.broadcast_to(log_nu, gap.shape), -gap / 2])
    chances: np.ndarray = np.exp(logs - logsumexp(logs, axis=0))
    return chances


def shown(fit: Fit, x: np.ndarray) -> np.ndarray:
    """Differences of levels as readers are told: of strengths, by how much more votes are won than lost."""
    if fit.log_nu is None:
        return x
    won, _, lost = outcomes(x, fit.log_nu)
    return np.asarray(won - lost)


def _parts(c: Comparisons, left_out: dict[str, str]) -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    """Random parts: name and the level of each side. What the design does not tell apart is noted in `left_out`."""
    seen, n = dict[str, np.ndarray](), len(c)
    for name, code, one in ((ANSWER, c.context, "context"), (TASTE, c.annotator, "annotator")):
        if code is None:
            left_out[name] = "who judged is not known"
            continue
        sides = np.concatenate([c.first, c.second])
        both = crossed(np.tile(code, 2), c.alike[sides] if name == TASTE and c.alike is not None else sides)
        a, b = both[:n], both[n:]
        same = next((other for other, of in seen.items() if _same(of, code)), None)
        if int(code.max()) == 0:
            left_out[name] = f"there is only one {one}"
        elif int(code.max()) + 1 == n:
            left_out[name] = f"each {one} has a single vote"
        elif int(both.max()) + 1 == 2 * n:
            left_out[name] = "each answer was judged once" if name == ANSWER else "each annotator saw a system once"
        elif int(both.max()) + 1 == len(c.systems):
            left_out[name] = f"each system has only one {one}"
        elif same:
            left_out[name] = f"the same as {same}"
        else:
            seen[name] = code
            yield name, (a, b)


def _ties_vary(c: Comparisons) -> bool:
    """Whether annotators may differ in how often they tie: several judged, and some votes are ties and some not."""
    return _several(c.annotator) and bool(np.any(c.score == 0) and np.any(c.score != 0))


def _several(annotator: np.ndarray | None) -> bool:
    """Whether there are annotators, and most with several votes."""
    return annotator is not None and 1 < int(annotator.max()) + 1 < len(annotator) / 2


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return int(crossed(a, b).max()) == int(a.max()) == int(b.max())


def _apart(c: Comparisons, weight: np.ndarray) -> tuple[np.ndarray, str]:
    """(s, s) which systems no chain of votes joins; and the note on what is assumed where strengths do not exist."""
    there = weight > 0
    pieces, piece, above = _joined(c.first[there], c.second[there], c.score[there], len(c.systems))
    what = ""
    if pieces > 1:
        what = "no votes join some systems with others"
    elif above > 1:
        what = "some systems never win against the others"
    elif not np.any(c.score):
        what = "every vote is a tie"
    note = f"{what}: strengths are taken as normal beforehand, with SD {_WEAK:g}" if what else ""
    return piece[:, None] != piece, note


def _joined(first: np.ndarray, second: np.ndarray, score: np.ndarray, systems: int) -> tuple[int, np.ndarray, int]:
    """How many groups of systems no votes join, the (s,) group of each, and how many of which some never win against
    the others."""
    won, lost = score >= 0, score <= 0
    rows, columns = np.r_[first[won], second[lost]], np.r_[second[won], first[lost]]
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(systems, systems)).tocsr()
    pieces, piece = connected_components(graph, directed=False)
    return pieces, piece, connected_components(graph, directed=True, connection="strong")[0]


class _Rows(NamedTuple):
    """What `PairedLaplace` and `LargeLaplace` take."""

    first: np.ndarray
    second: np.ndarray
    score: np.ndarray
    counts: np.ndarray
    systems: int
    parts: list[Part]
    ridge: float
    covariates: np.ndarray


class _Estimated(NamedTuple):
    """Variances of parts; the model with these; degrees of freedom of differences and of slopes, (s, s) and (c,); what
    annotators add to the variance of each difference."""

    variances: np.ndarray
    at: Integrated
    df: np.ndarray
    slopes_df: np.ndarray
    people: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """(parts,) variances with 0 for what stands for it."""
        return np.where(self.variances > _ZERO, self.variances, 0.0)


def _estimated(rows: _Rows, of_people: np.ndarray) -> _Estimated:
    """Where no dense matrix holds what is left, degrees of freedom are those at the weights that votes have in the
    model, and slopes have none. of_people : (parts,)."""
    s, c = rows.systems, rows.covariates.shape[1]
    if dense_size(rows.parts) > _DENSE:
        large = LargeLaplace(*rows)
        variances, gradient = _scored(large)
        gradients, more = [gradient], [large.gain]
        for step in np.diag(_moves(variances)):
            gradients.append(large.evaluate(variances + step)[0])
            more.append(large.gain)
        curvature = _curvature(gradients, variances)
        variances = _nearer(variances, np.array(more), curvature)
        large.evaluate(variances)
        at, added, slopes = large.covariance()
        base = of_pairs(at.covariance[:s, :s])
        people = sum((of_pairs(each) for each in added[of_people]), 0 * base)
        df = _degrees(np.array([of_pairs(each) / base for each in slopes]).reshape(len(variances), -1), curvature)
        return _Estimated(variances, at, _square(df, s), np.full(c, inf), people)

    def errors(at: Integrated) -> np.ndarray:
        """Variances of differences, and of slopes."""
        return np.append(of_pairs(at.covariance[:s, :s]), np.diag(at.slopes_covariance[:, :c]))

    model = PairedLaplace(*rows)
    variances = _best(model)
    steps = _moves(variances)
    at, *moved = (model.evaluate(variances + step) for step in (0, *np.diag(steps)))
    logs = [np.log(errors(up) / errors(at)) / step for up, step in zip(moved, steps, strict=True)]
    curvature = _curvature([at.gradient, *(up.gradient for up in moved)], variances)
    df = _degrees(np.array(logs).reshape(len(steps), len(errors(at))), curvature)
    gains = np.zeros(1 + len(steps))
    for i, of in enumerate((at, *moved)):
        if i == 0 or variances[i - 1] > _ZERO:
            at_step = variances + steps * (np.arange(1, len(gains)) == i)
            gains[i] = model.corrected(at_step).log_likelihood - of.log_likelihood
    variances = _nearer(variances, gains, curvature)
    found = model.corrected(variances)
    pairs = len(df) - c
    left = np.where(of_people, _VARIANCES[0], variances)
    without = model.corrected(left) if np.any(left < variances) else found
    people = np.maximum(errors(found) - errors(without), 0.0)[:pairs]
    return _Estimated(variances, found, _square(df[:pairs], s), df[pairs:], people)


def _nearer(variances: np.ndarray, gains: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """(parts,) variances a step nearer to those of the largest likelihood to the next order; 0 stays 0.

    The step is Newton's, in logarithms always less than 1: with few votes on a level it would lead too far. gains :
    (1 + parts,) what that order adds to the likelihood at the variances and with each of them moved (`_moves`).
    """
    some, out = variances > _ZERO, variances.copy()
    rises = (gains[1:] - gains[0]) / _moves(variances)
    relative = np.linalg.lstsq(curvature[np.ix_(some, some)], rises[some])[0] / variances[some]
    out[some] *= np.exp(relative / (1 + np.abs(relative)))
    return out


def _scored(model: LargeLaplace) -> tuple[np.ndarray, np.ndarray]:
    """Variances of largest integrated likelihood by Fisher scoring, where `model` then is, and the gradient there.
    Where the last step says more of how the likelihood bends, by that."""
    least, most = _VARIANCES
    variances = np.full(len(model.parts), _NEARER)
    before, last = variances, np.zeros(len(variances))
    for _ in range(_CLIMBS):
        gradient, bend = model.evaluate(variances)
        moved = variances - before
        seen = np.divide(last - gradient, moved, out=bend.copy(), where=moved != 0)
        step = gradient / np.clip(seen, bend, 4 * bend)
        new = np.maximum(variances + step, variances / 10)  # 0 only from near by
        new = np.where(new < _SMALL, least, np.minimum(new, most))
        if (new - variances) @ gradient < _GAIN:
            break
        before, last, variances = variances, gradient, new
    return variances, gradient


def _best(model: PairedLaplace) -> np.ndarray:
    """(parts,) variances of largest integrated likelihood; one at the least that is tried stands for 0."""
    logs = np.full(model.parts, log(_START))
    for _ in range(model.parts + 1):
        logs = _climb(model, logs)
        # by logarithms all slopes vanish towards 0, where a step that is too long may end
        small = logs < log(_SMALL)
        logs = np.where(small, log(_VARIANCES[0]), logs)
        if not small.any() or not (rises := small & (model.evaluate(np.exp(logs)).gradient > 0)).any():
            break
        logs[rises] = log(10 * _SMALL)
    return np.exp(logs)


def _climb(model: PairedLaplace, logs: np.ndarray) -> np.ndarray:
    """Log variances of a local maximum by the method of Broyden, Fletcher, Goldfarb and Shanno, with short steps: the
    likelihood is nearly linear far from its maximum."""

    def evaluate(logs: np.ndarray) -> tuple[float, np.ndarray]:
        at = model.evaluate(np.exp(logs))
        return at.log_likelihood, at.gradient * np.exp(logs)

    value, slope = evaluate(logs) if len(logs) else (0.0, logs)
    inverse = np.eye(len(logs)) / max(1.0, float(np.linalg.norm(slope)))
    for _ in range(_CLIMBS):
        step = inverse @ slope
        if step @ slope < _PRECISION and np.abs(slope).max(initial=0.0) < _FLAT:
            break
        step *= min(1.0, _LONGEST / np.abs(step).max())
        for _ in range(20):
            trial = np.clip(logs + step, *np.log(_VARIANCES))
            trial[trial < log(_SMALL)] = log(_VARIANCES[0])
            new, new_slope = evaluate(trial)
            if new > value - _PRECISION:
                break
            step /= 3
        else:
            break
        moved, bend = trial - logs, slope - new_slope
        if (along := float(moved @ bend)) > 1e-8:
            left = np.eye(len(logs)) - np.outer(moved, bend) / along
            inverse = left @ inverse @ left.T + np.outer(moved, moved) / along
        else:
            inverse *= 3
        gained, logs, value, slope = new - value, trial, new, new_slope
        if gained < _PRECISION / 100:
            break
    return logs


def _moves(variances: np.ndarray) -> np.ndarray:
    """(parts,) steps for derivatives by variances: to one side, as one may be 0."""
    return _STEP * (variances + _STEP)


def _curvature(gradients: Sequence[np.ndarray], variances: np.ndarray) -> np.ndarray:
    """(parts, parts) minus the Hessian of the integrated likelihood by variances, as far as it is positive. gradients :
    at the variances, and with each of them moved."""
    out = (gradients[0] - np.array(gradients[1:])) / _moves(variances)[:, None] if len(variances) else np.zeros((0, 0))
    values, vectors = np.linalg.eigh((out + out.T) / 2)
    positive: np.ndarray = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return positive


def _degrees(slopes: np.ndarray, information: np.ndarray) -> np.ndarray:
    """(q,) degrees of freedom, inf where variances do not matter.

    slopes : (parts, q) logarithmic gradient g of the variance of each quantity by the variances of parts. With V the
    covariance of these, the inverse of their information, the relative variance of a quantity's variance is g' V g.
    """
    values, vectors = np.linalg.eigh(information)
    known = values > 1e-8 * max(1.0, values.max(initial=0.0))
    along = vectors[:, known].T @ slopes
    with np.errstate(divide="ignore"):
        df: np.ndarray = 2 / (along**2 / values[known, None]).sum(axis=0)
    return df


def _square(pairs: np.ndarray, systems: int) -> np.ndarray:
    """(s, s) of what pairs have, inf on the diagonal."""
    first, second = np.triu_indices(systems, 1)
    out = np.full((systems, systems), inf)
    out[first, second] = out[second, first] = pairs
    return out
