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
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from judgebook import __version__
from judgebook.extras.bundle import judgements
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


def _given(entity: Entity) -> Entity:
    """Without what is empty; a list of one as that one, as RO-Crate recommends."""
    given = {k: v for k, v in entity.items() if v}
    return {k: v[0] if isinstance(v, list) and len(v) == 1 else v for k, v in given.items()}


def counts(of: Finished) -> dict[str, int]:
    """What is counted in the data -> how many."""
    path = of.folder / "profile.json"
    profile = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {k.removeprefix("n_").replace("_", " "): v for k, v in profile.items() if k.startswith("n_")}


def _facts(of: Finished) -> tuple[Entity, Entity]:
    """What both formats say of a study, and of its data."""
    description = " ".join((of.study.description or of.study.title).split())
    licence, size = judgements.read(of.study.licence), "; ".join(f"{what}: {n}" for what, n in counts(of).items())
    study = {"name": of.study.title, "description": description, "datePublished": of.date}
    return study, {"license": licence.url if licence else of.study.licence or "not stated", "size": size}


def crate(of: Finished, parts: Iterable[Part]) -> bytes:
    """The content of `ro-crate-metadata.json`: every file, the data and the software."""
    parts, (study, data), author = list(parts), _facts(of), of.study.heds.completed_by
    files = [_crate_file(part, of) for part in parts]
    tables = [_link(part.path) for part in parts if part.path.startswith(f"{FOLDER}/")]
    made = of.manifest
    commit = f" (commit {made['commit']})" if made.get("commit") else ""
    root = {
        "@id": "./",
        "@type": "Dataset",
        **study,
        "license": {"@id": CC_BY},
        "about": {"@id": DATA},
        "hasPart": [{"@id": file["@id"]} for file in files],
        "mentions": [{"@id": PROJECT}, *([{"@id": JUDGEMENTS}] if tables else [])],
        "author": {"@id": AUTHOR} if author.name else "",
    }
    raw = {
        "@id": DATA,
        "@type": "CreativeWork",
        "name": f"Data of the study: {study['name']}",
        "description": f"Not included. {study['description']}",
        **data,
        "citation": of.study.citation,
        "subjectOf": {"@id": DESCRIPTION} if any(part.path == DESCRIPTION for part in parts) else "",
    }
    judgements = {
        "@id": JUDGEMENTS,
        "@type": "CreativeWork",
        "name": "Judgements as read",
        "description": "Checked, with pseudonyms for people",
        "isBasedOn": {"@id": DATA},
        "hasPart": tables,
        "license": data["license"],
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
    person = {"@id": AUTHOR, "@type": "Person", "name": author.name, "affiliation": author.affiliation}
    top = {"@id": METADATA, "@type": "CreativeWork", "about": {"@id": "./"}, "conformsTo": {"@id": SPECIFICATION}}
    graph: list[Entity] = [
        top,
        root,
        *files,
        raw,
        *([judgements] if tables else []),
        software,
        *([person] if author.name else []),
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


def croissant(of: Finished, parts: Iterable[Part], *, texts: bool) -> bytes:
    """The content of `croissant.json`, of the judgements in a bundle: its files, and of each table its columns.

    texts : they are with these, not stand-ins.
    """
    (study, data), author = _facts(of), of.study.heds.completed_by
    tables = [part for part in parts if part.path.startswith(f"{FOLDER}/") and part.path.endswith(".csv")]
    tree: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        **study,
        **data,
        "conformsTo": _CONFORMS,
        "version": f"{__version__}+{of.date.replace('-', '')}",
        "citeAs": of.study.citation,
        "creator": {"@type": "sc:Person", "name": author.name} if author.name else {},
        "distribution": [_file(part) for part in tables],
        "recordSet": [_table(part, texts) for part in tables],
    }
    if author.name and author.affiliation:
        tree["creator"]["affiliation"] = {"@type": "sc:Organization", "name": author.affiliation}
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
