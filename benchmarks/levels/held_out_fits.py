"""How often intervals of cross-validated fits cover the fit that the search reaches on average on other samples.

Sessions have two dialogues; marks of nine behaviours (shares of 16 turns, skewed) or seven ratings with a halo (rounded
to 1 to 5) predict a rating of 1 to 5, or the choice between the two dialogues of a session. Four labels have an effect,
in the ratios 1, 0.7, 0.5 and 0.3. The truth is the mean over runs of 1 - loss / loss of the mean on 10,000 new
dialogues (5,000 pairs), for the model chosen on all data of a run; cross-validation trains on 9 in 10 of them, which is
part of the error. Writes `held_out_fits.csv` beside this file: case, procedure, nominal, measured, mc_error, n_runs,
note.

    PYTHONPATH=src python benchmarks/levels/held_out_fits.py [runs] [runs for logits]
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

from judgebook.statistics.subsets import (
    Fitness,
    best_of_each_size,
    best_subset_losses,
    fit_intervals,
    masks_of,
    row_losses,
    shortlist,
)

SESSIONS, K, FOLDS, REPEATS = 54, 7, 10, 3
#: target, kind of predictors, share of the latent variance explained
CASES = [
    (t, kind, r2) for t in ("rating", "choice") for kind in ("behaviours", "ratings") for r2 in (0.0, 0.1, 0.3, 0.6)
]


def world(sessions: int, r2: float, kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predictors (n, p), latent quality (n,) and session (n,) of two dialogues per session."""
    p, n = (9, 2 * sessions) if kind == "behaviours" else (7, 2 * sessions)
    session = np.repeat(np.arange(sessions), 2)
    x = rng.normal(size=(sessions, p))[session] * np.sqrt(0.2) + rng.normal(size=(n, p)) * np.sqrt(0.8)
    if kind == "ratings":
        x = np.sqrt(0.7) * x + np.sqrt(0.3) * rng.normal(size=(n, 1))
    effect = np.r_[1, 0.7, 0.5, 0.3, np.zeros(p - 4)]
    signal = x @ effect / (np.linalg.norm(effect) * (1.35 if kind == "ratings" else 1.0))
    noise = rng.normal(size=sessions)[session] * np.sqrt(0.2) + rng.normal(size=n) * np.sqrt(0.8)
    seen = np.clip(np.round(3 + x), 1, 5) if kind == "ratings" else rng.binomial(16, 1 / (1 + np.exp(2 - x))) / 16
    return seen, np.sqrt(r2) * signal + np.sqrt(1 - r2) * noise, session


def design(target: str, kind: str, r2: float, sessions: int, rng: np.random.Generator) -> tuple[Fitness, np.ndarray]:
    x, quality, session = world(sessions, r2, kind, rng)
    if target == "rating":
        return Fitness(x, np.clip(np.round(3.5 + quality), 1, 5), "ols"), session
    return Fitness(x[1::2] - x[::2], (quality[1::2] > quality[::2]).astype(float), "logit"), session[::2]


def best(one: Fitness) -> np.ndarray:
    """The best subset of K predictors."""
    logit = one.family == "logit"
    found = shortlist(one.x, one.y) if logit else best_of_each_size(one.all(), one.p)[:, 0]
    return masks_of(found[K - 1 : K], one.p)[0]


def covered(target: str, kind: str, r2: float, runs: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Share of 95% intervals with the truth, the truth, and the mean estimate."""
    new, _ = design(target, kind, r2, 5000, np.random.default_rng(77))
    truths, found = [], []
    for _ in range(runs):
        one, clusters = design(target, kind, r2, SESSIONS, rng)
        none = np.zeros(one.p, dtype=bool)
        losses = [row_losses(one, new.x, new.y, mask).sum() for mask in (best(one), none)]
        truths.append(1 - losses[0] / losses[1])
        held_out = best_subset_losses(one, clusters, rng, [K], FOLDS, REPEATS)
        found += fit_intervals(held_out, clusters, "session", 0.95)
    truth = float(np.mean(truths))
    return np.mean([i.low <= truth <= i.high for i in found]), truth, float(np.mean([i.estimate for i in found]))


def main() -> None:
    """Write the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    logits = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    rng, rows = np.random.default_rng(1), []
    for target, kind, r2 in CASES:
        n = runs if target == "rating" else logits
        share, truth, mean = covered(target, kind, r2, n, rng)
        case = f"{target} by {K} of {9 if kind == 'behaviours' else 7} {kind}, {SESSIONS} sessions, latent R² {r2}"
        error = np.sqrt(max(share * (1 - share), 0.01) / n)
        note = f"true fit {truth:.3f}, mean estimate {mean:.3f}"
        rows.append([case, "jackknife of held-out losses", 0.95, f"{share:.3f}", f"{error:.3f}", n, note])
        print(*rows[-1], sep=", ", flush=True)
    with (Path(__file__).parent / "held_out_fits.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["case", "procedure", "nominal", "measured", "mc_error", "n_runs", "note"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
