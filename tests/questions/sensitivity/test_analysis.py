import numpy as np
import pytest
from fixtures.session_study import SYSTEMS, annotate

from judgebook.questions.sensitivity import analysis, judged_groups
from judgebook.study.results import Results, collect

SETTINGS = {"systems": SYSTEMS, "pick_seed": 1}


@pytest.fixture(scope="module")
def data():
    return annotate(np.random.default_rng(2), n_interactors=20, per_interactor=3, effect=0.5)[0]


@pytest.mark.parametrize(
    ("n", "kept"), [(judged_groups.MIN_DIALOGUES - 1, "bcd"), (judged_groups.MIN_DIALOGUES, "abcd")]
)
def test_systems_with_few_dialogues_are_left_out(data, n, kept):
    annotations = data
    rated = annotations[(annotations["method"] == "dialogue_likert") & (annotations["group"] == "ext")]
    few = rated.loc[rated["system"] == "a", "dialogue"].unique()[:n]
    (cell,) = judged_groups.groups(rated[(rated["system"] != "a") | rated["dialogue"].isin(few)], **SETTINGS)
    assert cell.panels[0].systems == list(kept)
    assert judged_groups.groups(rated[rated["system"] == "b"], **SETTINGS) == []


def test_what_the_fits_decide_is_counted_by_label_without_pairs_that_cannot_be_compared():
    head = {"statistic": "contrast", "corpus": "main", "group": "all", "method": "dialogue_rating", "system": "a"}
    ends = {("x", "b"): (0.1, 0.5), ("x", "c"): (-0.1, 0.5), ("x", "d"): (None, None), ("y", "b"): (-0.5, -0.1)}
    rows = [
        head
        | {"label": label, "system_b": b, "ci_low": low, "ci_high": high, "resample_unit": "dialogue and annotator"}
        for (label, b), (low, high) in ends.items()
    ]
    fits = analysis.with_fits(Results(), collect(rows))
    assert analysis.decided(fits).to_dict() == {("dialogue_rating", "x"): 1, ("dialogue_rating", "y"): 1}
    assert len(analysis.compared(fits)) == 3
    assert analysis.others(fits)
    alone = fits["contrast"].assign(resample_unit="dialogue")
    assert not analysis.others(Results(contrast=alone))
