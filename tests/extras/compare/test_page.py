"""The command: pages and files, what is printed, exit codes."""

import numpy as np
import pandas as pd
import pytest
from fixtures.html_pages import Elements

from judgebook.pipeline import cli
from judgebook.study import store

YAML = """\
title: Two runs
method: dialogue_rating
sources:
  - {adapter: table, file: my.csv, layout: long, columns: {dialogue: d, annotator: w, label: what, score: rating}}
labels:
  zz_label: {scale: [1, 5], integer: false, direction: 1, title: Fluency}
systems: {zz_a: Alpha, zz_b: Beta, zz_c: Gamma, zz_d: Delta, zz_e: Epsilon}
corpora: {zz_run_1: First run, zz_run_2: Second run}
"""


def judgements(seed):
    """Two runs of eight people who each rate a dialogue of five systems."""
    rng = np.random.default_rng(seed)
    rows = [
        (run, f"{run}{w}", system, f"{run}-{w}-{system}", np.clip(1.5 + 0.6 * s + rng.normal(0, 0.4), 1, 5))
        for run in ("zz_run_1", "zz_run_2")
        for w in range(8)
        for s, system in enumerate(["zz_a", "zz_b", "zz_c", "zz_d", "zz_e"])
    ]
    frame = pd.DataFrame(rows, columns=["corpus", "annotator", "system", "dialogue", "score"])
    constant = {"method": "dialogue_rating", "label": "zz_label", "annotator_kind": "human", "annotator_known": True}
    return frame.assign(**constant, group="all", turn=None, dialogue_b=None, system_b=None, completed_at=pd.NaT)


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """An output folder with two studies; `other` has the same runs under other seeds, and another setting."""
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    for name, seed in (("mine", 1), ("other", 2)):
        folder = store.processed(name)
        store.write_frame(judgements(seed), folder / "annotations.parquet")
        text = YAML + ("seeds: {bootstrap: 9}\n" if name == "other" else "")
        (folder / "params.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def call(capsys, *words):
    code = cli.main(["compare", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_two_runs_of_a_study(ran, capsys):
    code, out, _ = call(capsys, "mine:zz_run_1", "mine:zz_run_2")
    assert code == 0
    assert out.startswith("Yes: Second run reproduces First run.")
    assert "10 of 10" in out
    folder = ran / "reports" / "compare" / "mine_zz_run_1_mine_zz_run_2"
    page = Elements((folder / "index.html").read_text(encoding="utf-8"))
    assert page.loads() == []
    assert "Second run reproduces First run" in page.text
    figures = [a for a in page.of("img") if a.get("alt")] + page.of("svg")
    assert len(figures) >= 2
    seen = [page.text, out.partition("page:")[0], *(a.get("alt") or "" for _, a in page.found)]
    assert not any("zz_" in text for text in seen)
    labels = pd.read_csv(folder / "files" / "comparison_labels.csv")
    assert labels["r"].between(0.9, 1).all()
    assert {p.suffix for p in (folder / "files").iterdir()} >= {".png", ".csv", ".tex"}


def test_a_study_with_itself_is_identical(ran, capsys):
    code, out, _ = call(capsys, "mine", "mine")
    assert (code, out.split(":")[0]) == (0, "Identical")
    page = ran / "reports" / "compare" / "mine_mine" / "index.html"
    assert "Identical" in Elements(page.read_text(encoding="utf-8")).text


def test_two_folders_and_the_settings_that_differ(ran, capsys):
    code, out, _ = call(capsys, f"{ran}/mine:zz_run_1", f"{ran}/data/processed/other:zz_run_2")
    assert code == 0
    assert "YAML: seeds.bootstrap" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mine"], "required: B"),
        (["mine", "nothing"], "no study 'nothing'"),
        (["ji2022", "mine"], "ji2022 was not run: `python run_all.py --study ji2022`"),
        (["mine:zz_run_3", "mine:zz_run_1"], "no corpus 'zz_run_3' in mine; did you mean 'zz_run_"),
        (["mine", "other"], "mine has several corpora; name one of mine:zz_run_1, mine:zz_run_2"),
        (["mine:zz_run_1", "mine:zz_run_2", "--map", "zz_a"], "--map: expected old=new, found 'zz_a'"),
        (["mine:zz_run_1", "mine:zz_run_2", "--map", "zz_label=x"], "no label in common"),
        (["mine:zz_run_1", "/tmp"], "no results of a study"),
        (["mine", "mine", "--mapp"], "unknown option '--mapp'"),
    ],
)
def test_a_wrong_call_ends_with_2_and_says_why(ran, capsys, words, said):
    try:
        code, _, err = call(capsys, *words)
    except SystemExit as ended:  # argparse
        code, err = ended.code, capsys.readouterr().err
    assert code == 2
    assert said in err
    assert not (ran / "reports").exists()
