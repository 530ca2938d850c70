"""Voters whose votes follow no answer are found where votes tell them apart; careful voters are not taken for them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from judgebook.display.names import DisplayNames
from judgebook.model.comparisons import Comparisons
from judgebook.model.fit import SIDE
from judgebook.questions.comparisons import voter_results, voter_views
from judgebook.questions.comparisons.first_place import Board
from judgebook.questions.comparisons.voters import FIRST, ONE, RANDOM, SECOND, _Votes, copies, places, voters, without
from judgebook.study.labels import Label
from judgebook.study.results import collect
from judgebook.study.schema import ANNOTATIONS, conform

BETTER = 5  # the system that campaigns are for


def board(seed, *, voters=120, bad=0, load=60, systems=12, spread=0.8, taste=0.5, tails=None, answer=0.0):
    """Votes of careful voters with 3 to 500 votes each, who differ in tastes, in how they favour a side and in ties,
    and of `bad` ones, the last, with `load` each, who are careful yet. Returns the votes and who is bad."""
    rng = np.random.default_rng([62, seed])
    loads = np.append(np.clip(np.exp(rng.normal(3, 1.2, voters)), 3, 500).astype(int), np.full(bad, load))
    who, n, people = np.repeat(np.arange(len(loads)), loads), loads.sum(), len(loads)
    items, x = n // 5, spread * np.linspace(1.5, -1.5, systems)
    one = rng.integers(systems, size=items)
    other, item, turned = (
        (one + rng.integers(1, systems, items)) % systems,
        rng.integers(items, size=n),
        rng.random(n) < 0.5,
    )
    first, second = np.where(turned, other[item], one[item]), np.where(turned, one[item], other[item])
    tastes = taste * (rng.standard_t(tails, (people, systems)) if tails else rng.normal(size=(people, systems)))
    worth = x + answer * rng.normal(size=(items // 4 + 1, systems))
    d = worth[item // 4, first] - worth[item // 4, second] + tastes[who, first] - tastes[who, second]
    d += (0.1 + 0.3 * rng.normal(size=people))[who]
    weight = np.column_stack([np.exp(-d / 2), 0.5 * np.exp(0.7 * rng.normal(size=people))[who], np.exp(d / 2)])
    score = (rng.random(n)[:, None] > np.cumsum(weight / weight.sum(axis=1, keepdims=True), axis=1)[:, :2]).sum(
        axis=1
    ) - 1
    c = Comparisons(
        tuple(f"s{i}" for i in range(systems)), first, second, score, item // 4, who, covariates={SIDE: np.ones(n)}
    )
    return c, np.arange(people) >= voters


def attacked(c, bad, kind, seed=0):
    """Bad voters vote at random, for the side shown first, for one system, which is in half of their votes, or all as
    one other voter did."""
    rng, rows = np.random.default_rng([63, seed]), bad[c.annotator]
    first, second, score, context = (x.copy() for x in (c.first, c.second, c.score, c.context))
    m = int(rows.sum())
    if kind == RANDOM:
        score[rows] = np.where(c.score[rows] == 0, 0, rng.choice([-1, 1], m))
    elif kind == FIRST:
        score[rows] = np.where(rng.random(m) < 0.05, -1, 1)
    elif kind == ONE:
        first[rows] = np.where((rng.random(m) < 0.5) & (second[rows] != BETTER), BETTER, first[rows])
        score[rows] = np.where(first[rows] == BETTER, 1, np.where(second[rows] == BETTER, -1, score[rows]))
    else:
        load = int(np.bincount(c.annotator)[-1])
        model = np.flatnonzero(c.annotator == np.flatnonzero(np.bincount(c.annotator[~rows]) >= load)[seed])[:load]
        for x in (first, second, score, context):
            x[rows] = np.tile(x[model], int(bad.sum()))
    return replace(c, first=first, second=second, score=score, context=context)


def test_likelihood_of_careful_voters_is_that_of_quadrature():
    """Of two systems, whose tastes and side are one normal effect with variance 2 x 0.3 + 0.03; three voters."""
    who, y = np.repeat([0, 1, 2], [3, 12, 40]), np.where(np.random.default_rng(1).random(55) < 0.7, 1.0, -1.0)
    d = np.where(who == 1, 0.5, -0.2)
    found = _Votes(who, 0 * who, 0 * who + 1, y, 3, 2, sided=True).careful(d, (0.3, 0.03))
    node, weight = np.polynomial.hermite_e.hermegauss(60)
    variance = 2 * 0.3 + 0.03
    steeper = d * np.sqrt(1 + variance * (16 * np.sqrt(3) / (15 * np.pi)) ** 2)
    p = expit(y[:, None] * (steeper[:, None] + np.sqrt(variance) * node))
    exact = [np.log(np.prod(p[who == v], axis=0) @ weight / weight.sum()) for v in range(3)]
    np.testing.assert_allclose(found, exact, atol=0.03)


@pytest.mark.parametrize(
    "world",
    [{"taste": 1.0}, {"taste": 0.7, "tails": 4}, {"taste": 0.0, "spread": 0.0}, {"taste": 1.3, "answer": 1.7}],
)
def test_careful_voters_are_hardly_ever_doubtful(world):
    """Tastes differ, more than normal ones do; systems are equal; answers differ as those of llmfao do."""
    shares = [voters(board(seed, **world)[0]).flagged.mean() for seed in range(2)]
    assert max(shares) <= 0.02


@pytest.mark.parametrize(
    ("kind", "share", "load", "found"),
    [(RANDOM, 0.2, 150, 0.7), (FIRST, 0.2, 60, 0.9), (ONE, 0.2, 60, 0.9), ("copy", 0.1, 60, 0.8)],
)
def test_attacks_are_found_and_the_board_is_what_it_was(kind, share, load, found):
    """share : of votes, by bad voters who cast `load` each; found : of these, at least. No system is then more than a
    place away from where it is without them."""
    c, bad = board(0, bad=int(share / (1 - share) * len(board(0)[0]) / load), load=load)
    c = attacked(c, bad, kind)
    told = voters(c)
    assert told.flagged[bad].mean() >= found
    assert told.flagged[~bad].mean() <= 0.03
    if kind == "copy":
        assert (told.copies[bad] >= 0).sum() >= bad.sum() - 1
    else:
        assert set(told.kind[bad & told.flagged]) == {kind}
    if kind == ONE:
        assert set(told.system[bad & told.flagged]) == {BETTER}
        assert told.in_favour[bad & told.flagged].all()
        assert np.abs(places(c) - places(without(c, bad))).max() > 2  # it would have moved
    assert np.abs(places(without(c, told.flagged)) - places(without(c, bad))).max() <= 1


@pytest.mark.evidence
@pytest.mark.parametrize("kind", [RANDOM, FIRST, ONE, "copy"])
@pytest.mark.parametrize("share", [0.01, 0.05, 0.1, 0.2])
def test_attacks_are_found_or_bounded(kind, share):
    """On boards of 300 voters and 20 systems, where bad ones cast 40 votes each. Of careful ones 1% at most are named.
    Bad ones of 5% of the votes or more are found, most of them, unless at random; and no board moves more for it."""
    found, false, with_them, left = np.transpose([attack(kind, share, seed) for seed in range(4)])
    assert false.max() <= 0.01
    assert left.mean() <= with_them.mean() + 0.5
    if kind == RANDOM:
        assert with_them.max() <= 4
    elif share >= 0.05:
        assert found.mean() >= 0.6
        assert left.mean() <= 2


def attack(kind, share, seed):
    """Shares of bad and of careful voters that are named; places that a system moves at most, with and without them."""
    size = {"voters": 300, "systems": 20, "spread": 0.6, "load": 40}
    c, bad = board(seed, **size, bad=max(1, round(share / (1 - share) * len(board(seed, **size)[0]) / 40)))
    c = attacked(c, bad, kind, seed)
    told, careful = voters(c), places(without(c, bad))
    moved = [int(np.abs(places(votes) - careful).max()) for votes in (c, without(c, told.flagged))]
    return told.flagged[bad].mean(), told.flagged[~bad].mean(), *moved


def test_sides_and_names_do_not_matter():
    c, bad = board(1, bad=6)
    c = attacked(c, bad, FIRST)
    told = voters(c)
    name, order = np.random.default_rng(0).permutation(len(bad)), np.random.default_rng(1).permutation(len(c))
    arrays = {
        "first": c.second,
        "second": c.first,
        "score": -c.score,
        "context": c.context,
        "annotator": name[c.annotator],
    }
    other = voters(replace(c, **{k: x[order] for k, x in arrays.items()}))
    np.testing.assert_allclose(other.doubtful[name], told.doubtful, atol=1e-3)
    assert set(told.kind[bad]) == {FIRST}
    assert set(other.kind[name][bad]) == {SECOND}
    assert not voters(replace(c, score=0 * c.score)).flagged.any()  # nothing but ties
    # where nobody knows who was shown first, no side is named
    assert not {FIRST, SECOND} & set(voters(replace(c, covariates={})).kind)


def test_who_agree_on_easy_items_are_no_copies():
    """40 voters judge the same 150 items, on which nine in ten pairs agree; then one copies another."""
    rng = np.random.default_rng(5)
    item, who = np.tile(np.arange(150), 40), np.repeat(np.arange(40), 150)
    right = rng.choice([-1, 1], 150)
    score = np.where(rng.random(6000) < 0.95, right[item], -right[item])
    c = Comparisons(("a", "b"), 0 * who, 0 * who + 1, score, item, who)
    assert (copies(c) == -1).all()
    score[who == 7] = score[who == 3] = rng.choice([-1, 1], 150)
    assert np.flatnonzero(copies(replace(c, score=score)) >= 0).tolist() == [7]
    assert copies(replace(c, score=score))[7] == 3


def framed(c):
    name = np.array(c.systems)
    rows = pd.DataFrame({"system": name[c.first], "system_b": name[c.second], "score": c.score * 1.0})
    rows["context"], rows["annotator"] = [f"c{i}" for i in c.context], [f"A{i:03}" for i in c.annotator]
    rows["dialogue"], rows["dialogue_b"] = (rows["context"] + rows[s] for s in ("system", "system_b"))
    fixed = {"study": "s", "corpus": "main", "group": "all", "method": "comparative", "label": "better"}
    known = {"annotator_known": True, "annotator_kind": "human", "first_shown": "left", "source_row": np.arange(len(c))}
    # a vote a minute, but of one voter all at once
    minutes = pd.Series(np.random.default_rng(0).permutation(len(c)) * 60.0)
    minutes[c.annotator == len(set(c.annotator)) - 1] = np.arange(sum(c.annotator == len(set(c.annotator)) - 1)) + 2.0
    return conform(
        rows.assign(**fixed, **known, completed_at=pd.Timestamp("2026-11-30") + pd.to_timedelta(minutes, "s")),
        ANNOTATIONS,
    )


def test_the_page_names_them():
    c, bad = board(2, bad=9)
    results = collect(voter_results.rows(framed(attacked(c, bad, ONE))))
    names = DisplayNames(
        {("comparative", "better"): Label("better", "comparative", "Better", (-1.0, 1.0), "ordinal", direction=1)},
        {"method": {"comparative": "Votes"}, "group": {"all": "All"}, "system": {s: s.upper() for s in c.systems}},
    )
    prose, table = voter_views.voters(results, names)
    assert "for or against one system" in prose.text
    assert f"A{len(bad) - 1} once cast ten votes in 9 seconds" in prose.text
    assert f"for S{BETTER}" in set(table.frame["About"])
    (needed,) = voter_views.needed(results, names)
    first = Board(c).leader
    assert f"S{first} is first by the votes alone" in needed.text
    n = results["votes_needed"].set_index("what").at["votes added", "estimate"]
    assert f"{n:g} more votes for" in needed.text
    # without people who are known, only the first place is looked at
    unknown = collect(voter_results.rows(framed(c).assign(annotator_known=False)))
    assert set(unknown) == {"votes_needed"}
    assert set(unknown["votes_needed"]["what"]) == {"votes added", "votes turned"}
    # of few voters nobody is called doubtful, whoever they are
    few = framed(c)[lambda rows: rows["annotator"].isin([f"A{i:03}" for i in range(voter_results.LEAST - 1)])]
    few = collect(voter_results.rows(few.reset_index(drop=True)))
    assert not {"voter_doubt", "votes_doubtful", "voters_doubtful"} & set(few)
    assert "fewer than 12 voters" in next(voter_views.voters(few, names)).text


def test_who_votes_much_and_who_pauses_are_no_bursts():
    """40 voters who take 40 seconds and pause for a day now and then; one has cast 1,000 votes; then one hurries."""
    rng, rows = np.random.default_rng(3), []
    for v, load in enumerate([1000, *rng.integers(10, 60, 38), 5]):
        gaps = np.exp(rng.normal(np.log(40), 0.6, load)) + (rng.random(load) < 0.2) * rng.exponential(86400, load)
        rows.append(pd.DataFrame({"annotator": f"A{v}", "seconds": gaps.cumsum()}))
    votes = pd.concat(rows, ignore_index=True)
    votes.loc[::50, "seconds"] = np.nan  # some times are missing
    fast = votes.index[votes["annotator"] == "A7"][:10]

    def found(seconds):
        times = pd.Timestamp("2026-11-30") + pd.to_timedelta(seconds, unit="s")
        return [row["annotator"] for row in voter_results.bursts(votes.assign(completed_at=times))]

    assert found(votes["seconds"]) == []
    hurried = votes["seconds"].copy()
    hurried[fast] = 3.0 * np.arange(10)
    assert found(hurried) == ["A7"]
    assert found(86400.0 * (votes["seconds"] // 86400)) == []  # days alone
