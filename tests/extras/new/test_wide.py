"""Tables of thousands of columns: what is looked at for each column is not the whole table."""

import pandas as pd
import pytest

from judgebook.extras.new.columns import Guess, ask_if_judged, one_an_item
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


def test_of_an_item_where_values_are_missing():
    cells = table()
    cells["same"] = pd.DataFrame(cells)["same"].where([i % 3 > 0 for i in range(36)])
    cells["none"] = pd.Series([None] * 36, dtype="str")
    assert one_an_item(guess(), cells, ["same", "none", "once"]) == ["same"]


@pytest.mark.parametrize(("n", "found"), [(6, []), (9, []), (27, []), (30, ["same"]), (36, ["same"])])
def test_of_too_few_items(n, found):
    assert one_an_item(guess(), table(n), ["same"]) == found


def test_nobody_judged():
    assert one_an_item(Guess(columns={"dialogue": "id"}), table(), ["same"]) == []


def test_answers_in_words():
    assert set(differing(guess(), table())) == {"differs", "partly"}


def test_asked():
    out = guess()
    ask_if_judged(out, table(), "differs")
    assert [question.fact for question in out.questions] == ["label differs"]


def test_questions_taken_back():
    out = guess()
    for fact in ("no answer in a", "no answer in a b", "scale of a", "item: x"):
        out.ask(fact, "", "")
    out.without("no answer in a", "item: ", "scale of")
    assert [question.fact for question in out.questions] == ["no answer in a b", "scale of a"]
