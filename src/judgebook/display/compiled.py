"""Compiled templates, kept beside the compiled modules (`__pycache__`): to compile those of a study anew in each kernel
took longer than to fill them in."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path

from jinja2.bccache import Bucket, BytecodeCache

from judgebook.study import escape, store


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
