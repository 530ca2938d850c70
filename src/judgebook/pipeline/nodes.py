"""The nodes of one study: what each depends on, what it writes, what it runs, and how long it will take."""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from judgebook import plugins, project
from judgebook.pipeline import dag, worker
from judgebook.pipeline.cache import Cache, digest
from judgebook.pipeline.closure import closure, package_data
from judgebook.pipeline.dag import ALWAYS, Facts, facts
from judgebook.pipeline.manifest import Manifest, environment
from judgebook.sources import places
from judgebook.sources.ids import recorded
from judgebook.sources.instead import embedded, shared
from judgebook.study import params, store
from judgebook.study.params import Study
from judgebook.study.questions import Question

#: judgements of a study whose data have not been read yet
USUAL = 50_000
#: seconds from which a run says beforehand how long a notebook will take
LONG = 60.0


def estimated(question: Question, profile: dict[str, Any]) -> float:
    """CPU seconds that a notebook takes with data of this size, as `profile.json` gives it; before the data have been
    read, with `USUAL` judgements. Good to about a factor of two."""
    return sum(c * x for c, x in zip(question.seconds, sizes(question, profile), strict=True))


def sizes(question: Question, profile: dict[str, Any]) -> tuple[float, float, float]:
    """What `Question.seconds` is multiplied by: 1, 10⁵ judgements, 1,000 pairs of systems × labels."""
    systems, labels = len(profile.get("systems", [])), len(profile.get("labels", []))
    share = min(1.0, question.most_labels / labels) if question.most_labels and labels else 1.0
    judgements = share * profile.get("n_annotations", USUAL)
    return 1.0, judgements / 1e5, systems * (systems - 1) / 2 * labels / 1e3


def shown(seconds: float) -> str:
    """A duration as one says it: `40 s`, `3 min`, `1.5 h`."""
    if seconds < 90:
        return f"{max(10, round(seconds, -1)):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


#: parts of the YAML that do not affect reading the data
_NOT_DATA = {
    "title",
    "description",
    "licence",
    "citation",
    "bibtex",
    "authors",
    "report_url",
    "open_questions",
    "assumed",
    "gate",
    "margin",
    "extra",
    "heds",
    "simulated",
    "bootstrap",
    "seeds",
    "figures",
    "elicitation",
    "planning",
}
#: nodes that are neither notebooks nor pages of notebooks or extras
_OTHERS = ("annotations", "index", "search")
Parts = dict[str, str | None]
#: where what the analyses gave may be kept, by module: questions, and packages that add to this one
KEPT = ("judgebook.questions.", *(f"{name}." for name, path in project.packages().items() if path != project.PACKAGE))


@dataclass(frozen=True)
class Node:
    """after : nodes of the study that come first. soft : runs even if they failed. parts : what the outcome depends on,
    by name. skip : why the node is left out, or None. work, argument : a function of `worker` or `pages` and what gives
    its argument. seconds : approximate run time. recorded : whether it is up to date until something changes; else it
    runs each time, and no run knows of its outputs. first : it and what it needs go before all others. listed :
    `outputs` says what it writes, not what is there: a link to an unchanged file is not outdated."""

    study: str
    name: str
    after: tuple[str, ...]
    parts: Callable[[], Parts]
    outputs: Callable[[], list[Path]]
    work: Callable[[Any], worker.Outcome]
    argument: Callable[[], Any]
    skip: Callable[[], str | None] = lambda: None
    soft: bool = False
    quiet: bool = False
    seconds: float = 1.0
    recorded: bool = True
    first: bool = False
    listed: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return self.study, self.name


class StudyNodes:
    """Makes the nodes of a study. Raises NotebookError where a question and its notebook disagree."""

    def __init__(self, spec: worker.Spec, study: Study, entries: dict[str, Question], cache: Cache, folder: Path):
        self.spec, self.study, self.entries, self.cache, self.folder = spec, study, entries, cache, folder
        self.key, self.home = study.key, store.processed(study.key)
        self.manifest = Manifest(study.key)
        self.work = self.home / ".work"
        self.knobs = {name: dag.knobs(name, entry, study, cache, folder) for name, entry in entries.items()}

    def facts(self, name: str) -> Facts:
        return facts(dag.file(name, self.folder), self.cache)

    def executed(self, name: str) -> Path:
        return self.home / "notebooks" / f"{name}.ipynb"

    def data(self) -> list[Node]:
        """Making raw files, where an extra does, and building the annotations."""
        if self.study.across:
            return []
        nodes = [node for extra in plugins.here().values() for node in extra.raw(self)]
        frames = Node(
            self.key,
            "annotations",
            tuple(n.name for n in nodes),
            self._annotation_parts,
            lambda: [*self.home.glob("*.parquet"), self.home / "profile.json", self.home / recorded.SECTIONS],
            worker.frames,
            lambda: self.spec,
        )
        return [*nodes, frames]

    def notebooks(self, selected: list[str]) -> list[Node]:
        return [self._notebook(name) for name in dag.in_turn(selected, self.entries) if name in selected]

    def _notebook(self, name: str) -> Node:
        entry = self.entries[name]
        return Node(
            self.key,
            name,
            ("annotations", *entry.needs),
            lambda: self.parts(name),
            lambda: self.outputs(name),
            worker.notebook,
            lambda: self.job(name),
            lambda: self.missing(name),
            seconds=self.manifest.seconds(name) or estimated(entry, self.profile()),
        )

    def parameters(self, name: str) -> dict[str, Any]:
        """What the parameters cell of a notebook sets, as the YAML changes it; `run_id` is not among it."""
        defaults = {k.name: ast.literal_eval(k.default) for k in self.facts(name).knobs if k.name not in ALWAYS}
        return {"study": self.key, **defaults, **self.knobs[name]}

    def job(self, name: str) -> worker.NotebookJob:
        values = {"study": self.key, "run_id": digest(self.parts(name)), **self.knobs[name]}
        done, failed = self.executed(name), self.executed(f"{name}.failed")
        allowed = tuple(closure(self.facts(name).imports, self.cache))
        with self.cache.moment():
            code = {module: digest(self.code(module)) for module in allowed if module.startswith(KEPT)}
        return worker.NotebookJob(name, dag.file(name, self.folder), values, allowed, done, failed, self.work, code)

    def yaml(self, *sections: str) -> Parts:
        return {f"{s} (YAML)": digest(dag.value(self.study, s)) for s in sections}

    def code(self, *modules: str) -> Parts:
        sources = closure(modules, self.cache)
        return {**sources, "package data": package_data(self.cache, modules=sources), "packages": environment()}

    def raw(self) -> Parts:
        """Digests of the files that the data are read from."""
        raw: Parts = {}
        folder = self.study.path.parent if self.study.path else None
        by_person = recorded.files_of_people(self.study)
        hidden: Parts = {}
        for name in recorded.raw_names(self.study):
            path = places.find(name, self.key, folder)
            (hidden if name in by_person else raw)[f"raw file {name}"] = self.cache.file(path) if path else None
        if hidden:
            raw["raw files of annotators"] = digest(hidden)
        instead = {"embedded": embedded.files, "shared": shared.files}
        return raw | {f"{k} {path.name}": self.cache.file(path) for k, of in instead.items() for path in of(self.study)}

    def _annotation_parts(self) -> Parts:
        raw = self.raw()
        sections = sorted(set(Study.model_fields) - _NOT_DATA)
        return raw | self.yaml(*sections) | self.code("judgebook.sources.build")

    def namesake(self) -> str:
        """Why this study must not be run here: another YAML of its name, which is still there, has left results of
        other data. Empty where none has."""
        other, path = self.manifest.yaml(), self.study.path
        if other is None or path is None or other.samefile(path):
            return ""
        before = self.manifest.nodes.get("annotations", {}).get("parts", {})
        if _of_data(before) == _of_data(self._annotation_parts()):
            return ""
        here, there = store.relative(path), store.relative(other)
        return (
            f"{here}: {store.relative(self.home)} has results of another study called {self.key!r}: those of {there},"
            " with other data. One report would have answers of both: rename one of the files, or write elsewhere with"
            " --out DIR"
        )

    def parts(self, name: str) -> Parts:
        """What the outcome of a notebook depends on."""
        entry, about = self.entries[name], self.facts(name)
        parts: Parts = {"notebook": about.source}
        sections = [*dag.COMMON, *entry.own_sections, *entry.knobs.values()]
        if entry.own:  # whatever it takes from the YAML
            sections = sorted({*Study.model_fields} - {"extra"})
        parts |= self.yaml(*sections)
        extra = recorded.extra(self.study, self.home) if entry.extra else {}
        parts |= {f"extra.{key} (YAML)": digest(extra.get(key)) for key in entry.extra}
        # as the notebook reads them, without ids: a study that is loaded from what a run recorded has nothing else
        parts |= {f"{s} (YAML)": digest(value) for s, value in recorded.kept(self.home).items() if s in sections}
        parts |= {f"knob {knob}": path for knob, path in entry.knobs.items()}
        for read in entry.reads:
            parts |= self._read(entry, read)
        for needed in entry.needs:
            results = sorted((self.home / "results").glob(f"{needed}.*parquet"))
            parts[f"results of {needed}"] = digest({p.name: self.cache.file(p) for p in results})
        for study, notebook in resolve_name(entry.results_of)() if entry.results_of else ():
            path = store.processed(study) / "results" / f"{notebook}.parquet"
            parts[f"results of {study}/{notebook}"] = self.cache.file(path)
        return parts | self.code(*about.imports)

    def outdated(self, name: str) -> str:
        """What has changed since a notebook ran; empty where nothing has, or where it did not run."""
        if name not in self.manifest.nodes:
            return ""
        return self.manifest.why(name, self.parts(name), self.cache)

    def _read(self, entry: Question, read: str) -> Parts:
        """Digests of what a notebook reads: a frame, or files of the project or of somebody's own."""
        if entry.own and "/" in read:
            return {read: self.cache.file(project.folder() / read)}
        paths = sorted(params.ROOT.glob(read)) if "/" in read else [self.home / f"{read}.parquet"]
        return {path.name: self.cache.file(path) for path in paths}

    def profile(self) -> dict[str, Any]:
        try:
            stored = json.loads((self.home / "profile.json").read_text(encoding="utf-8"))
            return stored if isinstance(stored["features"], dict) else {"features": {}}
        except (OSError, ValueError, KeyError, TypeError):  # not there yet, or altered: then it is made anew
            return {"features": {}}

    def unknown_unit(self) -> str:
        """What is wrong with the unit of resampling that the YAML names; empty where nothing is."""
        return unknown_unit(self.study, self.profile())

    def missing(self, name: str) -> str | None:
        """Why the study cannot have this notebook, or None; None until its data have been read."""
        features = self.profile()["features"]
        return missing(self.entries[name], features, self.study) if features else None

    def outputs(self, name: str) -> list[Path]:
        """Files that belong to a notebook: executed notebook, results, figures, tables."""
        root = store.out_root()
        paths = [self.executed(name), *(self.home / "results").glob(f"{name}.*")]
        for folder in (root / "figures" / self.key, root / "tables" / self.key):
            paths += folder.glob(f"{name}_*")
        return [p for p in paths if p.is_file()]

    def retire(self, name: str) -> None:
        """Forget a node, and remove what it once wrote."""
        for path in {*self.manifest.outputs(name), *(self.outputs(name) if name in self.entries else [])}:
            if not path.is_dir():
                path.unlink(missing_ok=True)
        shutil.rmtree(store.kept(self.key, name), ignore_errors=True)
        self.manifest.drop(name)

    def retire_strangers(self) -> None:
        """Remove outputs of notebooks that no question declares any more, and of pages of extras that were removed."""
        wanted = {*_OTHERS, *(node.name for node in self.data()), *(page.name for page in plugins.pages(self.study))}
        for name in list(self.manifest.nodes):
            notebook = name.removeprefix("page ")
            if notebook not in self.entries and name not in wanted:
                self.retire(name)

    def clear_scratch(self) -> None:
        """Remove unfinished files of a run that was stopped. To be called while the study is locked."""
        shutil.rmtree(self.work, ignore_errors=True)
        store.sweep(*store.folders(self.key), store.raw(self.key))

    def write_params(self) -> None:
        """Record the merged parameters, which the notebooks of this run read."""
        text = recorded.text(self.study, self.home)
        path = self.home / "params.yaml"
        if not path.is_file() or path.read_bytes() != text.encode():
            with store.atomic(path) as temporary:
                temporary.write_bytes(text.encode())


def _of_data(parts: Parts) -> Parts:
    """Of what annotations were built from, the data."""
    return {
        name: part for name, part in parts.items() if name.startswith(("raw file", "embedded ", "shared ", "simulate "))
    }


def unknown_unit(study: Study, profile: dict[str, Any]) -> str:
    """What is wrong with `bootstrap.unit`, given the profile of the data; empty where nothing is."""
    unit, units = study.bootstrap.unit, profile.get("units")
    if unit is None or units is None or unit in units:
        return ""
    return f"bootstrap.unit: {unit!r} is not known for every judgement; expected one of {', '.join(units)}"


def missing(entry: Question, features: dict[str, str | None], study: Study) -> str | None:
    """Why a study with these features (see `annotations.features`) cannot have the notebook, or None.

    Raises NotebookError for an unknown feature.
    """
    unknown = [r for r in entry.requires if r not in features]
    if unknown:
        raise dag.NotebookError(f"{entry.notebook}: requires {unknown[0]!r}; there are {', '.join(features)}")
    without = [f"The YAML has no `extra: {{{key}: …}}`." for key in entry.extra if key not in study.extra]
    return " ".join([*(why for r in entry.requires if (why := features[r]) is not None), *without]) or None


def data_missing(study: Study, *, texts: bool = False) -> list[str]:
    """Raw files that are missing; a simulated study generates its own, and embedded judgements stand in for some.

    texts : not where these lack texts that the files have.
    """
    if study.simulate is not None:
        return []
    return embedded.missing(study, texts=texts)
