"""Answers that are sets: MASI distance against nltk, and alpha of sets read from a file."""

import numpy as np
import pytest
from fixtures import yaml_studies as studies
from nltk.metrics import masi_distance
from nltk.metrics.agreement import AnnotationTask

from judgebook.questions.agreement.analysis import alpha_table
from judgebook.questions.collection.analysis import answers
from judgebook.statistics.intervals import Sampling
from judgebook.study import params
from judgebook.study.params import ParamsError
from judgebook.study.results import collect

FEW = Sampling(n_resamples=200, confidence=0.95, seed=1)
YAML = """\
title: What is wrong with the reply?
method: turn_rating
sources:
  - adapter: records
    file: marks.json
    scores: "marks.{annotator}.[]"
    columns: {dialogue: id}
    constants: {label: faults, turn: 0}
labels:
  faults: {categories: [rude, wrong, vague], level: sets}
"""
WORDS = ("rude", "wrong", "vague")


def test_sets_are_read_and_alpha_is_that_of_nltk(tmp_path):
    rng = np.random.default_rng(4)
    records, triples = [], []
    for i in range(40):
        leaning = rng.random(3)
        marks = {}
        for who in ("ann", "ben", "cid"):
            chosen = [w for w, p in zip(WORDS, leaning, strict=True) if rng.random() < 0.25 + 0.6 * (p > 0.5)]
            marks[who] = chosen or ["vague"]
            triples.append((who, str(i), frozenset(marks[who])))
        records.append({"id": f"r{i}", "marks": marks})
    built = studies.read(tmp_path, YAML, marks_json=records)
    marks, labels = built.frames["annotations"], params.load(tmp_path / "mine.yaml").label_list()
    assert len(marks) == 120
    bits = [sum(2 ** WORDS.index(w) for w in chosen) for _, _, chosen in triples]
    assert sorted(marks["score"].astype(int)) == sorted(bits)
    alpha = alpha_table(marks, labels, first=None, sampling=FEW, alone=True)["alpha"]["estimate"].iloc[0]
    assert alpha == pytest.approx(AnnotationTask(triples, distance=masi_distance).alpha(), abs=0.01)
    share = collect(answers(marks, labels, sampling=FEW))["answer_share"].set_index("answer")["estimate"]
    assert share["rude"] == pytest.approx(np.mean(["rude" in chosen for _, _, chosen in triples]))


def test_sets_need_categories(tmp_path):
    with pytest.raises(ParamsError, match="expected 2 to 20 with `level: sets`"):
        params.load(studies.write(tmp_path, YAML.replace("categories: [rude, wrong, vague]", "scale: [1, 7]")))
