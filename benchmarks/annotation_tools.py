"""A round trip through Label Studio: `python benchmarks/annotation_tools.py --labelstudio BIN`.

BIN is the `bin` folder of an environment of its own with `pip install label-studio`. For each method, `run_all.py
annotate demo` writes a project. The tool is started on a free port, and the project is loaded and answered by a
script through the tool's own interface, with one account per annotator. The export is read by the YAML that came with
the project and by the one that `run_all.py new` writes: both must give the judgements that were posted, one for one.
Notebooks 03 and 07 make a report of them. Answers are random, and better for later systems. Exit code 1 if anything
differs. Servers are stopped and their data removed. The first start of Label Studio takes a minute, for its database;
LABEL_STUDIO_PREPARED may name the data folder of an earlier start with the same token, which is copied.
"""

from __future__ import annotations

import argparse
import http.cookiejar
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

from judgebook.extras.annotate import label_studio as asking  # noqa: E402
from judgebook.extras.new import draft  # noqa: E402
from judgebook.sources import build  # noqa: E402
from judgebook.study import params  # noqa: E402

METHODS = ("behavior", "dialogue_likert", "comparative")
PEOPLE = 3
_TOKEN, _PASSWORD = "0123456789abcdef0123456789abcdef01234567", "correct-horse-7"
#: seconds until a tool must answer: the first start of Label Studio makes its database, a minute on an idle machine
_PATIENCE = 1200


class Client:
    """A browser without a screen: keeps cookies, sends what a form or script would."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url, self.token = url, token
        self.cookies = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))

    def get(self, path: str) -> str:
        return self._send(urllib.request.Request(self.url + path))

    def form(self, path: str, **fields: str) -> str:
        csrf = {"csrfmiddlewaretoken": self._cookie("csrftoken")} if self._cookie("csrftoken") else {}
        return self._send(urllib.request.Request(self.url + path, urllib.parse.urlencode(fields | csrf).encode()))

    def json(self, path: str, content: Any) -> Any:
        request = urllib.request.Request(self.url + path, json.dumps(content).encode())
        request.add_header("Content-Type", "application/json")
        return json.loads(self._send(request))

    def _cookie(self, name: str) -> str:
        return next((c.value or "" for c in self.cookies if c.name == name), "")

    def _send(self, request: urllib.request.Request) -> str:
        if self.token:
            request.add_header("Authorization", f"Token {self.token}")
        if self._cookie("csrftoken"):
            request.add_header("X-CSRFToken", self._cookie("csrftoken"))
        request.add_header("Referer", self.url)
        try:
            with self.opener.open(request, timeout=120) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{request.full_url}: {error.code} {error.read()[:500]!r}") from None


@contextmanager
def server(command: list[str], port: int, folder: Path, log: Path) -> Iterator[str]:
    """The address of a tool, which is stopped in the end."""
    url = f"http://127.0.0.1:{port}"
    with log.open("w") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out, start_new_session=True)
        try:
            for _ in range(_PATIENCE):
                try:
                    Client(url).get("/")
                    break
                except (OSError, RuntimeError):
                    if process.poll() is not None:
                        raise RuntimeError(f"{command[0]} ended: {log.read_text()[-2000:]}") from None
                    time.sleep(1)
            yield url
        finally:
            with_group = getattr(os, "killpg", None)
            if with_group:
                with_group(process.pid, 15)
            else:
                process.terminate()
            process.wait(60)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def drawn(question: asking.Question, key: dict, systems: list[str], seed: str) -> asking.Option:
    """The answer of an annotator: the better the later the system; everybody errs."""
    pick = random.Random(f"{seed} {question.name} {key['dialogue']} {key.get('turn')} {key.get('dialogue_b')}")
    level = systems.index(key["system"]) / len(systems)
    if "system_b" in key:
        level = 0.5 + (level - systems.index(key["system_b"]) / len(systems)) / 2
    options = sorted(question.options, key=lambda one: one.score)
    return options[min(len(options) - 1, max(0, round(pick.gauss(level, 0.3) * (len(options) - 1))))]


def posted(question: asking.Question, option: asking.Option, key: dict) -> tuple:
    return same_side(key["dialogue"], key.get("dialogue_b"), key.get("turn"), question.label.id, option.score)


def same_side(dialogue: str, other: Any, turn: Any, label: str, score: float) -> tuple:
    """A judgement, comparisons from the side of the first dialogue by name."""
    turn = None if turn is None or turn != turn else int(turn)
    if isinstance(other, str) and other < dialogue:
        return other, dialogue, turn, label, -float(score) + 0.0
    return dialogue, other if isinstance(other, str) else None, turn, label, float(score)


def label_studio(tools: Path, folder: Path, asked: list, keys: dict, systems: list[str], scratch: Path) -> list:
    """Load the project, answer its tasks, save the export; returns what was posted."""
    port = free_port()
    command = [str(tools / "label-studio"), "start", "--data-dir", str(scratch / "ls"), "-p", str(port), "-b"]
    command += ["--username", "lead@example.org", "--password", _PASSWORD, "--user-token", _TOKEN]
    command += ["--enable-legacy-api-token", "--internal-host", "127.0.0.1", "--init", "first"]
    if prepared := os.environ.get("LABEL_STUDIO_PREPARED"):
        shutil.copytree(prepared, scratch / "ls")
    out = []
    with server(command, port, scratch, scratch / "label-studio.log") as url:
        lead = Client(url, _TOKEN)
        settings = {"title": folder.name, "label_config": (folder / "config.xml").read_text(encoding="utf-8")}
        project = lead.json("/api/projects", settings | {"maximum_annotations": 1})["id"]
        lead.json(f"/api/projects/{project}/import", json.loads((folder / "tasks.json").read_text(encoding="utf-8")))
        for person in range(1, PEOPLE + 1):
            only = {"filter": "filter:tasks:data.person", "operator": "equal", "type": "Number", "value": person}
            tab = {"type": "list", "filters": {"conjunction": "and", "items": [only]}, "ordering": ["tasks:id"]}
            view = lead.json("/api/dm/views", {"project": project, "data": tab | {"title": f"Annotator {person}"}})[
                "id"
            ]
            client = Client(url)
            client.get("/user/signup")
            client.form("/user/signup", email=f"annotator{person}@example.org", password=_PASSWORD)
            tasks = json.loads(client.get(f"/api/tasks?view={view}&page_size=10000&fields=all"))["tasks"]
            wanted = [k for k in keys.values() if k["planned_for"] == person]
            if [t["data"]["item"] for t in tasks] != [k["id"] for k in wanted]:
                raise RuntimeError(f"the tab of annotator {person} shows other tasks than planned")
            for task in tasks:
                key, result = keys[task["data"]["item"]], []
                for question in asked:
                    option = drawn(question, key, systems, str(person))
                    value = {"choices": [option.code]}
                    to = "response" if "turn" in key else "dialogue"
                    result.append({"from_name": question.name, "to_name": to, "type": "choices", "value": value})
                    out.append(posted(question, option, key))
                client.json(f"/api/tasks/{task['id']}/annotations", {"result": result, "lead_time": 12.5})
        exported = lead.get(f"/api/projects/{project}/export?exportType=JSON")
    (folder / "export.json").write_text(exported, encoding="utf-8")
    return out


def read(path: Path) -> tuple[list[tuple], int, set[str]]:
    """The judgements that a YAML reads, by how many annotators, of which systems."""
    found = build.build(params.load(str(path))).frames["annotations"]
    columns = ["dialogue", "dialogue_b", "turn", "label", "score"]
    rows = found[columns].astype(object).where(found[columns].notna(), None).to_dict("records")
    systems = set(found["system"]) | set(found["system_b"].dropna())
    each = [same_side(r["dialogue"], r["dialogue_b"], r["turn"], r["label"], r["score"]) for r in rows]
    return each, found["annotator"].nunique(), systems


def round_trip(tools: Path, method: str, study: str, out: Path, notebooks: str, per_system: int) -> list[str]:
    """Carry out one round trip below `out`; returns what went wrong."""
    say = [sys.executable, str(ROOT / "run_all.py")]
    call = [*say, "annotate", study, "--method", method, "--per-system", str(per_system)]
    call += ["--annotators", str(PEOPLE), "--overlap", "6", "--out", str(out)]
    subprocess.run(call, check=True)
    key = params.load(study).key
    folder = out / "annotation" / key / method
    keys = {k["id"]: k for k in map(json.loads, (folder / "key.jsonl").read_text(encoding="utf-8").splitlines())}
    asked = asking.questions(params.load(study), method)
    systems = sorted({k[side] for k in keys.values() for side in ("system", "system_b") if side in k})
    with tempfile.TemporaryDirectory() as scratch:
        given = label_studio(tools, folder, asked, keys, systems, Path(scratch))
    wrong = []
    own = folder / f"{key}_annotated.yaml"
    guessed = folder / "guessed.yaml"
    guessed.write_text(draft.new_yaml("guessed", folder / "export.json", folder), encoding="utf-8")
    for path in (own, guessed):
        found, people, shown = read(path)
        if Counter(found) != Counter(given):
            extra, lost = (
                list((Counter(found) - Counter(given)).items()),
                list((Counter(given) - Counter(found)).items()),
            )
            wrong.append(
                f"{path}: {len(found)} read, {len(given)} posted; read only {extra[:2]}, posted only {lost[:2]}"
            )
        if people != PEOPLE or shown != set(systems):
            wrong.append(f"{path}: {people} annotators, systems {sorted(shown)}")
    if notebooks:
        run = [*say, "--study", str(own), "--only", notebooks, "--jobs", "1", "--out", str(out)]
        done = subprocess.run([*run, "--set", "bootstrap.n_resamples=500"])
        report = out / "reports" / own.stem / "index.html"
        wrong += [] if done.returncode == 0 and report.is_file() else [f"{own}: no report"]
    print(f"{method}: {len(given)} judgements posted; {'; '.join(wrong) or 'all read'}", flush=True)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labelstudio", type=Path, metavar="BIN", required=True, help="folder of its programs")
    parser.add_argument("--method", action="append", choices=METHODS, help="only this")
    parser.add_argument("--study", default="demo", help="whose dialogues; it must have been run below --out")
    parser.add_argument("--out", type=Path, help="where to write, and where the study was run")
    parser.add_argument("--only", default="03,07", metavar="A,B", help="notebooks of the report; empty: none")
    parser.add_argument("--per-system", type=int, default=8, help="dialogues drawn from each system")
    args = parser.parse_args()
    out = (args.out or ROOT).resolve()
    os.environ["COMPENDIUM_OUT"] = str(out)
    wrong = []
    # not resolved: a symbolic link to the interpreter is how an environment is known
    tools = Path(os.path.abspath(args.labelstudio))
    for method in args.method or METHODS:
        shutil.rmtree(out / "annotation" / params.load(args.study).key / method, ignore_errors=True)
        wrong += round_trip(tools, method, args.study, out, args.only, args.per_system)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
