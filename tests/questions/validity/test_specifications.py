"""Decisions that could have been made otherwise: what is computed for each, and what is shown and said of them."""

import numpy as np
import pandas as pd
import pytest
from fixtures.session_study import annotate, chats

from judgebook.annotations.dialogue_values import COMPARATIVE_QUALITY
from judgebook.questions.validity import coverage, specifications, targets
from judgebook.questions.validity.question import Coverage, Importance
from judgebook.study.results import collect

OPTIONS = Coverage(exclude=["quality"], n_folds=4, n_repeats=1, n_halves=10, n_permutations=10)
SECTION = Importance(
    quality_label="quality",
    quality_group="students",
    group=["crowd", "students"],
    vary={
        "Rated by": {"anyone": {}, "some": {"quality_group": "some"}},
        "Rating": {"one": {}, "mean": {"quality_rating": "mean"}},
    },
    draws=3,
)


@pytest.fixture(scope="module")
def data():
    annotations, talked = annotate(np.random.default_rng(5), n_interactors=20, doubled=0.6, effect=0.4)
    ext = annotations[annotations["group"] == "ext"]
    liked = ext[ext["method"] == "dialogue_likert"]
    noise = np.random.default_rng(1).integers(-1, 2, len(liked))
    likes = liked.assign(label="engaging", score=(liked["score"] + noise).clip(1, 5))
    ext = pd.concat([ext, likes], ignore_index=True)
    group = ext["method"].map({"behavior": "crowd"}).fillna("students")
    annotator = ext["annotator"].where(group == "students", "C" + ext["annotator"])
    return ext.assign(group=group, annotator=annotator), chats(talked)


@pytest.fixture(scope="module")
def parts(data):
    annotations, _ = data
    people = sorted(annotations.loc[annotations["group"] == "students", "annotator"].unique())
    return {"some": people[:3]}


@pytest.fixture(scope="module")
def rows(data, parts):
    found = specifications.fits(*data, SECTION, OPTIONS, seed=1, pick_seed=2, confidence=0.95, parts=parts)
    return collect(found)


@pytest.mark.verify
def test_the_fit_of_the_decisions_made_is_the_one_reported(data, parts, rows):
    found = targets.find(*data, pick_seed=2, parts=parts, **SECTION.settings())
    design = found.designs[COMPARATIVE_QUALITY]
    methods = list(dict.fromkeys(design.x.columns.get_level_values(0)))
    given = {"seed": 1, "exclude": OPTIONS.exclude, "n_folds": 4, "n_repeats": 1, "n_permutations": 10}
    reported = collect(coverage.compare(design, methods, **given)).select("mcfadden_r2", kind="cross_validated")
    made = rows.select("specification_fit", target=COMPARATIVE_QUALITY, specification="Rated by: anyone; Rating: one")
    for row in made.to_dict("records"):
        same = reported[(reported["method"] == row["method"]) & (reported["k"] == row["k"])].iloc[0]
        for column in ("estimate", "ci_low", "ci_high", "n"):
            assert row[column] == pytest.approx(same[column])
