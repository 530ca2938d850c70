"""What notebook 19 says of who may be the best, and of what to compare next."""

import numpy as np

from judgebook.display.names import DisplayNames
from judgebook.model.comparisons import Comparisons, fit
from judgebook.model.next_votes import allocate
from judgebook.questions.comparisons import next_votes
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
