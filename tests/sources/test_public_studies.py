"""The public studies, each read once: that counts add up, and what was printed of them elsewhere.

How their files are read is held against hand-made miniatures in `adapters`; this is the evidence that the public files
are what the miniatures say.
"""

import functools
import json
import re
from decimal import ROUND_HALF_UP, Decimal

import krippendorff
import numpy as np
import pandas as pd
import pytest
from fixtures.raw_file_studies import printed

from judgebook.sources import build, places
from judgebook.study import params

SECONDS = 75
pytestmark = [pytest.mark.data, pytest.mark.evidence]

#: made from other studies, simulated, not public
ELSEWHERE = {"scoreboard", "atlas", "demo", "abc_eval"}


@pytest.fixture(scope="module")
def read(raw_data):
    """Name of a study -> what is read of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "raw_roots", lambda: [raw_data, *(raw_data.parent / x for x in ("data_more", "atlas"))])
        yield functools.cache(lambda name: build.build(params.load(name)))


def content(folder, file):
    return json.loads((folder / file).read_text(encoding="utf-8"))


def of_usr(raw):
    lists = [
        (reply["model"], record["annotators"], scores)
        for part in ("topical", "percona")
        for record in content(raw / "usr", f"usr_{part}_chat.json")
        for reply in record["responses"]
        for scores in reply.values()
        if isinstance(scores, list)
    ]
    people = {who for _, named, _ in lists for who in named}
    return sum(len(scores) for *_, scores in lists), len(people), len({model for model, *_ in lists})


def of_grade(raw):
    records = content(raw / "grade", "human_score/human_judgement.json")
    n = [len(json.loads(r["HumanScores"])) for r in records]
    return sum(n), max(n), len({r["DialogModel"] for r in records})


def of_dices(raw):
    n = [
        len(r["annotations"]["safety"]["individual_human_scores"])
        for r in content(raw.parent, "data_more/dices/dices_990.json")["instances"]
    ]
    return sum(n), max(n), 1


def of_dstc7(raw):
    """Two labels of each response by each judge, whose first one counts; TeamEC and TeamCE are one."""
    rows = pd.read_csv(raw / "dstc7" / "dstc7-task2-human-eval-per-judge.tsv", sep="\t", encoding="utf-8-sig")
    rows["SystemID"] = rows["SystemID"].replace({"TeamEC": "TeamCE"})
    ids = rows.drop_duplicates(["JudgeID", "InstanceID", "SystemID"])
    return 2 * len(ids), ids["JudgeID"].nunique(), ids["SystemID"].nunique()


def of_dstc9(raw):
    rows = pd.read_csv(raw / "dstc9" / "ratings.csv")
    labels = rows.loc[:, "coherent":"human_overall"]
    return int(labels.notna().sum().sum()), rows["slot"].nunique(), rows["system"].nunique()


def of_convai2(raw):
    rows = pd.read_csv(raw / "convai2_wild" / "ratings.csv").dropna(subset="eval_score")
    return len(rows), rows["user"].nunique(), rows["bot"].nunique()


COUNTED = {"usr": of_usr, "grade": of_grade, "dices": of_dices, "dstc7": of_dstc7, "dstc9": of_dstc9}
COUNTED["convai2_wild"] = of_convai2


@pytest.mark.parametrize("name", COUNTED)
def test_as_much_is_read_as_is_counted_in_the_file(read, raw_data, name):
    """Judgements, annotators and systems, with pandas or json alone."""
    profile = read(name).profile
    assert (profile["n_annotations"], profile["n_annotators"], len(profile["systems"])) == COUNTED[name](raw_data)


@pytest.mark.parametrize("name", sorted(set(params.names()) - ELSEWHERE))
def test_counts_add_up(read, name):
    """Of the annotations that are read, as many are kept as there are, and the others have a reason."""
    built = read(name)
    counts = built.frames["counts"]
    n = counts[counts["what"].str.endswith("annotations")].groupby("action")["n"].sum()
    assert n["kept"] == len(built.frames["annotations"])
    assert n["read"] == n["kept"] + n.get("dropped", 0)


def marks(built, **where):
    rows = built.frames["annotations"]
    for column, value in where.items():
        rows = rows[rows[column] == value]
    return rows


def half_up(value, unit):
    return float(Decimal(repr(float(value))).quantize(Decimal(unit), ROUND_HALF_UP))


@pytest.mark.parametrize(
    ("label", "alpha"),
    [
        ("self_contradiction", 0.407),
        ("empathetic", 0.514),
        ("lack_of_empathy", 0.435),
        ("irrelevant", 0.456),
        ("ignore", 0.571),
        ("incorrect_fact", 0.652),
        ("commonsense_contradiction", 0.442),
        ("partner_contradiction", 0.436),
        ("redundant", 0.551),
    ],
)
def test_the_two_people_of_gpt_abceval_agree_as_known(read, label, alpha):
    """Ordinal alpha over 1,634 turns by the krippendorff package, to three decimals."""
    rows = marks(read("gpt_abceval"), label=label)
    wide = rows.pivot_table(index="annotator", columns=["dialogue", "turn"], values="score")
    pair = wide.loc[["pos0", "pos1"]].to_numpy()
    assert round(krippendorff.alpha(reliability_data=pair, level_of_measurement="ordinal"), 3) == alpha


def test_dropping_repeats_moves_no_system_mean_of_dstc7_by_a_hundredth(read, raw_data):
    """The organisers' table holds the means over every row, repeats included."""
    path = raw_data / "dstc7" / "dstc7-task2-human_evaluation.tsv"
    wide = pd.read_csv(path, sep="\t", quoting=3, encoding="utf-8-sig").set_index("InstanceID")
    means = marks(read("dstc7")).groupby(["system", "dialogue"])["score"].mean().groupby("system").mean()
    np.testing.assert_allclose(means, wide.loc["Average", means.index].astype(float), atol=0.01)


def test_positions_of_dstc9_are_the_slots_of_the_file(read, raw_data):
    rows = pd.read_csv(raw_data / "dstc9" / "ratings.csv").set_index(["system", "dialogue", "slot"])
    for label in ("human_overall", "error_recovery"):
        ours = marks(read("dstc9"), label=label)
        number = ours["dialogue"].str.rpartition("_")[2].astype(int)
        ours = ours.set_index([ours["system"], number, ours["annotator"].str.removeprefix("pos").astype(int)])["score"]
        given = rows[label].dropna().astype(float)
        pd.testing.assert_series_equal(ours.sort_index(), given.sort_index(), check_names=False)


def test_ties_of_spot_the_bot_are_as_frequent_as_printed(read):
    pairs = marks(read("spot_the_bot"), method="pairwise_dialogue")
    ties = pairs["score"].eq(0).groupby(pairs["corpus"]).mean()
    assert (100 * ties).round().to_dict() == {"convai2": 68, "dailydialog": 79}


@pytest.fixture(scope="module")
def verdicts(read):
    """Released and fitted verdict of each dialogue of ji2022."""
    facts = read("ji2022").frames["dialogue_facts"]
    facts = facts[facts["key"].isin(["released_pass", "fitted_pass"])]
    return facts.set_index(["key", "dialogue"])["value"].eq("yes")


@pytest.mark.parametrize(
    ("corpus", "verdict", "table"),
    [("free_run1", "released_pass", 9), ("free_run2", "fitted_pass", 9), ("ice_breaker", "fitted_pass", 10)],
)
def test_raw_means_of_ji2022_are_those_of_tables_9_and_10(read, verdicts, corpus, verdict, table):
    """Run 1 from the released verdicts; the others from fitted lists, which were found by search over these tables."""
    rows = marks(read("ji2022"), corpus=corpus)
    passed = verdicts[verdict][lambda v: v].index
    rows = rows[rows["dialogue"].isin(passed) & (rows["system"] != "qc")]
    means = rows.pivot_table(index="system", columns="label", values="score")
    means["overall"] = means.mean(axis=1)
    means["n"] = rows.groupby("system").size()
    panel = corpus.replace("run", "run_")
    given = {system: printed(f"ji2022_table{table:02}.csv", panel=panel, row=system) for system in means.index}
    assert sum(map(len, given.values())) == 90
    for system, values in given.items():
        assert {column: half_up(means.at[system, column], "0.01") for column in values} == values


def test_attitudes_of_ji2022_are_those_of_table_2(read, verdicts):
    """Half up to two decimals, then to one: the only way to the 86.4 that is printed for 860 of 996."""
    facts = read("ji2022").frames["dialogue_facts"]
    start = facts[facts["key"] == "topic_opinion"].drop_duplicates(["corpus", "dialogue"])
    passed = start["dialogue"].map(verdicts["released_pass"])
    shares = 100 * pd.crosstab([start["corpus"], passed], start["value"], normalize="index")
    for corpus in ("free_run1", "free_run2"):
        for opinion in ("like", "ambivalent", "dislike"):
            values = printed("ji2022_table02.csv", panel=corpus.replace("run", "run_"), row=opinion)
            for column, verdict in (("pass", True), ("fail", False)):
                share = half_up(shares.at[(corpus, verdict), opinion], "0.01")
                assert half_up(share, "0.1") == values[column]


def test_no_platform_id_is_left_in_ji2022(read, raw_data):
    rows = pd.concat(pd.read_csv(path, dtype=str) for path in sorted((raw_data / "ji2022").glob("data/*/*/*.csv")))
    ids = set(rows["WorkerId"]) | set(rows["AssignmentId"]) | set(rows["HITId"])
    for name in ("annotations", "dialogues", "work_units", "dialogue_facts"):
        assert not set(re.findall(r"\w+", read("ji2022").frames[name].to_csv())) & ids, name


@pytest.mark.parametrize(
    ("file", "whole"), [("turn_level_model_score_list.json", False), ("dialog_level_model_scores.json", True)]
)
def test_scores_of_fed_equal_the_upstream_lists(read, raw_data, file, whole):
    given = content(raw_data / "fed", file)
    scores = read("fed").frames["metric_scores"]
    scores = scores[scores["turn"].isna() == whole]
    names = {"understanding": "understand"}
    for criterion, values in given.items():
        name = criterion.lower().replace(" ", "_")
        ours = scores.loc[scores["metric"] == f"fed_{names.get(name, name)}", "score"]
        np.testing.assert_array_equal(ours.to_numpy(), values, err_msg=criterion)


def test_ratings_of_fed_give_the_upstream_means(read, raw_data):
    """Upstream drops the rating farthest from a unit's mean, averages the rest, and adds 1 (not for Consistent)."""
    given = content(raw_data / "fed", "dialog_level_annotators_scores.json")
    rows = marks(read("fed"), method="dialogue_rating")
    compared = 0
    for criterion, means in given.items():
        ours = rows[rows["label"] == criterion.lower().replace(" ", "_")].groupby("dialogue")["score"].apply(list)
        for dialogue, mean in zip(sorted(rows["dialogue"].unique()), means, strict=True):
            scores = np.array(ours.get(dialogue, []))
            if len(scores) < 5:
                continue  # how upstream treats N/A is not part of the rule
            far, shift = np.abs(scores - scores.mean()), criterion != "Consistent"
            candidates = [np.delete(scores, i).mean() + shift for i in np.flatnonzero(np.isclose(far, far.max()))]
            assert np.isclose(candidates, mean).any(), (criterion, dialogue)
            compared += 1
    assert compared > 1_000


def test_means_of_grade_equal_the_upstream_means(read, raw_data):
    means = marks(read("grade")).groupby(["corpus", "system", "dialogue"])["score"].mean()
    for (corpus, system), ours in means.groupby(level=[0, 1]):
        path = raw_data / "grade" / "human_score" / corpus / system / "human_score.txt"
        given = np.array(path.read_text().split(), dtype=float)
        np.testing.assert_allclose(ours.to_numpy(), given, atol=5.1e-5)  # upstream prints four decimals


def test_places_in_the_lists_of_usr_give_the_agreement_that_zhang_et_al_2022_print(read):
    """Mean Spearman correlation of the three pairs of places: annotations of an item stand in the order of the file."""
    rows = marks(read("usr"), corpus="topical_chat")
    place = rows.groupby(["dialogue", "label"]).cumcount()
    wide = rows.assign(place=place).pivot_table(index="dialogue", columns=["label", "place"], values="score")
    names = {"engaging": "interesting", "overall": "overall_quality"}
    given = printed("dstc10_text.csv", panel="inter_annotator_agreement", row="topical_usr")
    for label in rows["label"].unique():
        r = wide[label].corr(method="spearman").to_numpy()[np.triu_indices(3, k=1)].mean()
        assert round(r, 4) == given[names.get(label, label)], label


def test_groups_of_finch2024_are_those_of_the_inferred_list(read, raw_data):
    """groups.csv names three developers and eight students; one student did comparisons only."""
    listed = pd.read_csv(raw_data / "finch2024" / "groups.csv")
    for group, spec in params.load("finch2024").groups.items():
        assert set(spec.annotators) == set(listed.loc[listed["group"].str.lower() == group, "worker_id"])
    people = marks(read("finch2024")).groupby("group")["annotator"].nunique()
    assert people.to_dict() == {"dev_x": 3, "stu_x": 8}


def test_developers_of_finch2024_agree_as_printed(read):
    """Table 3, row Dev_x, Likert: ordinal alpha of the first two annotations (the groups were fitted to this row)."""
    rows = marks(read("finch2024"), group="dev_x", method="dialogue_likert")
    place = rows.groupby(["label", "dialogue"], sort=False).cumcount()
    rows = rows.assign(place=place)[place < 2]
    table = pd.read_csv(params.ROOT / "data" / "published" / "finch2024_table03.csv")
    cells = table[table["row"].str.lower().eq("dev_x") & table["panel"].str.lower().str.contains("likert")]
    assert len(cells) == 8
    for cell in cells.itertuples():
        of_label = rows[rows["label"].str[:3] == cell.column[:3].lower()]
        pairs = of_label.pivot_table(index="place", columns="dialogue", values="score").dropna(axis=1).to_numpy()
        alpha = krippendorff.alpha(reliability_data=pairs, level_of_measurement="ordinal")
        assert round(alpha, cell.decimals) == pytest.approx(cell.value)
