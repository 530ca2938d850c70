"""Files of a bundle as `verify` reads them: one that is missing or damaged is named before anything is computed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from pyarrow.lib import ArrowException

from judgebook.extras.bundle import software
from judgebook.extras.bundle.contents import METADATA
from judgebook.extras.bundle.parts import BundleError
from judgebook.sources.instead import shared

ANSWERS = "report/answers.json"
#: what is read of the JSON files: keys, with the type of each
_READ: dict[str, dict[str, type]] = {
    METADATA: {"@graph": list},
    software.SOURCE: {"version": str, "files": dict},
    software.PACKAGES: {"packages": dict},
    f"{shared.FOLDER}/{shared.ABOUT}": {"texts_left_out": int, "ids_left_out": int},
    ANSWERS: {"made": dict},
}
_TYPES = {list: "a list", dict: "an object", str: "a text", int: "a number"}
#: kinds of files that are texts in UTF-8
_TEXTS = {".html", ".md", ".csv", ".json", ".yaml", ".ipynb", ".svg", ".tex", ".bib", ".lock", ".patch"}


def refuse_damaged(path: Path, folder: Path) -> None:
    """Raises BundleError where a file is missing that the bundle was made with, or is not as a bundle has it.

    path : of the bundle, as it was named. folder : with its files.
    """
    for name, keys in _READ.items():
        if not (folder / name).is_file():
            raise BundleError(f"{path}: it is damaged: {name} is missing; copy it anew")
        _intact(path, folder, name, partial(_keyed, keys=keys))
    try:
        files = {str(one["@id"]) for one in tree(folder / METADATA)["@graph"] if "File" in one["@type"]}
    except (KeyError, TypeError):
        raise BundleError(f"{path}: it is damaged: {METADATA} does not list its files; copy it anew") from None
    if absent := sorted(name for name in files if not (folder / name).is_file()):
        more = f" and {len(absent) - 1} more" if absent[1:] else ""
        raise BundleError(f"{path}: it is not whole: {absent[0]}{more} missing; copy it anew")
    compared = {*folder.glob("report/*.html"), *folder.glob("results/*.parquet")}
    for name in sorted({*files, *(one.relative_to(folder).as_posix() for one in compared)}):
        suffix = Path(name).suffix
        if suffix in (".json", ".ipynb"):
            _intact(path, folder, name, tree)
        elif suffix in _TEXTS:
            _intact(path, folder, name, text)
        elif suffix == ".parquet":
            _intact(path, folder, name, table)


def _intact(path: Path, folder: Path, name: str, read: Callable[[Path], Any]) -> None:
    try:
        read(folder / name)
    except BundleError as error:
        raise BundleError(f"{path}: it is damaged: {name}: {error}; copy it anew") from None


def text(path: Path) -> str:
    """A file's text. Raises BundleError saying what was expected and found; so do the others."""
    try:
        content = path.read_bytes()
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = f"the byte 0x{content[error.start]:02x} in line {line}"
        raise BundleError(f"expected text in UTF-8, found {found}") from None
    except OSError as error:
        raise BundleError(f"expected a file that can be read, found: {error.strerror}") from None


def tree(path: Path) -> Any:
    """What a JSON file says."""
    try:
        return json.loads(text(path))
    except json.JSONDecodeError as error:
        raise BundleError(f"expected JSON, found in line {error.lineno}: {error.msg}") from None
    except RecursionError:
        raise BundleError("expected JSON, found lists in lists without end") from None


def table(path: Path) -> pd.DataFrame:
    """A table of results."""
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError, ArrowException) as error:
        found = str(error).partition("\n")[0].rpartition("': ")[2].rstrip(".")  # behind the path, a temporary one
        raise BundleError(f"expected a table (Parquet), found: {found}") from None


def _keyed(path: Path, keys: Mapping[str, type]) -> None:
    """Raises BundleError where what a file says lacks a key that is read."""
    value = tree(path)
    for key, kind in keys.items():
        if not isinstance(value, dict) or not isinstance(value.get(key), kind):
            raise BundleError(f"expected {_TYPES[kind]} under {key!r}, found none")
