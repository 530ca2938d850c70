"""The scoreboard in the gallery: the table of printed numbers, and a line in the README."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from compendium.published import mapping, scoreboard
from judgebook.pipeline import dag
from judgebook.study import escape, params, store

CSV, README, NOTEBOOK = "replication.csv", "README.md", "90_scoreboard"
START, END = "<!-- scoreboard: written by `python run_all.py gallery` -->", "<!-- /scoreboard -->"
_KEY = ["paper", "element", "panel", "row", "column"]
_NOT_COMMITTED = ["arithmetic", "shows"]  # only the page needs them


def has(study: str) -> bool:
    """Whether the report of a study holds the scoreboard."""
    return NOTEBOOK in dag.of(dag.load(), params.load(study))


def needed(studies: Iterable[str]) -> list[str]:
    """The studies, each after those whose results it reads."""
    studies = list(studies)
    if not any(map(has, studies)):
        return studies
    return list(dict.fromkeys([*(study for study, _ in mapping.sources()), *studies]))


def missing(committed: Path) -> list[str]:
    """Studies that the committed table depends on and that have no results yet."""
    if not committed.is_file():
        return []
    cells = scoreboard.read(committed)
    used = cells.loc[cells["verdict"].isin(scoreboard.ATTEMPTED), ["study", "notebook"]].drop_duplicates()
    pairs = [(s, store.processed(s) / "results" / f"{n}.parquet") for s, n in used.itertuples(index=False)]
    return sorted({study for study, path in pairs if not path.is_file()})


def last_run() -> pd.DataFrame:
    """The scoreboard of the last run."""
    return scoreboard.read(store.out_root() / "reports" / CSV)


def table(cells: pd.DataFrame) -> bytes:
    """The table as committed: ten digits, as many as are printed anywhere; the last ones differ between machines."""
    return escape.csv(cells.drop(columns=_NOT_COMMITTED), float_format="%.10g").encode()


def with_badge(readme: str, cells: pd.DataFrame) -> str:
    """The README with the scoreboard line between its markers. Raises ValueError where it has none."""
    before, start, rest = readme.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"README.md has no lines {START} and {END}")
    return f"{before}{START}\n{scoreboard.badge(cells)}\n{END}{after}"


def differences(committed: pd.DataFrame, fresh: pd.DataFrame) -> list[str]:
    """Printed numbers whose verdict differs in a fresh run, one line each."""
    old, new = (f.set_index(_KEY)["verdict"].to_dict() for f in (committed, fresh))
    names = {place: "/".join(place) for place in {**old, **new}}
    return [
        f"{name}: {new.get(place, 'no longer printed')}, the gallery says {old.get(place, 'nothing')}"
        for place, name in names.items()
        if old.get(place) != new.get(place)
    ]
