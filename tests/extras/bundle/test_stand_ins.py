"""Stand-ins for texts: the same in number, size and repetition, and nothing of what the texts say."""

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judgebook.annotations.summary import TOKEN, utterances
from judgebook.extras.bundle.identifiers import masked
from judgebook.extras.bundle.judgements import StandIns

TEXTS = st.lists(st.text(st.sampled_from("ab é你1_-'’.!?…\n\r\x0b\u2028\t 🙂"), max_size=40), max_size=12)


def size(text):
    lines = text.splitlines()
    return [(len(line.split()), len(TOKEN.findall(line)), len("".join(line.split())), len(line)) for line in lines]


@given(TEXTS)
@example(["Hi there, you!", "Hi there, me!!", "  x ", "!!!", "???", "don't stop", ""])
def test_sizes_and_repetitions_are_those_of_the_texts(texts):
    new = StandIns().of(texts)
    assert [size(new[text]) for text in texts] == [size(text) for text in texts]
    # of lines of blanks, and of ends of lines, only how many there are counts
    lines = {(*(x if x.strip() else len(x) for x in t.splitlines()), t[-1:].splitlines() == [""]) for t in texts}
    assert len(set(new.values())) == len(lines)


def test_a_line_has_one_stand_in_wherever_it_occurs():
    stand_ins = StandIns()
    one, two = stand_ins.of(["Hello you\nBye now"]), stand_ins.of(["Hello you", "Bye now"])
    assert one["Hello you\nBye now"] == f"{two['Hello you']}\n{two['Bye now']}"
    assert two["Hello you"] != two["Bye now"]


@pytest.mark.parametrize(
    "text",
    [
        "My id is A1B2C3D4E5F6G7",
        "Mail bob@mail.org",
        "Call +44 20 7946 0958",
        "5f3e1c2b9a8d7e6f5a4b3c2d",
        "10.1.2.3",
        "@bob_b",
    ],
)
def test_nothing_of_a_text_is_left_and_nothing_looks_like_an_id(text):
    made = StandIns().of([text, text.swapcase() + "!"])
    for stand_in in made.values():
        assert masked(stand_in) == (stand_in, {})
        assert not set(stand_in) & set(text) - set("a. ")


def test_what_is_counted_in_texts_is_the_same():
    talk = pd.DataFrame(
        {
            "corpus": "main", "dialogue": ["d1", "d1", "d2"], "turn": [0, 1, 0], "system": "a", "interactor": None,
            "user_text": ["A: hi there!\nB: it's me", "What?", None], "system_text": ["Oh - well.", "", "Fine, yes :)"],
        }
    )  # fmt: skip
    stand_ins = StandIns()
    sides = ["user_text", "system_text"]
    other = talk.assign(**{c: talk[c].map(stand_ins.of(talk[c].dropna())) for c in sides})
    counted = [utterances(frame).drop(columns=sides) for frame in (talk, other)]
    assert counted[0]["context_utterances"].tolist() == [2, 4, 0]
    pd.testing.assert_frame_equal(*counted)
