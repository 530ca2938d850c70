import numpy as np
import pandas as pd
import pytest
from sessions import SYSTEMS, annotate
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportions_ztest

from helpers import params, power, profile, sensitivity, systems_apart
from helpers.schema import make_results, read_condition
from helpers.sources import build

SETTINGS = {"systems": SYSTEMS, "pick_seed": 1}


@pytest.fixture(scope="module")
def data():
    annotations, talked = annotate(np.random.default_rng(2), n_interactors=20, per_interactor=3, effect=0.5)
    dialogues = pd.DataFrame({"corpus": "main", "dialogue": talked.index, "interactor": talked.to_numpy(object)})
    return annotations, dialogues


@pytest.fixture(scope="module")
def cells(data):
    return systems_apart.cells(*data, **SETTINGS)


def keyed(frame):
    conditions = pd.DataFrame([read_condition(c) for c in frame["condition"]], index=frame.index)
    return pd.concat([frame, conditions.rename(columns={"family": "over"})], axis=1)


def test_a_cell_for_each_group_the_one_with_most_labels_first(cells):
    assert [(c.corpus, c.group) for c in cells] == [("main", "ext"), ("main", "own")]
    assert [p.method for p in cells[0].panels] == ["behavior", "dialogue_likert", "comparative"]
    assert [p.method for p in cells[1].panels] == ["dialogue_likert", "comparative"]
    assert cells[0].blocks == "session"
    assert list(cells[0].panels[0].systems) == list(SYSTEMS)


def test_draws_only_where_a_system_has_more(cells):
    per_system = pd.Series(cells[0].panels[0].system).value_counts()
    assert cells[0].draw_size(per_system.max()) is None
    assert cells[0].draw_size(per_system.max() - 1) == per_system.max() - 1
    pairs = [cells[0].panels[2].rows_of(a, b).sum() for a, b in cells[0].panels[2].pairs]
    assert cells[0].smallest() == min(pairs)


def test_systems_with_few_dialogues_are_left_out(data):
    annotations, dialogues = data
    rare = annotations[annotations["system"].eq("a") | annotations["system_b"].eq("a").fillna(False)]
    few = rare["dialogue"].drop_duplicates().iloc[: systems_apart.MIN_DIALOGUES - 1]
    kept = annotations[~annotations.index.isin(rare.index) | annotations["dialogue"].isin(few)]
    kept = kept[kept["method"] == "dialogue_likert"]
    (cell,) = systems_apart.cells(kept[kept["group"] == "ext"], dialogues, **SETTINGS)
    assert cell.panels[0].systems == ["b", "c", "d"]
    one = kept[kept["system"] == "b"]
    assert systems_apart.cells(one, dialogues, **SETTINGS) == []
    assert profile.MIN_DIALOGUES == systems_apart.MIN_DIALOGUES


def test_contexts_stand_in_for_sessions(data):
    annotations, dialogues = data
    marks = annotations[annotations["method"] == "behavior"]
    paired = marks.assign(context=marks["session"], session=pd.NA)
    (cell,) = systems_apart.cells(paired, dialogues, **SETTINGS)
    (with_sessions,) = systems_apart.cells(marks, dialogues, **SETTINGS)
    assert cell.blocks == "context"
    given = {"seed": 1, "within": "session", "n_permutations": 300}
    ours, theirs = (systems_apart.tests(c, **given)[0] for c in (cell, with_sessions))
    assert ours["p_value"].tolist() == theirs["p_value"].tolist()
    assert "context" in set(ours["resample_unit"])
    nothing = marks.assign(session=pd.NA, context=pd.NA)
    assert systems_apart.cells(nothing, dialogues, **SETTINGS)[0].blocks == "none"


def test_p_values_are_adjusted_within_label_and_test(cells):
    rows, counts = systems_apart.tests(cells[0], seed=1, within="session", n_permutations=300)
    shown = keyed(rows)
    assert set(shown["test"]) == {"z", "student", "welch", "sign", "session"}
    for _, part in shown.groupby(["method", "label", "test"]):
        assert part["p_adjusted"].to_numpy() == pytest.approx(multipletests(part["p_value"], method="holm")[1])
    here = keyed(counts)
    here = here[(here["test"] == "session") & (here["alpha"] == "0.05") & (here["over"] == "label")]
    found = shown[shown["test"] == "session"].assign(sure=lambda f: f["p_adjusted"] < 0.05)
    found = found.groupby(["method", "label"])["sure"].sum()
    assert here.set_index(["method", "label"])["estimate"].sort_index().tolist() == found.tolist()


def test_large_families_get_as_many_permutations_as_they_need(data):
    """The smallest p-value must survive multiplication by the number of comparisons."""
    annotations, dialogues = data
    ratings = annotations[(annotations["method"] == "dialogue_likert") & (annotations["group"] == "ext")]
    (cell,) = systems_apart.cells(ratings, dialogues, **SETTINGS)
    rows, _ = systems_apart.tests(cell, seed=1, within="session", n_permutations=99)
    session = rows[rows["condition"].str.contains("test=session")]
    # 6 comparisons: 240 permutations, so that p-values are multiples of 1/241
    times = session["p_value"] * 241
    assert times.to_numpy() == pytest.approx(times.round().to_numpy())


def test_all_rows_are_valid(cells):
    parts = []
    for cell in cells:
        parts += systems_apart.tests(cell, seed=1, within="interactor", n_permutations=200)
        parts += systems_apart.draws(cell, n=10, n_draws=5, seed=1, within="interactor")
    given = {"seed": 1, "within": "session"}
    parts.append(systems_apart.errors(cells[0], n=10, n_runs=20, n_permutations=99, **given))
    parts.append(systems_apart.planning(cells[0], sizes=[8, 16], n_draws=20, **given))
    out = make_results(pd.concat(parts), study="test", notebook="05_sensitivity")
    wanted = {"system_difference", "n_significant", "null_rejection", "power", "detectable_effect"}
    assert set(out["statistic"]) == wanted
    assert set(out["group"]) == {"ext", "own"}


def test_a_cell_counts_its_rows(cells):
    assert cells[0].rows == sum(len(p.dialogue) for p in cells[0].panels)
    assert cells[1].rows == len(cells[1].panels[0].dialogue) + len(cells[1].panels[1].dialogue)


def test_draws_errors_and_planning_are_those_of_each_panel(cells):
    (cell,) = cells[1:]  # ratings and comparisons by those who talked
    counts, first = systems_apart.draws(cell, n=10, n_draws=4, seed=3, within="session")
    ours, tests = sensitivity.count_significant(cell.panels, n=10, n_draws=4, seed=3, within="session")
    kept = ours[~ours["condition"].str.contains("adjust=b")]
    assert counts["estimate"].tolist() == kept["estimate"].tolist()
    assert first["p_value"].tolist() == pytest.approx(tests["p_value"].tolist(), nan_ok=True)
    given = {"seed": 3, "within": "session", "n_permutations": 99}
    found = systems_apart.errors(cell, n=8, n_runs=30, **given)
    each = []
    for data in cell.panels:
        size = min(8, pd.Series(data.system).value_counts().max() // 2) if data.unit != "pair" else 8
        kinds = [data.published_test, "session"]
        each.append(power.null_rejection(data, kinds, n=size, n_runs=30, **given))
    assert found["estimate"].tolist() == pd.concat(each)["estimate"].tolist()
    found = systems_apart.planning(cell, sizes=[8, 16], n_draws=40, seed=3, within="session")
    each = [power.power_by_size(d, ["session"], [8, 16], n_draws=40, seed=3, within="session") for d in cell.panels]
    least = int(pd.Series(cell.panels[0].system).value_counts().min())
    each.append(power.detectable(cell.panels[0], least))
    assert sorted(found["estimate"]) == pytest.approx(sorted(pd.concat(each)["estimate"]))


@pytest.fixture(scope="module")
def marks(raw_data):
    """Real behaviour marks by two people a turn, 27 dialogues a system, as one cell."""
    frames = build.build(params.load("gpt_abceval")).frames
    people = frames["annotations"][frames["annotations"]["annotator_kind"] == "human"]
    settings = {"systems": sorted(people["system"].unique()), "pick_seed": 123}
    (cell,) = systems_apart.cells(people, frames["dialogues"], **settings)
    return cell


@pytest.mark.data
def test_counts_on_real_marks_equal_statsmodels(marks):
    (data,) = marks.panels
    assert pd.Series(data.system).value_counts().tolist() == [27] * 4
    rows, counts = systems_apart.tests(marks, seed=1, within="session", n_permutations=500)
    shown = keyed(rows)
    for j, label in enumerate(data.labels):
        p = []
        for a, b in data.pairs:
            hits = [data.total[data.system == s, j].sum() for s in (a, b)]
            p.append(proportions_ztest(hits, [data.n[data.system == s, j].sum() for s in (a, b)])[1])
        mine = shown[(shown["label"] == label) & (shown["test"] == "z")]["p_value"]
        assert mine.tolist() == pytest.approx(p)
        at = keyed(counts)
        at = at[(at["label"] == label) & (at["test"] == "z") & (at["alpha"] == "0.05") & (at["over"] == "none")]
        assert at["estimate"].item() == sum(v < 0.05 for v in p)


@pytest.mark.data
def test_on_real_marks_tests_on_turns_find_what_is_not_there(marks):
    found = keyed(systems_apart.errors(marks, n=13, n_runs=120, seed=2, within="session", n_permutations=201))
    share = found[found["alpha"] == "0.05"].groupby("test")["estimate"].mean()
    # three binomial standard errors of 120 runs are 6 points
    assert share["z"] > 0.05 + 0.06
    assert share["session"] <= 0.05 + 0.06
