"""Every notebook on studies in which nobody and nothing has an ordinary name and display names repeat.

01 needs pilots, 90 and 91 papers: see `test_whole_project.py`. That results are those of ordinary names is held in
`questions/test_invariances.py`, what the first page answers in `test_small_studies.py`.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
import yaml
from fixtures import changed_studies as changes
from fixtures.notebook_runs import ACROSS, CHECKS, ENTRIES, answered, ended, run_all, settled
from fixtures.odd_names import odd

SECONDS = 150
pytestmark = pytest.mark.evidence
#: what the crowd does not have, and which of the other studies have
OTHERS = ("04", "06", "11", "12", "80")


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """A run of all notebooks on the crowd, and one of what it lacks."""
    folder, more = tmp_path_factory.mktemp("crowd"), tmp_path_factory.mktemp("others")
    yamls = [write(more, name, odd(study(name))) for name in ("sessions", "replies")]
    crowd = run_all(folder, [write(folder, "crowd", odd(study("crowd")))], jobs=2)
    return crowd, run_all(more, yamls, only=OTHERS, jobs=2)


def study(name):
    """A study of `changed_studies`, in three periods, as many as notebook 18 needs."""
    given = getattr(changes, name)()
    third = given.rows["context" if "context" in given.rows else "session"].rank(method="dense", pct=True)
    (source,) = given.yaml["sources"]
    source = source | {"columns": source["columns"] | {"period": "period"}, "file": f"{name}.csv"}
    return replace(
        given,
        rows=given.rows.assign(period=2023 + np.ceil(3 * third).astype(int)),
        yaml={**given.yaml, "sources": [source]},
    )


def write(folder, name, given):
    given.rows.to_csv(folder / f"{name}.csv", index=False)
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(dict(given.yaml), sort_keys=False), encoding="utf-8")
    return path


@pytest.mark.parametrize("check", [c for c in CHECKS if c is not answered], ids=lambda check: check.__name__)
def test_every_notebook_on_studies_with_odd_names(worlds, check):
    # a system and a group are called so; what words stand for what is missing is held of ordinary names
    called = re.compile(r": shows '(None|nan)'")
    for world in worlds[: 1 if check in (ended, settled) else 2]:
        assert [line for line in check(world) if not called.search(line)] == [], world.said


def test_nearly_every_notebook_runs_on_one_of_them(worlds):
    assert [world.code for world in worlds] == [0, 0]
    ran = {name for world in worlds for _, name in world.ran()}
    assert set(ENTRIES) - ACROSS - ran == {"01_pilot", "91_consistency_audit"}
