"""One board by several packages: strengths of systems from the same votes, seconds, memory.

    pip install arena-rank arenakit choix evalica statsmodels   # those that are not installed are left out
    python benchmarks/arena.py                                  # 100,000 votes on 50 systems
    python benchmarks/arena.py --votes 1e6 --systems 200

Each package runs in a process of its own. CPU seconds are those of one call, of all threads, from codes or from a
frame, as it asks for them, with what it compiles on the way; imports do not count. Memory is the peak of the process.
Where the model is the same, estimates are compared with ours, and what does not agree is an error. Votes are made up,
by voters with tastes on answers to prompts, with a side that is preferred and two other covariates; there are no ties,
of which packages have different models. arena-rank's own default draws slopes towards 0: that row is not compared.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version

import one_thread  # isort: skip (before NumPy)
import numpy as np
import pandas as pd

#: what estimates may differ by where the model is the same; what has another model
SAME, ANOTHER = 1e-3, "arena-rank, as it comes"


class Votes:
    """first, second : (n,) codes of systems; won : whether the first did; covariates : (n, 3), the first the side."""

    def __init__(self, n: int, systems: int) -> None:
        rng = np.random.default_rng(20261130)
        self.n, self.systems, self.names = n, systems, [f"s{i:03}" for i in range(systems)]
        strength = 0.5 * rng.normal(size=systems)
        self.first = rng.integers(systems, size=n)
        self.second = (self.first + rng.integers(1, systems, size=n)) % systems
        self.prompt, self.voter = rng.integers(n // 50, size=n), rng.integers(n // 20, size=n)
        answer, taste = (0.5 * rng.normal(size=(k, systems)).astype(np.float32) for k in (n // 50, n // 20))
        self.covariates = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
        d = self.covariates @ [0.2, 0.3, 0.0]
        for side, sign in ((self.first, 1), (self.second, -1)):
            d += sign * (strength[side] + answer[self.prompt, side] + taste[self.voter, side])
        self.won = rng.random(n) < 1 / (1 + np.exp(-d))

    def frame(self) -> pd.DataFrame:
        names = np.array(self.names)
        winner = np.where(self.won, "model_a", "model_b")
        frame = pd.DataFrame({"model_a": names[self.first], "model_b": names[self.second], "winner": winner})
        return frame.assign(**{f"x{i}": column for i, column in enumerate(self.covariates.T)})

    def table(self) -> np.ndarray:
        """(systems, systems) how often the row won against the column."""
        winner, loser = (np.where(self.won, a, b) for a, b in ((self.first, self.second), (self.second, self.first)))
        counts = np.bincount(winner * self.systems + loser, minlength=self.systems**2)
        return counts.reshape(self.systems, self.systems).astype(float)


def judgebook(votes: Votes, covariates: bool = False, samples: bool = False):
    from judgebook.model.comparisons import Comparisons, fit

    names = ("side", "x1", "x2") if covariates else ()
    c = Comparisons(
        tuple(votes.names),
        votes.first,
        votes.second,
        np.where(votes.won, 1, -1),
        np.unique(votes.prompt, return_inverse=True)[1] if samples else np.arange(votes.n),
        np.unique(votes.voter, return_inverse=True)[1] if samples else None,
        covariates=dict(zip(names, votes.covariates.T, strict=False)),
    )
    found = fit(c)
    return found.levels.estimates, found.slopes.estimates if covariates else []


def judgebook_covariates(votes: Votes):
    return judgebook(votes, covariates=True)


def judgebook_whole(votes: Votes):
    return judgebook(votes, covariates=True, samples=True)


def evalica(votes: Votes):
    import evalica as package

    frame = votes.frame()
    winners = np.where(votes.won, package.Winner.X, package.Winner.Y).tolist()
    names = [frame[side].tolist() for side in ("model_a", "model_b")]
    found = package.bradley_terry(*names, winners, tolerance=1e-10, limit=10_000)
    return np.log(found.scores.reindex(votes.names).to_numpy()), []


def arena_rank(votes: Votes):
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    data = PairDataset.from_pandas(votes.frame())
    model = BradleyTerry(n_competitors=len(data.competitors))
    model.compute_ratings_and_cis(data)
    return np.asarray(model.params["ratings"]), []


def arena_rank_covariates(votes: Votes, **penalty: float):
    from arena_rank.models.contextual_bradley_terry import ContextualBradleyTerry
    from arena_rank.utils.data_utils import ContextualPairDataset

    columns = ["x0", "x1", "x2"]
    data = ContextualPairDataset.from_pandas(votes.frame(), columns, reweighted=False, normalize_features=False)
    model = ContextualBradleyTerry(len(data.competitors), n_features=3, **penalty)
    model.compute_ratings_and_cis(data)
    return np.asarray(model.params["ratings"]), np.asarray(model.params["coeffs"])


def arenakit(votes: Votes):
    from arenakit import bt, schema

    none = np.zeros((votes.systems,) * 2)
    return bt.fit_bt(schema.PairCounts(wf=votes.table(), ws=none, tt=none), prior=0.0).scores, []


def choix(votes: Votes):
    import choix as package

    return package.ilsr_pairwise_dense(votes.table(), tol=1e-10), []


def statsmodels(votes: Votes, covariates: bool = False):
    import statsmodels.api as sm

    x = np.zeros((votes.n, votes.systems))
    x[np.arange(votes.n), votes.first] = 1.0
    x[np.arange(votes.n), votes.second] = -1.0
    x = np.column_stack([x[:, 1:], votes.covariates[:, : 3 * covariates]])
    found = sm.Logit(votes.won.astype(float), x).fit(disp=False).params
    return np.append(0.0, found[: votes.systems - 1]), found[votes.systems - 1 :]


def statsmodels_covariates(votes: Votes):
    return statsmodels(votes, covariates=True)


Work = Callable[[Votes], tuple[np.ndarray, np.ndarray]]
#: model -> package -> what it does; the first is ours
MODELS: dict[str, dict[str, Work]] = {
    "Bradley-Terry": {
        "judgebook": judgebook,
        "evalica": evalica,
        "arena-rank": arena_rank,
        "arenakit": arenakit,
        "choix": choix,
        "statsmodels": statsmodels,
    },
    "with side and two covariates": {
        "judgebook": judgebook_covariates,
        "arena-rank": partial(arena_rank_covariates, reg=0.0),
        ANOTHER: arena_rank_covariates,
        "statsmodels": statsmodels_covariates,
    },
    "and answers, tastes and sides of voters as samples": {"judgebook": judgebook_whole},
}


def alone(work: Work, votes: Votes) -> None:
    """Run in a process of its own, and print what came out."""
    work(Votes(2_000, 5))  # imports
    begin = time.process_time()
    strengths, slopes = work(votes)
    seconds = time.process_time() - begin
    mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = [(np.asarray(strengths) - np.mean(strengths)).tolist(), np.asarray(slopes).tolist()]
    print(json.dumps({"seconds": seconds, "mb": mb, "found": found}))


def main() -> None:
    parser = argparse.ArgumentParser(description="One board by several packages.")
    parser.add_argument("--votes", type=float, default=1e5)
    parser.add_argument("--systems", type=int, default=50)
    parser.add_argument("--alone", nargs=2, metavar=("MODEL", "PACKAGE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.alone:
        model, package = args.alone
        alone(MODELS[model][package], Votes(int(args.votes), args.systems))
        return
    versions = dict[str, str]()
    for package in MODELS["Bradley-Terry"]:
        try:
            versions[package] = version(package) if package != "judgebook" else ""
        except PackageNotFoundError:
            print(f"{package} is not installed: its rows are left out", file=sys.stderr)
    packages = ", ".join(f"{package} {number}".strip() for package, number in versions.items())
    print(f"{args.votes:,.0f} votes on {args.systems} systems; {packages}; {one_thread.N} thread\n")
    print("| model | package | CPU s | peak MB | estimates differ by |\n| --- | --- | --- | --- | --- |")
    for model, works in MODELS.items():
        ours: list[np.ndarray] = []
        for package in (p for p in works if p.split(",")[0] in versions):
            sizes = ["--votes", str(args.votes), "--systems", str(args.systems)]
            command = [sys.executable, __file__, *sizes, "--alone", model, package]
            run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
            if run.returncode:
                print(f"| {model} | {package} | ended with {run.returncode} | – | – |", flush=True)
                continue
            said = json.loads(run.stdout.splitlines()[-1])
            found = [np.array(each) for each in said["found"]]
            ours = ours or found
            apart = max(np.abs(a - b).max(initial=0.0) for a, b in zip(found, ours, strict=True))
            if apart > SAME and package != ANOTHER:
                raise SystemExit(f"{model}: {package} gives another result, by {apart:.2g}")
            shown = "–" if package == "judgebook" else f"{apart:.1e}"
            print(f"| {model} | {package} | {said['seconds']:.2f} | {said['mb']:,.0f} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
