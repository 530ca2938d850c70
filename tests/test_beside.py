"""Printed values beside those of a study: the right cells are compared, and fitted ones are said to be."""

import numpy as np
import pandas as pd
import pytest

from helpers import agreement, beside, collection, params, published
from helpers.sources import build

PANELS = {"likert": "dialogue_likert", "pairwise": "comparative"}


def cells(rows):
    frame = pd.DataFrame(rows, columns=["panel", "row", "column", "value", "decimals"])
    return frame.assign(element="Table 1", printed=frame["value"].astype(str), value=frame["value"].astype(float))


def test_counts_find_their_cells():
    rows = [("g", "dialogue_likert", w, n) for w, n in (("once", 5), ("twice", 2), ("more", 1), ("annotators", 3))]
    rows += [("g", None, "annotators", 4)]
    results = pd.DataFrame(rows, columns=["group", "method", "what", "estimate"])
    results["condition"] = "kind=human;what=" + results["what"]
    models = results.assign(condition=results["condition"].str.replace("human", "llm"), estimate=99)
    printed = cells(
        [
            ("all", "g", "evaluators", 4, 0),
            ("likert", "g", "evaluated", 7, 0),
            ("likert", "g", "doubly_annotated", 2, 0),
            ("likert", "g", "payment", 0.5, 2),
            ("likert", "h", "evaluated", 7, 0),
        ]
    )
    printed.index = [9, 8, 7, 6, 5]
    found = beside.counts(pd.concat([models, results]), printed, PANELS)
    assert found[[9, 8, 7]].to_dict() == {9: 4, 8: 7, 7: 2}
    assert found[[6, 5]].isna().all()


def test_costs_find_their_cells():
    keys = {"group": "sur_x", "condition": "tasks=all", "statistic": "unit_minutes"}
    results = pd.DataFrame(
        [{**keys, "method": "behavior", "estimate": 6.0}, {**keys, "method": "turn_likert", "estimate": 7.0}]
    )
    printed = published.load("finch2023", "Table 10")
    found = beside.costs(results, printed)
    assert found.notna().sum() == 2
    assert found[(printed["row"] == "abc_eval_all") & (printed["column"] == "ti")].tolist() == [6.0]
    assert beside.costs(results.assign(condition="tasks=final"), printed).dropna().tolist() == [6.0]


@pytest.mark.parametrize(
    ("row", "panel", "here", "scope", "verdict"),
    [
        ("g", "likert", 0.274, 0.9, "equal"),
        ("g", "likert", 0.276, 0.274, "equal in scope"),
        ("g", "likert", 0.276, 0.264, "differs"),
        ("g", "likert", np.nan, np.nan, None),
        ("f", "likert", 0.274, 0.274, "equal, fitted"),
        ("f", "likert", 0.3, 0.274, "equal in scope, fitted"),
        ("g", "pairwise", 0.3, 0.274, "equal in scope, fitted"),
        ("g", "pairwise", 0.274, 0.274, "equal"),
    ],
)
def test_verdicts_say_what_was_fitted(row, panel, here, scope, verdict):
    printed = cells([(panel, row, "quality", 0.27, 2)])
    found = beside.verdicts(
        printed,
        pd.Series([here]),
        pd.Series([scope]),
        panels=PANELS,
        fitted_groups={"f": ["dialogue_likert"]},
        fitted_scope=["comparative"],
    )
    assert found[0] == verdict
    alone = beside.verdicts(printed, pd.Series([here]), panels=PANELS, fitted_groups={})
    assert alone[0] == ("equal" if here == 0.274 else "differs" if np.isfinite(here) else None)


def test_the_table_shows_one_decimal_more_than_printed_and_only_what_compares():
    printed = cells([("likert", "g", "quality", 0.27, 2), ("likert", "g", "n", 3, 0), ("likert", "h", "n", 3, 0)])
    out = beside.table(printed, None, Here=pd.Series([0.27461, 3.0, np.nan]), In_scope=None)
    assert out["Here"].tolist() == ["0.275", "3"]
    assert list(out.columns) == ["Table", "Panel", "Row", "Column", "Printed", "Here"]


@pytest.mark.data
def test_within_group_agreement_of_finch2024_equals_its_table_3_cell_by_cell(raw_data):
    """24 cells on all data (the 8 of developers' Likert fitted), 8 in the paper's scope only (fitted)."""
    study = params.load("finch2024")
    marks = build.build(study).frames["annotations"]
    marks = marks[marks["group"].isin(["dev_x", "stu_x"])]
    scope = collection.in_scope(marks, dialogues=study.scope.exclude_dialogues, sessions=study.scope.exclude_sessions)
    options = {"first": 2, "n_resamples": 100}
    here, left = (agreement.alpha_table(m, study.label_list(), **options) for m in (marks, scope))
    printed = published.load("finch2024", "Table 3")
    panels = study.iaa.published.panels
    ours = beside.agreement(here, printed, panels)
    verdict = beside.verdicts(
        printed,
        ours,
        beside.agreement(left, printed, panels),
        panels=panels,
        fitted_groups={k: g.fitted for k, g in study.groups.items()},
        fitted_scope=study.scope.fitted,
    )
    found = verdict.groupby([printed["panel"], printed["row"]]).value_counts().to_dict()
    assert found == {
        ("likert", "dev_x", "equal, fitted"): 8,
        ("likert", "stu_x", "equal"): 8,
        ("pairwise", "dev_x", "equal"): 8,
        ("pairwise", "stu_x", "equal in scope, fitted"): 8,
    }
    one = collection.in_scope(marks, dialogues={}, sessions={"comparative": ["(1048,38)"]})
    alone = beside.agreement(agreement.alpha_table(one, study.label_list(), **options), printed, panels)
    pairs = (printed["panel"] == "pairwise") & (printed["row"] == "stu_x")
    assert published.agrees(printed["value"], printed["decimals"], alone)[pairs].all()
    wrong = ours[(printed["panel"] == "likert") & (printed["row"] == "stu_x")].to_numpy()  # another label's values
    theirs = printed[(printed["panel"] == "likert") & (printed["row"] == "stu_x")].reset_index(drop=True)
    assert published.agrees(theirs["value"], theirs["decimals"], pd.Series(np.roll(wrong, 1))).sum() == 0
