import pandas as pd

from judgebook.annotations.cells import in_turn


def test_parts_in_turn_are_those_of_pandas_in_the_order_in_which_they_appear():
    frame = pd.DataFrame({"a": [*"bbaabc"], "b": ["x", "y", "x", "x", None, "z"], "n": range(6)}, index=range(10, 16))
    theirs, ours = ([*parts] for parts in (frame.groupby(["a", "b"], sort=False), in_turn(frame, ["a", "b"])))
    assert [key for key, _ in ours] == [key for key, _ in theirs] == [("b", "x"), ("b", "y"), ("a", "x"), ("c", "z")]
    for (_, one), (_, other) in zip(ours, theirs, strict=True):
        pd.testing.assert_frame_equal(one, other)
    assert [*in_turn(frame.iloc[:0], ["a", "b"])] == []
