"""Figures of a comparison can be read with few and many systems and labels."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fixtures.boxes import unreadable
from fixtures.made_results import Size

from judgebook.extras.compare import figures
from judgebook.extras.compare.analysis import RAW


def compared(size):
    """A comparison of as many systems and labels, as far as figures look at it."""
    names, rng = size.names, np.random.default_rng(1)
    systems, keys = list(names.titles["system"]), list(names.labels)
    labels = pd.DataFrame(keys, columns=["method", "label"]).assign(scores=RAW, r=0.9, unit="person")
    rows = [(*key, run, system) for key in keys for run in "AB" for system in systems]
    means = pd.DataFrame(rows, columns=["method", "label", "run", "system"]).assign(scores=RAW)
    means["estimate"] = rng.uniform(0, 4, len(means))
    means["ci_low"], means["ci_high"] = means["estimate"] - 0.4, means["estimate"] + 0.4
    sides = {side: SimpleNamespace(title=title) for side, title in (("a", "First run"), ("b", "A repetition"))}
    about = {"known": dict.fromkeys(keys), "systems": systems, "primary": RAW, "confidence": 0.95}
    return SimpleNamespace(labels=labels, means=means, **sides, **about), names


@pytest.mark.slow
@pytest.mark.parametrize("size", [Size(2, 2), Size(12, 40), Size(60, 2)], ids=str)
def test_every_figure_can_be_read(size):
    assert not unreadable((*figures.against(*compared(size)), *figures.means(*compared(size))))
