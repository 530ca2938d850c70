"""Sweeps: `--set key=1,2,3 other=x,y` runs every combination of the values, each below a folder of its own.

A comma with no blank after it separates values, outside of quotes, brackets and braces: `key=[1,2]`, `key="a,b"` and
`key=one, two` are one value. The points of a sweep lie below `sweeps/<keys>/` in the output folder, with tables of all
their results and of what the first page concludes at each.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from judgebook.pipeline.nodes import data_missing
from judgebook.study import params, store
from judgebook.study.params import ParamsError

#: more combinations than anyone waits for are a slip of the keyboard
MOST = 500
#: characters of a folder's name; systems allow 255 bytes
LONGEST = 100
_CLOSES = {"[": "]", "{": "}", "(": ")"}
Point = tuple[tuple[str, str], ...]


def values(text: str) -> list[str]:
    """The values that `text`, as it stands after `key=`, separates by commas."""
    out, quote = [""], ""
    inside: list[str] = []
    for i, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and not out[-1].strip():
            quote = character
        elif character in _CLOSES and (inside or not out[-1].strip()):
            inside.append(_CLOSES[character])
        elif inside and character == inside[-1]:
            inside.pop()
        elif character == "," and not inside and not text[i + 1 : i + 2].isspace():
            out.append("")
            continue
        out[-1] += character
    return out


def points(items: list[str]) -> list[Point]:
    """Every combination of the values of those `KEY=VALUE` that have several; none where none has.

    Raises ParamsError for a key given twice or an empty value in a sweep, and for too many combinations.
    """
    grid: dict[str, list[str]] = {}
    for item in items:
        key, equals, text = item.partition("=")
        several = values(text) if equals else [text]
        if len(several) > 1:
            if key in grid:
                raise ParamsError(f"--set: {key} is given several values more than once")
            if "" in several:
                raise ParamsError(f"--set: {key}: empty value in {text!r}; put text that contains commas in quotes")
            grid[key] = list(dict.fromkeys(several))
    n = 1
    for several in grid.values():
        n *= len(several)
    if n > MOST:
        raise ParamsError(f"--set: {n:,} combinations of values; the limit is {MOST}")
    return [tuple(zip(grid, chosen, strict=True)) for chosen in itertools.product(*grid.values())] if grid else []


def at(items: list[str], point: Point) -> list[str]:
    """`KEY=VALUE` of one point: those that do not vary, then its own."""
    varying = dict(point)
    return [i for i in items if i.partition("=")[0] not in varying] + [f"{key}={value}" for key, value in point]


def folder(keys: list[str]) -> Path:
    """Where the points of a sweep over these keys lie."""
    return store.out_root() / "sweeps" / _name("+".join(keys))


def _name(text: str) -> str:
    """`text` as the name of a folder; a digest where two values would otherwise share one."""
    plain = re.sub(r"[^\w.=+-]", "_", text, flags=re.ASCII)
    # macOS and Windows do not distinguish upper and lower case, and Windows drops a dot at the end
    if plain == text.lower() and len(plain) <= LONGEST and plain.strip(".") == plain:
        return plain
    return f"{plain.lstrip('.')[:LONGEST]}-{sha256(text.encode()).hexdigest()[:8]}"


def run(items: list[str], studies: list[str], once: Callable[[list[str]], int], *, dry: bool = False) -> int:
    """Run a command at every point of a grid; returns the largest exit code.

    studies : names or paths of the studies that are run; those whose data are missing are left out of the table. once :
    runs the command with `KEY=VALUE` for one point. dry : whether it only says what it would do.
    """
    grid, keys = points(items), dict[str, None]()
    for point in grid:  # what is wrong at a later point should be known before the first one runs
        for study in studies:
            loaded = params.load(study, params.parse_set(at(items, point)))
            keys |= {} if data_missing(loaded) else {loaded.key: None}
    home, codes = folder([key for key, _ in grid[0]]), []
    for number, point in enumerate(grid, start=1):
        shown = ", ".join(f"{key}={value}" for key, value in point)
        print(f"point {number} of {len(grid)}: {shown}", flush=True)
        with _below(home / _name("+".join(f"{key}={value}" for key, value in point))):
            codes.append(once(at(items, point)))
        if codes[-1] == 2:
            return 2
    for path in [] if dry else _summary(home, grid, list(keys)):
        print(f"sweep: {store.relative(path)}")
    return max(codes)


@contextmanager
def _below(path: Path) -> Iterator[None]:
    """Everything is written below `path`; raw files fetched for the project or `--out` are still found."""
    before = {name: os.environ.get(name) for name in ("COMPENDIUM_OUT", "COMPENDIUM_RAW")}
    os.environ.setdefault("COMPENDIUM_RAW", str(store.out_root().absolute() / "data" / "raw"))
    os.environ["COMPENDIUM_OUT"] = str(path.absolute())
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def _summary(home: Path, grid: list[Point], studies: list[str]) -> list[Path]:
    """Write `results.csv`, a row per result and point, and `answers.csv`, a row per answer of the first page and point.

    Of other studies, and of notebooks left by an earlier run with other settings, nothing is in them.
    """
    import pandas as pd

    from judgebook.pipeline.run import outdated
    from judgebook.summary.answers.document import NAME, read_answers

    results, answers = [], []
    for point in grid:
        name = _name("+".join(f"{key}={value}" for key, value in point))
        with _below(home / name):
            for study in sorted(s for s in studies if (store.processed(s) / "params.yaml").is_file()):
                old = outdated(study)
                for path in sorted((store.processed(study) / "results").glob("*.parquet")):
                    # a name with a further dot holds a frame, not a number per row
                    if path.stem.count(".") == 0 and path.stem not in old:
                        results.append(pd.read_parquet(path).assign(**dict(point)))
                if old:
                    print(
                        f"{name}: {study}: left out, as it is from an earlier run with other settings: {', '.join(old)}"
                    )
                report = store.out_root() / "reports" / study
                every = read_answers(study).answers if (report / NAME).is_file() else []
                said = [(study, a.question, a.verdict, a.sentence) for a in every if a.this_run]
                frame = pd.DataFrame(said, columns=["study", "question", "verdict", "sentence"])
                answers.append(frame.assign(report=f"{name}/reports/{study}/index.html", **dict(point)))
    keys, out = [key for key, _ in grid[0]], []
    for path, frames in ((home / "answers.csv", answers), (home / "results.csv", results)):
        path.unlink(missing_ok=True)
        if any(map(len, frames)):
            table = pd.concat([frame for frame in frames if len(frame)], ignore_index=True)
            store.write_frame(table[keys + [c for c in table if c not in keys]], path)
            out.append(path)
    return out
