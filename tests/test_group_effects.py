"""Rows, ranges and sentences of notebook 08, and the printed values of Finch et al. 2024 from the raw files."""

import itertools
import random
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from evaluations import comparisons, ratings, study

from helpers import (
    agreement,
    alpha,
    collection,
    effects,
    group_effects,
    group_null,
    groups,
    look,
    params,
    pick_ranges,
    picks,
    published,
    resampling,
    schema,
    verdicts,
)
from helpers.labels import LABEL_SETS, Label
from helpers.sources import build
from helpers.views import group_beside, group_plots, group_report

QUALITY = Label("quality", "dialogue_likert", "Quality", (1, 5))
COMPARED = Label("quality", "comparative", "Quality", (-1, 1))
BOOT = {"n_resamples": 200, "confidence": 0.95}


def names_of(*frames):
    """The look of a study that names nothing but the paper's labels."""
    plain = SimpleNamespace(groups={}, systems={}, label_list=lambda: list(LABEL_SETS["abc_eval"]))
    return look.of(plain, *frames)


def marks(rows, **columns):
    frame = ratings(rows, **columns).assign(dialogue_b=None, system_b=None, work_unit="U1")
    return frame.assign(source_row=np.arange(len(frame)))


def judged_twice(dialogues, group="all", label="quality"):
    """Two ratings of each dialogue, 1 by A1 and 2 by A2."""
    return pd.concat(
        [
            marks([(d, "ab"[i % 2], s) for i, d in enumerate(dialogues)], group=group, annotator=f"A{s}", label=label)
            for s in (1, 2)
        ],
        ignore_index=True,
    ).assign(source_row=lambda f: np.arange(len(f)))


class TestPublishedPick:
    def test_draws_worked_out_by_hand(self):
        # ids in order: (1,2)_x, (2,1)_x (the same characters), (3,4)_x; two labels a dialogue, each taking a draw
        dialogues = ["(3,4)_x", "(2,1)_x", "(1,2)_x"]
        frame = pd.concat([judged_twice(dialogues, label=x) for x in ("quality", "other")], ignore_index=True)
        frame["source_row"] = np.arange(len(frame))
        twister = random.Random(123)
        draws = [twister.randint(0, 1) for _ in range(6)]
        wanted = {"(1,2)_x": draws[0], "(2,1)_x": draws[0], "(3,4)_x": draws[4]}
        assert draws[0] != draws[4] or draws[2] != draws[0]  # the seed tells the rule from its neighbours
        found = picks.pick_as_published(frame, 123)
        assert found.groupby("dialogue")["score"].agg(set).to_dict() == {d: {w + 1.0} for d, w in wanted.items()}
        assert len(found) == 6

    def test_each_group_starts_afresh_and_the_third_annotation_never_counts(self):
        dialogues = [f"({i},0)_x" for i in range(10, 40)]
        one = judged_twice(dialogues, group="g1")
        both = pd.concat([one, judged_twice(dialogues, group="g2")], ignore_index=True)
        both["source_row"] = np.arange(len(both))
        third = marks([(d, "a", 5) for d in dialogues], group="g2", annotator="A3").assign(
            source_row=lambda f: f.index + 999
        )
        found = picks.pick_as_published(pd.concat([both, third], ignore_index=True), 123)
        a, b = (found[found["group"] == g].set_index("dialogue")["score"] for g in ("g1", "g2"))
        pd.testing.assert_series_equal(a, b)
        assert set(a) == {1.0, 2.0}

    def test_order_of_the_source(self):
        dialogues = ["b", "a", "c", "d"]
        frame, twister = judged_twice(dialogues), random.Random(5)
        found = picks.pick_as_published(frame, 5, source_order=["all"]).set_index("dialogue")["score"]
        assert found.to_dict() == {d: twister.randint(0, 1) + 1.0 for d in dialogues}

    def test_sides_of_a_comparison_have_draws_of_their_own_or_share_one(self):
        rows = [("a", "b", 1)] * 30
        twice = pd.concat([comparisons(rows), comparisons([("a", "b", -1)] * 30, annotator="A2")], ignore_index=True)
        twice = twice.assign(source_row=np.arange(60), work_unit="U1")
        apart = picks.pick_as_published(twice, 1)
        assert apart["one_side"].all()
        assert len(apart) == 60
        total = apart.assign(pair=apart["session"]).groupby("pair")["score"].sum()
        assert set(total) == {-2.0, 0.0, 2.0}  # 0: both sides of one annotation
        together = picks.pick_as_published(twice, 1, comparisons="pair")
        assert len(together) == 30
        assert not together["one_side"].any()
        assert set(together["score"]) == {-1.0, 1.0}

    def test_what_it_cannot_do_is_an_error(self):
        frame = judged_twice(["a"])
        with pytest.raises(ValueError, match="comparisons: expected 'dialogue' or 'pair', found 'x'"):
            picks.pick_as_published(frame, 1, comparisons="x")
        with pytest.raises(ValueError, match="turn: expected judgements of whole dialogues"):
            picks.pick_as_published(frame.assign(turn=0), 1)


def test_a_comparison_seen_from_one_side_is_not_turned():
    rows = comparisons([("a", "b", 1), ("a", "b", 0)]).assign(one_side=True)
    found = effects.scored(rows)
    assert found["system"].tolist() == ["a", "a"]
    assert found["score"].tolist()[0] == 1
    assert np.isnan(found["score"].tolist()[1])


def test_differences_are_those_of_published():
    frame = study(np.random.default_rng(1), groups=("g1", "g2", "g3"))
    found = effects.published(frame, seed=1, n_resamples=100)
    wanted = found[found["statistic"] == "group_difference"]
    assert effects.differences(frame)["estimate"].to_numpy() == pytest.approx(wanted["estimate"].to_numpy())


class TestComparable:
    def test_only_what_two_groups_judged_of_two_systems(self):
        both = [("d1", "a", 1), ("d2", "b", 2)]
        parts = [
            marks(both, group="g1"),
            marks(both, group="g2"),
            marks(both, group="g1", label="alone"),
            marks(both, group="g1", label="half"),
            marks(both[:1], group="g2", label="half"),
            marks(both, group="g3", corpus="gold"),
        ]
        found = group_effects.comparable(pd.concat(parts, ignore_index=True).assign(session=None))
        assert set(zip(found["group"], found["label"], strict=True)) == {("g1", "quality"), ("g2", "quality")}

    def test_without_sessions_an_item_is_its_own(self):
        frame = pd.concat(
            [comparisons([("a", "b", 1), ("b", "a", 1)], group=g) for g in ("g1", "g2")], ignore_index=True
        )
        found = group_effects.comparable(frame.assign(session=None, work_unit=None))
        assert found["session"].nunique() == 2
        assert found.groupby("dialogue")["session"].nunique().eq(1).all()


def test_two_way_intervals_are_wider_where_people_differ_and_name_what_is_resampled():
    frame = study(np.random.default_rng(1), n_annotators=4)
    rng = np.random.default_rng(2)
    taste = {k: rng.normal(0, 0.8) for k in sorted(set(zip(frame["annotator"], frame["system"], strict=True)))}
    frame["score"] += [taste[k] for k in zip(frame["annotator"], frame["system"], strict=True)]
    one, two = (
        groups.resampled(frame, seed=1, n_resamples=500),
        groups.resampled_two_way(frame, seed=1, n_resamples=500),
    )
    keys = ["statistic", "group", "group_b", "system", "system_b"]
    both = one.merge(two, on=keys, suffixes=("_one", "_two"))
    assert len(both) == len(two) == 18
    assert both["estimate_one"].to_numpy() == pytest.approx(both["estimate_two"].to_numpy())
    width = [(both[f"ci_high_{x}"] - both[f"ci_low_{x}"]).mean() for x in ("one", "two")]
    assert width[1] > 1.3 * width[0]
    assert set(two["resample_unit"]) == {"session and annotator"}
    assert len(schema.make_results(two, study="x", notebook="08")) == 18


@pytest.mark.slow
def test_two_way_intervals_cover_where_sessions_alone_do_not():
    """Every annotator favours systems in his own way, in both groups alike: in truth no effect differs."""
    covered = {"one": [], "two": []}
    for i in range(120):
        rng = np.random.default_rng([4, i])
        frame = study(rng, n_sessions=100, n_annotators=12)
        taste = {k: rng.normal(0, 0.8) for k in sorted(set(zip(frame["annotator"], frame["system"], strict=True)))}
        frame["score"] += [taste[k] for k in zip(frame["annotator"], frame["system"], strict=True)]
        found = {"one": groups.resampled(frame, seed=i, n_resamples=400)}
        found["two"] = groups.resampled_two_way(frame, seed=i, n_resamples=400)
        for name, rows in found.items():
            rows = rows[rows["statistic"] == "effect_difference"]
            covered[name] += list((rows["ci_low"] < 0) & (rows["ci_high"] > 0))
    assert np.mean(covered["one"]) < 0.85
    assert np.mean(covered["two"]) > 0.91


class TestRanges:
    def test_effects_over_picks(self):
        rows = [("d1", "a", 1), ("d2", "a", 2), ("d3", "b", 4), ("d4", "b", 5)]
        frame = pd.concat([ratings(rows), ratings([("d1", "a", 3)], annotator="A2")], ignore_index=True)
        found = pick_ranges.effect_ranges(frame, seed=1, n_picks=200).iloc[0]
        # d1 counts 1 or 3: means 1.5 or 2.5 against 4.5, pooled variance 0.5 either way
        assert (found["ci_low"], found["ci_high"]) == pytest.approx((2 / 0.5**0.5, 3 / 0.5**0.5))
        assert (found["condition"], found["ci_kind"]) == ("over=picks;sides=together", "range")

    @pytest.mark.parametrize("label", [QUALITY, COMPARED], ids=["ratings", "comparisons"])
    def test_alpha_over_picks_is_alpha_of_every_pick(self, label):
        rng, n = np.random.default_rng(3), 5
        if label is QUALITY:

            def make(g, a):
                return marks([(f"d{i}", "ab"[i % 2], rng.integers(1, 6)) for i in range(n)], group=g, annotator=a)
        else:

            def make(g, a):
                return comparisons([("a", "b", rng.integers(-1, 2)) for _ in range(n)], group=g, annotator=a)

        frame = pd.concat([make("g1", "A1"), make("g1", "A2"), make("g2", "A3")], ignore_index=True)
        frame = frame.assign(annotator_kind="human", source_row=np.arange(len(frame)))
        score = {a: part["score"].to_numpy() for a, part in frame.groupby("annotator")}
        every = []
        for chosen in itertools.product(("A1", "A2"), repeat=n):
            values = np.array([[score[a][i], score["A3"][i]] for i, a in enumerate(chosen)])
            values = np.concatenate([values, -values]) if label is COMPARED else values
            every.append(alpha.alpha(values, "ordinal").estimate)
        (found,) = pick_ranges.alpha_ranges(frame, [label], "g1", "g2", seed=1, n_picks=2_000).to_dict("records")
        assert (found["ci_low"], found["ci_high"]) == pytest.approx((np.nanmin(every), np.nanmax(every)))
        assert found["estimate"] == pytest.approx(np.nanmean(every), abs=0.02)
        assert found["n"] == n

    def test_inside_and_how_often_wrong_values_are(self):
        cell = {"panel": "likert", "column": "g1", "decimals": 2}
        printed = pd.DataFrame(
            [{**cell, "row": r, "value": v} for r, v in (("x", 0.30), ("y", 0.34), ("z", 0.90))]
            + [{**cell, "row": "unknown", "value": 0.5}]
        )
        ranges = [("x", 0.304, 0.34), ("y", 0.35, 0.4), ("z", 0.2, 1.0)]
        ranges = pd.DataFrame(ranges, columns=["label", "ci_low", "ci_high"]).assign(method="m", groups="g1")
        found = pick_ranges.inside(printed, ranges, "label", "groups", {"likert": "m"}).set_index("row")
        assert found["inside"].to_dict() == {"x": True, "y": False, "z": True}  # 0.30 may have been 0.304
        assert found["wrong_inside"].to_dict() == {"x": 0.5, "y": 0.0, "z": 1.0}


@pytest.fixture(scope="module")
def three():
    frame = study(np.random.default_rng(1), groups=("g1", "g2", "g3"), shift=1.2, n_annotators=3)
    score = np.clip(np.rint(3 + frame["score"]), 1, 5)
    frame = frame.assign(score=score, method="dialogue_likert", annotator_kind="human", dialogue_b=None, system_b=None)
    return frame.assign(source_row=np.arange(len(frame)), work_unit="U1").astype({"turn": "Int32"})


@pytest.fixture(scope="module")
def rows(three):
    options = {
        "margin": 0.2,
        "n_permutations": 300,
        "n_picks": 100,
        "people_resamples": 200,
        "seed": 1,
        "chance_seed": 1,
    }
    return group_effects.primary(three, three, [QUALITY], **options, **BOOT)


class TestPrimary:
    def test_rows_fit_the_schema(self, rows):
        assert len(schema.make_results(rows, study="x", notebook="08")) == len(rows)

    def test_p_values_are_adjusted_over_labels_and_groups(self, rows):
        tests = group_report.select(rows, "group_difference_test", exchange="judgement")
        assert len(tests) == 3
        p = np.sort(tests["p_value"].to_numpy())
        assert np.sort(tests["p_adjusted"].to_numpy())[0] == pytest.approx(min(1, 3 * p[0]))

    def test_without_one_is_the_range_of_leave_one_out(self, three, rows):
        every = group_null.leave_one_annotator_out(three).groupby(["group", "group_b"])["estimate"]
        found = group_report.select(rows, "group_difference", over="people").set_index(["group", "group_b"])
        pd.testing.assert_series_equal(found["ci_low"], every.min(), check_names=False)
        pd.testing.assert_series_equal(found["ci_high"], every.max(), check_names=False)

    def test_pairs_of_systems_are_counted_once(self, rows):
        for of, resample in (("sign", "session"), ("sign", "session and annotator"), ("size", None), ("order", None)):
            total = group_report.totals(rows, of, resample)
            assert total.drop(columns=["method", "group", "group_b"]).sum(axis=1).tolist() == [6, 6, 6]

    def test_a_group_that_sees_one_system_otherwise_is_found(self, rows):
        found = group_report.differences(rows, 0.05).set_index(["group", "group_b"])
        assert found["verdict"].to_dict() == {
            ("g1", "g2"): "cannot tell",
            ("g1", "g3"): "differs",
            ("g2", "g3"): "differs",
        }
        assert found["exceeds"].tolist() == [False, True, True]
        assert (found["without_low"] <= found["estimate"] + 0.3).all()

    def test_sentences_say_so(self, rows, three):
        lk = names_of(three)
        found = group_report.differences(rows, 0.05)
        said = group_report.what_chance_gives(found, lk, 0.2)
        assert "2 of 3 exceed" in said
        assert "0 of 3 can be called robust" in said
        assert "g1 / g3" in group_report.findings(found, lk)
        assert "18 pairs of systems" in group_report.conclusions(rows, lk, 0.2)
        assert group_report.few_people(three, lk).startswith("**Few people.** g1 (3 people), g2")
        assert "9" not in group_report.few_people(three, lk)
        assert len(group_report.shown(found, lk)) == 3


def test_annotators_are_drawn_within_strata():
    strata, seen = np.array(["a", "b", "a", "b", "b"]), []

    def statistic(items, people):
        seen.append(np.stack([people[:, strata == g].sum(axis=1) for g in "ab"], axis=1))
        return people[:, 0] + items[:, 0]

    resampling.bootstrap_two_way(4, 5, statistic, rng=np.random.default_rng(1), strata=strata, n_resamples=50)
    assert (np.concatenate(seen) == [2, 3]).all()


class TestFigures:
    """A panel for each two groups and each label; every value has a mark."""

    def test_differences(self, rows, three):
        found = group_report.differences(rows, 0.05)
        fig = group_plots.differences_figure(found, names_of(three), 0.2)
        titles = [ax.get_title(loc="left") for ax in fig.axes if ax.axison]
        assert titles == ["g1 / g2", "g1 / g3", "g2 / g3"]
        assert fig.axes[0].get_xlim()[1] > found["debiased_high"].max()

    def test_effects_and_alpha(self, rows, three):
        lk = names_of(three)
        effect = group_report.select(rows, "effect_size", resample="session")
        (ax,) = group_plots.effects_figure(effect, lk, "d").axes
        assert len(ax.get_yticklabels()) == 6
        agreed = group_report.select(rows, "alpha")
        (ax,) = group_plots.alpha_figure(agreed, lk).axes
        names = [t.get_text().replace("\n", " ") for t in ax.get_yticklabels()]
        assert names == ["g1 / g2", "g1 / g3", "g2 / g3"]

    def test_conclusions(self, rows, three):
        parts = {"Which": group_report.totals(rows, "sign", "session"), "None": pd.DataFrame()}
        (ax,) = group_plots.agreement_figure(parts, names_of(three)).axes
        assert [t.get_text() for t in ax.get_yticklabels()] == ["g1 / g2", "g1 / g3", "g2 / g3"]


def test_sizes_by_hand():
    ends = [(-0.1, 0.1), (0.05, 0.19), (0.1, 0.9), (-0.3, 0.1)]
    joint = pd.DataFrame(ends, columns=["ci_low", "ci_high"]).assign(statistic="effect_difference")
    fixed = {"corpus": "main", "method": "dialogue_likert", "label": "quality", "level": "dialogue"}
    found = group_effects.sizes(joint.assign(group="g1", group_b="g2", **fixed), 0.2).set_index("condition")["estimate"]
    assert found.to_dict() == {
        "margin=0.2;of=size;verdict=same": 2,  # different from 0, but too little to matter
        "margin=0.2;of=size;verdict=different": 1,
        "margin=0.2;of=size;verdict=undecided": 1,
    }


def test_orders_by_hand():
    values = {"g1": [0.5, -0.5, 0.0], "g2": [0.1, 0.5, 1.0]}
    joint = pd.DataFrame(
        [
            {"group": g, "system": s[0], "system_b": s[1], "estimate": v}
            for g, vs in values.items()
            for s, v in zip(("ab", "ac", "bc"), vs, strict=True)
        ]
    )
    fixed = {"corpus": "main", "method": "dialogue_likert", "label": "quality", "level": "dialogue"}
    found = group_effects.orders(joint.assign(statistic="effect_size", **fixed)).set_index("condition")["estimate"]
    assert found.to_dict() == {f"of=order;verdict={v}": 1 for v in ("same", "opposite", "undecided")}


def test_one_comparison_of_each_group_gives_reasons_and_no_crash():
    """Two systems, one pair, and a group that saw a tie: no effect, no test, no conclusion; each row says why."""
    frame = pd.concat([comparisons([("a", "b", 1)]), comparisons([("a", "b", 0)], group="g2", annotator="A2")])
    frame = frame.assign(group=["g1", "g2"], annotator_kind="human", work_unit="U1", source_row=[0, 1])
    options = {
        "margin": 0.2,
        "n_permutations": 99,
        "n_picks": 100,
        "people_resamples": 100,
        "seed": 1,
        "chance_seed": 1,
    }
    found = group_effects.primary(frame, frame, [COMPARED], **options, **BOOT)
    assert found.loc[found["estimate"].isna(), "note"].notna().all()
    table, lk = group_report.differences(found, 0.05), names_of(frame)
    assert table["verdict"].tolist() == ["no test"]
    assert "no difference could be tested" in group_report.what_chance_gives(table, lk, 0.2)
    assert "1 pairs of systems" in group_report.conclusions(found, lk, 0.2)
    group_plots.differences_figure(table, lk, 0.2)
    group_plots.agreement_figure({k: group_report.totals(found, k) for k in ("size", "order")}, lk)


@pytest.mark.parametrize(
    ("p", "q", "said"),
    [
        (0.01, 0.5, "differs"),
        (0.5, 0.01, "robust"),
        (0.01, 0.01, "differs, within the margin"),
        (0.5, 0.5, "cannot tell"),
        (np.nan, np.nan, "no test"),
    ],
)
def test_verdicts(p, q, said):
    assert group_report.verdict(p, q, 0.05) == said


def test_positions_and_models_as_groups():
    """Groups without known people: what needs people is left out, the rest is there."""
    frame = study(np.random.default_rng(1), groups=("people", "model"), n_annotators=1)
    model = frame["group"] == "model"
    frame = frame.assign(
        score=(frame["score"] > 0.4).astype(float),
        method="behavior",
        label="irrelevant",
        annotator_known=model,
        annotator_kind=np.where(model, "llm", "human"),
        dialogue_b=None,
        system_b=None,
        work_unit=None,
        source_row=np.arange(len(frame)),
    )
    frame["turn"] = pd.array([0] * len(frame), dtype="Int32")
    labels = [x for x in LABEL_SETS["abc_eval"] if x.id == "irrelevant"]
    options = {
        "margin": 0.2,
        "n_permutations": 99,
        "n_picks": 100,
        "people_resamples": 100,
        "seed": 1,
        "chance_seed": 1,
    }
    found = group_effects.primary(frame, frame, labels, **options, **BOOT)
    assert len(schema.make_results(found, study="x", notebook="08")) == len(found)
    assert "kind=human+llm" in group_report.select(found, "alpha")["condition"].iloc[0]
    table = group_report.differences(found, 0.05)
    assert table["p"].notna().all()
    assert table["p_people"].isna().all()
    assert group_report.with_people(found) == group_report.by_people(table, 0.05) == ""


def test_extent_of_values():
    assert group_report.extent(pd.Series([-0.5, np.nan, 1.0])) == "from −0.50 to 1.00"
    assert group_report.extent(pd.Series([np.nan])) == "none of them defined"


def test_counts_by_hand():
    frame = pd.concat([judged_twice(["d1", "d2"]), marks([("d3", "a", 1)]), marks([("d1", "a", 2)], annotator="A9")])
    found = group_effects.group_counts(frame.assign(session=None, seconds=1.0)).set_index(["method", "condition"])[
        "estimate"
    ]
    assert found["dialogue_likert", "kind=human;what=evaluated"] == 2  # d1 has three judgements
    assert found["dialogue_likert", "kind=human;what=doubly_annotated"] == 1
    assert found["dialogue_likert", "kind=human;what=evaluators_of_method"] == 3
    assert found[np.nan, "kind=human;what=evaluators"] == 3


@pytest.fixture(scope="module")
def raw(raw_data):
    """All annotations of the two public groups, read as the pipeline reads them, and those on the paper's scope."""
    finch2024 = params.load("finch2024")
    scope = finch2024.scope
    marks = build.build(finch2024).frames["annotations"]
    every = group_effects.comparable(marks[marks["group"].isin(["dev_x", "stu_x"])])
    kept = collection.in_scope(every, dialogues=scope.exclude_dialogues, sessions=scope.exclude_sessions)
    return every, kept


@pytest.fixture(scope="module")
def finch(raw):
    """Result rows that correspond to printed values, on all data and on the paper's scope."""
    every, kept = raw
    labels, options = LABEL_SETS["abc_eval"], {"seed": 1, "n_resamples": 100, "confidence": 0.95}
    parts = [group_effects.alpha_within(every, labels, **options), group_effects.group_counts(every)]
    parts += [group_effects.as_published(every, labels, pick_seed=123, **options)]
    options |= {"pick_seed": 123, "scope": "paper"}
    parts += [group_effects.as_published(kept, labels, **options)]
    parts += [group_effects.around_published(kept, labels, chance_seed=1, n_permutations=99, n_picks=1_000, **options)]
    return group_effects.paired(pd.concat(parts, ignore_index=True))


@pytest.fixture(scope="module")
def cells(finch):
    return verdicts.beside(finch, "finch2024", "08_group_effects")


@pytest.mark.data
class TestPrintedValues:
    def test_every_cell_of_the_two_public_groups_but_one_comes_out(self, cells):
        """Tables 3 and 4: all 80. Table 2: all but the printed 193 pairs of the students, which fit nothing."""
        here = cells[cells["verdict"] != "needs_data"]
        two = here[here["element"].isin(["Table 3", "Table 4"])]
        assert len(two) == 80
        assert set(two["verdict"]) <= {"match", "match_fitted"}
        (wrong,) = here[here["verdict"] == "differs"].itertuples()
        assert (wrong.element, wrong.panel, wrong.row, wrong.column) == ("Table 2", "pairwise", "stu_x", "evaluated")
        assert wrong.here == 147

    def test_what_was_fitted_never_counts_as_a_match(self, cells):
        fitted = cells[(cells["element"] == "Table 3") & (cells["row"] == "dev_x") & (cells["panel"] == "likert")]
        assert set(fitted["verdict"]) == {"match_fitted"}
        pairwise = cells[(cells["element"] == "Table 4") & (cells["panel"] == "pairwise")]
        assert set(pairwise.loc[pairwise["column"].isin(["dev_x", "stu_x"]), "verdict"]) == {"match_fitted"}

    def test_other_random_numbers_or_strict_anagrams_do_not_give_the_printed_values(self, raw, monkeypatch):
        """The control: 32 of 32 cells by the rule, few by its neighbours."""
        kept = raw[1]
        printed = published.load("finch2024", "Table 4")
        printed = printed[printed["column"].isin(["dev_x", "stu_x"])]
        keys = [
            (group_beside.PANELS[p], r, c)
            for p, r, c in zip(printed["panel"], printed["row"], printed["column"], strict=True)
        ]

        def equal(seed):
            found = effects.published(picks.pick_as_published(kept, seed), seed=1, n_resamples=100)
            found = found[found["statistic"] == "mean_absolute_effect"].set_index(["method", "label", "group"])[
                "estimate"
            ]
            ours = pd.Series([found[k] for k in keys], index=printed.index)
            return int(published.agrees(printed["value"], printed["decimals"], ours).sum())

        assert equal(123) == 32
        assert max(equal(seed) for seed in (1, 2, 124)) < 12
        monkeypatch.setattr(picks, "frozenset", lambda x: "".join(sorted(x)), raising=False)
        assert equal(123) < 32

    def test_printed_values_lie_inside_the_ranges_and_so_do_some_wrong_ones(self, cells, finch):
        found = group_beside.over_picks(cells, finch)
        assert len(found) == 48
        assert found["inside"].all()
        free = found[found["high"] > found["low"]]
        assert 0.1 < free["wrong_inside"].mean() < 0.4
        assert len(schema.make_results(group_beside.wrong_rows(found), study="x", notebook="08")) == 48

    def test_text_beside_the_paper_is_made_from_the_cells(self, cells, finch):
        ranges = group_beside.over_picks(cells, finch)
        said = group_beside.about_cells(cells, ranges, params.load("finch2024"))
        table = group_beside.beside(cells, ranges)
        assert f"Of {len(table)} printed values" in said
        assert "1 not at all" in said
        assert "147 that the students compared" in said

    def test_figure_one_is_held_against_chance(self, finch):
        found = group_report.differences(finch, 0.05, scope="paper", pick="paper")
        assert len(found) == 16
        assert found[["estimate", "null_mean", "null_q95", "p_adjusted"]].notna().all(axis=None)
        said = group_beside.about_figure(found, names_of(), 0.05)
        assert f"{int(found['exceeds'].sum())} exceed the 95 % point" in said


def test_within_groups_is_alpha_of_the_first_two_annotations(three):
    second = three.assign(annotator="Z", source_row=three["source_row"] + len(three))
    second["score"] = (second["score"] + 1).clip(upper=5)
    both = pd.concat([three, second[second["group"] != "g3"]], ignore_index=True)
    found = group_effects.alpha_within(both, [QUALITY], seed=1, **BOOT)
    assert found["group"].tolist() == ["g1", "g2"]  # of the third group every item was judged once
    direct = agreement.alpha_table(both, [QUALITY], first=2, seed=1, beside=False, **BOOT)
    alpha = direct[direct["statistic"] == "alpha"].set_index("group")["estimate"]
    assert found["estimate"].tolist() == pytest.approx([alpha["g1"], alpha["g2"]])
    named = group_effects.paired(pd.DataFrame({"group": ["a", "a"], "group_b": ["b", None]}))
    assert named["groups"].tolist() == ["a__b", "a"]


def test_between_groups_uses_the_annotations_it_is_given(three):
    found = group_effects.alpha_between(three, [QUALITY], seed=1, **BOOT)
    assert list(zip(found["group"], found["group_b"], strict=True)) == [("g1", "g2"), ("g1", "g3"), ("g2", "g3")]
    direct = agreement.alpha_between(three, [QUALITY], "g1", "g3", seed=1, **BOOT)
    direct = direct.loc[direct["statistic"] == "alpha", "estimate"].item()
    assert found.set_index("group_b")["estimate"].iloc[1] == pytest.approx(direct)
