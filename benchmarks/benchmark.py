"""CPU time of analyses beside the fastest ways to the same result that a careful user has.

    pip install -r benchmarks/requirements.txt     # packages that are compared; without one its rows are left out
    python benchmarks/benchmark.py                 # everything, as the Markdown of docs/performance.md
    python benchmarks/benchmark.py --only alpha    # cases whose name contains this

BLAS has one thread. Ours and theirs take turns, and each pair of runs gives a ratio, so that other work on the machine
slows both. Before, both results are compared: what does not agree is an error, not a row. To add a case: a function
that returns it, in a module of `speed/` and its CASES.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from statistics import median
from typing import Any

import one_thread  # before NumPy
from speed import Case, K, Peer, alpha, models, systems

MODULES = (alpha, systems, models)
#: pairs of runs; fewer, but at least FEWEST, where they take more than LONGEST CPU seconds together
ROUNDS, FEWEST, LONGEST = 9, 3, 8.0
#: a run is as many calls as take so many CPU seconds
LEAST = 0.05
#: times as fast as the best peer that we want to be
GOAL = 1.5
PACKAGES = (
    *("numpy", "scipy", "statsmodels", "evalica", "krippendorff", "interrater", "pingouin", "evalstats"),
    *("errorbars", "crowd-kit"),
)


def seconds(work: Callable[[], Any], calls: int) -> float:
    """CPU seconds of a call, of all threads of this process."""
    start = time.process_time()
    for _ in range(calls):
        work()
    return (time.process_time() - start) / calls


def first(work: Callable[[], Any]) -> tuple[Any, int]:
    """What work gives, and how many calls make a run that can be timed: what is imported with the first does not count,
    unless that is long anyway."""
    start = time.process_time()
    result = work()
    took = time.process_time() - start
    return result, 1 if took >= 1 else max(1, round(LEAST / max(seconds(work, 1), 1e-6)))


def pairs_of(works: Sequence[Callable[[], Any]], calls: Sequence[int]) -> list[list[float]]:
    """CPU seconds of a call of ours and theirs, pair by pair; who is first changes."""
    pairs: list[list[float]] = []
    spent = 0.0
    while len(pairs) < ROUNDS and (len(pairs) < FEWEST or spent < LONGEST):
        took = [0.0, 0.0]
        for i in (0, 1) if len(pairs) % 2 == 0 else (1, 0):
            took[i] = seconds(works[i], calls[i])
            spent += took[i] * calls[i]
        pairs.append(took)
    return pairs


def compared(case: Case, peer: Peer) -> dict[str, str]:
    """A row of the table. Raises ValueError where the results of the two are not the same."""
    works = (case.work, peer.work)
    results, calls = zip(*map(first, works), strict=True)
    if not peer.agrees(*results):
        raise ValueError(f"{case.name}: {peer.name} gives another result")
    pairs = pairs_of(works, calls)
    ratios = sorted(peer.scale * theirs / ours for ours, theirs in pairs)
    ratio = median(ratios)
    return {
        "case": case.name,
        "ours": duration(median(ours for ours, _ in pairs)),
        "compared with": peer.name,
        "theirs": duration(peer.scale * median(theirs for _, theirs in pairs)),
        "ratio": f"**{figure(ratio)}**" if ratio < GOAL else figure(ratio),
        "of pairs": f"{figure(ratios[0])} to {figure(ratios[-1])}",
        "note": "; ".join(filter(None, [peer.differs, peer.wins if ratio < GOAL else ""])),
    }


def measured(case: Case) -> Iterator[dict[str, str]]:
    """A row for each peer that is installed, or one where there is none."""
    for peer in case.peers:
        if not peer.package or find_spec(peer.package):
            yield compared(case, peer)
    if not case.peers:
        _, calls = first(case.work)
        took = median(seconds(case.work, calls) for _ in range(FEWEST))
        none = dict.fromkeys(("compared with", "theirs", "ratio", "of pairs", "note"), "–")
        yield {"case": case.name, "ours": duration(took)} | none


def duration(seconds: float) -> str:
    return f"{figure(seconds * 1e3)} ms" if seconds < 1 else f"{figure(seconds)} s"


def figure(value: float) -> str:
    """With two digits or more."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def row(cells: dict[str, str]) -> str:
    return f"| {' | '.join(cells.values())} |"


def head(cells: dict[str, str]) -> str:
    return f"| {' | '.join(cells)} |\n|{' --- |' * len(cells)}"


def installed() -> Iterator[str]:
    for name in PACKAGES:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            print(f"{name} is not installed: its rows are left out", file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description="Time analyses beside what computes the same.")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    wanted = parser.parse_args().only
    warnings.filterwarnings("ignore")  # of other packages
    print(f"Python {platform.python_version()}, {', '.join(installed())}; {one_thread.N} thread, {K:,} resamples\n")
    n = 0
    for make in (make for module in MODULES for make in module.CASES):
        case = make()
        for cells in measured(case) if wanted in case.name else ():
            print("\n".join([head(cells)] * (n == 0) + [row(cells)]), flush=True)
            n += 1
    if not n:
        parser.error(f"no case has {wanted!r} in its name")
    return 0


if __name__ == "__main__":
    sys.exit(main())
