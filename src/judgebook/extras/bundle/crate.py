"""The metadata of a bundle: RO-Crate 1.1.

References
----------
Soiland-Reyes et al. (2022), Packaging research artefacts with RO-Crate, Data Science 5(2).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from judgebook import __version__
from judgebook.extras.bundle.contents import FOLDERS, METADATA
from judgebook.extras.bundle.described import DESCRIPTION, Described, described
from judgebook.extras.bundle.finished import Finished, raw_files
from judgebook.extras.bundle.parts import Part
from judgebook.extras.bundle.software import LOCK
from judgebook.sources.instead.shared import FOLDER
from judgebook.study import params

CONTEXT, SPECIFICATION = "https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/crate/1.1"
CC_BY, GPL = "https://creativecommons.org/licenses/by/4.0/", "https://www.gnu.org/licenses/gpl-3.0.html"
PROJECT, DATA, JUDGEMENTS, AUTHOR = "#judgebook", "#data", "#judgements", "#author"
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
    """The content of `ro-crate-metadata.json`: every file, the data and the software."""
    parts, about = list(parts), described(of)
    data, software, author = _data(of, about, parts), _software(of), _author(about)
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
        "about": {"@id": DATA},
        "hasPart": _ids([*folders, *above]),
        "mentions": _ids([software, *(e for e in data if e["@id"] == JUDGEMENTS)]),
    }
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
        *data,
        software,
        *author,
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
        why = of.outdated.get(PurePosixPath(part.path).stem)
        entity["license"] = [{"@id": GPL}, {"@id": CC_BY}]
        entity |= {"conditionsOfAccess": f"From an earlier run. Since then: {why}"} if why else {}
    return entity


def _folder(name: str, parts: Iterable[Part]) -> Entity:
    inside = [{"@id": _id(p.path)} for p in parts if p.path.startswith(f"{name}/")]
    return {"@id": f"{name}/", "@type": "Dataset", "name": name, "description": FOLDERS[name], "hasPart": inside}


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
        "description": "Checked, with pseudonyms for people",
        "isBasedOn": {"@id": DATA},
        "hasPart": tables,
        "license": data["license"],
    }
    return [{k: v for k, v in data.items() if v}, *raw, *([judgements] if tables else [])]


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
