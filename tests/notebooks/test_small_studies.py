"""Every notebook on small studies, one of each shape, in one run; weights and methods of one's own have theirs in
`test_special_studies.py`.

odd : a hand-made ABC-Eval project of two dialogues that uses every part of the format.  crowd : a long table of two
runs, with a control system, two groups of workers, texts and scores of metrics; no id in it is a word, and all have
display names.  judged : marks by people, a language model and classifiers.  wide : the YAML that the README prints,
with twelve rows of ratings.
"""

import html
import io
import json
import re

import nbformat
import numpy as np
import pandas as pd
import pytest
from fixtures import abc_eval_project as abc_project
from fixtures import yaml_studies as studies
from fixtures.notebook_runs import CHECKS, NOT_SIMULATED, check_alpha, moved_by_the_seed, run_all
from nbclient import NotebookClient

from judgebook.pipeline.audit.writing import audited
from judgebook.pipeline.page_jobs import COMPUTED
from judgebook.study.params import ROOT
from judgebook.study.results import unfold
from judgebook.study.stored import open_study

SECONDS = 190
pytestmark = pytest.mark.verify
ODD = """\
title: A project with every part
label_set: abc_eval
sources: [{adapter: abc_eval, files: [project.json]}]
"""
CROWD = """\
title: Crowd workers
method: dialogue_rating
sources:
  - adapter: table
    file: crowd.csv
    layout: long
    columns: {corpus: run, group: team, annotator: worker, work_unit: task, system: bot, dialogue: chat, \
context: item, period: week, label: what, score: rating, user_text: asked, system_text: said, reference: gold}
    metrics: {zz_metric_a: a, zz_metric_b: b}
control_system: zz_dull
systems: {zz_quick: Quick, zz_calm: Calm, zz_plain: Plain, zz_dull: Dull}
corpora: {zz_first: Opening run, zz_second: Repeat run}
groups: {zz_team_0: {title: Day shift}, zz_team_1: {title: Night shift}}
labels:
  zz_fluent: {scale: [1, 5], direction: 1, title: Fluent}
  zz_dull_label: {scale: [1, 5], direction: -1, title: Boring}
metrics: {titles: {zz_metric_a: First metric, zz_metric_b: Second metric}}
"""
JUDGED = """\
title: Marks by people and models
label_set: abc_eval
sources: [{adapter: behaviors, file: marks.json}]
"""


def crowd():
    """Two runs: six workers of each of two teams rate four bots, one of them worse, two workers an item."""
    rng = np.random.default_rng(11)
    bots = {"zz_quick": 4.0, "zz_calm": 3.5, "zz_plain": 3.0, "zz_dull": 1.6}
    words = ["the", "a", "cat", "dog", "sat", "ran", "far", "away", "on", "mat", "we", "like", "tea", "and", "rain"]
    said = {(i, bot): " ".join(rng.choice(words, rng.integers(3, 9))) for i in range(12) for bot in bots}
    scored = {key: (len(text) / 10 + rng.normal(0, 0.3), rng.normal()) for key, text in said.items()}
    rows = ["run,team,worker,task,bot,chat,item,week,what,rating,asked,said,gold,a,b"]
    for run_, worker in ((r, w) for r in ("zz_first", "zz_second") for w in range(12)):
        for i, bot in ((i, bot) for i in (worker, (worker + 1) % 12) for bot in bots):
            a, b = scored[i, bot]
            for what in ("zz_fluent", "zz_dull_label"):
                mean = bots[bot] if what == "zz_fluent" else 6 - bots[bot]
                rating = int(np.clip(round(rng.normal(mean, 0.9)), 1, 5))
                item = f"{bot},{i}-{bot},{i},2026-W{10 + i // 4}"
                who = f"{run_},zz_team_{worker // 6},{run_[3]}{worker},{run_}-{worker},{item},{what}"
                rows.append(f"{who},{rating},how are you,{said[i, bot]},the cat sat on a mat,{a:.3f},{b:.3f}")
    return "\n".join(rows) + "\n"


def ratings(n):
    """A wide table of `n` items, two labels and three annotators who agree more or less; one cell is missing."""
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 6, (n, 2))
    scores = np.clip(truth[:, :, None] + rng.integers(-1, 2, (n, 2, 3)), 1, 5).reshape(n, 6).astype(str)
    scores[4, 1] = "N/A"
    names = [f"{label}_a{i}" for label in ("fluency", "quality") for i in (1, 2, 3)]
    lines = [",".join(["id", *names]), *(",".join([f"d{i}", *row]) for i, row in enumerate(scores))]
    return "\n".join(lines) + "\n"


def judged():
    """Two people and a language model mark two behaviours of 24 dialogues, a classifier only one of them."""
    rng, out = np.random.default_rng(5), {}
    for i in range(24):
        truth = rng.random((6, 2)) < 0.3
        marks = (truth[:, :, None] ^ (rng.random((6, 2, 4)) < [0.1, 0.1, 0.3, 0.4])).astype(int).tolist()
        out[f"{i // 2}_{'emora' if i % 2 else 'cem'}"] = [
            {"user": "how are you", "system": "fine", "behaviors": {
                "ignore": {"human": ignore[:2], "gpt": ignore[2], "specialized": ignore[3]},
                "redundant": {"human": redundant[:2], "gpt": redundant[2]},
            }} for ignore, redundant in marks]  # fmt: skip
    return out


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    files = {"project_json": abc_project.project(), "crowd_csv": crowd(), "marks_json": judged(), "my_csv": ratings(12)}
    texts = {"odd": ODD, "crowd": CROWD, "judged": JUDGED, "wide": studies.WIDE}
    return run_all(folder, [studies.write(folder, text, name, **files) for name, text in texts.items()], jobs=2)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_notebook_on_small_studies(world, check):
    assert list(check(world)) == [], world.said


def test_what_the_simulated_study_lacks_runs_on_one_of_them(world):
    assert {name for _, name in world.ran()} >= NOT_SIMULATED, world.said


def headings(notebook):
    cells = json.loads((ROOT / "notebooks" / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]
    return " ".join("".join(c["source"]).partition("\n")[0] for c in cells if c["cell_type"] == "markdown")


@pytest.mark.parametrize("study", ["crowd", "judged"])
def test_an_audit_stores_what_the_notebooks_store_of_ours(world, study, tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    _, rows = audited(world.folder / f"{study}.yaml", world.values, lambda step: None)
    computed = [row.name for row in rows if row.state == COMPUTED]
    assert len(computed) >= 4, rows
    for name in computed:
        results = pd.read_parquet(tmp_path / "data" / "processed" / study / "results" / f"{name}.parquet")
        stored = world.results(study, name)
        more = pd.concat([stored, results]).drop_duplicates(keep=False)
        assert len(more) == len(stored) - len(results)
        assert more.empty or "As published" in headings(name)  # cells add what the papers computed
    assert {row.name for row in rows if row.state == "failed"} == set()


@pytest.fixture
def opened(world, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(world.folder))
    return open_study("crowd")


def test_results_are_read_in_one_line(world, opened):
    """What is read is what was stored, without empty columns, and with the keys of the statistic as columns."""
    stored = pd.concat([world.results("crowd", name) for study, name in world.ran() if study == "crowd"])
    counts = opened.statistics.set_index(["notebook", "statistic"])["rows"]
    assert counts.to_dict() == stored.groupby(["notebook", "statistic"]).size().to_dict()
    means = opened.results("mean")
    of_notebook = unfold(world.results("crowd", "07_bot_performance"))["mean"]
    assert means["estimate"].tolist() == of_notebook["estimate"].tolist()
    assert means.notna().any().all()
    fluent = opened.results("mean", label="zz_fluent", system=["zz_calm", "zz_quick"])
    assert {*zip(fluent["label"], fluent["system"], strict=True)} == {
        ("zz_fluent", "zz_calm"),
        ("zz_fluent", "zz_quick"),
    }
    assert opened.scores.equals(world.frame("crowd"))
    with pytest.raises(KeyError, match=r"'means' is not a statistic; did you mean 'mean'\?"):
        opened.results("means")


def test_the_example_notebook_runs_on_a_study_of_another_shape(opened):
    nb = nbformat.read(ROOT / "examples" / "explore.ipynb", 4)
    assert not any(cell.get("outputs") for cell in nb.cells)
    (given,) = (cell for cell in nb.cells if "parameters" in cell.metadata.get("tags", []))
    given.source = 'name, label, group, interval = "crowd", "zz_fluent", "zz_team_1", "dialogue"'
    folder = {"metadata": {"path": str(ROOT / "examples")}}
    NotebookClient(nb, resources=folder, kernel_name="python3").execute()
    shown_ = [o for cell in nb.cells for o in cell.get("outputs", []) if "data" in o]
    assert sum("image/png" in o.data for o in shown_) == 1
    joined = pd.read_html(io.StringIO(shown_[-1].data["text/html"]))[0]
    judged = opened.scores.query("label == 'zz_fluent' and group == 'zz_team_1'").groupby(["corpus", "system"]).size()
    assert joined.set_index(["corpus", "system"])["judgements"].to_dict() == judged.to_dict()


def test_pilots_and_gold_units_are_read_and_stay_out_of_the_evaluation(world):
    assert {"main", "gold", "annotation_pilot_1", "bot_pilot_1"} <= set(world.frame("odd")["corpus"])
    assert "gold" not in set(world.results("odd", "02_collection_stats")["corpus"])


def test_the_seed_of_the_bootstrap_moves_only_intervals(world, tmp_path):
    names = [name for study, name in world.ran() if study == "crowd"]
    moved, intervals = moved_by_the_seed(world, "crowd", names, tmp_path / "world")
    assert moved == set()
    assert intervals > 50


def test_twelve_rows_give_a_report_with_a_warning(world):
    """All annotations enter; what is not there has its reason on the first page, after twelve in a fold."""
    assert studies.WIDE in (ROOT / "README.md").read_text(encoding="utf-8")
    check_alpha(world, "wide", None)
    states = world.states["wide"]
    done = {n for n, (state, _) in states.items() if state == "done"}
    always = {"annotations", "00_build_annotations", "17_design_check", "02_collection_stats"}
    assert done == always | {"03_iaa", "15_annotators"}
    assert "wide: warning: 12 items per label on average, fewer than 25" in world.said
    index = (world.folder / "reports" / "wide" / "index.html").read_text(encoding="utf-8")
    absent = html.unescape(re.sub("<[^>]+>", "", index.partition("Not in this report</h2>")[2]))
    reasons = {name: reason.replace("`", "") for name, (state, reason) in states.items() if state != "done"}
    assert [name for name, reason in reasons.items() if reason not in absent] == []  # code is shown as code
