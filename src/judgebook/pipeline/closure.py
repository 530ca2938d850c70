"""Which modules of this project a piece of code can load, found by reading imports, not by running them.

The hash of a notebook covers its closure; after each run it is compared with the modules that were loaded.
"""

from __future__ import annotations

import ast
import fnmatch
from collections.abc import Collection, Iterable
from functools import lru_cache, partial
from pathlib import Path

import judgebook
from judgebook import project
from judgebook.pipeline.cache import Cache, digest
from judgebook.plugins import GROUP

#: the packages that notebooks may import of this project
PACKAGES = (project.ROOT / "src" / "helpers", *project.packages().values())
NAMES = tuple(path.name for path in PACKAGES)
#: modules that find others by looking into folders -> names of those that they can load
FINDERS = {
    "judgebook.study.questions": "*.question",  # of all packages
    "judgebook.study.any_study": "*.sources.adapters.options.*",
    "judgebook.sources.joining": "*.sources.adapters.*",
}


@lru_cache(maxsize=2)  # the same for all nodes of a run
def modules(cache: Cache, packages: tuple[Path, ...] = PACKAGES) -> dict[str, Path]:
    """Every module of the packages, by its full name."""
    paths = {}
    for package in packages:
        for path in (p for p in cache.listed(package) if p.suffix == ".py"):
            parts = path.relative_to(package.parent).with_suffix("").parts
            paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return paths


def imported(source: str, *, package: str = "") -> list[str]:
    """Names of this project that `source` imports, wherever in the code, type-checking blocks left out.

    `from judgebook.a import b` gives both `judgebook.a` and `judgebook.a.b`: which is a module is decided by `closure`.
    A public name, `from judgebook import b` or `judgebook.b`, gives the module that it is from. package : the package
    the code is in, for relative imports.
    """
    names: set[str] = set()
    tree = ast.parse(source)
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
            for alias in (alias for alias in node.names if alias.name == judgebook.__name__):
                names.update(f"{alias.name}.{name}" for name in _attributes(tree, alias.asname or alias.name))
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names.update([module, *(f"{module}.{alias.name}" for alias in node.names)])
    public = {f"{judgebook.__name__}.{name}": home for name, (home, _) in judgebook._HOMES.items()}
    names.update([public[name] for name in names if name in public])
    return sorted(n for n in names if n.partition(".")[0] in NAMES)


def _attributes(tree: ast.AST, name: str) -> Iterable[str]:
    """What code takes from the module that it calls `name`."""
    every = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {node.attr for node in every if isinstance(node.value, ast.Name) and node.value.id == name}


def _statements(node: ast.AST) -> Iterable[ast.AST]:
    """All statements below a node, without the bodies of `if TYPE_CHECKING:`; expressions, most of a tree, cannot
    import."""
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        if field == "body" and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        for child in getattr(node, field, ()):
            yield child
            yield from _statements(child)


def closure(names: Iterable[str], cache: Cache, packages: tuple[Path, ...] = PACKAGES) -> dict[str, str | None]:
    """Modules that importing `names` can load, parents included, each with the digest of its source, None where it was
    removed meanwhile.

    Names that are not modules (functions, classes) are skipped, as are modules that do not exist.
    """
    available = modules(cache, packages)
    todo, out = list(names), dict[str, str | None]()
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        parts = name.split(".")
        todo += [".".join(parts[:i]) for i in range(1, len(parts))]
        if name not in available:
            continue
        path = available[name]
        out[name] = cache.file(path)
        if name in FINDERS:
            todo += fnmatch.filter(available, FINDERS[name])
        inside = name if path.name == "__init__.py" else name.rpartition(".")[0]
        todo += cache.derived(f"imports of {inside}", path, partial(_imported_by, package=inside))
    return dict(sorted(out.items()))


def _imported_by(path: Path, package: str) -> list[str]:
    return imported(path.read_text("utf-8"), package=package)


def package_data(cache: Cache, packages: tuple[Path, ...] = PACKAGES, modules: Collection[str] = ()) -> str:
    """Digest of the files of the packages that are neither code nor written for type checkers.

    Those of an extra, of a package that adds to this one, and of pages, count for their own `modules` only, passages of
    text for those that display it: no statistic depends on a colour or a word.
    """
    return digest({name: cache.file(p) for name, p in _no_code(cache, packages).items() if _counts(name, modules)})


@lru_cache(maxsize=2)
def _no_code(cache: Cache, packages: tuple[Path, ...]) -> dict[str, Path]:
    """Files of the packages that are neither code nor written for type checkers, by their place."""
    paths = [(package, p) for package in packages for p in cache.listed(package) if p.suffix not in (".py", ".pyi")]
    return {p.relative_to(package.parent).as_posix(): p for package, p in paths}


def _counts(name: str, modules: Collection[str]) -> bool:
    folder = name.rpartition("/")[0].replace("/", ".")
    extra = folder.startswith(f"{GROUP}.") or not folder.startswith("judgebook.")
    if extra and not name.endswith("statistics.yaml"):
        return folder in modules
    if modules and name.endswith("text.md.j2"):
        others = (m for m in modules if m.startswith(f"{folder}.") and not m.endswith(".question"))  # which shows none
        return "judgebook.display.text" in modules and any(others)
    return not folder.startswith("judgebook.report.") or "judgebook.report" in modules
