"""Every figure of every room, for few and many systems and labels: no text overlaps another or is cut, every axis of
numbers is named, nothing lies outside of its axes.

To add a room: write a function that takes a `Size` and gives the plots of all the room's figure functions, from results
that `made` makes up (`fixtures/made_results.py`), and name it in ROOMS, with the fields of the size that its figures
depend on: the same figure is not drawn again. `fixtures/boxes.py` says what is looked for.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pandas as pd
import pytest
from fixtures.boxes import unreadable
from fixtures.made_results import Size, cases, made

from judgebook.display.views import Plot
from judgebook.questions.agreement import views as agreement
from judgebook.questions.collection import views as collection
from judgebook.questions.over_time import views as over_time
from judgebook.questions.performance import leaderboard, leading
from judgebook.questions.sensitivity import views as sensitivity
from judgebook.questions.validity import views as validity
from judgebook.study.labels import METHODS
from judgebook.study.results import collect

SECONDS = 70
SIZES = (Size(2, 2, 3), Size(12, 40), Size(60, 40))


def flat(*found: Plot | Iterable | None) -> Iterator[Plot]:
    for one in found:
        if isinstance(one, Plot):
            yield one
        elif one is not None:
            for each in one:  # one at a time: a section may have many figures
                yield from flat(each)


def of_performance(size: Size) -> Iterator[Plot]:
    names = size.names
    rank = made("rank", size, of="system", low=1, high=size.systems, odd=False)
    rank[["estimate", "ci_low", "ci_high"]] = rank[["estimate", "ci_low", "ci_high"]].round()
    level = made("level", size, only="single", of="system", low=1, high=5)
    strength = made("strength", size, only="pair", of="system", low=-2, high=2)
    lead = made("lead", size, of="system", low=0, high=2, odd=False)
    chance = made("best_chance", size, of="system")
    orders = leaderboard.orders(leading.rankings(collect(rank, lead, chance, level, strength)), names)
    names = names.in_order("system", orders[0].systems)
    yield from flat(leaderboard.plot(order, names, f"leaderboard_{i}") for i, order in enumerate(orders))


def of_sensitivity(size: Size) -> Iterator[Plot]:
    fits = made("contrast", size, of="pair", low=-1, high=1, odd=False)
    fits = fits.assign(p_adjusted=np.random.default_rng(7).uniform(0, 1, len(fits)))
    for group in size.names.titles["group"]:
        results = collect(fits).part(corpus="main", group=group)
        yield sensitivity.significance(results, size.names, group, f"significance_{group}")


def of_agreement(size: Size) -> Iterator[Plot]:
    names = size.names
    alpha = {"measurement": "ordinal", "raters": "all", "kind": "human"}
    dialogue = made("alpha", size, low=-0.2, high=0.9, resample="dialogue", **alpha)
    dialogue["resample"] = np.where(dialogue["level"] == "pair", "pair", "dialogue")
    yield from flat(agreement.forests(collect(dialogue), names, 0.667, (0.5,)))


def of_collection(size: Size) -> Iterator[Plot]:
    names = size.names
    scores = []
    for method in {m for m, _ in size.methods_and_labels()}:
        unit, behavior = METHODS[method].unit, method == "behavior"
        values = ["-1", "0", "1"] if unit == "pair" else ["0", "1"] if behavior else ["1", "2", "3", "4", "5"]
        rows = made("score_share", size, odd=False, kind="human", score=values)
        scores.append(rows[(rows["method"] == method) & (rows["group"] == next(iter(names.titles["group"])))])
    shares = pd.concat(scores)
    total = shares.groupby(["method", "label"])["estimate"].transform("sum")
    results = collect(
        made("coverage", size, odd=False, kind="human", times=[1, 2]),
        shares.assign(estimate=shares["estimate"] / total),
    )
    yield from collection.coverage(results, names)
    yield collection.scores(results, names, {"human": "People"})


def of_validity(size: Size) -> Iterator[Plot]:
    names, targets = size.names, ["dialogue_quality", "comparative_quality"]
    alone, fits = [], []
    for statistic, target in zip(("r2", "mcfadden_r2"), targets, strict=True):
        unit = "single" if statistic == "r2" else ""
        rows = made(statistic, size, only=unit, odd=False, high=0.3, target=target)
        rows["k"] = rows.groupby(["group", "method"]).cumcount() + 1
        rows = rows[rows["group"] == rows["group"].iloc[0]]
        rows["estimate"] = 0.3 * rows["k"] / (rows["k"] + 3)
        kinds = ["common", "cross_validated", "permuted_mean", "permuted_p95"]
        fits += [
            rows.assign(kind=k, label=None, estimate=rows["estimate"] * f)
            for k, f in zip(kinds, (1, 0.7, 0.1, 0.3), strict=True)
        ]
    one = next(iter(names.titles["group"]))
    alone.append(made("r", size, low=-0.6, high=0.9, target=targets))
    results, models = (collect(*(f[f["group"] == one] for f in frames)) for frames in (alone, fits))
    for target in targets:
        yield from flat(validity.correlation_forest(results, names, target))
    yield from flat(validity.compared(models, names))
    rng, keys = np.random.default_rng(3), pd.DataFrame(size.methods_and_labels(), columns=["method", "label"])
    applied = {"agreement": 0.4, "importance": 0.0, "sensitivity": 1.0, "distinctness": 0.5}
    for criterion in [*applied, "cost"]:
        keys[criterion] = rng.uniform(0, 1, len(keys)).round(2)
        if criterion in applied:
            keys[f"{criterion}_met"] = keys[criterion] >= applied[criterion]
    keys["kept"] = keys[[f"{c}_met" for c in applied]].all(axis=1)
    yield from flat(validity.selection(keys, names, applied))


def of_over_time(size: Size) -> Iterator[Plot]:
    weeks = {"period": [f"2026-W{week:02}" for week in range(1, 53)], "only": "single"}
    changed = {"period": "2026-W30", "before": "2026-W29", "only": "single"}
    results = collect(
        made("period_mean", size, of="system", low=1, high=5, resample="dialogue", **weeks),
        made("system_change", size, of="system", **changed).assign(p_value=0.0, p_adjusted=0.0),
    )
    yield from flat(over_time.means(results, size.names, 0.05))


ALL = "systems labels groups"
ROOMS: dict[str, tuple[Callable[[Size], Iterator[Plot]], str]] = {
    "performance": (of_performance, ALL),
    "sensitivity": (of_sensitivity, ALL),
    "agreement": (of_agreement, "labels groups"),
    "collection": (of_collection, "labels groups"),
    "validity": (of_validity, "labels groups"),
    "over_time": (of_over_time, "systems labels"),
}


@pytest.mark.parametrize(("room", "size"), cases(ROOMS, SIZES), ids=str)
def test_every_figure_can_be_read(room, size):
    if room == "sensitivity" and size.systems == 60:
        size = Size(60, 2)  # with 40 labels there would be 70,800 differences to make up
    assert not unreadable(ROOMS[room][0](size))
