"""The statistics of one public study: its data are read and its analyses carried out as for a report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd

from compendium.atlas import direct, facts, tables, values
from compendium.atlas.declared import About, AtlasError
from judgebook import __version__
from judgebook.pipeline import dag
from judgebook.pipeline.audit import computing
from judgebook.sources import build, joining, places, registry
from judgebook.study import params, results, store
from judgebook.study.params import Study
from judgebook.study.results import Results
from judgebook.summary import evidence

#: notebooks of whose results those are needed that their cells compute
AS_PUBLISHED = ("02_collection_stats", "05_sensitivity")


@dataclass(frozen=True)
class Rows:
    """Rows of one study, with the columns of the tables of the same names."""

    studies: pd.DataFrame
    labels: pd.DataFrame
    values: pd.DataFrame


def rows(name: str, about: About) -> Rows:
    """Compute the rows of a study, in a temporary folder. name : of the study, or path of its YAML.

    Raises AtlasError where an analysis fails, DataError where the data cannot be read.
    """
    with computing.output_below(None):
        path = params.find(name)
        nodes, notebooks = computing.analysed(path, [], lambda line: None, notebooks=tables.notebooks())
        failed = [f"{row.name}: {row.reason}" for row in notebooks if row.state == "failed"]
        if failed:
            raise AtlasError(f"{name}: an analysis failed\n" + "\n".join(failed))
        reasons = {row.name: row.reason for row in notebooks if row.state != computing.COMPUTED}
        for notebook in {*AS_PUBLISHED} - {*reasons}:
            _run_cells(notebook, nodes.parameters(notebook) | {"run_id": computing.RUN_ID})
        key = nodes.study.key
        read = evidence.read(key, reasons, computed=False)
        study = facts.study_row(read, about) | provenance(nodes.study, path)
        labels = facts.label_rows(read, about)
        stored, tests = {**_stored(key, reasons), **direct.computed(read)}, direct.tests(read)
        found = values.rows(stored, evidence.parts(read), about.runs, tests)
        return Rows(pd.DataFrame([study]), labels, values.complete(found, labels, reasons))


def _run_cells(notebook: str, parameters: Mapping[str, Any]) -> None:
    """Compute and store what was published, as the cells of a notebook do; nothing is shown."""
    cells = json.loads(dag.file(notebook).read_text(encoding="utf-8"))["cells"]
    first, opening, *rest = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    exec(first, names)
    names |= parameters
    exec(opening, names)
    names["show"] = lambda *views: None
    for cell in rest:
        if not cell.startswith("show(page."):
            exec(cell, names)
    plt.close("all")


def _stored(study: str, reasons: Mapping[str, str]) -> Mapping[str, Results]:
    home = store.processed(study) / "results"
    paths = {notebook: home / f"{notebook}.parquet" for notebook in tables.notebooks()}
    return {n: results.read(p) if n not in reasons and p.is_file() else Results() for n, p in paths.items()}


def provenance(study: Study, path: Path) -> dict[str, str]:
    """Where the data come from and what was read, without anything of this machine."""
    digests = sorted(hashlib.sha256(file.read_bytes()).hexdigest() for file in build.files(study))
    sources = joining.present(study)
    names = [name for source in sources for name in places.names(source, study.key, path.parent)]
    entries = [entry for name in names if (entry := registry.entry_of(study.key, name))]
    commits = dict.fromkeys((source.repository, source.commit) for entry in entries for source in entry.upstream)
    return {
        "licence": study.licence,
        "repository": " ".join(repository for repository, _ in commits),
        "commit": " ".join(commit for _, commit in commits),
        "raw_sha256": hashlib.sha256("\n".join(digests).encode()).hexdigest(),
        "yaml_sha256": hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest(),
        "version": __version__,
    }
