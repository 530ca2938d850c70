"""The registry of the papers' elements: what it says of a page is true of the page."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from compendium.gallery import committed
from compendium.published import elements
from judgebook.pipeline import dag
from judgebook.report.prose import slug
from judgebook.study import params

ROOT = Path(__file__).resolve().parents[3]
EVERY = [(paper, e) for paper, found in elements.load().items() for e in found]
ALL = sorted({place for _, e in EVERY for place in e.where})
DOCS, PLACES = ([p for p in ALL if p.startswith("docs/") == there] for there in (True, False))


@cache
def sections(notebook):
    cells = json.loads((ROOT / "notebooks" / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return {slug(h) for h in re.findall(r"^#{1,3} (.+)$", text, re.MULTILINE)}


def test_every_address_is_a_section_of_a_notebook_that_the_study_has_or_of_the_documentation():
    for place in PLACES:
        study, notebook, section = elements.split(place)
        assert notebook in dag.of(dag.load(), params.load(study))
        assert section in sections(notebook), place
    for place in DOCS:
        page, _, section = place.partition("#")
        text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
        assert section in {slug(h) for h in re.findall(r"^#{1,3} (.+)$", text, re.MULTILINE)}, place


@pytest.mark.parametrize(("paper", "element"), EVERY, ids=[f"{p} {e.place}" for p, e in EVERY])
def test_a_status_is_true_of_its_pages(paper, element):
    studies = [params.load(elements.split(place)[0]) for place in element.where if place in PLACES]
    printed = any(re.search("91_|printed|leaderboard|comparison-with-the-paper", place) for place in element.where)
    true = {
        "real": not any(study.simulated for study in studies),
        "command": bool(set(element.where) & set(DOCS)),
        "printed": printed,
        "simulated": all(study.simulated for study in studies),
        "missing": not element.where,
        "design": not element.where,
    }
    assert true.get(element.status, True)
    assert not re.search(r"[|\n]", element.place + element.what + element.note)


def test_another_target_and_half_of_the_techniques_are_in_part():
    for given in ({"instead": "other people"}, {"covers": "2 of 5 techniques"}):
        with pytest.raises(ValueError, match="`real`, but"):
            elements.Element(place="p", what="w", status="real", where=["s/n"], **given)
    counted, later = (Counter(e.status for _, e in EVERY if e.status != "design" and e.later == at) for at in (0, 1))
    assert counted == {"real": 28, "printed": 22, "command": 6, "partly": 27, "simulated": 5, "missing": 2}
    assert later == {"printed": 4, "command": 2, "partly": 7, "missing": 2}
    assert "56 of the 90 on the first list, and 62 of all 105 now" in committed.papers()


def test_the_committed_page_is_that_of_the_registry():
    assert (committed.FOLDER / committed.PAPERS).read_text(encoding="utf-8") == committed.papers()
