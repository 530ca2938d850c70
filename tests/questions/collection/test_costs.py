"""Time and cost: by hand, against the printed Tables 9 and 10 of Finch et al. 2023, and by simulation."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fixtures.notebook_cells import as_published
from fixtures.notebook_code import functions

from compendium.published import numbers as published
from judgebook.display.names import DisplayNames
from judgebook.questions.collection import costs
from judgebook.questions.collection.question import Costs
from judgebook.study import schema
from judgebook.study.labels import LABEL_SETS
from judgebook.study.results import collect, fold


def annotations(rows):
    """(group, annotator, method, dialogue, dialogue_b) -> a frame of annotations."""
    frame = pd.DataFrame(rows, columns=["group", "annotator", "method", "dialogue", "dialogue_b"])
    frame["label"] = frame["method"].map({"behavior": "ignore", "comparative": "quality"})
    fixed = {"corpus": "main", "annotator_known": True, "annotator_kind": "human", "system": "s", "score": 1.0}
    frame = frame.assign(**fixed, source_row=range(len(frame)))
    return schema.conform(frame, schema.ANNOTATIONS, study="s")


MARKS = annotations(
    [
        ("g", "A1", "behavior", "1a", None),
        ("g", "A2", "behavior", "1a", None),
        ("g", "A1", "behavior", "1a", None),
        ("g", "A1", "behavior", "2b", None),
        ("g", "A1", "comparative", "1a", "1b"),
        ("g", "A2", "comparative", "1a", "1b"),
        ("g", "A3", "comparative", "1a", "1b"),
        ("h", "A4", "comparative", "2b", "2a"),
    ]
)

ROWS = {
    "dialogue_collection": ("collection", 400),
    "dialogue_likert": ("dialogue_likert", 400),
    "comparative": ("comparative", 200),
    "turn_likert": ("turn_likert", 400),
    "abc_eval_all": ("behavior", 400),
    "abc_eval_final": ("final", 400),
}


def table_10():
    return published.load("finch2023", "Table 10").pivot_table(index="row", columns="column", values="value")


PRICES = functions("02_collection_stats", page=SimpleNamespace(costs=Costs()))["prices"]


def money_range(ti, units):
    """Smallest and largest throughput and cost that minutes printed with two decimals allow."""
    ends = [PRICES(ti + d, units, np.nan) for d in (-0.005, 0.005)]
    return {k: (min(e[k] for e in ends), max(e[k] for e in ends)) for k in ("throughput", "estimated_cost")}


def inside(value, ends, half):
    return ends[0] - half <= value <= ends[1] + half


@pytest.mark.parametrize("row", ROWS)
def test_throughput_and_estimated_cost_of_table_10_follow_from_its_minutes(row):
    printed, (_, units) = table_10().loc[row], ROWS[row]
    possible = money_range(printed["ti"], units)
    assert inside(printed["tp"], possible["throughput"], 0.005)
    assert inside(printed["ec"], possible["estimated_cost"], 0.005)


def test_own_cost_of_table_10_follows_from_the_payments_of_table_9():
    paid = published.load("finch2023", "Table 9")
    behavior = paid.loc[paid["panel"] == "behavior", "value"]
    one = paid[paid["panel"] != "behavior"].set_index("row")["value"]
    payments = {
        "dialogue_likert": (one["dialogue_likert"], 1),
        "comparative": (one["comparative"], 1),
        "turn_likert": (8 * one["turn_likert"], 8),
        "abc_eval_all": (behavior.sum(), len(behavior)),
        "dialogue_collection": (5 / 6, 0),  # 5 dollars for six conversations (section 3)
    }
    assert len(behavior) == 8
    for row, (payment, printed_terms) in payments.items():
        own = PRICES(1, ROWS[row][1], payment)["own_cost"]
        rounding = 0.005 * printed_terms * ROWS[row][1]
        assert abs(own - table_10().at[row, "oc"]) <= rounding + 0.005, row


def units(rows):
    names = ["group", "work_unit", "annotator", "task", "part", "seconds"]
    return schema.conform(pd.DataFrame(rows, columns=names).assign(corpus="main"), schema.WORK_UNITS, study="s")


def test_minutes_take_timed_parts_before_whole_units_and_each_unit_once():
    marks = MARKS.assign(work_unit=["U1", "U2", "U1", "U1", "U3", "U4", "U3", "U5"], seconds=60.0)
    work = units(
        [
            ("g", "U1", "A1", "transitions", "whole", 120.0),
            ("g", "U2", "A2", "transitions", "whole", None),
            ("g", "U3", "A1", None, "whole", 900.0),
            ("g", "U3", "A1", None, "first_bot", 480.0),
            ("g", "U3", "A1", None, "comparative", 30.0),
            ("g", "U3", "A1", None, "second_likert", None),
            ("g", "U4", "A2", None, "whole", 90.0),
        ]
    )
    out = costs.minutes(work, marks)
    found = out[["method", "task", "work_unit", "minutes"]].to_records(index=False).tolist()
    assert sorted(found) == [
        ("behavior", "transitions", "U1", 1.0),
        ("collection", "collection", "U3", 8.0),
        ("comparative", "comparative", "U3", 0.5),
        ("comparative", "comparative", "U4", 1.5),
    ]
    alone = costs.minutes(work.iloc[:0], marks)  # no frame of work units: the seconds of the annotations
    assert sorted(alone["work_unit"]) == ["U1", "U2", "U3", "U4", "U5"]


def test_the_time_of_a_unit_is_shared_by_the_dialogues_or_pairs_judged_in_it():
    marks = MARKS.assign(work_unit=["U1", "U9", "U1", "U1", "U3", "U9", "U9", "U3"])  # U1: 1a and 2b; U3: two pairs
    work = units([("g", "U1", "A1", "transitions", "whole", 240.0), ("g", "U3", "A1", None, "whole", 600.0)])
    out = costs.minutes(work, marks).set_index("work_unit")
    assert out["minutes"].to_dict() == {"U1": 2.0, "U3": 5.0}
    assert out["task"].to_dict() == {"U1": "transitions", "U3": "comparative"}


def test_a_whole_unit_that_mixes_methods_counts_once_and_not_by_method():
    """U1: four marks of dialogues 1a and 2b, and two comparisons, of 1a with 1b and of 2b with 2a: four dialogues."""
    marks = MARKS.assign(work_unit=["U1", "U2", "U1", "U1", "U1", "U3", "U9", "U1"], seconds=600.0)
    whole = [("g", "U1", "A1", None, "whole", 600.0), ("g", "U2", "A2", None, "whole", 90.0)]
    for work in (units(whole), units(whole).iloc[:0]):
        out = costs.minutes(work, marks).set_index("work_unit")
        found = out.loc["U1", ["method", "task", "minutes"]].tolist()
        assert found == [costs.TOGETHER, costs.TOGETHER, 2.5]
        assert out.at["U2", "method"] == "behavior"
        assert out.index.is_unique


@pytest.mark.parametrize(("n", "ranks"), [(6, (1, 6)), (10, (2, 9)), (100, (40, 61))])
def test_the_interval_of_a_median_is_the_tabled_one(n, ranks):
    """Ranks for a 95 % interval of the median: Conover 1999, Practical Nonparametric Statistics, section 3.2."""
    assert costs._median_interval(np.arange(1, n + 1)[::-1], 0.95) == ranks


def test_five_values_give_no_95_percent_interval_of_the_median():
    assert np.isnan(costs._median_interval(np.arange(5), 0.95)).all()


def test_the_interval_of_a_sum_covers_at_the_nominal_rate():
    """Eight tasks with skewed times, 45 units each, 2,000 studies: the interval covers the sum of the true medians."""
    rng = np.random.default_rng(5)
    scale, n, k = np.array([0.6, 1.2, 2.0, 3.0, 3.4, 2.7, 5.6, 5.9]), 45, 2000
    x = np.sort(scale[:, None] * rng.lognormal(0, 0.6, (k, 8, n)), axis=2)
    index = np.searchsorted(np.arange(1, n + 1), costs._median_interval(np.arange(1, n + 1), 0.95))
    low, high = x[:, :, index[0]], x[:, :, index[1]]
    ends = np.array([costs.mover(m, a, b)[1:] for m, a, b in zip(np.median(x, axis=2), low, high, strict=True)])
    covered = np.mean((ends[:, 0] <= scale.sum()) & (scale.sum() <= ends[:, 1]))
    assert 0.94 < covered < 0.985  # the parts cover at least 95 %, here 96.4 %; Monte Carlo error 0.005


def page(times, annotations=MARKS, **options):
    """What the cells of the notebook ask of a page."""
    names = DisplayNames({}, {kind: {} for kind in ("corpus", "group", "method", "system")})
    made = {"times": times, "annotations": annotations, "labels": LABEL_SETS["abc_eval"], "names": names}
    return made | {"costs": Costs(**options), "no_payment": "The YAML states no payment."}


def test_counts_by_hand():
    marks = MARKS.assign(annotator_known=MARKS["group"] == "g")
    found = as_published("02_collection_stats", **page(pd.DataFrame(columns=["corpus", "group", "method"]), marks))
    rows = found.saved["count"]
    rows = rows[rows["estimate"].notna()]
    n = {
        key: dict(zip(x["what"], x["estimate"], strict=True))
        for key, x in rows.groupby(["group", "method"], dropna=False)
    }
    assert n["g", "behavior"] == dict(
        dialogues=2, annotations=4, annotators=2, once=1, twice=0, more=1, labels=1, items=2
    ) | {"turns": 2}
    assert "not known" in found.shown[-1].text


def test_costs_add_up_tasks_and_name_what_is_missing():
    times = pd.DataFrame(
        {
            "corpus": "main",
            "group": "g",
            "method": ["behavior"] * 12 + ["comparative"] * 6 + ["collection"] * 3,
            "task": ["antisocial"] * 6 + ["transitions"] * 6 + ["comparative"] * 6 + ["collection"] * 3,
            "annotator": "A1",
            "work_unit": [f"U{i}" for i in range(21)],
            "minutes": [1.0, 1, 2, 2, 3, 3] + [4.0] * 6 + [6.0] * 6 + [8.0, 9, 10],
        }
    )
    medians = collect(costs.medians(times))["median_minutes"]
    payments = {"g": {"behavior": {"antisocial": 0.44, "transitions": 1.87}, "comparative": 1.43}}
    final = {"behavior": ["ignore"]}
    kernel = collect(costs.unit_minutes(medians, LABEL_SETS["abc_eval"], final))
    cells = as_published("02_collection_stats", **page(times, payments=payments, final_labels=final))
    found = collect(kernel, cells.saved)
    fold(found, study="s", notebook="n")
    both = (found[s].set_index(["method", "tasks"])["estimate"] for s in ("unit_minutes", "published_minutes"))
    pd.testing.assert_series_equal(*both, rtol=1e-9)
    longest = ('TYPICAL = "median"', 'TYPICAL = "max"')
    other = as_published("02_collection_stats", longest, **page(times, payments=payments, final_labels=final))
    assert other.saved["published_minutes"]["estimate"].iloc[0] == 7
    for text, shown in (("7.00 minutes each (max)", other.shown), ("6.00 minutes each (median)", cells.shown)):
        assert text in shown[-1].text

    def value(statistic, method, tasks="all"):
        (row,) = found.select(statistic, method=method, tasks=tasks).to_dict("records")
        return row["estimate"]

    assert value("unit_minutes", "behavior") == 6.0
    assert value("throughput", "behavior") == 10.0
    assert value("estimated_cost", "behavior") == pytest.approx(6 / 60 * 20 * 400)
    assert value("own_cost", "behavior") == pytest.approx((0.44 + 1.87) * 400)
    assert value("cost_per_label", "behavior") == pytest.approx(6 / 60 * 20 / 5)  # antisocial, four of transitions
    assert value("unit_minutes", "behavior", "final") == 4.0
    assert value("estimated_cost", "comparative") == pytest.approx(6 / 60 * 20 * 200)
    short = found.select("unit_minutes", method="collection")
    assert list(short["ci_kind"]) == ["not_estimable"]  # three values have no interval of their median
