"""What CONTRIBUTING and the README say of the tree is true of it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HELPERS = ROOT / "src" / "helpers"
#: first and last topic of the modules that compute
STATISTICS = ("what everything rests on", "80 operating characteristics")
#: what they must not import: layers that stand to the right of them
RIGHT = ("sources", "sections", "params", "store", "plotting", "views", "pipeline")


def topics() -> dict[str, list[str]]:
    """The table "Modules by topic" of CONTRIBUTING: topic -> modules."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("### Modules by topic")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", section.partition("| --- | --- |")[2], flags=re.MULTILINE)
    return {topic: re.findall(r"`([a-z_0-9]+/?)`", modules) for topic, modules in rows}


def statistics_modules() -> list[str]:
    """Modules of the topics that compute."""
    found = topics()
    first, last = (list(found).index(topic) for topic in STATISTICS)
    return [m for topic in list(found)[first : last + 1] for m in found[topic]]


def public_functions(module: str) -> Iterator[tuple[str, str]]:
    """Name and docstring of the public functions of a module, and of the methods of its public classes."""
    tree = ast.parse((HELPERS / f"{module}.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield f"{module}.{node.name}", ast.get_docstring(node) or ""
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                    yield f"{module}.{node.name}.{method.name}", ast.get_docstring(method) or ""


def test_every_module_has_its_place_in_contributing():
    named = [module for modules in topics().values() for module in modules]
    there = {p.stem for p in HELPERS.glob("*.py")} | {f"{p.parent.name}/" for p in HELPERS.glob("*/__init__.py")}
    assert sorted(named) == sorted(there - {"__init__"})


def imported(module: str) -> set[str]:
    """What a module imports of the package."""
    found = set()
    for node in ast.walk(ast.parse((HELPERS / f"{module}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "helpers":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("helpers."):
            found.add(node.module.split(".")[1])
    return found


def test_statistics_know_nothing_of_files_studies_and_pages():
    assert "schema" in imported("agreement")
    wrong = {module: sorted(imported(module) & set(RIGHT)) for module in statistics_modules()}
    assert {module: names for module, names in wrong.items() if names} == {}


def test_every_statistic_says_how_it_was_checked():
    """A second source and its name, or that there is none and what was done instead (CONTRIBUTING, "What a statistic
    needs before it is merged")."""
    modules = statistics_modules()
    assert {"resampling", "alpha", "operating_estimates"} <= set(modules)
    functions = [found for module in modules for found in public_functions(module)]
    assert "alpha.alpha_intervals" in dict(functions)
    silent = [name for name, docstring in functions if not re.search(r"\bchecked\b", docstring, flags=re.IGNORECASE)]
    assert silent == []


def test_every_notebook_is_in_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        number, _, name = notebook.stem.partition("_")
        assert f"| {number} {name} |" in text


def test_links_between_pages_lead_somewhere():
    for page in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#]+)", (ROOT / page).read_text(encoding="utf-8")):
            assert target.startswith("http") or (ROOT / target).exists(), f"{page}: {target}"
