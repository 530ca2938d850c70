"""The command: pages and files, what is printed, exit codes."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fixtures.html_pages import Elements

import judgebook as jb
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
    assert out.startswith("Yes: Second run clearly reproduces First run.")
    assert "10 of 10" in out
    folder = ran / "reports" / "compare" / "mine_zz_run_1_mine_zz_run_2"
    page = Elements((folder / "index.html").read_text(encoding="utf-8"))
    assert page.loads() == []
    assert "Yes: Second run clearly reproduces First run." in page.text
    seen = [page.text, out.partition("page:")[0], *(a.get("alt") or "" for _, a in page.found)]
    assert not any("zz_" in text for text in seen)
    labels = pd.read_csv(folder / "files" / "comparison_labels.csv")
    assert labels["r"].between(0.9, 1).all()


def test_from_python_the_comparison_is_the_one_of_the_command(ran, capsys):
    """Names of studies, a study that was opened, and one of a folder give the same; nothing is written."""
    for name in ("mine", "other"):
        path = store.processed(name) / "annotations.parquet"
        pd.read_parquet(path).query("corpus == 'zz_run_1'").to_parquet(path)
    code, out, said = call(capsys, "mine", "other")
    assert code == 0, said
    written = ran / "reports" / "compare" / "mine_other"
    labels = pd.read_csv(written / "files" / "comparison_labels.csv")
    opened = jb.open_study("mine"), SimpleNamespace(folder=store.processed("other"))
    before = {p: p.stat().st_mtime_ns for p in ran.rglob("*")}
    for a, b in (("mine", "other"), opened):
        compared = jb.compare(a, b)
        assert compared.frames["labels"]["r"].tolist() == pytest.approx(labels["r"].tolist())
        assert str(compared).splitlines()[0] == out.splitlines()[0]
    assert {p: p.stat().st_mtime_ns for p in ran.rglob("*")} == before
    assert "July" in str(jb.compare(*opened, titles=("June", "July")))
    with pytest.raises(jb.JudgebookError, match="no results of a study"):
        jb.compare(SimpleNamespace(folder=ran / "reports"), "mine")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mine"], "required: B"),
        (["ji2022", "mine"], "ji2022 was not run: `python run_all.py --study ji2022`"),
        (["mine:zz_run_3", "mine:zz_run_1"], "no corpus 'zz_run_3' in mine; did you mean 'zz_run_"),
        (["mine", "other"], "mine has several corpora; name one of mine:zz_run_1, mine:zz_run_2"),
        (["mine:zz_run_1", "mine:zz_run_2", "--map", "zz_a"], "--map: expected old=new, found 'zz_a'"),
        (["mine:zz_run_1", "mine:zz_run_2", "--map", "zz_label=x"], "no label in common"),
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
