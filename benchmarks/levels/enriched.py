"""Review queues whose YAML says nothing of how dialogues were drawn: does the design check name it?

    python benchmarks/levels/enriched.py [first seed] [files]

Writes `enriched.csv` beside this file. The files of `tests/faults/queues.py`, no two of which are alike, and as many
clean twins are read as a run would. Counted is whether `enriched_sample` is among the three findings that the first
page shows, with names of columns with which the check was written, and with others.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "faults")]

import queues  # noqa: E402

from judgebook.display.names import display_names  # noqa: E402
from judgebook.questions.design import analysis, findings  # noqa: E402
from judgebook.sources import build  # noqa: E402
from judgebook.study import params  # noqa: E402

FAULT = "enriched_sample"


def shown(file: queues.File, folder: Path) -> list[str]:
    """Codes of the findings that the first page shows."""
    study = params.load(file.write(folder))
    built = build.build(study)
    marks, given = built.frames["annotations"], ("counts", "metric_scores", "dialogue_facts")
    frames = {name: built.frames[name] for name in given}
    found = analysis.examine(
        marks, built.frames["dialogues"], study.label_list(), own_ids=built.own_ids, selection=study.heds.selection,
        **frames,
    )  # fmt: skip
    return [one.code for one in findings.worded(found, display_names(study, marks))[: findings.BOX]]


def main(first: int, n: int) -> None:
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for new_names in (False, True):
            for enriched in (True, False):
                seeds = range(first, first + n)
                files = [queues.queue(s, enriched=enriched, new_names=new_names) for s in seeds]
                codes = [shown(file, Path(folder)) for file in files]
                row = {"files": "enriched" if enriched else "clean twins", "names": "new" if new_names else "known"}
                missed = [file.name for file, own in zip(files, codes, strict=True) if (FAULT in own) != enriched]
                out.append(row | {"n": n, "named": sum(FAULT in own for own in codes), "wrong": " ".join(missed)})
                print(out[-1], flush=True)
    pd.DataFrame(out).to_csv(Path(__file__).with_suffix(".csv"), index=False)


if __name__ == "__main__":
    main(*(int(x) for x in (sys.argv[1:] + ["4000", "30"][len(sys.argv) - 1 :])))
