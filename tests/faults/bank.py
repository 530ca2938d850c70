"""Studies with one planted fault each, and their clean twins: the files and YAMLs that a user would have.

A `Design` says what was judged and by how many; `clean` draws a study of it from a seed, and `planted` the same study
with a fault. Faults have the codes of the design check. Nothing else is wrong with these studies: systems differ a
little, annotators differ a little in severity, and loads and numbers of dialogues differ moderately where a design is
not balanced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

SYSTEMS = ("atlas", "birch", "cedar", "dune")
NAMES = ("Ada", "Ben", "Cleo", "Dana", "Emil", "Fay", "Gus", "Hana", "Ivo", "Jana", "Karl", "Lea", "Mina", "Nils")
#: on the scale of what is judged: a latent standard deviation of dialogues is 1
QUALITY, SEVERITY, NOISE = (0.0, 0.2, 0.4, 0.6), 0.25, 0.7


@dataclass(frozen=True)
class Design:
    """kind: ratings, marks (per turn), comparisons (all pairs, several annotators) or votes (one annotator each)."""

    kind: str
    n_annotators: int
    balanced: bool

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.n_annotators}-{'balanced' if self.balanced else 'unbalanced'}"

    @property
    def paired(self) -> bool:
        return self.kind in ("comparisons", "votes")


DESIGNS = tuple(
    Design(kind, n, balanced)
    for kind in ("ratings", "marks", "comparisons", "votes")
    for n, balanced in (((7, True), (24, False)) if kind != "votes" else ((8, True), (40, False)))
)


@dataclass
class Case:
    """A data file and the YAML that describes it. fault: its code; '' for a clean study."""

    design: Design
    data: pd.DataFrame
    study: dict[str, Any]
    fault: str = ""
    rng: np.random.Generator = field(default_factory=np.random.default_rng, repr=False)

    @property
    def source(self) -> dict[str, Any]:
        return self.study["sources"][0]

    @property
    def labels(self) -> list[str]:
        return list(self.study["labels"])

    def write(self, folder: Path) -> Path:
        """Write the file and the YAML into a folder; returns the path of the YAML."""
        self.data.to_csv(folder / "data.csv", index=False)
        path = folder / f"{self.design.name}_{self.fault or 'clean'}.yaml".replace("-", "_")
        path.write_text(yaml.safe_dump(self.study, sort_keys=False), encoding="utf-8")
        return path


def clean(design: Design, seed: int) -> Case:
    """A study without a fault."""
    rng = np.random.default_rng([seed, DESIGNS.index(design)])
    make = _pairs if design.paired else _scores
    data, study = make(design, rng)
    return Case(design, data, {"title": f"Study of {design.kind}"} | study, rng=rng)


def planted(fault: str, design: Design, seed: int) -> Case:
    """The clean study of the seed with a fault."""
    case = clean(design, seed)
    FAULTS[fault].plant(case)
    case.fault = fault
    return case


def _people(design: Design, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Names of annotators, and the shares of the work that they do."""
    names = np.array([f"{NAMES[i % len(NAMES)]}{i // len(NAMES) or ''}" for i in range(design.n_annotators)])
    load = np.ones(len(names)) if design.balanced else rng.uniform(0.6, 1.6, len(names))
    return names, load / load.sum()


def _seconds(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.round(np.exp(rng.normal(np.log(40), 0.35, n)), 1)


def _when(n: int) -> pd.Series:
    return pd.Series(pd.date_range("2026-03-02 09:00", periods=n, freq="7min")).dt.strftime("%Y-%m-%d %H:%M:%S")


def _scores(design: Design, rng: np.random.Generator) -> tuple[pd.DataFrame, dict]:
    """One row per dialogue (marks: turn) and annotator; each dialogue is judged by three."""
    names, load = _people(design, rng)
    severity = rng.normal(0, SEVERITY, len(names))
    rows = []
    for s, system in enumerate(SYSTEMS):
        n = 40 if design.balanced else int(rng.integers(32, 48))
        for prompt in rng.permutation(48)[:n]:
            value = rng.normal(QUALITY[s], 1)
            for a in rng.choice(len(names), 3, replace=False, p=load):
                for turn in range(6 if design.kind == "marks" else 1):
                    at = value + severity[a] + rng.normal(0, NOISE, 2)
                    rows.append((f"{system[0]}{prompt:02}", f"p{prompt:02}", system, names[a], turn, *at))
    data = pd.DataFrame(rows, columns=["dialogue", "prompt", "system", "rater", "turn", "one", "two"])
    # dialogues are judged in random order, those of a dialogue one after the other
    order = dict(zip(data["dialogue"].unique(), rng.permutation(data["dialogue"].nunique()), strict=True))
    data = data.sort_values("dialogue", key=lambda c: c.map(order), kind="stable", ignore_index=True)
    if design.kind == "marks":
        marks = {"on_topic": data["one"] > -0.9, "polite": data["two"] > -1.3}
        data = data.drop(columns=["one", "two"]).assign(**{k: v.astype(int) for k, v in marks.items()})
        labels = {k: {"scale": [0, 1], "method": "behavior", "direction": 1} for k in marks}
    else:
        named = {"quality": data["one"], "coherence": data["two"]}
        scores = {k: np.clip(np.rint(3 + x), 1, 5).astype(int) for k, x in named.items()}
        data = data.drop(columns=["one", "two", "turn"]).assign(**scores)
        labels = {k: {"scale": [1, 5], "level": "ordinal", "direction": 1} for k in scores}
    data["seconds"], data["finished"] = _timed(data, rng), _timed_at(data)
    columns = {"dialogue": "dialogue", "context": "prompt", "system": "system", "annotator": "rater"}
    columns |= {"seconds": "seconds", "completed_at": "finished"} | ({"turn": "turn"} if "turn" in data else {})
    source = {"adapter": "table", "file": "data.csv", "layout": "wide", "scores": "{label}", "columns": columns}
    source["identify"] = {"work_unit": ["dialogue", "rater"]}
    return data, {"sources": [source], "labels": labels}


def _timed(data: pd.DataFrame, rng: np.random.Generator) -> pd.Series:
    """Seconds of each dialogue and annotator, in all rows of it."""
    unit = data.groupby(["dialogue", "rater"], sort=False).ngroup()
    return pd.Series(_seconds(rng, unit.max() + 1)[unit], data.index)


def _timed_at(data: pd.DataFrame) -> pd.Series:
    unit = data.groupby(["dialogue", "rater"], sort=False).ngroup()
    return _when(unit.max() + 1)[unit].set_axis(data.index)


def _pairs(design: Design, rng: np.random.Generator) -> tuple[pd.DataFrame, dict]:
    """One row per judgement of two responses to a prompt; -1: the left one is worse."""
    names, load = _people(design, rng)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    rows = []
    if design.kind == "comparisons":
        for i, j in pairs:
            n = 22 if design.balanced else int(rng.integers(18, 27))
            for prompt in rng.permutation(30)[:n]:
                gap = rng.normal(QUALITY[i] - QUALITY[j], 1)
                rows += [(prompt, i, j, a, gap) for a in rng.choice(len(names), 3, replace=False, p=load)]
    else:
        for _ in range(900):
            i, j = pairs[rng.integers(6)]
            gap = rng.normal(QUALITY[i] - QUALITY[j], 1)
            rows.append((rng.integers(240), i, j, rng.choice(len(names), p=load), gap))
    frame = pd.DataFrame(rows, columns=["prompt", "i", "j", "a", "gap"])
    frame = frame.drop_duplicates(["prompt", "i", "j", "a"], ignore_index=True)  # i < j
    value = frame["gap"] + rng.normal(0, NOISE, len(frame))
    item = frame.groupby(["prompt", "i", "j"]).ngroup()
    swap = (rng.random(item.max() + 1) < 0.5)[item]
    left, right = (np.array(SYSTEMS)[np.where(swap, frame[x], frame[y])] for x, y in (("j", "i"), ("i", "j")))
    winner = np.where(np.abs(value) < 0.3, 0, np.sign(value)) * np.where(swap, -1, 1)
    data = pd.DataFrame({"prompt": [f"p{p:03}" for p in frame["prompt"]], "left": left, "right": right,
                         "rater": names[frame["a"]], "winner": winner.astype(int)})  # fmt: skip
    data = data.iloc[rng.permutation(len(data))].reset_index(drop=True)
    data["shown_first"] = np.where(rng.random(len(data)) < 0.5, "left", "right")
    data["seconds"], data["finished"] = _seconds(rng, len(data)), _when(len(data))
    columns = {"context": "prompt", "system": "left", "system_b": "right", "annotator": "rater", "score": "winner"}
    columns |= {"first_shown": "shown_first", "seconds": "seconds", "completed_at": "finished"}
    source = {"adapter": "table", "file": "data.csv", "layout": "long", "columns": columns}
    source["identify"] = {"dialogue": ["prompt", "left"], "dialogue_b": ["prompt", "right"],
                          "work_unit": ["prompt", "left", "right", "rater"]}  # fmt: skip
    source["constants"] = {"label": "better"}
    labels = {"better": {"scale": [-1, 1], "method": "comparative", "direction": 1}}
    return data, {"sources": [source], "labels": labels}


@dataclass(frozen=True)
class Fault:
    plant: Callable[[Case], None]
    kinds: tuple[str, ...]


FAULTS: dict[str, Fault] = {}
SCORES, PAIRS = ("ratings", "marks"), ("comparisons", "votes")
ALL = (*SCORES, *PAIRS)


def fault(code: str, *kinds: str) -> Callable:
    """Registers what plants a fault, and the kinds of design in which it can be planted."""

    def known(plant: Callable[[Case], None]) -> Callable:
        FAULTS[code] = Fault(plant, kinds)
        return plant

    return known


def cases(code: str) -> list[Design]:
    return [d for d in DESIGNS if d.kind in FAULTS[code].kinds]


def _scored(case: Case) -> list[str]:
    return [c for c in case.labels if c in case.data] or ["winner"]


def _involves(case: Case, system: str) -> pd.Series:
    sides = ["left", "right"] if case.design.paired else ["system"]
    return (case.data[sides] == system).any(axis=1)


def _worse(case: Case, system: str) -> pd.Series:
    """Rows in which the system does badly."""
    d = case.data
    if case.design.paired:
        return ((d["left"] == system) & (d["winner"] < 0)) | ((d["right"] == system) & (d["winner"] > 0))
    return (d["system"] == system) & (d[_scored(case)[0]] <= (0 if case.design.kind == "marks" else 2))


def _item(d: pd.DataFrame) -> pd.Series:
    """What was judged in each row; a pair of responses is the same whichever is on the left."""
    if "left" in d:
        return d["prompt"] + d[["left", "right"]].min(axis=1) + d[["left", "right"]].max(axis=1)
    return d["dialogue"] + d["turn"].astype(str) if "turn" in d else d["dialogue"]


def _once(case: Case) -> None:
    """Keep the first judgement of each item by each annotator."""
    again = pd.DataFrame({"item": _item(case.data), "rater": case.data["rater"]}).duplicated()
    _keep(case, ~again)


def _keep(case: Case, rows: pd.Series) -> None:
    case.data = case.data[rows].reset_index(drop=True)


@fault("confounded_annotators", *SCORES)
def _(case: Case) -> None:
    """Two systems were judged by one half of the annotators only, the others by the other half."""
    d = case.data
    people = sorted(d["rater"].unique())
    half = set(people[: len(people) // 2])
    ours = d["system"].isin(SYSTEMS[:2])
    _keep(case, ours == d["rater"].isin(half))


@fault("unequal_n", *ALL)
def _(case: Case) -> None:
    """Of one system there are six dialogues."""
    d = case.data
    if case.design.paired:
        few = d.index[_involves(case, "atlas")]
        _keep(case, ~_involves(case, "atlas") | d.index.isin(case.rng.choice(few, 6, replace=False)))
    else:
        few = case.rng.choice(d.loc[d["system"] == "atlas", "dialogue"].unique(), 6, replace=False)
        _keep(case, (d["system"] != "atlas") | d["dialogue"].isin(few))


@fault("missing_by_system", *ALL)
def _(case: Case) -> None:
    """Three quarters of the bad scores of one system are missing."""
    gone = _worse(case, "birch") & (case.rng.random(len(case.data)) < 0.75)
    case.data = case.data.astype({c: object for c in _scored(case)})
    case.data.loc[gone, _scored(case)] = ""


@fault("annotator_is_session", *SCORES)
def _(case: Case) -> None:
    """Each annotator judged one dialogue, and each dialogue one annotator."""
    case.data["rater"] = "W" + case.data.groupby("dialogue", sort=False).ngroup().astype(str)
    _once(case)


@fault("repeated_rows", *SCORES)
def _(case: Case) -> None:
    """A fifth of one system's dialogues appear again, with the same scores, under other names."""
    d = case.data
    again = d["dialogue"].isin(case.rng.choice(d.loc[d["system"] == "cedar", "dialogue"].unique(), 12, replace=False))
    case.data = pd.concat([d, d[again].assign(dialogue=d["dialogue"] + "x")], ignore_index=True)


@fault("copied_annotator", "ratings", "marks", "comparisons")
def _(case: Case) -> None:
    """One annotator's answers are those of another."""
    d = case.data
    people = d["rater"].value_counts().index
    own = d[d["rater"] == people[0]].assign(rater=people[1])
    case.data = pd.concat([d[d["rater"] != people[1]], own], ignore_index=True)


@fault("enriched_sample", *SCORES)
def _(case: Case) -> None:
    """All dialogues with a bad score and a fifth of the others; the probability is in the file, not in the YAML."""
    d, first = case.data, _scored(case)[0]
    bad = d.groupby("dialogue")[first].transform("min") <= (0 if case.design.kind == "marks" else 1)
    names = d.loc[~bad, "dialogue"].unique()
    drawn = case.rng.choice(names, max(8, len(names) // 5), replace=False)
    case.data["inclusion_probability"] = np.where(bad, 1.0, 0.2)
    _keep(case, bad | d["dialogue"].isin(drawn))


@fault("order_effect", *PAIRS)
def _(case: Case) -> None:
    """A third of the judgements go to whichever side was shown first."""
    d = case.data
    pulled = case.rng.random(len(d)) < 0.33
    d.loc[pulled, "winner"] = np.where(d.loc[pulled, "shown_first"] == "left", 1, -1)


@fault("constant_annotator", *ALL)
def _(case: Case) -> None:
    """A busy annotator always gives the same answer."""
    d = case.data
    who = d["rater"].value_counts().index[1]
    d.loc[d["rater"] == who, _scored(case)] = {"ratings": 4, "marks": 1}.get(case.design.kind, 1)


@fault("fast_annotator", *ALL)
def _(case: Case) -> None:
    """An annotator needs two seconds where the others need forty."""
    d = case.data
    who = d["rater"] == d["rater"].value_counts().index[1]
    d.loc[who, "seconds"] = (d.loc[who, "seconds"] / 20).round(1)


@fault("dependent_judge", "ratings", "marks", "comparisons")
def _(case: Case) -> None:
    """A model judged every item, and its labels are the median of people's."""
    d = case.data
    judge = d.assign(**d.groupby(_item(d))[_scored(case)].transform("median").round().astype(int), rater="gpt-4")
    case.data = pd.concat([d, judge[~_item(d).duplicated()]], ignore_index=True)
    case.source["judges"] = {"gpt-4": "llm"}


@fault("unused_scale_ends", "ratings")
def _(case: Case) -> None:
    """The scale has ten points; only the five in the middle are used."""
    for name in case.labels:
        case.data[name] += 2
        case.study["labels"][name]["scale"] = [1, 10]


@fault("outside_scale", "ratings", "marks")
def _(case: Case) -> None:
    """Some scores lie above the end of the scale that the YAML gives."""
    case.data.loc[case.rng.choice(len(case.data), 9, replace=False), _scored(case)[0]] = 7


@fault("missing_codes", "ratings")
def _(case: Case) -> None:
    """99 stands for a missing answer, and the YAML's scale has room for it."""
    name = _scored(case)[0]
    case.data.loc[case.rng.random(len(case.data)) < 0.06, name] = 99
    case.study["labels"][name]["scale"] = [1, 99]


@fault("undeclared_direction", "ratings", "marks")
def _(case: Case) -> None:
    """A label of which nobody said whether a high score is good."""
    name = _scored(case)[0]
    case.data = case.data.rename(columns={name: "hallucination"})
    labels = case.study["labels"]
    case.study["labels"] = {"hallucination": {k: v for k, v in labels[name].items() if k != "direction"}} | {
        k: v for k, v in labels.items() if k != name
    }


@fault("system_spellings", *ALL)
def _(case: Case) -> None:
    """In a third of its dialogues one system is spelt with a capital letter."""
    side = ["left", "right"] if case.design.paired else ["system"]
    own = case.data["prompt"].isin(case.rng.permutation(case.data["prompt"].unique())[::3])
    for column in side:
        case.data.loc[own & (case.data[column] == "dune"), column] = "Dune"


@fault("annotator_spellings", *ALL)
def _(case: Case) -> None:
    """In half of the rows of one annotator the name is spelt otherwise."""
    d = case.data
    who = d["rater"].value_counts().index[0]
    own = d.index[d["rater"] == who]
    d.loc[own[len(own) // 2 :], "rater"] = who.lower()


@fault("few_annotators", *ALL)
def _(case: Case) -> None:
    """Two people judged everything."""
    d = case.data
    d["rater"] = np.where(d["rater"].rank(method="dense") % 2 == 1, "Ada", "Ben")
    _once(case)


@fault("dominant_annotator", *SCORES)
def _(case: Case) -> None:
    """One annotator did three quarters of the work."""
    _dominated(case)


@fault("dominant_voter", "comparisons", "votes")
def _(case: Case) -> None:
    """One voter cast three quarters of the votes, and prefers one system."""
    who = _dominated(case)
    d = case.data
    mine = (d["rater"] == who) & (case.rng.random(len(d)) < 0.7)
    d.loc[mine & (d["left"] == "atlas"), "winner"] = 1
    d.loc[mine & (d["right"] == "atlas"), "winner"] = -1


def _dominated(case: Case) -> str:
    """Give one annotator three quarters of the work, whole dialogues at a time; returns who it is."""
    d = case.data
    who = d["rater"].value_counts().index[0]
    unit = d["dialogue"] if "dialogue" in d else _item(d)
    if case.design.kind != "votes":
        # of each item the others judge one in twelve: three annotators an item would share the work
        first = ~pd.DataFrame({"item": _item(d), "rater": d["rater"]}).groupby("item")["rater"].cumcount().astype(bool)
        d.loc[first, "rater"] = who
        _once(case)
        d = case.data
        _keep(case, (d["rater"] == who) | (case.rng.random(len(d)) < 0.17))
    else:
        d.loc[unit.isin(case.rng.permutation(unit.unique())[: int(0.72 * unit.nunique())]), "rater"] = who
        _once(case)
    return who


@fault("uncompared_pairs", *PAIRS)
def _(case: Case) -> None:
    """Two pairs of systems never met."""
    d = case.data
    met = [set(p) for p in zip(d["left"], d["right"], strict=True)]
    _keep(case, pd.Series([p not in ({"atlas", "birch"}, {"atlas", "cedar"}) for p in met], d.index))


@fault("cycles", *PAIRS)
def _(case: Case) -> None:
    """Atlas mostly beats birch, birch cedar, and cedar atlas."""
    d = case.data
    for winner, loser in (("atlas", "birch"), ("birch", "cedar"), ("cedar", "atlas")):
        for left, right, score in ((winner, loser, 1), (loser, winner, -1)):
            rows = (d["left"] == left) & (d["right"] == right)
            d.loc[rows, "winner"] = np.where(case.rng.random(rows.sum()) < 0.8, score, -score)


@fault("order_is_system", *PAIRS)
def _(case: Case) -> None:
    """One system was always shown first."""
    d = case.data
    d.loc[d["left"] == "cedar", "shown_first"] = "left"
    d.loc[d["right"] == "cedar", "shown_first"] = "right"


@fault("single_item_context", *SCORES)
def _(case: Case) -> None:
    """Two thirds of one system's dialogues answer the same prompt."""
    d = case.data
    names = d.loc[d["system"] == "birch", "dialogue"].unique()
    same = case.rng.choice(names, 2 * len(names) // 3, replace=False)
    d.loc[d["dialogue"].isin(same), "prompt"] = "p00"


@fault("constant_label", "ratings", "marks")
def _(case: Case) -> None:
    """Everybody gives the same answer on one label."""
    case.data[case.labels[1]] = 5 if case.design.kind == "ratings" else 1


@fault("drift", "ratings", "marks")
def _(case: Case) -> None:
    """One system was judged last, by annotators who had become stricter."""
    d = case.data.sort_values("system", key=lambda s: s == "dune", kind="stable", ignore_index=True)
    d["finished"] = _timed_at(d)
    late = np.arange(len(d)) / len(d)
    strict = case.rng.random(len(d)) < 0.9 * late
    for name in _scored(case):
        low = 0 if case.design.kind == "marks" else 1
        step = 1 if case.design.kind == "ratings" else case.rng.random(len(d)) < 0.4
        d[name] = np.where(strict, np.maximum(d[name] - step, low), d[name]).astype(int)
    case.data = d


@fault("unbalanced_contexts", *SCORES)
def _(case: Case) -> None:
    """One system was judged on other prompts than the rest."""
    d = case.data
    own = d["system"] == "cedar"
    d.loc[own, "prompt"] = "q" + d.loc[own, "prompt"].str[1:]
