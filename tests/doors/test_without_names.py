"""What is read does not hang on names or on the order of rows: drawn tables, their columns called by letters."""

import itertools
import random

import pandas as pd
import pytest

from judgebook.extras.new import readings, tables

DESIGNS = [
    {"systems": s, "people": p, "texts": t, "ids": i}
    for s, p, t, i in itertools.product((1, 3), (0, 1, 4), (True, False), ("{:02}q", "{}"))
    if t or s > 1
]


def drawn(seed, *, systems, people, texts, ids):
    """15 items with what each of the systems says of it, judged by each of the people; by one who is not named."""
    pick = random.Random(seed)
    rows = []
    for i, s, p in itertools.product(range(15), range(systems), range(max(people, 1))):
        row = {"item": ids.format(100 + i)}
        row |= {"system": f"sys{'abc'[s]}"} if systems > 1 else {}
        row |= {"who": f"W{7 * p + 11:03}"} if people else {}
        row |= {"reply": f"what was said of number {i} by {'abc'[s]} at some length"} if texts else {}
        row |= {"fluent": str(pick.choice((2, 3, 4, 5)) - s // 2), "useful": str(pick.choice((1, 2, 3, 4, 5)))}
        rows.append(row)
    return pd.DataFrame(rows, dtype="str")


def renamed(cells):
    called = {c: 3 * "jklqvwxz"[n] for n, c in enumerate(cells)}
    return cells.rename(columns=called), {c: name for name, c in called.items()}


def roles(out):
    """Item, system and annotator of a guess."""
    return (tuple(sorted(out.identify)) or out.columns.get("dialogue"), *map(out.columns.get, ("system", "annotator")))


@pytest.fixture(scope="module")
def guesses():
    """Each design with what is guessed of it, with its columns by their names."""
    out = []
    for seed, design in enumerate(DESIGNS[::2]):
        cells, back = renamed(drawn(seed, **design))
        out.append((design, cells, back, tables.guess(cells)))
    return out


def test_the_order_of_rows_changes_nothing(guesses):
    for design, cells, _, out in guesses[::3]:
        other = tables.guess(cells.sample(frac=1, random_state=5).reset_index(drop=True))
        assert (roles(other), set(other.labels)) == (roles(out), set(out.labels)), design


def test_a_column_of_ratings_is_a_label_or_asked_about(guesses):
    for design, _, back, out in guesses:
        asked = " ".join(q.fact for q in out.questions)
        lost = [
            c for c, name in back.items() if name in ("fluent", "useful") and c not in out.labels and c not in asked
        ]
        assert not lost, design


def test_what_was_shown_or_who_judged_is_no_label(guesses):
    for design, _, back, out in guesses:
        assert not [back[c] for c in out.labels if back.get(c) in ("system", "who", "reply", "item")], design


def test_replies_that_differ_are_never_repeats(guesses):
    for design, cells, back, out in guesses:
        reply = next((c for c, name in back.items() if name == "reply"), None)
        item, system, who = roles(out)
        unit = [c for c in (*(item if isinstance(item, tuple) else (item,)), system, who) if c]
        if reply and unit and out.positions:
            assert cells.groupby(unit)[reply].nunique().max() == 1, design


def test_readings_nearly_as_good_are_noted(guesses):
    """What `readings.ask` and `asking.defaults` offer."""
    for design, _, _, out in guesses:
        best, *others = readings.read(out.table, {}, list(out.table.code))
        other = next((r for r in others if not out.table.alike(r, best)), None)
        if other and other.score > best.score - readings.CLOSE and roles(out)[1:] == (best.system, best.annotator):
            assert any(out.close.values()), (design, best, other)


def test_that_no_column_says_it_is_an_answer():
    cells, back = renamed(drawn(0, systems=3, people=4, texts=True, ids="{}"))
    assert back[tables.guess(cells).columns["annotator"]] == "who"
    assert "annotator" not in tables.guess(cells, {"no annotator": "none"}).columns
