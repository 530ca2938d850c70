"""Ends runs at random moments and looks at what they leave: `python benchmarks/kills.py --kills 200 --seed 1`.

Each time a command (a run, `gallery`, `fetch` or `new`) on a small study gets a signal (KILL, TERM, INT or HUP), as a
whole group, in its main process, a worker, a kernel or the process that forks kernels, once the command has used a
random share of the CPU time that it takes. Then no file may stand half-written in its place and no process may be left,
and the same command, given again, must end well and give what it gives undisturbed, byte for byte.

With `--disk FOLDER` nothing is killed, but the disk is full once the command has written a random share of what it
writes. FOLDER is an empty file system of its own, so that no other program is without space:

    mount -t tmpfs -o size=400m tmpfs FOLDER

The command must say that no space is left, and heal as after a kill.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "src")]

from fixtures.project_copy import Project, result  # noqa: E402

#: command -> how many of ten kills are its
COMMANDS = {"run": 4, "force": 1, "gallery": 1, "fetch": 2, "new": 2}
TARGETS = {"group": 3, "main": 3, "worker": 2, "kernel": 2, "forker": 1}
SIGNALS = ("KILL", "TERM", "INT", "HUP")
#: in place of a signal: the disk is full
FULL = "DISK"
SAID = "no space is left on the disk"
#: marks all processes of one command
TOKEN = "KILLS_TOKEN"
#: folders of the project that commands write to; `tmp` is their temporary folder
WRITTEN = ("data", "figures", "tables", "reports", "gallery", "params", "tmp")
#: seconds after which a process that should have ended counts as left over: a kernel looks for its parent each second
LEFT_OVER = 120.0
PATIENCE = 1800.0  # seconds for a command; only a hang takes as long
#: files that say when and for how long something ran; they must be whole, not the same
DATED = {"manifest.json", ".cache.json", ".lock"}
_PNG_END = b"IEND\xaeB`\x82"
FIGURE = """\
from judgebook.display import saving, style, tables
import pandas as pd
fig, ax = style.subplots(height=2)
ax.plot([0, 1])
saving.save(fig, "line", alt="a line", run=run)
tables.show(pd.DataFrame({"x": [1.5]}), "Wide", "wide", run=run)
"""


@dataclass(frozen=True)
class Kill:
    """number : of the kill. share : of the command's CPU time after which the signal is sent, or of the bytes that it
    writes, after which the disk is full."""

    number: int
    command: str
    target: str
    name: str
    share: float


@dataclass(frozen=True)
class Found:
    """sent : whether there was something to kill. code : how the command ended. faults : what is wrong."""

    kill: Kill
    sent: bool
    code: int
    faults: list[str]


class Victim:
    """A copy of the project with a small study, a registry with files to fetch, and what commands make undisturbed."""

    def __init__(self, folder: Path, commands: Iterable[str] = COMMANDS):
        self.project = Project(folder / "project")
        self.project.notebook("01_counts", [FIGURE, "n = len(run.read('annotations'))", result("a", "n")])
        after = "before = run.read_results('01_counts')['count']['estimate'][0]"
        self.project.notebook("02_after", [after, result("b", "before")])
        self.project.dag("01_counts: {reads: [annotations]}\n02_after: {needs: [01_counts]}\n")
        self.copy = folder / "copy" / "made"
        self.copy.mkdir(parents=True)
        self._register()
        self.tokens: list[str] = []
        self.expected: dict[str, dict[str, str]] = {}
        self.seconds: dict[str, float] = {}
        self.written: dict[str, int] = {}
        self.errors = ""
        for command in commands:
            self.clear(command)
            free = self.free()
            code, self.seconds[command], _ = self.end(command, None)
            self.written[command] = free - self.free()
            if code:
                raise SystemExit(f"{command}: exit code {code} though nothing was killed")
            self.expected[command] = self.contents()

    def _register(self) -> None:
        """A study in the copy's registry: files that are large enough for a kill to find one half-copied."""
        entries = {}
        for i in range(6):
            data = hashlib.shake_256(bytes([i])).digest(8_000_000)
            (self.copy / f"{i}.bin").write_bytes(data)
            blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            entries[f"{i}.bin"] = {"bytes": len(data), "upstream": [{"path": f"{i}.bin", "blob": blob}]}
        about = {"citation": "Nobody (2026).", "licence": "MIT", "repository": "no/where", "commit": "c" * 40}
        # JSON is YAML
        path = self.project.out("src", "judgebook", "sources", "registry.yaml")
        path.write_text(json.dumps({"made": about | {"files": entries}}))

    def arguments(self, command: str) -> list[str]:
        run = ["--study", "tiny", "--jobs", "1"]
        return {
            "run": run,
            "force": [*run, "--force"],
            "gallery": ["gallery", "--study", "tiny", "--jobs", "1"],
            "fetch": ["fetch", "made", "--from", str(self.copy.parent)],
            "new": ["new", "mine", "--data", "params/tiny.csv", "--yes"],
        }[command]

    def clear(self, command: str) -> None:
        """Put the project into the state in which the command has everything to do (`force`: nothing)."""
        out = self.project.out
        if command != "force" or not out("reports", "tiny", "index.html").is_file() or out("gallery").exists():
            for name in set(WRITTEN) - {"params"}:
                shutil.rmtree(out(name), ignore_errors=True)
            out("tmp").mkdir()
            if command == "force":
                self.end("run", None)
        out("params", "mine.yaml").unlink(missing_ok=True)

    def end(self, command: str, kill: Kill | None) -> tuple[int, float, bool]:
        """Carry out a command, and send a signal. Returns exit code, CPU seconds and whether the signal was sent."""
        self.tokens.append(uuid.uuid4().hex)
        errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 closed below
        process = subprocess.Popen(
            [sys.executable, "run_all.py", *self.arguments(command)],
            cwd=self.project.folder,
            env=self.project.environment() | {TOKEN: self.tokens[-1], "TMPDIR": str(self.project.out("tmp"))},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
            # shells start background jobs with signals ignored, which children inherit
            preexec_fn=lambda: [signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_DFL) for name in SIGNALS[1:]],
        )
        used, sent, limit = 0.0, False, time.monotonic() + PATIENCE
        while process.poll() is None:
            used = max(used, _cpu(process.pid))
            if kill and kill.name != FULL and not sent and used >= kill.share * self.seconds[command]:
                sent = _send(process.pid, kill)
            if time.monotonic() > limit:
                os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.1)
        with errors:
            errors.seek(0)
            self.errors = errors.read()
        return process.returncode, used, sent

    def free(self) -> int:
        """Bytes that are free where the project stands."""
        return shutil.disk_usage(self.project.folder).free

    @contextmanager
    def room(self, kill: Kill) -> Iterator[None]:
        """Only so much space as the kill says, where it is of the disk."""
        filled = self.project.folder.parent / "filled"
        if kill.name == FULL:
            with filled.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, self.free() - int(kill.share * self.written[kill.command]))
        try:
            yield
        finally:
            filled.unlink(missing_ok=True)

    def try_out(self, kill: Kill) -> Found:
        """One kill, what it left, and the command given again."""
        self.clear(kill.command)
        with self.room(kill):
            code, _, sent = self.end(kill.command, kill)
            faults = [f"process left over: {name}" for name in self.left_over()]
        if kill.name == FULL:
            sent = code != 0
            if sent and SAID not in self.errors:
                faults.append(f"did not say that {SAID}: {self.errors[-300:]!r}")
        faults += self.half_written(kill.command)
        again, _, _ = self.end(kill.command, None) if self.needs_more(kill) else (0, 0, False)
        if again:
            faults.append(f"given again, the command ended with {again}")
        found, expected = self.contents(), self.expected[kill.command]
        for name in sorted({*found, *expected}):
            if found.get(name) != expected.get(name):
                how = "differs" if name in found and name in expected else "lacks" if name in expected else "has"
                faults.append(f"afterwards {how} {name}")
        return Found(kill, sent, code, faults)

    def needs_more(self, kill: Kill) -> bool:
        """`new` refuses a name that is taken, which is right where it had come so far."""
        return kill.command != "new" or not self.project.out("params", "mine.yaml").exists()

    def left_over(self) -> list[str]:
        """Processes of the last command that do not end."""
        limit = time.monotonic() + LEFT_OVER
        while (found := _of(self.tokens[-1])) and time.monotonic() < limit:
            time.sleep(0.1)
        names = []
        for process in found:
            with suppress(psutil.NoSuchProcess):  # it ended just now; a zombie has, too
                names.append(f"{' '.join(process.cmdline())[:100]} ({process.status()})")
                process.kill()
        return names

    def half_written(self, command: str) -> list[str]:
        """Files in their place that are not whole. What depends on how far the run came must only be complete."""
        faults = []
        for name, content in self.contents().items():
            path = self.project.folder / name
            if any(_unfinished(part) for part in path.parts) or name.endswith(".failed.ipynb"):
                continue
            if path.suffix == ".html":
                whole = path.read_text(encoding="utf-8").rstrip().endswith("</html>")
            elif path.suffix == ".json":
                whole = _is_json(path)
            elif path.suffix == ".png":
                whole = path.read_bytes().endswith(_PNG_END)
            elif "/paper/" in name:
                whole = path.stat().st_size > 0
            else:
                whole = content == self.expected[command].get(name, self.expected.get("force", {}).get(name))
            faults += [] if whole else [f"half-written: {name}"]
        return faults

    def contents(self) -> dict[str, str]:
        """Digest of each file that commands write, by path; of dated ones only that they are there."""
        out = {}
        for path in (p for folder in WRITTEN for p in self.project.out(folder).rglob("*") if p.is_file()):
            content = b"" if path.name in DATED else path.read_bytes()
            if path.suffix in (".html", ".md", ".tex"):  # of the day
                content = re.sub(rb"\d{4}-\d{2}-\d{2}", b"", content)
            out[path.relative_to(self.project.folder).as_posix()] = hashlib.sha256(content).hexdigest()
        return out


def _unfinished(part: str) -> bool:
    return part == ".work" or (part.startswith(".") and part.endswith(".tmp"))


def _is_json(path: Path) -> bool:
    try:
        json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return True


def _of(token: str) -> list[psutil.Process]:
    """Processes that were started with a token in their environment, whoever is their parent now."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.environ().get(TOKEN) == token and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _tree(pid: int) -> list[psutil.Process]:
    try:
        main = psutil.Process(pid)
        return [main, *main.children(recursive=True)]
    except psutil.Error:
        return []


def _cpu(pid: int) -> float:
    """CPU seconds of a process and all that it started."""
    used = 0.0
    for process in _tree(pid):
        with suppress(psutil.Error):
            times = process.cpu_times()
            used += times.user + times.system + times.children_user + times.children_system
    return used


def _send(pid: int, kill: Kill) -> bool:
    """Send the signal; False where the target does not live, or not yet."""
    number = getattr(signal, f"SIG{kill.name}")
    with suppress(ProcessLookupError, psutil.Error):
        if kill.target == "group":
            os.killpg(pid, number)
            return True
        for process in _tree(pid):
            if kill.target in ("main", _kind(process)):
                process.send_signal(number)
                return True
    return False


def _kind(process: psutil.Process) -> str:
    """What a process of a run is. A kernel was forked by the process that has imported what all kernels need."""
    command = " ".join(process.cmdline())
    if "warm.py" in command:
        parent = process.parent()
        return "kernel" if parent and "warm.py" in " ".join(parent.cmdline()) else "forker"
    return "worker" if "spawn_main" in command else "kernel" if "ipykernel_launcher" in command else ""


def kills(n: int, seed: int, commands: Iterable[str] = COMMANDS, *, full: bool = False) -> Iterator[Kill]:
    """What is tried, from a seed; only runs and `gallery` have workers and kernels. full : disks, not kills."""
    draw, weights = random.Random(seed), {name: COMMANDS[name] for name in commands}
    for number in range(n):
        (command,) = draw.choices([*weights], [*weights.values()])
        (target,) = draw.choices([*TARGETS], [*TARGETS.values()])
        target = target if command not in ("fetch", "new") else draw.choice(("group", "main"))
        name = draw.choice(SIGNALS)
        yield Kill(number, command, "disk" if full else target, FULL if full else name, draw.random())


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=[*COMMANDS])
    parser.add_argument("--disk", type=Path, help="an empty file system that is filled; nothing is killed")
    asked = parser.parse_args(arguments)
    if asked.disk and not os.path.ismount(asked.disk):
        parser.error(f"{asked.disk}: expected a file system of its own, as everything in it is without space")
    done: list[Found] = []
    with tempfile.TemporaryDirectory(dir=asked.disk) as folder:
        victim = Victim(Path(folder), asked.commands)
        for kill in kills(asked.kills, asked.seed, asked.commands, full=bool(asked.disk)):
            done.append(victim.try_out(kill))
            last = done[-1]
            told = f"{kill.number:4} {kill.command:7} {kill.target:6} {kill.name:4} at {kill.share:4.0%}"
            print(f"{told}: {'' if last.sent else 'too late, '}exit {last.code}", *last.faults, sep="; ", flush=True)
    table = Counter((f.kill.command, f.kill.target, bool(f.faults)) for f in done)
    print("\n| command | target | kills | with faults |\n| --- | --- | --- | --- |")
    for command, target in sorted({key[:2] for key in table}):
        bad = table[command, target, True]
        print(f"| {command} | {target} | {table[command, target, False] + bad} | {bad} |")
    faults = sum(bool(f.faults) for f in done)
    print(f"\n{len(done)} kills ({sum(f.sent for f in done)} before the end), {faults} with faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
