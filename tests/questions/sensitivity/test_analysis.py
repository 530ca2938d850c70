import numpy as np
import pytest
from fixtures.session_study import SYSTEMS, annotate

from judgebook.questions.sensitivity import analysis, views
from judgebook.study.results import Results, collect


@pytest.fixture(scope="module")
def data():
    return annotate(np.random.default_rng(2), n_interactors=20, per_interactor=3, effect=0.5)[0]


@pytest.mark.parametrize(("n", "kept"), [(analysis.MIN_DIALOGUES - 1, "bcd"), (analysis.MIN_DIALOGUES, "abcd")])
def test_systems_with_few_dialogues_are_left_out(data, n, kept):
    annotations = data
    rated = annotations[(annotations["method"] == "dialogue_likert") & (annotations["group"] == "ext")]
    few = rated.loc[rated["system"] == "a", "dialogue"].unique()[:n]
    (cell,) = analysis.groups(rated[(rated["system"] != "a") | rated["dialogue"].isin(few)], SYSTEMS)
    assert cell.systems == {"dialogue_likert": list(kept)}
    sizes = rated.groupby("system")["dialogue"].nunique().to_dict() | {"a": n}
    assert cell.dialogues == [sizes[system] for system in kept]
    assert cell.tests == rated["label"].nunique() * len(kept) * (len(kept) - 1) // 2
    assert analysis.groups(rated[rated["system"] == "b"], SYSTEMS) == []


def test_what_the_fits_decide_is_counted_by_label_without_pairs_that_cannot_be_compared():
    head = {"statistic": "contrast", "corpus": "main", "group": "all", "method": "dialogue_rating", "system": "a"}
    ends = {("x", "b"): (0.1, 0.5), ("x", "c"): (-0.1, 0.5), ("x", "d"): (None, None), ("y", "b"): (-0.5, -0.1)}
    rows = [
        head
        | {"label": label, "system_b": b, "ci_low": low, "ci_high": high, "resample_unit": "dialogue and annotator"}
        for (label, b), (low, high) in ends.items()
    ]
    fits = collect(rows)
    assert analysis.compared(fits)[["label", "sure"]].to_numpy().tolist() == [["x", True], ["x", False], ["y", True]]
    assert views.tally(fits)["others"]
    alone = fits["contrast"].assign(resample_unit="dialogue")
    assert not views.tally(Results(contrast=alone))["others"]
