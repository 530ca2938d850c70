"""A label whose direction nobody declared: the highest system is named, not the best."""

from types import SimpleNamespace

from questions.performance.test_fitted import HEAD, made

from judgebook.display.text import Phrases
from judgebook.questions.performance import fitted
from judgebook.study.results import collect
from judgebook.summary import analysis


def test_the_highest_system_and_its_distance():
    results = collect(fitted.of_fit(made([2.0, 3.5, 3.0]), HEAD, 0, 0.95))
    part = tuple(HEAD[k] for k in analysis.PART)
    evidence = SimpleNamespace(results={analysis.PERFORMANCE: results}, evaluations=[part])
    (one,) = analysis.highest(evidence)
    assert (one["system"], one["second"], one["value"]) == ("b", "c", 3.5)
    assert [one["contrast"][k] for k in ("system", "system_b", "estimate")] == ["b", "c", 0.5]


def test_the_sentence():
    lead = {"estimate": 0.5, "ci_low": -0.25, "ci_high": 1.25}
    one = {"label": "Tone", "system": "B", "value": 3.5, "second": "C", "lead": lead}
    said = Phrases("judgebook.summary").say("no_order", verdict="no_direction", reason="Why.", highest=[one])
    assert said.startswith(
        "**Highest on Tone: B** (3.50, 0.50 [−0.25, 1.25] above C); nobody said whether high is good."
    )
