"""Helpers are thin: one short module per notebook, which imports nothing but `judgebook`."""

import ast

import pytest
from fixtures.project_copy import ROOT

LINES = 60
MODULES = sorted(p for p in (ROOT / "src" / "helpers").glob("*.py") if p.stem != "__init__")


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_a_helper_is_short_and_imports_only_judgebook(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            assert {alias.name.partition(".")[0] for alias in node.names} == {"judgebook"}
        if isinstance(node, ast.ImportFrom):
            assert (node.level, node.module.partition(".")[0]) == (0, "judgebook")
    # arguments are spelled out, so that one can follow a parameter to where it is used
    assert not [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.AugAssign)]
    assert not [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call) and None in {k.arg for k in n.keywords}]
