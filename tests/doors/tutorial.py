"""The simulated judgements of docs/tutorial.md, and what the page shows of `audit`.

`python tests/doors/tutorial.py` writes both anew; then read the page through:
its sentences name the numbers.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from judgebook.project import ROOT

PAGE, DATA = ROOT / "docs" / "tutorial.md", ROOT / "examples" / "tutorial.csv"
#: system -> quality, from which the true qualities of its dialogues vary
SYSTEMS = {"Ada": 0.75, "Bob": 0.1, "Cleo": 0.0, "Dora": -0.6}
#: group -> its people, and the noise of their judgements; people of a group differ in strictness
GROUPS = {"student": 0.7, "expert": 0.45}
PEOPLE, RUNS, DIALOGUES, LABELS = 12, 2, 30, ("helpful", "fluent")


def data() -> str:
    """Four systems with 30 dialogues in each of two runs, each judged by two students, two experts and a model."""
    rng = np.random.default_rng(7)
    people = {group: [f"{group[0]}{i}" for i in range(1, PEOPLE + 1)] for group in GROUPS}
    strict = {person: rng.normal(0, 0.25) for many in people.values() for person in many}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["dialogue", "system", "run", "annotator", "group", *LABELS, "seconds"])
    for run in range(1, RUNS + 1):
        for number in range(1, DIALOGUES + 1):
            for system, quality in SYSTEMS.items():
                true = {label: quality + rng.normal(0, 0.6) for label in LABELS}
                who = [(g, person) for g, many in people.items() for person in rng.choice(many, 2, replace=False)]
                for group, person in [*who, ("model", "gpt-judge")]:
                    bias, noise = strict.get(person, 0.4), GROUPS.get(group, 0.7)
                    seconds = int(np.exp(rng.normal(3.9, 0.4)))
                    scores = [np.clip(round(3.2 + true[x] + bias + rng.normal(0, noise)), 1, 5) for x in LABELS]
                    row = [f"{run}-{number:02d}-{system}", system, run, person, group, *scores]
                    writer.writerow([*row, "" if group == "model" else seconds])
    return out.getvalue()


def printed(folder: Path) -> str:
    """What `audit` prints of the data, in a folder of its own."""
    shutil.copytree(DATA.parent, folder / "examples")
    command = [sys.executable, "-m", "judgebook", "audit", "examples/tutorial.csv", "--yes"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def shown(text: str, page: str) -> str:
    """The page with what `audit` printed: how the data are read, and the answers."""
    parts = {
        "reading": re.search(r"^  system: .*\n(?:  \w.*\n)*", text, re.M)[0],
        "answers": re.search(r"^\d+ people answered.*?(?=^page: )", text, re.M | re.S)[0].rstrip() + "\n",
    }
    for name, part in parts.items():
        page = re.sub(rf"(^```text {name}\n).*?(?=^```$)", lambda m, part=part: m[1] + part, page, flags=re.M | re.S)
    return page


if __name__ == "__main__":
    DATA.write_text(data(), encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        PAGE.write_text(shown(printed(Path(name)), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
