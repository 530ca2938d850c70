"""Made-up evaluations for tests of rates, effects, groups, rankings, metrics and mixed models."""

import itertools

import numpy as np
import pandas as pd

SYSTEMS = ("a", "b", "c", "d")


def ratings(scores, group="all", annotator="A1", label="quality", method="dialogue_likert", **columns):
    """One rating a row of `scores`: (dialogue, system, score) or (dialogue, system, session, score)."""
    frame = pd.DataFrame(scores)
    frame.columns = (
        ["dialogue", "system", "session", "score"] if frame.shape[1] == 4 else ["dialogue", "system", "score"]
    )
    fixed = {"corpus": "main", "method": method, "label": label, "group": group, "annotator": annotator, "turn": pd.NA}
    out = frame.assign(annotator_known=True, annotator_kind="human", **(fixed | columns))
    return out.astype({"score": float, "turn": "Int32"}).reset_index(drop=True)


def comparisons(scores, group="all", annotator="A1", label="quality", **columns):
    """One comparison a row of `scores`: (system, system_b, score); each is a session of its own."""
    frame = pd.DataFrame(scores, columns=["system", "system_b", "score"]).astype({"score": float})
    n = [f"{i:03d}" for i in range(len(frame))]
    frame = frame.assign(session=[f"s{i}" for i in n], dialogue=[f"x{i}" for i in n], dialogue_b=[f"y{i}" for i in n])
    fixed = {"corpus": "main", "method": "comparative", "label": label, "group": group, "annotator": annotator}
    return frame.assign(annotator_known=True, turn=pd.NA, **(fixed | columns))


def study(rng, n_sessions=60, groups=("g1", "g2"), shift=0.0, leniency=0.0, n_annotators=4, people=0.0, noise=0.7):
    """Each session holds two dialogues of different systems, rated by every group.

    Scores: the dialogue's quality, the system's, the annotator's own leniency (sd `people`), noise. The second group is
    more lenient by `leniency`, and sees system `a` better by `shift`.
    """
    rows = []
    lenient = {(g, i): people * rng.normal() for g in groups for i in range(n_annotators)}
    for s in range(n_sessions):
        for system in rng.choice(SYSTEMS, 2, replace=False):
            quality = rng.normal(0, 0.7) + 0.3 * SYSTEMS.index(system)
            for g in groups:
                i = int(rng.integers(n_annotators))
                second = g == groups[-1]
                bias = lenient[g, i] + second * (leniency + shift * (system == "a"))
                score = quality + bias + noise * rng.normal()
                rows.append((f"d{s:03d}{system}", system, f"s{s:03d}", g, f"{g}_{i}", score))
    frame = pd.DataFrame(rows, columns=["dialogue", "system", "session", "group", "annotator", "score"])
    fixed = {"corpus": "main", "method": "continuous", "label": "quality", "turn": pd.NA, "annotator_known": True}
    return frame.assign(**fixed)


def metric_study(rng, n_contexts=40, n_systems=4, missing=0.0, weights=(0.8, 0.3)):
    """Ratings of responses to contexts by three annotators, and two metrics that follow quality by `weights`.

    Half of the variance of quality and of a metric's own error is the context's: its responses resemble each other.
    """
    rows, scores = [], []
    for c in range(n_contexts):
        base = rng.normal(size=3)
        for s in range(n_systems):
            q, *errors = 0.5**0.5 * base + 0.5**0.5 * rng.normal(size=3)
            item = {"corpus": "main", "dialogue": f"d{c:03d}{s}", "turn": 0}
            for a, (label, weight) in itertools.product(range(3), (("quality", 1.0), ("fluent", 0.4))):
                score = np.clip(np.rint(3 + weight * q + 0.8 * rng.normal()), 1, 5)
                who = {"system": f"s{s}", "context": f"c{c:03d}", "annotator": f"A{a}"}
                rows.append({**item, **who, "label": label, "score": score})
            for name, weight, error in zip("mn", weights, errors, strict=True):
                value = weight * q + (1 - weight**2) ** 0.5 * error
                scores.append({**item, "metric": name, "score": np.nan if rng.random() < missing else value})
    frame = pd.DataFrame(rows).assign(method="turn_rating", annotator_known=True, annotator_kind="human")
    return frame.astype({"turn": "Int32"}), pd.DataFrame(scores).astype({"turn": "Int32"})


def monte_carlo(p, n):
    """How far a share of n simulated cases may lie from p: three standard errors."""
    return 3 * np.sqrt(p * (1 - p) / n)
