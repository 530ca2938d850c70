"""What is counted in texts, by hand; and where a vote finds the numbers of its two answers."""

import numpy as np
import pandas as pd
import pytest

from judgebook.questions.comparisons import measures
from judgebook.questions.comparisons.measures import OF_TEXTS, given, of_texts, ratio, sides

FORMATTED = """\
# Title
Some **bold words** and 2 * 3 * 4, snake__case__name.

- one
* two **and three**
  3. nested
-not an item
#not a header

```python
# no header
- no item
```
## End
~~~
never closed **x**"""


def counts(text):
    return {name: measure(text) for name, measure in OF_TEXTS.items()}


def test_of_markdown():
    found = counts(FORMATTED)
    wanted = {"headers": 2, "list_items": 3, "bold": 3, "code_blocks": 2, "refusals": 0}
    assert {name: found[name] for name in wanted} == wanted
    assert counts("  two words \n") | {"characters": 9, "words": 2} == counts("  two words \n")
    assert set(counts(" \n").values()) == {0}


@pytest.mark.parametrize(
    ("text", "refuses"),
    [
        ("I'm sorry, but I cannot help with that.", 1),
        ("As an AI language model, I am not able to tell.", 1),
        ("I won’t provide instructions.", 1),
        ("I can't believe it! Here is how:", 0),
        ("You cannot help it.", 0),
        ("x" * 151 + " I cannot help you.", 0),
    ],
)
def test_refusals(text, refuses):
    assert measures.refusals(text) == refuses


@pytest.mark.parametrize(
    ("prompt", "answer", "other"),
    [
        ("Что такое π?", "It is a number.", 1),
        ("Что такое π?", "Число, примерно 3.14 (pi).", 0),
        ("Bonjour !", "Hello!", 0),  # languages of one script
        ("東京はどこですか", "東京是日本首都", 0),
        ("東京はどこですか", "Ｔｏｋｙｏ is the capital", 1),
        ("데이터를 정렬해 줘", "이렇게:\n```python\nsorted(everything_that_is_there)\n```", 0),  # code left out
        ("2 + 2 = ?", "четыре", 0),
        ("Hello", "", 0),
    ],
)
def test_answers_in_another_script(prompt, answer, other):
    assert measures.other_script(answer, prompt) == other
    texts = pd.DataFrame({"corpus": "main", "dialogue": ["a", "b"], "turn": pd.array([0, 0], "Int32")})
    texts = texts.assign(system_text=answer, user_text=[prompt, None])  # nothing is said of it without the prompt
    assert of_texts(texts, "other_script").groupby("dialogue").first().to_dict() == {"a": other}


TEXTS = pd.DataFrame(
    {
        "corpus": "main",
        "dialogue": ["a", "a", "b", "c", "d"],
        "turn": pd.array([0, 1, None, None, None], "Int32"),
        "system_text": ["one two", "three", "", None, "four"],
    }
)
VOTES = pd.DataFrame(
    {
        "corpus": "main",
        "dialogue": ["a", "a", "d"],
        "dialogue_b": ["b", "a", "c"],
        "turn": pd.array([None, 1, None], "Int32"),
    }
)


def test_whole_dialogues_are_sums_of_turns_an_empty_text_is_0_and_none_is_missing():
    first, second = sides(VOTES, of_texts(TEXTS, "words"))
    np.testing.assert_array_equal(first, [3, 1, 1])
    np.testing.assert_array_equal(second, [0, 1, np.nan])


def test_numbers_that_data_have_are_those_of_metrics_else_of_facts():
    scores = TEXTS.assign(metric="tokens", score=[2.0, 4.0, 7.0, np.nan, 1.0])
    facts = pd.DataFrame(
        {"corpus": "main", "dialogue": ["a", "b"], "turn": None, "key": "cost", "value": ["5", "dear"]}
    )
    first, second = sides(VOTES, given("tokens", scores, facts))
    np.testing.assert_array_equal(first, [3, 4, 1])
    np.testing.assert_array_equal(second, [7, 4, np.nan])
    assert given("cost", scores, facts).tolist() == [5.0]
    assert given("nothing", scores, facts).empty


def test_a_ratio_counts_doublings_with_one_added():
    np.testing.assert_allclose(ratio(np.array([3.0, 0, -1]), np.array([1.0, 7, 2])), [1, -3, np.nan])
