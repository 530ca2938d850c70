"""What CONTRIBUTING and the README say of the tree is true of it."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_every_module_has_its_place_in_contributing():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("### Modules by topic")[2].partition("\n## ")[0]
    named = re.findall(r"`([a-z_0-9]+/?)`", section.partition("| --- | --- |")[2])
    folder = ROOT / "src" / "helpers"
    there = {p.stem for p in folder.glob("*.py")} | {f"{p.parent.name}/" for p in folder.glob("*/__init__.py")}
    assert sorted(named) == sorted(there - {"__init__"})


def test_every_notebook_is_in_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        number, _, name = notebook.stem.partition("_")
        assert f"| {number} {name} |" in text


def test_links_between_pages_lead_somewhere():
    for page in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#]+)", (ROOT / page).read_text(encoding="utf-8")):
            assert target.startswith("http") or (ROOT / target).exists(), f"{page}: {target}"
