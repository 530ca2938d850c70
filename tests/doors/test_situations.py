"""The pages of docs/own_data/ show what `new` writes, and what is read with it is what their files hold."""

from pathlib import Path

import pytest

from doors import situations

#: name of the study -> what was counted by hand from the files of the page
COUNTED = {
    "choices": "18 judgements of 3 systems by 3 annotators; best_worst: Ada 0.67, Bob 0.00, Cleo -0.67",
    "form": "16 judgements of 2 systems by 3 annotators; how_fluent_was_the_assistant: Ada 4.00, Bob 2.00; "
    "was_every_answer_true: Ada 0.75, Bob 0.25",
    "gold": "14 judgements of 2 systems by 2 annotators; score: Ada 0.71, Bob 0.29",
    "log": "12 judgements of 2 systems by 2 annotators, with 4 texts of systems; correct: ada-1 1.00, bob-2 0.25; "
    "helpful: ada-1 4.50, bob-2 2.50",
    "batch": "16 judgements of 2 systems by 3 annotators; consistency: Ada 3.75, Bob 3.75; fluency: Ada 4.50, Bob 2.00",
    "transcripts": "16 judgements of 2 systems by 3 annotators, with 5 texts of systems; quality: Ada 3.50, Bob 2.00; "
    "relevance: Ada 4.00, Bob 2.00",
    "ratings": "6 judgements of 2 systems by 3 annotators, with 4 texts of systems; quality: Ada 3.50, Bob 1.50",
    "weekly": "12 judgements of 2 systems by 2 annotators; quality: Ada 4.00, Bob 2.50",
    "votes": "10 judgements of 3 systems by 3 annotators; winner: Ada 0.14, Bob -0.75, Cleo 1.00",
}


@pytest.mark.parametrize("page", situations.PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_new_writes(page):
    text = page.read_text(encoding="utf-8")
    assert situations.renewed(page) == text, "python tests/doors/situations.py writes it anew; read it through"
    for block in situations.blocks(text):
        if block["name"].startswith("params/"):
            assert block["read"] == f"Read as: {COUNTED[Path(block['name']).stem]}"
