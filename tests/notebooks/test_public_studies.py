"""Every notebook on public studies, as small as the YAML allows; two at each change of main."""

import pytest
from fixtures.notebook_runs import problems, run_all

SECONDS = 350
AT_EACH_CHANGE = ("gpt_abceval", "abc_public")


@pytest.mark.data
@pytest.mark.parametrize(
    "study",
    [
        *(pytest.param(study, marks=pytest.mark.verify) for study in AT_EACH_CHANGE),
        pytest.param("finch2024", marks=pytest.mark.evidence),
    ],
)
def test_public_studies(raw_data, tmp_path, study):
    found = run_all(tmp_path, [study])
    assert problems(found) == [], found.said
