"""What labels of public studies are about and who judged (data/atlas/labels.yaml); columns of the tables, and what the
statistics are (columns.yaml).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError

from judgebook import project
from judgebook.errors import JudgebookError
from judgebook.sources import registry
from judgebook.study import params
from judgebook.study.yaml_file import Strict

FOLDER = project.ROOT / "data" / "atlas"
LABELS = "labels.yaml"


class AtlasError(JudgebookError, ValueError):
    """The atlas cannot be computed; the message says why and what to do."""


class About(Strict):
    """A study. judges : who judged, or group -> who. labels : label -> kind. aggregated : groups whose judgements are
    already those of several people; true for all. runs : corpora or groups that are runs of one study, of the same
    systems by other people."""

    genre: str
    judges: str | dict[str, str]
    labels: dict[str, str]
    aggregated: bool | list[str] = False
    runs: list[str] = Field(default_factory=list)

    def who(self, group: str) -> str:
        return self.judges if isinstance(self.judges, str) else self.judges[group]

    def of_several(self, group: str) -> bool:
        return self.aggregated if isinstance(self.aggregated, bool) else group in self.aggregated


class Declared(Strict):
    """kinds, judges, genres : word -> what it covers. left_out : study -> why it is not in the atlas."""

    kinds: dict[str, str]
    judges: dict[str, str]
    genres: dict[str, str]
    left_out: dict[str, str]
    studies: dict[str, About]


@cache
def kinds(path: Path = FOLDER / LABELS) -> dict[str, str]:
    """What labels can be about: word -> what it covers. Nothing else of the file is read or checked."""
    return dict(yaml.safe_load(path.read_text(encoding="utf-8"))["kinds"])


def declared(path: Path = FOLDER / LABELS) -> Declared:
    """The file, checked. Raises AtlasError for a word that is not in its vocabulary, and for a label of a study that
    has no kind."""
    try:
        out = Declared.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (ValidationError, yaml.YAMLError) as error:
        raise AtlasError(f"{path.name}: {error}") from error
    if problems := [problem for name, about in out.studies.items() for problem in _problems(name, about, out)]:
        raise AtlasError("\n".join(f"{path.name}: {problem}" for problem in problems))
    return out


def _problems(name: str, about: About, words: Declared) -> list[str]:
    study = params.load(name)
    judges = [about.judges] if isinstance(about.judges, str) else [*about.judges.values()]
    uses = [("genres", [about.genre]), ("judges", judges), ("kinds", [*about.labels.values()])]
    out = [
        f"studies.{name}: expected one of {', '.join(getattr(words, where))}, found {word!r}"
        for where, used in uses
        for word in dict.fromkeys(used)
        if word not in getattr(words, where)
    ]
    if study.simulated:
        out.append(f"studies.{name}: expected a study of real data, found a simulated one")
    lacking = [label.id for label in study.label_list() if label.id not in about.labels]
    return out + [f"studies.{name}.labels: expected the kind of {label}" for label in dict.fromkeys(lacking)]


@cache
def undeclared(words: Path = FOLDER / LABELS) -> list[str]:
    """Studies of the registry that the file does not name."""
    known = declared(words)
    return sorted({*registry.studies()} - {*known.studies} - {*known.left_out})


@cache
def _columns() -> dict[str, Any]:
    return yaml.safe_load((Path(__file__).parent / "columns.yaml").read_text(encoding="utf-8"))


def described() -> dict[str, dict[str, Any]]:
    """Table -> `about` it, and its `columns`: column -> what it means."""
    return _columns()["tables"]


def columns(table: str) -> list[str]:
    return list(described()[table]["columns"])


def statistics() -> dict[str, dict[str, str]]:
    """Statistic -> the notebook it is `from` (none: see `computing`), `about` it, what `n` counts, and why it is
    missing where that notebook ran (`without`)."""
    return _columns()["statistics"]


def notebooks() -> tuple[str, ...]:
    """The notebooks that compute the statistics."""
    return tuple(sorted({about["from"] for about in statistics().values() if "from" in about}))
