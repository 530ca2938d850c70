"""The alternative annotator test: by hand, against scipy, and by simulation."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from judgebook.questions.judges import alternative_annotator as alternative
from judgebook.study.labels import Label
from judgebook.study.results import collect

LABELS = [Label("bad", "behavior", "Bad", (0, 1)), Label("fine", "turn_rating", "Fine", (1, 5))]


def winning_rates(annotations, **options):
    return collect(alternative.winning_rates(annotations, LABELS, **options))


def panel_of(values, dialogue, min_items=30):
    """The panel of an (items, annotators) array, NaN where nobody judged, and its scores."""
    item, annotator = np.nonzero(np.isfinite(values))
    return alternative.AnnotatorPanel(item, annotator, np.asarray(dialogue), min_items), values[item, annotator]


def left_out(values, judge, dialogue, level, *, min_items=30, **options):
    return alternative.left_out(*panel_of(values, dialogue, min_items), judge, level, **options)


def alignment(value, others, level):
    """Calderon et al. 2025, section 3.1: one score held against those of the others."""
    if level == "nominal":
        return np.mean(others == value)
    return -np.sqrt(np.mean((others - value) ** 2))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("kind", ["integers", "decimals", "continuous"])
def test_who_is_closer_is_said_as_in_the_paper(level, kind):
    """Item by item, against the definition; ties of decimals are ties, whatever their last digits."""
    rng = np.random.default_rng(8)
    draw = {
        "integers": lambda *shape: rng.integers(1, 6, shape).astype(float),
        "decimals": lambda *shape: rng.integers(1, 6, shape) / 10 + 0.1,
        "continuous": lambda *shape: 100 * rng.random(shape),
    }[kind]
    values, judge = draw(200, 5), draw(200)
    values[rng.random(values.shape) < 0.3] = np.nan
    panel, value = panel_of(values, np.arange(200), 1)
    item, annotator = np.nonzero(np.isfinite(values))
    expected = []
    for i, j in zip(item[panel.used], annotator[panel.used], strict=True):
        others = np.delete(values[i], j)
        theirs, ours = (alignment(x, others[np.isfinite(others)], level) for x in (values[i, j], judge[i]))
        expected.append(0 if abs(theirs - ours) < 1e-9 else np.sign(theirs - ours))
    found = panel.closer(value, judge, level)
    assert found.tolist() == expected
    ties = kind != "continuous" or level == "nominal"
    assert (0 in found) == ties
    assert ({-1, 1} <= set(found)) == (kind != "continuous" or level != "nominal")


def test_p_values_are_those_of_scipy():
    rng = np.random.default_rng(1)
    values = rng.integers(1, 6, (60, 4)).astype(float)
    values[:10, 0] = np.nan
    model = np.nanmean(values, axis=1).round()
    found = left_out(values, model, np.arange(60), "ordinal", cost=0.1, min_items=30)
    assert found["n"].tolist() == [50, 60, 60, 60]
    for row in found.itertuples():
        at, others = np.isfinite(values[:, row.annotator]), np.delete(values, row.annotator, axis=1)
        distance = [
            np.sqrt(np.nanmean((others[at] - v[at, None]) ** 2, axis=1)) for v in (model, values[:, row.annotator])
        ]
        human, ours = (distance[1] <= distance[0] + 1e-12), (distance[0] <= distance[1] + 1e-12)
        assert (row.judge, row.human) == (pytest.approx(ours.mean()), pytest.approx(human.mean()))
        d = human.astype(float) - ours
        test = stats.ttest_1samp(d, 0.1, alternative="less")
        assert row.p_value == pytest.approx(test.pvalue)
        # every item its own dialogue: the same standard error
        assert row.p_clustered == pytest.approx(test.pvalue)


def test_items_that_one_person_or_no_judge_judged_do_not_count():
    rng = np.random.default_rng(3)
    values, model = rng.integers(1, 6, (90, 3)).astype(float), rng.integers(1, 6, 90).astype(float)
    values[:10, 1:] = values[10:20, :2] = np.nan
    found = left_out(values, model, np.arange(90) // 2, "ordinal", min_items=30)
    rest = left_out(values[20:], model[20:], np.arange(20, 90) // 2, "ordinal", min_items=30)
    assert found["n"].tolist() == [70, 70, 70]
    pd.testing.assert_frame_equal(found, rest)
    frame = simulated(rng, 1.0)
    last = frame["dialogue"] == "d39"
    unseen = frame[~(last & (frame["annotator"] == "A4"))]  # the judge was not asked about this dialogue
    some = winning_rates(unseen)
    assert some["advantage_probability"]["n"].item() == 4 * 195
    pd.testing.assert_frame_equal(some["winning_rate"], winning_rates(frame[~last])["winning_rate"])


def simulated(rng, noise, n=200, m=4, known=True):
    truth = rng.normal(size=n)
    rows = []
    for i, sd in enumerate([1.0] * m + [noise]):
        kind = "human" if i < m else "llm"
        score = np.clip(np.rint(3 + truth + sd * rng.normal(size=n)), 1, 5)
        rows.append(pd.DataFrame({"annotator": f"A{i}", "annotator_kind": kind, "score": score, "item": range(n)}))
    frame = pd.concat(rows, ignore_index=True)
    fixed = {"corpus": "main", "method": "turn_rating", "label": "fine", "dialogue_b": None, "annotator_known": known}
    return frame.assign(dialogue="d" + (frame["item"] // 5).astype(str), turn=frame["item"] % 5, **fixed)


def test_rates_are_those_of_the_tests_of_each_annotator():
    frame = simulated(np.random.default_rng(5), 1.6)
    found = winning_rates(frame, cost=0.1)
    wide = frame.pivot_table(index=["dialogue", "turn"], columns="annotator", values="score")
    people, judge = wide.drop(columns="A4").to_numpy(), wide["A4"].to_numpy()
    each = left_out(people, judge, wide.index.get_level_values("dialogue"), "ordinal", cost=0.1)
    for test, column in (("items", "p_value"), ("dialogues", "p_clustered")):
        passed = multipletests(each[column], alpha=0.05, method="fdr_by")[0]
        assert found.select("winning_rate", test=test)["estimate"].item() == passed.mean()
    assert found["advantage_probability"]["estimate"].item() == pytest.approx(each["judge"].mean())


def test_where_it_does_not_apply_there_is_a_reason():
    rng = np.random.default_rng(4)
    reasons = {
        "Annotators are positions in a list, not people": simulated(rng, 1.0, known=False),
        "2 annotators have 30 items that others also judged; 3 are needed": simulated(rng, 1.0, m=2),
        "0 annotators have 30 items that others also judged; 3 are needed": simulated(rng, 1.0, n=20),
    }
    for reason, frame in reasons.items():
        found = winning_rates(frame)["winning_rate"]
        assert found["estimate"].isna().all()
        assert found["note"].str.startswith(reason).all()
    people = simulated(rng, 1.0)
    assert winning_rates(people[people["annotator_kind"] == "human"]) == {}
