"""The numbers committed with the pages: of a study, a sample of its results, and how a fresh run differs from it; of
the scoreboard, the table of printed numbers, and a line in the README.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable
from pathlib import Path

import pandas as pd

from compendium.published import mapping, scoreboard
from judgebook.pipeline import dag
from judgebook.study import escape, params, store
from judgebook.study.result_schema import IDENTITY

NUMBERS_CSV = "numbers.csv"
MOST = 80  # results per notebook that are kept for checking, chosen by a hash of their identity
#: Two runs agree when no number differs by more than this share. Six digits are kept, so rounding alone can move a
#: number by 1e-5. On a processor without AVX, with another BLAS kernel and libm, `demo` moved by up to 1e-11.
TOLERANCE = 2e-5
NUMBERS = ["estimate", "ci_low", "ci_high", "p_value", "p_adjusted", "n"]
_IDENTITY = ["notebook", *[c for c in IDENTITY if c not in ("study", "notebook")]]


def sampled(results: pd.DataFrame) -> bytes:
    """What is committed: a sample of `numbers`, notebooks by their number, without columns that are empty."""
    rows = sample(results)
    rows = rows.assign(notebook=rows["notebook"].str.partition("_")[0])
    return escape.csv(rows.loc[:, (rows != "").any() | rows.columns.isin(["notebook", "estimate"])]).encode()


def read(path: Path) -> pd.DataFrame:
    """What `sampled` wrote, with all columns of `numbers`."""
    return escape.read_csv(path).fillna("").astype(str).reindex(columns=[*_IDENTITY, *NUMBERS], fill_value="")


def numbers(study: str, only: Collection[str] = ()) -> pd.DataFrame:
    """Every result of the study's last run: its identity and its numbers, to six digits.

    only : numbers of the notebooks; none: all.
    """
    frames = [
        pd.read_parquet(path, columns=[*_IDENTITY, *NUMBERS])
        for path in sorted((store.processed(study) / "results").glob("*.parquet"))
        if path.stem in dag.load() and (not only or path.stem.partition("_")[0] in only)
    ]
    if not frames:
        return pd.DataFrame(columns=[*_IDENTITY, *NUMBERS])
    out = pd.concat(frames, ignore_index=True)
    digits = {c: out[c].map(lambda v: "" if pd.isna(v) else f"{v:.6g}") for c in NUMBERS}
    return out[_IDENTITY].fillna("").astype(str).assign(**digits).sort_values(_IDENTITY, ignore_index=True)


def sample(results: pd.DataFrame, most: int = MOST) -> pd.DataFrame:
    """At most `most` rows per notebook, the same ones in every run that computes them."""
    rank = pd.Series(
        [hashlib.sha256("|".join(i).encode()).hexdigest() for i in results[_IDENTITY].itertuples(index=False)]
    )
    place = rank.groupby(results["notebook"]).rank(method="first")
    return results[place <= most].reset_index(drop=True)


def compare(committed: pd.DataFrame, fresh: pd.DataFrame, tolerance: float = TOLERANCE) -> list[str]:
    """Differences between committed `numbers` and those of a run, one line each."""
    names = {name.partition("_")[0]: name for name in fresh["notebook"].unique()}
    committed = committed.assign(notebook=committed["notebook"].replace(names))
    keyed = [f.fillna("").astype(str).set_index(_IDENTITY) for f in (committed, fresh)]
    old, new = ({i: row for i, row in zip(f.index, f.to_dict("records"), strict=True)} for f in keyed)
    lines = [f"{_name(i)}: no longer computed" for i in old if i not in new]
    sampled = sample(fresh.fillna("").astype(str))[_IDENTITY].itertuples(index=False, name=None)
    lines += [f"{_name(i)}: not in the gallery" for i in sampled if i not in old]
    for i in old:
        for column in NUMBERS if i in new else ():
            a, b = old[i][column], new[i][column]
            if a != b and (not a or not b or not math.isclose(float(a), float(b), rel_tol=tolerance, abs_tol=1e-9)):
                lines.append(f"{_name(i)}: {column} is {b or 'missing'}, the gallery says {a or 'missing'}")
    return lines


def _name(identity: tuple) -> str:
    return " ".join(part for part in identity if part)


SCOREBOARD_CSV, README, NOTEBOOK = "replication.csv", "README.md", "90_scoreboard"
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
    return scoreboard.read(store.out_root() / "reports" / SCOREBOARD_CSV)


def printed(cells: pd.DataFrame) -> bytes:
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
