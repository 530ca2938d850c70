"""What a notebook of one's own declares: read without running it, and held against what it reads."""

import pandas as pd
import pytest

from judgebook.study import store
from judgebook.study.own_notebook import OwnNotebookError, arguments, declaration, own_notebook

CALL = 'own_notebook("20_a", study, run_id, reads=["annotations"], extra=["least"])'


@pytest.mark.parametrize(
    "source", [CALL, f"run = jb.{CALL}", CALL.replace("study, run_id", "study=study, run_id=run_id"), f"x = [{CALL}]"]
)
def test_the_call_is_read_however_it_is_written(source):
    assert arguments("20_a", ["import judgebook as jb", source]) == {"reads": ["annotations"], "extra": ["least"]}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (CALL.replace("20_a", "20_b"), r"20_a: expected the name of its file first: own_notebook\('20_a', study"),
        (CALL.replace('["least"]', "KEYS"), "20_a: expected values written out, since they are read before"),
        (CALL.replace("study", '"demo"', 1), "20_a: expected `study` of its parameters cell in the call"),
        (CALL.replace("reads", "read"), "own_notebook has no argument 'read'"),
        (f"{CALL}\n{CALL}", "expected one call of own_notebook, found 2"),
    ],
)
def test_a_call_that_cannot_be_read_is_refused_with_what_to_write(source, message):
    with pytest.raises(OwnNotebookError, match=message):
        arguments("20_a", [source])


@pytest.mark.parametrize(
    ("name", "lists", "message"),
    [
        ("mine", {}, "mine: expected a name of two digits, then lower-case letters, digits and _, such as 20_lengths"),
        ("20_a", {"reads": ["annotation"]}, "20_a: reads: no frame 'annotation'; did you mean 'annotations'?"),
        ("20_a", {"reads": ["../secret.csv"]}, "reads: expected a file below the project's folder, found"),
        ("20_a", {"reads": "annotations", "needs": [1]}, "reads: expected a list of texts, .*; needs: expected a list"),
    ],
)
def test_a_declaration_that_cannot_be_is_refused(name, lists, message):
    with pytest.raises(OwnNotebookError, match=message):
        declaration(name, lists)


@pytest.fixture
def run(monkeypatch, tmp_path):
    """A notebook on a study with data: it declares one frame, a file that is not there, and two keys."""
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    frame = pd.DataFrame({"score": [1.0]})
    for name in ("annotations", "dialogues"):
        store.write_frame(frame, store.processed("tiny") / f"{name}.parquet")
    text = "title: T\nacross: true\nextra: {least: 3, other: 4}\n"
    (tmp_path / "tiny.yaml").write_text(text, encoding="utf-8")
    declared = {"reads": ["annotations", "data/none.csv"], "extra": ["least", "absent"]}
    return own_notebook("20_a", str(tmp_path / "tiny.yaml"), **declared)


def test_what_is_declared_is_read(run):
    assert run.read("annotations")["score"].tolist() == [1.0]
    assert (run.extra["least"], run.study.extra.get("least"), dict(run.extra)) == (3, 3, {"least": 3})


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda run: run.file("data/other.csv"), "reads 'data/other.csv', which it does not declare"),
        (lambda run: run.read_results("03_iaa"), r'write `needs=\["03_iaa"\]` in its call of `own_notebook`'),
        (lambda run: run.extra["other"], r'write `extra=\["least", "absent", "other"\]` in its call'),
    ],
)
def test_what_is_not_declared_is_refused_with_what_to_write(run, read, message):
    with pytest.raises(store.UndeclaredError, match=message):
        read(run)


def test_what_is_declared_and_not_there_is_told(run):
    with pytest.raises(store.AbsentError, match=r"the YAML of tiny has no `extra: {absent: …}`"):
        run.extra["absent"]
    with pytest.raises(store.AbsentError, match=r"20_a: no file 'data/none.csv' in the folder of the project"):
        run.file("data/none.csv")
    assert run.extra.get("absent", 7) == 7


def test_a_notebook_of_the_project_is_refused_too_and_told_where_to_declare(monkeypatch, tmp_path):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    store.write_frame(pd.DataFrame({"x": [1]}), store.processed("demo") / "dialogues.parquet")
    run = store.start("demo", "15_annotators")
    declared = r"add it to `reads` in `judgebook/questions/annotators/question.py`"
    with pytest.raises(store.UndeclaredError, match=declared):
        run.read("metric_scores")
