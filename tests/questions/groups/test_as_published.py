"""The pick of the authors' code, and the printed values of Finch et al. 2024 from the raw files."""

import random
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import comparisons, judged_twice, numbered
from fixtures.notebook_cells import as_published as cells_of

from compendium.papers.group_effects import analyse
from compendium.published import numbers, verdicts
from helpers.group_effects import Page
from judgebook.annotations import picks
from judgebook.annotations.summary import in_scope
from judgebook.display.names import display_names
from judgebook.display.views import Plot, Table
from judgebook.questions.groups import analysis
from judgebook.questions.groups.analysis import alpha_within, comparable, group_counts
from judgebook.questions.groups.effects import label_scores, over_pairs, unit_sums
from judgebook.sources import build
from judgebook.statistics.intervals import Sampling
from judgebook.study import params
from judgebook.study.labels import LABEL_SETS
from judgebook.study.results import collect


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
        third = numbered([(d, "a", 5) for d in dialogues], group="g2", annotator="A3")
        third["source_row"] = third.index + 999
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
        assert len(apart) == 60
        total = apart.assign(pair=apart["session"]).groupby("pair")["score"].sum()
        assert set(total) == {-2.0, 0.0, 2.0}  # 0: both sides of one annotation
        together = picks.pick_as_published(twice, 1, comparisons="pair")
        assert len(together) == 30
        assert set(together["score"]) == {-1.0, 1.0}


@pytest.fixture(scope="module")
def raw(raw_data):
    """All annotations of the two public groups, read as the pipeline reads them."""
    annotations = build.build(params.load("finch2024")).frames["annotations"]
    return comparable(annotations[annotations["group"].isin(["dev_x", "stu_x"])])


def page(study, raw):
    """What the cells of the notebook ask of a page."""
    left_out, names = study.scope, display_names(study, raw)
    inside = {"dialogues": left_out.exclude_dialogues, "sessions": left_out.exclude_sessions}
    made = {"study": study, "judged": raw, "in_scope": lambda rows: in_scope(rows, **inside), "names": names}
    made |= {"with_both": partial(Page.with_both, SimpleNamespace(names=names))}
    return made | {"published_sampling": Sampling(100, 0.95, 1)}


@pytest.fixture(scope="module")
def published(raw):
    """What the notebook's cells store, and show."""
    return cells_of("08_group_effects", **page(params.load("finch2024"), raw))


@pytest.fixture(scope="module")
def results(raw, published):
    """What corresponds to printed values, on all data and on the paper's scope."""
    labels, sampling, study = LABEL_SETS["abc_eval"], Sampling(100, 0.95, 1), params.load("finch2024")
    options = study.group_effects.model_copy(update={"n_permutations": 99})
    seeds = {"pick_seed": 123, "permute_seed": 1}
    printed = analyse(raw, labels, options, study.scope, numbers.load("finch2024"), sampling=sampling, **seeds)
    effects = [rows.assign(statistic=name, resample="score") for name, rows in published.saved.items()]
    return analysis.adjusted(collect(printed, *effects, alpha_within(raw, labels, sampling), group_counts(raw)))


@pytest.fixture(scope="module")
def cells(results):
    return verdicts.beside(results, "finch2024", "08_group_effects")


@pytest.mark.verify
@pytest.mark.data
class TestPrintedValues:
    def test_every_cell_of_the_two_public_groups_but_one_comes_out(self, cells):
        """Tables 3 and 4: all 80. Table 2: all but the printed 193 pairs of the students, which fit nothing."""
        here = cells[cells["verdict"] != "needs_download"]
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

    def test_effects_are_those_of_the_kernel(self, raw, published):
        ours = pd.concat(published.saved.values()).fillna({"group_b": ""})
        ours = ours[ours["pick"].isna()].set_index(["method", "label", "group", "group_b"])["estimate"].to_dict()
        for one in label_scores(next(picks.picks(raw, 1, params.load("finch2024").seeds.pick))):
            sums = unit_sums(one.scores, np.zeros(len(one.scores)), one.groups, one.systems)[1]
            for (_, group, group_b), value in zip(one.means, over_pairs(sums, one.effect)[0], strict=True):
                assert ours[(*one.key[1:], group, group_b or "")] == pytest.approx(value, abs=1e-9)

    def test_another_effect_size_changes_what_is_stored_and_shown(self, raw, published):
        hedges = ('RATINGS = "d"', 'RATINGS = "g"')
        study = params.load("finch2024")
        study = study.model_copy(update={"group_effects": study.group_effects.model_copy(update={"paper": None})})
        other = cells_of("08_group_effects", hedges, **page(study, raw))
        d, g = (x.saved["mean_absolute_effect"] for x in (published, other))
        d = d[d["pick"].isna()]
        rated = (d["effect"] == "d").to_numpy()
        assert (g["estimate"].to_numpy()[rated] < d["estimate"].to_numpy()[rated]).all()
        assert g["estimate"].to_numpy()[~rated] == pytest.approx(d["estimate"].to_numpy()[~rated])
        assert set(g["effect"]) == {"g", "h"}
        assert "not the same" not in other.shown[0].text  # as pingouin's g
        captions = [view.caption for view in other.shown if isinstance(view, Plot | Table)]
        assert "Hedges' g" in " ".join(captions)
        assert "Cohen's d" not in " ".join(captions)

    def test_figures_and_tables_show_the_main_rows(self, published):
        drawn = published.variables["figure_1"]
        main = published.saved["group_difference"].query("pick.isna()")
        assert drawn["estimate"].tolist() == main["estimate"].tolist()
        tables = {view.name: view.frame for view in published.shown if isinstance(view, Table)}
        effects = published.saved["mean_absolute_effect"].query("pick.isna()")
        assert sorted(tables["table_4_as_published"]["Scores"]) == sorted(effects["n"])
