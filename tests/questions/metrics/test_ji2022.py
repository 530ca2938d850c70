"""Metrics on the public chats of Ji et al. 2022, computed again from the authors' own files of workers who passed."""

import json
import re
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest

from judgebook.questions.metrics import analysis, text_metrics
from judgebook.questions.quality_control import worker_tests
from judgebook.sources.build import build
from judgebook.statistics.intervals import Sampling
from judgebook.study import params
from judgebook.study.results import where

QUICK = {"sampling": Sampling(200, 0.95, 1), "permute_seed": 1, "rank_resamples": 200}


def mean_by_system(path):
    """System -> means over chats of distinct-1, of new bigrams and of the overall raw rating, from the JSON alone."""
    chats = defaultdict(list)
    for assignment in json.loads(path.read_text(encoding="utf-8")):
        for chat in assignment["data"]:
            said, distinct, new = set(), [], []
            for i, turn in enumerate(chat["dialogue"]):
                words = re.findall(r"\w+|[^\w\s]", turn["bot"].lower())
                pairs = list(pairwise(words))
                distinct += [len(set(words)) / len(words)] if words else []
                new += [np.mean([pair not in said for pair in pairs])] if i and pairs else []
                said.update(pairs)
            rating = np.mean(list(chat["raw scores"].values()))
            chats[chat["model"].lower()].append((np.mean(distinct), np.mean(new) if new else np.nan, rating))
    return {system: np.nanmean(rows, axis=0) for system, rows in chats.items() if system != "qualitycontrol"}


@pytest.mark.data
@pytest.mark.evidence
def test_system_level_correlations_follow_from_the_authors_files(raw_data):
    study = params.load("ji2022")
    built = build(study)
    everybody, labels = analysis.rated(built.frames["annotations"]), study.label_list()
    passed = worker_tests.of_those_who_passed(everybody, labels, "qc", study.quality_control)
    one = passed[passed["corpus"] == "free_run1"]
    assert one["annotator"].nunique() == 173  # Table 1
    scores, _ = text_metrics.score_texts(built.frames["dialogues"], one, ["distinct_1", "new_bigrams"])
    results = analysis.analyse(one, scores, labels, unranked=["qc"], control="qc", **QUICK)
    found = where(results["overall_correlation"], coefficient="pearson").set_index("metric")["estimate"]
    rows = mean_by_system(raw_data / "ji2022" / "dialogue_data" / "pass_free(run1).json")
    distinct, new, rating = np.array(list(rows.values())).T
    assert len(rows) == 10
    assert found["distinct_1"] == pytest.approx(np.corrcoef(distinct, rating)[0, 1], abs=2e-3)
    assert found["new_bigrams"] == pytest.approx(np.corrcoef(new, rating)[0, 1], abs=2e-3)
