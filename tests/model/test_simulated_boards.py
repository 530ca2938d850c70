"""Boards with known truth: strengths and slopes are covered, hardly shrunk, and rarely wrong."""

import numpy as np
import pytest
from scipy.stats import t

from judgebook.model.comparisons import Comparisons, fit

#: what is unlike 8 systems with 1,500 votes of 30 annotators on answers to 40 prompts, a tenth of them ties, where the
#: first side and longer answers are preferred, and better systems write more
DESIGNS = {
    "like that": {},
    "nothing but systems": {"side": 0, "length": 0, "sides": 0, "longer": 0},
    "better is much longer": {"longer": 3},
    "large effects": {"side": 1, "length": 0.8, "answer": 1, "taste": 0.8},
    "effects vary": {"varies": 0.3},
    "eight prompts": {"contexts": 8},
    "many prompts": {"contexts": 400},
    "kinds of prompts": {"kinds": 0.5},
    "four annotators": {"annotators": 4},
    "uneven loads": {"uneven": True},
    "some always choose a side": {"bad": 4},
    "no ties": {"nu": 0},
    "many ties": {"nu": 3},
    "long tails": {"tails": True},
    "a third of the votes": {"n": 500},
    "two votes on an answer": {"n": 400, "contexts": 100, "s": 4, "annotators": 20},
    "a new system": {"new": True},
    "two groups never meet": {"groups": True},
    "four systems": {"s": 4},
    "two systems": {"s": 2, "n": 300, "contexts": 30, "annotators": 10},
}


def drawn(seed, *, s=8, n=1500, contexts=40, annotators=30, answer=0.6, taste=0.4, sides=0.4, nu=0.7, **unlike):
    rng, of = np.random.default_rng(seed), {"side": 0.3, "length": 0.3, "longer": 1, "varies": 0, "kinds": 0, "bad": 0}
    of |= unlike
    x, share = np.linspace(-0.6, 0.6, s), np.where(np.arange(s) == s - 1, 0.1 if "new" in of else 1.0, 1.0)
    first, second = rng.choice(s, (2, 4 * n), p=share / share.sum())
    meet = (first != second) & ((first % 2 == second % 2) | ("groups" not in of))
    first, second = first[meet][:n], second[meet][:n]
    n = len(first)
    context = rng.integers(contexts, size=n)
    annotator = (annotators * rng.random(n) ** (2 if "uneven" in of else 1)).astype(int)
    noise = rng.standard_t(4, (contexts, s)) / np.sqrt(2) if "tails" in of else rng.normal(size=(contexts, s))
    kind = of["kinds"] * rng.normal(size=(4, s))
    a = answer * noise + (kind - kind.mean(axis=0))[np.arange(contexts) % 4]
    b = taste * rng.normal(size=(annotators, s))
    length = of["longer"] * x + rng.normal(size=(contexts, s))
    longer = length[context, first] - length[context, second]
    by_context, by_annotator = (of["varies"] * rng.normal(size=(k, 2)) for k in (contexts, annotators))
    slopes = np.array([of["side"], of["length"]]) + by_context[context] + by_annotator[annotator]
    d = slopes[:, 0] + sides * rng.normal(size=annotators)[annotator] + slopes[:, 1] * longer
    for side, sign in ((first, 1), (second, -1)):
        d += sign * (x[side] + a[context, side] + b[annotator, side])
    d += 5.0 * (annotator < of["bad"])
    weights = np.column_stack([np.exp(-d / 2), np.full(n, nu), np.exp(d / 2)])
    chance = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    score = (rng.random(n)[:, None] > chance).sum(axis=1) - 1
    codes = (np.unique(v, return_inverse=True)[1] for v in (context, annotator))
    covariates = {"side": np.ones(n), "length": longer}
    c = Comparisons(tuple(f"s{i}" for i in range(s)), first, second, score, *codes, covariates=covariates)
    return c, x, np.array([of["side"], of["length"]])


@pytest.mark.evidence
def test_simulated_boards():
    """Coverage of pairs and slopes, boards with any wrong interval of all pairs at once, shift towards 0 in errors."""
    every = []
    for name, design in DESIGNS.items():
        of_design = []
        for seed in range(20):
            c, x, slopes = drawn([seed, len(name)], **design)
            found = fit(c)
            d = found.levels.differences()
            known = ~np.isnan(d.df)
            gap = (d.estimate - (x[d.first] - x[d.second]))[known]
            alone = np.abs(gap) <= t.ppf(0.975, d.df[known]) * d.se[known]
            wrong = np.any(np.abs(gap) > (d.high - d.low)[known] / 2)
            towards = (gap / d.se[known] * np.sign(x[d.first] - x[d.second])[known]).mean()
            covered = np.abs(found.slopes.estimates - slopes) <= found.slopes.half_widths(0.95)
            of_design.append([alone.mean(), wrong, towards, *(covered if "bad" not in design else [True, covered[1]])])
        every.append(np.mean(of_design, axis=0))
        print(f"{name:26}", *np.round(every[-1], 3), flush=True)
    pairs, wrong, towards, side, length = np.mean(every, axis=0)
    assert 0.935 <= pairs <= 0.97
    assert wrong <= 0.065
    assert abs(towards) <= 0.1
    assert np.min(every, axis=0)[0] >= 0.9
    assert min(side, length) >= 0.925
