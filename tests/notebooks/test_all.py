"""Every notebook, run by the pipeline on small studies of six shapes; what is held is what a reader gets: stored
results, figures, tables, pages. Nothing here looks into a cell.

demo : simulated, whole, as its committed numbers are checked.  odd : a hand-made ABC-Eval project of two dialogues that
uses every part of the format.  abc_eval : `params/abc_eval.yaml` as it stands, on a project of sixty dialogues with
oddities strewn over it.  wide : twelve rows, and the YAML of the README.  crowd : a long table of two runs, with a
control system, two groups of workers, texts and scores of metrics; no id in it is a word, and all have display names.
judged : marks by people, a language model and classifiers.
"""

import contextlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from fixtures import abc_eval_project as abc_project
from fixtures import first_page
from fixtures import odd_abc_eval_project as odd_project
from fixtures import project_copy as small_project
from fixtures import yaml_studies as studies
from fixtures.html_pages import Elements
from nbclient import NotebookClient

from helpers.agreement import analysis as agreement
from helpers.annotations import summary as collection
from helpers.display.names import display_names
from helpers.pipeline import dag
from helpers.pipeline.gallery import committed
from helpers.pipeline.run import Options, run
from helpers.study import params, schema
from helpers.study.params import ROOT
from helpers.study.result_schema import COLUMNS, VALUES
from helpers.study.results import fold, unfold
from helpers.study.stored import open_study

ENTRIES = dag.load()
#: notebooks about several studies at once; those of one study have none
ACROSS = {name for name, entry in ENTRIES.items() if entry.across}
#: as little work as the YAML allows; PDFs and PNGs of all figures are drawn in tests/pipeline/test_gallery.py
LESS = [
    "figures.formats=[svg]",
    "bootstrap.n_resamples=200",
    "mixed_models.labels=[zz_fluent, ignore]",  # one that is rated, one that is marked
    "sensitivity.n_draws=50",
    "sensitivity.n_permutations=199",
    "sensitivity.null_runs=20",
    "sensitivity.null_permutations=99",
    "sensitivity.power_sizes=[8]",
    "coverage.n_halves=10",
    "coverage.n_folds=2",
    "coverage.n_repeats=1",
    "coverage.n_permutations=10",
    "group_effects.n_permutations=99",
    "group_effects.n_picks=100",
    "group_effects.people_resamples=100",
    "operating.n_runs=100",
    "operating.n_resamples=200",
    "operating.labels=1",
    "operating.conversations=[8]",
    "techniques.n_runs=100",
    "techniques.crossing_runs=50",
    "planning.n_runs=25",
    "planning.n_worlds=20",
    "planning.dialogues=[10, 40]",
    "planning.per_dialogue=[1, 2]",
    "annotators.n_draws=50",
    "fragility.most=10",
    "fragility.people=5",
]
#: what makes OpenBLAS, numpy and glibc compute as on a processor without AVX
OLD_PROCESSOR = {
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX2_Usable,-FMA_Usable,-AVX_Usable",
}
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
context: item, label: what, score: rating, user_text: asked, system_text: said, reference: gold}
    metrics: {zz_metric_a: a, zz_metric_b: b}
control_system: zz_dull
systems: {zz_quick: Quick, zz_calm: Calm, zz_plain: Plain, zz_dull: Dull}
corpora: {zz_first: Opening run, zz_second: Repeat run}
groups: {zz_team_0: {title: Day shift}, zz_team_1: {title: Night shift}}
labels:
  zz_fluent: {scale: [1, 5], title: Fluent}
  zz_dull_label: {scale: [1, 5], direction: -1, title: Boring}
metrics: {titles: {zz_metric_a: First metric, zz_metric_b: Second metric}}
"""
JUDGED = """\
title: Marks by people and models
label_set: abc_eval
sources: [{adapter: behaviors, file: marks.json}]
"""
#: as it comes with the project; only the file has another name, since all studies here share a folder
ABC_EVAL = (ROOT / "params" / "abc_eval.yaml").read_text(encoding="utf-8").replace("[data.json]", "[abc_eval.json]")
TEXTS = {"odd": ODD, "wide": studies.WIDE, "crowd": CROWD, "judged": JUDGED, "abc_eval": ABC_EVAL}
#: columns of a result row that are about its interval
INTERVAL = {"ci_low", "ci_high", "ci_kind", "n_undefined", "seed", "note"}
#: statistics that are read off bootstrap resamples or off their intervals: a share of resamples, a ratio of widths, a
#: number of intervals that exclude a value, an error or a bias
READ_OFF = {"first_place_share", "interval_width_ratio", "conclusion_count", "standard_error", "replication_bias"}
#: statistics that are simulated, or compared with random draws, by the same seed
DRAWN = {"plan_power", "sequential_crossing", "sequential_sample", "annotator_z"}
#: notebooks that say in words that there is nothing to draw: groups of too few annotators, no significant difference
MAY_BE_BARE = {"15_annotators", "16_fragility"}
#: what tables and prose show where nobody thought of a missing value
RAW_MISSING = re.compile(r"(?<![\w.])(?:nan|NaN|NaT|None(?!: as the YAML| of )|inf|<NA>)(?![\w-])")


def ratings(n):
    """A wide table of `n` items, two labels and three annotators who agree more or less; one cell is missing."""
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 6, (n, 2))
    scores = np.clip(truth[:, :, None] + rng.integers(-1, 2, (n, 2, 3)), 1, 5).reshape(n, 6).astype(str)
    scores[4, 1] = "N/A"
    names = [f"{label}_a{i}" for label in ("fluency", "quality") for i in (1, 2, 3)]
    lines = [",".join(["id", *names]), *(",".join([f"d{i}", *row]) for i, row in enumerate(scores))]
    return "\n".join(lines) + "\n"


def crowd():
    """Two runs: six workers of each of two teams rate four bots, one of them worse, two workers an item."""
    rng = np.random.default_rng(11)
    bots = {"zz_quick": 4.0, "zz_calm": 3.5, "zz_plain": 3.0, "zz_dull": 1.6}
    words = ["the", "a", "cat", "dog", "sat", "ran", "far", "away", "on", "mat", "we", "like", "tea", "and", "rain"]
    said = {(i, bot): " ".join(rng.choice(words, rng.integers(3, 9))) for i in range(12) for bot in bots}
    scored = {key: (len(text) / 10 + rng.normal(0, 0.3), rng.normal()) for key, text in said.items()}
    rows = ["run,team,worker,task,bot,chat,item,what,rating,asked,said,gold,a,b"]
    for run_, worker in ((r, w) for r in ("zz_first", "zz_second") for w in range(12)):
        for i, bot in ((i, bot) for i in (worker, (worker + 1) % 12) for bot in bots):
            a, b = scored[i, bot]
            for what in ("zz_fluent", "zz_dull_label"):
                mean = bots[bot] if what == "zz_fluent" else 6 - bots[bot]
                rating = int(np.clip(round(rng.normal(mean, 0.9)), 1, 5))
                who = f"{run_},zz_team_{worker // 6},{run_[3]}{worker},{run_}-{worker},{bot},{i}-{bot},{i},{what}"
                rows.append(f"{who},{rating},how are you,{said[i, bot]},the cat sat on a mat,{a:.3f},{b:.3f}")
    return "\n".join(rows) + "\n"


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


@dataclass(frozen=True)
class World:
    """A folder that studies were run into; said is what the run printed."""

    folder: Path
    studies: list[str]
    code: int
    said: str

    @property
    def states(self):
        """Study -> node -> (state, reason)."""
        told = small_project.states(self.said)
        if len(self.studies) == 1:
            return {self.studies[0]: told}
        split = {study: f"{study}/" for study in self.studies}
        return {s: {k.removeprefix(p): v for k, v in told.items() if k.startswith(p)} for s, p in split.items()}

    def ran(self):
        """Study and name of the notebooks that have a page."""
        found = sorted((self.folder / "reports").glob("*/[0-9]*.html"))
        return [(p.parent.name, p.stem) for p in found]

    def page(self, study, name):
        return Elements((self.folder / "reports" / study / f"{name}.html").read_text(encoding="utf-8"))

    def results(self, study, name):
        return pd.read_parquet(self.folder / "data" / "processed" / study / "results" / f"{name}.parquet")

    def frame(self, study, name="annotations"):
        return pd.read_parquet(self.folder / "data" / "processed" / study / f"{name}.parquet")

    def study(self, study):
        return params.load(self.folder / "data" / "processed" / study / "params.yaml", key=study)


def run_all(folder, named, values=(), only=()):
    """Run studies (names or YAMLs) into a folder, as the command line does. only : notebooks, empty for all."""
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        patch.setenv("COMPENDIUM_OUT", str(folder))
        code = run([str(s) for s in named], Options(values=[*LESS, *values], only=[*only], jobs=2))
    return World(folder, [Path(s).stem for s in named], code, said.getvalue())


def written(folder, names):
    """The YAMLs of some of the shapes, their data beside them."""
    files = {"my_csv": ratings(12), "project_json": abc_project.project(), "crowd_csv": crowd()}
    files |= {"marks_json": judged(), "abc_eval_json": odd_project.project()}
    return [studies.write(folder, TEXTS[name], name, **files) for name in names]


@pytest.fixture(scope="module")
def twelve(tmp_path_factory):
    folder = tmp_path_factory.mktemp("twelve")
    return run_all(folder, written(folder, ["wide"]))


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    return run_all(folder, written(folder, ["odd", "crowd", "judged", "abc_eval"]))


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The simulated study from nothing, with the settings it comes with, on another processor than the gallery's."""
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, ROOT / "run_all.py", "--study", "demo", "--out", str(folder), "--set", *LESS[:1]]
    env = os.environ | (OLD_PROCESSOR if platform.machine() in ("x86_64", "AMD64") else {})
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=3600)
    return World(folder, ["demo"], done.returncode, done.stdout + done.stderr)


def problems(world):
    """What is wrong with what a run left, one line each."""
    return [line for check in CHECKS for line in check(world)]


def ended(world):
    """Every notebook is done, or was left out with a reason that is a sentence."""
    for study, states in world.states.items():
        for name in set(ENTRIES) - ACROSS:
            state, reason = states.get(name, ("missing", ""))
            told = reason.endswith(".") or reason.startswith("needs ")
            if state not in ("done", "up to date") and not (state == "skipped" and told):
                yield f"{study}/{name}: {state}: {reason}"


def stored(world):
    """Frames and result rows keep the schema; the CSV beside says the same."""
    for study in world.studies:
        labels = world.study(study).label_list()
        for problem in schema.validate(collection.evaluated(world.frame(study)), labels):
            yield f"{study}: {problem}"
    for study, name in world.ran():
        rows = world.results(study, name)
        again = fold(unfold(rows), study=study, notebook=name)
        if rows.empty or not rows.equals(again):
            yield f"{study}/{name}: {len(rows)} result rows that differ from what the schema makes of them"
        text = pd.read_csv(world.folder / "data" / "processed" / study / "results" / f"{name}.csv")
        if len(text) != len(rows) or not np.allclose(text["estimate"], rows["estimate"], equal_nan=True):
            yield f"{study}/{name}: the CSV differs from the parquet"


def shown(world):
    """Pages load nothing, describe their figures, say what is seen and what is simulated, and hide no odd values."""
    for study, name in world.ran():
        page, of_study = world.page(study, name), ENTRIES[name].of_study
        if page.loads():
            yield f"{study}/{name}: loads {page.loads()}"
        alts = [i.get("alt", "") for i in page.of("img")] + [d.get("aria-label", "") for d in page.of("svg")]
        if not alts and ENTRIES[name].headline and name not in MAY_BE_BARE:
            yield f"{study}/{name}: no figure"
        yield from (f"{study}/{name}: alt text {a!r}" for a in alts if len(a) < 20 or "No description" in a)
        _, seen, rest = page.text.partition("What we see")
        if not seen or not re.search(r"\w+ \w+[^.]*\.", rest):
            yield f"{study}/{name}: nothing under ‘What we see’"
        if ("Simulated data." in page.text) != (study == "demo" and of_study):
            yield f"{study}/{name}: wrong about being simulated"
        for odd in RAW_MISSING.finditer(page.text):
            yield f"{study}/{name}: shows {odd[0]!r}: …{page.text[max(0, odd.start() - 60) : odd.end() + 40]}…"


def private(world):
    """Pages and tables hold no id of the platform and no address of this machine."""
    places = {str(ROOT), str(world.folder)}
    for study, name in world.ran():
        page = world.page(study, name)
        told = " ".join([page.text, *(str(a) for _, a in page.found)])
        for file in (world.folder / "tables" / study).glob(f"{name}_*"):
            told += file.read_text(encoding="utf-8")
        raw = [world.folder / "data" / "raw" / study / "data.json", world.folder / f"{study}.json"]
        ids = set().union(*(worker_ids(path) for path in raw if path.is_file()))
        yield from (f"{study}/{name}: shows {t!r}" for t in sorted(places | ids) if t in told)


def worker_ids(path):
    """Ids the platform gave to people, from an ABC-Eval project file."""
    return set(re.findall(r'"worker_id": ?"([^"]{6,})"', path.read_text(encoding="utf-8")))


def named(world):
    """Whatever has a display name is called by it: no id in texts, tables, alt texts and figures."""
    for study in world.studies:
        ids = named_ids(world.study(study))
        for path in sorted((world.folder / "reports" / study).glob("*.html")):
            page = Elements(path.read_text(encoding="utf-8"))
            seen = [page.text, *(a.get(k) or "" for _, a in page.found for k in ("alt", "title", "aria-label"))]
            # what was typed is quoted as it was typed
            said = re.sub(r"mixed_models\.labels=\[[^]]*\]", "", " ¦ ".join(seen))
            yield from (f"{study}/{path.stem}: {told}" for told in found_in(said, ids))
        for path in sorted((world.folder / "figures" / study).glob("*.svg")):
            texts = re.findall(r"<(?:text|title|desc)\b[^>]*>([^<]*)<", path.read_text(encoding="utf-8"))
            yield from (f"{study}/{path.name}: {told}" for told in found_in(" ¦ ".join(texts), ids))


def named_ids(study):
    """Ids that nobody takes for words and whose display names do not contain them."""
    names = display_names(study).titles
    pairs = [pair for kind in ("corpus", "group", "system", "method") for pair in names[kind].items()]
    pairs += [(label.id, label.title) for label in study.label_list()] + [*study.metrics.titles.items()]
    return {i for i, title in pairs if re.search(r"[_\d]", i) and not re.search(rf"\b{re.escape(i)}\b", title)}


def found_in(text, ids):
    """Each of `ids` that stands in the text as a word, with what is around it."""
    for i in sorted(ids):
        if place := re.search(rf"(?<![\w/-]){re.escape(i)}(?![\w/-])", text):
            yield f"{i}: …{text[max(0, place.start() - 50) : place.end() + 30]}…"


def answered(world):
    """The first page answers, and says what the results say."""
    for study in world.studies:
        html = (world.folder / "reports" / study / "index.html").read_text(encoding="utf-8")
        results = {name[:2]: world.results(study, name) for key, name in world.ran() if key == study}
        judged = collection.evaluated(world.frame(study))
        yield from (f"{study}: {line}" for line in first_page.wrong(html, world.study(study), judged, results))


CHECKS = (ended, stored, shown, private, named, answered)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_notebook_on_small_studies(world, check):
    assert list(check(world)) == [], world.said


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_notebook_on_the_simulated_study(demo, check):
    assert list(check(demo)) == [], demo.said


@pytest.mark.slow
def test_the_run_is_done(world):
    assert world.code == 0, world.said


@pytest.mark.slow
def test_the_committed_numbers_of_the_simulated_study_hold(demo, monkeypatch, capsys):
    """A run from nothing gives the numbers in gallery/demo, also on another processor than made them."""
    assert demo.code == 0, demo.said
    monkeypatch.setenv("COMPENDIUM_OUT", str(demo.folder))
    code = committed.check(["demo"])
    said = capsys.readouterr()
    assert code == 0, said.err
    assert "every number as committed" in said.out
    assert len(worker_ids(demo.folder / "data" / "raw" / "demo" / "data.json")) > 20


@pytest.mark.slow
def test_every_notebook_runs_on_one_of_the_shapes(world, demo):
    """So that a notebook that is skipped everywhere does not pass for one that works."""
    assert set(ENTRIES) - {name for _, name in [*world.ran(), *demo.ran()]} <= ACROSS, world.said


@pytest.mark.slow
def test_the_simulated_study_has_every_notebook_but_three(demo):
    left_out = {n for n, (state, _) in demo.states["demo"].items() if state == "skipped"}
    assert left_out <= {"09_metric_correlation", "10_quality_control", "13_judges"}


@pytest.mark.slow
def test_nothing_runs_a_second_time(world):
    again = run_all(world.folder, [world.folder / f"{name}.yaml" for name in world.studies])
    assert again.code == 0
    assert {state for states in again.states.values() for state, _ in states.values()} <= {"up to date", "skipped"}


@pytest.fixture
def opened(world, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(world.folder))
    return open_study("crowd")


@pytest.mark.slow
def test_results_are_read_in_one_line(world, opened):
    """What is read is what was stored, without empty columns, and with the keys of the statistic as columns."""
    stored_ = pd.concat([world.results("crowd", name) for study, name in world.ran() if study == "crowd"])
    counts = opened.statistics.set_index(["notebook", "statistic"])["rows"]
    assert counts.to_dict() == stored_.groupby(["notebook", "statistic"]).size().to_dict()
    means = opened.results("mean")
    of_notebook = unfold(world.results("crowd", "07_bot_performance"))["mean"]
    assert means["estimate"].tolist() == of_notebook["estimate"].tolist()
    assert {"interval", "system", "ci_low"} <= {*means} <= {*of_notebook, "notebook"}
    assert means.notna().any().all()
    fluent = opened.results("mean", label="zz_fluent", system=["zz_calm", "zz_quick"])
    assert {*zip(fluent["label"], fluent["system"], strict=True)} == {
        ("zz_fluent", "zz_calm"),
        ("zz_fluent", "zz_quick"),
    }
    assert opened.scores.equals(world.frame("crowd"))
    assert opened.params.control_system == "zz_dull"
    with pytest.raises(KeyError, match=r"'means' is no statistic; did you mean 'mean'\?"):
        opened.results("means")
    with pytest.raises(KeyError, match="'criterion_met' was stored by no notebook that ran"):
        opened.results("criterion_met")
    with pytest.raises(FileNotFoundError, match="there are annotations, counts, dialogue_facts"):
        opened.frame("annotation")


@pytest.mark.slow
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


def test_a_study_that_was_not_run_says_how(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="--study ji2022`"):
        open_study("ji2022")
    with pytest.raises(params.ParamsError, match="did you mean 'ji2022'"):
        open_study("ji202")


def test_twelve_rows_give_a_report_with_a_warning(twelve):
    """The YAML that the README prints."""
    assert studies.WIDE in (ROOT / "README.md").read_text(encoding="utf-8")
    assert twelve.code == 0
    assert problems(twelve) == []
    states = twelve.states["wide"]
    done = {n for n, (state, _) in states.items() if state == "done"}
    assert done == {"annotations", "00_build_annotations", "02_collection_stats", "03_iaa", "15_annotators"}
    assert "wide: warning: 12 items per label on average, fewer than 25" in twelve.said
    texts = {name: twelve.page("wide", name).text for name in done - {"annotations"}}
    assert "12 dialogues of 1 system, judged by 3 people" in texts["00_build_annotations"]
    assert "The data contain no annotation times" in texts["02_collection_stats"]
    assert "fewer than 25 items for Dialogue rating (12 items)" in texts["03_iaa"]
    assert "at least two systems" in texts["03_iaa"]
    index = twelve.page("wide", "index").text
    assert [n for n, (state, reason) in states.items() if state != "done" and reason not in index] == []


def check_alpha(world, study, first):
    """Notebook 03 stores what `agreement.alpha_table` gives on the same annotations."""
    marks = collection.evaluated(world.frame(study))
    table = agreement.alpha_table(marks, world.study(study).label_list(), first=first, n_resamples=100)
    expected, found = table["alpha"], unfold(world.results(study, "03_iaa"))["alpha"]
    both = expected.merge(found, on=[c for c in expected if c not in VALUES], how="left", suffixes=("", "_stored"))
    assert len(both) == len(expected)
    np.testing.assert_allclose(both["estimate_stored"], both["estimate"], atol=1e-12)
    assert both["estimate"].notna().sum() >= 2


def test_all_annotations_of_own_data_enter(twelve):
    check_alpha(twelve, "wide", None)


@pytest.mark.slow
def test_the_first_two_annotations_enter_where_the_yaml_says_so(demo):
    check_alpha(demo, "demo", 2)


@pytest.mark.slow
def test_counts_and_card_are_stored(demo):
    small = demo.frame("demo")
    counted = demo.results("demo", "02_collection_stats")
    here = counted[(counted["group"] == "sur_x") & (counted["method"] == "behavior")].set_index("condition")["estimate"]
    marks = small[(small["corpus"] == "main") & (small["group"] == "sur_x") & (small["method"] == "behavior")]
    assert here["kind=human;what=annotations"] == len(marks)
    assert here["kind=human;what=dialogues"] == marks["dialogue"].nunique() > 60
    card = demo.results("demo", "00_build_annotations")
    kept = card[(card["statistic"] == "count") & (card["condition"] == "what=annotations kept")]
    assert kept["estimate"].tolist() == [len(small)]
    assert {"coverage", "score_share", "mean_count", "alpha"} <= set(card["statistic"])


@pytest.mark.slow
def test_costs_follow_from_the_times_of_the_work_units(demo):
    units = collection.evaluated(demo.frame("demo", "work_units"))
    likert = units[(units["group"] == "sur_x") & (units["task"] == "dialogue_likert") & (units["part"] == "whole")]
    rows = demo.results("demo", "02_collection_stats")
    rows = rows[(rows["group"] == "sur_x") & (rows["method"] == "dialogue_likert")]
    cost, minutes = rows.set_index("statistic")["estimate"], likert["seconds"].median() / 60
    assert cost["unit_minutes"] == pytest.approx(minutes)
    assert cost["estimated_cost"] == pytest.approx(minutes / 60 * 20 * 400)
    assert cost["own_cost"] == pytest.approx(240)


@pytest.mark.slow
def test_every_part_of_the_odd_project_is_counted(world):
    """Pilots, gold units and screening are read and stay out of the evaluation itself."""
    corpora = set(world.frame("odd")["corpus"])
    assert {"main", "gold", "annotation_pilot_1", "bot_pilot_1"} <= corpora
    assert len(world.frame("odd", "screening")) == len(world.frame("odd", "screening").drop_duplicates()) > 0
    counted = world.results("odd", "02_collection_stats")
    assert not set(counted["corpus"].dropna()) & {"gold"}


@pytest.mark.slow
def test_a_whole_project_with_odd_cases_passes_through_its_own_yaml(world):
    """What a user gets who downloads data.json: all that its parts allow, printed numbers beside them."""
    skipped = {n[:2] for n, (state, _) in world.states["abc_eval"].items() if state == "skipped"}
    assert skipped == {"09", "10", "12", "13", "91"}
    counts = world.frame("abc_eval", "counts")
    reasons = " ".join(counts["reason"].dropna())
    for odd in ("unfilled template", "no score", "worker not in the file", "stored under one dialogue only",
                "bot not named"):  # fmt: skip
        assert odd in reasons
    marks = world.frame("abc_eval")
    main = marks[(marks["corpus"] == "main") & (marks["group"] == "sur_x")]
    sizes = main.groupby(["method", "label", "dialogue", "turn"], dropna=False).size().groupby("method").max()
    assert sizes.drop("comparative").ge(3).all()
    assert (marks["seconds"].isna() & marks["annotator_known"]).any()
    for name in ("01_pilot", "02_collection_stats", "04_importance", "05_sensitivity", "07_bot_performance"):
        assert "Printed" in world.page("abc_eval", name).text.partition("Comparison with the paper")[2], name


@pytest.mark.slow
def test_the_seed_of_the_bootstrap_moves_only_intervals(world, tmp_path):
    """Run where the study has been run: notebooks without that seed are up to date."""
    shutil.copytree(world.folder, tmp_path / "world")
    folder, values = tmp_path / "world", ["seeds.bootstrap=77"]
    crowd = run_all(folder, [folder / "crowd.yaml"], values)
    # what a crowd does not have
    other = run_all(folder, [folder / "abc_eval.yaml"], values, only=["04_importance", "11_technique_comparison"])
    assert crowd.code == other.code == 0, crowd.said + other.said
    moved, intervals, changed = set(), 0, {("abc_eval", "04_importance"), ("abc_eval", "11_technique_comparison")}
    for study, name in (pair for pair in other.ran() if pair[0] == "crowd" or pair in changed):
        before, after = world.results(study, name), other.results(study, name)
        assert len(before) == len(after)
        for column in set(COLUMNS) - INTERVAL:
            same = (before[column] == after[column]) | (before[column].isna() & after[column].isna())
            rows = set(before.loc[~same.fillna(False), "statistic"]) - DRAWN
            moved |= {(name, row, column) for row in (rows - READ_OFF if column == "estimate" else rows)}
        intervals += int((before["ci_low"].fillna(0) != after["ci_low"].fillna(0)).sum())
    assert moved == set()
    assert intervals > 50


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("study", ["finch2024", "gpt_abceval"])
def test_public_studies(raw_data, tmp_path, study):
    found = run_all(tmp_path, [study])
    assert found.code == 0, found.said
    assert problems(found) == []
