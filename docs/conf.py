"""How Sphinx makes the site of `make docs` from the Markdown of the project, which can be read without it.

`docs/README.md` is the index: its headings are the captions of the sidebar, its links the order of pages. A page that
it does not list stands at the end.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

project = "judgebook"
html_title = project
copyright = "the authors of judgebook; text and figures CC BY 4.0"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
include_patterns = ["*.md", "docs/**.md", "gallery/**.md", "data/*/README.md"]
exclude_patterns = [".*", "build", "data/raw", "data/processed", "params", "reports", "src", "tests"]
root_doc = "docs/README"
html_theme = "furo"
html_theme_options = {"light_css_variables": {"font-stack": "system-ui, sans-serif"}}
html_copy_source = False
html_show_sphinx = False
highlight_language = "text"
myst_heading_anchors = 4
myst_enable_extensions = ["smartquotes"]
default_role = "literal"  # docstrings mark code as Markdown does
autodoc_member_order = "groupwise"
# links between pages must lead somewhere; types in signatures are those of libraries, whose pages are elsewhere
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]


def contents() -> dict[str, list[str]]:
    """Caption of the sidebar -> entries of a `toctree`: pages by their name from the root of the project."""
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    link = re.compile(r"\[([^\]]+)\]\(([\w./-]+)\.md\)")
    parts, placed = {}, {root_doc}
    for section in index.split("\n## ")[1:]:
        found = [
            (" ".join(text.replace("`", "").split()), _name(ROOT / "docs" / page))
            for text, page in link.findall(section)
        ]
        parts[section.partition("\n")[0]] = [f"{text} </{page}>" for text, page in found]
        placed |= {page for _, page in found}
    every = (_name(path.with_suffix("")) for path in sorted(ROOT.glob("docs/**/*.md")))
    more = [f"/{page}" for page in every if page not in placed and "/decisions/" not in page]
    return parts | ({"More": more} if more else {})


def _name(path: Path) -> str:
    return path.resolve().relative_to(ROOT).as_posix()


def add_contents(app: Sphinx, page: str, source: list[str]) -> None:
    """Contents for the sidebar, which plain Markdown has no words for."""
    if page == root_doc:
        parts = contents()
    elif page.endswith("/README") and not page.startswith("data/"):
        folder = (ROOT / page).parent
        below = sorted({*folder.glob("*.md"), *folder.glob("*/README.md")} - {folder / "README.md"})
        parts = {folder.name: [f"/{_name(path)}"[: -len(path.suffix)] for path in below]}
    else:
        return
    for caption, entries in parts.items():
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(entries) + "\n```\n"


def as_blocks(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """What a module's docstring sets off by indentation is shown as it stands: code, or a list in columns. `|x|` is an
    absolute value, and no reference."""
    lines[:] = [re.sub(r"\|(\w)\|", r"\\|\1\\|", line) for line in lines]
    if what == "module":
        for i in reversed(range(len(lines) - 1)):
            below = next((line for line in lines[i + 1 :] if line), "")
            if lines[i] and not lines[i].startswith(" ") and below.startswith(" "):
                lines[i : i + 1] = [lines[i].removesuffix(":") + "::", ""]


def add_start(app: Sphinx, failed: Exception | None) -> None:
    """The site opens where it begins, whatever serves it."""
    if not failed:
        start = '<!doctype html><meta charset="utf-8"><title>judgebook</title>'
        address = f"{root_doc}.html"
        start += f'<meta http-equiv="refresh" content="0; url={address}"><a href="{address}">judgebook</a>\n'
        (Path(app.outdir) / "index.html").write_text(start, encoding="utf-8")


def setup(app: Sphinx) -> None:
    for name in ("csv", "jsonl"):
        app.add_lexer(name, TextLexer)
    app.connect("source-read", add_contents)
    app.connect("autodoc-process-docstring", as_blocks)
    app.connect("build-finished", add_start)
