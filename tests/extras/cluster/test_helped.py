"""Tasks of an analysis give the same results wherever they run: on a Dask cluster, and without one that helps."""

import logging
import os
import pickle
from dataclasses import replace

import numpy as np
import pytest
from fixtures.tasks import draw, fails, pieces, process

from judgebook.extras.cluster import executor, fit, helped
from judgebook.pipeline.surroundings import THREADS
from judgebook.statistics.parallel import run_tasks

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    path = tmp_path_factory.mktemp("out") / "mark"
    path.touch()
    return str(path)


@pytest.fixture(scope="module")
def address(seen):
    """A scheduler with one worker in a process of its own."""
    with pytest.MonkeyPatch.context() as patch:
        # what Dask's processes warn of is none of the tests'
        patch.setenv("PYTHONWARNINGS", "ignore")
        sizes = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "memory_limit": 0}
        quiet = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
        with (
            dask.config.set({"distributed.nanny.pre-spawn-environ": dict.fromkeys(THREADS, "1")}),
            distributed.LocalCluster(host="127.0.0.1", **sizes, **quiet) as cluster,
        ):
            yield cluster.scheduler_address


@pytest.fixture
def anywhere(address, seen, monkeypatch):
    """Makes executors whose tasks are all at the worker before the first is awaited; those that were made."""
    monkeypatch.setattr(helped, "ALONE", 0.0)
    made = []

    class Sent(helped.Helped):
        def _send(self, first):
            super()._send(first)
            for future in self.sent.values():
                future.exception()

        def shutdown(self, wait=True, *, cancel_futures=False):
            super().shutdown()

    def make(expected=None):
        made.append(Sent(address, expected or executor.expectations(seen)))
        return made[-1]

    return make


def test_pieces_run_elsewhere_give_the_same_bits(anywhere):
    with anywhere() as sent:
        there = run_tasks(draw, pieces(), executor=sent)
    assert len(sent.tasks) == 12
    for one, two in zip(run_tasks(draw, pieces()), there, strict=True):
        np.testing.assert_array_equal(one, two)
    with anywhere() as sent:
        computed = run_tasks(process, [(i,) for i in range(4)], executor=sent)
    assert [pid == os.getpid() for pid in computed] == [True, False, False, False]  # the first was awaited


@pytest.mark.parametrize("bad", [{2}, {4, 2, 7}])
def test_the_first_piece_that_fails_is_the_one_reported(anywhere, bad):
    with anywhere() as sent, pytest.raises(ValueError, match="piece 2"):
        run_tasks(fails, [(i, bad) for i in range(9)], executor=sent)


def test_a_worker_with_other_versions_gets_no_pieces(anywhere, seen):
    expected = replace(executor.expectations(seen), packages={"numpy": "1.0"})
    with anywhere(expected) as sent:
        assert set(run_tasks(process, [(i,) for i in range(4)], executor=sent)) == {os.getpid()}
    assert sent.sent == {}


def test_a_worker_that_joins_late_refuses_pieces_which_are_computed_here(address, seen):
    expected = replace(executor.expectations(seen), packages={"numpy": "1.0"})
    with distributed.Client(address, set_as_default=False) as client:
        work = (fit.task, expected, pickle.dumps((process, [1])), {})
        future = client.submit(*work)
        with pytest.raises(fit.WorkerUnfitError, match=r"numpy .* \(expected 1\.0\); results might differ"):
            future.result()
        one = helped.Helped(address, expected)
        one._asked = True
        answer = one.submit(process, 1)
        one.sent[0] = client.get_executor(pure=False).submit(*work)
        one.sent[0].exception()
        assert answer.result() == os.getpid()


def test_short_analyses_never_ask(seen):
    one = helped.Helped("not-an-address://", executor.expectations(seen))
    assert run_tasks(fails, [(i, ()) for i in range(5)], executor=one) == list(range(5))
    assert not one._asked


def test_a_scheduler_that_does_not_answer_costs_only_its_help(monkeypatch, seen):
    monkeypatch.setattr(helped, "ALONE", 0.0)
    with helped.Helped("not-an-address://", executor.expectations(seen)) as one:
        assert run_tasks(fails, [(i, ()) for i in range(5)], executor=one) == list(range(5))
    assert one._asked
