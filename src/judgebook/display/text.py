"""Prose of notebooks: Markdown templates, one per folder, and the filters they share.

A template is a list of Jinja macros, each a passage of prose; `Phrases.say` fills one with facts. Text that is filled
in is escaped for Markdown and HTML, whole numbers get thousands separators, and a bare float is an error: the template
says how many decimals it has.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache, cached_property
from importlib.metadata import version
from importlib.resources import files
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd
from jinja2.bccache import Bucket, BytecodeCache
from markupsafe import Markup

from judgebook import project
from judgebook.study import escape, store
from judgebook.study.escape import markdown as plain


class Compiled(BytecodeCache):  # type: ignore[misc]  # jinja2 is not read here
    """Where nothing may be written, or Python is told to write no compiled modules, templates are compiled each time.

    filters : the file of a module. Its code decides how a template is compiled, too: a filter of a constant is carried
    out then.
    """

    def __init__(self, filters: str):
        self._filters = Path(filters)
        self._folder = Path(cache_from_source(filters)).parent
        code = "".join(path.read_text(encoding="utf-8") for path in (self._filters, Path(escape.__file__)))
        self._with = f"{version('jinja2')} {version('markupsafe')} {code}"

    def get_source_checksum(self, source: str) -> str:
        return super().get_source_checksum(self._with + source)

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            bucket.bytecode_from_string(self._path(bucket).read_bytes())
        except Exception:  # there is no file, or whatever a damaged one leads to
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        if not sys.dont_write_bytecode:
            with suppress(OSError, store.DeniedError), store.atomic(self._path(bucket)) as temporary:
                temporary.write_bytes(bucket.bytecode_to_string())

    def _path(self, bucket: Bucket) -> Path:
        """Named as compiled modules are, which nobody takes for a part of the package."""
        return self._folder / f"{self._filters.stem}.{sys.implementation.cache_tag}-{bucket.key}.pyc"


MISSING = "–"


def number(value: object, decimals: int = 2) -> str:
    """Fixed decimals, a true minus sign, no negative zero; whole-number types without decimals; – where missing."""
    if pd.isna(value):
        return MISSING
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value:,}".replace("-", "−")
    # the last bits of a sum depend on the processor: they must not decide how 4.75 is rounded
    text = f"{float(f'{value:.14g}'):,.{decimals}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text.replace("-", "−")


def percent(share: float, decimals: int = 0) -> str:
    """`95%`; – where missing."""
    return MISSING if pd.isna(share) else f"{number(100 * float(share), decimals)}%"


def p_value(value: float) -> str:
    """`0.031`; `< 0.001`; – where missing."""
    if pd.isna(value):
        return MISSING
    return "< 0.001" if value < 0.001 else number(float(value), 3)


def interval(estimate: float, low: float, high: float, decimals: int = 2) -> str:
    """`0.46 [0.40, 0.51]`; the estimate alone where there is no interval; – where there is no estimate."""
    if pd.isna(estimate):
        return MISSING
    value = number(float(estimate), decimals)
    return value if pd.isna(low) else f"{value} [{number(float(low), decimals)}, {number(float(high), decimals)}]"


def told(name: str, row: Mapping[str, Any], decimals: int = 2, *, percents: bool = False) -> str:
    """What a mark says of itself: `Blender2, Quality: 3.42 [3.21, 3.63], n = 100`.

    row : estimate and, where there are, ci_low, ci_high and n. percents : whether the estimate is a share.
    """
    scale, unit = (100, "%") if percents else (1, "")
    estimate, low, high = (scale * row.get(c, float("nan")) for c in ("estimate", "ci_low", "ci_high"))
    value = interval(estimate, low, high, decimals - 1 if percents else decimals)
    n: Any = row.get("n")
    return f"{name}: {value}{unit if pd.notna(estimate) else ''}" + (f", n = {int(n):,}" if pd.notna(n) else "")


def counted(values: Iterable[float], of: str) -> str:
    """`n = 405 turns`, `n = 42 to 50 dialogues`; empty where nothing is known. of : what is counted, in the plural."""
    known = [int(v) for v in values if pd.notna(v)]
    return f"n = {span([min(known), max(known)], 0)} {of}" if known else ""


def listing(items: Iterable[object], conjunction: str = "and") -> str:
    """`a, b and c`, each escaped by `plain`; where one has a comma, `a, with x; b; and c`, or of two `“a, with x” and
    “b”`."""
    names = [str(i) if isinstance(i, Markup) else plain(i) for i in items]
    if any(", " in name for name in names):
        if len(names) > 2:
            return "; ".join([*names[:-1], f"{conjunction} {names[-1]}"])
        names = [f"“{name}”" for name in names] if len(names) == 2 else names
    return f" {conjunction} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def plural(n: int, singular: str, many: str = "") -> str:
    """`1 label`, `3 labels`, `no labels`."""
    return f"{number(n) if n else 'no'} {singular if n == 1 else many or singular + 's'}"


def span(values: Iterable[float], decimals: int = 2) -> str:
    """`0.12 to 0.56`, or one number where all are equal at these decimals; `undefined` where none is known."""
    known = [float(value) for value in values if pd.notna(value)]
    if not known:
        return "undefined"
    ends = [number(end, decimals) for end in (min(known), max(known))]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _ci(row: Any, decimals: int = 2, scale: float = 1) -> str:
    """`interval` of anything with estimate, ci_low and ci_high, as items or as attributes."""
    names = ("estimate", "ci_low", "ci_high")
    ends = [row[name] if isinstance(row, Mapping) else getattr(row, name) for name in names]
    estimate, low, high = (end if pd.isna(end) else scale * end for end in ends)
    return interval(estimate, low, high, decimals)


def _shown(value: object) -> object:
    """What a template may fill in as it is."""
    if isinstance(value, Markup | jinja2.Undefined):
        return value
    if isinstance(value, float | np.floating):
        raise TypeError(f"a float in prose needs a filter that says its decimals, found {value!r}")
    if isinstance(value, int | np.integer):
        return Markup(number(value))
    text = str(value)
    bare = text.strip()
    before, after = text.split(bare, 1) if bare else (text, "")
    return Markup(f"{before}{plain(text)}{after}")


def _marked(function: Any) -> Any:
    return lambda *args, **kwargs: Markup(function(*args, **kwargs))


def out_of(k: int, n: int, what: str, verb: str = "are") -> str:
    """`2 of 4 labels are`, `1 of 4 labels is`, `None of 4 labels is`, `All 4 labels are`. verb : in the plural."""
    singular = {"are": "is"}.get(verb, verb + ("es" if verb.endswith(("s", "ch")) else "s"))
    return f"{'All' if k == n else f'{k:,} of' if k else 'None of'} {n:,} {what} {verb if k > 1 else singular}"


def _source(package: str) -> str:
    return files(package).joinpath("text.md.j2").read_text(encoding="utf-8")


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_source),
        bytecode_cache=Compiled(__file__),
        cache_size=0,  # each `Phrases` has its own
        autoescape=True,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    filters = {
        "number": number,
        "percent": percent,
        "p": p_value,
        "listing": listing,
        "plural": plural,
        "span": span,
        "out_of": out_of,
    }
    environment.globals["command"] = lambda: Markup(project.command())
    environment.filters |= {name: _marked(function) for name, function in (filters | {"ci": _ci}).items()}
    return environment


class Phrases:
    """The passages of a folder: the macros of its `text.md.j2`."""

    def __init__(self, package: str):
        self._package = package

    @cached_property
    def _module(self) -> jinja2.environment.TemplateModule:
        """Compiled with the first passage: that takes longer than importing the folder, and most who do say nothing."""
        return _environment().get_template(self._package).module

    def of(self, passage: str, facts: object, **more: Any) -> str:
        """The named passage, filled with `more`, and else with the attributes of `facts` that it asks for."""
        asked = [name for name in getattr(self._module, passage).arguments if name not in more]
        return self.say(passage, **{name: getattr(facts, name) for name in asked}, **more)

    def say(self, passage: str, **facts: Any) -> str:
        """The named passage, filled with facts; empty where the template gives nothing but white space."""
        text = str(getattr(self._module, passage)(**facts))
        return re.sub(r"\n{3,}", "\n\n", "\n".join(line.strip() for line in text.splitlines())).strip()
