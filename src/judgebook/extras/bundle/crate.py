"""The metadata of a bundle: RO-Crate 1.1 with the provenance of Process Run Crate 0.5.

References
----------
Soiland-Reyes et al. (2022), Packaging research artefacts with RO-Crate, Data Science 5(2).
Leo et al. (2024), Recording provenance of workflow runs with RO-Crate, PLOS ONE 19(9).
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from judgebook import __version__
from judgebook.extras.bundle.contents import FOLDERS, METADATA, PARAMS
from judgebook.extras.bundle.described import DESCRIPTION, Described, described
from judgebook.extras.bundle.finished import Finished, raw_files
from judgebook.extras.bundle.parts import Part
from judgebook.extras.bundle.software import LOCK
from judgebook.sources.instead.shared import FOLDER
from judgebook.study import params

CONTEXT, SPECIFICATION = "https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/crate/1.1"
PROCESS_RUN = "https://w3id.org/ro/wfrun/process/0.5"
CC_BY, GPL = "https://creativecommons.org/licenses/by/4.0/", "https://www.gnu.org/licenses/gpl-3.0.html"
PROJECT, RUN, DATA, JUDGEMENTS, AUTHOR = "#judgebook", "#run-", "#data", "#judgements", "#author"
MEDIA = {
    "bib": "application/x-bibtex",
    "csv": "text/csv",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "html": "text/html",
    "ipynb": "application/x-ipynb+json",
    "json": "application/json",
    "lock": "text/plain",
    "md": "text/markdown",
    "parquet": "application/vnd.apache.parquet",
    "pdf": "application/pdf",
    "png": "image/png",
    "svg": "image/svg+xml",
    "tex": "application/x-tex",
    "yaml": "application/yaml",
}
Entity = dict[str, Any]


def metadata(of: Finished, parts: Iterable[Part]) -> bytes:
    """The content of `ro-crate-metadata.json`: every file, and for each step what it was made of and when."""
    parts, about = list(parts), described(of)
    actions = _actions(of, parts)
    files = [_file(part, of) for part in parts]
    folders = [_folder(name, parts) for name in FOLDERS if any(p.path.startswith(f"{name}/") for p in parts)]
    above = [f for f in files if "/" not in f["@id"]]
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": about.name,
        "description": about.description,
        "datePublished": about.date,
        "license": {"@id": CC_BY},
        "conformsTo": {"@id": PROCESS_RUN},
        "about": {"@id": DATA},
        "hasPart": _ids([*folders, *above]),
        "mentions": _ids(actions),
    }
    author = _author(about)
    if author:
        root["author"] = {"@id": AUTHOR}
    graph: list[Entity] = [
        {
            "@id": METADATA,
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": {"@id": SPECIFICATION},
        },
        root,
        *folders,
        *files,
        *actions,
        *_data(of, about, parts),
        _software(of),
        *author,
        {"@id": PROCESS_RUN, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"},
        _licence(CC_BY, "CC BY 4.0", "Creative Commons Attribution 4.0 International: text and figures"),
        _licence(GPL, "GPL-3.0-or-later", "GNU General Public License, version 3 or later: code in the notebooks"),
    ]
    text = json.dumps({"@context": CONTEXT, "@graph": [_single(e) for e in graph]}, indent=1, ensure_ascii=False)
    return (text + "\n").encode()


def _single(entity: Entity) -> Entity:
    """An entity whose lists of one are that one, as the specification recommends."""
    return {k: v[0] if isinstance(v, list) and len(v) == 1 else v for k, v in entity.items()}


def _author(about: Described) -> list[Entity]:
    """Who analysed the study, where its YAML says so (`heds.completed_by`)."""
    if not about.creator:
        return []
    person = {"@id": AUTHOR, "@type": "Person", "name": about.creator}
    return [person | ({"affiliation": about.affiliation} if about.affiliation else {})]


def _licence(address: str, name: str, about: str) -> Entity:
    return {"@id": address, "@type": "CreativeWork", "name": name, "description": about}


def _ids(entities: Iterable[Entity]) -> list[Entity]:
    return [{"@id": e["@id"]} for e in entities]


def _id(path: str) -> str:
    return quote(path)


def _file(part: Part, of: Finished) -> Entity:
    folder, _, _ = part.path.partition("/")
    kind: str | list[str] = "File"
    if folder == "figures":
        kind = ["File", "ImageObject"]
    entity: Entity = {
        "@id": _id(part.path),
        "@type": kind,
        "name": part.path.rpartition("/")[2],
        "description": part.about,
        "encodingFormat": MEDIA.get(part.path.rpartition(".")[2], "application/octet-stream"),
        "contentSize": str(part.size),
    }
    if folder == "notebooks":
        entity["license"] = [{"@id": GPL}, {"@id": CC_BY}]
        entity |= {"conditionsOfAccess": _note(of, part.made_by)} if part.made_by in of.outdated else {}
    return entity


def _note(of: Finished, step: str) -> str:
    return f"From an earlier run. Since then: {of.outdated[step]}"


def _folder(name: str, parts: Iterable[Part]) -> Entity:
    inside = [{"@id": _id(p.path)} for p in parts if p.path.startswith(f"{name}/")]
    return {"@id": f"{name}/", "@type": "Dataset", "name": name, "description": FOLDERS[name], "hasPart": inside}


def _actions(of: Finished, parts: Iterable[Part]) -> list[Entity]:
    """A CreateAction for each step whose outcome is in the bundle, and for reading the data."""
    results: dict[str, list[Entity]] = defaultdict(list)
    for part in parts:
        if part.made_by:
            results[part.made_by].append({"@id": _id(part.path)})
    settings = {"@id": _id(PARAMS.format(study=of.key))}
    out = []
    for step, node in of.steps.items():
        if step not in results and step != "annotations":
            continue
        if step == "annotations":
            title, used, made = "Reading the data", _ids(_raw(of)), [{"@id": JUDGEMENTS}, *results[step]]
        elif step in of.notebooks:
            title, used, made = f"Running notebook {step}", _used(of, step, results), results[step]
        else:
            title, used, made = (
                f"Writing the report: {step}",
                [r for n in of.notebooks for r in results[n]],
                results[step],
            )
        end = datetime.fromisoformat(node["finished"])
        entity = {
            "@id": _step(step),
            "@type": "CreateAction",
            "name": title,
            "description": f"{title} with version {__version__} of judgebook"
            + (f". {_note(of, step)}" if step in of.outdated else ""),
            "instrument": {"@id": PROJECT},
            "object": [settings, *used],
            "result": made,
            "startTime": (end - timedelta(seconds=node["seconds"])).isoformat(timespec="seconds"),
            "endTime": end.isoformat(),
        }
        out.append(entity | ({"agent": {"@id": AUTHOR}} if of.study.heds.completed_by.name else {}))
    return out


def _used(of: Finished, step: str, results: dict[str, list[Entity]]) -> list[Entity]:
    """What a notebook read: the judgements, and results of the notebooks it needs."""
    parts = of.steps[step]["parts"]
    needed = [p.removeprefix("results of ") for p in parts if p.startswith("results of ")]
    frames = [{"@id": JUDGEMENTS}] if any(p.endswith(".parquet") for p in parts) else []
    return [*frames, *(r for name in needed for r in results.get(name, ()) if r["@id"].startswith("results/"))]


def _step(name: str) -> str:
    return RUN + re.sub(r"\W+", "-", name)


def _data(of: Finished, about: Described, parts: Iterable[Part]) -> list[Entity]:
    """The data: what was read, which is not in the bundle, and what was made of it, which may be."""
    parts = list(parts)
    tables = [{"@id": _id(p.path)} for p in parts if p.path.startswith(f"{FOLDER}/")]
    described = [{"@id": DESCRIPTION}] if any(p.path == DESCRIPTION for p in parts) else []
    raw = _raw(of)
    data = {
        "@id": DATA,
        "@type": "CreativeWork",
        "name": f"Data of the study: {about.name}",
        "description": f"Not included. {about.description}",
        "license": about.url or about.licence or "not stated",
        "size": "; ".join(f"{what}: {n}" for what, n in about.counts.items()),
        "hasPart": _ids(raw),
        "subjectOf": described,
    }
    if about.citation:
        data["citation"] = about.citation
    judgements: Entity = {
        "@id": JUDGEMENTS,
        "@type": "CreativeWork",
        "name": "Judgements as read",
        "description": "Checked, with pseudonyms for people" + ("" if tables else ". Not included"),
        "isBasedOn": {"@id": DATA},
    }
    if tables:
        judgements |= {"hasPart": tables, "license": data["license"]}
    return [{k: v for k, v in data.items() if v}, *raw, *([] if of.study.across else [judgements])]


def _raw(of: Finished) -> list[Entity]:
    out = []
    for number, file in enumerate(raw_files(of), start=1):
        entity = {
            "@id": f"#raw-{number}",
            "@type": "CreativeWork",
            "name": file.name,
            "description": "A file that the data were read from. Not included",
            "identifier": f"sha256:{file.sha256}",
            "url": file.url,
            "license": file.licence or "not stated",
            "contentSize": str(file.size) if file.size else "",
        }
        out.append({k: v for k, v in entity.items() if v})
    return out


def _software(of: Finished) -> Entity:
    made = of.manifest
    commit = f" (commit {made['commit']})" if made.get("commit") else ""
    entity = {
        "@id": PROJECT,
        "@type": "SoftwareApplication",
        "name": "judgebook",
        "description": "Human evaluation of chat systems: annotations in, a defensible evaluation report out",
        "softwareVersion": f"{__version__}{commit}",
        "license": {"@id": GPL},
        "url": _repository(),
        "operatingSystem": made.get("platform"),
        "runtimePlatform": f"Python {made.get('python')}",
        "softwareRequirements": {"@id": LOCK},
    }
    return {k: v for k, v in entity.items() if v}


def _repository() -> str:
    """Address of the project's repository, where its owner has filled it in."""
    path = params.ROOT / "codemeta.json"
    return json.loads(path.read_text(encoding="utf-8")).get("codeRepository", "") if path.is_file() else ""
