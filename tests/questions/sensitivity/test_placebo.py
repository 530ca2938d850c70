from dataclasses import replace

import numpy as np
import pytest
from fixtures.panels import panel_of

from judgebook.questions.sensitivity import placebo


@pytest.mark.verify
def test_z_tests_find_too_much_where_turns_depend_on_each_other():
    """15 turns a dialogue, whose log-odds vary with a standard deviation of 1."""
    rng = np.random.default_rng(3)
    total = rng.binomial(15, 1 / (1 + np.exp(1.5 - rng.normal(size=600)))).astype(float)[:, None]
    data = panel_of(np.repeat([0, 1], 300), total)
    data = replace(data, method="behavior", n=np.full(total.shape, 15.0), squares=total, unit="turn")
    found = placebo.null_rejection(data, n=32, n_runs=1500, seed=1).query("alpha == 0.05")
    assert found["test"].tolist() == ["z"]
    assert found["estimate"].item() > 0.12


def test_placebos_have_the_proportions_of_the_study():
    """10, 60 and 60 dialogues: 10 against 60 is 1 to 6, and 60 against 60 are halves."""
    data = panel_of(np.repeat([0, 1, 2], [10, 60, 60]), np.zeros(130))
    sizes = {
        tuple(np.bincount(placebo._placebo(data, run, 28, np.random.default_rng(run)).system)) for run in range(12)
    }
    assert sizes == {(2, 8), (8, 48), (28, 28)}


def test_labels_that_no_dialogue_of_one_side_has_are_counted():
    """A rating in one of the two systems only: every second run has nothing to compare."""
    value = np.random.default_rng(6).normal(size=(20, 2))
    value[10:, 1] = np.nan
    data = panel_of(np.repeat([0, 1], 10), value, labels=("x", "y"))
    found = placebo.null_rejection(data, n=32, n_runs=10, seed=1).set_index("label")
    assert (found.loc["x", "n_undefined"] == 0).all()
    assert (found.loc["y", "n_undefined"] == 5).all()
    assert (found.loc["y", "n"] == 5).all()
