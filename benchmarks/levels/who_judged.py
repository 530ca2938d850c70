"""How often "Does it matter who judged?" is answered with Yes: where it does not matter, and where it does.

    PYTHONPATH=src python benchmarks/levels/who_judged.py [RUNS]

Studies of four systems with 40 dialogues each and two labels on a five-point scale. A judgement is a dialogue's quality
plus noise; annotators add strictness and preferences for systems, or nothing. Yes means that annotators are a sample of
others (`annotations.population`) and differ on a label after Holm's adjustment (`performance.who_judged`). Also: how
often intervals of the shares of normal scores hold the true share. Writes who_judged.csv next to this file.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from judgebook.annotations.population import populations
from judgebook.questions.performance.who_judged import annotator_effects, who_judged
from judgebook.statistics.intervals import generator

SYSTEMS, DIALOGUES = 4, 40
#: case -> annotators, judgements per dialogue, shares of variance of strictness and preferences, loads
NULL = {
    **{f"{n} interchangeable annotators": (n, 2, 0.0, 0.0, "equal") for n in (2, 3, 5, 8, 20)},
    **{f"{n} interchangeable annotators, each dialogue judged once": (n, 1, 0.0, 0.0, "equal") for n in (5, 8, 20)},
    "20 interchangeable annotators, Zipf loads": (20, 2, 0.0, 0.0, "zipf"),
}
TRUE = {
    **{f"{n} annotators, preferences a third of the variance": (n, 2, 0.0, 1 / 3, "equal") for n in (5, 8, 20)},
    "8 annotators, preferences a third, each dialogue judged once": (8, 1, 0.0, 1 / 3, "equal"),
    "8 annotators, strictness a third of the variance": (8, 2, 1 / 3, 0.0, "equal"),
}
SHARES = {
    **{f"{n} annotators, strictness and preferences a sixth each": (n, 2, 1 / 6, 1 / 6, "equal") for n in (5, 8, 20)},
    "20 annotators, Zipf loads, a sixth each": (20, 2, 1 / 6, 1 / 6, "zipf"),
    "8 annotators, a sixth each, judged once": (8, 1, 1 / 6, 1 / 6, "equal"),
}


def judgements(case: tuple, rng: np.random.Generator, *, labels: int = 2) -> pd.DataFrame:
    """One study, with normal scores; half of the variance that annotators leave is the dialogue's."""
    people, per, strict, liked, loads = case
    system = np.repeat(np.arange(SYSTEMS), DIALOGUES)
    p = 1 / np.arange(1, people + 1) if loads == "zipf" else np.ones(people)
    who = np.concatenate([rng.choice(people, per, replace=False, p=p / p.sum()) for _ in system])
    dialogue = np.repeat(np.arange(len(system)), per)
    of, rest = system[dialogue], (1 - strict - liked) / 2
    parts = []
    for label in range(labels):
        x = rng.normal(0, rest**0.5, len(system))[dialogue] + rng.normal(0, rest**0.5, len(who)) + 0.2 * of
        x += rng.normal(0, strict**0.5, people)[who] + rng.normal(0, liked**0.5, (people, SYSTEMS))[who, of]
        parts.append(pd.DataFrame({"label": f"label_{label}", "score": x, "who": who, "dialogue": dialogue, "of": of}))
    return pd.concat(parts, ignore_index=True)


def frame(rows: pd.DataFrame) -> pd.DataFrame:
    """The study as annotations, scores rounded to five points."""
    rows = rows.assign(score=np.clip(np.round(3 + rows["score"]), 1, 5))
    same = {"corpus": "main", "group": "all", "method": "dialogue_likert", "annotator_known": True}
    same |= {"annotator_kind": "human", "dialogue_b": None, "system_b": None, "session": None, "context": None}
    names = {"annotator": "who", "system": "of", "dialogue": "dialogue"}
    return rows[["label", "score"]].assign(**{name: rows[c].astype(str) for name, c in names.items()}, **same)


def says_yes(rows: pd.DataFrame) -> bool:
    annotations = frame(rows)
    found = who_judged(annotations, populations(annotations))["annotators_differ"]
    return bool((found["p_adjusted"] < 0.05).any()) if len(found) else False


def covered(case: tuple, rng: np.random.Generator) -> tuple[bool, bool]:
    """Whether the intervals hold the true variances: strictness, preferences."""
    rows = judgements(case, rng, labels=1)
    block = rows["dialogue"] if case[1] > 1 else np.zeros(len(rows), int)
    who = pd.factorize(rows["who"])[0]
    found = annotator_effects(rows["score"].to_numpy(), rows["of"].to_numpy(), who, np.asarray(block))
    parts = ((found.strictness, case[2]), (found.preference, case[3]))
    return tuple(part.low <= truth <= part.high for part, truth in parts)


def row(case: str, procedure: str, nominal: str, hits: np.ndarray, note: str) -> dict:
    share, n = float(np.mean(hits)), len(hits)
    error = (max(share * (1 - share), 0.25 / n) / n) ** 0.5
    measured = {"measured": round(100 * share, 1), "mc_error": round(100 * error, 1), "n_runs": n}
    return {"case": case, "procedure": procedure, "nominal": nominal} | measured | {"note": note}


def main(runs: int) -> None:
    out = []
    for nominal, cases in (("at most 5", NULL), ("at least 80 with 8 or more", TRUE)):
        for name, case in cases.items():
            rng = generator(1, "who judged", name)
            hits = np.array([says_yes(judgements(case, rng)) for _ in range(runs)])
            note = "refused: fewer than five effective annotators" if case[0] < 5 else ""
            out.append(row(name, "Yes on the first page (%)", nominal, hits, note))
    for name, case in SHARES.items():
        rng = generator(1, "who judged", name)
        hits = np.array([covered(case, rng) for _ in range(runs)])
        for i, part in enumerate(("strictness", "preferences")):
            out.append(row(name, f"95% CI of the variance of {part} covers (%)", "95", hits[:, i], ""))
    pd.DataFrame(out).to_csv(Path(__file__).with_suffix(".csv"), index=False)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
