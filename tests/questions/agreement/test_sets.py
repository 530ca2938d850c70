"""Answers that are sets: MASI distance against nltk, and alpha of sets read from a file."""

import itertools

import numpy as np
import pytest
from fixtures import yaml_studies as studies
from nltk.metrics import masi_distance
from nltk.metrics.agreement import AnnotationTask

from judgebook.questions.agreement.analysis import alpha_table
from judgebook.questions.agreement.coincidences import distances
from judgebook.questions.collection.answers import answers
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


def test_distances_are_those_of_nltk():
    """nltk 3.9 and later round the weights 1/3 and 2/3 to 0.33 and 0.67; ours are Passonneau's."""
    values = np.arange(1, 16)
    found = distances(values.astype(float), "sets")
    sets = [frozenset(i for i in range(4) if v >> i & 1) for v in values]
    for (i, a), (j, b) in itertools.product(enumerate(sets), repeat=2):
        assert found[i, j] == pytest.approx(masi_distance(a, b), abs=0.005)


def test_distances_by_hand():
    found = distances(np.array([1.0, 3, 6, 4]), "sets")  # {a}, {a, b}, {b, c}, {c}
    assert found[0].tolist() == pytest.approx([0, 1 - 1 / 2 * 2 / 3, 1, 1])
    assert found[1, 2] == pytest.approx(1 - 1 / 3 * 1 / 3)


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
