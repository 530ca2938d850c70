"""Columns of the tables of the atlas, and what its statistics are: columns.yaml."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def _file() -> dict[str, Any]:
    return yaml.safe_load((Path(__file__).parent / "columns.yaml").read_text(encoding="utf-8"))


def described() -> dict[str, dict[str, Any]]:
    """Table -> `about` it, and its `columns`: column -> what it means."""
    return _file()["tables"]


def columns(table: str) -> list[str]:
    return list(described()[table]["columns"])


def statistics() -> dict[str, dict[str, str]]:
    """Statistic -> the notebook it is `from` (none: see `direct`), `about` it, what `n` counts, and why it is missing
    where that notebook ran (`without`)."""
    return _file()["statistics"]


def notebooks() -> tuple[str, ...]:
    """The notebooks that compute the statistics."""
    return tuple(sorted({about["from"] for about in statistics().values() if "from" in about}))
