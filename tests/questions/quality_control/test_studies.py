"""Notebook 10 on studies: printed cells of Ji et al. 2022 from raw files, and small studies by YAML alone."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from fixtures.project_copy import ROOT
from fixtures.raw_file_studies import write
from scipy import stats

from judgebook.pipeline import cli
from judgebook.published import numbers as published
from judgebook.published import verdicts
from judgebook.questions.quality_control import analysis, crowd, worker_pairs, worker_summary, worker_tests
from judgebook.sources.build import build
from judgebook.statistics import Sampling
from judgebook.study import params, store
from judgebook.study.results import unfold, where

SECONDS = 45
FEW = Sampling(n_resamples=100, confidence=0.95, seed=1)
TYPES = ["biencoder", "polyencoder", "kvmemnn", "seq2seq", "lan_model"]
COLUMNS = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "WorkTimeInSeconds", "Answer.taskAnswers"]
YAML = """
method: continuous
control_system: qc
unranked_systems: [qc]
sources:
  - adapter: ji2022
    runs:
      first: {files: [first.csv]}
      second: {files: [second.csv]}
labels:
  robotic: {scale: [0, 100], level: interval, direction: 1}
  interesting: {scale: [0, 100], level: interval, direction: 1}
  fun: {scale: [0, 100], level: interval, direction: 1}
  consistent: {scale: [0, 100], level: interval, direction: 1}
  fluent: {scale: [0, 100], level: interval, direction: 1}
  repetitive: {scale: [0, 100], level: interval, direction: 1}
  topic: {scale: [0, 100], level: interval, direction: 1}
bootstrap: {n_resamples: 200}
quality_control:
  labels: [interesting, fun, consistent, fluent, topic]
  families: {encoder: [biencoder, polyencoder]}
  variant: several codes
  payment: 1.0
"""
SVG = "figures: {formats: [svg]}\n"
ONE_RUN = YAML.replace("      second: {files: [second.csv]}\n", "") + SVG


def assignments(n_workers, seed, careful=0.7):
    """One task of each worker, who chats with five types and the control; careful ones rate by type."""
    rng, out = np.random.default_rng(seed), []
    for _ in range(n_workers):
        attentive, answers = rng.random() < careful, {}
        for j, kind in enumerate(rng.permutation([*TYPES, "qc"]).tolist()):
            mean = 15 if kind == "qc" else 80 - 8 * TYPES.index(kind)
            typed = rng.normal(mean if attentive else 85, 10, 7)
            typed[[0, 5]] = 100 - typed[[0, 5]]  # robotic and repetitive: high is bad
            answers[f"task{j}"] = kind
            answers[f"score{j}"] = "".join(f"{int(x)}#" for x in np.clip(typed, 0, 100))
            answers[f"dialogue{j}"] = "u: hello there###b: hi###"
            answers[f"topic{j}"], answers[f"topic_opinion{j}"] = f"#0@topic {rng.integers(3)}", "#0@like"
        out.append(answers)
    return out


def table_of(found, seed):
    """The assignments of a run as an MTurk result file."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for i, answers in enumerate(found):
        writer.writerow([f"H{i // 2}", f"AS{seed}{i}", f"WORKER{seed}{i}", "Approved", 600, json.dumps([answers])])
    return out.getvalue()


def run_of(n_workers, seed, careful=0.7):
    return table_of(assignments(n_workers, seed, careful), seed)


NAMES = ["robotic", "interesting", "fun", "consistent", "fluent", "repetitive", "topic"]
MODELS = dict(zip(TYPES, "ABCDE", strict=True))


def released_of(found, seed):
    """The same as the authors' JSON files, by verdict, which scipy gives; every other worker's chats have a persona.

    Returns the two lists, and one row a chat with its model and the mean of its reversed scores.
    """
    lists, chats = {True: [], False: []}, []
    for i, answers in enumerate(found):
        data, groups = [], {True: [], False: []}
        for j in range(6):
            typed = [int(x) for x in answers[f"score{j}"].split("#")[:-1]]
            scores = dict(zip(NAMES, typed, strict=True))
            scores |= {name: 100 - scores[name] for name in ("robotic", "repetitive")}
            kind = answers[f"task{j}"]
            model = "QualityControl" if kind == "qc" else MODELS[kind] + "_p" * (i % 2)
            said = [{"round": 1, "user": "hello there", "bot": "hi"}]
            data.append({"model": model, "dialogue": said, "raw scores": scores})
            groups[kind == "qc"] += [scores[n] for n in NAMES if n not in ("robotic", "repetitive")]
            chats.append({"worker": i, "system": model.lower(), "score": np.mean(list(scores.values()))})
        passed = stats.mannwhitneyu(groups[True], groups[False], alternative="less").pvalue < 0.05
        lists[bool(passed)].append(
            {"AssignmentId": f"AS{seed}{i}", "HITId": "H", "WorkerId": f"WORKER{seed}{i}", "data": data}
        )
        for row in chats[-6:]:
            row["passed"] = bool(passed)
    return lists, pd.DataFrame(chats)


def execute(folder, monkeypatch):
    """Run the cells of notebook 10 on the study in `folder`; its result rows."""
    monkeypatch.setenv("COMPENDIUM_OUT", str(folder / "out"))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    path = folder / "mini.yaml"
    build(params.load(path), out=store.processed("mini"))
    space = {}
    for cell in json.loads((ROOT / "notebooks" / "10_quality_control.ipynb").read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), space)
            space["study"] = str(path)
    return space["page"].results


@pytest.mark.evidence
def test_csv_and_json_files_of_two_runs_go_through_the_command_line(tmp_path, monkeypatch, capsys):
    """As downloaded: batches as CSV, personas and verdicts as JSON. Nothing but a YAML is written for them."""
    runs = {seed: assignments(24, seed) for seed in (5, 6)}
    yaml, chats, files = YAML.replace("[biencoder, polyencoder]", "[a, a_p]"), {}, {}
    for (seed, found), name in zip(runs.items(), ("first", "second"), strict=True):
        lists, chats[name] = released_of(found, seed)
        files |= {f"{name}.csv": table_of(found, seed), f"{name}_pass.json": lists[True]}
        files |= {f"{name}_fail.json": lists[False]}
        told = f"{{files: [{name}.csv], passed: [{name}_pass.json], failed: [{name}_fail.json]}}"
        yaml = yaml.replace(f"{{files: [{name}.csv]}}", told)
    for name, content in files.items():
        (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    (tmp_path / "mini.yaml").write_text("title: Miniature\n" + yaml, encoding="utf-8")
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "out"))
    assert cli.main(["--study", str(tmp_path / "mini.yaml"), "--only", "10", "--jobs", "1"]) == 0
    assert "10_quality_control" in capsys.readouterr().out
    stored = tmp_path / "out" / "data" / "processed" / "mini" / "results" / "10_quality_control.parquet"
    results = unfold(pd.read_parquet(stored))
    assert results.select("verdict_agreement", list="released")["estimate"].tolist() == [1.0, 1.0]
    raw = results.select("mean_raw", label="overall mean", workers="passed")
    for name, found in chats.items():
        expected = found[found["passed"]].groupby("system")["score"].mean()
        mine = raw[raw["corpus"] == name].set_index("system")["estimate"]
        assert mine[expected.index.drop("qualitycontrol")].to_dict() == pytest.approx(
            expected.drop("qualitycontrol").to_dict()
        )
    page = (tmp_path / "out" / "reports" / "mini" / "10_quality_control.html").read_text(encoding="utf-8")
    assert "As many at random" in page
    assert "WORKER" not in page


@pytest.mark.verify
@pytest.mark.parametrize(("n", "careful"), [(3, 1.0), (12, 0.0)])
def test_one_run_of_few_or_careless_workers_gives_a_page(tmp_path, monkeypatch, n, careful):
    write(tmp_path, ONE_RUN, {"first.csv": run_of(n, 3, careful)})
    results = execute(tmp_path, monkeypatch)
    assert "replication_r" not in results
    passed = results.select("qc_count", what="workers", workers="passed", threshold=None)["estimate"].tolist()
    assert passed == [n if careful else 0]


@pytest.fixture(scope="module")
def ji(raw_data):
    """The public study: frames, crowd and result rows (few resamples: intervals are not looked at)."""
    study = params.load("ji2022")
    frames, control = build(study).frames, study.control_system
    ratings, facts = worker_tests.ratings(frames["annotations"], study.label_list(), control), frames["dialogue_facts"]
    people = crowd.crowd(ratings, facts, study.quality_control, control=control, systems=list(study.systems))
    units = worker_summary.work_units(frames["work_units"], people.scores)
    sizes, pairs = analysis.text_lengths(people, frames["dialogues"]), worker_pairs.pairs(people, facts)
    results = analysis.analyse(people, facts, units, sizes, pairs, permute_seed=1, sampling=FEW)
    return study, people, results


@pytest.mark.evidence
@pytest.mark.data
def test_the_rule_gives_the_released_verdicts(ji):
    _, people, _ = ji
    by_run = people.workers.groupby("corpus")
    assert by_run["passed"].sum().to_dict() == {"free_run1": 173, "free_run2": 138, "ice_breaker": 169}
    assert (people.workers["passed"] == people.workers["released"]).all()
    other = (people.workers["passed"] != people.workers["fitted"]).groupby(people.workers["corpus"]).sum()
    assert other.to_dict() == {"free_run1": 0, "free_run2": 3, "ice_breaker": 2}


@pytest.mark.evidence
@pytest.mark.data
def test_two_workers_of_the_third_run_are_found_by_searching_for_table_10(ji):
    """Of all pairs of one-HIT workers who fail by the rule, one gives n and raw scores of Table 10 if it passes."""
    _, people, _ = ji
    rows = people.scores[(people.scores["corpus"] == "ice_breaker") & people.scores["system"].isin(people.systems)]
    printed = published.load("ji2022", "Table 10").query("panel == 'ice_breaker'")
    printed = printed.pivot_table(index="row", columns="column", values="value").loc[people.systems]
    raw = printed.drop(columns=["n", "overall"])
    cells = pd.MultiIndex.from_product([people.systems, raw.columns])
    wide = rows.pivot_table(index="annotator", columns=["system", "label"], values="score", aggfunc=["sum", "count"])
    workers = people.workers.set_index(["corpus", "annotator"]).loc["ice_breaker"]
    kept, asked = workers.index[workers["passed"]], workers.index[~workers["passed"] & (workers["n_units"] == 1)]
    i, j = np.triu_indices(len(asked), 1)
    found = []
    for of in ("sum", "count"):
        part = wide[of].reindex(columns=cells).fillna(0)
        own = part.loc[asked].to_numpy()
        found.append((part.loc[kept].to_numpy().sum(axis=0) + own[i] + own[j]).reshape(-1, *raw.shape))
    total, count = found
    n = (count.sum(axis=2) == printed["n"].to_numpy()).all(axis=1)
    means = (np.abs(total / count - raw.to_numpy()) < 0.005 + 1e-9).sum(axis=(1, 2))
    assert (len(i), n.sum(), sorted(means[n])[-2:]) == (2_485, 26, [42, 70])
    best = int(np.argmax(np.where(n, means, -1)))
    fitted = workers.index[workers["fitted"] & ~workers["passed"]]
    assert {asked[i[best]], asked[j[best]]} == set(fitted)


EXPECTED = {
    ("Table 1", "workers"): {"match": 5, "match_fitted": 4},
    ("Table 1", "ave_duration"): {"match": 9},
    ("Table 1", "dialogues"): {"match": 5, "match_fitted": 2, "differs": 2},
    ("Table 2", "free_run_1"): {"match": 5, "differs": 1},
    ("Table 2", "free_run_2"): {"match": 5, "differs": 1},
    ("Table 3", "free_run_1"): {"match": 90},
    ("Table 3", "free_run_1_vs_free_run_2"): {"match_fitted": 8},
    ("Table 4", "ice_breaker"): {"match": 18, "match_fitted": 66, "differs": 6},
    ("Table 4", "ice_breaker_vs_free_run_1"): {"match_fitted": 8},
    ("Table 7", "pearson"): {"match": 28},
    ("Table 7", "spearman"): {"match": 28},
    ("Table 8", "free_run_2"): {"match": 16, "match_fitted": 67, "differs": 7},
    ("Table 8", "free_run_1_vs_free_run_2"): {"match_fitted": 8},
    ("Table 9", "free_run_1"): {"match": 90},
    ("Table 9", "free_run_2"): {"match": 18, "match_fitted": 72},
    ("Table 9", "free_run_1_vs_free_run_2"): {"match_fitted": 8},
    ("Table 10", "ice_breaker"): {"match": 18, "match_fitted": 72},
    ("Table 10", "ice_breaker_vs_free_run_1"): {"match_fitted": 8},
    ("Table 11", "characters"): {"match": 2, "match_fitted": 2},
    ("Table 11", "words"): {"match": 2, "match_fitted": 2},
    ("Text 3.2", "design"): {"match": 3},
    ("Text 4.1", "agreement"): {"match_fitted": 2, "differs": 1},
    ("Text 4.2", "significance"): {"match": 1, "differs": 1},
    ("Text A.2", "cost"): {"match": 1, "differs": 2},
}


@pytest.mark.evidence
@pytest.mark.data
def test_printed_cells_come_out_of_the_raw_files(ji):
    cells = verdicts.beside(ji[2], "ji2022", "10_quality_control")
    here = cells.groupby(["element", "panel"])["verdict"].value_counts()
    assert {place: here[place].to_dict() for place in EXPECTED} == EXPECTED


@pytest.mark.evidence
@pytest.mark.data
def test_repeatability_does_not_come_from_quality_control(ji):
    """What the page says: r with and without it, of workers who failed, and of persona contrasts."""
    _, _, results = ji
    r = results.select("replication_r", corpus="free_run2", label="overall mean", interval="fisher", list=None)

    def of(workers, among, scores="z", over="all"):
        return round(where(r, workers=workers, among=among, scores=scores, standardised=over)["estimate"].item(), 3)

    assert (of("passed", "systems"), of("all", "systems"), of("failed", "systems")) == (0.968, 0.969, 0.907)
    assert of("failed", "systems", "raw", None) == 0.288
    assert of("passed", "variants", over="last") == 0.098
    assert of("passed", "families") == 0.998
