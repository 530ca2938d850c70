"""How many dialogues, annotators and labels does the next study need? The results of notebook 14.

A study serves as the pilot: the fit of each label determines how precisely another design measures the difference
between two systems, which true difference it finds with the wanted power, and at what cost (`model.designs`). The
difference worth finding is an input, never the one observed; what would tell the first system from the second is given
beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from judgebook.model import designs
from judgebook.model.designs import MOST, Design
from judgebook.questions.performance.fitted import MOST as FAR
from judgebook.questions.planning.pilot_study import UNPRICED, Pilot, PlanningInput
from judgebook.questions.planning.question import Planning
from judgebook.questions.planning.split import budget_rows
from judgebook.study.labels import METHODS
from judgebook.study.results import Results, collect

ALPHA = 0.05
#: equally spaced looks at the data, the last one included
LOOKS = 5
#: nodes of the integration between two boundaries: with 200 the boundaries no longer change in the sixth decimal
NODES = 200
_X, _W = np.polynomial.legendre.leggauss(NODES)
#: a boundary beyond this is never crossed: its two-sided p-value is below 1e-15
NEVER = 8.0
NOT_FOUND = "no difference that the scale allows is found with this power"


def analyse(data: PlanningInput, options: Planning, *, confidence: float, seed: int) -> Results:
    """All results of notebook 14.

    `pilot_variance`, `planned_difference` (the one worth finding), `plan_detectable` and `plan_cost` by design,
    `plan_dialogues` (the cheapest design that finds the difference;
    the cheapest that tells the first system from the second; within the budget, the best), `sequential_boundary`. Where
    models judged, too, those of `split.budget_rows`; without a budget, what the cheapest design costs that finds the
    difference on the neediest label.
    """
    rows: list[dict] = []
    budgets: dict[str, float] = {}
    for pilot in data.pilots:
        head = {"method": pilot.method, "label": pilot.label, "level": METHODS[pilot.method].unit}
        best = cheapest([pilot], [data.wanted(pilot)], data, options, confidence)
        considered = [*pilot_variances(pilot), *_designs(pilot, data, options, confidence)]
        rows += [head | row for row in (*considered, *_chosen(pilot, best, data, options, confidence))]
        prices = data.prices.get(pilot.method)
        cost = prices.cost(best, pilot.pairwise) if prices and best else 0.0
        if budget := options.budget or cost:
            budgets[pilot.method] = max(budgets.get(pilot.method, 0.0), budget)
    rows += _looks()
    rows += budget_rows(data, options, budgets)
    common = {"corpus": data.corpus, "group": data.group, "seed": seed}
    return collect(common | row for row in rows)


def pilot_variances(pilot: Pilot) -> Iterator[dict[str, Any]]:
    """Variances of the parts of the fit."""
    for part, value in pilot.variance.items():
        row = {"statistic": "pilot_variance", "part": part, "estimate": value, "n": pilot.n_dialogues}
        yield row | {"n_annotators": pilot.fit.n_annotators or None}


def per_dialogue(pilot: Pilot, options: Planning) -> Sequence[int]:
    """Numbers of annotators per dialogue that are considered: where no dialogue was judged twice, one, because what a
    second annotator adds is unknown; of comparisons as many as in the pilot."""
    if pilot.pairwise:
        return (max(1, round(pilot.each)),)
    most = options.annotators or max(options.per_dialogue)
    return [m for m in options.per_dialogue if m <= most] if pilot.judged_twice else (1,)


def cheapest(
    pilots: Sequence[Pilot], wanted: Sequence[float], data: PlanningInput, options: Planning, confidence: float
) -> Design | None:
    """The cheapest design that finds the wanted difference on every one of these labels of a method."""
    prices, one = data.prices.get(pilots[0].method) or UNPRICED, pilots[0]
    if any(difference >= pilot.widest for pilot, difference in zip(pilots, wanted, strict=True)):
        return None

    def enough(design: Design) -> bool:
        return all(
            designs.found(pilot.fit, design, options.power, confidence) <= difference
            for pilot, difference in zip(pilots, wanted, strict=True)
        )

    each = [m for m in per_dialogue(one, options) if all(m in per_dialogue(p, options) for p in pilots)]
    return designs.cheapest(enough, lambda n, m: data.design(one, n, m), each, lambda d: prices.cost(d, one.pairwise))


def _affordable(pilot: Pilot, budget: float, data: PlanningInput, options: Planning) -> Design | None:
    """The design within the budget that finds the smallest difference; None where it pays for fewer than two dialogues
    per system."""
    prices, affordable = data.prices[pilot.method], []
    assert prices is not None
    for m in per_dialogue(pilot, options):
        one = prices.cost(data.design(pilot, 1, m), pilot.pairwise)
        n = int(budget / one * (1 + 1e-9)) if one > 0 else 0  # a budget that pays for n exactly, in spite of rounding
        affordable += [data.design(pilot, n, m)] if n >= 2 else []
    return min(affordable, key=lambda design: designs.error(pilot.fit, design)[0], default=None)


def _keys(design: Design) -> dict[str, Any]:
    people = int(design.annotators) if np.isfinite(design.annotators) else None
    each = int(design.per_dialogue)
    return {"n_dialogues": int(design.dialogues), "annotators_per_dialogue": each, "annotators": people}


def _found(pilot: Pilot, design: Design, options: Planning, confidence: float) -> dict[str, Any]:
    """`plan_detectable`, with the interval that the pilot leaves (`designs.precision`)."""
    row = {"statistic": "plan_detectable", **_keys(design), "power": options.power}
    value = designs.found(pilot.fit, design, options.power, confidence)
    if value >= pilot.widest:
        return row | {"estimate": np.nan, "ci_kind": "not_estimable", "note": NOT_FOUND}
    low, high = (value * factor for factor in designs.precision(pilot.fit, confidence))
    known = {"ci_low": low, "ci_high": high, "ci_kind": "chi2"} if np.isfinite(low) else {"ci_kind": "not_estimable"}
    return row | {"estimate": value, **known}


def _cost(pilot: Pilot, design: Design, data: PlanningInput) -> Iterator[dict[str, Any]]:
    if prices := data.prices.get(pilot.method):
        for resource, amount in {"hours": prices.hours, "money": prices.cost}.items():
            row = {"statistic": "plan_cost", **_keys(design), "resource": resource}
            yield row | {"estimate": amount(design, pilot.pairwise)}


def _designs(pilot: Pilot, data: PlanningInput, options: Planning, confidence: float) -> Iterator[dict[str, Any]]:
    """The designs of the map."""
    yield {"statistic": "planned_difference", "estimate": data.wanted(pilot)}
    for m in per_dialogue(pilot, options):
        for n in options.dialogues:
            design = data.design(pilot, n, m)
            yield _found(pilot, design, options, confidence)
            yield from _cost(pilot, design, data)


def _chosen(
    pilot: Pilot, best: Design | None, data: PlanningInput, options: Planning, confidence: float
) -> Iterator[dict[str, Any]]:
    """The cheapest design, the one that tells the first from the second, and the best one within the budget."""
    wanted, none = data.wanted(pilot), f"not even {MOST:,} dialogues suffice"
    too_large = f"the difference is too large for the scale (limit: {pilot.widest:g})"
    chosen = {"cheapest": (best, too_large if wanted >= pilot.widest else none)}
    if pilot.lead > 0:
        apart, most = cheapest([pilot], [pilot.lead], data, options, confidence), FAR * pilot.n_dialogues
        groups = data.n_systems * (data.n_systems - 1) / 2 if pilot.pairwise else data.n_systems
        near = apart is not None and apart.dialogues * groups <= most
        chosen["separate"] = apart if near else None, f"more than {FAR} times the dialogues of this study"
    if options.budget is not None and data.prices.get(pilot.method):
        chosen["budget"] = _affordable(pilot, options.budget, data, options), "the budget is too small"
    for aim, (design, why) in chosen.items():
        row = {"statistic": "plan_dialogues", "aim": aim}
        if design is None:
            yield row | {"estimate": np.nan, "note": why}
            continue
        keys = {k: v for k, v in _keys(design).items() if k != "n_dialogues"}
        yield row | keys | {"estimate": design.dialogues}
        yield _found(pilot, design, options, confidence) | {"aim": aim}
        yield from (one | {"aim": aim} for one in _cost(pilot, design, data))


def _looks() -> Iterator[dict[str, Any]]:
    """The boundaries that end a study early, with the p-values they stand for."""
    shares = [(i + 1) / LOOKS for i in range(LOOKS)]
    for at, value in zip(shares, boundaries(shares, ALPHA), strict=True):
        row = {"statistic": "sequential_boundary", "looks": "obrien_fleming", "share": f"{at:g}", "estimate": value}
        yield row | {"p_value": float(2 * ndtr(-value))}


def spent(t: np.ndarray | float, alpha: float = ALPHA) -> np.ndarray:
    """Two-sided alpha spent until information `t`, hardly any of it early: boundaries resemble those of O'Brien and
    Fleming.

    Raises ValueError for t outside 0 to 1.

    References
    ----------
    Lan and DeMets 1983, Biometrika 70, 659-663, section 2 (for each side alpha / 2).
    """
    t = np.asarray(t, dtype=float)
    if np.any((t <= 0) | (t > 1)):
        raise ValueError(f"expected information above 0 and at most 1, found {t}")
    return np.asarray(4 * ndtr(-ndtri(1 - alpha / 4) / np.sqrt(t)))


def boundaries(information: Sequence[float], alpha: float = ALPHA) -> np.ndarray:
    """(looks,) absolute z values beyond which the test at each look is significant, two-sided.

    With information t at each look, the test statistic behaves like a Brownian motion divided by the square root of t.
    Each boundary spends what has become available of alpha since the look before; the probability of crossing is found
    by numerical integration from look to look. information : share of the final sample at each look, ascending, the
    last 1.

    Raises ValueError where it is not.

    References
    ----------
    Armitage, McPherson and Rowe 1969, Journal of the Royal Statistical Society A 132, 235-244.
    Jennison and Turnbull 2000, Group Sequential Methods, chapters 2, 7 and 19.
    """
    t = np.asarray(information, dtype=float)
    if t.ndim != 1 or len(t) == 0 or t[-1] != 1 or np.any(np.diff(t) <= 0):
        raise ValueError(f"expected ascending shares of the final sample that end with 1, found {list(information)}")
    # the sum z sqrt(t) of the studies that have not stopped: nodes between the last boundaries, weight times density
    at, mass, before, out = np.zeros(1), np.ones(1), 0.0, []
    for now, share in zip(t, np.diff(spent(t, alpha), prepend=0.0), strict=True):
        sd = np.sqrt(now - before)
        given = (at, mass, now, sd, share)
        out.append(NEVER if _overspent(NEVER, *given) >= 0 else brentq(_overspent, 0.0, NEVER, given, xtol=1e-10))
        edge = out[-1] * np.sqrt(now)
        density = np.exp(-0.5 * (((edge * _X)[:, None] - at) / sd) ** 2) / (sd * np.sqrt(2 * np.pi)) @ mass
        at, mass, before = edge * _X, edge * _W * density, now
    return np.array(out)


def _overspent(z: float, at: np.ndarray, mass: np.ndarray, now: float, sd: float, share: float) -> float:
    """The probability of crossing +-z at information `now`, less the share of alpha that may be spent."""
    edge = z * np.sqrt(now)
    return float(mass @ (ndtr((at - edge) / sd) + ndtr((-edge - at) / sd))) - share
