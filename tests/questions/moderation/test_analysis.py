"""Moderation: cases by hand, statsmodels, printed tables of Zhang et al. 2022, and the simulated study."""

import itertools

import numpy as np
import pandas as pd
import pytest
from fixtures.notebook_cells import as_published
from matplotlib import pyplot
from statsmodels.stats import inter_rater

from compendium.papers import moderation
from compendium.papers import moderation as printed
from compendium.published import numbers as published
from compendium.simulation import moderation as simulated
from judgebook.display.names import DisplayNames
from judgebook.questions.agreement import coefficients
from judgebook.questions.moderation import analysis
from judgebook.questions.performance.rates import wilson
from judgebook.statistics.intervals import Sampling
from judgebook.statistics.permutation import sign_flip_test
from judgebook.study.results import collect

SAMPLING = Sampling(500, 0.95, 1)


def marked(rows):
    """Marks from (item, scores of the annotators)."""
    out = [
        {"corpus": "main", "dialogue": item, "turn": 0, "annotator": f"A{i}", "annotator_known": True, "score": score}
        for item, scores in rows
        for i, score in enumerate(scores)
    ]
    columns = ["corpus", "dialogue", "turn", "annotator", "annotator_known", "score"]
    return pd.DataFrame(out, columns=columns).astype({"score": float})


def categorized(rows, both=None, words=("how are you", "fine"), **columns):
    """What notebook 12 computes as published of such marks."""
    marks = marked(rows).assign(**columns)
    texts = marks.drop_duplicates("dialogue")[["corpus", "dialogue", "turn"]]
    texts = texts.assign(user_text=words[0], system_text=words[1])
    categories = {score: f"Category {score:g}" for score in sorted(marks["score"].unique())}
    both = pd.DataFrame(columns=["corpus", "system", "system_b", "outcome"]) if both is None else both
    names = DisplayNames({}, {kind: {} for kind in ("group", "system", "corpus")})
    page = {"judged": {"category": marks}, "dialogues": texts, "both": both, "categories": categories, "asked": ""}
    found = as_published("12_moderation", **page, names=names, sampling=SAMPLING)
    pyplot.close("all")
    return found.saved


class TestCategories:
    ROWS = (("i1", (1, 1, 1, 1, 1, 1, 1)), ("i2", (1, 1, 1, 0, 0, 0, -1)), ("i3", (-1, -1, -1, -1, 0, 1, 1)))

    def test_sizes_and_shares_of_an_annotator(self):
        found = categorized(self.ROWS)
        one = found["annotator_score_share"].query("annotator == 'A0'").set_index("score")["estimate"]
        assert one.to_dict() == pytest.approx({-1: 1 / 3, 0: 0, 1: 2 / 3})
        sizes = found["pair_size"].set_index("what")["estimate"]
        assert sizes.to_dict() == {"pairs": 3, "prompt_words": 3, "answer_words": 1}

    def test_agreement_counts_by_definition(self):
        rows = categorized(self.ROWS)["agreement_count"]
        assert set(rows["annotators"]) == {3, 4, 5, 6, 7}
        of = rows.set_index(["definition", "score", "annotators"])["estimate"]
        at_three = {name: [of[name, score, 3] for score in (-1, 0, 1)] for name in ("each", "unique", "halved")}
        assert at_three == {"each": [0, 1, 1], "unique": [0, 0, 0], "halved": [0, 0.5, 0.5]}
        for name in at_three:
            assert of[name, -1, 4] == of[name, 1, 7] == 1
        assert of["halved"].sum() == 3

    def test_with_unequal_numbers_of_annotators_shares_are_counted(self):
        rows = categorized([*self.ROWS, ("i4", (1, 1)), ("i5", (0,))])["agreement_count"]
        assert set(rows["n"]) == {4}  # one judgement says nothing of agreement
        halved = rows[rows["definition"] == "halved"].set_index(["score", "band"])["estimate"]
        # all of seven and of two; three of seven, twice; four of seven
        assert halved[halved > 0].to_dict() == {
            (1, "90–100%"): 2, (0, "40–49%"): 0.5, (1, "40–49%"): 0.5, (-1, "50–59%"): 1,
        }  # fmt: skip

    def test_kappa_of_unequal_numbers_by_hand(self):
        found = categorized([("i1", (0, 0)), ("i2", (0, 1, 1)), ("i3", (1, 1, 1, 1))])["fleiss_kappa"]
        # observed: (1 + 1/3 + 1) / 3 = 7/9; shares of the first category: 1, 1/3, 0, their mean 4/9
        expected = (4 / 9) ** 2 + (5 / 9) ** 2
        assert found["estimate"].item() == pytest.approx((7 / 9 - expected) / (1 - expected))

    def test_positions_have_no_shares_of_their_own(self):
        assert categorized(self.ROWS, annotator_known=False)["annotator_score_share"].empty

    def test_kappa_is_that_of_statsmodels_and_of_the_kernel(self):
        rng = np.random.default_rng(1)
        values = rng.integers(-1, 2, (80, 7)) * (rng.random((80, 1)) < 0.7) + 0.0
        table = np.stack([(values == s).sum(axis=1) for s in (-1, 0, 1)], axis=1)
        found = categorized([(f"i{i}", row) for i, row in enumerate(values)])["fleiss_kappa"].iloc[0]
        assert found["estimate"] == pytest.approx(coefficients.fleiss_kappa(values)[0], abs=1e-9)
        assert found["estimate"] == pytest.approx(inter_rater.fleiss_kappa(table))
        assert found["ci_low"] < found["estimate"] < found["ci_high"]
        assert found["ci_kind"] == "bca"

    def test_what_is_undefined_is_left_out(self):
        assert categorized([("i1", (1,)), ("i2", (0,))])["fleiss_kappa"].empty
        same = categorized([("i1", (1, 1)), ("i2", (1, 1))], words=(None, None))
        assert same["fleiss_kappa"]["note"].tolist() == ["the statistic is undefined on these data"]
        assert same["pair_size"].empty
        nothing = categorized([], both=analysis.outcomes(*compared(TestOutcomes.ROWS)))
        assert set(nothing) == {"moderation_count"}
        wins = nothing["moderation_count"].query("system == 'x' and outcome == 'wins' and system_b.isna()")
        assert wins[["estimate", "n"]].to_numpy().tolist() == [[4, 9]]


class TestBounds:
    """Every integer filling of small tables, against the bounds."""

    @pytest.mark.parametrize(
        ("m", "items"),
        [
            (3, ((1, 3, 0, 0), (0, 2, 1, 0))),
            (4, ((2, 2, 0), (1, 2, 1), (0, 0, 4))),
            (5, ((3, 1, 1), (2, 2, 1), (5, 0, 0), (1, 4, 0))),
        ],
    )
    def test_bounds_hold_all_fillings_and_are_reached(self, m, items):
        items = [c for c in items if sum(c) == m]
        n = len(items[0])
        counts = np.zeros((n, m + 1))
        for c in items:
            counts[int(np.argmax(c)), max(c)] += 1
        ways = [
            [
                w
                for w in itertools.product(range(m + 1), repeat=n)
                if sum(w) == m and w[int(np.argmax(c))] == max(w) == max(c)
            ]
            for c in items
        ]
        seen = []
        for filling in itertools.product(*ways):
            table = np.array(filling, dtype=float)
            with np.errstate(invalid="ignore", divide="ignore"):
                seen.append(float(inter_rater.fleiss_kappa(table)))
        low, high = moderation.kappa_bounds(counts, m)
        finite = [k for k in seen if np.isfinite(k)]
        assert low <= min(finite) + 1e-9
        assert high >= max(finite) - 1e-6
        assert low == pytest.approx(min(finite))  # corners are integer fillings where every cell has one item

    def test_no_counts_are_refused(self):
        counts = np.zeros((3, 8))
        with pytest.raises(ValueError, match="at least one item"):
            moderation.kappa_bounds(counts, 7)


def compared(rows):
    """Comparisons and marks from (prompt, a, b, outcomes of the annotators for a)."""
    better, unrelated = [], []
    score = {"wins": 1.0, "loses": -1.0, "tied": 0.0, "unrelated": 0.0}
    for prompt, a, b, seen in rows:
        for i, outcome in enumerate(seen):
            head = {"corpus": "main", "annotator": f"A{i}", "context": prompt, "turn": 0}
            left = head | {"dialogue": f"{prompt}-{a}-{b}/{a}", "system": a}
            other = {"dialogue_b": f"{prompt}-{a}-{b}/{b}", "system_b": b}
            better.append(left | other | {"score": score[outcome]})
            unrelated.append(left | {"score": float(outcome == "unrelated")})
    return pd.DataFrame(better), pd.DataFrame(unrelated)


class TestOutcomes:
    ROWS = (
        ("p1", "x", "y", ("wins", "wins", "tied")),
        ("p2", "x", "y", ("loses", "unrelated", "wins")),
        ("p1", "x", "z", ("wins", "unrelated", "unrelated")),
    )

    def test_both_sides_by_hand(self):
        both = analysis.outcomes(*compared(self.ROWS))
        found = both.groupby(["system", "outcome"]).size()
        assert found["x"].to_dict() == {"loses": 1, "tied": 1, "unrelated": 3, "wins": 4}
        assert found["y"].to_dict() == {"loses": 3, "tied": 1, "unrelated": 1, "wins": 1}
        assert found["z"].to_dict() == {"loses": 1, "unrelated": 2}

    def test_a_winner_cannot_be_unrelated(self):
        better, unrelated = compared(self.ROWS)
        with pytest.raises(ValueError, match="have a winner and are marked"):
            analysis.outcomes(better, unrelated.assign(score=1.0))

    def test_shares_with_three_intervals(self):
        both = analysis.outcomes(*compared(self.ROWS))
        rows = collect(analysis.shares(both, sampling=SAMPLING))
        x = rows.select("moderation_share", system="x", outcome="wins")
        assert x["estimate"].tolist() == pytest.approx([4 / 9] * 3)
        ends = x.set_index("interval")
        assert (ends.at["n", "ci_low"], ends.at["n", "ci_high"]) == pytest.approx(wilson(4, 9))
        assert ends.at["items", "n_clusters"] == 3
        assert ends.at["items", "ci_high"] > ends.at["n", "ci_high"]

    def test_leads_turn_whole_prompts(self):
        rows = [(f"p{i}", "x", "y", ("wins", "wins", "loses") if i % 4 else ("loses",) * 3) for i in range(12)]
        found = analysis.leads(analysis.outcomes(*compared(rows)), permute_seed=1, sampling=SAMPLING).iloc[0]
        assert found["estimate"] == pytest.approx((9 - 9) / 36)
        sums = np.array([1.0 if i % 4 else -3.0 for i in range(12)])
        test = sign_flip_test(sums, rng=np.random.default_rng(1))
        assert test.exact
        assert found["p_value"] == pytest.approx(test.p_value)

    def test_flags(self):
        marks = pd.DataFrame(
            {"corpus": "main", "system": "x", "context": ["p1", "p1", "p2"], "annotator": ["A", "B", "A"]}
        )
        found = next(analysis.flagged(marks.assign(score=[1.0, 0.0, 0.0]), sampling=SAMPLING))
        assert found["estimate"] == pytest.approx(1 / 3)
        assert found["ci_kind"] == "exact_bound"


class TestPrinted:
    """Zhang et al. 2022: what the printed numbers say by themselves."""

    PAPER = published.load("dstc10")

    def test_printed_shares_follow_from_printed_counts(self):
        rows = collect(printed.from_print(self.PAPER, 0.95))
        shares = rows.select("moderation_share", interval="n")
        table = self.PAPER[(self.PAPER["element"] == "Table 6") & (self.PAPER["panel"] == "percent")]
        known = shares.set_index(["system", "outcome"])["estimate"]
        here = pd.Series([100 * known[k] for k in zip(table["row"], table["column"], strict=True)], index=table.index)
        assert len(table) == 16
        assert published.agrees(table["value"], table["decimals"], here).all()
        items = rows.select("moderation_share", interval="items")
        assert set(items["n_clusters"]) == {340, 60}

    def test_printed_agreement_allows_the_printed_kappa(self):
        rows = collect(printed.from_print(self.PAPER, 0.95))
        bound = rows["kappa_bound"].set_index("end")["estimate"]
        assert 0 < bound["low"] < 0.1 < bound["high"] < 0.25


class TestSimulated:
    def test_expected_outcomes_are_those_of_table_6(self):
        model, names = simulated.comparisons(), (*simulated.CHATBOTS, simulated.HUMAN)
        counts = published.load("dstc10", "Table 6").set_index(["panel", "row", "column"])["value"]
        for a, name in enumerate(names):
            total = dict.fromkeys(analysis.OUTCOMES, 0.0)
            for i, j, n in simulated.pairs():
                if a in (i, j):
                    shares = model.shares(i, j) if a == i else model.shares(j, i)
                    for outcome, share in shares.items():
                        total[outcome] += 7 * n * share
            for outcome, n in total.items():
                assert n == pytest.approx(counts["count", name, outcome], abs=1.0)
