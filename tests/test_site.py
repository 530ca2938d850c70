"""`make docs`: the pages as a site, in which every link leads somewhere and which loads nothing from elsewhere."""

import json
import os
import re
import subprocess
import sys

import pytest

from judgebook.project import ROOT

SECONDS = 70
pytestmark = pytest.mark.evidence


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Made as the Makefile has it, in a folder of its own."""
    folder = tmp_path_factory.mktemp("site")
    recipe = re.search(r"^docs: .*\n\t(.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[1]
    words = recipe.replace("build/doctrees", str(folder / "doctrees")).replace("build/docs", str(folder / "pages"))
    command = [sys.executable, *words.split()[1:]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": ""})
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "pages"


def test_every_page_of_docs_is_there_and_can_be_searched(site):
    sources = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("gallery/**/*.md")]
    names = {path.relative_to(ROOT).with_suffix("").as_posix() for path in sources}
    assert {name for name in names if not (site / f"{name}.html").is_file()} == set()
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    searched = json.loads(re.fullmatch(r"Search\.setIndex\((.*)\)", index, re.DOTALL)[1])["docnames"]
    assert names <= {*searched}


def test_pages_load_nothing_from_elsewhere(site):
    loads = re.compile(
        r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"(?:https?:)?//|<link\b[^>]*\bhref=\"(?:https?:)?//"
    )
    assert [path for path in site.rglob("*.html") if loads.search(path.read_text(encoding="utf-8"))] == []
    styles = re.compile(r"@import\s+(?:url\()?['\"]?(?:https?:)?//|url\(['\"]?(?:https?:)?//")
    assert [path for path in site.rglob("*.css") if styles.search(path.read_text(encoding="utf-8"))] == []
