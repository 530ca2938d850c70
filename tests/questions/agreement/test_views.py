"""What notebook 03 shows follows from its results, and from the primary interval only."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import annotation_rows

from judgebook.questions.agreement import analysis, items
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import LABEL_SETS

QUICK = Sampling(n_resamples=200, confidence=0.95, seed=1)


def people(n=40, m=6, per=3, contexts=None, known=True, seed=1, label="quality"):
    """Ratings of n dialogues of three systems, each by `per` of m people in turn; dialogues share contexts."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        for j in range(per):
            score = float(np.clip(np.round(3 + (i % 3) + 0.8 * rng.normal()), 1, 5))
            row = {"dialogue": f"d{i:02d}", "method": "dialogue_likert", "label": label, "system": f"S{i % 3}"}
            rows.append(row | {"annotator": f"A{(i * per + j) % m}", "score": score, "turn": None})
    frame = annotation_rows(rows).assign(annotator_known=known)
    places = frame["dialogue"].str[1:].astype(int) % (contexts or n)
    return frame.assign(context="c" + places.astype(str)) if contexts else frame


def analysed(frame, **options):
    return analysis.analyse(frame, LABEL_SETS["abc_eval"], **{"first": None, "sampling": QUICK} | options)


@pytest.mark.parametrize(
    ("frame", "whom", "resample"),
    [
        (people(), "sample", "dialogue and annotator"),
        (people(contexts=8), "sample", "context and annotator"),
        (people(m=4, contexts=8), "fixed", "context"),
        (people(known=False), "unknown", "dialogue"),
    ],
)
def test_each_alpha_has_one_primary_interval_and_says_of_whom_it_speaks(frame, whom, resample):
    results = analysed(frame)
    (row,) = items.primary(results).to_dict("records")
    assert (row["population"], row["resample"]) == (whom, resample)
    assert row["unit"] == resample.removesuffix(" and annotator")
    assert pd.notna(row["ci_low"])
    assert (row["others"] == "4.0 effective annotators, of 5 needed") == (whom == "fixed")
