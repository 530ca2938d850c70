"""Run the long evidence and write its record: `make evidence`, or the part that `make verify` renews.

    python tests/evidence/renew.py                    everything
    python tests/evidence/renew.py --stale            what the record does not vouch for at these sources
    python tests/evidence/renew.py --budget 300       of that, what takes at most so many CPU seconds
    python tests/evidence/renew.py --check            nothing; says what is unverified, exit code 1 where something is

Within a budget pieces run again whose sources have changed since, the cheapest first, then those that have not run for
longest; and a tenth of the pieces that are vouched for, in turn, by the number of commits. What has never run is left
to `--stale`. The last lines say what is unverified at this commit.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from evidence import pieces
from evidence.pieces import Piece, Sources

Record = dict[str, dict[str, Any]]
#: CPU seconds of pieces that run together; what is finished is recorded when they end
TOGETHER = 900.0
PYTEST = ["-m", "pytest", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]


def stale(every: Iterable[Piece], record: Record, digests: dict[str, str]) -> list[Piece]:
    """Pieces that have not passed at the sources as they are."""
    return [p for p in every if not vouched(record.get(p.name), digests[p.name])]


def vouched(entry: dict[str, Any] | None, digest: str) -> bool:
    return bool(entry) and entry["digest"] == digest and entry["failed"] == 0 and entry["passed"] > 0


def cost(piece: Piece, record: Record) -> float:
    return record.get(piece.name, {}).get("seconds", piece.fuzz or pieces.UNKNOWN)


def within(budget: float, out: Sequence[Piece], others: Sequence[Piece], turn: int, record: Record) -> list[Piece]:
    """What runs again within so many CPU seconds: of `out` the cheapest, then a tenth of `others` in `turn`."""
    out = [p for p in out if p.name in record]
    when = {p: record[p.name]["date"] for p in [*out, *others]}
    order = sorted(out, key=lambda p: (cost(p, record), when[p]))
    order += sorted(others[turn % 10 :: 10], key=lambda p: (when[p], cost(p, record)))
    chosen = []
    for piece in order:
        if (budget := budget - cost(piece, record)) < 0:
            break
        chosen.append(piece)
    return chosen


def batches(chosen: Iterable[Piece], record: Record) -> Iterator[list[Piece]]:
    """Pieces that one session of tests can run, the dearest first in each."""
    groups: dict[tuple[str, bool], list[Piece]] = {}
    for piece in sorted(chosen, key=lambda p: -cost(p, record)):
        groups.setdefault((piece.kernel, bool(piece.fuzz)), []).append(piece)
    for group in groups.values():
        batch, spent = [], 0.0
        for piece in group:
            batch.append(piece)
            spent += cost(piece, record)
            if spent > TOGETHER:
                yield batch
                batch, spent = [], 0.0
        if batch:
            yield batch


def run(batch: Sequence[Piece]) -> dict[str, dict[str, Any]]:
    """How each piece ended: passed, failed and skipped tests, CPU seconds."""
    first = batch[0]
    if first.fuzz:
        environment = os.environ | {"FUZZ_SECONDS": str(first.fuzz), "PYTHONPATH": "src:tests"}
        code = subprocess.run([sys.executable, first.test], cwd=pieces.ROOT, env=environment, check=False).returncode
        return {first.name: {"passed": int(not code), "failed": int(bool(code)), "seconds": float(first.fuzz)}}
    marked = "not verify and not evidence" if first.kernel else "evidence"
    with tempfile.TemporaryDirectory() as folder:
        tally = Path(folder) / "tally.json"
        environment = os.environ | {"TALLY": str(tally)}
        if first.kernel:
            environment["OPENBLAS_CORETYPE"] = first.kernel
        command = [sys.executable, *PYTEST, "-m", marked, *(p.test for p in batch)]
        subprocess.run(command, cwd=pieces.ROOT, env=environment, check=False)
        outcomes = json.loads(tally.read_text()) if tally.is_file() else {}
    return {p.name: _summed(p, outcomes) for p in batch}


def _summed(piece: Piece, outcomes: dict[str, tuple[str, float]]) -> dict[str, Any]:
    own = [v for test, v in outcomes.items() if _inside(test.partition("::")[0], piece.test)]
    counts = {k: sum(outcome == k for outcome, _ in own) for k in ("passed", "failed", "skipped")}
    return {**counts, "seconds": round(sum(seconds for _, seconds in own), 1)}


def _inside(file: str, place: str) -> bool:
    return file == place or file.startswith(f"{place}/")


def said(left: Sequence[Piece], every: Sequence[Piece], record: Record, sources: Sources) -> Iterator[str]:
    """What is unverified, a line a piece, and why."""
    if not left:
        yield f"All {len(every)} pieces of the long evidence are verified at these sources."
        return
    yield f"Unverified at these sources: {len(left)} of {len(every)} pieces of the long evidence."
    for piece in left:
        yield f"  {piece.name}: {_why(piece, record.get(piece.name), sources)}"
    yield "`make evidence STALE=1` renews them."


def _why(piece: Piece, entry: dict[str, Any] | None, sources: Sources) -> str:
    if not entry:
        return "never ran"
    if entry["failed"]:
        return f"{entry['failed']} failed at {entry['commit']}"
    if not entry["passed"]:
        return f"no test ran at {entry['commit']}"
    since = {sources.root / name for name in pieces.git("diff", "--name-only", entry["commit"]).splitlines()}
    changed = sorted(p.relative_to(sources.root).as_posix() for p in since & sources.files(piece.test))
    shown = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
    return f"passed at {entry['commit']}; since then changed: {shown or 'what it depends on'}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stale", action="store_true", help="only what the record does not vouch for")
    parser.add_argument("--budget", type=float, help="of that, at most so many CPU seconds, and a tenth of the rest")
    parser.add_argument("--check", action="store_true", help="run nothing; exit code 1 where something is unverified")
    options = parser.parse_args(arguments)
    every, sources, record = pieces.all_pieces(), Sources(), pieces.read()
    record = {p.name: record[p.name] for p in every if p.name in record}
    digests = sources.digests(every)
    out = stale(every, record, digests)
    chosen = [] if options.check else out if options.stale else every
    if options.budget is not None:
        others = [p for p in every if p not in out]
        chosen = within(options.budget, out, others, int(pieces.git("rev-list", "--count", "HEAD") or 0), record)
    commit, failed = pieces.git("rev-parse", "--short=10", "HEAD"), False
    for batch in batches(chosen, record):
        seconds = sum(cost(p, record) for p in batch)
        print(f"Evidence: {len(batch)} of {len(chosen)} pieces, about {seconds:,.0f} CPU s", flush=True)
        for name, entry in run(batch).items():
            made = {"digest": digests[name], "commit": commit, "date": str(datetime.date.today())}
            record[name], failed = entry | made, failed or bool(entry["failed"])
        pieces.write(record)
    left = stale(every, record, digests)
    print(*said(left, every, record, sources), sep="\n")
    return int(failed or (options.check and bool(left)))


if __name__ == "__main__":
    sys.exit(main())
