"""Planted studies: what makes the result is found, and a sturdy result is called sturdy."""

import numpy as np
import pandas as pd
import pytest

from judgebook.questions.fragility import analysis, leaving_out
from judgebook.questions.fragility.question import Fragility
from judgebook.questions.quality_control.question import QualityControl
from judgebook.study.labels import LABEL_SETS
from judgebook.study.schema import ANNOTATIONS, conform

LABELS = LABEL_SETS["abc_eval"]
N = 30
PEOPLE = [f"A{i}" for i in range(6)]


def rated(score, *, corpus="main", n=N):
    """Everybody rates n dialogues of either system; score : (who, system, dialogue) -> value."""
    rows = [
        {"annotator": who, "system": system, "dialogue": f"{corpus}{system}{i}", "score": score(k, system, i),
         "method": "dialogue_likert", "corpus": corpus}
        for k, who in enumerate(PEOPLE) for system in "ab" for i in range(n)
    ]  # fmt: skip
    return framed(rows)


def framed(rows):
    same = {"study": "s", "corpus": "main", "group": "all", "label": "quality", "source_row": 0}
    same |= {"annotator_known": True, "annotator_kind": "human"}
    return conform(pd.DataFrame([same | row for row in rows]), ANNOTATIONS)


def found(frame, **options):
    given = {"systems": ["a", "b"], "control": None, "options": QualityControl(), "pick_seed": 1}
    return analysis.analyse(list(analysis.parts(frame, LABELS, **given)), Fragility(**options))


def hangs_on(results):
    return set(results["hangs_on"]["reason"])


def noise(*key, sd=0.5):
    return float(np.random.default_rng([ord(k) if isinstance(k, str) else k for k in key]).normal(0, sd))


def test_a_difference_that_all_see_is_sturdy():
    results = found(rated(lambda k, s, i: 3 + (s == "a") + noise(k, s, i)))
    assert results["sturdy"]["estimate"].tolist() == [1.0]
    assert hangs_on(results) == set()
    assert set(results.select("specification_share")["estimate"]) == {1.0}
    assert results["without_session"]["n"].tolist() == [2 * N]


def test_one_person_who_makes_the_result_is_named():
    results = found(rated(lambda k, s, i: 3 + 3 * (k == 2 and s == "a") + noise(k, s, i)))
    assert results["sturdy"]["estimate"].tolist() == [0.0]
    assert analysis.PERSON in hangs_on(results)
    lost = results["without_person"].query("verdict != 'kept'")
    assert lost["without"].tolist() == ["A2"]
    shares = results.select("choice_effect", choice="people").set_index("value")["estimate"]
    assert shares["a sample"] == 0  # the others saw nothing


def test_a_person_who_judged_all_of_a_system_is_what_the_result_hangs_on():
    """The first annotator judged all dialogues of A, three others those of B."""
    frame = rated(lambda k, s, i: 3 + (s == "a") + noise(k, s, i))
    first, three = (frame["annotator"].isin(some) for some in (PEOPLE[:1], PEOPLE[1:4]))
    results = found(frame[np.where(frame["system"] == "a", first, three)])
    assert results["sturdy"]["estimate"].tolist() == [0.0]
    assert analysis.PERSON in hangs_on(results)
    rows = results["without_person"].set_index("without")
    assert sorted(rows.index) == PEOPLE[:4]  # each tried person has a row
    assert rows.at["A0", "verdict"] == leaving_out.LOST
    assert np.isnan(rows.at["A0", "estimate"])
    assert rows.at["A0", "note"] == leaving_out.NOTHING_LEFT
    assert set(rows.drop(index="A0")["verdict"]) == {leaving_out.KEPT}


def test_a_system_of_very_few_dialogues_is_what_the_result_hangs_on():
    frame = rated(lambda k, s, i: 3 + 2 * (s == "a") + noise(k, s, i), n=80)
    results = found(frame[(frame["system"] == "b") | frame["dialogue"].isin(["maina0", "maina1", "maina2"])])
    assert analysis.DIALOGUES in hangs_on(results)
    (few,) = results["drop_few"].to_dict("records")
    assert (few["note"], few["n"]) == (leaving_out.NOTHING_LEFT, 83)
    results = found(frame[(frame["system"] == "b") | frame["dialogue"].isin([f"maina{i}" for i in range(10)])])
    assert results["drop_few"]["note"].tolist() == ["not even half of them"]  # an eighth of the dialogues is not few


def test_the_difference_without_a_session_is_exact():
    totals, counts = np.array([[5.0, 1.0], [4.0, 2.0], [9.0, 0.0]]), np.array([[2.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    row = {"estimate": 18 / 4 - 1, "se": 0.5, "df": 10.0}
    left = leaving_out.without_session(totals, counts, row, 0.025)
    assert left["estimate"] == pytest.approx(9 / 3 - 3 / 2)  # without the third
    assert (left["n"], left["verdict"]) == (3, leaving_out.KEPT)
    assert leaving_out.without_session(totals, counts, row, 0.01)["verdict"] == leaving_out.LOST  # t is 3: p = 0.013
    turned = leaving_out.without_session(np.array([[5.0, 0], [0, 0], [0, 1]]), np.ones((3, 2)), row, 0.025)
    assert turned["verdict"] == leaving_out.TURNED


def test_of_too_many_conclusions_the_clearest_and_the_most_doubtful_are_examined():
    p = [0.001, 0.002, 0.004, 0.01, 0.02, 0.03]
    significant = pd.DataFrame({"p_value": p, "p_adjusted": [0.006, 0.01, 0.016, 0.03, 0.04, 0.04]})
    assert analysis.examined(significant, 4)["p_value"].tolist() == [0.001, 0.002, 0.02, 0.03]
    assert analysis.examined(significant, 3)["p_value"].tolist() == [0.001, 0.002, 0.03]
    assert analysis.examined(significant, 6) is significant


def test_scores_that_only_differ_once_standardised_are_no_conclusion_and_the_reverse_hangs_on_them():
    """Half of the annotators use a wide scale and see a difference; all others see a small one of the opposite sign,
    which is clear on their narrow scale."""
    wide = lambda k, s, i: 3 + (1.0 if s == "a" else -1.0) + noise(k, s, i, sd=2.0)  # noqa: E731
    narrow = lambda k, s, i: 3 + (-0.1 if s == "a" else 0.1) + noise(k, s, i, sd=0.02)  # noqa: E731
    results = found(rated(lambda k, s, i: wide(k, s, i) if k < 3 else narrow(k, s, i)))
    assert "scores" in hangs_on(results)
    effect = results.select("choice_effect", choice="scores").set_index("value")["estimate"]
    assert effect["raw"] > effect["standardised"]


def compared(score, n=60):
    rows = [
        {"annotator": PEOPLE[i % 6], "system": "a", "system_b": "b", "dialogue": f"a{i}", "dialogue_b": f"b{i}",
         "score": score(i), "method": "comparative"}
        for i in range(n)
    ]  # fmt: skip
    return framed(rows)


def test_comparisons_are_seen_from_one_side():
    """Half of the pairs were stored the other way round: what turns the sign is the same."""
    frame = compared(lambda i: 1.0 if i % 4 else -1.0)
    turned, swap = frame.copy(), np.arange(len(frame)) % 2 == 0
    for one, other in (("system", "system_b"), ("dialogue", "dialogue_b")):
        turned.loc[swap, [one, other]] = frame.loc[swap, [other, one]].to_numpy()
    turned.loc[swap, "score"] = -frame.loc[swap, "score"]
    assert found(frame)["drop_few"]["estimate"].tolist() == found(turned)["drop_few"]["estimate"].tolist() == [30.0]


@pytest.mark.verify
def test_another_run_in_which_the_order_is_reversed_is_what_it_hangs_on():
    one = rated(lambda k, s, i: 3 + (s == "a") + noise(k, s, i))
    other = rated(lambda k, s, i: 3 - (s == "a") + noise(k, s, i), corpus="again")
    results = found(pd.concat([one, other], ignore_index=True))
    assert hangs_on(results) == {analysis.DATA}
    assert set(results["specification"]["data"]) == {"main", "again"}
