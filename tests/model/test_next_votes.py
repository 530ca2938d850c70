"""Votes that accumulate: what holds at every look, and which pairs are compared next, against simulated boards."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from judgebook.model.calling import FitError, fit
from judgebook.model.comparisons import Comparisons, outcomes
from judgebook.model.comparisons import fit as fit_votes
from judgebook.model.contrasts import Levels
from judgebook.model.every_look import boundary, contenders, halves
from judgebook.model.next_votes import allocate, information

LOOKS = 50


@dataclass
class Board:
    """Voters of systems with known strengths. answer, taste : SD of effects. nu : of ties. each : votes of a voter and
    on a prompt; of 1, a vote is by a new voter on a new prompt."""

    strengths: list[float]
    answer: float = 0.0
    taste: float = 0.0
    nu: float = 0.5
    each: int = 1
    seed: int = 0
    rows: list[np.ndarray] = field(default_factory=list)

    def __post_init__(self):
        self.rng, self.x = np.random.default_rng(self.seed), np.array(self.strengths)
        self.pairs = np.triu_indices(len(self.x), 1)

    def vote(self, votes):
        """votes : (pairs,) how many on each."""
        first, second = (np.repeat(one, votes) for one in self.pairs)
        n, people = len(first), self.rng.permutation(len(first)) // self.each
        prompts = self.rng.permutation(n) // self.each
        a, t = (sd * self.rng.normal(size=(n, len(self.x))) for sd in (self.answer, self.taste))
        x = self.x + a[prompts] + t[people]
        chance = outcomes(x[np.arange(n), first] - x[np.arange(n), second], np.log(self.nu)).cumsum(axis=0)
        score = 1 - (self.rng.random(n) > chance).sum(axis=0)
        self.rows.append(np.stack([first, second, score, prompts + self.n, people + self.n]))

    def equally(self, n):
        """Equally many of each pair, but for what is left over."""
        m = len(self.pairs[0])
        return n // m + (self.rng.permutation(m) < n % m)

    @property
    def n(self):
        return sum(rows.shape[1] for rows in self.rows)

    def fit(self):
        first, second, score, prompts, people = np.concatenate(self.rows, axis=1)
        codes = (np.unique(c, return_inverse=True)[1] for c in (prompts, people))
        names = tuple(f"s{i:02}" for i in range(len(self.x)))
        return fit_votes(Comparisons(names, first, second, score, *codes))

    def until_known(self, chosen, most=200_000):
        """Votes until one system alone may be the best, a tenth more at each look, and whether it is. chosen : whether
        pairs are."""
        self.vote(self.equally(max(len(self.pairs[0]), 60)))
        while (may := contenders((found := self.fit()).levels)).sum() > 1 and self.n < most:
            more = max(20, self.n // 10)
            self.vote(allocate(found, more) if chosen else self.equally(more))
        return self.n, bool(may[self.x.argmax()])


def some_of(seed, s, spread):
    return (spread * np.random.default_rng(seed).normal(size=s)).tolist()


#: strengths; SDs of answers and tastes; ties; votes of each voter and prompt
DESIGNS = {
    "4, far apart": ([0.0, 0.4, 0.8, 1.2],),
    "4, two close": ([0.0, 0.2, 0.9, 1.2],),
    "4, others equal": ([0.0, 0.0, 0.0, 0.4],),
    "4, others equal, no ties": ([0.0, 0.0, 0.0, 0.4], 0.0, 0.0, 1e-9),
    "5, all close": ([0.0, 0.05, 0.1, 0.15, 0.4],),
    "6, even": ([0.0, 0.3, 0.6, 0.9, 1.2, 1.5],),
    "6, two close": ([0.0, 0.0, 0.0, 0.0, 0.7, 1.0],),
    "6, prompts vary": ([0.0, 0.3, 0.6, 0.9, 1.2, 1.5], 1.0, 0.0, 0.5),
    "6, voters vary": ([0.0, 0.3, 0.6, 0.9, 1.2, 1.5], 0.0, 1.0, 0.5),
    "6, many ties": ([0.0, 0.3, 0.6, 0.9, 1.2, 1.5], 0.3, 0.3, 3.0),
    "8, wide": (np.linspace(0, 3, 8).tolist(), 0.7, 0.5),
    "8, three close": ([0.0, 0.1, 0.2, 0.3, 0.4, 0.9, 0.9, 1.3], 0.5, 0.5),
    "10, even": (np.linspace(0, 2.25, 10).tolist(), 0.5, 0.5),
    "10, others equal": ([0.0] * 9 + [0.5],),
    "12, others equal, prompts vary": ([0.0] * 11 + [0.6], 1.0, 0.5),
    "15, one ahead": ([*some_of(1, 14, 0.6), 1.6], 0.3, 0.3),
    "20, drawn": (some_of(3, 20, 0.7), 0.3, 0.3),
    "30, even": (np.linspace(0, 6, 30).tolist(), 0.5, 0.0),
    "4, voters and prompts again": ([0.0, 0.3, 0.6, 1.5], 0.5, 0.5, 0.5, 5),
    "5, voters and prompts again": ([0.0, 0.5, 0.9, 1.1, 2.0], 0.4, 0.6, 0.5, 4),
}


def needed(name, boards):
    """(2, boards) votes with equal and with chosen pairs, and shares of boards with the best among the rest."""
    ran = [[Board(*DESIGNS[name], seed=i).until_known(chosen) for i in range(boards)] for chosen in (False, True)]
    votes, right = np.moveaxis(np.array(ran, float), 2, 0)
    return votes, right.mean(axis=1)


@pytest.mark.parametrize(("name", "most"), [("4, two close", 0.9), ("6, prompts vary", 0.7)])
def test_chosen_pairs_need_fewer_votes(name, most):
    votes, right = needed(name, 3)
    assert votes[1].sum() <= most * votes[0].sum()
    assert right.min() == 1


@pytest.mark.evidence
def test_of_twenty_designs_most_need_seven_tenths_of_the_votes_and_none_more_than_equal_pairs():
    share, right = {}, []
    for name, design in DESIGNS.items():
        votes, known = needed(name, 20 if len(design) < 5 else 8)
        share[name] = votes[1].mean() / votes[0].mean()
        right.append(known)
        print(f"{name:32}{votes[0].mean():9,.0f}{votes[1].mean():9,.0f}{share[name]:7.2f}  {known}", flush=True)
    assert sum(s <= 0.7 for s in share.values()) >= 10
    assert max(share.values()) <= 1.1
    assert np.mean(right, axis=0).min() >= 0.95


@pytest.mark.parametrize("se", [0.02, 0.3, 2.0])
@pytest.mark.parametrize("error", [0.05, 1e-4])
def test_at_the_boundary_the_mixture_is_as_much_likelier_than_the_truth_as_errors_are_rare(se, error):
    estimate, typical = se * boundary(np.array(se), error, 0.4), 0.4

    def ratio(x):
        return norm.pdf(estimate, x, se) / norm.pdf(estimate, 0, se) * norm.pdf(x, 0, typical)

    value = quad(ratio, -8, 8, points=[estimate], limit=400)[0]
    assert value == pytest.approx(1 / error, rel=1e-5)


def walks(boards, strengths, rng):
    """Levels at each of LOOKS, as efficient estimates of more and more data have them: of each system independent."""
    step = np.asarray(strengths) + rng.normal(size=(boards, LOOKS, len(strengths))) / 0.6
    means = step.cumsum(axis=1) / np.arange(1, LOOKS + 1)[:, None]
    no_df = np.full((len(strengths),) * 2, np.inf)
    for board in means:
        yield [Levels(x, np.eye(len(x)) / 0.36 / (k + 1), no_df) for k, x in enumerate(board)]


@pytest.mark.parametrize("strengths", [[0.0, 0.0], [0.0] * 5, [0.0, 0.0, 0.5, 0.5]])
def test_at_fifty_looks_few_boards_decide_anything_wrong(strengths):
    """Where each look would be the only one, more than a fifth of boards do."""
    x, boards = np.array(strengths), 100
    wrong, lost, once = np.zeros((3, boards), bool)
    for k, looks in enumerate(walks(boards, strengths, np.random.default_rng(5))):
        for at in looks:
            i, j = at.pairs
            off = np.abs(at.estimates[i] - at.estimates[j] - (x[i] - x[j]))
            wrong[k] |= (off > halves(at)).any()
            lost[k] |= not contenders(at)[x.argmax()]
            once[k] |= (off > 1.96 * at.errors).any()
    assert wrong.mean() <= 0.05
    assert lost.mean() <= 0.05
    assert once.mean() > 0.2


def looked(seed, chosen, **board):
    """Whether a board without differences decides one at any of LOOKS, and whether it rules out the first system."""
    board, alarm, found = Board(seed=seed, **board), np.zeros(2, bool), None
    for _ in range(LOOKS):
        n = 12 * len(board.strengths)
        board.vote(allocate(found, n) if chosen and found else board.equally(n))
        found = board.fit()
        gap = found.levels.estimates[found.levels.pairs[0]] - found.levels.estimates[found.levels.pairs[1]]
        alarm |= [(np.abs(gap) > halves(found.levels)).any(), not contenders(found.levels)[0]]
    return alarm


@pytest.mark.evidence
@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("strengths", [[0.0, 0.0], [0.0] * 6])
def test_of_fitted_boards_without_differences_few_decide_one_at_any_look(strengths, chosen):
    """Also where who may be the best decides which pairs are compared next."""
    wrong = np.mean([looked(seed, chosen, strengths=strengths, answer=0.5) for seed in range(150)], axis=0)
    assert wrong.max() <= 0.05


@pytest.mark.parametrize(("answer", "log_nu"), [(0.0, -np.inf), (0.8, np.log(0.7))])
def test_information_is_that_of_outcomes_over_voters_and_prompts(answer, log_nu):
    """By integrals and differences of chances."""
    board = Board([0.0, 0.7, 1.1], nu=0.5)
    board.vote(np.full(3, 60))
    found = board.fit()
    found.variances["answer"] = answer**2
    object.__setattr__(found, "log_nu", log_nu)

    def chances(gap):
        if not answer:
            return outcomes(np.array([gap]), log_nu)[:, 0]

        def one(e, k):
            return outcomes(np.array([gap + e]), log_nu)[k, 0] * norm.pdf(e, 0, np.sqrt(2) * answer)

        return np.array([quad(one, -9, 9, args=(k,))[0] for k in range(3)])

    i, j = found.levels.pairs
    for gap, value in zip(found.levels.estimates[i] - found.levels.estimates[j], information(found), strict=True):
        slope = (chances(gap + 1e-4) - chances(gap - 1e-4)) / 2e-4
        p = chances(gap)
        assert value == pytest.approx((slope[p > 0] ** 2 / p[p > 0]).sum(), rel=1e-4)


def test_of_equal_systems_an_unequal_number_of_votes_is_made_equal():
    """What is known least is asked most, whatever systems are called; with a bad system out, it gets none."""
    board = Board([0.0, 0.0, 0.0, -6.0])
    board.vote(np.array([60, 20, 30, 20, 30, 30]))
    votes = allocate(board.fit(), 90)
    assert votes.sum() == 90
    assert votes[[2, 4, 5]].sum() == 0
    assert votes[0] < min(votes[1], votes[3])
    board.rows[0][2] *= -1
    assert allocate(board.fit(), 90, direction=-1).tolist() == votes.tolist()


def test_from_a_frame():
    rng, names = np.random.default_rng(1), np.array(["a", "b", "c"])
    first, second = names[rng.integers(2, size=400)], names[2]
    x = {"a": 1.2, "b": 1.0, "c": 0.0}
    won = rng.random(400) < 1 / (1 + np.exp([x["c"] - x[one] for one in first]))
    frame = pd.DataFrame({"left": first, "right": second, "winner": np.where(won, first, second)})
    model = fit(frame, system=("left", "right"), score="winner")
    assert model.contenders[:2] == model.levels.index[:2].tolist()
    assert "c" not in model.contenders
    assert model.next_votes(50)["votes"].sum() == 50
    assert model.next_votes(50).loc[0, ["system", "system_b"]].tolist() == ["a", "b"]
    once, always = model.contrasts, model.anytime
    assert (always["high"] - always["low"] > once["high"] - once["low"]).all()
    assert always.loc[1, "decided"]
    with pytest.raises(FitError, match="expected 1 vote or more"):
        model.next_votes(0)
    ratings = frame.assign(score=rng.normal(size=400))
    with pytest.raises(FitError, match="expected a model of comparisons"):
        _ = fit(ratings, system="left", score="score").anytime
