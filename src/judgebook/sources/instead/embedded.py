"""Judgements of public studies that come with the project, so that a machine without a network has real data.

`data/embedded/<study>` holds the frames that `build` makes of the upstream files, without texts and with new ids of
dialogues, as gzipped CSV. They stand in where the study's raw files are not here. `source.json` says from which
`sources:` of the YAML they were made: with others they would be read wrongly, so that they are not used.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgebook import project
from judgebook.sources import places
from judgebook.sources.ids import naming
from judgebook.sources.instead import shared
from judgebook.study import escape, params, store

if TYPE_CHECKING:
    import pandas as pd

    from judgebook.sources.reading import Reading

FOLDER = params.ROOT / "data" / "embedded"
#: columns of ids that may be those of a platform, with how the new ones look
IDS = {"dialogue": ("dialogue", "dialogue_b"), "session": ("session",), "context": ("context",)}
#: facts of a dialogue whose values are ids of a platform
ID_FACTS = {"hit"}
_PATTERNS = {"dialogue": "D{:05d}", "session": "S{:05d}", "context": "C{:05d}", "hit": "H{:05d}"}


def files(study: params.Study) -> list[Path]:
    """The embedded files that stand in for the raw files of a study; none where these are here, or there are none."""
    folder = FOLDER / study.key
    if study.across or study.simulate is not None or not params.is_file(folder / "source.json"):
        return []
    made = json.loads((folder / "source.json").read_text(encoding="utf-8"))
    if made["sources"] != _digest(study) or not places.absent(study):
        return []
    return sorted(folder.glob("*.csv.gz"))


def missing(study: params.Study, *, texts: bool = False) -> list[str]:
    """Raw files that the study needs, that are not here, and that no embedded judgements replace.

    texts : embedded judgements that lack texts of the files do not replace them.
    """
    if shared.files(study):
        return places.absent(study) if texts and shared.texts_left_out(study) else []
    paths = files(study)
    whole = paths and (not texts or not json.loads((FOLDER / study.key / "source.json").read_text())["texts_left_out"])
    return [] if whole else places.absent(study)


def read(study: params.Study) -> Reading:
    """The embedded judgements, as an adapter would hand them over."""

    from judgebook.sources.reading import Counts, Reading

    frames: dict[str, Any] = {}
    for path in files(study):
        name = path.name.removesuffix(".csv.gz")
        # text first: `conform` gives the types, and an empty cell is missing, "" nowhere
        frame = escape.read_csv(path)
        frames[name] = frame.astype(object).where(frame != "", None)
    counts, kept = Counts(), frames.pop("counts").fillna({"reason": ""})
    kept["reason"] = kept["reason"].map(project.in_words)
    for row in kept.itertuples():
        missing = tuple(getattr(row, c, None) for c in ("method", "label", "system", "system_b"))
        counts.add(row.file, row.what, row.action, row.reason, int(row.n), corpus=row.corpus, missing=missing)
    marks = frames["annotations"]
    marks["annotator_known"] = marks["annotator_known"] == "True"
    marks["file"] = f"data/embedded/{study.key}/annotations.csv.gz"
    marks["where"] = [f"row {i + 2}" for i in range(len(marks))]
    return Reading(**frames, counts=counts)


def write(study: params.Study, read: dict[str, pd.DataFrame], folder: Path) -> None:
    """Make the embedded judgements of a study. read : frames that were built of its raw files, which must be here."""
    frames = stripped(read, study.key)
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in frames.items():
        text = escape.csv(frame)
        with store.atomic(folder / f"{name}.csv.gz") as temporary:
            # without name and time the same judgements give the same bytes
            temporary.write_bytes(gzip.compress(text.encode(), mtime=0))
    paths = {name: places.find(name, study.key) for name in _raw_names(study)}
    raw = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in paths.items() if path is not None}
    made: dict[str, Any] = {
        "study": study.key,
        "licence": study.licence,
        "sources": _digest(study),
        "sha256_of_files_read": raw,
    }
    counts = frames["counts"]
    made["texts_left_out"] = int(counts.loc[counts["file"] == f"data/embedded/{study.key}", "n"].sum())
    with store.atomic(folder / "source.json") as temporary:
        temporary.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def stripped(frames: dict[str, pd.DataFrame], key: str) -> dict[str, pd.DataFrame]:
    """Frames as they are embedded: without texts, without empty frames and columns, with new ids of dialogues.

    What is left out is counted, like anything else that was read and not kept.
    """
    import pandas as pd

    out = {name: frame.drop(columns="study", errors="ignore") for name, frame in frames.items() if len(frame)}
    n = sum(int(out[name][columns].notna().sum().sum()) for name, columns in naming.TEXTS.items() if name in out)
    out = {name: frame.drop(columns=naming.TEXTS.get(name, [])) for name, frame in out.items()}
    facts = out.get("dialogue_facts")
    for id_, columns in IDS.items():
        names = _numbered([f[c] for f in out.values() for c in columns if c in f], _PATTERNS[id_])
        out = {name: f.assign(**{c: f[c].map(names) for c in columns if c in f}) for name, f in out.items()}
    if facts is not None:
        facts = out["dialogue_facts"]
        for fact in ID_FACTS:
            with_ids = facts["key"] == fact
            facts["value"] = facts["value"].where(
                ~with_ids, facts["value"].map(_numbered([facts.loc[with_ids, "value"]], _PATTERNS[fact]))
            )
    if n:
        reason = f"not embedded: `python run_all.py fetch {key}` brings them"
        left = {"corpus": None, "file": f"data/embedded/{key}", "what": "texts", "action": "dropped", "reason": reason}
        out["counts"] = pd.concat([out["counts"], pd.DataFrame([left | {"n": n}])], ignore_index=True)
    out["annotations"] = out["annotations"].drop(columns="source_row")
    return {name: frame.dropna(axis=1, how="all") for name, frame in out.items()}


def _numbered(columns: list[pd.Series], pattern: str) -> dict[str, str]:
    """A new id for each value, by first appearance."""
    import pandas as pd

    values = pd.concat(columns).dropna().unique() if columns else []
    return {value: pattern.format(i) for i, value in enumerate(values, start=1)}


def _raw_names(study: params.Study) -> list[str]:
    return list(dict.fromkeys(name for source in study.sources for name in source.names()))


def _digest(study: params.Study) -> str:
    """Of what the YAML says about the files, as far as it is not the default."""
    text = json.dumps([s.model_dump(mode="json", exclude_defaults=True) for s in study.sources], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
