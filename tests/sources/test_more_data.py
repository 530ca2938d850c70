"""Public data sets that go in by `new` alone, held against what was printed upstream or counted in the file."""

from itertools import combinations

import krippendorff
import numpy as np
import pandas as pd
import pytest
from fixtures import yaml_studies as studies

from judgebook.extras.new import draft
from judgebook.sources import build
from judgebook.study import params


@pytest.fixture
def tried(more_data, tmp_path):
    """The judgements that are read of a file with the YAML that `new` makes."""

    def read(path):
        yaml = studies.write(tmp_path, draft.new_yaml("tried", more_data / path), name="tried")
        return build.build(params.load(yaml)).frames["annotations"]

    return read


@pytest.mark.data
@pytest.mark.evidence
def test_pandalm(tried):
    """Printed: Cohen's kappa of the three people .85, .88, .86."""
    marks = tried("pandalm/testset-v1.json")
    wide = marks.pivot_table(index=["dialogue", "dialogue_b"], columns="annotator", values="score")
    kappas = [_kappa(wide[a], wide[b]) for a, b in combinations(wide, 2)]
    assert np.round(kappas, 2).tolist() == [0.85, 0.88, 0.86]


def _kappa(a, b):
    observed = (a == b).mean()
    chance = sum((a == v).mean() * (b == v).mean() for v in set(a) | set(b))
    return (observed - chance) / (1 - chance)


@pytest.mark.data
@pytest.mark.evidence
def test_dices(tried):
    """Printed: nominal alpha 0.14324966231784253 of 76 positions."""
    marks = tried("dices/dices_990.json")
    assert len(marks) == 72_103
    assert not marks["annotator_known"].any()
    # the positions are those of people in a list: alpha needs the values of each item only
    counts = pd.crosstab(marks["dialogue"], marks["score"])
    found = krippendorff.alpha(value_counts=counts.to_numpy(), level_of_measurement="nominal")
    assert found == pytest.approx(0.14324966231784253, abs=1e-12)


@pytest.mark.data
@pytest.mark.evidence
def test_conture(tried):
    """Turns are a second source, which `new` writes. Counted in the file: 328, 237, 501 of 1,066 turns."""
    marks = tried("conture/data.json")
    on_turns = marks[marks["method"] == "turn_rating"]["score"].value_counts().sort_index()
    assert on_turns.tolist() == [328, 237, 501]


@pytest.mark.data
@pytest.mark.evidence
def test_mturk_decoding(tried):
    """Printed: pairs of workers who agree: grammar 92 of 125, coherence 75, interesting 64."""
    marks = tried("mturk_decoding/Batch_3539631_batch_results.csv")
    same = marks.groupby(["label", "dialogue"])["score"].nunique().eq(1)
    assert same.groupby("label").sum().to_dict() == {"grammar": 92, "coherence": 75, "interesting": 64}
