"""Which kind of tie votes are: shares by hand, the test of kinds against simulations, and what is said."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint, proportions_ztest

from judgebook.display.names import DisplayNames
from judgebook.questions.comparisons.ties import p_value, rows, views
from judgebook.study.labels import Label
from judgebook.study.schema import ANNOTATIONS, conform

NAMES = DisplayNames(
    {("comparative", "better"): Label("better", "comparative", "Better", (-1.0, 1.0), "ordinal", direction=1)},
    {"method": {"comparative": "Votes"}, "group": {"all": "All"}, "system": {"a": "Ann"}, "corpus": {}},
)


def votes(tie, context, systems=("a", "b")):
    """A vote for each kind of tie; None is a win."""
    n = len(tie)
    rows = pd.DataFrame({"tie": tie, "score": [float(t is None) for t in tie], "context": [f"c{i}" for i in context]})
    rows["system"], rows["system_b"] = systems
    rows["dialogue"], rows["dialogue_b"] = rows["context"] + "x", rows["context"] + "y"
    fixed = {"study": "s", "corpus": "main", "group": "all", "method": "comparative", "label": "better"}
    who = {"annotator": [f"A{i}" for i in range(n)], "annotator_known": True, "annotator_kind": "human"}
    return conform(rows.assign(**fixed, **who, source_row=range(n)), ANNOTATIONS)


def test_shares_of_votes_on_prompts_of_their_own_are_those_of_statsmodels():
    tie = ["both bad"] * 12 + ["both good"] * 3 + [None] * 45
    tie += ["both bad"] * 3 + ["both good"] * 12 + [None] * 20 + ["both bad"]
    kind = pd.Series(["code"] * 60 + ["chat"] * 35 + [None])
    results = rows(votes(tie, range(96)), kind)
    ties = results["tie_kind"].set_index("tie")
    assert ties["n"].tolist() == [31, 31]
    assert ties.at["both bad", "estimate"] == 16 / 31
    found = results["kind_both_bad"].set_index("prompt_kind")
    for name, hits, n in (("code", 12, 60), ("chat", 3, 35)):
        ends = proportion_confint(hits, n, method="wilson")
        assert found.loc[name, ["ci_low", "ci_high"]].tolist() == pytest.approx(ends)
    assert found["p_value"].notna().sum() == 1  # of two kinds it is one test
    assert found["p_value"].max() == pytest.approx(proportions_ztest([12, 3], [60, 35])[1], abs=0.03)
    assert results["system_both_bad"]["estimate"].tolist() == [16 / 96] * 2


def test_ties_that_nobody_told_apart_say_nothing_and_one_prompt_has_no_interval():
    plain = votes([None] * 5, range(5)).assign(score=0.0)
    assert not rows(plain, pd.Series(["a", "b"] * 2 + ["a"]))
    assert list(views(rows(plain), NAMES, 0.95)) == []
    good = rows(votes(["both good"] * 4 + [None] * 4, [0] * 8))
    assert set(good) == {"tie_kind"}
    assert good["tie_kind"]["ci_low"].isna().all()
    (text,) = views(good, NAMES, 0.95)
    assert text.text.startswith("Of 4 ties, **100")


def drawn(rng, prompts, loads, shares, icc):
    """Votes on prompts of kinds, which differ within kinds: (context, hits, kind)."""
    kind = np.repeat(np.arange(len(prompts)), prompts)
    n = np.maximum(1, rng.exponential(np.repeat(loads, prompts))).astype(int)
    own = np.repeat(shares, prompts) * (1 - icc) / icc, (1 - np.repeat(shares, prompts)) * (1 - icc) / icc
    context = np.repeat(np.arange(len(n)), n)
    return context, rng.random(len(context)) < rng.beta(*own)[context], kind[context]


@pytest.mark.parametrize("icc", [0.02, 0.6])
@pytest.mark.parametrize(("prompts", "loads"), [((5, 100), (2, 30)), ((5, 100), (20, 5)), ((30, 60), (6, 6))])
def test_kinds_that_are_alike_are_not_told_apart(prompts, loads, icc):
    """However few prompts, or votes on them, one kind has. Either of the two tests alone finds up to 40%."""
    rng = np.random.default_rng(2)
    p = [
        p_value(c, hits, kind == 0)
        for c, hits, kind in (drawn(rng, prompts, loads, (0.1, 0.1), icc) for _ in range(300))
    ]
    assert np.mean(np.array(p) < 0.05) <= 0.075


def test_the_page_names_the_kind_and_counts_what_is_not_said():
    context, bad, kind = drawn(np.random.default_rng(1), (60, 40, 30), (8, 5, 3), (0.05, 0.35, 0.05), 0.1)
    judged = votes([("both bad" if b else None) for b in bad], context)
    plain = np.flatnonzero(~bad)[::3]
    judged.loc[plain, "score"] = 0.0  # ties that are not both bad
    judged.loc[::2, "system"] = "c"
    results = rows(judged, pd.Series(np.array(["chat", "code", "math"])[kind]))
    text, table = views(results, NAMES, 0.95)
    assert f"Of {bad.sum() + len(plain)} ties" in text.text
    assert "the data do not say what the others are" in text.text
    assert "more often on code (" in text.text
    assert table.frame["Votes on"].tolist() == ["chat", "code", "math", "Ann", "b", "c"]
    lone = rows(judged)  # no kinds: no test, and nothing said of kinds
    text, table = views(lone, NAMES, 0.95)
    assert "kind of prompt" not in text.text
    assert "p" not in table.frame
