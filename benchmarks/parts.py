"""Where the CPU time of a run goes: prints a table of its parts, and when the first page was there.

    python benchmarks/size.py write out/size/small.yaml --judgements 5e3 --systems 5 --labels 6 --people 60
    COMPENDIUM_RAW=out/size python benchmarks/parts.py --study out/size/small.yaml --out out/parts
    python benchmarks/parts.py --by notebook --study ji2022 --out out/parts

All arguments but `--by` are those of a run. Each process of it notes, every 5 ms of its CPU time, what it is at: the
innermost call that is of one part decides, and what is done for an import is of imports. `--by notebook` and
`--by function` show more of the same. The sums are those of the notes; the system's count, which includes what happens
before Python can note anything, is printed below.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: read by each Python that starts; a process that is forked goes on noting
NOTING = """
import os, signal, sys, time

last = time.process_time()

def note(number, frame):
    global last
    now, calls = time.process_time(), []
    while frame:
        calls.append(f"{frame.f_code.co_filename}:{frame.f_code.co_name}")
        frame = frame.f_back
    line = f"{now - last}\\t{os.getcwd()}\\t" + "\\t".join(calls) + "\\n"
    last = now
    file = os.open(os.environ["NOTES"] + f"/{os.getpid()}", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line.encode())
    os.close(file)

def begin():
    global last
    last = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 0.005, 0.005)

if "NOTES" in os.environ:
    signal.signal(signal.SIGPROF, note)
    os.register_at_fork(after_in_child=begin)
    begin()
"""
#: part -> what the path of the innermost call matches
PARTS = {
    "figures": r"/(matplotlib|seaborn|fontTools)/|/figures\.py|/display/(plots|style|marks|narrow|options|grid)",
    "tables and texts": r"/tables\.py|/text\.py|/findings\.py|judgebook/display/",
    "reading the data": r"judgebook/(sources|simulation)/",
    "pages": r"judgebook/(report|summary|extras)/|pipeline/(page_jobs|first_page|composed|pages)",
    "running notebooks": r"judgebook/pipeline/|/(papermill|nbclient|ipykernel|jupyter_client|IPython)/",
    "statistics": r"judgebook/(statistics|questions|published|annotations|execution|study)/|/helpers/",
}


def part(calls: list[str]) -> str:
    if any(call.startswith("<frozen importlib") for call in calls):
        return "imports"
    return next((name for call in calls for name, path in PARTS.items() if re.search(path, call)), "other")


def function(calls: list[str]) -> str:
    """The innermost function of this project."""
    own = (call.rpartition("/judgebook/")[2] for call in calls if "/judgebook/" in call)
    return next(own, "none of this project")


def noted(folder: Path, by: str) -> Counter[str]:
    """CPU seconds by part, or by notebook and part, or by function and part."""
    seconds: Counter[str] = Counter()
    for path in folder.iterdir():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            took, where, *calls = line.split("\t")
            of = {"notebook": Path(where).name.rpartition("-")[0] if "/.work/" in where else "no notebook"}
            of["function"] = function(calls)
            seconds[" | ".join([*([of[by]] if by in of else []), part(calls)])] += float(took)
    return seconds


def main() -> None:
    arguments, by = sys.argv[1:], "part"
    if arguments[:1] == ["--by"]:
        by, arguments = arguments[1], arguments[2:]
    if not arguments or "-h" in arguments or "--help" in arguments:
        raise SystemExit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sitecustomize.py").write_text(NOTING, encoding="utf-8")
        notes = Path(folder, "notes")
        notes.mkdir()
        path = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "NOTES": str(notes), "PYTHONPATH": path}
        begun = time.monotonic()
        run = [sys.executable, "-u", str(ROOT / "run_all.py"), *arguments]
        with subprocess.Popen(run, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                print(line, end="", flush=True)
                if line.startswith("  first page: "):
                    print(f"  up to it, {noted(notes, by).total():.1f} s of CPU time were noted", flush=True)
        wall, use = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = noted(notes, by)
    print(f"\n| {'part' if by == 'part' else f'{by} | part'} | CPU, s |\n| --- | --- |" + " --- |" * (by != "part"))
    for name, took in seconds.most_common(None if by == "part" else 40):
        print(f"| {name} | {took:.1f} |")
    print(
        f"\nnoted {seconds.total():.1f} s; user {use.ru_utime:.1f} s, system {use.ru_stime:.1f} s; {wall:.1f} s in all"
    )
    raise SystemExit(process.returncode)


if __name__ == "__main__":
    main()
