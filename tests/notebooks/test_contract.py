"""Every notebook in notebooks/ keeps the contract that the pipeline and the pages rest on."""

import ast
import importlib
import inspect
import json
import re

import pytest
from fixtures.project_copy import ROOT

from judgebook.display.page import NotebookPage
from judgebook.pipeline import dag
from judgebook.pipeline.cache import Cache
from judgebook.pipeline.closure import imported
from judgebook.pipeline.dag import facts
from judgebook.report.blocks import HIDDEN, parameters
from judgebook.study.questions import declared
from judgebook.study.schema import FRAMES

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
#: what a notebook runs first, besides its parameters
OPENING = """\
page = {module}.Page({arguments})
show = page.show
show(page.parameters())
"""
PRIVATE = re.compile(r"(?<![\w.])(?:/home/|/root/|/tmp/|/Users/|[A-Z]:\\\\)")


def cells(path, kind):
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [c | {"source": "".join(c["source"])} for c in found if c["cell_type"] == kind]


def helper(path):
    return ROOT / "src" / "helpers" / f"{path.stem.partition('_')[2]}.py"


#: where a notebook's module has sections for which it has no room; what is said of papers, which reads no frames
PAGES, PAPERS = r"judgebook\.questions\..*page$", r"compendium\.papers\.\w+$"


def code(path, *beside):
    """The source of that module, with that of the modules named so which it imports."""
    source = helper(path).read_text(encoding="utf-8")
    found = [name for name in imported(source) if any(re.match(pattern, name) for pattern in beside)]
    return "\n".join([source, *((ROOT / "src" / f"{p.replace('.', '/')}.py").read_text("utf-8") for p in found)])


def sections(path):
    kind = importlib.import_module(f"helpers.{helper(path).stem}").Page
    own = {name for name in dir(kind) if not name.startswith("_") and not hasattr(NotebookPage, name)}
    functions = {name: value for name in own if callable(value := getattr(kind, name))}
    return {name for name, value in functions.items() if len(inspect.signature(value).parameters) == 1}


def test_questions_and_folder_have_the_same_notebooks():
    assert sorted(declared()) == [p.stem for p in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
class TestNotebook:
    def test_begins_with_a_title_and_a_question_and_says_what_its_knobs_are(self, path):
        found, text = facts(path, Cache(None)), path.read_text(encoding="utf-8")
        assert found.title != path.stem
        assert found.question
        assert [k.name for k in found.knobs if not k.help] == []
        assert "## What we see" in text
        assert not PRIVATE.search(text)

    def test_is_declared_with_all_it_uses(self, path):
        entry, source = declared()[path.stem], code(path, PAGES, PAPERS)
        used = set(re.findall(r"\bstudy\.(\w+)", source)) & set(dag.Study.model_fields)
        parts = {s.split(".")[0] for s in [*dag.COMMON, *entry.own_sections]}
        assert used - parts == set()
        # names of frames that are read, in whichever way the code spells it
        words = {n.value for n in ast.walk(ast.parse(code(path, PAGES))) if isinstance(n, ast.Constant)}
        assert {frame for frame in FRAMES if frame in words} <= set(entry.reads)
        assert set(re.findall(r"read_results\([\"'](\w+)", source)) <= set(entry.needs)
        last = {name.rpartition(".")[2] for name in imported(source)}
        if last & {"published", "printed", "verdicts"}:
            assert any(r.startswith("data/published/") for r in entry.reads)
        if "verdicts" in last:
            assert {"data/published/*", "data/published/*_mapping.yaml"} & set(entry.reads)
        for read in entry.reads:
            assert read in FRAMES if "/" not in read else list(ROOT.glob(read))

    def test_is_parameters_an_analysis_in_short_cells_and_one_show_per_section(self, path):
        first, second, *others = [cell["source"] for cell in cells(path, "code")]
        knobs = [k.name for k in parameters(first) if k.name not in ("study", *HIDDEN)]
        arguments = ", ".join(["study", "run_id", *(f"{name}={name}" for name in knobs)])
        opening = OPENING.format(module=helper(path).stem, arguments=arguments)
        lines = ast.parse(second).body
        imports = [line for line in lines if isinstance(line, ast.Import | ast.ImportFrom)]
        assert ast.dump(ast.Module(lines[len(imports) :], [])) == ast.dump(ast.parse(opening))
        shown = [source for source in others if re.fullmatch(r"show\(page\.\w+\(\)\)", source)]
        assert sorted(shown) == sorted(f"show(page.{section}())" for section in sections(path))
        analysis = [source.splitlines() for source in others if source not in shown]
        assert max(map(len, analysis), default=0) <= 20
        assert 30 <= sum(map(len, analysis)) <= 120 or not analysis
