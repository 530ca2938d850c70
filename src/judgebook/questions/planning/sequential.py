"""Testing more than once while data come in: boundaries that keep the type I error rate (alpha spending).

With information t between 0 and 1 at each look, the test statistic behaves like a Brownian motion divided by the square
root of t. The share of alpha spent until t is fixed beforehand; each boundary spends what has become available since
the look before. The probability of crossing is found by numerical integration from look to look (Armitage, McPherson
and Rowe 1969).

References
----------
Lan and DeMets 1983, Biometrika 70, 659-663.
Armitage, McPherson and Rowe 1969, Journal of the Royal Statistical Society A 132, 235-244.
Jennison and Turnbull 2000, Group Sequential Methods, chapters 2, 7 and 19.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

#: nodes of the integration between two boundaries: with 200 the boundaries no longer change in the sixth decimal
NODES = 200
_X, _W = np.polynomial.legendre.leggauss(NODES)
#: a boundary beyond this is never crossed: its two-sided p-value is below 1e-15
NEVER = 8.0


def spent(t: np.ndarray | float, alpha: float = 0.05) -> np.ndarray:
    """Two-sided alpha spent until information `t` (Lan and DeMets 1983, section 2, for each side alpha / 2), hardly any
    of it early: boundaries resemble those of O'Brien and Fleming.

    Raises ValueError for t outside 0 to 1.
    """
    t = np.asarray(t, dtype=float)
    if np.any((t <= 0) | (t > 1)):
        raise ValueError(f"expected information above 0 and at most 1, found {t}")
    return np.asarray(4 * ndtr(-ndtri(1 - alpha / 4) / np.sqrt(t)))


def boundaries(information: Sequence[float], alpha: float = 0.05) -> np.ndarray:
    """(looks,) absolute z values beyond which the test at each look is significant, two-sided.

    information : share of the final sample at each look, ascending, the last 1.

    Raises ValueError where it is not.
    """
    t = np.asarray(information, dtype=float)
    if t.ndim != 1 or len(t) == 0 or t[-1] != 1 or np.any(np.diff(t) <= 0):
        raise ValueError(f"expected ascending shares of the final sample that end with 1, found {list(information)}")
    available = np.diff(spent(t, alpha), prepend=0.0)
    walk, out = _Walk(), []
    for now, share in zip(t, available, strict=True):
        step = walk.step(now)
        if step(NEVER) >= share:
            out.append(NEVER)
        else:
            out.append(brentq(lambda z, step=step, share=share: step(z) - share, 0.0, NEVER, xtol=1e-10))
        walk.survive(out[-1], now)
    return np.array(out)


def crossing(information: Sequence[float], limits: Sequence[float] | np.ndarray, drift: float = 0.0) -> np.ndarray:
    """(looks,) probability that a boundary is crossed for the first time at each look, on either side.

    drift : expected z at the end; 0 where systems do not differ.
    """
    walk, out = _Walk(drift), []
    for now, limit in zip(information, limits, strict=True):
        out.append(walk.step(now)(limit))
        walk.survive(limit, now)
    return np.array(out)


def drift_for(power: float, information: Sequence[float], limits: Sequence[float] | np.ndarray) -> float:
    """The drift with which a boundary is crossed with probability `power` at one of the looks."""
    return float(brentq(lambda d: crossing(information, limits, d).sum() - power, 1e-6, 20.0, xtol=1e-8))


def inflation(
    power: float, information: Sequence[float], limits: Sequence[float] | np.ndarray, alpha: float = 0.05
) -> float:
    """How many times the sample of a single test a sequential design needs at most, for equal power."""
    return (drift_for(power, information, limits) / drift_for(power, [1.0], [float(ndtri(1 - alpha / 2))])) ** 2


class _Walk:
    """The sum that z at information t is, S = z sqrt(t), among the studies that have not stopped yet.

    `at` are nodes of Gauss and Legendre between the last boundaries, `mass` weight times density there.
    """

    def __init__(self, drift: float = 0.0):
        self.drift, self.t = drift, 0.0
        self.at, self.mass = np.zeros(1), np.ones(1)

    def step(self, now: float) -> Callable[[float], float]:
        """The probability of crossing +-z at information `now`, as a function of z."""
        sd, mean = np.sqrt(now - self.t), self.at + self.drift * (now - self.t)

        def outside(z: float) -> float:
            edge = z * np.sqrt(now)
            return float(self.mass @ (ndtr((mean - edge) / sd) + ndtr((-edge - mean) / sd)))

        return outside

    def survive(self, z: float, now: float) -> None:
        """Go on with the studies inside +-z at information `now`."""
        sd, mean = np.sqrt(now - self.t), self.at + self.drift * (now - self.t)
        edge = z * np.sqrt(now)
        at = edge * _X
        density = np.exp(-0.5 * ((at[:, None] - mean) / sd) ** 2) / (sd * np.sqrt(2 * np.pi)) @ self.mass
        self.at, self.mass, self.t = at, edge * _W * density, now
