"""More annotators of the same population make no answer vaguer, on average over who is drawn."""

import numpy as np

from judgebook.model import ratings
from judgebook.model.fit import Judgements


def drawn(rng, annotators=8, systems=4, items=12):
    system, item, annotator = (x.ravel() for x in np.indices((systems, items, annotators)))
    item = system * items + item
    score = (
        np.linspace(0, 1, systems)[system]
        + rng.normal(0, 0.4, annotators)[annotator]
        + rng.normal(0, 0.3, (annotators, systems))[annotator, system]
        + rng.normal(0, 0.6, systems * items)[item]
        + rng.normal(0, 0.7, len(system))
    )
    return Judgements(tuple("abcd"), system, item, item, annotator, score)


def of(j, people):
    rows = np.isin(j.annotator, people)
    code = np.searchsorted(people, j.annotator[rows])
    return Judgements(j.systems, j.system[rows], j.item[rows], j.context[rows], code, j.score[rows])


def test_more_annotators_make_no_answer_vaguer():
    rng = np.random.default_rng(4)
    widths, decided = [], []
    for _ in range(20):
        j = drawn(rng)
        order = rng.permutation(8)
        fits = [ratings.fit(of(j, np.sort(order[:n]))) for n in (2, 3, 5, 8)]
        every = [fit.levels.differences() for fit in fits]
        widths.append([np.median(d.high - d.low) for d in every])
        decided.append([d.decided.sum() for d in every])
    assert np.all(np.diff(np.mean(widths, axis=0)) < 0)
    assert np.all(np.diff(np.mean(decided, axis=0)) > 0)
