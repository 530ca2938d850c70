"""Review queues without weights are named among the first findings, and their clean twins are not.

`benchmarks/levels/enriched.csv` has 30 files of each kind; the seeds here are others.
"""

import pytest
from faults import queues
from faults.test_bank import shown

FAULT = "enriched_sample"
SEEDS = range(500, 506)


@pytest.mark.parametrize("seed", SEEDS[:1])
def test_a_queue_is_named(seed, tmp_path):
    assert FAULT in shown(queues.queue(seed), tmp_path)


@pytest.mark.evidence
@pytest.mark.parametrize("new_names", [False, True])
def test_queues_of_all_kinds_are_named_and_clean_twins_are_not(new_names, tmp_path):
    for seed in SEEDS:
        assert FAULT in shown(queues.queue(seed, new_names=new_names), tmp_path), seed
        assert FAULT not in shown(queues.queue(seed, enriched=False), tmp_path), seed
