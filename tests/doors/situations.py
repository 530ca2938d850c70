"""The pages of docs/own_data/: the files that a page shows, the YAML that `new` writes for it, and what is read.

`python tests/doors/situations.py` writes the YAMLs and counts anew, where `new` has come to write others; read them
through before you commit them.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from judgebook.extras.new.asking.terminal import carried
from judgebook.extras.new.transcripts import of_files
from judgebook.project import ROOT
from judgebook.sources import build
from judgebook.study import params

FOLDER = ROOT / "docs" / "own_data"
PAGES = sorted(FOLDER.glob("*.md"))
#: ```csv votes.csv: a file; ```yaml params/votes.yaml: what `new` writes for it; ```yaml change: of that YAML;
#: ```yaml params/votes.yaml by hand: one that `new` does not write
_BLOCK = re.compile(
    r"^```(?P<kind>[a-z]+) (?P<name>[^\n]+)\n(?P<text>.*?)^```$(?:\n\n?(?P<read>Read as: [^\n]*))?", re.M | re.S
)
_COMMAND = re.compile(r"`judgebook new (\w+) --data ([^`]+)`")


def blocks(page: str) -> Iterator[re.Match[str]]:
    """The named blocks of a page, in order."""
    return _BLOCK.finditer(page)


def written(folder: Path, name: str, files: list[str]) -> str:
    """What `new` writes for files of the folder, without its first line; they are named as the folder has them."""
    text = carried(of_files(name, [folder / file for file in files], folder)).split("\n", 1)[1]
    return text.replace(f"{folder.resolve().as_posix()}/", "")


def changed(given: Any, change: Any) -> Any:
    """A YAML with keys of another put in, place by place in lists."""
    if isinstance(given, dict) and isinstance(change, dict):
        return {k: changed(given.get(k), change[k]) if k in change else given[k] for k in {**given, **change}}
    if isinstance(given, list) and isinstance(change, list) and all(isinstance(c, dict) for c in change):
        return [changed(g, c) for g, c in zip(given, change, strict=True)]
    return change


def built(folder: Path, text: str) -> build.Built:
    """The study of a YAML, with what was read."""
    path = folder / "study.yaml"
    path.write_text(text, encoding="utf-8")
    return build.build(params.load(path))


def read_as(one: build.Built) -> str:
    """What was read, in a line: counts, and the mean of each label by system."""
    marks = one.frames["annotations"]
    people = marks["annotator"][marks["annotator_known"]].nunique()
    systems = sorted({*marks["system"].dropna(), *marks.get("system_b", marks["system"]).dropna()})
    who = f"{people} annotators" if people else "unknown people"
    counts = f"Read as: {len(marks)} judgements of {len(systems)} systems by {who}"
    if marks["system_b"].notna().any():
        sides = [
            marks[["label", s]].set_axis(["label", "system"], axis=1).assign(score=marks["score"] * way)
            for s, way in (("system", 1), ("system_b", -1))
        ]
        marks = pd.concat(sides)
    texts = int(one.frames["dialogues"]["system_text"].notna().sum())
    counts += f", with {texts} texts of systems" if texts else ""
    means = marks.groupby(["label", "system"])["score"].mean()
    return (
        counts
        + "; "
        + "; ".join(
            f"{label}: " + ", ".join(f"{s} {means[label, s]:.2f}" for s in means[label].index)
            for label in means.index.unique(0)
        )
    )


def renewed(page: Path) -> str:
    """The page with its YAMLs and counts as they come out now."""
    text = page.read_text(encoding="utf-8")
    commands = {match[1]: match[2].split() for match in _COMMAND.finditer(text)}
    with tempfile.TemporaryDirectory() as name:
        folder, draft = Path(name), ""

        def block(match: re.Match[str]) -> str:
            nonlocal draft
            kind, called, content = match["kind"], match["name"], match["text"]
            if kind != "yaml":
                (folder / called).write_text(content, encoding="utf-8")
                return match[0]
            if called.endswith(" by hand"):
                study = content
            elif called == "change":
                study = yaml.safe_dump(changed(yaml.safe_load(draft), yaml.safe_load(content)), allow_unicode=True)
            else:
                name = Path(called).stem
                content = study = draft = written(folder, name, commands[name])
            return f"```{kind} {called}\n{content}```\n\n{read_as(built(folder, study))}"

        return _BLOCK.sub(block, text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(renewed(page), encoding="utf-8")
