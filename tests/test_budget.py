"""Code lines of each folder stay within a committed budget, which only falls."""

import ast
import csv
import io
import tokenize

import pytest
from fixtures.project_copy import ROOT

#: folders whose parts have a budget of their own
SPLIT = ("src/judgebook", "src/judgebook/questions", "src/judgebook/extras", "src/compendium")
TABLE = ROOT / "tests" / "budget.csv"
NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def code_lines(source):
    """Lines with code: neither blank, nor comment, nor docstring."""
    told = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            told |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    tokens = (t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type not in NO_CODE)
    return len({line for t in tokens for line in range(t.start[0], t.end[0] + 1)} - told)


def folder(path):
    """The part of the code a file belongs to."""
    parents = [p.relative_to(ROOT).as_posix() for p in path.parents if p.is_relative_to(ROOT / "src")]
    return next((p for p in reversed(parents) if p not in ("src", *SPLIT)), parents[0])


@pytest.fixture(scope="module")
def counted():
    lines = {}
    for path in (ROOT / "src").rglob("*.py"):
        lines[folder(path)] = lines.get(folder(path), 0) + code_lines(path.read_text(encoding="utf-8"))
    return lines


@pytest.fixture(scope="module")
def budget():
    with TABLE.open(newline="", encoding="utf-8") as file:
        return {row["folder"]: int(row["lines"]) for row in csv.DictReader(file)}


def test_what_counts_as_code():
    assert (
        code_lines(
            '"""Told."""\n\n# why\nx = """a\nb"""\n\n\ndef f():\n    """Told."""\n    return (\n        1\n    )\n'
        )
        == 6
    )


def test_folders_stay_within_their_budget(counted, budget):
    """More is possible with a line of reason, in the commit that needs it."""
    assert {name: n for name, n in counted.items() if n > budget.get(name, 0)} == {}


def test_the_budget_falls_with_the_code(counted, budget):
    """A budget far above what is there would let a folder grow unseen."""
    assert {name: n for name, n in budget.items() if n > 1.02 * counted.get(name, 0) + 20} == {}
