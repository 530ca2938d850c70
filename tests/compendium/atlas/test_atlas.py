"""`atlas`: rows of a study of known truth, the committed tables and what is said of them, refusals of the command."""

import csv
import itertools

import pandas as pd
import pytest

from compendium.atlas import computing, declared, tables, writing
from compendium.atlas.declared import About
from judgebook.pipeline.cli import main
from judgebook.sources import places, registry
from judgebook.study import params
from judgebook.study.results import collect

YAML = """\
title: Two systems that two people judge alike
method: dialogue_rating
sources:
  - {adapter: table, file: ratings.csv, scores: "{label}", na_values: [""],
     columns: {system: bot, annotator: who, dialogue: reply}}
labels:
  quality: {scale: [1, 5], level: interval, direction: 1}
  fault: {scale: [0, 1], direction: -1}
metrics: {computed: []}
bootstrap: {n_resamples: 200}
sensitivity: {n_draws: 50, null_runs: 20}
"""
ABOUT = About(genre="answer", judges={"all": "crowd"}, labels={"quality": "overall", "fault": "safety"})


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """Rows of 40 replies by two systems, each judged by the same two people: quality alike, faults never alike."""
    folder = tmp_path_factory.mktemp("known")
    (folder / "truth.yaml").write_text(YAML, encoding="utf-8")
    with (folder / "ratings.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["reply", "bot", "who", "quality", "fault"])
        for (bot, i), who in itertools.product(itertools.product(("old", "new"), range(20)), ("A", "B")):
            rows.writerow([f"{bot} {i}", bot, who, 1 + i % 3 + (bot == "new"), int((who == "A") == i % 2)])
    return computing.rows(str(folder / "truth.yaml"), ABOUT)


def value(rows, label, statistic):
    chosen = rows.values[(rows.values["label"] == label) & (rows.values["statistic"] == statistic)]
    assert len(chosen) == 1
    return chosen.iloc[0]


TRUTH = {
    "quality": {
        "alpha": 1.0,
        "raw_agreement": 1.0,
        "variance_residual": 0.0,
        "claims": 1.0,
        "claims_dialogues": 1.0,
        "pairs_different": 1.0,
        "ranks_resolved": 2.0,
    },
    "fault": {
        "raw_agreement": 0.0,
        "positive_agreement": 0.0,
        "prevalence": 0.5,
        "pairs_different": 0.0,
        "claims": 0.0,
    },
}


@pytest.mark.parametrize("label", TRUTH)
def test_a_study_of_known_truth(known, label):
    found = {statistic: value(known, label, statistic)["estimate"] for statistic in TRUTH[label]}
    assert found == pytest.approx(TRUTH[label], abs=1e-9)
    facts = known.labels.set_index("label")
    wanted = ["kind", "judges", "unit", "points", "direction", "judgements", "items", "twice", "people", "systems"]
    own = {"quality": ["overall", "crowd", "dialogue", 5, 1], "fault": ["safety", "crowd", "dialogue", 2, -1]}[label]
    assert facts.loc[label, wanted].tolist() == [*own, 80, 40, 40, 2, 2]


def test_claims_stand_only_with_their_sign_and_where_there_is_a_test():
    """Of four pairs three are claimed: one stands, one is reversed, one has no other test."""
    head = {"statistic": "system_difference", "corpus": "main", "group": "all", "method": "dialogue_rating"}
    head |= {"label": "quality", "system": "A", "family": "x"}
    published = {"B": (0.5, 0.01), "C": (0.5, 0.01), "D": (0.5, 0.01), "E": (0.1, 0.6)}
    picked = {"B": (0.4, 0.04), "C": (-0.5, 0.01), "E": (0.1, 0.01)}
    rows = [
        head | {"system_b": b, "test": "student", "estimate": d, "p_value": p, "p_adjusted": min(1, 4 * p)}
        for b, (d, p) in published.items()
    ]
    others = [head | {"system_b": b, "estimate": d, "p_value": p, "p_adjusted": 3 * p} for b, (d, p) in picked.items()]
    tests = {"dialogues": pd.DataFrame(others), "annotators": pd.DataFrame(others[:0], columns=[*others[0]])}
    found = tables.of_claims(collect(rows), tests)
    counted = {name: frame[["estimate", "n"]].to_numpy().tolist() for name, frame in found}
    assert counted["claims"] == [[3.0, 4]]
    assert counted["claims_dialogues"] == [[1.0, 2]]
    assert counted["claims_annotators"] == []
    assert counted["adjusted_claims"] == [[3.0, 4]]
    assert counted["adjusted_claims_dialogues"] == [[0.0, 2]]


@pytest.mark.parametrize(("place", "runs"), [("corpus", ["one", "two"]), ("group", ["one", "two"])])
def test_claims_stand_in_another_run_of_the_same_systems(place, runs):
    """Of the three claims of the first run the second makes one; of its own three, the first tested two."""
    head = {"statistic": "system_difference", "corpus": "main", "group": "all", "method": "dialogue_rating"}
    head |= {"label": "quality", "system": "A", "test": "student", "p_adjusted": 1.0}
    tests = [("one", "B", 1, 0.01), ("one", "C", 1, 0.01), ("one", "D", 1, 0.01), ("two", "B", 1, 0.02)]
    tests += [("two", "C", -1, 0.02), ("two", "D", 1, 0.5), ("two", "E", 1, 0.01), ("three", "D", 1, 0.01)]
    rows = [head | {place: run, "system_b": b, "estimate": float(sign), "p_value": p} for run, b, sign, p in tests]
    counted = {
        name: frame.set_index(place)[["estimate", "n"]] for name, frame in tables.of_claims(collect(rows), {}, runs)
    }
    assert counted["claims_rerun"].T.to_dict("list") == {"one": [1.0, 3.0], "two": [1.0, 2.0]}
    assert counted["adjusted_claims_rerun"].empty


def test_rows_of_other_studies_stay_unless_the_atlas_has_them_no_more(known, tmp_path, monkeypatch):
    for table in writing.KEYS:
        text = (declared.FOLDER / f"{table}.csv").read_text(encoding="utf-8")
        assert "\nfed," in text
        (tmp_path / f"{table}.csv").write_text(text.replace("\nfed,", "\ngone,"), encoding="utf-8")
    monkeypatch.setattr(writing, "FOLDER", tmp_path)
    writing.write([known], tmp_path / "out", declared.declared(), kept=True)
    for table in writing.KEYS:
        there = {*pd.read_csv(tmp_path / "out" / f"{table}.csv")["study"]}
        assert {"truth", "usr"} <= there
        assert not {"gone", "fed"} & there


# the committed tables


@pytest.fixture(scope="module")
def committed():
    return {table: pd.read_csv(declared.FOLDER / f"{table}.csv") for table in writing.KEYS}


@pytest.mark.parametrize("table", list(writing.KEYS))
def test_committed_tables_have_the_columns_that_are_described(committed, table):
    frame = committed[table]
    assert list(frame) == declared.columns(table)
    assert not frame.duplicated(writing.KEYS[table]).any()
    pd.testing.assert_frame_equal(frame, frame.sort_values(writing.KEYS[table], ignore_index=True))


def test_every_public_study_is_there_and_no_simulated_one(committed):
    about = declared.declared()
    assert declared.undeclared() == []
    assert {*about.studies} <= {*registry.studies()}
    assert list(committed["studies"]["study"]) == sorted(about.studies)
    assert not any(params.load(name).simulated for name in committed["studies"]["study"])


def test_every_statistic_of_every_label_has_a_value_or_a_reason(committed):
    key = ["study", "corpus", "group", "method", "label"]
    frame, labels = committed["values"], committed["labels"]
    assert (frame["estimate"].isna() == frame["missing"].notna()).all()
    each = frame.groupby(key)["statistic"].agg(set)
    assert {*each.index} == {*labels[key].itertuples(index=False, name=None)}
    assert each.map(lambda found: found == set(declared.statistics())).all()
    inside = frame.dropna(subset=["estimate", "ci_low", "ci_high"])
    assert (inside["ci_low"] <= inside["ci_high"]).all()


def test_the_command_names_every_raw_file_that_is_not_here(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(places, "raw_roots", lambda: [tmp_path])
    assert main(["atlas", "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "convabuse: 1_full/ConvAbuseEMNLPfull.csv" in said
    assert "ji2022" in said, "its embedded judgements are no raw files"
    assert not (tmp_path / "out").exists()


@pytest.mark.data
@pytest.mark.evidence
def test_three_studies_anew_give_the_committed_bytes(atlas_data, tmp_path, monkeypatch):
    """Rows of other studies stay; those computed are the same, one or two studies at a time."""
    monkeypatch.setenv("COMPENDIUM_RAW", str(atlas_data))
    studies = ["accuracy_spans", "inferential_strategies", "recquest"]
    assert main(["atlas", "--study", *studies, "--jobs", "2", "--out", str(tmp_path)]) == 0
    for name in (*(f"{table}.csv" for table in writing.KEYS), writing.README):
        assert (tmp_path / name).read_bytes() == (declared.FOLDER / name).read_bytes(), name
