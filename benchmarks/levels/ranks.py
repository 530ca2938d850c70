"""Do intervals of means, differences and strengths, and simultaneous ranks, keep their level? Coverage with known
truth.

    PYTHONPATH=src python benchmarks/levels/ranks.py            the cheap cells 2,000 times, the dear ones 400 times
    PYTHONPATH=src python benchmarks/levels/ranks.py --dear 2000 --only "compared, 4" "compared, 10"

Prints a table, and writes each case to `ranks.csv` beside this file when it is done (rows of other cases stay). A case
has random numbers of its own, so it comes out the same alone and with others. `measured` is the share of
runs whose interval holds the truth; of ranks, the share in which all intervals of all systems do. All systems are
equal, so that every rank interval must be from 1 to the number of systems. `mc_error` is its standard error.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from judgebook.questions.operating_characteristics.many_data_sets import Clustered, any_apart
from judgebook.questions.performance import davidson, ranking
from judgebook.statistics.clusters import LEAST_DF, Covariance, effective_number

ROOT = Path(__file__).resolve().parents[2]
OUT = Path(__file__).with_suffix(".csv")
CONFIDENCE = 0.95
#: standard deviations, on the scale of strengths, of what a prompt and a voter add to each system
PROMPT, VOTER = 0.5, 0.5
#: log of the tie parameter: about 30% ties
TIES = 0.0
Found = tuple[float, int, str]


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


def rated_ranks(m: int, prompts: int, people: int, *, rng: np.random.Generator, n: int) -> Iterator[tuple[str, Found]]:
    """One response of every system to every prompt, each rated once; by people who are a sample, if any."""
    codes, prompt = np.tile(np.arange(m), prompts), np.repeat(np.arange(prompts), m)
    person = rng.integers(0, people, len(codes)) if people else np.zeros(len(codes), int)
    model = Clustered(codes, np.ones(len(codes)), [prompt, person] if people else [prompt])
    i, j = np.triu_indices(m, 1)
    df, apart = np.minimum(model.df[i], model.df[j]), []
    for size in (len(part) for part in np.array_split(np.arange(n), max(1, n * m * m * prompts // 10_000_000))):
        x = scores(codes, np.arange(len(codes)), person, rng, size, 0.3 if people else 0.0, np.ones(m))
        apart.append(any_apart(*model.covariance(x + rng.standard_normal((size, prompts))[:, prompt]), df, CONFIDENCE))
    apart = np.concatenate(apart)
    yield "ranks", (np.mean(apart == 0), n, f"{df.min():.1f} df" + (", two ways" if people else ""))


def shares_of(kind: str, voters: int) -> np.ndarray:
    """Shares of votes: equal, zipf, or such as `0.4` (of one) and `0.7/2` (of two together)."""
    if kind in ("equal", "zipf"):
        out = np.ones(voters) if kind == "equal" else 1 / np.arange(1.0, voters + 1)
        return out / out.sum()
    share, _, heavy = kind.partition("/")
    share, heavy = float(share), int(heavy or 1)
    return np.r_[np.full(heavy, share / heavy), np.full(voters - heavy, (1 - share) / (voters - heavy))]


def made_design(m: int, prompts: int, votes: int, shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(4, votes): two systems, prompt and voter; every pair is as frequent as others on each prompt."""
    i, j = np.triu_indices(m, 1)
    at = rng.permutation(np.resize(np.arange(len(i) * prompts), votes))
    voter = rng.permutation(
        np.resize(np.repeat(np.arange(len(shares)), np.maximum(np.rint(shares * votes), 1).astype(int)), votes)
    )
    return np.stack([i[at % len(i)], j[at % len(i)], at // len(i), voter])


def voted(design: np.ndarray, m: int, known: bool, rng: np.random.Generator) -> pd.DataFrame:
    """Votes of a design on equal systems; what prompts and voters add to each system is drawn."""
    a, b, prompt, voter = design
    at = PROMPT * rng.standard_normal((prompt.max() + 1, m))
    gap = at[prompt, a] - at[prompt, b]
    if known:
        taste = VOTER * rng.standard_normal((voter.max() + 1, m))
        gap = gap + taste[voter, a] - taste[voter, b]
    win, tie, u = np.exp(gap / 2), np.exp(TIES), rng.random(len(gap))
    total = win + tie + 1 / win
    score = np.where(u < win / total, 1.0, np.where(u < (win + tie) / total, 0.0, -1.0))
    names = np.array([f"{s:03}" for s in range(m)])
    same = {"corpus": "c", "group": "all", "method": "pairwise_dialogue", "label": "x", "annotator_kind": "human"}
    columns = {"system": names[a], "system_b": names[b], "context": prompt, "annotator": voter, "score": score}
    return pd.DataFrame({**columns, "annotator_known": known, **same})


def compared(make: Callable[[np.random.Generator], np.ndarray], m: int, known: bool, *, rng: np.random.Generator,
             n: int) -> Iterator[tuple[str, Found]]:  # fmt: skip
    """Strengths and ranks by Davidson's model, by prompt, and by voter where they are known."""
    inside, ranks, reasons, df = [], [], [], []
    for _ in range(n):
        (fit,) = davidson.fits(voted(make(rng), m, known, rng), unit="context")
        reasons.append(fit.reason)
        if fit.reason:
            continue
        half = stdtrit(np.where(fit.df < LEAST_DF, np.nan, fit.df), (1 + CONFIDENCE) / 2)
        half = half * np.sqrt(fit.covariance.variances[:m])
        inside.append(np.mean((np.abs(fit.strengths) <= half)[np.isfinite(half)]))
        df.append(fit.df.min())
        i, j = np.triu_indices(m, 1)
        ends = ranking.rank_intervals(fit.strengths, fit.errors, np.minimum(fit.df[i], fit.df[j]), CONFIDENCE)
        ranks.append(np.all(ends[1] == 1) and np.all(ends[2] == m))
    refused = (
        f"; refused {n - len(ranks)} of {n}: {max(set(filter(None, reasons)), key=reasons.count)}"
        if len(ranks) < n
        else ""
    )
    note = (f"{np.median(df):.1f} df" if df else "") + refused
    for name, held in (("strength", inside), ("ranks", ranks)):
        yield name, (np.mean(held) if len(held) > n / 20 else np.nan, n, note.lstrip("; "))


def llmfao() -> tuple[np.ndarray, int]:
    """The votes of the crowd on 59 systems and 13 prompts."""
    rows = pd.read_csv(ROOT / "data" / "embedded" / "llmfao" / "annotations.csv.gz", low_memory=False)
    rows = rows[rows["group"] == "crowd"]
    systems = sorted({*rows["system"], *rows["system_b"]})
    codes = [pd.Index(systems).get_indexer(rows[c]) for c in ("system", "system_b")]
    return np.stack([*codes, *(pd.factorize(rows[c])[0] for c in ("context", "annotator"))]), len(systems)


def shares_of_mean(shares: np.ndarray, *, rng: np.random.Generator, n: int) -> Iterator[tuple[str, Found]]:
    """The mean of clusters that differ, one of which has much of the weight: what LEAST_DF rests on."""
    codes, cluster = np.zeros(len(shares), int), np.arange(len(shares))
    model = Clustered(codes, shares, [cluster])
    means, cov = model.covariance(rng.standard_normal((n, len(shares))))
    half = stdtrit(model.df[0], (1 + CONFIDENCE) / 2) * np.sqrt(cov.variances[:, 0])
    refused = "" if model.df[0] >= LEAST_DF else ", refused"
    yield "t", (np.mean(np.abs(means[:, 0]) <= half), n, f"{model.df[0]:.2f} df{refused}")


def cases() -> Iterator[tuple[str, Callable, bool | None]]:
    """Name, simulation and whether it is dear; None: ten times as many runs, as it takes no time."""
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
                yield name, partial(two_way_t, people, sizes, each, load, taste, ratio), False
    for m in (4, 10, 20, 59):
        for prompts in (8, 13, 30, 60):
            yield f"rated, {m} systems, {prompts} prompts", partial(rated_ranks, m, prompts, 0), False
    for m, people in ((4, 3), (10, 5), (20, 20), (59, 20)):
        yield f"rated, {m} systems, 13 prompts, {people} annotators", partial(rated_ranks, m, 13, people), False
    for kind, voters in (("equal", 3), ("equal", 5), ("equal", 10), ("0.4", 10), ("0.4", 30), ("0.5", 10), ("zipf", 30),
                         ("zipf", 100), ("0.7/2", 20), ("0.6", 20), ("0.8", 20)):  # fmt: skip
        make = partial(made_design, 4, 40, 1200, shares_of(kind, voters))
        yield (
            f"compared, 4 systems, {voters} voters, {kind}",
            partial(compared, lambda rng, f=make: f(rng), 4, True),
            True,
        )
    for m in (4, 10, 20, 59):
        for prompts in (8, 13, 30, 60):
            votes = max(m * (m - 1) // 2 * prompts, 400)
            for voters in (0, 20) if m < 59 or prompts == 13 else (0,):
                make = partial(made_design, m, prompts, min(votes, 9000), shares_of("equal", voters or 1))
                who = f"{voters} voters" if voters else "prompts only"
                yield (
                    f"compared, {m} systems, {prompts} prompts, {who}",
                    partial(compared, lambda rng, f=make: f(rng), m, voters > 0),
                    True,
                )
    design, m = llmfao()
    for known in (False, True):
        who = "124 voters" if known else "prompts only"
        yield (
            f"compared, layout of llmfao (59 systems, 13 prompts), {who}",
            partial(compared, lambda rng: design, m, known),
            True,
        )
    for kind, number in (
        ("0.5", 2),
        ("0.6", 2),
        ("0.67", 2),
        ("0.7", 2),
        ("0.8", 2),
        ("0.67", 20),
        ("0.75", 20),
        ("0.8", 20),
    ):
        shares = shares_of(kind, number)
        yield f"mean, {number} clusters, one has {float(kind):.0%}", partial(shares_of_mean, shares), None


def why(name: str, measured: float) -> str:
    """Why nothing shorter is used where more than 98.5% of intervals hold."""
    if not measured > 0.985:
        return ""
    if name.startswith("mean"):
        return "; the heaviest cluster makes both the mean and its error"
    if "annotators" in name or "voters" in name:
        reason = "; df of the fewer clusters, though these may add little: Satterthwaite's are shorter, but with 3 to 5"
        return reason + " annotators do not keep the strict levels that many pairs need (see rows of differences)"
    return "; pairs of systems with few prompts have few df: with those of all prompts they would be separated falsely"


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
    parser.add_argument("--runs", type=int, default=2000, help="of cheap cells")
    parser.add_argument("--dear", type=int, default=400, help="runs of dear cells")
    parser.add_argument("--only", nargs="+", default=[""], help="cases whose name contains one of these")
    given = parser.parse_args()
    for name, simulate, dear in cases():
        if not any(part in name for part in given.only):
            continue
        rng, rows = np.random.default_rng([31, *name.encode()]), []
        runs = given.runs * 10 if dear is None else given.dear if dear else given.runs
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
