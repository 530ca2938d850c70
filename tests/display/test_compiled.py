"""Templates are compiled once, as modules are; what is said does not depend on it."""

import sys

import jinja2
import pytest

from judgebook.display import text


@pytest.fixture
def say(tmp_path, monkeypatch):
    """What a new process would say, and what it had to compile for that."""
    package = tmp_path / "of_somebody"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "cache"))
    done, compile_ = [], jinja2.Environment.compile
    monkeypatch.setattr(jinja2.Environment, "compile", lambda *args, **kw: done.append(1) or compile_(*args, **kw))

    def say(what):
        (package / "text.md.j2").write_text(f"{{% macro told(n) %}}{what}{{% endmacro %}}", encoding="utf-8")
        text._environment.cache_clear()
        done.clear()
        return text.Phrases("of_somebody").say("told", n=1234), len(done)

    yield say
    text._environment.cache_clear()
    sys.modules.pop("of_somebody", None)


@pytest.fixture
def files(tmp_path):
    return lambda: list(tmp_path.glob("cache/**/text.*.pyc*"))


def test_a_template_is_compiled_once_until_it_changes(say, files):
    assert say("{{ n }} of {{ 0.5|percent }}") == ("1,234 of 50%", 1)
    assert say("{{ n }} of {{ 0.5|percent }}") == ("1,234 of 50%", 0)
    assert say("{{ n }} or {{ 0.5|percent }}") == ("1,234 or 50%", 1)
    assert len(files()) == 1


def test_filters_and_libraries_decide_how_a_template_is_compiled(say, monkeypatch, tmp_path):
    assert say("{{ 0.5|percent }}")[1] == 1
    with monkeypatch.context() as patch:
        patch.setattr(text, "version", lambda name: f"next {name}")
        assert say("{{ 0.5|percent }}")[1] == 1
    filters = tmp_path / "text.py"
    for code in ("of yore", "of today"):
        filters.write_text(code)
        monkeypatch.setattr(text, "__file__", str(filters))
        assert [say("{{ 0.5|percent }}")[1] for _ in range(2)] == [1, 0]


@pytest.mark.parametrize("content", [b"damaged", slice(30), slice(-20)])
def test_a_damaged_file_is_compiled_anew(content, say, files):
    say("{{ n }}")
    (path,) = files()
    path.write_bytes(path.read_bytes()[content] if isinstance(content, slice) else content)
    assert [say("{{ n }}") for _ in range(2)] == [("1,234", 1), ("1,234", 0)]
