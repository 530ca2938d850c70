"""Every block and command of a page is tried: carried out, read as what it is, or parsed for a stated reason."""

import inspect
import re

import pytest
import yaml
from fixtures import documentation as docs
from fixtures import yaml_studies as studies

import judgebook
from judgebook import project
from judgebook.errors import JudgebookError
from judgebook.project import ROOT
from judgebook.sources import build
from judgebook.study import params

BLOCKS = [block for page in docs.PAGES for block in docs.blocks(page)]
#: files and YAMLs with a name are read by tests/doors/test_situations.py
SITUATIONS = "docs/own_data/"


def of(*languages, named=False):
    chosen = [
        b for b in BLOCKS if b.language in languages and (named or not b.page.startswith(SITUATIONS) or not b.name)
    ]
    return pytest.mark.parametrize("block", chosen, ids=str)


@of(*docs.SHELLS)
def test_a_command_is_one_that_can_be_given(block):
    for words in docs.lines(block):
        if (ours := docs.arguments(words)) is not None:
            docs.checked(ours)
        elif words[0] == "make":
            assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), words
        elif words[0] == "python":
            path = words[3] if words[1:3] == ["-m", "pytest"] else words[1]
            assert (ROOT / path).exists(), path


@pytest.mark.evidence
@of(*docs.SHELLS)
def test_commands_are_carried_out(block, tmp_path, monkeypatch):
    """In a folder with data; `PARSED` says which are not, and why. Runs are planned."""
    monkeypatch.setattr(project, "INSTALLED", True)
    for name in ("COMPENDIUM_FOLDER", "COMPENDIUM_OUT"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.csv").write_text(studies.wide_csv(), encoding="utf-8")
    (tmp_path / "params").mkdir()
    for words in docs.to_carry_out(block):
        named = words[words.index("--study") + 1] if "--study" in words else "demo"
        if named not in {*params.names(), "all"}:
            studies.write(tmp_path / "params", studies.WIDE, name=named, my_csv=studies.wide_csv())
        assert docs.code(words) in ((0, 3) if words[0] in ("new", "check") else (0,)), words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("python run_all.py --study demo --onyl iaa", "did you mean '--only'"),
        ('judgebook gate weekly.yaml --require "new nicer than old"', "nicer"),
        ("judgebook adit ratings.csv", "did you mean"),
    ],
)
def test_a_command_that_cannot_be_given_is_found(text, said):
    with pytest.raises((JudgebookError, ValueError), match=re.escape(said)):
        docs.checked(docs.arguments(docs.lines(docs.Block("page", 1, "", "", text))[0]))


@pytest.mark.parametrize("page", docs.PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_in_sentences_can_be_given(page):
    for text in docs.inline(page):
        docs.checked_inline(text)


@of("yaml")
def test_a_yaml_is_one_that_a_study_may_have(block):
    if block.text.startswith("apiVersion: kubernetes.dask.org/"):
        assert yaml.safe_load(block.text)["kind"] == "DaskCluster"
    else:
        docs.as_study(block.text)


@of("python")
def test_python_names_what_the_package_has(block):
    for name, arguments in docs.names_of_ours(block.text):
        assert name in judgebook.__all__
        parameters = inspect.signature(getattr(judgebook, name)).parameters if arguments else {}
        assert set(arguments) <= set(parameters), name


@pytest.mark.evidence
def test_the_example_of_audit_answers(tmp_path, monkeypatch):
    (block,) = (b for b in docs.blocks(ROOT / "docs" / "audit.md") if b.language == "python")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(block.text, names)
    assert len(names["audit"].answers) == 6
    assert names["audit"].answers.loc["order", "answer"].startswith("new is best of 2 systems")


@of("csv", "json", "jsonl")
def test_data_are_what_they_are_said_to_be(block):
    assert docs.is_data(block)
    if "/" in block.name:
        assert (ROOT / block.name).read_text(encoding="utf-8").startswith(block.text)


#: how a part of a YAML begins -> the file that it reads, judgements in it, and the sum of their scores
READ = {
    'scores: "Rater {annotator}"': ("id,Rater A,Rater B\nd1,4,5\nd2,3,2\n", 4, 14),
    'scores: "item{i}"': ("prompt,annotator,item1,item2,item3,best,worst\np1,a,A,B,C,B,C\np2,a,A,B,C,1,B\n", 6, 0),
    'scores: "n_{score}"': ("item,system,n_1,n_2\nx,A,2,1\ny,B,0,3\n", 6, 10),
    'scores: "{system_b}"': ("winner,A,B,C\nA,,3,2\nB,1,,0\n", 6, 4),
    "- adapter: records\n    file: spans.json": (
        """[{"id": "d1", "system": "A", "annotations": [{"annotator": "b", "spans": []},
        {"annotator": "a", "spans": [{"category": "rude"}, {"category": "vague"}]}]}]""",
        2,
        None,
    ),
    "columns: {corpus: run,": ("run,chat,bot,worker,what,rating\nrun_1,d,A,w,fluency,4\nrun_2,e,A,w,quality,5\n", 2, 9),
}


@pytest.mark.parametrize("begin", READ)
def test_a_part_of_a_yaml_reads_what_its_page_says(begin, tmp_path):
    (block,) = (b for b in BLOCKS if b.language == "yaml" and b.text.lstrip().startswith(begin))
    data, n, total = READ[begin]
    study = docs.as_study(block.text, tmp_path / "shown.yaml")
    (tmp_path / study.sources[0].file).write_text(data, encoding="utf-8")
    scores = build.build(study).frames["annotations"]["score"]
    assert len(scores) == n
    assert total is None or scores.sum() == total
