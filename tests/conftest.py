"""Shared by all tests: where public data are, and deterministic Hypothesis."""

import gc
import os
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from judgebook.pipeline.surroundings import THREADS, without_iri_grammar

# one BLAS thread, as in kernels, before numpy is imported: several wait for each other most of the time, and two
# workers have as many cores
os.environ.update(dict.fromkeys(THREADS, "1"))
# what is compiled is kept, wherever tests run: hundreds of processes and kernels import the same modules
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
without_iri_grammar()

pytest_plugins = ["pytester"]
ROOT = Path(__file__).resolve().parents[1]

settings.register_profile(
    "project", derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("project")


def pytest_configure(config):
    from evidence.tiers import Tiers  # not above: it imports numpy

    config.pluginmanager.register(Tiers(config), "tiers")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """The longest files first: with `--dist loadfile` a worker runs whole files, and both end together.

    A file says how many SECONDS it takes on a core where these are more than half a minute; of the others, those with
    more long tests come first, then those with more tests.
    """
    long = Counter(item.path for item in items if item.get_closest_marker("evidence"))
    size = Counter(item.path for item in items)
    # stable: tests of a file stay together and in their order, also where files are equal in all this
    order = {path: i for i, path in enumerate(size)}
    items.sort(
        key=lambda item: (-getattr(item.module, "SECONDS", 0), -long[item.path], -size[item.path], order[item.path])
    )


@pytest.fixture(autouse=True, scope="module")
def _kept_by_others():
    """What collection and other files have left is not looked at again and again: statsmodels collects garbage each
    time it adjusts p-values, which took seconds after the files that run notebooks."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _no_open_figures():
    """Each test starts without open figures, whatever the one before it left."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture(scope="session")
def raw_data() -> Path:
    """The folder of public raw data. Absent: the test is skipped, or fails where REQUIRE_DATA=1 (as in CI)."""
    for folder in (os.environ.get("COMPENDIUM_RAW"), ROOT.parent / "shared" / "data"):
        if folder and (Path(folder) / "finch2024").is_dir():
            return Path(folder)
    if os.environ.get("REQUIRE_DATA") == "1":
        pytest.fail("REQUIRE_DATA=1, but neither $COMPENDIUM_RAW nor ../shared/data holds the public data")
    pytest.skip("public data are not here: set COMPENDIUM_RAW, or fetch them")


@pytest.fixture(scope="session")
def more_data(raw_data) -> Path:
    """The folder of further public data, beside that of `raw_data`."""
    return _beside(raw_data, "data_more")


@pytest.fixture(scope="session")
def atlas_data(raw_data) -> Path:
    """The folder of the public studies of the atlas, beside that of `raw_data`."""
    return _beside(raw_data, "atlas")


def _beside(folder: Path, name: str) -> Path:
    path = folder.parent / name
    if not path.is_dir():
        assert not os.environ.get("REQUIRE_DATA"), f"{path} is absent"
        pytest.skip(f"public data are not here: {name}")
    return path
