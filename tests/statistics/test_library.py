"""The library as a whole: public names, examples, what it imports, names of variables."""

import ast
import doctest
from importlib import import_module
from pathlib import Path

import pytest

from judgebook import statistics

FILES = sorted(Path(statistics.__file__).parent.glob("*.py"))
MODULES = [path.stem for path in FILES if path.stem != "__init__"]


def test_every_public_name_is_listed_documented_and_where_it_is_said_to_be():
    contents = statistics.__doc__.replace(",", " ").split()
    assert statistics.__all__ == sorted(statistics._PLACES)
    for name, module in statistics._PLACES.items():
        value = getattr(statistics, name)
        assert (value.__module__, value.__name__) == (f"judgebook.statistics.{module}", name)
        assert value.__doc__
        assert name in contents
    with pytest.raises(AttributeError, match="has no attribute 'mean'"):
        _ = statistics.mean


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(import_module(f"judgebook.statistics.{name}")).failed == 0


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_arrays_in_numbers_out(path):
    """NumPy, SciPy, the library itself, and nothing that reads files or starts processes."""
    allowed = {"__future__", "collections", "concurrent", "dataclasses", "functools", "hashlib", "importlib"}
    allowed |= {"itertools", "judgebook.statistics", "math", "numpy", "scipy", "typing"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            parts = name.split(".")
            assert ".".join(parts[:2] if parts[0] == "judgebook" else parts[:1]) in allowed
