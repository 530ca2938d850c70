"""The two sides of a comparison: stored runs of studies, or a corpus of one, the settings in which they differ, and
whether their judgements are those of the same people."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from judgebook import project
from judgebook.annotations.summary import evaluated
from judgebook.display.names import display_names
from judgebook.errors import JudgebookError
from judgebook.study import params, store

#: columns of judgements that say what was judged and how; the others are names given while reading
_CONTENT = ["corpus", "group", "annotator", "system", "dialogue", "turn", "dialogue_b", "system_b", "method", "label"]
_CONTENT += ["score"]
#: settings that say nothing about how the study was made
_WORDS = {"title", "description", "citation", "licence"}
#: judgements from which somebody is recognised: fewer may well be the same by chance
LEAST = 5


class ComparisonError(JudgebookError, ValueError):
    """What was asked for cannot be compared; the message says why and what there is."""


@dataclass(frozen=True)
class Side:
    """spec : as given on the command line. folder : where its frames lie. corpora : None for all of the study.

    scores : judgements of the evaluation itself, without pilots.
    """

    spec: str
    study: params.Study
    folder: Path
    corpora: tuple[str, ...] | None
    scores: pd.DataFrame
    title: str

    @property
    def slug(self) -> str:
        """Its part of a folder's name."""
        return "".join(c if c.isalnum() or c in "-_" else "_" for c in self.spec).strip("_")

    @property
    def manifest(self) -> dict[str, Any]:
        path = self.folder / "manifest.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def open_side(spec: str) -> Side:
    """A side as it is given: STUDY, FOLDER or FOLDER/STUDY, each with :CORPUS where only one corpus is meant.

    FOLDER is an output folder of an earlier run (`--out`), or a study's folder in its `data/processed`.

    Raises ComparisonError for a study that was not run, or a corpus it does not have; ParamsError for an unknown study.
    """
    where, colon, corpus = spec.rpartition(":") if ":" in spec else (spec, "", "")
    return of_folder(_folder(where), spec, corpus if colon else None)


def of_folder(folder: Path, spec: str, corpus: str | None = None) -> Side:
    """The side whose frames lie in `folder`; raises what `open_side` does."""
    study = params.load(folder / "params.yaml", key=folder.name)
    if not (folder / "annotations.parquet").is_file():
        raise ComparisonError(f"{spec}: {folder} holds no judgements; a study of other studies cannot be compared")
    scores = pd.read_parquet(folder / "annotations.parquet")
    corpora = list(dict.fromkeys(scores["corpus"]))
    if corpus is not None:
        if corpus not in corpora:
            near = difflib.get_close_matches(corpus, corpora, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(corpora)}"
            raise ComparisonError(f"{spec}: no corpus {corpus!r} in {study.key}; {hint}")
        scores = scores[scores["corpus"] == corpus]
        title = display_names(study, scores).name("corpus", corpus)
        return Side(spec, study, folder, (corpus,), scores.reset_index(drop=True), title)
    scores = evaluated(scores)
    return Side(spec, study, folder, None, scores.reset_index(drop=True), study.title)


def _folder(where: str) -> Path:
    """The folder with the frames of a study, from its name or a path."""
    path = Path(where)
    if os.sep in where or (path.is_dir() and not (store.processed(where) / "params.yaml").is_file()):
        if not path.exists() and (path.parent / "data" / "processed" / path.name / "params.yaml").is_file():
            path = path.parent / "data" / "processed" / path.name
        return results_in(path)
    folder = store.processed(where)
    if not (folder / "params.yaml").is_file():
        params.find(where)  # a misspelt name is reported first
        raise ComparisonError(f"{where} was not run: `{project.command()} --study {where}`")
    return folder


def results_in(path: Path) -> Path:
    """The folder with the frames of the one study whose results are in `path`. Raises ComparisonError."""
    if (path / "params.yaml").is_file():
        return path.resolve()
    inside = sorted(p.parent for p in path.glob("data/processed/*/annotations.parquet"))
    if len(inside) == 1:
        return inside[0].resolve()
    if not inside:
        raise ComparisonError(f"{path}: no results of a study; expected an output folder, or FOLDER/STUDY")
    names = ", ".join(p.name for p in inside)
    raise ComparisonError(f"{path}: results of several studies; name one: {path / inside[0].name} (there are {names})")


def titled(a: Side, b: Side, titles: Sequence[str] | None) -> tuple[Side, Side]:
    """Both sides with the titles that were asked for, if any."""
    one, two = titles or (a.title, b.title)
    return replace(a, title=one), replace(b, title=two)


def named_apart(a: Side, b: Side) -> tuple[Side, Side]:
    """Both sides with titles that differ: of corpora within a study, of studies, else what was given."""
    if a.title != b.title:
        return a, b
    if a.spec != b.spec:
        return replace(a, title=a.spec), replace(b, title=b.spec)
    return replace(a, title="First"), replace(b, title="Second")


def renamed(side: Side, names: Mapping[str, str]) -> Side:
    """The side with systems and labels called as `names` says (old id -> new id).

    Raises ComparisonError for an old id that is neither.
    """
    present = {*side.scores["system"], *side.scores["system_b"].dropna(), *side.scores["label"]}
    unknown = sorted(set(names) - present)
    if unknown:
        raise ComparisonError(
            f"--map: {unknown[0]!r} is no system or label of {side.spec}; there are {', '.join(sorted(present))}"
        )
    columns = {c: side.scores[c].replace(dict(names)) for c in ("system", "system_b", "label")}
    return replace(side, scores=side.scores.assign(**columns))


def data_hash(side: Side, *, corpus: bool = True) -> str:
    """Twelve digits that are equal for equal judgements, in whatever order. corpus : whether its name counts."""
    columns = [c for c in _CONTENT if corpus or c != "corpus"]
    rows = pd.util.hash_pandas_object(side.scores[columns].astype(str), index=False).sort_values().to_numpy()
    return hashlib.sha256(rows.tobytes()).hexdigest()[:12]


def settings(a: Side, b: Side) -> pd.DataFrame:
    """What differs between the sides: a row per setting with what, a, b; empty where nothing does."""
    rows = [*_differing(_about(a), _about(b))]
    if a.folder != b.folder:
        rows += _differing(_yaml(a), _yaml(b))
        rows += _differing(_versions(a), _versions(b))
    return pd.DataFrame(rows, columns=["what", "a", "b"])


def _differing(a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for key in dict.fromkeys([*a, *b]):
        if a.get(key) != b.get(key):
            yield key, a.get(key, "–"), b.get(key, "–")


def _about(side: Side) -> dict[str, str]:
    """What was collected."""
    s = side.scores
    dialogues = pd.concat([s["dialogue"], s["dialogue_b"].dropna()]).nunique()
    people = s.loc[(s["annotator_kind"] == "human") & s["annotator_known"].astype(bool), "annotator"].nunique()
    out = {"Judgements": f"{len(s):,}", "Dialogues": f"{dialogues:,}"}
    out |= {"People": f"{people:,}"} if people else {}
    when = s["completed_at"].dropna()
    out |= {"Completed": f"{when.min():%Y-%m-%d} to {when.max():%Y-%m-%d}"} if len(when) else {}
    return out | {"Data (hash)": data_hash(side, corpus=side.corpora is None)}


def _yaml(side: Side) -> dict[str, str]:
    tree = side.study.model_dump(mode="json", exclude_defaults=False, exclude=_WORDS)
    return {f"YAML: {key}": value for key, value in _leaves(tree)}


def _leaves(tree: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(tree, dict) and tree:
        for key, value in tree.items():
            yield from _leaves(value, f"{path}.{key}" if path else str(key))
    else:
        yield path, json.dumps(tree, ensure_ascii=False) if not isinstance(tree, str) else tree


def _versions(side: Side) -> dict[str, str]:
    manifest = side.manifest
    out = {"Version of this project": manifest.get("commit"), "Python": manifest.get("python")}
    out |= {f"Package: {name}": version for name, version in manifest.get("packages", {}).items()}
    return {key: str(value) for key, value in out.items() if value}


@dataclass(frozen=True)
class Copies:
    """People who judged the same and gave the same scores in both runs, and their judgements; of : judgements of the
    run that has fewer."""

    people: int
    judgements: int
    of: int

    @property
    def most(self) -> bool:
        """Whether they gave at least half of the judgements of a run."""
        return self.judgements > 0 and 2 * self.judgements >= self.of


def copies(rows: pd.DataFrame) -> Copies:
    """Whose judgements are in both runs, whatever their ids.

    Parameters
    ----------
    rows : corpus (the run), person, known, item (led by its run), pair (its comparison has two rows), system, label,
        score.

    Notes
    -----
    Somebody is recognised by everything they judged and how, where nobody else of either run did just the same: where
    all agree on the same items, the same scores are no sign of the same people.
    """
    rows = rows.assign(item=rows["item"].str.partition(" ")[2], weight=1 - rows["pair"] / 2)
    of = rows.groupby("corpus")["weight"].sum().min()
    each = pd.util.hash_pandas_object(rows[["item", "system", "label", "score"]].astype(str), index=False)
    by_person = rows.assign(mark=each.to_numpy())[rows["known"]].groupby(["corpus", "person"])
    people = by_person.agg(mark=("mark", "sum"), judgements=("weight", "sum")).reset_index()
    people = people.drop_duplicates(["corpus", "mark"], keep=False)
    both = people[people.duplicated("mark") & (people["judgements"] >= LEAST)]
    return Copies(len(both), int(both["judgements"].sum()), int(of))
