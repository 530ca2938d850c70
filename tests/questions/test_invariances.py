"""What no result may depend on: the order of rows, names, where a scale begins and which way it points, another run
beside, and what nobody used. Of every question, on studies made by hand, from the raw file to the rows that are stored.

MOVES is the list of what moves nevertheless, each with the reason; what else moves fails, and so does what is listed
and no longer moves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import pytest
from fixtures import changed_studies as changes
from fixtures.changed_studies import Ran
from fixtures.odd_names import odd

from judgebook.study.result_schema import IDENTITY, VALUES

SECONDS = 500
#: study -> the questions that are asked of it, the most important first
QUESTIONS = {
    "sessions": (
        *("03_iaa", "05_sensitivity", "07_bot_performance", "08_group_effects", "04_importance"),
        *("06_stepwise_coverage", "14_planning", "17_design_check", "11_technique_comparison"),
    ),
    "live": ("10_quality_control",),
    "crowd": (
        *("03_iaa", "05_sensitivity", "07_bot_performance", "08_group_effects", "09_metric_correlation", "13_judges"),
        *("14_planning", "15_annotators", "16_fragility", "17_design_check", "00_build_annotations"),
        "02_collection_stats",
    ),
    "replies": ("12_moderation",),
}
EVERY = [(study, question) for study, questions in QUESTIONS.items() for question in questions]
NAMES = ("reordered", "renamed", "renamed_backwards", "odd")
SCALES = ("shifted", "turned")
KEYS = [c for c in IDENTITY if c not in ("study", "notebook")]
#: columns of a row that are about its interval, and those of its test
INTERVAL = frozenset({"ci_low", "ci_high", "ci_kind", "n_undefined", "note"})
TEST = frozenset({"p_value", "p_adjusted"})
ALL = frozenset({*VALUES, "row"})


@dataclass(frozen=True)
class Moves:
    """why : the reason. under : the changes. columns : what may move, `row` being that there is one. what : question ->
    statistics (* are all), each with a pattern of conditions after a blank where not all of its rows may move."""

    why: str
    under: tuple[str, ...]
    columns: frozenset[str]
    what: dict[str, tuple[str, ...]]

    def holds(self, question: str, row: pd.Series) -> str | None:
        """The entry of `what` that lets this row move, of a frame of `moved`."""
        for entry in self.what.get(question[:2], ()):
            statistic, _, condition = entry.partition(" ")
            if statistic in ("*", row["statistic"]) and re.search(condition, row["condition"]):
                return entry if row["column"] in self.columns else None
        return None


#: question -> statistics with intervals of resamples
RESAMPLED = {
    "03": ("ac", "alpha", "dependability", "generalizability", "negative_agreement", "positive_agreement", "prevalence",
           "raw_agreement"),
    "05": ("system_difference test=clustered_t",),
    "07": ("mean interval=dialogue", "rate interval=dialogue", "rate_summary"),
    "08": ("alpha", "effect_difference", "effect_size", "extreme_share", "extreme_share_difference", "group_difference",
           "mean_absolute_effect", "robustness", "robustness_contrast"),
    "09": ("above_control", "correlation", "mean_correlation", "reliability", "reliability_ceiling"),
    "10": ("mean_raw", "mean_z", "run_difference"),
    "11": ("effective_win_rate", "technique_score", "technique_win_rate"),
    "12": ("alpha", "flagged_rate", "fleiss_kappa", "moderation_lead", "moderation_share"),
    "13": ("assisted_explained", "assisted_gain", "contrast_change", "judge_alpha", "judge_contrast", "judge_rate",
           "rate_change"),
    "14": ("pilot_variance", "plan_detectable", "plan_reliability"),
}  # fmt: skip
MOVES = (
    Moves(
        "Resamples are drawn by streams named by runs, groups and systems, from units in the order of names and rows.",
        (*NAMES, "joined"),
        INTERVAL,
        RESAMPLED,
    ),
    Moves("Resamples are drawn by streams named by groups and labels, too.", ("odd",), INTERVAL, {"04": ("r",)}),
    Moves(
        "Notes name groups.",
        ("odd",),
        frozenset({"note"}),
        {"08": ("group_difference_null", "group_difference_test")},
    ),
    Moves(
        "Read off resamples or permutations, or off intervals.",
        (*NAMES, "joined"),
        frozenset({"estimate"}) | TEST | INTERVAL,
        {
            "03": ("interval_width_ratio",),
            "05": ("n_significant .*test=session", "system_difference test=(session|clustered_t)"),
            "07": ("first_place_share",),
            "08": ("conclusion_count", "group_difference_null exchange=judgement",
                   "group_difference_test exchange=judgement", "robustness of=correlation",
                   "robustness_contrast of=correlation"),
            "10": ("replication_bias", "replication_share", "replication_r workers=random", "standard_error"),
            "13": ("judge_conclusions", "judge_margin"),
            "15": ("annotator_z indicator=answers",),
        },
    ),
    Moves(
        "Of several judgements of an item one is picked at random, as in the papers: which one depends on the order of "
        "names and of rows, those of runs before it included. What counts or tests such results moves with them.",
        ("reordered", "renamed_backwards", "joined"),
        ALL,
        {
            "04": ("coefficient", "corrected_r", "f_test", "firth_coefficient", "importance_rank",
                   "label_intercorrelation", "llr", "mcfadden_r2", "r", "r2", "repeat_reliability", "separated"),
            "05": ("n_significant", "null_rejection", "system_difference sample=pick",
                   "system_difference test=(sign|student|welch|z)"),
            "06": ("adjusted_mcfadden_r2", "adjusted_r2", "close_subsets", "criterion_met criterion=importance",
                   "mcfadden_r2", "n_kept", "r2", "selected", "selection_frequency", "separated", "smallest_gain"),
            "07": ("mean interval=(independent|picks)", "rate interval=(independent|picks)", "rate_summary",
                   "share interval=(independent|picks)"),
            "08": ("alpha raters=one_each", "group_difference resample=score", "mean_absolute_effect resample=score"),
            "16": ("choice_effect", "specification ratings=pick", "specification_share"),
        },
    ),
    Moves(
        "Means over random picks.",
        (*NAMES, "joined"),
        frozenset({"estimate"}) | INTERVAL,
        {"08": ("group_difference over=picks", "mean_absolute_effect over=picks")},
    ),
    Moves(
        "The order of the rows is that of the judgements, and is what is looked at.",
        ("reordered",),
        ALL,
        {"15": ("annotator_answers of=run", "annotator_drift", "annotator_z indicator=(answers|drift)")},
    ),
    Moves(
        "Who comes first, second, … of those who judged an item depends on the order of names and of rows.",
        ("reordered", "renamed_backwards"),
        ALL,
        {
            "03": ("cohen_kappa",),
            "09": ("annotator_correlation comparison=position",),
            "13": ("judge_alpha pair=(position|difference|mean)", "contrast_change by=another person",
                   "rate_change by=another person"),
        },
    ),
    Moves(
        "Of several runs the one with most judgements is looked at, of equally large ones the first in the file.",
        ("reordered",),
        ALL,
        {"14": ("pilot_variance", "plan_detectable", "plan_dialogues", "plan_reliability", "planned_difference",
                "sequential_boundary", "sequential_crossing", "sequential_inflation")},
    ),
    Moves(
        "People of whom there are most are listed, and findings are numbered: both in the order of names.",
        ("renamed_backwards",),
        ALL,
        {"17": ("design_evidence", "design_finding", "design_load")},
    ),
    Moves(
        "Resamples are drawn from distinct items in the order of their scores; of mirrored resamples, counted from the "
        "lowest, others are the ends.",
        ("turned",),
        INTERVAL,
        {
            "03": ("alpha", "raw_agreement"),
            "08": ("alpha", "group_difference resample=score", "mean_absolute_effect resample=score"),
            "11": ("technique_score",),
            "14": ("pilot_variance", "plan_detectable"),
        },
    ),
    Moves(
        "Of the scale itself, or of scores as they are: a correlation turns with one of its sides.",
        SCALES,
        ALL,
        {"00": ("design_fact what=(highest|lowest)", "score_share"), "04": ("r", "corrected_r", "firth_coefficient")},
    ),
    Moves(
        "Of several runs one is looked at; findings of the design are numbered over all.",
        ("joined",),
        frozenset({"row"}),
        {"04": ("*",), "06": ("*",), "14": ("*",), "17": ("design_evidence", "design_finding", "design_load")},
    ),
    Moves(
        "Of two runs, which is compared with which depends on the order of names and of rows.",
        ("reordered", "renamed_backwards"),
        frozenset({"row"}),
        {
            "10": (
                *("concordance", "replication_bias", "replication_gain", "replication_r", "replication_share"),
                *("run_change", "run_difference"),
            ),
        },
    ),
    Moves(
        "Whose scores are the highest becomes whose are the lowest.",
        ("turned",),
        frozenset({"estimate", "note"}),
        {"07": ("severity",)},
    ),
    Moves(
        "Fits of cumulative models end where a step changes little.",
        ("reordered", "renamed_backwards", "turned"),
        frozenset({"estimate", "ci_low", "ci_high"}),
        {"03": ("variance_share model=ordinal",), "15": ("annotator_severity model=ordinal",)},
    ),
)  # fmt: skip


def negated(x: pd.Series) -> pd.Series:
    return -x


#: differences of two systems, by which one is called the first or by which end of the scale is good
SIGNED = dict.fromkeys(
    (
        *("system_difference", "equivalence", "effect_size", "effect_difference", "judge_contrast", "contrast_change"),
        *("conclusion", "specification", "without_person", "without_session", "moderation_lead"),
    ),
    negated,
)
#: what becomes of an estimate and its interval where two systems change places
OTHER_FIRST = SIGNED | dict.fromkeys(("effective_win_rate", "technique_win_rate"), lambda x: 1 - x)
MEANS = ("mean", "pooled_mean", "judge_rate", "technique_score")
#: change -> statistic -> what becomes of an estimate and its interval; of means by what the label's scale adds up to
BECOMES: dict[str, dict[str, Callable[[pd.Series], pd.Series]]] = {
    "shifted": dict.fromkeys((*MEANS, "mean_raw"), lambda x: x + 10),
    "turned": SIGNED
    | dict.fromkeys(MEANS, lambda x: 6 - x)
    | dict.fromkeys(("rate_change", "called_different"), negated),
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """(study, change) -> the study, changed, and what notebooks make of it; each computed once."""

    @cache
    def of(study: str, change: str = "") -> Ran:
        given = getattr(changes, study)()
        for name in change.split():
            given = odd(given) if name == "odd" else getattr(changes, name)(given)
        return Ran(given, tmp_path_factory.mktemp(study))

    return of


def keyed(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with texts for all KEYS."""
    return rows.assign(**{key: rows[key].astype(object).where(rows[key].notna(), "") for key in KEYS})


def other_first(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of two systems, of which only one order is there, with the first by name before the other."""
    names = rows[["system", "system_b"]].to_numpy(object)
    rest = rows[[k for k in KEYS if k not in ("system", "system_b")]]
    there = {(*key, a, b) for key, (a, b) in zip(rest.itertuples(index=False, name=None), names, strict=True)}
    swapped = np.array(
        [
            bool(b) and a > b and (*key, b, a) not in there
            for key, (a, b) in zip(rest.itertuples(index=False, name=None), names, strict=True)
        ],
        dtype=bool,
    )
    out = become(rows, swapped, OTHER_FIRST)
    out.loc[swapped, ["system", "system_b"]] = names[swapped][:, ::-1]
    return out


def become(rows: pd.DataFrame, which: np.ndarray, how: dict[str, Callable]) -> pd.DataFrame:
    """The rows of `which`, their estimates and intervals changed as `how` says of their statistics."""
    out = rows.copy()
    for statistic, new in how.items():
        mask = which & (rows["statistic"] == statistic).to_numpy()
        ends = np.sort(new(rows.loc[mask, ["ci_low", "ci_high"]]).to_numpy(), axis=1)
        out.loc[mask, "estimate"] = new(rows.loc[mask, "estimate"])
        out.loc[mask, ["ci_low", "ci_high"]] = ends
    return out


def moved(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Each cell in which two frames of stored rows differ: KEYS, `column`, and the values `before` and `after`."""
    both = one.merge(other, on=KEYS, how="outer", suffixes=("", "_2"), indicator="row")
    there = both["row"] == "both"
    parts = [both[~there].assign(column="row", before="", after=both["row"].astype(str))]
    for column in VALUES:
        x, y = both[column], both[f"{column}_2"]
        if pd.api.types.is_numeric_dtype(x):
            same = np.isclose(x.astype(float), y.astype(float), rtol=1e-9, atol=1e-9, equal_nan=True)
        else:
            same = ((x == y).fillna(False) | (x.isna() & y.isna())).to_numpy(bool)
        different = both[there & ~same]
        parts.append(
            different.assign(
                column=column, before=different[column].astype(str), after=different[f"{column}_2"].astype(str)
            )
        )
    return pd.concat(parts, ignore_index=True)[[*KEYS, "column", "before", "after"]]


def differences(ran: Callable, study: str, question: str, change: str) -> pd.DataFrame:
    """What a change of a study moves in the results of a question."""
    after = keyed(ran(study, change)[question])
    if change == "joined":
        each = after[~after["condition"].str.contains("against=run_")]
        return moved(each[each["corpus"] == "run_a"], each[each["corpus"] == "run_b"].assign(corpus="run_a"))
    before = keyed(ran(study)[question])
    if "renamed_backwards" in change:
        return moved(other_first(before), other_first(after))
    return moved(become(before, of_ratings(before), BECOMES.get(change, {})), after)


def of_ratings(rows: pd.DataFrame) -> np.ndarray:
    """(rows,) which are about labels whose scale goes from 1 to 5, in the studies of `changed_studies`."""
    method = rows["method"].isin(["dialogue_rating", "dialogue_likert"]) | (rows["statistic"] == "mean_raw")
    technique = rows["condition"].str.extract(r"technique=(\w+)")[0].fillna("dialogue_likert")
    return (method & (technique == "dialogue_likert")).to_numpy()


def unexplained(different: pd.DataFrame, question: str, change: str) -> list[str]:
    """What moved and may not, one line for each statistic and column."""
    known = [m for m in MOVES if {*change.split()} & {*m.under}]
    odd = different[[not any(m.holds(question, row) for m in known) for _, row in different.iterrows()]]
    lines = []
    for (statistic, column), rows in odd.groupby(["statistic", "column"]):
        first = rows.iloc[0]
        where = " ".join(first[k] for k in KEYS if k not in ("statistic", "level") and first[k])
        lines.append(
            f"{question}/{statistic}: {column} of {len(rows)} rows: {where}: {first['before']} → {first['after']}"
        )
    return lines


def check(ran: Callable, study: str, question: str, change: str) -> None:
    different = differences(ran, study, question, change)
    assert unexplained(different, question, change) == []


#: all at once, for the questions that take a second or two
AT_ONCE = "reordered renamed_backwards unused"
SHORT = [
    ("sessions", "04_importance"),
    ("crowd", "13_judges"),
    ("crowd", "17_design_check"),
    ("replies", "12_moderation"),
]


@pytest.mark.parametrize(("study", "question"), SHORT)
def test_the_same_study_told_otherwise(ran, study, question):
    """Rows in another order, other names in the opposite order, and a column and names that nothing uses."""
    check(ran, study, question, AT_ONCE)


@pytest.mark.evidence
@pytest.mark.parametrize("change", [*NAMES, *SCALES, "unused", "joined"])
@pytest.mark.parametrize(("study", "question"), EVERY)
def test_every_question(ran, study, question, change):
    check(ran, study, question, change)


@pytest.mark.evidence
def test_what_may_move_still_does(ran):
    """Otherwise it is no longer to be in MOVES."""
    used = set()
    for study, question in EVERY:
        for change in {change for m in MOVES for change in m.under}:
            if study == "replies" and change in SCALES:
                continue
            for _, row in differences(ran, study, question, change).iterrows():
                used |= {(m.why, question[:2], m.holds(question, row)) for m in MOVES if change in m.under}
    listed = {(m.why, question, entry) for m in MOVES for question, entries in m.what.items() for entry in entries}
    assert listed - used == set()


def test_a_change_of_a_study_is_one():
    """Rows and names differ, and are the same people, systems and scores."""
    given = changes.sessions()
    names = changes.renamed_backwards(given)
    assert not set(names.rows["system"]) & set(given.rows["system"])
    back = names.rows["system"].map(names.names)
    assert back.tolist() == given.rows["system"].tolist()
    assert sorted(names.rows["system"].unique()) == [
        f"system_new{i:03d}" for i in range(given.rows["system"].nunique())
    ]
    assert len(changes.joined(given).rows) == 2 * len(given.rows)
    rated = given.rows["method"] == "dialogue_likert"
    assert (changes.shifted(given).rows["score"] - given.rows["score"]).astype(float).equals(10.0 * rated)
    assert (changes.turned(given).rows["score"][rated] + given.rows["score"][rated] == 6).all()
