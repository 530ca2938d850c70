"""Tables of thousands of columns: what is looked at for each column is not the whole table."""

import pandas as pd
import pytest

from judgebook import codes
from judgebook.extras.new import cleaning, tables, words
from judgebook.extras.new.columns import Guess, one_an_item, units, within
from judgebook.extras.new.judged.words import differing


class Wide(pd.DataFrame):
    """A table that refuses what copies or groups all of its columns."""

    def __getitem__(self, key):
        assert not isinstance(key, pd.Series), "all columns of some rows"
        return super().__getitem__(key)

    @property
    def loc(self):
        raise AssertionError("all columns of some rows")

    def groupby(self, *args, **kwargs):
        raise AssertionError("all columns by group")


def table(n: int = 36) -> Wide:
    """Three judges of each item: what is the same for it, nearly so, differs, or is empty in some rows."""
    item = [i // 3 for i in range(n)]
    cells = {"id": [f"d{i}" for i in item], "who": [f"w{i % 3}" for i in range(n)]}
    cells |= {"same": [str(i % 4) for i in item], "once": ["9", *(str(i % 4) for i in item[1:])]}
    cells |= {"differs": ["good" if i % 2 else "bad" for i in range(n)], "all": ["1"] * n}
    cells |= {"partly": [["", "bad", "good"][(i + i // 3) % 3] for i in range(n)]}
    return Wide(cells, dtype="str")


def guess(**columns: str) -> Guess:
    return Guess(columns={"dialogue": "id", "annotator": "who", **columns})


def plainly(cells: pd.DataFrame, column: str) -> bool:
    """The definition, for one column."""
    several = cells[cells.groupby("id")["who"].transform("nunique") > 1].groupby("id")[column]
    return len(set(cells[column])) > 1 and several.nunique().max() == 1


def test_of_an_item():
    cells = table()
    plain = pd.DataFrame(cells)
    found = one_an_item(guess(), cells, cells.columns)
    assert found == [c for c in plain if plainly(plain, c)] == ["id", "same"]
    cells["same"] = plain["same"].where([i % 3 > 0 for i in range(36)])
    cells["none"] = pd.Series([None] * 36, dtype="str")
    assert one_an_item(guess(), cells, ["same", "none", "once"]) == ["same"]
    assert one_an_item(Guess(columns={"dialogue": "id"}), table(), ["same"]) == []


@pytest.mark.parametrize(("n", "found"), [(6, []), (9, []), (27, []), (30, ["same"]), (36, ["same"])])
def test_of_too_few_items(n, found):
    assert one_an_item(guess(), table(n), ["same"]) == found


def test_answers_in_words():
    assert set(differing(guess(), table())) == {"differs", "partly"}


@pytest.mark.parametrize("columns", [["id"], ["id", "who"], ["id", "partly"]])
def test_values_within_units(columns):
    cells = table()
    plain = pd.DataFrame(cells)
    by = plain.groupby(columns)["differs"]
    rows, different = within(units(cells, columns), codes.texts_of(cells["differs"]).code)
    assert sorted(zip(rows, different, strict=True)) == sorted(zip(by.size(), by.nunique(), strict=True))


def test_slips_of_many_columns():
    """Each column is compared with all others by its distinct texts, which are told once."""
    held = {f"c{i}": codes.texts_of(pd.Series(["good", "bad"] * 30 + ["1"])) for i in range(9)}
    out = Guess()
    cleaning.stray_numbers(out, held, "c0")
    assert out.na_values == ["", "1"]
    held["c8"] = codes.texts_of(pd.Series(["1", "2"] * 30 + ["3"]))
    cleaning.stray_numbers(out := Guess(), held, "c0")
    assert out.na_values == [""]
    assert not out.questions


@pytest.mark.parametrize(
    "texts", [["a b", "c", "d e"], ["a", "b", "a b c"], ["dialogue 1", "dialogue 2", "dialogue 3"], []]
)
def test_prose_is_told_from_distinct_texts(texts):
    cells = pd.Series(texts * 3, dtype="str")
    blanks = [text.count(" ") for text in cells]
    few_numbers = bool(texts) and texts[0].startswith("dialogue")
    assert words.is_prose(cells) == (bool(blanks) and sum(blanks) >= len(blanks) and not few_numbers)
    assert words.are_names(cells) == (not words.is_prose(cells) or len({*texts}) <= len(cells) / 2)


def test_long_texts_are_cut_and_still_differ(monkeypatch):
    """Expressions that go through a text again from each of its letters would not end."""
    monkeypatch.setattr(tables.limits, "GUESSED_TEXT", 10)
    seen = []
    drawn = tables._drawn
    monkeypatch.setattr(tables, "_drawn", lambda out, cells: seen.append(cells) or drawn(out, cells))
    long = ["a" * 300_000 + end for end in "xyx"]
    tables.guess(pd.DataFrame({"id": list("123"), "text": long, "json": [f"[{'1, ' * 9}1]"] * 3}, dtype="str"))
    (cells,) = seen
    assert cells["text"].str.len().max() < 200
    assert cells["text"].str[:10].tolist() == ["a" * 10] * 3
    assert pd.factorize(cells["text"])[0].tolist() == [0, 1, 0]
    assert cells["json"].tolist() == [f"[{'1, ' * 9}1]"] * 3
