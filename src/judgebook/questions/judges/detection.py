"""Does a judge mark what people mark? Precision, recall and specific agreement of labels of two values."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from judgebook.questions.judges.items import JudgedItems, checked

ROWS = (
    ("precision", "people"),
    ("recall", "people"),
    ("positive_agreement", "people"),
    ("negative_agreement", "people"),
    ("positive_agreement", "each other"),
    ("negative_agreement", "each other"),
)


def detection(items: JudgedItems, **boot) -> Iterator[dict]:
    """Which of the judge's marks people confirm, and which of people's marks it finds.

    Yields `precision`, `recall`, `positive_agreement` (their harmonic mean, F1) and `negative_agreement`, with
    `against` people: sums over people, each taken as the truth once; and the last two for people compared with each
    other (no metric), for whom precision and recall are equal on average. Dialogues are resampled (boot : seed,
    n_resamples, confidence). Nothing for labels of more than two values.
    """
    if not items.label.binary:
        return
    h, j, m = items.human, items.judge, items.human.shape[1]
    a, b = (h[:, at] for at in np.array(list(combinations(range(m), 2))).T)
    sides = [h * j[:, None], m * j[:, None], h, (1 - h) * (1 - j[:, None]), np.full((len(h), 1), m)]
    sides += [2 * a * b, a + b, 2 * (1 - a) * (1 - b), 2 - a - b]

    def measures(s: np.ndarray) -> np.ndarray:
        hit, judged, marked, neither, n, both, either, none, nothing = s.T
        negative = 2 * neither / (2 * n - judged - marked)
        columns = [hit / judged, hit / marked, 2 * hit / (judged + marked), negative, both / either, none / nothing]
        return np.stack(columns, axis=1)

    sums = np.stack([side.sum(axis=1) for side in sides], axis=1)
    marks = min(j.sum(), h.sum() / m)
    for (statistic, against), interval in zip(ROWS, items.resample(sums, measures, "detection", **boot), strict=True):
        metric = items.key["metric"] if against == "people" else None
        row = {"statistic": statistic, "against": against, "metric": metric}
        yield items.head | items.sizes | row | checked(interval, marks).row()
