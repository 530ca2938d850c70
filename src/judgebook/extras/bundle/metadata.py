"""What a bundle says of itself and its data to machines: RO-Crate 1.1 for all files, Croissant 1.1 for the judgements.

References
----------
Soiland-Reyes et al. (2022), Packaging research artefacts with RO-Crate, Data Science 5(2); Akhtar et al. (2024),
Croissant: a metadata format for ML-ready datasets, NeurIPS Datasets and Benchmarks.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from judgebook import __version__
from judgebook.extras.bundle import licences
from judgebook.extras.bundle.finished import Finished, Part, json_bytes
from judgebook.sources.ids.naming import TEXTS
from judgebook.sources.instead import shared
from judgebook.sources.instead.shared import FOLDER
from judgebook.study import params, schema

METADATA, CROISSANT = "ro-crate-metadata.json", "croissant.json"
DESCRIPTION, LOCK = "data/README.md", "software/requirements.lock"
#: RO-Crate
CONTEXT, SPECIFICATION = "https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/crate/1.1"
CC_BY, GPL = "https://creativecommons.org/licenses/by/4.0/", "https://www.gnu.org/licenses/gpl-3.0.html"
PROJECT, DATA, JUDGEMENTS, AUTHOR = "#judgebook", "#data", "#judgements", "#author"
MEDIA = {
    "bib": "application/x-bibtex",
    "csv": "text/csv",
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
#: Croissant
_CONFORMS = "http://mlcommons.org/croissant/1.1"
_TYPES = {
    "bool": "sc:Boolean",
    "boolean": "sc:Boolean",
    "float64": "sc:Float",
    "Int32": "sc:Integer",
    "int64": "sc:Integer",
}
#: terms that the specification's own context has, in its order; a validator compares
_TERMS = (
    "arrayShape citeAs column conformsTo containedIn data dataType equivalentProperty examples extract field "
    "fileProperty fileObject fileSet format includes isArray isLiveDataset jsonPath key md5 parentField path recordSet "
    "references regex repeated replace samplingRate separator source subField transform"
)
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    **{term: f"cr:{term}" for term in _TERMS.split()},
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
}
Entity = dict[str, Any]


@dataclass(frozen=True)
class Described:
    """name : title of the study. licence : of the data, as the YAML has it; empty where it says nothing. url : of that
    licence, empty where it names none that we know. creator, affiliation : who completed the datasheet; may be empty.
    counts : what is counted -> how many."""

    name: str
    description: str
    licence: str
    url: str
    creator: str
    affiliation: str
    citation: str
    date: str
    counts: dict[str, int]


def _given(entity: Entity) -> Entity:
    """Without what is empty; a list of one as that one, as RO-Crate recommends."""
    given = {k: v for k, v in entity.items() if v}
    return {k: v[0] if isinstance(v, list) and len(v) == 1 else v for k, v in given.items()}


def described(of: Finished) -> Described:
    """What the YAML and the data of a finished study say of it."""
    study, licence = of.study, licences.read(of.study.licence)
    path = of.folder / "profile.json"
    profile = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return Described(
        study.title,
        " ".join((study.description or study.title).split()),
        study.licence,
        licence.url if licence else "",
        study.heds.completed_by.name,
        study.heds.completed_by.affiliation,
        study.citation,
        of.date,
        {k.removeprefix("n_").replace("_", " "): v for k, v in profile.items() if k.startswith("n_")},
    )


def crate(of: Finished, parts: Iterable[Part]) -> bytes:
    """The content of `ro-crate-metadata.json`: every file, the data and the software."""
    parts, about = list(parts), described(of)
    files = [_crate_file(part, of) for part in parts]
    tables = [_link(part.path) for part in parts if part.path.startswith(f"{FOLDER}/")]
    size = "; ".join(f"{what}: {n}" for what, n in about.counts.items())
    licence, made = about.url or about.licence or "not stated", of.manifest
    commit = f" (commit {made['commit']})" if made.get("commit") else ""
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": about.name,
        "description": about.description,
        "datePublished": about.date,
        "license": {"@id": CC_BY},
        "about": {"@id": DATA},
        "hasPart": [{"@id": file["@id"]} for file in files],
        "mentions": [{"@id": PROJECT}, *([{"@id": JUDGEMENTS}] if tables else [])],
        "author": {"@id": AUTHOR} if about.creator else "",
    }
    data = {
        "@id": DATA,
        "@type": "CreativeWork",
        "name": f"Data of the study: {about.name}",
        "description": f"Not included. {about.description}",
        "license": licence,
        "size": size,
        "citation": about.citation,
        "subjectOf": {"@id": DESCRIPTION} if any(part.path == DESCRIPTION for part in parts) else "",
    }
    judgements = {
        "@id": JUDGEMENTS,
        "@type": "CreativeWork",
        "name": "Judgements as read",
        "description": "Checked, with pseudonyms for people",
        "isBasedOn": {"@id": DATA},
        "hasPart": tables,
        "license": licence,
    }
    software = {
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
    author = {"@id": AUTHOR, "@type": "Person", "name": about.creator, "affiliation": about.affiliation}
    top = {"@id": METADATA, "@type": "CreativeWork", "about": {"@id": "./"}, "conformsTo": {"@id": SPECIFICATION}}
    graph: list[Entity] = [
        top,
        root,
        *files,
        data,
        *([judgements] if tables else []),
        software,
        *([author] if about.creator else []),
    ]
    for address, name, on in (
        (CC_BY, "CC BY 4.0", "Creative Commons Attribution 4.0 International: text and figures"),
        (GPL, "GPL-3.0-or-later", "GNU General Public License, version 3 or later: code in the notebooks"),
    ):
        graph.append({"@id": address, "@type": "CreativeWork", "name": name, "description": on})
    return json_bytes({"@context": CONTEXT, "@graph": [_given(entity) for entity in graph]})


def _link(path: str) -> Entity:
    return {"@id": quote(path)}


def _crate_file(part: Part, of: Finished) -> Entity:
    folder = part.path.partition("/")[0]
    entity: Entity = {
        **_link(part.path),
        "@type": ["File", "ImageObject"] if folder == "figures" else "File",
        "name": part.path.rpartition("/")[2],
        "description": part.about,
        "encodingFormat": MEDIA.get(part.path.rpartition(".")[2], "application/octet-stream"),
        "contentSize": str(part.size),
    }
    if folder == "notebooks":
        why = of.outdated.get(PurePosixPath(part.path).stem)
        entity["license"] = [{"@id": GPL}, {"@id": CC_BY}]
        entity["conditionsOfAccess"] = f"From an earlier run. Since then: {why}" if why else ""
    return entity


def _repository() -> str:
    """Address of the project's repository, where its owner has filled it in."""
    path = params.ROOT / "codemeta.json"
    return json.loads(path.read_text(encoding="utf-8")).get("codeRepository", "") if path.is_file() else ""


def croissant(about: Described, parts: Iterable[Part], *, texts: bool) -> bytes:
    """The content of `croissant.json`, of the judgements in a bundle: its files, and of each table its columns.

    texts : they are with these, not stand-ins.
    """
    tables = [part for part in parts if part.path.startswith(f"{FOLDER}/") and part.path.endswith(".csv")]
    tree: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": about.name,
        "description": about.description,
        "conformsTo": _CONFORMS,
        "version": f"{__version__}+{about.date.replace('-', '')}",
        "datePublished": about.date,
        "license": about.url or about.licence,
        "citeAs": about.citation,
        "creator": {"@type": "sc:Person", "name": about.creator} if about.creator else {},
        "size": "; ".join(f"{what}: {n}" for what, n in about.counts.items()),
        "distribution": [_file(part) for part in tables],
        "recordSet": [_table(part, texts) for part in tables],
    }
    if about.creator and about.affiliation:
        tree["creator"]["affiliation"] = {"@type": "sc:Organization", "name": about.affiliation}
    return json_bytes({k: v for k, v in tree.items() if v})


def _name(part: Part) -> str:
    return part.path.rpartition("/")[2].removesuffix(".csv")


def _file(part: Part) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": part.path,
        "name": _name(part),
        "description": part.about,
        "contentUrl": part.path,
        "contentSize": f"{part.size} B",
        "encodingFormat": "text/csv",
        "sha256": hashlib.sha256(part.read()).hexdigest(),
    }


def _table(part: Part, texts: bool) -> dict[str, Any]:
    name, columns = _name(part), next(csv.reader(io.StringIO(part.read().decode())))
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": part.about,
        "field": [_column(part, name, column, texts) for column in columns],
    }


def _column(part: Part, table: str, column: str, texts: bool) -> dict[str, Any]:
    spec = (schema.FRAMES | shared.columns())[table][column]
    stood_in = not texts and column in TEXTS.get(table, ())
    kind = "sc:DateTime" if spec.dtype.startswith("datetime") else _TYPES.get(spec.dtype, "sc:Text")
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{column}",
        "name": column,
        "description": f"a stand-in of the same length, not: {spec.doc}" if stood_in else spec.doc,
        "dataType": kind,
        "source": {"fileObject": {"@id": part.path}, "extract": {"column": column}},
    }
