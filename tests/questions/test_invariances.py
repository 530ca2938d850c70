"""What no result may depend on: the order of rows, names, where a scale begins and which way it points, another run
beside, and what nobody used. Of every question, on studies made by hand: one of ratings, one of marks and comparisons
in sessions, one of replies to prompts; from the raw file to the rows that are stored.

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
from fixtures.changed_studies import Told
from fixtures.notebook_cells import published_rates, published_tests
from fixtures.odd_names import odd

from judgebook.annotations.population import populations
from judgebook.annotations.summary import with_directions, with_means
from judgebook.display.names import display_names
from judgebook.questions.agreement import analysis as agreement
from judgebook.questions.collection import analysis as collection
from judgebook.questions.design import analysis as design
from judgebook.questions.fragility import analysis as fragility
from judgebook.questions.groups import analysis as groups
from judgebook.questions.judges import analysis as judges
from judgebook.questions.metrics import analysis as metrics
from judgebook.questions.moderation import analysis as moderation
from judgebook.questions.performance import analysis as performance
from judgebook.questions.quality_control.worker_tests import of_those_who_passed
from judgebook.questions.techniques import analysis as techniques
from judgebook.questions.techniques import sittings, turns
from judgebook.questions.validity import analysis as validity
from judgebook.questions.validity import targets
from judgebook.statistics import Sampling
from judgebook.study.result_schema import IDENTITY, VALUES
from judgebook.study.results import Results

SECONDS = 540
FEW = Sampling(n_resamples=100, confidence=0.95, seed=1)


def agreement_of(told: Told) -> Results:
    iaa, study = told.study.iaa, told.study
    given = {"first": iaa.first, "unit": study.bootstrap.unit, "people_resamples": 20}
    return agreement.analyse(told["annotations"], told.labels, sampling=FEW, **given)


def sensitivity_of(told: Told) -> Results:
    scored = with_means(told.passed, told.labels)
    options = told.study.sensitivity.model_copy(update={"n_draws": 20, "null_runs": 5})
    return published_tests(scored, display_names(told.study, scored), told.systems, options).saved


def performance_of(told: Told) -> Results:
    unranked = told.study.unranked_systems
    judged = performance.chosen(told.passed, unranked, told.labels)
    judged = performance.with_interactors(judged, told["dialogues"])
    given = {"people": populations(judged)}
    found = performance.analyse(judged, told.labels, unranked, sampling=FEW, **given)
    return published_rates(judged, display_names(told.study, judged), FEW, found, unranked).saved


def groups_of(told: Told) -> Results:
    rows, options = groups.comparable(told["annotations"]), told.study.group_effects
    return groups.analyse(rows, told.labels, options, sampling=FEW, pick_seed=1, permute_seed=1)


def metrics_of(told: Told) -> Results:
    rated = metrics.rated(with_directions(with_means(told["annotations"], told.labels), told.labels), None)
    passed = of_those_who_passed(rated, told.labels, told.control, told.study.quality_control)
    given = {"unranked": told.study.unranked_systems, "control": told.control, "permute_seed": 1}
    scores = told["metric_scores"].drop(columns="study")
    return metrics.analyse(passed, scores, told.labels, sampling=FEW, rank_resamples=200, **given)


def techniques_of(told: Told) -> Results:
    rows, labels, options = told["annotations"], told.labels, told.study.techniques
    chosen = sittings.by_method(rows, labels)
    data = sittings.gather(rows, told["dialogue_facts"], chosen, labels, told.systems, options)
    turned = turns.gather(rows, data, labels, told.systems, options)
    pairings = turned.pairings(labels, options.final_rating)
    return techniques.analyse(data, turned, pairings, options, run_seed=1, sampling=FEW)


def moderation_of(told: Told) -> Results:
    judged = moderation.judgements(told["annotations"], told.study.moderation)
    both = moderation.outcomes(judged["better"], judged["unrelated"])
    return moderation.analyse(judged, told.labels, both, sampling=FEW, permute_seed=1)


def judges_of(told: Told) -> Results:
    return judges.analyse(told["annotations"], told.labels, sampling=FEW)


def fragility_of(told: Told) -> Results:
    given = {"systems": told.systems, "control": told.control, "options": told.study.quality_control, "pick_seed": 1}
    return fragility.analyse(list(fragility.parts(told.people, told.labels, **given)), told.study.fragility)


def design_of(told: Told) -> Results:
    frames = {name: told[name] for name in ("counts", "metric_scores", "dialogue_facts")}
    rows, given = told["annotations"], {"own_ids": told.built.own_ids, "leave_out": [told.control]}
    return design.store(design.examine(rows, told["dialogues"], told.labels, **frames, **given), rows)


def data_set_of(told: Told) -> Results:
    return collection.data_set(told["annotations"], told["dialogues"], told.labels, sampling=FEW)


def importance_of(told: Told) -> Results:
    given = told.study.importance.settings()
    rows = with_means(told["annotations"], told.labels)
    found = targets.find(rows, told["dialogues"], pick_seed=1, parts=told.study.parts, **given)
    return validity.analyse_importance(found, 0.95)


#: shape -> its study -> the questions that are asked of it
SHAPES = {
    "sessions": (*(agreement_of, sensitivity_of, performance_of, groups_of, importance_of, design_of, techniques_of),),
    "crowd": (
        *(agreement_of, sensitivity_of, performance_of, groups_of, metrics_of, judges_of, fragility_of),
        *(design_of, data_set_of),
    ),
    "replies": (moderation_of,),
}
QUESTIONS = {f.__name__.removesuffix("_of"): f for shape in SHAPES.values() for f in shape}
EVERY = [(study, f.__name__.removesuffix("_of")) for study, asked in SHAPES.items() for f in asked]
NAMES = ("reordered", "renamed_backwards", "odd")
SCALES = ("shifted", "turned")
KEYS = [c for c in IDENTITY if c not in ("study", "notebook")]
#: columns of a row that are about its interval, and those of its test
INTERVAL = frozenset({"ci_low", "ci_high", "ci_kind", "n_undefined", "note"})
TEST = frozenset({"p_value", "p_adjusted"})
#: kinds of intervals that are read off random numbers
RESAMPLED = ("bca", "percentile", "parametric", "monte_carlo")
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
        for entry in self.what.get(question, ()):
            statistic, _, condition = entry.partition(" ")
            if statistic in ("*", row["statistic"]) and re.search(condition, row["condition"]):
                return entry if row["column"] in self.columns else None
        return None


MOVES = (
    Moves(
        "Notes name groups.",
        ("odd",),
        frozenset({"note"}),
        {"groups": ("group_difference_null", "group_difference_test")},
    ),
    Moves(
        "Read off resamples or permutations, or off intervals.",
        (*NAMES, "joined"),
        frozenset({"estimate"}) | TEST | INTERVAL,
        {
            "performance": ("first_place_share",),
            "groups": ("conclusion_count", "group_difference_null exchange=judgement",
                   "group_difference_test exchange=judgement", "robustness of=correlation",
                   "robustness_contrast of=correlation"),
            "judges": ("judge_conclusions", "judge_margin"),
        },
    ),
    Moves(
        "Of several judgements of an item one is picked at random, as in the papers: which one depends on the order of "
        "names and of rows, those of runs before it included. What counts or tests such results moves with them.",
        ("reordered", "renamed_backwards", "joined"),
        ALL,
        {
            "importance": ("importance_rank", "r"),
            "sensitivity": ("n_significant", "null_rejection", "system_difference"),
            "performance": ("mean interval=independent", "rate interval=independent", "rate_summary",
                   "share interval=independent"),
            "groups": ("alpha raters=one_each",),
            "fragility": ("choice_effect", "hangs_on", "specification ratings=pick", "specification_share"),
        },
    ),
    Moves(
        "Who comes first, second, … of those who judged an item depends on the order of names and of rows.",
        ("reordered", "renamed_backwards"),
        ALL,
        {
            "agreement": ("cohen_kappa",),
            "judges": ("judge_alpha pair=(difference|mean)", "contrast_change by=another person",
                   "rate_change by=another person"),
        },
    ),
    Moves(
        "People of whom there are most are listed, and findings are numbered: both in the order of names.",
        ("renamed_backwards",),
        ALL,
        {"design": ("design_evidence", "design_finding", "design_load")},
    ),
    Moves(
        "Resamples are drawn from distinct items in the order of their scores; of mirrored resamples, counted from the "
        "lowest, others are the ends.",
        ("turned",),
        INTERVAL,
        {
            "agreement": ("alpha", "raw_agreement"),
            "groups": ("alpha",),
        },
    ),
    Moves(
        "Of the scale itself, or of scores as they are: a correlation turns with one of its sides.",
        SCALES,
        ALL,
        {
            "data_set": ("design_fact what=(highest|lowest)", "score_share"),
            "importance": ("r",),
        },
    ),
    Moves(
        "Of several runs one is looked at; findings of the design are numbered over all.",
        ("joined",),
        frozenset({"row"}),
        {
            "importance": ("*",),
            "design": ("design_evidence", "design_finding", "design_load")
        },
    ),
)  # fmt: skip


def negated(x: pd.Series) -> pd.Series:
    return -x


#: differences of two systems, by which one is called the first or by which end of the scale is good
SIGNED = dict.fromkeys(
    (
        *("system_difference", "equivalence", "effect_size", "effect_difference", "judge_contrast", "contrast_change"),
        *("conclusion", "specification", "without_person", "without_session", "moderation_lead"),
        *("contrast", "plain_contrast", "overall_contrast"),
    ),
    negated,
)
MEANS = ("mean", "level", "judge_rate")
#: change -> statistic -> what becomes of an estimate and its interval; of means by what the label's scale adds up to
BECOMES: dict[str, dict[str, Callable[[pd.Series], pd.Series]]] = {
    "shifted": dict.fromkeys((*MEANS, "mean_raw"), lambda x: x + 10),
    "turned": SIGNED | dict.fromkeys(MEANS, lambda x: 6 - x) | {"rate_change": negated},
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """(study, question, change) -> the rows of the question of the study as changed; each computed once."""

    @cache
    def told(study: str, change: str) -> Told:
        given = getattr(changes, study)()
        for name in change.split():
            given = odd(given) if name == "odd" else getattr(changes, name)(given)
        return Told(given, tmp_path_factory.mktemp(study))

    @cache
    def rows(study: str, question: str, change: str = "") -> pd.DataFrame:
        return keyed(told(study, change).rows(QUESTIONS[question](told(study, change))))

    return rows


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
    out = become(rows, swapped, SIGNED)
    out.loc[swapped, ["system", "system_b"]] = names[swapped][:, ::-1]
    return out


def without_resamples(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows without intervals from resamples: these are drawn by streams named by runs, groups and systems, from
    units in the order of names and rows."""
    resampled = (rows["ci_kind"].isin(RESAMPLED) | rows["n_undefined"].notna()).to_numpy()
    out = rows.copy()
    for column in INTERVAL:
        out[column] = out[column].mask(resampled)
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
    parts = [both[~there].assign(column="row", before="", after=lambda f: f["row"].astype(str))]
    for column in VALUES:
        x, y = both[column], both[f"{column}_2"]
        if all(pd.api.types.is_numeric_dtype(z) for z in (x, y)):
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
    after = ran(study, question, change)
    if change == "joined":
        each = after[~after["condition"].str.contains("against=run_")]
        one, other = (each[each["corpus"] == run].assign(corpus="run_a") for run in ("run_a", "run_b"))
        return moved(without_resamples(one), without_resamples(other))
    before = ran(study, question)
    if "renamed_backwards" in change:
        before, after = other_first(before), other_first(after)
    before = become(before, of_ratings(before), BECOMES.get(change.split()[0], {}))
    if {*NAMES} & {*change.split()}:
        before, after = without_resamples(before), without_resamples(after)
    return moved(before, after)


def of_ratings(rows: pd.DataFrame) -> np.ndarray:
    """(rows,) which are about labels whose scale goes from 1 to 5, in the studies of `changed_studies`."""
    method = rows["method"].isin(["dialogue_rating", "dialogue_likert"]) | (rows["statistic"] == "mean_raw")
    technique = rows["condition"].str.extract(r"technique=(\w+)")[0].fillna("dialogue_likert")
    return (method & (technique == "dialogue_likert")).to_numpy()


def unexplained(different: pd.DataFrame, question: str, change: str) -> list[str]:
    """What moved and may not, one line for each statistic and column."""
    known = [m for m in MOVES if {*change.split()} & {*m.under}]
    may = [any(m.holds(question, row) for m in known) for _, row in different.iterrows()]
    odd = different[~np.array(may, dtype=bool)]
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


#: rows in another order, other names in the opposite order, and a column and names that nothing uses
AT_ONCE = "reordered renamed_backwards unused"
#: each alone; what nobody uses beside the one under which least may move
CHANGES = ("reordered", "renamed_backwards", "odd", "shifted unused", "turned", "joined")
SHORT = (("crowd", "data_set"), ("replies", "moderation"))
TELLING = (
    ("crowd", "design"),
    ("sessions", "performance"),
    ("sessions", "importance"),
    ("crowd", "metrics"),
    ("crowd", "judges"),
)


@pytest.mark.parametrize(
    ("study", "question"), [*SHORT, *(pytest.param(*x, marks=pytest.mark.verify) for x in TELLING)]
)
def test_the_same_study_told_otherwise(ran, study, question):
    check(ran, study, question, AT_ONCE)


@pytest.mark.evidence
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("study", "question"), EVERY)
def test_every_question(ran, study, question, change):
    check(ran, study, question, change)


@pytest.mark.evidence
def test_what_may_move_still_does(ran):
    """Otherwise it is no longer to be in MOVES."""
    used = set()
    for study, question in EVERY:
        for change in CHANGES:
            known = [m for m in MOVES if {*change.split()} & {*m.under}]
            for _, row in differences(ran, study, question, change).iterrows():
                used |= {(m.why, question, m.holds(question, row)) for m in known}
    listed = {(m.why, question, entry) for m in MOVES for question, entries in m.what.items() for entry in entries}
    assert listed - used == set()
