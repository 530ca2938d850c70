"""Independent tasks give the same results in order, in this process or with an executor."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from judgebook.statistics.parallel import run_tasks


def draw(table, rng, index):
    return table[:, index] @ rng.standard_normal(len(table)), index


def tasks(n=7):
    table = np.arange(2000.0).reshape(50, 40)
    return [(table, rng, i) for i, rng in enumerate(np.random.default_rng(3).spawn(n))]


@pytest.mark.parametrize(
    "pool", [lambda: ThreadPoolExecutor(2), lambda: ProcessPoolExecutor(1, get_context("forkserver"))]
)
def test_an_executor_gives_the_same_bits_in_the_same_order(pool):
    with pool() as executor:
        assert run_tasks(draw, tasks(), executor=executor) == run_tasks(draw, tasks())


def test_progress_counts_tasks():
    seen = []
    with ThreadPoolExecutor(2) as executor:
        for executes in (None, executor):
            todo = [(-1,), (2,), (-3,)]
            assert run_tasks(abs, todo, executor=executes, progress=lambda *at: seen.append(at)) == [1, 2, 3]
    assert seen == 2 * [(1, 3), (2, 3), (3, 3)]


def test_the_first_task_that_fails_is_the_one_reported():
    todo = [("1",), ("x",), ("y",), ("2",)]
    with ThreadPoolExecutor(2) as executor:
        for executes in (None, executor):
            with pytest.raises(ValueError, match="'x'"):
                run_tasks(int, todo, executor=executes)


def flags(gaps, transposed, whole):
    return gaps.flags.c_contiguous, np.shares_memory(transposed, whole), gaps.T[::2]


def test_arrays_with_gaps_are_closed_in_arguments_and_results():
    wide = np.arange(12.0).reshape(3, 4)
    closed, shared, result = run_tasks(flags, [(wide[:, ::2], wide.T, wide)])[0]
    assert closed
    assert shared
    assert result.flags.c_contiguous or result.flags.f_contiguous
