"""Do intervals of means and differences clustered in two ways keep their level? Coverage with known truth.

    PYTHONPATH=src python benchmarks/levels/differences.py [--runs 2000] [--only "difference, 3" ...]

Prints a table, and writes each case to `differences.csv` beside this file when it is done (rows of other cases stay). A
case has random numbers of its own, so it comes out the same alone and with others. `measured` is the share of runs
whose interval holds the truth; `mc_error` its standard error.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import stdtrit

from judgebook.statistics.clusters import LEAST_DF, Covariance, crossed, effective_number, left_out, numbered

OUT = Path(__file__).with_suffix(".csv")
CONFIDENCE = 0.95
Found = tuple[float, int, str]


class Clustered:
    """Means of samples and their covariance, as `clusters.clustered_covariance`, for many score vectors of one design.

    Parameters
    ----------
    codes, weights : (n,)
        Which sample a score belongs to, and how much it counts.
    clusters : one or two (n,) arrays
    """

    def __init__(self, codes: np.ndarray, weights: np.ndarray, clusters: Sequence[np.ndarray]):
        n, m = len(codes), int(codes.max()) + 1
        self.codes, self.share = codes, weights / np.bincount(codes, weights, m)[codes]
        self.to_means = sparse.csr_array((self.share, (np.arange(n), codes)), shape=(n, m))
        kinds = [numbered(np.asarray(c)) for c in clusters]
        self.kinds = [_Kind(codes, self.share, c, m) for c in kinds]
        self.both = None
        if len(kinds) == 2:
            self.both = _Kind(codes, self.share, crossed(*kinds), m)
        self.fewest = np.min([k.n_clusters for k in self.kinds], axis=0)
        self.df = effective_number(codes, weights, kinds) - 1

    def covariance(self, scores: np.ndarray) -> tuple[np.ndarray, Covariance]:
        """(k, m) means and the covariance, of (k, m, m) parts, of (k, n) scores."""
        means = scores @ self.to_means
        contributions = (scores - means[:, self.codes]) * self.share
        first, added = self.kinds[0].covariance(contributions), None
        if self.both is not None:
            added = self.kinds[1].covariance(contributions) - self.both.covariance(contributions)
        alone = self.fewest < 2
        first[:, alone] = first[:, :, alone] = np.nan
        return means, Covariance(first, added)


class _Kind:
    """One kind of clusters: influence on each mean by cluster and sample."""

    def __init__(self, codes: np.ndarray, share: np.ndarray, clusters: np.ndarray, m: int):
        pairs = clusters.astype(np.int64) * m + codes
        cell = numbered(pairs)
        names = pairs[np.unique(cell, return_index=True)[1]]
        self.m, self.cluster, self.sample = m, names // m, names % m
        factor = left_out(np.bincount(cell, share))[cell]
        self.to_cells = sparse.csr_array((factor, (np.arange(len(codes)), cell)))
        self.n_clusters = np.bincount(self.sample, minlength=m)
        self.factor = np.sqrt(np.maximum(self.n_clusters - 1, 0) / np.maximum(self.n_clusters, 1))
        self.nested = len(names) == clusters.max() + 1  # each cluster has one sample: no covariances

    def covariance(self, contributions: np.ndarray) -> np.ndarray:
        sums, k = contributions @ self.to_cells, len(contributions)
        out = np.zeros((k, self.m, self.m))
        if self.nested:
            to_samples = sparse.csr_array((np.ones(len(self.sample)), (np.arange(len(self.sample)), self.sample)),
                                          shape=(len(self.sample), self.m))  # fmt: skip
            out[:, range(self.m), range(self.m)] = sums**2 @ to_samples
        else:
            table = np.zeros((k, int(self.cluster.max()) + 1, self.m))
            table[:, self.cluster, self.sample] = sums
            out = table.transpose(0, 2, 1) @ table
        return np.asarray(out * np.outer(self.factor, self.factor))


def scores(codes: np.ndarray, dialogue: np.ndarray, person: np.ndarray, rng: np.random.Generator, k: int, taste: float,
           spread: np.ndarray) -> np.ndarray:  # fmt: skip
    """(k, n) ratings: of dialogues, of how lenient people are, of how they like each system, and noise."""
    people, m = person.max() + 1, codes.max() + 1
    out = 0.7 * rng.standard_normal((k, dialogue.max() + 1))[:, dialogue] + 0.7 * rng.standard_normal((k, len(codes)))
    out = out * spread[codes] + 0.5 * rng.standard_normal((k, people))[:, person]
    return out + taste * rng.standard_normal((k, people, m))[:, person, codes]


def two_way_t(people: int, sizes: tuple[int, int], each: int, load: float, taste: float, ratio: float, *,
              rng: np.random.Generator, n: int) -> Iterator[tuple[str, Found]]:  # fmt: skip
    """The difference of two systems; each dialogue is judged by `each` of the people, whose loads are 1 / rank^load."""
    system = np.repeat([0, 1], sizes)
    chance = np.arange(1.0, people + 1) ** -load
    each = min(each, people)
    who = np.array([rng.choice(people, each, replace=False, p=chance / chance.sum()) for _ in system])
    codes, dialogue, person = np.repeat(system, each), np.repeat(np.arange(len(system)), each), who.ravel()
    model = Clustered(codes, np.ones(len(codes)), [dialogue, person])
    x = scores(codes, dialogue, person, rng, n, taste, np.array([ratio, 1.0]))
    means, cov = model.covariance(x)
    df = model.df.min()
    if df < LEAST_DF:
        yield "t, two ways", (np.nan, n, f"refused: {df + 1:.1f} effective annotators")
        return
    gap, error = np.abs(means[:, 0] - means[:, 1]), cov.pair_errors()[:, 0]
    held = gap <= stdtrit(df, (1 + CONFIDENCE) / 2) * error
    yield "t, two ways", (held.mean(), n, f"{df:.1f} df")
    contributions = (x - means[:, codes]) * model.share
    parts = [Covariance(kind.covariance(contributions)).pair_errors()[:, 0] ** 2 for kind in model.kinds]
    by_kind = [effective_number(codes, np.ones(len(codes)), [c]).min() - 1 for c in (dialogue, person)]
    other = np.maximum(df, error**4 / sum(v**2 / d for v, d in zip(parts, by_kind, strict=True)))
    for name, confidence in (("Satterthwaite's t, not used", CONFIDENCE), ("the same at 99.9%", 0.999)):
        held = gap <= stdtrit(other, (1 + confidence) / 2) * error
        yield name, (held.mean(), n, f"median {np.median(other):.1f} df")


def one_heavy(number: int, share: float, *, rng: np.random.Generator, n: int) -> Iterator[tuple[str, Found]]:
    """The mean of clusters that differ, one of which has much of the weight: what LEAST_DF rests on."""
    shares = np.r_[share, np.full(number - 1, (1 - share) / (number - 1))]
    codes, cluster = np.zeros(number, int), np.arange(number)
    model = Clustered(codes, shares, [cluster])
    means, cov = model.covariance(rng.standard_normal((n, number)))
    half = stdtrit(model.df[0], (1 + CONFIDENCE) / 2) * np.sqrt(cov.variances[:, 0])
    refused = "" if model.df[0] >= LEAST_DF else ", refused"
    yield "t", (np.mean(np.abs(means[:, 0]) <= half), n, f"{model.df[0]:.2f} df{refused}")


def cases() -> Iterator[tuple[str, Callable, int]]:
    """Name, simulation and how many times as many runs it has."""
    for people in (2, 3, 5, 8, 20):
        for sizes, each, load, ratio in (
            ((30, 30), 2, 0, 1),
            ((30, 30), 2, 1, 1),
            ((5, 60), 2, 0, 2),
            ((5, 60), 2, 1, 2),
        ):
            for taste in (0.0, 0.3, 1.0):
                loads = "Zipf loads" if load else "equal loads"
                name = (
                    f"difference, {people} annotators, {loads}, n {sizes[0]} v {sizes[1]}, SD {ratio}:1, taste {taste}"
                )
                yield name, partial(two_way_t, people, sizes, each, load, taste, ratio), 1
    for share, number in ((0.5, 2), (0.6, 2), (0.67, 2), (0.7, 2), (0.8, 2), (0.67, 20), (0.75, 20), (0.8, 20)):
        yield f"mean, {number} clusters, one has {share:.0%}", partial(one_heavy, number, share), 10


def why(name: str, measured: float) -> str:
    """Why nothing shorter is used where more than 98.5% of intervals hold."""
    if not measured > 0.985:
        return ""
    if name.startswith("mean"):
        return "; the heaviest cluster makes both the mean and its error"
    reason = "; df of the fewer clusters, though these may add little: Satterthwaite's are shorter, but with 3 to 5"
    return reason + " annotators do not keep the strict levels that many pairs need (see rows of differences)"


def merged(rows: list[dict]) -> pd.DataFrame:
    """The rows of one case in place of those of before, in the order of the cases."""
    found = pd.DataFrame(rows)
    if OUT.exists():
        before = pd.read_csv(OUT)
        found = pd.concat([before[~before["case"].isin(found["case"])], found])
    order = {name: i for i, (name, _, _) in enumerate(cases())}
    return found.sort_values("case", key=lambda c: c.map(order), kind="stable")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000, help="of each case; ten times as many of means")
    parser.add_argument("--only", nargs="+", default=[""], help="cases whose name contains one of these")
    given = parser.parse_args()
    for name, simulate, times in cases():
        if not any(part in name for part in given.only):
            continue
        rng, rows = np.random.default_rng([31, *name.encode()]), []
        runs = given.runs * times
        for procedure, (measured, n, note) in simulate(rng=rng, n=runs):
            used = "not used" not in procedure and "99.9" not in procedure
            note += why(name, measured) if used else ""
            error = np.sqrt(max(measured * (1 - measured), 1e-9) / n) if np.isfinite(measured) else np.nan
            nominal = 0.999 if "99.9" in procedure else CONFIDENCE
            row = {"case": name, "procedure": procedure, "nominal": nominal, "measured": round(measured, 4)}
            rows.append({**row, "mc_error": round(error, 4), "n_runs": n, "note": note})
            print(f"{name:75} {procedure:12} {measured:6.3f} ±{error:.3f}  n={n}  {note}", flush=True)
        merged(rows).to_csv(OUT, index=False)


if __name__ == "__main__":
    main()
