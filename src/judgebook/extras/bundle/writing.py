"""Writes a bundle, a zip file: `python run_all.py bundle STUDY`. It appears whole or not at all."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from judgebook.extras.bundle import contents, metadata
from judgebook.extras.bundle.finished import BundleError, Part, finished
from judgebook.extras.bundle.judgements import share
from judgebook.extras.bundle.metadata import CROISSANT, METADATA
from judgebook.study import store

#: the same content gives the same bytes: all files of a zip bear its first day
EPOCH = (1980, 1, 1, 0, 0, 0)
_CHUNK = 1 << 20


def command(
    study: str,
    manifest: dict[str, Any],
    outdated: dict[str, str],
    *,
    judgements: bool = False,
    texts: bool = False,
    say: Callable[[str], None] = print,
) -> int:
    """Bundle a finished study; returns the exit code. Raises BundleError.

    manifest : what the pipeline stored of the run. outdated : notebook of an earlier run -> what has changed since.
    judgements, texts : include them.
    """
    of = finished(study, manifest, outdated)
    shared = share(of, texts=texts) if judgements else None
    parts = contents.parts(of, shared)
    if shared:
        content = metadata.croissant(of, parts, texts=texts)
        parts.append(Part(CROISSANT, content, "Description of the judgements (Croissant)"))
    parts = [Part(METADATA, metadata.crate(of, parts), ""), *parts]
    contents.refuse_private(of, parts, texts=texts)
    target = store.out_root() / "bundles" / f"{study}.zip"
    store.sweep(target.parent, deep=False)
    write_zip(parts, target)
    for name, why in outdated.items():
        say(f"  {name} is from an earlier run ({why}); the bundle says so")
    for name in of.failed:
        say(f"  {name} failed in its last run; the bundle says so")
    for deed in shared.deeds if shared else ():
        say(f"  {contents.told(deed)}")
    what = "data and texts are not included"
    if shared:
        what = f"judgements are included under {shared.licence.name}, {'with' if texts else 'without'} texts"
    say(f"bundle: {store.relative(target)}: {len(parts)} files, {target.stat().st_size / 1e6:.1f} MB; {what}")
    return 0


def write_zip(parts: Iterable[Part], path: Path) -> None:
    """A zip file in the order of the parts; only a piece of a file is in memory at a time.

    Raises BundleError where there is something else in its place.
    """
    if path.exists() and not _is_bundle(path):
        raise BundleError(f"{path} is not a bundle and would be replaced by one: remove it, or use --out")
    with store.atomic(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as out:
        for part in parts:
            entry = zipfile.ZipInfo(part.path, EPOCH)
            entry.external_attr, entry.create_system = 0o100644 << 16, 3
            entry.compress_type, entry.file_size = zipfile.ZIP_DEFLATED, part.size
            with _opened(part) as source, out.open(entry, "w") as target:
                shutil.copyfileobj(source, target, _CHUNK)


def _is_bundle(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as packed:
            return METADATA in packed.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


@contextmanager
def _opened(part: Part) -> Iterator[IO[bytes]]:
    with part.content.open("rb") if isinstance(part.content, Path) else io.BytesIO(part.content) as file:
        yield file
