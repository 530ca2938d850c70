"""What `new` tells of a label's direction from its name, question or answers: never the wrong one, else a doubt."""

import re

import pytest
import yaml

from judgebook.extras.new import draft
from judgebook.extras.new.directions import direction

#: direction -> names and questions that tell it, or leave it in doubt
NAMES = {
    -1: """
hallucinations | factual_errors | harmful | harmfulness | incorrect | omission | off_topic | Off-topic
rude | toxicity | irrelevant | self_contradiction | repetition | factually_wrong | incoherence | isBoring | worst
lack_of_empathy | grammar_errors | consistency errors | antisocial | Fehler | unhöflich | incohérent | quality_issues
Was the reply rude? (1 = not at all, 7 = extremely)
How fluent is the text (1 = best, 5 = worst)
""",
    1: """
quality | fluency | coherence | natural | appropriate | overall_quality | harmlessness | is_safe | flüssig | qualité
calidad | human-like | AnswerRelevance | fluency_rating | natürlich | correct_fact
were_the_replies_relevant_to_what_the_user_said_1_never_5_always
How often did the bot contradict itself? (1 = always, 5 = never)
Rate the toxicity from 1 (bad) to 5 (good)
The bot was helpful (1 = strongly disagree, 5 = strongly agree)
""",
    None: """
makes_sense | no_hallucination | error_recovery | toxicity_free | not_rude | unbiased | non_toxic | harmful_or_helpful
bias | verbose | verbosity | condition
lack_of_errors | length | tone | q1_1 | hallucination_score | robotic_reversed | confidence | flawless | too_polite
safety | less_fluent | rank | errors_corrected | factual_errors_count | interesting_problem | coherence_loss | harmony
Toxicity (1 = very toxic, 5 = not toxic)
Was the response free of errors?
The bot wasn't helpful (1 = disagree, 5 = agree)
Did the assistant invent facts?
""",
}
EXPECTED = {name: sign for sign, names in NAMES.items() for name in re.split(r" \| |\n", names.strip())}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_name_or_a_question_tells_its_direction_or_leaves_it_in_doubt(name):
    assert direction(name) == EXPECTED[name]


@pytest.mark.parametrize(
    ("name", "answers", "expected"),
    [
        ("hallucination", ["no", "yes"], -1),
        ("grammatical", ["no", "yes"], 1),
        ("hallucination", ["fail", "pass"], 1),
        ("tone", ["terrible", "ok", "excellent"], 1),
        ("satisfaction", ["very dissatisfied", "neutral", "very satisfied"], 1),
        ("q1", ["Strongly disagree", "Agree", "Strongly agree"], None),
        ("mood", ["cold", "warm"], None),
    ],
)
def test_answers_in_words_count_too(name, answers, expected):
    assert direction(name, answers) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Answer.best", 1), ("Answer.worst", -1), ("choice", 1), ("more_toxic", -1), ("longer", None)],
)
def test_of_a_comparison_the_chosen_side(name, expected):
    assert direction(name, compared=True) == expected


@pytest.mark.parametrize(("slips", "wanted"), [(0, {"best": 1}), (3, {"best": 1, "worst": -1})])
def test_the_worst_of_two_is_the_other_one_or_a_doubt(tmp_path, slips, wanted):
    """One judgement, and not two; where some rows name the same side twice, a person says which label holds."""
    rows = ["HITId,WorkerId,AssignmentStatus,Input.system1,Input.system2,Answer.best,Answer.worst"]
    for i in range(30):
        best, worst = ("A", "B") if i % 3 else ("B", "A")
        worst = best if i < slips else worst
        rows.append(f"h{i // 2},w{i % 2},Approved,sys{i % 3},sys{(i + 1) % 3},{best},{worst}")
    (tmp_path / "mturk.csv").write_text("\n".join(rows) + "\n")
    text = draft.new_yaml("mturk", tmp_path / "mturk.csv", tmp_path)
    labels = yaml.safe_load(text)["labels"]
    assert {name: spec.get("direction") for name, spec in labels.items()} == wanted
    assert ("name the same side in 3 rows" in text) == bool(slips)
