"""The quiz before the first conversation, by hand."""

import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from judgebook.questions.collection import pilot
from judgebook.questions.collection.question import Quiz
from judgebook.study.results import collect

RULE = Quiz(corpus="extra_quiz", better="good", tries=2)
#: person -> choices of each try: 1 is the better answer
TRIES = {
    "a": [[1, 1, 1, 1]],
    "b": [[1, 0, 1, 1], [1, 1, 1, 1]],
    "c": [[1, 0, 1, 1], [0, 1, 1, 1]],
    "d": [[0, 0, 0, 0], [1, 1, 0, 1], [1, 1, 1, 1]],  # a third try, which the rule does not allow
}


def judged():
    rows = []
    for person, tries in TRIES.items():
        for k, choices in enumerate(tries):
            for turn, right in enumerate(choices):
                # the better answer is shown on either side
                system, other = ("good", "bad") if turn % 2 else ("bad", "good")
                score = (1 if right else -1) * (1 if system == "good" else -1)
                unit = {"annotator": person, "work_unit": f"{person}{k}", "dialogue": f"q{k}", "turn": turn}
                rows.append(unit | {"system": system, "system_b": other, "score": score})
    frame = pd.DataFrame(rows).assign(corpus="extra_quiz", group="all", label="preference")
    later = pd.DataFrame({"annotator": ["a", "b", "c"], "corpus": "main", "group": "all", "label": "preference"})
    return pd.concat([frame, later], ignore_index=True).assign(source_row=lambda f: range(len(f)))


def test_tries_by_hand():
    found = pilot.quiz_tries(judged(), RULE).sort_values(["annotator", "place"])
    assert found[["annotator", "place", "right"]].to_numpy().tolist() == [
        ["a", 1, True],
        *(["b", 1, False], ["b", 2, True]),
        *(["c", 1, False], ["c", 2, False]),
        *(["d", 1, False], ["d", 2, False], ["d", 3, True]),
    ]


def test_who_passes_by_hand():
    results = collect(pilot.quiz_pass_rates(judged(), RULE))
    rates = results["quiz_pass_rate"].set_index("tries")
    assert rates["estimate"].to_dict() == {"first": 0.25, "any": 0.5}
    interval = proportion_confint(2, 4, method="wilson")
    assert rates.loc["any", ["ci_low", "ci_high"]].tolist() == pytest.approx(interval)
    failed = results["quiz_failed"].iloc[0]
    assert (failed["estimate"], failed["n"]) == (1, 2)  # c judged all the same, d did not
