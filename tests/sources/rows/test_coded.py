"""Rows that stay coded are read as others are: the same frames, own ids, profile, places and problems."""

import itertools

import numpy as np
import pandas as pd
import pytest
from fixtures import yaml_studies as studies

from judgebook.sources import build
from judgebook.sources.adapters import table
from judgebook.study import params
from judgebook.study.schema import DataError

LONG = """
title: Long
sources:
  - adapter: table
    file: one.csv
    layout: long
    {more}
    columns: {{dialogue: chat, system: bot, annotator: rater, label: what, score: value, group: team, turn: turn,
      work_unit: hit, seconds: took, completed_at: time, session: sitting, interactor: user}}
labels:
  good: {{scale: [1, 5], direction: 1, method: turn_rating}}
  sad: {{categories: [never, often], method: turn_rating}}
"""
WIDE = """
title: Wide
sources:
  - adapter: table
    file: one.csv
    {more}
    columns: {{dialogue: chat, system: bot, annotator: rater, group: team, session: sitting, interactor: user}}
    metrics: {{took: took}}
labels:
  good: {{scale: [1, 5], direction: 1}}
  sad: {{categories: [never, often]}}
"""
#: what a cell may hold instead of what it should; the first is no mistake
FLAWS = {
    "chat": [" c1 ", "", "NA", "c2"],
    "bot": ["b2 ", "", "n/a"],
    "rater": ["ann2", "", " ann1"],
    "good": ["3,0", "", "9", "x", "2 - poor"],
    "sad": ["never ", "", "seldom", "Often"],
    "took": ["1m 30s", "", "-4", "long"],
    "time": ["2026-02-30T10:00:00", "", "2026-01-05 10:00:00", "2026-01-05T10:00:00+01:00", "0000-01-01T00:00:00"],
    "turn": ["0", "", "-1", "one"],
    "what": ["good ", "", "bad"],
}


def rows(seed: int, flaws: int, layout: str) -> pd.DataFrame:
    """Judgements of 40 turns by 2 people and 2 labels, with flawed cells in random places."""
    random = np.random.default_rng(seed)
    each = itertools.product(range(10), range(4), (1, 2))
    out = pd.DataFrame([(f"c{c}", f"b{c % 3}", f"ann{a}", f"{t}", f"h{c}") for c, t, a in each], dtype=str)
    out = out.set_axis(["chat", "bot", "rater", "turn", "hit"], axis=1)
    out = out.assign(team="crowd", sitting="s" + out["chat"].str[-1], user="u1", took="90", time="2026-01-05T10:00:00")
    if layout == "wide":
        out["chat"] += "t" + out["turn"]
    scores = {"good": random.integers(1, 6, len(out)).astype(str), "sad": random.choice(["never", "often"], len(out))}
    out = out.assign(**scores)
    if layout == "long":
        out = out.melt([c for c in out if c not in scores], var_name="what", value_name="value")
    for _ in range(flaws):
        column = random.choice([c for c in out if c in FLAWS or c == "value"])
        row = random.integers(len(out))
        out.loc[row, column] = random.choice(FLAWS[column if column != "value" else out["what"].map(str).iloc[0]])
    return out


def outcome(path):
    """What reading a YAML gives: frames and the rest, or the problems."""
    try:
        built = build.build(params.load(path), out=path.parent / "out")
    except DataError as error:
        return str(error), error.problems
    unused = {file: {c: list(v) for c, v in of.items()} for file, of in built.unused.items()}
    files = {file.name: file.read_bytes() for file in (path.parent / "out").iterdir()}
    seen = built.seen.astype(object).where(built.seen.notna(), "").astype(str)
    return built, (files, unused, built.notes, seen.to_dict())


OPTIONS = ["label_names: {Good: good}", "constants: {corpus: june}"]


@pytest.mark.parametrize("layout", ["long", "wide"])
@pytest.mark.parametrize("flaws", [0, pytest.param(1, marks=pytest.mark.verify), 30])
@pytest.mark.parametrize("more", ["", *(pytest.param(more, marks=pytest.mark.verify) for more in OPTIONS)])
def test_same_as_uncoded(tmp_path, monkeypatch, layout, flaws, more):
    yaml = (LONG if layout == "long" else WIDE).format(more=more)
    # other cells are flawed with each option
    cells = rows(len(more) + flaws, flaws, layout)
    path = studies.write(tmp_path, yaml, one_csv=cells.to_csv(index=False))
    coded = outcome(path)
    monkeypatch.setattr(table, "simple", lambda *of: False)
    plain = outcome(path)
    assert coded[1] == plain[1]
    if isinstance(coded[0], str):
        assert coded[0] == plain[0]
        return
    assert all(dtype == "category" for dtype in coded[0].coded["annotations"][["corpus", "label"]].dtypes)
    for name, frame in plain[0].frames.items():
        pd.testing.assert_frame_equal(coded[0].frames[name], frame)
    assert coded[0].profile == plain[0].profile
    assert coded[0].own_ids.equals(plain[0].own_ids)
