"""Shared by all tests: where public data are, and deterministic Hypothesis."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]

settings.register_profile(
    "project", derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("project")


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
