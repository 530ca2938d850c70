"""The command: compute the rows of studies, several at a time, and write the tables and what their columns mean."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import as_completed
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from compendium.atlas.computing import Rows, rows
from compendium.atlas.declared import (
    FOLDER,
    AtlasError,
    Declared,
    columns,
    declared,
    described,
    statistics,
    undeclared,
)
from judgebook import project
from judgebook.display.text import Phrases
from judgebook.errors import JudgebookError
from judgebook.pipeline.execute import process_pool
from judgebook.sources import places
from judgebook.study import escape, params, store
from judgebook.study.schema import CELL

README = "README.md"
#: significant digits of a number: more would differ between machines
DIGITS = 5
#: columns of each table that sort and identify its rows
KEYS = {"studies": ["study"], "labels": ["study", *CELL], "values": ["study", *CELL, "statistic", "other"]}


def command(studies: Sequence[str], out: str | None, jobs: int) -> int:
    """Compute `studies` (none: all) and write the atlas to the folder `out` (None: data/atlas); the exit code."""
    try:
        names, about = _chosen(studies), declared()
        _raw_files(names)
        computed = _computed(names, about, jobs)
        write(computed, Path(out) if out else FOLDER, about, kept=bool(studies))
    except JudgebookError as error:
        print(f"{project.program()}: {error}", file=sys.stderr)
        return 1
    return 0


def _chosen(studies: Sequence[str]) -> list[str]:
    about = declared()
    if lacking := undeclared():
        raise AtlasError(f"labels.yaml: expected every study of the registry, found no {', '.join(lacking)}")
    if unknown := [name for name in studies if name not in about.studies]:
        raise AtlasError(f"--study: expected studies of labels.yaml, found {', '.join(unknown)}")
    return sorted(set(studies) or about.studies)


def _raw_files(names: Sequence[str]) -> None:
    """Raises AtlasError, with every file that is absent, before anything is computed."""
    absent = {name: places.absent(params.load(name)) for name in names}
    if problems := [f"{name}: {', '.join(files)}" for name, files in absent.items() if files]:
        rest = "fetch them, set COMPENDIUM_RAW, or name the studies to compute with --study"
        raise AtlasError("\n".join(["raw files are not here", *problems, rest]))


def _computed(names: Sequence[str], about: Declared, jobs: int) -> list[Rows]:
    out = []
    with process_pool(jobs) as pool:
        futures = {pool.submit(rows, name, about.studies[name]): name for name in names}
        for future in as_completed(futures):
            try:
                out.append(future.result())
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
            print(f"atlas: {futures[future]}", flush=True)
    return out


def write(computed: Sequence[Rows], folder: Path, about: Declared, *, kept: bool = False) -> None:
    """Write the tables and README.md. kept : with the rows that the committed tables have of other studies."""
    folder.mkdir(parents=True, exist_ok=True)
    for table, keys in KEYS.items():
        text = _rounded(pd.concat([getattr(one, table) for one in computed], ignore_index=True))
        if kept and (path := FOLDER / f"{table}.csv").is_file():
            before = escape.read_csv(path)
            others = {*about.studies} - {*text["study"]}
            text = pd.concat([before[before["study"].isin(others)], text], ignore_index=True)
        text = text[columns(table)].sort_values(keys, ignore_index=True)
        store.write_frame(text, folder / f"{table}.csv")
    with store.atomic(folder / README) as temporary:
        temporary.write_text(readme(about), encoding="utf-8", newline="\n")


def _rounded(frame: pd.DataFrame) -> pd.DataFrame:
    """Every cell as text: numbers with DIGITS significant digits, '' where there is none."""
    return frame.astype(object).apply(lambda column: column.map(_text))


def _text(value: object) -> str:
    if value is None or value is pd.NA or value != value:
        return ""
    return f"{value:.{DIGITS}g}" if isinstance(value, float) and not value.is_integer() else _whole(value)


def _whole(value: object) -> str:
    return str(int(value)) if isinstance(value, float) else str(value)


def readme(about: Declared) -> str:
    """What data/atlas holds: every column, statistic and word."""
    words: Mapping[str, Mapping[str, str]] = {
        "Kinds of labels": about.kinds, "Judges": about.judges, "Genres": about.genres,
    }  # fmt: skip
    ours = {"described": described(), "statistics": statistics(), "words": words}
    return Phrases(__package__).say("readme", **_markdown(ours | {"left_out": about.left_out})) + "\n"


def _markdown(value: Any) -> Any:
    """Texts of ours as they are."""
    if isinstance(value, Mapping):
        return {Markup(key): _markdown(text) for key, text in value.items()}
    return Markup(value)
