"""Every block and command that a page shows is tried: carried out, read as what it is, or parsed for a stated reason."""

import inspect
import re
from pathlib import Path

import pytest
import yaml
from fixtures import documentation as docs

import judgebook
from judgebook import project
from judgebook.pipeline import cli
from judgebook.project import ROOT
from judgebook.sources import build
from judgebook.study import params
from judgebook.study.params import ParamsError

BLOCKS = [block for page in docs.PAGES for block in docs.blocks(page)]
#: files and YAMLs with a name are read by tests/doors/test_situations.py
SITUATIONS = "docs/own_data/"


def of(*languages, named=False):
    chosen = [b for b in BLOCKS if b.language in languages and (named or not b.page.startswith(SITUATIONS) or not b.name)]
    return pytest.mark.parametrize("block", chosen, ids=str)


def test_every_block_is_of_a_kind_that_is_tried():
    kinds = {"", "csv", "json", "jsonl", "python", "text", "yaml", "{eval-rst}"}
    assert {str(block) for block in BLOCKS if block.language not in kinds} == set()
    assert {block.page for block in BLOCKS if block.language == "{eval-rst}"} == {"docs/api.md"}
    assert len(BLOCKS) > 90


@of("")
def test_a_command_is_one_that_can_be_given(block):
    for words in docs.lines(block):
        if (ours := docs.arguments(words)) is not None:
            docs.checked(ours)
        elif words[0] == "make":
            assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), words
        elif words[0] == "python":
            path = words[3] if words[1:3] == ["-m", "pytest"] else words[1]
            assert (ROOT / path).exists(), path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("python run_all.py --study demo --onyl iaa", "did you mean '--only'"),
        ("judgebook --only 77", "77"),
        ("judgebook --set costs.planned_dialogues=[100,200]", "planned_dialogues"),
        ('judgebook gate weekly.yaml --require "new nicer than old"', "nicer"),
        ("judgebook adit ratings.csv", "did you mean"),
        ("jugdebook audit ratings.csv", "no command"),
    ],
)
def test_a_command_that_cannot_be_given_is_found(text, said):
    with pytest.raises((docs.JudgebookError, ValueError), match=re.escape(said)):
        for words in docs.lines(docs.Block("page", 1, "", "", text)):
            docs.checked(docs.arguments(words))


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


@of("csv", "json", "jsonl")
def test_data_are_what_they_are_said_to_be(block):
    assert docs.is_data(block)
    if block.name:
        assert (ROOT / block.name).read_text(encoding="utf-8").startswith(block.text)
