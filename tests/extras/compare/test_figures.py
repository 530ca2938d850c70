"""Figures of a comparison can be read with few and many systems and labels."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fixtures.boxes import unreadable
from fixtures.made_results import Size

from judgebook.extras.compare import figures
from judgebook.extras.compare.analysis import CLEARLY, RAW


def compared(size):
    """A comparison of as many systems and labels, as far as figures look at it."""
    names, rng = size.names, np.random.default_rng(1)
    systems, keys = list(names.titles["system"]), list(names.labels)
    labels = pd.DataFrame(keys, columns=["method", "label"]).assign(scores=RAW, r=0.9, unit="person", verdict=CLEARLY)
    labels = labels.assign(tested=4, same_sign=1, opposite=0)
    rows = [(*key, run, system) for key in keys for run in "AB" for system in systems]
    means = pd.DataFrame(rows, columns=["method", "label", "run", "system"]).assign(scores=RAW)
    means["estimate"] = rng.uniform(0, 4, len(means))
    means["ci_low"], means["ci_high"] = means["estimate"] - 0.4, means["estimate"] + 0.4
    sides = {side: SimpleNamespace(title=title) for side, title in (("a", "First run"), ("b", "A repetition"))}
    about = {"known": dict.fromkeys(keys), "systems": systems, "primary": RAW, "confidence": 0.95}
    about |= {"deciding": labels, "identical": False}
    return SimpleNamespace(labels=labels, means=means, **sides, **about), names


@pytest.mark.evidence
@pytest.mark.parametrize("size", [Size(2, 2), Size(12, 40), Size(60, 2)], ids=str)
def test_every_figure_can_be_read(size):
    assert not unreadable((*figures.against(*compared(size)), *figures.means(*compared(size))))


def test_systems_stand_in_the_order_of_the_leader_board():
    runs, names = compared(Size(3, 2))
    ahead = names.in_order("system", ["s2", "s0", "s1"])
    order = [ahead.name("system", s) for s in ("s2", "s0", "s1")]
    (means,) = figures.means(runs, ahead)
    ax = means.fig.axes[0]
    rows = zip(ax.get_yticks(), (label.get_text() for label in ax.get_yticklabels()), strict=True)
    assert [name for _, name in sorted(rows)] == order
    (against,) = figures.against(runs, ahead)
    assert [text.get_text() for text in against.fig.legends[0].get_texts()][:3] == order
