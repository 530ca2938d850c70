"""As `test_every_figure.py`, for the rooms of groups, metrics and judges."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from fixtures.boxes import unreadable
from fixtures.made_results import Size, cases, made

from judgebook.display.names import DisplayNames
from judgebook.display.views import Plot
from judgebook.questions.groups import views as groups
from judgebook.questions.judges import views as judges
from judgebook.questions.metrics import views as metrics
from judgebook.study.results import collect

SIZES = (Size(2, 2, 2), Size(12, 40, 2), Size(60, 2, 3))


def with_titles(names: DisplayNames, **kinds: dict) -> DisplayNames:
    return replace(names, titles=names.titles | kinds)


def of_groups(size: Size) -> Iterator[Plot]:
    names, ids = size.names, list(size.names.titles["group"])
    both = [(a, b) for i, a in enumerate(ids) for b in ids[i + 1 :]]

    def between(statistic: str, low: float = 0.0, high: float = 1.0, **keys: object) -> pd.DataFrame:
        rows = made(statistic, size, low=low, high=high, odd=False, **keys)
        rows = rows[rows["group"] == ids[0]]
        return pd.concat([rows.assign(group=a, group_b=b) for a, b in both])

    rng = np.random.default_rng(4)
    tests = between("group_difference_test", exchange="judgement")
    equal = between("equivalence_margin")
    sizes = made("effect_size", size, of="pair", low=-1.5, high=1.5, effect="d", resample="session")
    results = collect(
        between("group_difference", resample="session", effect="d"),
        between("group_difference_null", exchange="judgement", point=["mean", "q95"]),
        tests.assign(p_value=0.03, p_adjusted=rng.uniform(0, 0.1, len(tests))),
        between("group_difference_debiased", scale="root"),
        equal.assign(p_adjusted=rng.uniform(0, 0.2, len(equal))),
        sizes,
    )
    yield from groups.differences(results, names, 0.95, 0.2)
    yield from groups.effects(results, names)


def of_metrics(size: Size) -> Iterator[Plot]:
    n = {2: 3, 12: 12, 60: 40}[size.systems]
    titles = {f"m{i}": f"Metric {i}, with reference" if i % 7 == 1 else f"Metric {i}" for i in range(n)}
    names = with_titles(size.names, metric=titles)
    one = Size(n, size.labels, 1)  # a metric for each "system"

    def of_metric(statistic: str, **keys: object) -> pd.DataFrame:
        rows = made(statistic, one, only="single", of="system", low=-0.3, high=0.7, **keys)
        return rows.assign(metric="m" + rows["system"].str[1:], system=None)

    rows = [of_metric("correlation", coefficient="spearman", scope="pooled", resample="context")]
    mean = {"coefficient": "spearman", "over": "label", "resample": "context"}
    whole = of_metric("mean_correlation", **mean)
    labels = rows[0].groupby("method")["label"].transform("nunique")
    whole = whole.assign(label=None)[labels.to_numpy() > 1]
    rows.append(whole.drop_duplicates(["method", "metric"]))
    rows.append(made("reliability_ceiling", one, only="single", low=0.6, high=0.9, coefficient="spearman"))
    yield from metrics.correlations(collect(*rows), names, {"m1"})


def of_judges(size: Size) -> Iterator[Plot]:
    names = with_titles(
        size.names, metric={"gpt": "ChatGPT", "llama": "Llama 3.1 (70B)", "own": "Specialised classifiers"}
    )
    one, rows = Size(size.systems, size.labels, 1), []
    for i, judge in enumerate(names.titles["metric"]):
        rows.append(
            made("judge_alpha", one, low=-0.2, high=0.9, pair=["people", "mean"], seed=i, measurement="ordinal")
        )
        rows.append(made("rate_change", one, of="system", low=-0.5, high=0.6, by=["model", "second person"], seed=i))
        rows[-2:] = [frame.assign(metric=judge) for frame in rows[-2:]]
    by = judges.SECOND
    rows = [r.assign(by=r["by"].replace("second person", by)) if "by" in r else r for r in rows]
    yield from judges.alpha_figure(collect(*rows), names)
    yield from judges.changes(collect(*rows), names)


ALL = "systems labels groups"
ROOMS = {"groups": (of_groups, ALL), "metrics": (of_metrics, ALL), "judges": (of_judges, ALL)}


@pytest.mark.parametrize(("room", "size"), cases(ROOMS, SIZES), ids=str)
def test_every_figure_can_be_read(room, size):
    assert not unreadable(ROOMS[room][0](size))
