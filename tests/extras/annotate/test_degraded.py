"""The degraded control of Ji et al. 2022, rule by rule, and the file that is written."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendium.published import numbers
from judgebook.extras.annotate import degraded, pages
from judgebook.pipeline import cli


@pytest.mark.parametrize(("least", "most"), [(1, 3), (4, 5), (6, 8), (9, 15), (16, 29)])
def test_as_many_words_are_replaced_as_the_paper_prints(least, most):
    rows = numbers.load("ji2022", "Text A.1").set_index("row")["value"]
    assert {degraded.n_replaced(n) for n in range(least, most + 1)} == {rows[f"n_{least}_to_{most}"]}


def test_of_long_responses_a_fifth_is_replaced():
    divisor = numbers.load("ji2022", "Text A.1").set_index("column")["value"]["replaced_words_divisor"]
    assert [degraded.n_replaced(n) for n in (30, 34, 35, 104)] == [n // divisor for n in (30, 34, 35, 104)]


@given(st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_one_sequence_is_replaced_and_both_ends_stay(n, seed):
    """Donors' words are others, so that what was replaced is seen."""
    words, donors = [f"w{i}" for i in range(n)], [[f"{d}.{i}" for i in range(40)] for d in range(3)]
    out = degraded.distorted(words, donors, np.random.default_rng(seed))
    changed = [i for i in range(n) if out[i] != words[i]]
    assert len(out) == n
    assert changed == list(range(changed[0], changed[0] + degraded.n_replaced(n)))
    assert n < 3 or (changed[0] > 0 and changed[-1] < n - 1)
    donor, first = out[changed[0]].split(".")
    assert [out[i] for i in changed] == [f"{donor}.{int(first) + k}" for k in range(len(changed))]


def test_the_same_words_are_no_replacement():
    rng = np.random.default_rng(2)
    assert degraded.distorted(["a", "b", "c"], [["b"], ["b", "x"]], rng) == ["a", "x", "c"]
    with pytest.raises(ValueError, match="another dialogue with 1 other words"):
        degraded.distorted(["a", "b", "c"], [["b"], []], rng)


@pytest.fixture
def said(tmp_path):
    """Five dialogues of two systems; each word says its dialogue and turn."""
    rows = [
        {"dialogue": f"d{d}", "system": "xy"[d % 2], "session": f"s{d // 2}", "turn": t, "user_text": f"u{d}{t}"}
        | {"system_text": " ".join(f"{d}-{t}-{i}" for i in range(3 + 4 * t))}
        for d in range(5)
        for t in range(3)
    ]
    path = tmp_path / "said.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_replies_are_random_ones_of_other_dialogues_with_words_of_a_third(said):
    frame = pages.dialogues(None, said)
    out = degraded.degraded(frame, frame, "qc", np.random.default_rng(3))
    assert out["dialogue"].tolist() == [f"qc_{d}" for d in frame["dialogue"]]
    assert set(out["system"]) == {"qc"}
    assert out[["user_text", "session", "turn"]].equals(frame[["user_text", "session", "turn"]])
    for own, text in zip(frame["dialogue"], out["system_text"], strict=True):
        of = [w.split("-")[0] for w in text.split()]
        source, third = of[0], {x for x in of if x != of[0]}
        assert len(third) == 1
        assert own[1:] not in {source, *third}
        assert of.count(source) == len(of) - degraded.n_replaced(len(of))


def test_the_command_writes_what_annotate_reads_and_the_same_again(said, tmp_path):
    to = tmp_path / "all.jsonl"
    call = ["degrade", str(said), "--to", str(to), "--n", "2"]
    assert cli.main(call) == 0
    first = to.read_text(encoding="utf-8")
    assert cli.main(call) == 0
    assert to.read_text(encoding="utf-8") == first
    assert cli.main([*call, "--seed", "2"]) == 0
    assert to.read_text(encoding="utf-8") != first
    frame = pages.dialogues(None, to)
    assert frame.groupby("system")["dialogue"].nunique().to_dict() == {"qc": 2, "x": 3, "y": 2}
    given_, back = pages.dialogues(None, said), frame[frame["system"] != "qc"].reset_index(drop=True)
    assert back["system_text"].tolist() == given_["system_text"].tolist()
