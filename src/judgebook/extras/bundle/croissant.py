"""The data of a bundle in the words of Croissant 1.1: its files, and of each table its columns.

References
----------
Akhtar et al. (2024), Croissant: a metadata format for ML-ready datasets, NeurIPS Datasets and Benchmarks.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable
from typing import Any

from judgebook import __version__
from judgebook.extras.bundle.described import Described
from judgebook.extras.bundle.parts import Part, json_bytes
from judgebook.sources.ids.naming import TEXTS
from judgebook.sources.instead import shared
from judgebook.sources.instead.shared import FOLDER
from judgebook.study import schema

CROISSANT = "croissant.json"
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


def metadata(about: Described, parts: Iterable[Part], *, texts: bool) -> bytes:
    """The content of `croissant.json`, of the judgements in a bundle. texts : they are with these, not stand-ins."""
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
