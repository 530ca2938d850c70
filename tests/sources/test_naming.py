"""Ids of people and tasks inside other ids, names of files and texts."""

import pandas as pd
import pytest

from judgebook.sources.ids import naming

NAMES = naming.Names(
    {"A1B2C3D4E5F6": "A0001", "zoe@mail.net": "A0002", "Yan K.": "A0003", "7": "A0004", "bob": "A0005"}
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("s1_A1B2C3D4E5F6", "s1_A0001"),
        ("a1b2c3d4e5f6-2", "A0001-2"),
        ("dlgA1B2C3D4E5F6x", "dlgA0001x"),
        ("A1B2-C3D4-E5F6", "A0001"),
        ("ratings/zoe@mail.net.csv", "ratings/A0002.csv"),
        ("yan k_1", "A0003_1"),
        ("bobsled-1", "bobsled-1"),
        ("d7", "d7"),
        ("D00001", "D00001"),
    ],
)
def test_an_id_inside_another_is_replaced(value, expected):
    assert NAMES.within(value) == expected


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("my id is A1B2C3D4E5F6", 1),
        ("it's A1B2C3D4E5F6's turn", 1),
        ("A1B2 C3D4 E5F6 and A1B2C3D4E5F6s", 2),
        ("ask Zoe@Mail.net!", 1),
        ("bob and yan k are in room 7", 0),
    ],
)
def test_ids_are_taken_out_of_texts(text, n):
    cleared, found = NAMES.texts(text)
    assert found == n
    assert cleared.count(naming.MASK) == n
    assert not {"c3d4", "zoe"} & set(cleared.lower().replace("@", " ").split())


def test_short_ids_are_taken_out_as_words_with_digits_or_on_demand():
    names = naming.Names({"W0124": "A0001", "bob": "A0002"})
    assert names.texts("I am w0124, not W01245 or bob") == ("I am [removed], not W01245 or bob", 1)
    assert names.texts("I am bob", every=True) == ("I am [removed]", 1)


@pytest.mark.parametrize(
    "text",
    [
        "write to ann.lee+x@mail.example.org please",
        "ann (at) mail (dot) com",
        "ann at mail dot com",
        "Ann AT mail DOT co DOT uk",
        "call 555-123-4567",
        "call +49 170 1234567",
        "5551234567",
    ],
)
def test_addresses_and_numbers_are_taken_out(text):
    cleared, n = naming.addresses(text)
    assert n == 1
    assert naming.MASK in cleared
    assert not {"mail", "4567", "1234567"} & set(cleared.lower().replace("[removed]", "").split())


@pytest.mark.parametrize("text", ["look at amazon.com", "1999 2000 2001", "I paid 1,000,000,000", "3.14159265358"])
def test_other_text_stays(text):
    assert naming.addresses(text) == (text, 0)


def test_ids_that_are_the_pseudonyms_of_others_are_replaced_once():
    names = naming.Names({"A0002": "A0001", "A0001": "A0002"})
    assert names.within("A0002_A0001") == "A0001_A0002"
    names = naming.Names({"ann": "A0001", "ann lee": "A0002"})
    assert names.within("ann-lee, ann") == "A0002, A0001"


def test_ids_that_differ_stay_different():
    """Two spellings of one id are two sessions."""
    frames = {"a": pd.DataFrame({"s": ["A1B2C3D4E5F6", "a1b2c3d4e5f6", None, "x"]}), "b": pd.DataFrame({"s": ["x"]})}
    out = naming.renamed(frames, ["s"], NAMES)
    assert out["a"]["s"].fillna("").tolist() == ["A0001", "A0001.2", "", "x"]
    assert out["b"]["s"].tolist() == ["x"]


def test_long_ids_are_numbered_by_first_appearance():
    long = [naming.LONG + letter for letter in "zab"]
    frames = {
        "annotations": pd.DataFrame({"dialogue": [long[0], "short", long[1]], "dialogue_b": [long[2], long[0], None]}),
        "dialogues": pd.DataFrame({"dialogue": [long[2], "D00001", long[0]]}),
    }
    out = naming.numbered(frames, {"dialogue": "D{:05d}", "dialogue_b": "D{:05d}"})
    assert out["annotations"]["dialogue"].tolist() == ["D00002", "short", "D00003"]  # D00001 is taken
    assert out["annotations"]["dialogue_b"].fillna("").tolist() == ["D00004", "D00002", ""]
    assert out["dialogues"]["dialogue"].tolist() == ["D00004", "D00001", "D00002"]
