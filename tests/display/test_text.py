"""Passages of prose: those of every folder can be compiled, which happens where the first of them is said."""

import pytest
from fixtures.project_copy import ROOT

from judgebook.display.text import Phrases

SOURCE = ROOT / "src"
FOLDERS = sorted(path.parent.relative_to(SOURCE) for path in SOURCE.rglob("text.md.j2"))


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_the_passages_of_a_folder_can_be_compiled(folder):
    phrases = Phrases(".".join(folder.parts))
    passages = [name for name in vars(phrases._module) if not name.startswith("_")]
    assert passages


def test_an_unknown_passage_is_an_error():
    with pytest.raises(AttributeError, match="no_such_passage"):
        Phrases(".".join(FOLDERS[0].parts)).say("no_such_passage")
