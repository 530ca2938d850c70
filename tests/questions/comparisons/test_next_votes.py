"""What notebook 19 says of who may be the best, of what to compare next, and of what has changed."""

import numpy as np
import pandas as pd
import pytest

from judgebook.annotations.population import Population
from judgebook.display.names import DisplayNames
from judgebook.model.comparisons import Comparisons, fit
from judgebook.model.next_votes import allocate
from judgebook.questions.comparisons import changed, next_votes
from judgebook.study.labels import Label
from judgebook.study.results import collect

NAMES = DisplayNames(
    {("comparative", "better"): Label("better", "comparative", "Better", (-1.0, 1.0), "ordinal", direction=1)},
    {"method": {"comparative": "Votes"}, "group": {"all": "All"}, "system": {s: s.upper() for s in "abc"}},
)
HEAD = {"corpus": "main", "method": "comparative", "group": "all", "label": "better", "level": "pair"}


def board(*shares):
    """a, b and c: each pair has 100 votes, of which the later system wins a share."""
    score = np.concatenate([np.where(np.arange(100) < 100 * share, -1, 1) for share in shares])
    first, second = np.repeat([0, 0, 1], 100), np.repeat([1, 2, 2], 100)
    return fit(Comparisons(("a", "b", "c"), first, second, score, np.arange(300)))


def test_while_several_may_be_the_best_the_page_says_what_to_compare():
    found = board(0.8, 0.8, 0.52)
    results = collect(next_votes.of_fit(found, HEAD, 0.95))
    prose, table = next_votes.views(results, NAMES)
    assert "2 of 3 systems may still be the best: B and C." in prose.text
    assert "at most 5%" in prose.text
    votes = allocate(found, next_votes.NEXT)
    assert votes.sum() == table.frame["Votes"].sum() == 100
    assert table.frame.loc[0, "Votes"] == votes[2] == votes.max()
    leads = results["lead_anytime"].set_index("system_b")
    assert leads.loc["a", "ci_low"] > 0 > leads.loc["b", "ci_low"]
    assert leads.loc["b", "estimate"] == np.ptp(found.levels.estimates[1:])


def test_once_it_is_known_which_is_the_best_it_asks_for_no_more():
    (prose,) = next_votes.views(collect(next_votes.of_fit(board(0.6, 0.9, 0.9), HEAD, 0.95)), NAMES)
    assert "C is the best of 3 systems, whenever one looks; no more votes are needed" in prose.text


def judged(n, strengths, start, seed):
    """Votes on a, b and c from a day on, a day each, by twenty people."""
    rng, names = np.random.default_rng(seed), np.array(["a", "b", "c"])
    first, x = rng.integers(3, size=n), np.array(strengths)
    second = (first + rng.integers(1, 3, size=n)) % 3
    won = rng.random(n) < 1 / (1 + np.exp(x[second] - x[first]))
    rows = {"system": names[first], "system_b": names[second], "score": np.where(won, 1.0, -1.0)}
    rows |= {"dialogue": names[first], "dialogue_b": names[second], "pair": np.arange(n).astype(str)}
    when = pd.Timestamp(start) + pd.to_timedelta(np.arange(n) % 28, "D")
    return pd.DataFrame(rows | HEAD | {"annotator": [f"p{i % 20}" for i in range(n)], "completed_at": when})


def test_what_has_changed_since_a_day_is_told_from_noise():
    votes = pd.concat([judged(600, [0, 0, 0.5], "2026-10-01", 1), judged(600, [1.5, 0, 0.5], "2026-11-01", 2)])
    votes = votes.assign(period=None, sampling_weight=None, stratum=None).reset_index(drop=True)
    people = {("main", "all"): Population(True, 20, 20, 20.0, "")}
    found = collect(changed.rows(votes, people, "2026-11-01"))
    rows = found["strength_changed"].set_index("system")
    assert rows.loc["a", "ci_low"] > 0.5
    assert rows.loc["a", "ci_low"] < 1.5 < rows.loc["a", "ci_high"]
    assert (rows.loc[["b", "c"], "ci_low"] < 0).all()
    assert (rows.loc[["b", "c"], "ci_high"] > 0).all()
    (prose,) = changed.views(found, NAMES, "2026-11-01")
    assert "Since 2026-11-01, " in prose.text
    assert "1 of 3 systems has changed by more than chance explains:** A is stronger (" in prose.text
    none = collect(changed.rows(votes, people, "2026-11-15"))
    assert set(changed.rows(votes, people, None)) == set()
    assert len(none["strength_changed"]) == 3


@pytest.mark.parametrize(
    ("since", "columns", "why"),
    [
        ("2027-01-01", {}, changed.ONE_SIDED),
        ("spring", {}, "is not clear"),
        ("2026-10-05", {"completed_at": pd.NaT}, changed.UNTIMED),
        ("W2", {"period": ["W1", "W10"] * 30}, ""),
    ],
)
def test_why_changes_are_not_known(since, columns, why):
    votes = judged(60, [0, 0, 0], "2026-10-01", 3).assign(**{"period": None, "sampling_weight": None} | columns)
    found = collect(changed.rows(votes, {("main", "all"): Population(False, None, 0, 0.0, "")}, since))
    assert why in str(found["strength_changed"]["note"].iloc[0])
    (prose,) = changed.views(found, NAMES, since)
    assert ("is not known, because" in prose.text) == bool(why)


def test_without_a_change_none_is_told_in_nearly_all_boards():
    """Of 40 boards 2 are expected at most; more than 5 would come with a probability of 1%."""
    alarms = 0
    for seed in range(40):
        sides = (board(*shares) for shares in np.random.default_rng(seed).binomial(100, [0.5, 0.7, 0.7], (2, 3)) / 100)
        changes = collect(changed.of_fits(*sides, HEAD, 0.95))["strength_changed"]
        alarms += bool(((changes["ci_low"] > 0) | (changes["ci_high"] < 0)).any())
    assert alarms <= 5
