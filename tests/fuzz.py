"""Random YAMLs, tables and JSON through what `check` calls: `FUZZ_SECONDS=60 python tests/fuzz.py`.

Whatever is given must be refused with a place (ParamsError, DataError) or read; and what is read must be what frames
may hold. `tests/test_fuzz_input.py` tries the same few examples in every run of the tests; here they are new each time,
and what is found is printed with the seed that finds it again (`FUZZ_SEED`, `FUZZ_ONLY=json_trees`). A find becomes a
case in `fixtures/bad_inputs.py`.
"""

from __future__ import annotations

import copy
import json
import os
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from fixtures import abc_eval_project, bad_inputs, yaml_studies
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from judgebook.pipeline import check
from judgebook.sources.adapters.options.records import Records
from judgebook.sources.adapters.options.table import Table
from judgebook.sources.joining import UNFORESEEN
from judgebook.study import params
from judgebook.study.params import ParamsError, Study
from judgebook.study.schema import KINDS, DataError

FOLDER = Path(tempfile.mkdtemp(prefix="fuzz"))


def outcome(yaml_text: str | bytes, **files: object) -> str:
    """`read` or `refused`, of a study as `check` reads it; any other error, or a frame that cannot be, is raised."""
    for path in FOLDER.iterdir():
        path.unlink()
    path = FOLDER / "mine.yaml"
    raw = yaml_text if isinstance(yaml_text, bytes) else yaml_text.encode("utf-8", "surrogatepass")
    try:
        for name, content in files.items():
            data = content if isinstance(content, bytes) else str(content).encode("utf-8", "surrogatepass")
            (FOLDER / ".".join(name.rsplit("_", 1))).write_bytes(data)
        path.write_bytes(raw)
        study = params.load(path)
        built, lines = check.look(study)
    except (ParamsError, DataError) as error:
        return _refused(error)
    assert all(isinstance(line, str) for line in lines)
    marks = built.frames["annotations"]
    assert np.isfinite(marks["score"]).all()
    assert (marks["turn"].dropna() >= 0).all()
    assert (marks["seconds"].dropna() >= 0).all()
    assert marks["annotator_kind"].isin(KINDS).all()
    people = marks.loc[marks["annotator_kind"] == "human", "annotator"]
    assert people.map(lambda who: bool(re.fullmatch(r"A\d{4,}|pos\d+", who))).all(), "an own id of a person"
    return "read"


def _refused(error: ValueError) -> str:
    said = str(error)
    assert UNFORESEEN not in said, said
    assert len(said) < 100_000
    assert all(problem.expected and problem.found for problem in getattr(error, "problems", [])), said
    return "refused"


# ----------------------------------------------------------------------------------------------------------- strategies
_NUMBERS = (0, 1, -1, 5, 1.5, 4.0000000001, 10**9, 2**31, 10**19, 10**40, 1e308, -1e-308)
_CELLS = ("", " ", "a", "a\nb", "a,b", '"', "'", "\t", "{", "{label}", "[turn]", "/(?P<a>.*)/", "😀", "$x^{$", "=1+1")
_LISTS = ([], {}, [[]], [None], {"a": None}, {"": 1}, ["a", "a"], [1, 5], [5, 1], ["d1"], {"label": "fluency"})
_WORDS = ("1", "-1", "4.0", "NaN", "inf", "1e999", "٣", "yes", "{x}", "[]", "*", "{row}")
ODD = st.sampled_from([None, True, False, float("nan"), float("inf"), *_NUMBERS, *_CELLS, *_LISTS, *_WORDS])
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUE = st.recursive(
    ODD | TEXT | st.integers() | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


def _places(node: Any, at: tuple = ()) -> list[tuple]:
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [at, *(place for key, value in inner for place in _places(value, (*at, key)))]


@st.composite
def mutated(draw: Any, trees: list[Any], keys: list[str]) -> Any:
    """A tree in which up to three places hold another value, are gone, double, or have another key."""
    tree = copy.deepcopy(draw(st.sampled_from(trees)))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(_places(tree)))
        if not place:
            continue
        node = tree
        for key in place[:-1]:
            node = node[key]
        last, what = place[-1], draw(st.sampled_from(["value", "value", "gone", "key", "twice"]))
        if what == "gone":
            del node[last]
        elif what == "key" and isinstance(node, dict):
            node[draw(st.sampled_from(keys) | TEXT)] = copy.deepcopy(draw(VALUE))
        elif what == "twice" and isinstance(node, list):
            node.append(copy.deepcopy(node[last]))
        else:
            node[last] = copy.deepcopy(draw(VALUE))
    return tree


@st.composite
def scratched(draw: Any, texts: list[bytes]) -> bytes:
    """A file in which some bytes are others, gone, or double."""
    raw = bytearray(draw(st.sampled_from(texts)))
    marks = (b"\0", b"\xff", b"\xef\xbb\xbf", b'"', b"\n", b"\r", b",", b"{", b"[", b"&a ", b"*a", b"<<: ", b"!!int ")
    odd = st.sampled_from([*marks, b"\\ud800", b"9" * 400, b": ", b"- ", b"#"])
    for _ in range(draw(st.integers(1, 4))):
        at, n = draw(st.integers(0, len(raw))), draw(st.integers(0, 20))
        raw[at : at + n] = draw(odd | st.binary(max_size=4) | st.just(bytes(raw[at : at + n]) * 2))
    return bytes(raw)


# ---------------------------------------------------------------------------------------------------------------- studies
_YAMLS = [yaml.safe_load(text) for text in (yaml_studies.LONG, yaml_studies.WIDE, bad_inputs.RECORDS, bad_inputs.MARKS)]
_OWN = ("scale", "method", "categories", "level", "title")
_KEYS = [*Study.model_fields, *Table.model_fields, *Records.model_fields, *_OWN]
_MARKS = json.loads(bad_inputs.marked())
_PROJECT = {"dialogue_collection": abc_eval_project.collection()}
_FED = [
    {"context": "User: a", "response": "System: b", "system": "M", "annotations": {"Relevant": [0, 2]}},
    {"context": "User: a\nSystem: b", "system": "M", "annotations": {"Overall": [1, "N/A (x)"]}},
]
_RECORDS = [json.loads(bad_inputs.ONE), {"id": "d2", "who": "w2", "ratings": {"fluency": 2}, "turns": [{"x": [1]}]}]


_OF_FED = """\
title: T
sources: [{adapter: fed, file: x.json}]
labels:
  relevant: {scale: [0, 5], method: turn_rating}
  overall: {scale: [0, 5], method: dialogue_rating}
"""
#: YAML, file, trees
_JSON = [
    (bad_inputs.MARKS, "m_json", _MARKS),
    (bad_inputs.PROJECT, "p_json", _PROJECT),
    (bad_inputs.RECORDS, "r_json", _RECORDS),
    (_OF_FED, "x_json", _FED),
]
_OURS = {
    "turn": "turn",
    "when": "completed_at",
    "kind": "annotator_kind",
    "seconds": "seconds",
    "unit": "work_unit",
    "shown": "order_shown",
    "user": "user_text",
    "b": "dialogue_b",
    "sb": "system_b",
    "first": "first_shown",
}
_FIGURES = ("", " ", "0", "1", "2", "4", "5", "4.0", "5.1", "-1", "1e9", "3000000000", "1e300", "inf", "nan")
_HELD = ("N/A", "human", "Human", "llm", "left", "d1", "d2", "w1", "A", "B", "fluency", "quality")
_TIMES = ["2020-01-01", "2020-01-01T10:00:00Z", "2020-01-01 10:00:00+02:00", "1:30:00"]
_CELL = TEXT | st.sampled_from([*_FIGURES, *_HELD, *_TIMES])


@st.composite
def tables(draw: Any) -> tuple[str, str]:
    """A long study with some of our columns, and its table."""
    columns = draw(st.lists(st.sampled_from(sorted(_OURS)), unique=True, max_size=4))
    mapping = "".join(f", {_OURS[c]}: {c}" for c in columns)
    study = yaml_studies.LONG.replace("score: rating", "score: rating" + mapping)
    fixed = [
        st.sampled_from(values)
        for values in (["d1", "d2"], ["A", "B"], ["w1", "w2", "gpt"], ["fluency", "quality"], ["1", "4", "5"])
    ]
    sane = st.tuples(*fixed, *([_CELL] * len(columns)))
    wild = st.lists(_CELL, min_size=1, max_size=5 + len(columns) + 1)
    lines = [",".join(["chat,bot,worker,what,rating", *columns])]
    for row in draw(st.lists(sane | sane | sane | wild, max_size=6)):
        lines.append(",".join('"' + c.replace('"', '""') + '"' if set(c) & set(',"\n\r') else c for c in row))
    return study, draw(st.sampled_from(["\n", "\r\n"])).join(lines)


def yaml_trees(tree: Any) -> None:
    outcome(
        yaml.safe_dump(tree, allow_unicode=True),
        my_csv=yaml_studies.LONG_CSV,
        r_json=bad_inputs.ONE,
        m_json=json.dumps(_MARKS),
    )


def yaml_bytes(raw: bytes) -> None:
    outcome(raw, my_csv=yaml_studies.LONG_CSV)


def csv_tables(table: tuple[str, str]) -> None:
    outcome(table[0], my_csv=table[1])


def csv_bytes(raw: bytes) -> None:
    outcome(yaml_studies.LONG, my_csv=raw)


def json_trees(case: tuple[int, Any]) -> None:
    study, name, _ = _JSON[case[0]]
    outcome(study, **{name: json.dumps(case[1])})


def json_bytes(case: tuple[int, bytes]) -> None:
    study, name, _ = _JSON[case[0]]
    outcome(study, **{name: case[1]})


_NAMES = ["dialogue", "system", "human", "score", "worker_id", "turns", "id", "who", "ratings", "fluency", "behaviors"]
_EACH = range(len(_JSON))
TARGETS = {
    yaml_trees: mutated(_YAMLS, _KEYS),
    yaml_bytes: scratched([yaml_studies.LONG.encode(), yaml_studies.WIDE.encode()]),
    csv_tables: tables(),
    csv_bytes: scratched([yaml_studies.LONG_CSV.encode()]),
    json_trees: st.one_of([st.tuples(st.just(i), mutated([_JSON[i][2]], _NAMES)) for i in _EACH]),
    json_bytes: st.one_of([st.tuples(st.just(i), scratched([json.dumps(_JSON[i][2]).encode()])) for i in _EACH]),
}


def main() -> int:
    """Try new inputs for FUZZ_SECONDS; print what is found. Returns 1 where something was."""
    seconds = float(os.environ.get("FUZZ_SECONDS", "60"))
    first = int(os.environ.get("FUZZ_SEED", time.time_ns() % 10**9))
    only = os.environ.get("FUZZ_ONLY", "")
    how = settings(
        max_examples=25,
        derandomize=False,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    targets = [target for target in TARGETS if only in target.__name__]
    end, found, tried, at = time.monotonic() + seconds, set(), Counter(), first
    while time.monotonic() < end:
        target = targets[(at - first) % len(targets)]
        try:
            seed(at)(how(given(TARGETS[target])(_counted(target, tried))))()
        except Exception as error:
            said = f"{type(error).__name__}: {str(error)[:400]}"
            key = (target.__name__, re.sub(r"'[^']*'|\d+", "…", said)[:100])
            if key not in found:
                found.add(key)
                place = traceback.extract_tb(error.__traceback__)[-1]
                print(f"{target.__name__}, FUZZ_SEED={at}: {said} ({place.filename}, line {place.lineno})", flush=True)
                print(*("  " + note[:1500] for note in getattr(error, "__notes__", [])), sep="\n", flush=True)
        at += 1
    print(f"{sum(tried.values()):,} inputs from seed {first} ({dict(tried)}): {len(found)} found")
    return 1 if found else 0


def _counted(target: Callable[[Any], None], tried: Counter[str]) -> Callable[[Any], None]:
    def once(value: Any) -> None:
        tried[target.__name__] += 1
        target(value)

    return once


if __name__ == "__main__":
    warnings.simplefilter("error")
    sys.exit(main())
