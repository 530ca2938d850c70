"""Review queues (all flagged dialogues and a fifth of the rest) whose YAML says nothing of it, and clean twins.

No two files are alike: `queue` draws from a seed what is judged (marks, ratings, grades, turns, comparisons), how many
systems and annotators there are, whether they are known, how well the flag catches bad dialogues, the shape of the
file, and what the column that says how dialogues were drawn holds and is called. A clean twin is a simple random sample
of the same dialogues; a column of topics, on which scores depend, is in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

#: share of dialogues that are not flagged and are judged all the same
REST = 0.2
KINDS = ("mark", "likert", "grade", "turns", "several", "comparisons")
SHAPES = ("wide", "long", "records")
#: what the column holds -> how it may be called: names with which the check was written, and others
NAMES = {
    "probability": (
        ("inclusion_probability", "p_inclusion", "sampling_prob", "sample_rate", "selection_prob", "propensity",
         "sampling_fraction", "meta.sampling_probability", "pi"),
        ("probability_of_selection", "samplingProbability", "incl_prob", "p_draw", "selection rate", "prob_sampled"),
    ),
    "weight": (
        ("sampling_weight", "weight", "ipw", "survey_weight", "design_weight", "expansion_factor", "sample_wt"),
        ("weight_sampling", "inverse_probability_weight", "svy_wgt", "PopulationWeight", "ip_weight", "weights"),
    ),
    "stratum": (
        ("stratum", "queue", "review_reason", "sampled_because", "selection_reason", "sampling_group", "sample_source"),
        ("sampling_stratum", "reviewQueue", "reason_for_review", "sampled_via", "selected_by", "sampling bucket"),
    ),
    "flag": (
        ("flagged", "is_flagged", "auto_flag", "escalated", "user_reported"),
        ("was_flagged", "flag", "reported_by_user", "flag_status", "autoFlagged"),
    ),
}  # fmt: skip
_FLAGS = (("flagged", "random"), ("escalation", "audit"), ("thumbs down", "background"), ("1", "2"))
_ANSWERS = (("True", "False"), ("1", "0"), ("yes", "no"), ("Y", "N"))


@dataclass(frozen=True)
class File:
    """A study's file and YAML. column : the name of the column that says how dialogues were drawn, if there is one."""

    name: str
    data: pd.DataFrame
    study: dict
    shape: str
    column: str

    def write(self, folder: Path) -> Path:
        """Write both into a folder; returns the path of the YAML."""
        own = folder / f"{self.name}.{'json' if self.shape == 'records' else 'csv'}"
        if self.shape == "records":
            own.write_text(self.data.to_json(orient="records"), encoding="utf-8")
        else:
            self.data.to_csv(own, index=False)
        self.study["sources"][0]["file"] = own.name
        path = folder / f"{self.name}.yaml"
        path.write_text(yaml.safe_dump(self.study, sort_keys=False), encoding="utf-8")
        return path


def queue(seed: int, *, enriched: bool = True, new_names: bool = False) -> File:
    """A queue, or its clean twin. new_names : the column has one of the names with which the check was not written."""
    rng = np.random.default_rng([31, seed])
    kind, held = KINDS[seed % len(KINDS)], list(NAMES)[rng.integers(len(NAMES))]
    names = NAMES[held][new_names]
    column, shape = names[rng.integers(len(names))], SHAPES[rng.integers(len(SHAPES))]
    things = _population(kind, rng)
    flagged = rng.random(len(things)) < np.where(things["bad"], rng.uniform(0.6, 1), rng.uniform(0.03, 0.12))
    drawn = flagged | (rng.random(len(things)) < REST)
    says = _says(held, flagged, rng)
    if not enriched:
        drawn = np.isin(np.arange(len(things)), rng.permutation(len(things))[: drawn.sum()])
        # one in three says that all had the same probability, one that proportionate strata were drawn, one nothing
        column, says = [("sampling_probability", drawn.mean()), ("stratum", _strata(len(things), rng)), ("", "")][
            seed % 3
        ]
    things = things.assign(says=says)[drawn].reset_index(drop=True)
    rows, labels = _judged(things, kind, rng)
    rows = rows.rename(columns={"says": column}) if column else rows.drop(columns="says")
    return _file(f"queue_{seed}" if enriched else f"twin_{seed}", rows, labels, kind, shape, column)


def _population(kind: str, rng: np.random.Generator) -> pd.DataFrame:
    """All dialogues (pairs of responses): systems, whether they are bad, their topic."""
    n_systems = int(rng.integers(2 if kind == "comparisons" else 1, 6))
    size = int(rng.integers(600, 1500) / n_systems + 150)
    share = np.clip(rng.uniform(0.06, 0.25) + rng.normal(0, 0.02, n_systems), 0.03, 0.3)
    system = np.repeat(np.arange(n_systems), size)
    topic = rng.integers(0, 3, len(system))
    bad = rng.random(len(system)) < share[system] * np.array([0.7, 1.0, 1.3])[topic]
    frame = pd.DataFrame({"chat": [f"c{i:04}" for i in range(len(system))], "bot": [f"bot {s}" for s in system]})
    frame["topic"], frame["bad"] = np.array(["travel", "money", "health"])[topic], bad
    if kind == "comparisons":
        # of two responses, people reported the first one
        other = (system + rng.integers(1, n_systems, len(system))) % n_systems
        frame["other"] = [f"bot {s}" for s in other]
    return frame


def _says(held: str, flagged: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    p = np.where(flagged, 1.0, REST)
    if held in ("probability", "weight"):
        return p if held == "probability" else 1 / p
    words = (_FLAGS if held == "stratum" else _ANSWERS)[rng.integers(4)]
    return np.where(flagged, *words)


def _strata(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.array(["spring", "summer", "autumn"])[rng.integers(0, 3, n)]


def _judged(things: pd.DataFrame, kind: str, rng: np.random.Generator) -> tuple[pd.DataFrame, dict]:
    """One row per judgement, with a column per label; the labels."""
    n_people, each = int(rng.integers(2, 13)), int(rng.integers(1, 4))
    each, turns = min(each, n_people), 4 if kind == "turns" else 1
    who = np.argsort(rng.random((len(things), n_people)), axis=1)[:, :each]
    item = np.repeat(np.arange(len(things)), each * turns)
    rows = things.iloc[item].reset_index(drop=True)
    severity = rng.normal(0, 0.2, n_people)
    rows["judge"] = np.char.add("w", np.repeat(who.ravel(), turns).astype(str))
    rows["turn"] = np.tile(np.arange(turns), len(things) * each)
    bad = rows.pop("bad").to_numpy()
    noise = np.repeat(severity[who.ravel()], turns) + rng.normal(0, 0.7, len(rows))
    likert = np.clip(np.rint(np.where(bad, 2.2, 4.0) + noise), 1, 5).astype(int)
    hit, wrong = rng.uniform(0.6, 0.95), rng.uniform(0.01, 0.05)
    mark = (rng.random(len(rows)) < np.where(bad, hit, wrong)).astype(int)
    labels: dict[str, dict] = {}
    if kind in ("mark", "turns", "several"):
        labels["unsafe"] = {"scale": [0, 1], "direction": -1}
        rows["unsafe"] = mark
    if kind in ("likert", "several"):
        labels["helpful"] = {"scale": [1, 5], "level": "ordinal", "direction": 1}
        rows["helpful"] = likert
    if kind == "grade":
        labels["grade"] = {"scale": [0, 100], "direction": 1}
        rows["grade"] = np.clip(np.rint(np.where(bad, 45, 75) + 14 * noise), 0, 100).astype(int)
    if kind == "comparisons":
        labels["better"] = {"scale": [-1, 1], "method": "comparative", "direction": 1}
        value = np.where(bad, -0.9, 0.1) + noise
        rows["better"] = np.where(np.abs(value) < 0.25, 0, np.sign(value)).astype(int)
    return rows, labels


def _file(name: str, rows: pd.DataFrame, labels: dict, kind: str, shape: str, column: str) -> File:
    pairs = kind == "comparisons"
    method = {"turns": "behavior", "comparisons": "comparative"}.get(kind, "dialogue_rating")
    columns = {"annotator": "judge", "system": "bot"}
    columns |= {"system_b": "other"} if pairs else {"dialogue": "chat"}
    rows = rows if kind == "turns" else rows.drop(columns="turn")
    columns |= {"turn": "turn"} if kind == "turns" else {}
    source: dict = {"adapter": "records" if shape == "records" else "table", "file": "", "columns": columns}
    if pairs:
        source["identify"] = {"dialogue": ["chat", "bot"], "dialogue_b": ["chat", "other"]}
    if shape == "long":
        rows = rows.melt([c for c in rows if c not in labels], list(labels), "what", "score")
        source |= {"layout": "long", "columns": columns | {"label": "what", "score": "score"}}
    else:
        source |= {"scores": "{label}"} | ({"layout": "wide"} if shape == "wide" else {})
    study = {"title": f"Study {name}", "method": method, "sources": [source], "labels": labels}
    return File(name, rows, study, shape, column)
