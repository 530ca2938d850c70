"""A bundle's report is computed again from the bundle alone; what differs, and what cannot come out, is said."""

import json
import math
import re
import shutil
import zipfile
from dataclasses import replace

import pandas as pd
import pytest
from fixtures import yaml_studies as studies
from fixtures.notebook_runs import LESS, run_all

from judgebook.extras.bundle import verifying, writing
from judgebook.extras.bundle.contents import PACKAGES
from judgebook.extras.bundle.finished import BundleError
from judgebook.extras.bundle.metadata import CROISSANT, METADATA
from judgebook.pipeline import cli
from judgebook.pipeline.manifest import Manifest
from judgebook.sources.instead.shared import FOLDER
from judgebook.study.params import ROOT
from judgebook.study.questions import declared

SECONDS = 230
#: what is run of a public study. ALL that see texts or ids of the studies that have them and are small
ALL, SOME = ["00", "02", "07", "09", "10", "17"], ["00", "07"]
#: study, what is run of it, and whether texts are in the bundle, of one or of two; the first two for every change: a
#: study of ratings, and one of comparisons
PUBLIC = [
    ("ji2022", SOME, (False,)),
    ("pandalm", SOME, (False,)),
    *((study, ALL, (False,)) for study in ("alttest_prompts", "conture", "engage", "squality")),
    *((study, SOME, (False,)) for study in ("alttest_mtbench", "dstc10_dev", "fed", "gpt_abceval", "grade", "llmfao")),
    ("finch2024", SOME, (False,)),
    ("usr", SOME, (False, True)),
    ("demo", ["00"], (True,)),
]
YAML = """\
title: Two bots and five people
description: Chats rated by neighbours.
licence: CC BY 4.0
pseudonyms: shuffled
method: dialogue_rating
heds: {completed_by: {name: A. Nalyst, affiliation: An institute}}
sources:
  - adapter: table
    file: my.csv
    layout: long
    columns: {dialogue: chat, system: bot, annotator: worker, label: what, score: rating, system_text: reply}
labels:
  fluency: {scale: [1, 5], direction: 1}
"""
ROWS = [
    f"d{item},{'AB'[item % 2]},w{who},fluency,{1 + (item * 3 + who * (1 + item % 2)) % 5},Reply number {item} of 12"
    for item in range(12)
    for who in range(5)
]
CSV = "chat,bot,worker,what,rating,reply\n" + "\n".join(ROWS) + "\n"


def bundled(root, monkeypatch, study, **how):
    monkeypatch.setenv("COMPENDIUM_OUT", str(root))
    assert writing.command(study, Manifest(study).data, {}, judgements=True, say=lambda line: None, **how) == 0
    return root / "bundles" / f"{study}.zip"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("verified")
    world = run_all(root / "out", [studies.write(root, YAML, my_csv=CSV)], [*LESS[:1]], only=["00", "07"])
    assert world.code == 0, world.said
    with pytest.MonkeyPatch.context() as patch:
        shutil.unpack_archive(bundled(root / "out", patch, "mine"), root / "made")
    return root / "made"


@pytest.fixture
def copy(made, tmp_path):
    return shutil.copytree(made, tmp_path / "copy")


@pytest.mark.evidence
def test_all_comes_out_again_without_texts(made):
    """Notebook 00 counts words of texts, and what is missing."""
    verdict = verifying.verify(made)
    assert verdict.failed == verdict.impossible == {"answers": [], "results": []}
    assert {kind: n > 50 for kind, n in verdict.compared.n.items()} == dict.fromkeys(verdict.failed, True)
    assert verdict.code == 0


def test_few_notebooks_are_excused_where_texts_are_left_out():
    excused = verifying._needing({"texts_left_out": 3})
    assert set(excused) == {"11_technique_comparison", "12_moderation", "19_comparisons"}
    assert verifying._needing({"texts_left_out": 0}) == {}


@pytest.mark.verify
def test_what_was_changed_is_found_and_what_cannot_come_out_is_said(copy):
    """A judgement; numbers of a notebook that is not here, and those of no other; another version."""
    path = copy / FOLDER / "annotations.csv"
    marks = pd.read_csv(path)
    marks.loc[0, "score"] = 1 if marks.loc[0, "score"] > 1 else 5
    marks.to_csv(path, index=False)
    results = pd.read_parquet(copy / "results" / "07_bot_performance.parquet").iloc[:2]
    results.to_parquet(copy / "results" / "98_own.parquet")
    packages = json.loads((copy / PACKAGES).read_text())
    (copy / PACKAGES).write_text(json.dumps(packages | {"judgebook": "0.1"}))
    verdict = verifying.verify(copy)
    assert verdict.code == 1
    assert replace(verdict, failed={}).code == 3
    assert {one.where for one in verdict.failed["results"]} == {"00_build_annotations", "07_bot_performance"}
    own = [why for why, one in verdict.impossible["results"] if one.where == "98_own"]
    assert own == ["its notebook is not part of this installation"] * 2
    assert any("version 0.1 of judgebook, here is" in line for line in verdict.remarks)


@pytest.mark.verify
def test_the_same_facts_stand_in_croissant_and_rocrate_and_each_column_is_described(made):
    croissant = json.loads((made / CROISSANT).read_text())
    graph = {e["@id"]: e for e in json.loads((made / METADATA).read_text())["@graph"]}
    profile = json.loads((made / "data" / "profile.json").read_text())
    assert croissant["name"] == graph["./"]["name"] == "Two bots and five people"
    assert croissant["license"] == graph["#data"]["license"] == "https://creativecommons.org/licenses/by/4.0/"
    assert croissant["license"] == graph["#judgements"]["license"]
    assert croissant["creator"]["name"] == graph["#author"]["name"] == "A. Nalyst"
    assert f"annotations: {profile['n_annotations']}" in croissant["size"]
    for table in croissant["recordSet"]:
        columns = pd.read_csv(made / FOLDER / f"{table['name']}.csv", nrows=1).columns
        assert [f["source"]["extract"]["column"] for f in table["field"]] == list(columns)
    stood_in = [f["@id"] for t in croissant["recordSet"] for f in t["field"] if "stand-in" in f["description"]]
    assert stood_in == ["dialogues/system_text"]


@pytest.mark.verify
def test_nobody_can_be_told_from_what_is_shared(made):
    shared = "".join(path.read_text() for path in (made / FOLDER).iterdir())
    assert "A0005" in shared
    for secret in ("w0", "w4", "Reply number"):
        assert secret not in shared, secret


@pytest.mark.verify
def test_the_code_of_the_page_does_what_it_says(made, monkeypatch):
    code = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "bundle.md").read_text(), re.DOTALL)[1]
    monkeypatch.chdir(made)
    names = {}
    exec(code, names)
    assert sorted(names["means"].index) == [("fluency", "A"), ("fluency", "B")]


def test_a_notebook_that_needs_a_skipped_one_is_asked_for_where_the_run_asked_for_it():
    """Notebook 06 needs three that run, and 04, for which nobody rated their own dialogues."""
    profile = {"features": {need: "No." for need in declared()["04_importance"].requires}}
    executed = ["02_collection_stats", "03_iaa", "07_bot_performance"]
    assert verifying._skipped(profile, executed) == ["06_stepwise_coverage"]
    assert verifying._skipped(profile, executed[:2]) == []


@pytest.mark.verify
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / METADATA).unlink(), "expected a bundle"),
        (lambda folder: (folder / FOLDER / "annotations.csv").unlink(), "bundle mine --with-judgements"),
        (lambda folder: (folder / "params" / "mine.yaml").unlink(), "expected one YAML in params/, found 0"),
        (
            lambda folder: (folder / FOLDER / "annotations.csv").write_text("corpus,score\nmain,x\n"),
            r"cannot be analysed: mine: the data cannot be read:\n  annotations.csv, row 2, score: .* found 'x'",
        ),
        (
            lambda folder: (folder / "report/answers.json").write_bytes(b"\xff"),
            "damaged: answers.json cannot be read: .*byte 0xff",
        ),
        (lambda folder: (folder / "params/mine.yaml").write_text("- a"), "its settings cannot be read: .*found a list"),
        (
            lambda folder: (folder / "results" / "07_bot_performance.parquet").write_bytes(b"PAR1"),
            "damaged: 07_bot_performance.parquet cannot be read: ",
        ),
        (lambda folder: (folder / "report" / "index.html").unlink(), "not whole: report/index.html missing"),
    ],
)
def test_what_is_no_bundle_is_refused(copy, change, message, capsys):
    change(copy)
    assert cli.main(["verify", str(copy)]) == 2
    assert re.search(f"{re.escape(str(copy))}: .*{message}", capsys.readouterr().err)


def test_a_zip_file_that_leads_elsewhere_is_refused(tmp_path):
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(METADATA, "{}")
        packed.writestr("../evil", "")
    with pytest.raises(BundleError, match=r"found '\.\./evil'"):
        verifying.verify(path)
    assert not (tmp_path.parent / "evil").exists()


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        (1.0, 1.0 + 5e-10, True),
        (1.0, 1.0 + 5e-9, False),
        (0.0, 5e-13, True),
        (0.0, 5e-12, False),
        (math.nan, math.nan, True),
        (math.nan, 1.0, False),
        (1, 1.0, True),
        (True, 1, False),
        ("A", "A", True),
        ("A", "B", False),
        (None, None, True),
    ],
)
def test_numbers_are_compared_within_a_tolerance_all_else_exactly(before, now, same):
    assert verifying.same(before, now) == same


@pytest.fixture
def folders(tmp_path):
    """A bundle, and what came out again: everything."""
    made = {"Command": "run", "Seeds": "1", "Date and version": "2026", "Data (SHA-256)": "abc"}
    answers = {"made": made, "answers": [{"estimate": 0.5, "sentence": "A leads."}]}
    rows = pd.DataFrame({"statistic": ["mean", "mean", "n"], "system": ["a", "b", None], "estimate": [0.5, 0.25, 7.0]})
    places = {"bundle": ("report", "results"), "again": ("reports/mine", "data/processed/mine/results")}
    for name, (report, results) in places.items():
        for folder in (report, results):
            (tmp_path / name / folder).mkdir(parents=True)
        (tmp_path / name / report / "answers.json").write_text(json.dumps(answers))
        rows.to_parquet(tmp_path / name / results / "07_x.parquet")
    return tmp_path / "bundle", tmp_path / "again"


def missing(folders):
    found = verifying.compared(*folders, "mine")
    return {kind: [one.what for one in ones] for kind, ones in found.missing.items() if ones}


def test_all_comes_out_however_the_command_line_is_called(folders):
    assert dict(verifying.compared(*folders, "mine").n) == {"answers": 3, "results": 3}
    for folder, command in zip(folders, ("python run_all.py", "judgebook"), strict=True):
        (path,) = folder.rglob("answers.json")
        text = path.read_text().replace("A leads", f"{command} --study mine tells whether A leads")
        path.write_text(text.replace('"Command": "run"', f'"Command": "{command} --out {folder.name}"'))
    assert missing(folders) == {}


def test_an_answer_and_a_row_that_differ_are_told(folders):
    again = folders[1]
    answers = (again / "reports/mine/answers.json").read_text()
    (again / "reports/mine/answers.json").write_text(answers.replace("0.5", "0.6"))
    path = again / "data/processed/mine/results/07_x.parquet"
    rows = pd.read_parquet(path)
    rows.loc[1, "estimate"] += 1e-6
    rows.iloc[:2].to_parquet(path)
    expected = {"answers": ["answers.0.estimate: 0.5"], "results": ["mean, b: [0.25]", "n: [7.0]"]}
    assert missing(folders) == expected


@pytest.mark.data
@pytest.mark.parametrize(
    ("study", "only", "shared"),
    [pytest.param(*one, marks=pytest.mark.verify if n < 2 else pytest.mark.evidence) for n, one in enumerate(PUBLIC)],
    ids=[study for study, *_ in PUBLIC],
)
def test_public_studies_come_out_again(raw_data, tmp_path, monkeypatch, study, only, shared):
    more = raw_data.parent / "data_more"
    in_more = (more / study.partition("_")[0]).is_dir()
    monkeypatch.setenv("COMPENDIUM_RAW", str(more if in_more else raw_data))
    assert run_all(tmp_path, [study], ["pseudonyms=shuffled", "licence=CC BY 4.0"], only=only).code == 0
    for texts in shared:
        verdict = verifying.verify(bundled(tmp_path, monkeypatch, study, texts=texts))
        assert verdict.failed == verdict.impossible == {"answers": [], "results": []}
        assert verdict.compared.n["answers"] > 50
