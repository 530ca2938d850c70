"""Methods, results, datasheet and document of a study: numbers are those of its data and results."""

import re
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fixtures import made_annotations

from judgebook.display.names import display_names
from judgebook.extras.paper import files, findings, references
from judgebook.questions.agreement.analysis import alpha_table
from judgebook.statistics.intervals import Sampling
from judgebook.study import params
from judgebook.study.results import collect
from judgebook.study.sections.data import Filter

YAML = """\
title: "100% of α_1 & <b>#2</b>"
description: A small study.
citation: Somebody (2020). Something.
method: dialogue_likert
sources:
  - {adapter: table, file: my.csv, layout: long, columns: {dialogue: d, system: s, annotator: a, label: l, score: x}}
labels:
  quality: {scale: [1, 5], direction: 1, title: Overall_quality}
systems: {a: "System $A$", b: B_b, c: "C, third", d: D}
groups: {g1: {title: Students}, g2: {title: Experts}}
iaa: {first: 2}
margin: {quality: 1.1}
heds:
  recruitment: By *email*, [see](x).
  criteria: {quality: {quality: goodness, question: "How good is it?"}}
"""
MADE = findings.Made("2026-01-02", "9.9", "feedc0de", "3.12.0", {"numpy": "2.0", "scipy": "1.15"})
BOOT = {"n_resamples": 200, "confidence": 0.95, "seed": 1}


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    """A study of four systems and two groups, with results of 03 as computed, and of 07 and 13 as made up."""
    path = tmp_path_factory.mktemp("study") / "small.yaml"
    path.write_text(YAML, encoding="utf-8")
    study = params.load(path)
    scores = made_annotations.study(np.random.default_rng(1), n_sessions=30)
    scores = scores.assign(method="dialogue_likert", dialogue_b=None, system_b=None, annotator_kind="human")
    scores["score"] = scores["score"].round().clip(1, 5)
    twice = pd.concat([scores, scores.assign(annotator=scores["annotator"] + "x")], ignore_index=True)
    twice["score"] = np.where(twice.index % 7 == 0, 6 - twice["score"], twice["score"])
    twice = twice.assign(source_row=np.arange(len(twice)), work_unit="u", study="small")
    found = alpha_table(twice, study.label_list(), sampling=Sampling(**BOOT), first=2)
    cell = {"corpus": "main", "method": "dialogue_likert", "group": "g1"}
    label = cell | {"label": "quality"}
    ends = {"ci_low": 0.125, "ci_high": 0.375}
    systems = {"a": (0.25, 1.0, 0.875), "b": (-0.5, 3.0, 0.0), "c": (0.0, 2.0, 0.125)}
    order = []
    for system, (level, rank, chance) in systems.items():
        row, high = cell | {"system": system}, {"ci_low": 1.0, "ci_high": 2.0}
        order.append(row | {"statistic": "overall_level", "estimate": level, "n": 2, "n_clusters": 30} | ends)
        order.append(row | {"statistic": "overall_rank", "estimate": rank, "ci_kind": "simultaneous"} | high)
        order.append(row | {"statistic": "overall_lead", "estimate": 0.25 - level})
        order.append(row | {"statistic": "overall_best_chance", "estimate": chance})
    pair = {"p_value": 0.01, "ci_kind": "simultaneous"}
    gaps = {("a", "b"): (0.75, 0.5, 1.0), ("a", "c"): (0.25, -0.5, 1.0), ("b", "c"): (-0.5, -1.0, 0.25)}
    for (one, two), (estimate, low, high) in gaps.items():
        row = {"system": one, "system_b": two, "estimate": estimate, "ci_low": low, "ci_high": high}
        adjusted = {"p_adjusted": 0.01 if low > 0 else 0.4}
        order += [
            of | {"statistic": s} | row | pair | adjusted for of, s in ((cell, "overall_contrast"), (label, "contrast"))
        ]
    order.append(label | {"statistic": "difference_found", "estimate": 0.625, "n": 3})
    order.append(label | {"statistic": "component_share", "part": "taste", "estimate": 0.1})
    performance = collect(order)
    judge = label | {"level": "dialogue", "metric": "g2", "measurement": "ordinal", "resample_unit": "dialogue"}
    judges = collect(
        [judge | {"statistic": "judge_alpha", "pair": "mean", "estimate": 0.25} | ends],
        [judge | {"statistic": "judge_alpha", "pair": "difference", "estimate": -0.2, "ci_low": -0.3, "ci_high": -0.1}],
        [label | {"statistic": "winning_rate", "metric": "g2", "test": "items", "cost": 0.15, "estimate": 0.75}],
    )
    results = {"03_iaa": collect(found), "07_bot_performance": performance}
    return findings.Material(study, twice, results | {"13_judges": judges}, display_names(study, twice), MADE)


def said_methods(m):
    return findings.joined(findings.methods(m))


def answer(key, verdict="certain"):
    return SimpleNamespace(key=key, verdict=verdict, question="Which?", sentence="A is 0.5 [0.1, 0.9] points ahead.")


def test_exclusions_are_counted(material):
    rules = [Filter(rule="deviation", most=2.5), Filter(rule="deviation", center="mean")]
    study = material.study.model_copy(update={"filters": rules})
    rows = [("annotations", "kept", "", 80), ("annotations", "dropped", "far from the median (`filters`)", 15)]
    rows += [("annotations", "dropped", "far from the mean (`filters`)", 5), ("annotations", "dropped", "odd", 9)]
    counts = pd.DataFrame(rows, columns=["what", "action", "reason", "n"])
    changed = findings.Material(study, material.scores, material.results, material.names, MADE, counts)
    text = said_methods(changed)
    assert "further than 2.5 median absolute deviations (times 1.4826) from the median of their item" in text
    assert "Then, ratings further than 1 mean absolute deviation from the mean" in text
    assert "This excluded 20 of 100 judgements (20.0%)" in text
    assert "[@leys2013]" in text
    assert "Exclusions" not in said_methods(material)


def test_results_are_the_answers_of_the_first_page():
    told = files.results([answer("order"), answer("labels", "not_run"), answer("cost"), answer("40_own")])
    assert list(told) == ["order", "40_own"]
    assert told["order"] == r"**Which?** A is 0.5 \[0.1, 0.9\] points ahead."


def test_each_pair_of_systems_has_a_sentence_with_unit_interval_and_population(material):
    (on,) = findings.on_pairs(material)
    assert (on.evaluation, on.label, len(on.sentences)) == ("Dialogue Likert", "Overall_quality", 3)

    def said(*, others=True, **facts):
        made = {"p_adjusted": 0.01, "decided": True, "verdict": "differ", "margin": 1.1}
        row = material.of("07")["contrast"].to_dict("records")[-1] | made | facts
        return findings._sentence(material, row, 3, others=others)

    assert said() == (
        "On Overall\\_quality, “C, third” was rated 0.50 points higher than “B\\_b” (scale 1 to 5; simultaneous 95%"
        " CI −0.25 to 1.00; p = 0.010, adjusted for 3 pairs)."
    )
    assert said(others=False).endswith(", for these annotators.")
    assert "are not shown to differ (0.50 points" in said(decided=False)
    assert "are equivalent within ±1.1 points (0.50 points" in said(decided=False, verdict="alike")
    assert "are equivalent within ±1.1 points" in on.sentences[-1]
    assert "p < 0.001" in said(p_adjusted=1e-5)
    assert "was rated 0.0040 points higher" in said(estimate=0.004, ci_low=0.001, ci_high=0.007)


def test_only_what_ran_is_said_and_cited(material):
    methods = said_methods(material)
    entries = files.works(material, methods)
    assert set(references.cited(methods)) <= set(entries)
    assert {"krippendorff2019", "bates2015", "hothorn2008", "calderon2025", "small_data"} <= set(entries)
    assert not {"davidson1970", "mann1947"} & set(entries)
    assert "excludes 0, and are equivalent where it lies within ±1.1 points." in methods
    bare = findings.Material(material.study, material.scores, {}, material.names, MADE)
    assert references.cited(said_methods(bare)) == ["small_data", "small_report_2026", "harris2020", "virtanen2020"]


def test_files_are_written_and_the_document_compiles(material, tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    from judgebook.display import tables

    monkeypatch.setattr("IPython.display.display", lambda *a, **k: None)
    frame = pd.DataFrame({"Group": ["Öä_%", "α"]})
    run = SimpleNamespace(simulated=False, notebook="03_iaa", run_id="x", tables=tmp_path)
    tables.show(frame, "Alpha of α_1.", "alpha", run=run)
    for suffix in ("pdf", "png"):
        Figure().savefig(tmp_path / f"03_iaa_alpha.{suffix}")
    captions = {"03_iaa_alpha": "Points: α & `more_`."}
    shown = tmp_path.glob("03*"), ["03_iaa_alpha"], captions, [answer("order")]
    page = files.write(material, tmp_path / "paper", *shown)
    made = {p.name for p in (tmp_path / "paper").iterdir()}
    assert {"pairs.md", "03_iaa_alpha.tex", "03_iaa_alpha.pdf"} <= made
    assert not references.cited(page)
    tex = (tmp_path / "paper" / "report.tex").read_text(encoding="utf-8")
    assert r"\caption{Points: $\alpha$ \& \texttt{more\_}.}" in tex
    bib = references.parse((tmp_path / "paper" / "references.bib").read_text(encoding="utf-8"))
    keys = {key for group in re.findall(r"\\citep\{([^}]*)\}", tex) for key in group.split(",")}
    assert keys
    assert keys <= set(bib)
    if not shutil.which("pdflatex"):
        pytest.skip("pdflatex is not installed")
    for command in (["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "report"], ["bibtex", "report"]) * 2:
        done = subprocess.run(command, cwd=tmp_path / "paper", capture_output=True, timeout=600)
        assert done.returncode == 0, done.stdout[-1500:]
    assert "Overfull" not in (tmp_path / "paper" / "report.log").read_text(encoding="utf-8", errors="replace")
