"""What notebook 05 shows and says, compared with its results."""

import numpy as np
import pandas as pd
import pytest
from fixtures.session_study import SYSTEMS, annotate, chats

from judgebook.display.names import DisplayNames
from judgebook.questions.sensitivity import analysis, findings, judged_groups
from judgebook.questions.sensitivity.question import Sensitivity
from judgebook.study.labels import LABEL_SETS
from judgebook.study.results import Results

METHODS = {"behavior": "ABC-Eval behaviour", "dialogue_likert": "Dialogue Likert", "comparative": "Comparative"}
NAMES = DisplayNames(
    {(x.method, x.id): x for x in LABEL_SETS["abc_eval"]},
    {"method": METHODS, "group": {}, "system": {s: s.upper() for s in SYSTEMS}},
)
OPTIONS = Sensitivity(n_dialogues=12, n_draws=30, n_permutations=300, null_runs=30, null_permutations=99,
                      power_sizes=[8, 32])  # fmt: skip


@pytest.fixture(scope="module")
def results():
    annotations, talked = annotate(np.random.default_rng(11), n_interactors=20, per_interactor=4, effect=0.6)
    judged = judged_groups.groups(annotations, chats(talked), systems=SYSTEMS, pick_seed=1)
    return analysis.of_group(analysis.analyse(judged, OPTIONS, permute_seed=1, draw_seed=1), judged[0])


@pytest.mark.parametrize(("share", "inflated", "conservative"), [(0.2, 1, 0), (0.01, 0, 1), (0.05, 0, 0)])
def test_type_i_error_of_published_tests_is_judged(results, share, inflated, conservative):
    rows = results["null_rejection"]
    published = rows["test"].isin(analysis.PUBLISHED)
    moved = Results(null_rejection=rows.assign(estimate=rows["estimate"].mask(published, share)))
    found = findings._errors([("", moved)], NAMES, 30)
    assert (found["inflated"], found["conservative"]) == (inflated, conservative)
    assert found["chance"] == pytest.approx(1.96 * np.sqrt(0.05 * 0.95 / 30))


def test_counts_of_other_labels_by_hand():
    cells = pd.DataFrame({"method": "m", "alpha": 0.05, "value": [1.0, 5.0, 2.0], "smallest": [0.0, 4.0, 1.0],
                          "largest": [2.0, 6.0, 1.0]})  # fmt: skip
    # the 2 lies in the first range, the 1 in the third, of six wrong pairings
    assert findings.others_inside(cells) == pytest.approx(2 / 6)
