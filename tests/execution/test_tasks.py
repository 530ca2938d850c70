"""Tasks of an analysis give the same results wherever they run."""

import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import study

from judgebook.execution import seats, tasks
from judgebook.questions.groups import effects, joint_resampling, many_pairs
from judgebook.statistics.intervals import Sampling
from judgebook.statistics.parallel import run_tasks
from judgebook.study import params
from judgebook.study.results import fold


def draw(table, rng, index):
    return table[:, index] @ rng.standard_normal(len(table)) + rng.spawn(1)[0].standard_normal(2)


def fails(index, bad):
    if index in bad:
        raise ValueError(f"piece {index}")
    return index


def pieces(n=12):
    table = np.arange(20000.0).reshape(500, 40)
    return [(table, rng, i) for i, rng in enumerate(np.random.default_rng(3).spawn(n))]


class Places:
    """Stands in for a cluster: calls are packed and unpacked as for a seat, in two threads of this process."""

    places = 2

    def idle(self):
        return self.places

    def __init__(self, lose=()):
        self.pool, self.work, self.lose = ThreadPoolExecutor(1), seats._Work(), lose
        self.sent, self.payloads, self.under_way, self.most = [], [], 0, 0

    def share(self, packed):
        self.sent += list(packed)
        return packed

    def __call__(self, payload, shared):
        self.payloads.append(payload)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        return self.pool.submit(self._do, payload, shared, len(self.payloads))

    def _do(self, payload, shared, number):
        self.under_way -= 1
        return pickle.dumps(("lost", "killed", "")) if number in self.lose else self.work.do(payload, shared, {})


class Elsewhere(tasks.Helped):
    """An executor of which as many tasks as possible run elsewhere."""

    def __init__(self, places):
        super().__init__()
        self.places, self.ended = places, False

    def result(self, index):
        if not self.ended:
            self.ended = True
            with suppress(seats.SeatLostError):
                tasks._Helper(self, self.places).work_through()
        return super().result(index)


def elsewhere(work, todo, places):
    """Results of pieces of which as many as possible run elsewhere."""
    return run_tasks(work, todo, executor=Elsewhere(places))


def test_pieces_run_elsewhere_give_the_same_bits():
    places = Places()
    found = elsewhere(draw, pieces(), places)
    for a, b in zip(tasks.run(draw, pieces(), doing="tests"), found, strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(places.payloads) == 12


class Mixed(Places):
    """The first pieces come to a worker that refuses them."""

    def __init__(self):
        super().__init__()
        self.told = []

    def refused_by(self, error):
        self.told.append(error.address)

    def _do(self, payload, shared, number):
        done = super()._do(payload, shared, number)
        return pickle.dumps(("refused", ("tcp://bad", "numpy 1.26"), "")) if number <= 3 else done


def test_pieces_that_a_worker_refuses_are_sent_again():
    places = Mixed()
    found = elsewhere(draw, pieces(), places)
    assert places.told == ["tcp://bad"] * 3
    assert len(places.payloads) == 15
    for a, b in zip(tasks.run(draw, pieces(), doing="tests"), found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_pieces_share_is_sent_once_and_few_are_under_way():
    places = Places()
    elsewhere(draw, pieces(), places)
    assert len(places.sent) == 1
    assert max(map(len, places.payloads)) < 5_000 < 500 * 40 * 8
    assert places.most <= tasks._AHEAD * places.places


class Busy(Places):
    """Each thread has a notebook until somebody has looked three times."""

    looked = 0

    def idle(self):
        self.looked += 1
        return 2 if self.looked > 3 else 0


def test_nothing_is_sent_while_every_thread_has_a_notebook(monkeypatch):
    monkeypatch.setattr(tasks, "_LOOK", 0.01)
    places = Busy()
    elsewhere(draw, pieces(), places)
    assert len(places.payloads) == 12
    assert places.looked > 3
    never = Busy()
    never.idle = lambda: 0
    run = tasks.Helped()
    for piece in pieces():
        run.submit(draw, *piece)
    run.over.set()
    tasks._Helper(run, never).work_through()
    assert (len(run.todo), never.sent, never.payloads) == (12, [], [])


def test_what_a_cluster_does_not_return_is_computed_here():
    found = elsewhere(draw, pieces(), Places(lose={3}))
    for a, b in zip(tasks.run(draw, pieces(), doing="tests"), found, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("bad", [{2}, {4, 2, 7}])
def test_the_first_piece_that_fails_is_the_one_reported(bad):
    todo = [(i, bad) for i in range(9)]
    with pytest.raises(ValueError, match="piece 2"):
        tasks.run(fails, todo, doing="tests")
    with pytest.raises(ValueError, match="piece 2"):
        elsewhere(fails, todo, Places())


def test_a_scheduler_that_does_not_answer_costs_only_its_help(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setenv(seats.EXECUTOR, "not-an-address://")
    monkeypatch.setattr(tasks, "_ALONE", 0.0)
    assert tasks.run(fails, [(i, ()) for i in range(5)], doing="tests") == list(range(5))


def test_progress_says_how_far_the_analysis_is(tmp_path, monkeypatch):
    monkeypatch.setenv(seats.PROGRESS, str(tmp_path / "progress"))
    monkeypatch.setattr(tasks, "_EVERY", -1.0)
    tasks.run(fails, [(i, ()) for i in range(3)], doing="permutation tests")
    text, left = (tmp_path / "progress").read_text().splitlines()
    assert text == "permutation tests 2 of 3"
    assert int(left) >= 0


def test_a_seat_answers_calls_one_after_the_other_and_keeps_what_they_share():
    """A seat as a worker starts it, without Dask."""
    seat = seats._start(seats.setting("run", str(params.ROOT), {}), str(params.ROOT))
    try:
        todo = pieces(3)
        shared = {"table": seats.pack(todo[0][0])}

        def named(value):
            return "table" if value is todo[0][0] else None

        # the seat does not know this file: a function of the project does the work
        for table, _, _ in todo:
            payload = seats.pack((np.linalg.multi_dot, ([table[:2], table[:2].T, table[:2]],)), named)
            found = seats.answer(seats._ask(seat, payload, shared, lambda: True))
            np.testing.assert_array_equal(found, np.linalg.multi_dot([table[:2], table[:2].T, table[:2]]))
        assert seat.known == {"table"}
        with pytest.raises(ValueError, match="invalid literal") as raised:
            seats.answer(seats._ask(seat, seats.pack((int, ("x",))), {}, lambda: True))
        assert "in a worker" in raised.value.__notes__[0]
        assert seats._ask(seat, seats.pack((os._exit, (3,))), {}, lambda: True) is None
    finally:
        seats._end(seat)
        seat.stdin.close()
        seat.stdout.close()


def test_the_effects_of_groups_are_the_same_bits_elsewhere(monkeypatch):
    """Pieces of a real analysis hold frames and arrays, some of them views of others."""
    frame = study(np.random.default_rng(1), shift=0.6)

    def found():
        kept = {}
        sizes = {"margin": 0.2, "people_resamples": 50, "sampling": Sampling(50, 0.95, 1)}
        many = many_pairs.many_pairs(frame, frame, lambda rows, name: kept.update({name: rows}), **sizes)
        kernel = partial(joint_resampling.resampled, sampling=sizes["sampling"])
        rows = effects.for_each_label(kernel, frame, per_item=True)
        return [*kept.values(), fold(many, study="s", notebook="n"), pd.DataFrame(list(rows))]

    here, sent = found(), []
    for module in (effects, many_pairs):

        def packed(work, todo, *, doing):
            sent.append(len(todo))
            return elsewhere(work, todo, Places())

        monkeypatch.setattr(module, "run", packed)
    there = found()
    assert len(sent) == 2
    for one, two in zip(here, there, strict=True):
        pd.testing.assert_frame_equal(one, two, check_exact=True)
