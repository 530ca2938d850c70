"""data/published is as its README says, and agreement at the printed decimals is the rule stated."""

import pandas as pd
import pytest

from compendium.published import numbers as published

COUNTS = {"finch2023": 302, "ji2022": 785, "smith2022": 330, "finch2024": 256, "dstc10": 680}
COUNTS |= {"llmfao": 13, "pandalm": 6, "alttest": 24, "dices": 2, "conture": 27, "squality": 9, "ttcw": 17}
COUNTS |= {"summeval": 75, "cis_transparency": 99, "cis_answerability": 32, "empathy_judges": 84, "llmbar": 75}
COUNTS |= {"minp_forms": 70, "webnlg2020": 43, "d2t_bws": 31, "reprohum_d2t": 25, "reprohum_definitions": 21}
COUNTS |= {"reprohum0744": 19, "recquest": 25, "accuracy_spans": 18, "esa_wmt23": 15, "mrbench": 5, "xsum_hallu": 4}
COUNTS |= {"faireval80": 4, "asset": 3, "factual_dialog": 3, "convabuse": 2, "faithdial_audit": 2, "qags": 2}
COUNTS |= {"inferential_strategies": 2, "lfqa_experts": 1, "xhate_stability": 1}


def test_counts_are_those_of_the_readme():
    assert published.load()["paper"].value_counts().to_dict() == COUNTS


def test_a_place_is_unique_with_a_number_of_its_table_and_decimals_as_printed():
    frame = published.load()
    assert not frame.duplicated(["file", "element", "panel", "row", "column"]).any()
    tables = frame.loc[frame["element"].str.startswith("Table"), "element"]
    assert tables.str.fullmatch(r"Table \d+").all()  # notebook 90 puts them in order
    digits = frame["printed"].str.partition(".")[2].str.len()
    # Zhang et al. 2022 drop trailing zeros in Table 4 (README of data/published)
    exact = frame[~((frame["paper"] == "dstc10") & (frame["element"] == "Table 4"))]
    assert (digits[exact.index] == exact["decimals"]).all()


@pytest.mark.parametrize(
    ("printed", "decimals", "reproduced", "equal"),
    [
        (0.40, 2, 0.4049, True),
        (0.40, 2, 0.405, True),
        (0.41, 2, 0.405, True),
        (0.40, 2, 0.4051, False),
        (0.40, 2, 0.3949, False),
        (-0.0, 2, -0.004, True),
        (84.0, 0, 84.44, True),
        (0.4, 1, float("nan"), False),
    ],
)
def test_agreement_at_the_printed_decimals(printed, decimals, reproduced, equal):
    assert published.agrees(printed, decimals, reproduced) == equal
    frame = published.agrees(pd.Series([printed]), pd.Series([decimals]), pd.Series([reproduced]))
    assert frame.tolist() == [equal]


def test_unknown_element_is_named():
    with pytest.raises(KeyError, match="Table 99"):
        published.load("finch2023", "Table 99")
