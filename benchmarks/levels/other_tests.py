"""How often the tests of notebooks 08, 09, 10, 12 and 15 reject true nulls, and intervals of rare marks cover: writes
`other_tests.csv` beside this file.

    PYTHONPATH=src python benchmarks/levels/other_tests.py [--runs 1000] [--only groups metrics workers]

Every row is the share of runs in which p < 0.05 (or an annotator is flagged, or an interval covers). Of procedures that
are not used, or only as published, the note says so.

Columns: case, procedure, nominal, measured, mc_error (half of the 95% interval), n_runs, note, part (of `--only`). In
the file beside this one, rows of groups, workers and marks were run with other seeds and numbers of permutations.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from judgebook.questions.agreement import bounds
from judgebook.questions.agreement.coincidences import Patterns
from judgebook.questions.annotators.indicators import esd
from judgebook.questions.groups.effects import LabelScores
from judgebook.questions.groups.permutation_null import permutation_null
from judgebook.questions.metrics import differences as metrics
from judgebook.questions.metrics.items import ScoredItems
from judgebook.questions.quality_control.replication import Tally, differences, resampled, wald
from judgebook.questions.quality_control.worker_tests import rank_sum
from judgebook.statistics.permutation import sign_flip_test

ALPHA, N_PERMUTATIONS, TOGETHER = 0.05, 99, 200
SYSTEMS, EFFECTS = ("a", "b", "c"), np.array([0, 0.3, 0.6])
LIKERT, POLARISED, PEAKED = np.arange(1.0, 6.0), (0.4, 0.1, 0, 0.1, 0.4), (0, 0.1, 0.8, 0.1, 0)
Draw = Callable[[np.random.Generator], LabelScores]


def row(case: str, procedure: str, hits: np.ndarray, nominal: float = ALPHA, note: str = "") -> dict:
    share = float(np.mean(hits))
    error = 1.96 * np.sqrt(max(share * (1 - share), 1 / len(hits)) / len(hits))
    return {"case": case, "procedure": procedure, "nominal": nominal, "measured": round(share, 4),
            "mc_error": round(error, 4), "n_runs": len(hits), "note": note}  # fmt: skip


def zipf(k: int, total: int) -> np.ndarray:
    share = 1 / np.arange(1, k + 1)
    return np.maximum(1, np.round(total * share / share.sum())).astype(int)


# groups of annotators (notebook 08): both see the same differences between systems


def judged(group: str, system: np.ndarray, score: np.ndarray, annotator: np.ndarray | str) -> pd.DataFrame:
    item = [f"{group}{i:04d}" for i in range(len(score))]
    return pd.DataFrame(
        {"group": group, "system": np.array(SYSTEMS)[system], "score": score, "session": item, "item": item,
         "dialogue": item, "annotator": annotator, "annotator_known": True}
    )  # fmt: skip


def label(frames: list[pd.DataFrame], effect: str) -> LabelScores:
    key = ("main", "dialogue_likert", "quality")
    return LabelScores(key, pd.concat(frames, ignore_index=True), ["g1", "g2"], list(SYSTEMS), effect)


def apart(n: int, m: int, one: Callable, other: Callable, effect: str = "d") -> Draw:
    """n and m dialogues of each system, judged by one group only; the scores of a system by number."""

    def draw(rng: np.random.Generator) -> LabelScores:
        parts = [("g1", np.repeat(range(3), n), one), ("g2", np.repeat(range(3), m), other)]
        return label([judged(g, s, scores(rng, s), g) for g, s, scores in parts], effect)

    return draw


def normal(spread: tuple[float, ...]) -> Callable:
    return lambda rng, s: np.array(spread)[s] * rng.normal(size=len(s))


def same_effects(sd: float) -> Callable:
    return lambda rng, s: sd * (EFFECTS[s] + rng.normal(size=len(s)))


def likert(shares: tuple[float, ...]) -> Callable:
    return lambda rng, s: rng.choice(LIKERT, len(s), p=shares)


def marks(rate: float) -> Callable:
    return lambda rng, s: (rng.random(len(s)) < rate).astype(float)


def people(sizes: tuple[int, int], tastes: tuple[float, float], loads: str = "equal", per: int = 80) -> Draw:
    """`per` dialogues of each system and group, each judged by one annotator, who has tastes for systems."""

    def draw(rng: np.random.Generator) -> LabelScores:
        frames, s = [], np.repeat(range(3), per)
        for group, k, sd in zip(("g1", "g2"), sizes, tastes, strict=True):
            weight = {
                "equal": np.ones(k),
                "Zipf": 1 / np.arange(1, k + 1),
                "one": np.r_[7 / 3 * (k - 1), np.ones(k - 1)],
            }
            who, taste = rng.choice(k, 3 * per, p=weight[loads] / weight[loads].sum()), rng.normal(0, sd, (k, 3))
            score = EFFECTS[s] + taste[who, s] + rng.normal(size=3 * per)
            frames.append(judged(group, s, score, np.array([f"{group}_{i}" for i in who])))
        return label(frames, "d")

    return draw


def groups(runs: int) -> Iterator[dict]:
    cases = {
        "5 v 60 dialogues per system, SD of scores 2:1": apart(5, 60, same_effects(2), same_effects(1)),
        "5 v 60, polarised v peaked Likert": apart(5, 60, likert(POLARISED), likert(PEAKED)),
        "5 v 60, one system of one group varies twice as much": apart(5, 60, normal((1, 1, 2)), normal((1, 1, 1))),
        "10 v 60, marks at 30% v 10%": apart(10, 60, marks(0.3), marks(0.1), "h"),
        "10 v 60, marks at 10% v 30%": apart(10, 60, marks(0.1), marks(0.3), "h"),
    }
    for case, draw in cases.items():
        yield row(case, "groups, judgements permuted", _groups(draw, "judgement", runs))
    cases = {
        "3 v 8 annotators": people((3, 8), (0.5, 0.5)),
        "3 v 8, SD of tastes 2:1": people((3, 8), (0.8, 0.4)),
        "3 v 8, SD of tastes 3:1": people((3, 8), (0.9, 0.3)),
        "5 v 12, SD of tastes 3:1": people((5, 12), (0.9, 0.3)),
        "4 v 12, one of each group does 70%": people((4, 12), (0.5, 0.5), "one"),
    }
    for case, draw in cases.items():
        yield row(case, "groups, annotators permuted", _groups(draw, "annotator", runs))


def _groups(draw: Draw, exchange: str, runs: int) -> np.ndarray:
    p = []
    for i in range(runs):
        rows = permutation_null(
            draw(np.random.default_rng([1, i])), seed=i, exchange=exchange, n_permutations=N_PERMUTATIONS
        )
        p.append(next(r["p_value"] for r in rows if r["statistic"] == "group_difference_test"))
    return np.array(p) <= ALPHA


# two metrics (notebook 09), both with a rank correlation of .506 with people

OTHERS = {
    "like the first": lambda rng, q: 0.6 * q + 0.8 * rng.normal(size=q.shape),
    "right on 59% of items, else noise": lambda rng, q: np.where(
        rng.random(q.shape) < 0.587, q, rng.normal(size=q.shape)
    ),
    "two values": lambda rng, q: (0.906 * q + 0.423 * rng.normal(size=q.shape) > 1).astype(float),
}


def two_metrics(runs: int) -> Iterator[dict]:
    sizes = {f"{k} contexts of 4": np.full(k, 4) for k in (8, 40)}
    sizes |= {f"{k} contexts, Zipf sizes": zipf(k, 4 * k) for k in (40, 120)}
    for title, size in sizes.items():
        for other, draw in OTHERS.items():
            p = np.array([_metrics(np.random.default_rng([3, i]), size, draw) for i in range(runs)])
            for j, name in enumerate(("used", "swaps only", "Williams")):
                note = "" if not j else "not used by itself" if j == 1 else "assumes independent items; not used"
                yield row(f"{title}; second metric: {other}", f"two metrics, {name}", p[:, j] <= ALPHA, note=note)


def _metrics(rng: np.random.Generator, size: np.ndarray, draw: Callable) -> tuple[float, float, float]:
    context = np.repeat(range(len(size)), size)
    q, e = (np.sqrt(0.5) * (rng.normal(size=len(size))[context] + rng.normal(size=len(context))) for _ in "qe")
    human = np.clip(np.rint(3 + 1.2 * q + 0.6 * rng.normal(size=len(q))), 1, 5)
    x = np.column_stack([0.6 * q + 0.8 * e, draw(rng, q)])
    one = ScoredItems("main", "turn_rating", ["x", "y"], ["l"], x, human[:, None], context, "context")
    compared = metrics.compare(one, 0, [(0, 1)])
    if compared[0].reason:
        return 1.0, 1.0, 1.0
    swaps = metrics.permute(one, 0, [(0, 1)], compared, rng=rng, n_permutations=N_PERMUTATIONS)
    t = metrics.clustered_t(swaps.observed, *metrics.contributions(one, 0, [(0, 1)], compared))
    between = stats.spearmanr(x[:, 0], x[:, 1]).statistic
    return float(np.fmax(swaps.p_value, t)[0]), float(swaps.p_value[0]), williams(*compared[0].r, between, len(q))


def williams(r12: float, r13: float, r23: float, n: int) -> float:
    """Two-sided p-value of Williams' test for r12 = r13, two correlations that share variable 1: Steiger 1980,
    Psychological Bulletin 87, 245-251, eq. 7."""
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    squared = 2 * (n - 1) / (n - 3) * determinant + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3
    return float(2 * stats.t.sf(abs((r12 - r13) * np.sqrt((n - 1) * (1 + r23) / squared)), n - 3))


# workers (notebook 10)


def workers(runs: int) -> Iterator[dict]:
    for k, loads in ((6, "equal"), (10, "equal"), (20, "equal"), (20, "Zipf"), (200, "Zipf")):
        load, p = np.full(k, 6) if loads == "equal" else zipf(k, 6 * k), []
        for i in range(runs):
            rng = np.random.default_rng([1, i])
            n = np.stack([rng.binomial(load, 0.5), np.zeros(k)], axis=1)
            n[:, 1] = load - n[:, 0]
            total = n * rng.normal(0, 0.5, (k, 2)) + np.sqrt(n) * [2, 1] * rng.normal(size=(k, 2))
            t = Tally(
                [str(j) for j in range(k)], ["r"], ["a", "b"], ["l"], total[:, None, :, None], n[:, None, :, None]
            )
            gap = differences(t, "system_gap", [("a", "b")], overall=False)
            found = resampled(t, [gap], rng=rng, n_resamples=50)
            z = -np.abs(found["estimate"] / found["jackknife_error"]).iloc[0]
            p.append((wald(found).iloc[0], 2 * stats.norm.cdf(z)))
        case = f"{k} workers, {loads} loads, tastes, SD 2:1"
        for j, name in enumerate(("t over workers", "the same with normal quantiles")):
            yield row(case, f"two systems, {name}", np.array(p)[:, j] < ALPHA, note="not used" if j else "")
    rng, note = np.random.default_rng(2), "as published (Ji et al. 2022)"
    for share in (0.0, 0.3, 0.5):
        v = np.sqrt(share) * rng.normal(size=(runs, 6, 1)) + np.sqrt(1 - share) * rng.normal(size=(runs, 6, 6))
        first = np.tile(np.repeat(np.arange(6) == 0, 6), runs)
        p = rank_sum(np.repeat(range(runs), 36), first, np.rint(50 + 20 * v).ravel())["p_less"]
        case = f"worker rates 6 dialogues on 6 labels without telling the control, dialogues {share:.0%} of variance"
        yield row(case, "passes quality control", p.to_numpy() < ALPHA, note=note)
    for n, m, sd in ((60, 60, 2), (20, 60, 2)):
        v = np.r_[sd * rng.normal(size=(n, runs)), rng.normal(size=(m, runs))]
        found = rank_sum(np.repeat(range(runs), n + m), np.tile(np.arange(n + m) < n, runs), v.T.ravel())
        p = 2 * np.minimum(found["p_less"], found["p_greater"])
        yield row(f"{n} v {m} dialogues, SD {sd}:1", "two systems, rank-sum test", p.to_numpy() < ALPHA, note=note)


# preferences by prompt (notebook 12), flags (notebook 15), rare marks (notebook 03)


def prompts(runs: int) -> Iterator[dict]:
    rng = np.random.default_rng(1)
    for n in (10, 20, 60):
        for loads in ("equal", "Zipf"):
            k = np.full(n, 3) if loads == "equal" else zipf(n, 3 * n)
            for kind in ("symmetric", "few prompts strongly for one system"):
                p = []
                for _ in range(-(-runs // TOGETHER)):
                    lead = np.tanh(rng.normal(size=(n, TOGETHER)))
                    if kind != "symmetric":
                        lead = np.where(rng.random((n, TOGETHER)) < 0.1, -0.9, 0.1)
                    won = rng.binomial(np.broadcast_to(k[:, None], lead.shape), (1 + lead) / 2)
                    p.append(sign_flip_test(2 * won - k[:, None], rng=rng, n_permutations=999).p_value)
                case = f"{n} prompts, {loads} numbers of judgements, {kind}"
                yield row(case, "preferences, signs of prompts flipped", np.concatenate(p) < ALPHA)


def flags(runs: int) -> Iterator[dict]:
    rng = np.random.default_rng(4)
    for n in (5, 14, 60):
        for title, draw in {"normal": rng.normal, "t with 10 df": lambda size: rng.standard_t(10, size)}.items():
            hits = [np.nanmin(esd(draw(size=n))) < ALPHA for _ in range(runs)]
            note = "" if title == "normal" else "annotators who differ with heavier tails: outliers, not chance"
            yield row(f"{n} annotators, differences {title}", "someone is flagged", np.array(hits), note=note)


def rare_marks(runs: int) -> Iterator[dict]:
    slips = [
        (400, 5, 0.02, 0.8, 0.03),
        (1000, 5, 0.01, 0.9, 0.01),
        (1000, 5, 0.02, 0.7, 0.02),
        (400, 3, 0.03, 0.8, 0.01),
    ]
    cases = []
    for n, m, rate, clear, slip in slips:
        k = np.arange(m + 1)
        p = rate * stats.binom.pmf(k, m, clear) + (1 - rate) * stats.binom.pmf(k, m, slip)
        cases.append(
            (f"{n} items, {m} raters mark {clear:.0%} of {rate:.0%} and slip on {slip:.0%} of the others", n, p)
        )
    for n, m, pi, rho in ((100, 3, 0.05, 0.3), (400, 5, 0.02, 0.1)):
        p = stats.betabinom.pmf(range(m + 1), m, pi * (1 - rho) / rho, (1 - pi) * (1 - rho) / rho)
        cases.append((f"{n} items, {m} raters, beta-binomial marks at {pi:.0%}, alpha {rho}", n, p))
    for case, n, p in cases:
        held = np.array(_rare(np.random.default_rng(5), n, p, runs))
        for j, name in enumerate(("likelihood or jackknife", "likelihood")):
            note = "not used by itself" if j else ""
            yield row(case, f"95% CI of alpha of rare marks, {name}", held[:, j], 0.95, note)


def _rare(rng: np.random.Generator, n: int, p: np.ndarray, runs: int) -> Iterator[tuple[bool, bool]]:
    m = len(p) - 1
    k, out = np.arange(m + 1), []
    mean = p @ k / m
    truth = 1 - p @ (k * (m - k)) / (m * (m - 1)) / (mean * (1 - mean))
    for counts in rng.multinomial(n, p / p.sum(), size=runs):
        here = np.flatnonzero(counts)
        items = Patterns(np.array([0.0, 1.0]), np.stack([m - here, here], axis=1), counts[here], np.arange(0))
        if bounds.is_degenerate(items) and counts[1:].any():
            how = {"unit": "item", "clusters": None, "mirrored": False, "confidence": 0.95}
            both = bounds.degenerate(items, "nominal", ["alpha"], **how)["alpha"]
            region = bounds.likelihood_region(here, np.full(len(here), m), counts[here], counts[1:].sum(), 0.95)
            low, high = bounds.likelihood_ends(region, counts @ k / (n * m))["alpha"]
            out.append((both.low <= truth <= both.high, min(low, both.estimate) <= truth <= max(high, both.estimate)))
    return out


PARTS = {"groups": groups, "metrics": two_metrics, "workers": workers, "prompts": prompts, "flags": flags,
         "marks": rare_marks}  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--only", nargs="*", default=list(PARTS), choices=list(PARTS))
    given = parser.parse_args()
    path = Path(__file__).with_suffix(".csv")
    for part in given.only:
        rows = pd.DataFrame(PARTS[part](given.runs)).assign(part=part)
        if path.exists():  # the other parts stay
            old = pd.read_csv(path, keep_default_na=False)
            rows = pd.concat([old[old["part"] != part], rows])
        rows.sort_values("part", key=lambda x: x.map(list(PARTS).index), kind="stable").to_csv(path, index=False)
