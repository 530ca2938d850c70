"""Every notebook on public studies, as small as the YAML allows."""

import pytest
from fixtures.notebook_runs import problems, run_all

SECONDS = 350


@pytest.mark.evidence
@pytest.mark.data
@pytest.mark.parametrize("study", ["finch2024", "gpt_abceval", "abc_public"])
def test_public_studies(raw_data, tmp_path, study):
    found = run_all(tmp_path, [study])
    assert problems(found) == [], found.said
