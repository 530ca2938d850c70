"""What a run costs beside the analyses themselves: `python benchmarks/pipeline.py` prints one table.

Goals are those of the design: an up-to-date run in half a second, at most 0.8 s a notebook beyond its own compute and
imports, the embedded study from nothing in a minute.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))


def timed(*arguments: str, out: str) -> float:
    """Seconds of a run of the command line that writes below `out`."""
    start = time.perf_counter()
    command = [sys.executable, str(ROOT / "run_all.py"), *arguments, "--out", out]
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def imports(module: str) -> float:
    """Seconds to start Python and import a module, less those to start Python; best of five."""

    def best(code: str) -> float:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        times = []
        for _ in range(5):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True, env=environment)
            times.append(time.perf_counter() - start)
        return min(times)

    return best(f"import {module}") - best("pass")


def overhead(folder: Path, runs: int = 5) -> float:
    """Seconds of a notebook of ten cells that do next to nothing, in a worker that is warm; median of `runs`."""
    import nbformat

    from judgebook.pipeline import worker

    os.environ["COMPENDIUM_OUT"] = str(folder)
    worker.initialize()
    head = nbformat.v4.new_code_cell('study: str = "demo"', metadata={"tags": ["parameters"]})
    cells = [head, *(nbformat.v4.new_code_cell("x = 1") for _ in range(10))]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "nb.ipynb")
    paths = (folder / "done.ipynb", folder / "failed.ipynb", folder / ".work")
    job = worker.NotebookJob("nb", folder / "nb.ipynb", {"study": "demo"}, (), *paths)
    outcomes = [worker.notebook(job) for _ in range(runs + 1)][1:]
    problems = {o.message for o in outcomes if o.state != "done"}
    if problems:
        raise SystemExit(f"the notebook failed: {problems}")
    return statistics.median(o.seconds for o in outcomes)


def main() -> None:
    argparse.ArgumentParser(description=__doc__.split(":")[0] + "; it takes three minutes").parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [("first run (ji2022, llmfao, demo), nothing processed yet", timed(out=folder), "90")]
        demo = min(timed("--study", "demo", out=folder) for _ in range(5))
        rows.append(("demo, nothing changed (best of 5)", demo, "0.5"))
    with tempfile.TemporaryDirectory() as folder:
        rows.append(("a notebook of ten empty cells, warm worker", overhead(Path(folder)), "0.8"))
    rows.append(("import judgebook", imports("judgebook"), "0.3"))
    rows.append(("import judgebook.study.params", imports("judgebook.study.params"), "0.3"))
    print("| what | seconds | goal |\n| --- | --- | --- |")
    for what, seconds, goal in rows:
        print(f"| {what} | {seconds:.2f} | {goal} |")


if __name__ == "__main__":
    main()
