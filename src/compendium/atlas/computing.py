"""The statistics of one public study: its data are read and its analyses carried out as for a report. What notebooks 14
and 16 compute of one group of annotators is computed for each.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd

from compendium.atlas import declared, tables
from compendium.atlas.declared import About, AtlasError
from judgebook import __version__
from judgebook.annotations.cells import adjust_rows
from judgebook.annotations.picks import picks
from judgebook.annotations.summary import in_sessions, with_means
from judgebook.pipeline import dag
from judgebook.pipeline.audit import computing
from judgebook.questions.fragility import analysis as fragility
from judgebook.questions.fragility.differences import differences
from judgebook.questions.planning import analysis as planning
from judgebook.questions.planning.pilot_study import pilots
from judgebook.questions.sensitivity.analysis import groups
from judgebook.sources import build, joining, places, registry
from judgebook.study import params, results, store
from judgebook.study.params import Study
from judgebook.study.results import Results, collect, where
from judgebook.study.schema import CELL
from judgebook.summary import evidence
from judgebook.summary.evidence import Evidence

_TESTED = ["estimate", "p_value", "p_adjusted"]


def computed(evidence: Evidence) -> dict[str, Results]:
    """Notebook -> results: `pilot_variance` of every corpus and group, and what each conclusion depends on."""
    return {"14_planning": collect(_pilots(evidence)), "16_fragility": _fragility(evidence)}


def pair_tests(evidence: Evidence) -> dict[str, pd.DataFrame]:
    """Differences of all pairs of systems without a model, with t tests, p adjusted by Holm within the label: over
    `dialogues` or sessions, of the one judgement of each item that the published tests have; and over `annotators`,
    too, of all judgements, of labels whose annotators are known."""
    study, out = evidence.study, {"dialogues": [pd.DataFrame()], "annotators": [pd.DataFrame()]}
    systems, people = _systems(evidence), with_means(evidence.counted, study.label_list())
    people = people[(people["annotator_kind"] == "human") & people["system"].isin(systems)]
    for one in groups(people, systems):
        every = in_sessions(where(people, corpus=one.corpus, group=one.group))[0]
        picked = next(picks(every, 1, study.seeds.pick))
        for method, kept in one.systems.items():
            alone = differences(picked, method, kept, people=False)
            both = differences(every, method, kept)
            both = both[both["resample_unit"].str.endswith("annotator")]
            for over, rows in (("dialogues", alone), ("annotators", both)):
                adjusted = adjust_rows(rows, ["label"], "systems of one label")
                out[over].append(adjusted.assign(corpus=one.corpus, group=one.group))
    keys = [*CELL, "system", "system_b"]  # texts also where there is no row
    tables = {over: pd.concat(frames).reindex(columns=[*keys, *_TESTED]) for over, frames in out.items()}
    return {over: table.astype(dict.fromkeys(keys, "str")) for over, table in tables.items()}


def _systems(evidence: Evidence) -> list[str]:
    return evidence.names.systems(without=[evidence.study.control_system, *evidence.study.unranked_systems])


def _pilots(evidence: Evidence) -> Iterator[dict[str, Any]]:
    study = evidence.study
    people = evidence.counted[evidence.counted["annotator_kind"] == "human"]
    for (corpus, group), judged in people.groupby(["corpus", "group"], sort=False):
        about = (in_sessions(judged)[0], study.label_list(), _systems(evidence))
        for pilot in pilots(*about, declared=study.inference.annotators):
            head = {"corpus": corpus, "group": group, "method": pilot.method, "label": pilot.label}
            yield from (head | row for row in planning.pilot_variances(pilot))


def _fragility(evidence: Evidence) -> Results:
    study = evidence.study
    out = []
    for _, judged in evidence.people.groupby("group", sort=False):
        parts = fragility.parts(
            judged, study.label_list(), systems=_systems(evidence), control=study.control_system,
            options=study.quality_control, pick_seed=study.seeds.pick,
        )  # fmt: skip
        out.append(fragility.analyse(list(parts), study.fragility))
    return collect(*out)


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
        nodes, notebooks = computing.analysed(path, [], lambda line: None, notebooks=declared.notebooks())
        failed = [f"{row.name}: {row.reason}" for row in notebooks if row.state == "failed"]
        if failed:
            raise AtlasError(f"{name}: an analysis failed\n" + "\n".join(failed))
        reasons = {row.name: row.reason for row in notebooks if row.state != computing.COMPUTED}
        for notebook in {*AS_PUBLISHED} - {*reasons}:
            _run_cells(notebook, nodes.parameters(notebook) | {"run_id": computing.RUN_ID})
        key = nodes.study.key
        read = evidence.read(key, reasons, computed=False)
        study = tables.study_row(read, about) | provenance(nodes.study, path)
        labels = tables.label_rows(read, about)
        stored, tests = {**_stored(key, reasons), **computed(read)}, pair_tests(read)
        found = tables.value_rows(stored, evidence.parts(read), about.runs, tests)
        return Rows(pd.DataFrame([study]), labels, tables.complete(found, labels, reasons))


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
    paths = {notebook: home / f"{notebook}.parquet" for notebook in declared.notebooks()}
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
