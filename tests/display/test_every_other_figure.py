"""As `test_every_figure.py`, for the rooms of groups, metrics, quality control, techniques, moderation and judges."""

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fixtures.boxes import unreadable
from fixtures.made_results import Size, cases, made

from judgebook.display.names import DisplayNames
from judgebook.display.views import Plot
from judgebook.questions.groups import figures as groups
from judgebook.questions.judges import figures as judges
from judgebook.questions.metrics import figures as metrics
from judgebook.questions.moderation import figures as moderation
from judgebook.questions.quality_control import effect_views
from judgebook.questions.quality_control import figures as quality_control
from judgebook.questions.techniques import figures as techniques
from judgebook.study.results import collect

SECONDS = 60
SIZES = (Size(2, 2, 2), Size(12, 40, 2), Size(60, 2, 3))
CI = ["estimate", "ci_low", "ci_high"]


def with_titles(names: DisplayNames, **kinds: dict) -> DisplayNames:
    return replace(names, titles=names.titles | kinds)


def each(rows: pd.DataFrame, column: str, values: list) -> pd.DataFrame:
    """The rows once for each value of a column, for keys whose names `made` takes itself."""
    return pd.concat([rows.assign(**{column: value}) for value in values], ignore_index=True)


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
    counts = {"resample": "session", "verdict": ["same", "opposite", "undecided"], "low": 1, "high": 40}
    verdicts = [
        between("conclusion_count", **counts).assign(of="sign"),
        between("conclusion_count", **counts | {"resample": "session and annotator"}).assign(of="sign"),
        between("conclusion_count", **counts).assign(of="size"),
    ]
    agreed = {"measurement": "ordinal", "low": -0.3, "high": 1.0}
    within = made("alpha", size, resample="dialogue", **agreed)
    results = collect(
        between("group_difference", resample="session", effect="d"),
        between("group_difference", resample="score", effect="d", scope="paper", pick="paper"),
        between("group_difference_null", exchange="judgement", point=["mean", "q95"]),
        tests.assign(p_value=0.03, p_adjusted=rng.uniform(0, 0.1, len(tests))),
        between("group_difference_debiased", scale="root"),
        equal.assign(p_adjusted=rng.uniform(0, 0.2, len(equal))),
        sizes,
        *verdicts,
        within,
        between("alpha", resample="dialogue", **agreed),
    )
    yield from groups.differences(results, names, 0.95, 0.2)
    yield from groups.effects(results, names)
    yield groups.conclusions(results, names, 0.2)
    yield from groups.alphas(results, names)


def of_metrics(size: Size) -> Iterator[Plot]:
    n = {2: 3, 12: 12, 60: 40}[size.systems]
    titles = {f"m{i}": f"Metric {i}, with reference" if i % 7 == 1 else f"Metric {i}" for i in range(n)}
    names = with_titles(size.names, metric=titles)
    one = Size(n, size.labels, 1)  # a metric for each "system"

    def of_metric(statistic: str, **keys: object) -> pd.DataFrame:
        rows = made(statistic, one, only="single", of="system", low=-0.3, high=0.7, **keys)
        return rows.assign(metric="m" + rows["system"].str[1:], system=None)

    rows = [of_metric("correlation", coefficient="spearman", scope="pooled", resample="context")]
    mean = {"coefficient": "spearman", "over": "label", "average": "plain", "resample": "context"}
    whole = of_metric("mean_correlation", **mean)
    labels = rows[0].groupby("method")["label"].transform("nunique")
    whole = whole.assign(label=None)[labels.to_numpy() > 1]
    rows.append(whole.drop_duplicates(["method", "metric"]))
    rows.append(each(of_metric("replaceability", coefficient="spearman"), "of", ["metric", "annotator"]))
    rows.append(made("reliability_ceiling", one, only="single", low=0.6, high=0.9, coefficient="spearman"))
    better = of_metric("above_control")
    rows += [better.assign(label=None).drop_duplicates("metric")]
    rows += [made("above_control", one, only="single", low=0.4, high=0.9).assign(metric=None)]
    ids = list(titles)
    pairs = [(a, b) for i, a in enumerate(ids) for b in ids[i + 1 :]]
    among = pd.DataFrame(pairs, columns=["metric", "against"]).assign(corpus="main", n=300)
    among["method"], among["estimate"] = rows[0]["method"].iloc[0], np.linspace(-1, 1, len(among))
    results = collect(*rows, among.assign(statistic="metric_correlation", coefficient="spearman"))
    yield from metrics.correlations(results, names, {"m1"})
    yield from metrics.above_control(results, names)
    yield from metrics.among(results, names)


def of_quality_control(size: Size) -> Iterator[Plot]:
    names, ids, rng = size.names, list(size.names.titles["system"]), np.random.default_rng(5)
    runs = ["free_run1", "free_run2", "ice_breaker_run"][: 2 + (size.systems > 2)]
    options = SimpleNamespace(variant="persona", alpha=0.05, levels=[0.05, 0.1])
    workers = pd.DataFrame({"corpus": np.repeat(runs, 80), "p": rng.uniform(0, 1, 80 * len(runs)) ** 3})
    workers["passed"] = workers["p"] < 0.05
    title = lambda corpus: corpus.replace("_", " ").capitalize()  # noqa: E731
    people = SimpleNamespace(corpora=runs, systems=ids, options=options, workers=workers, title=title, control="qc")
    one = Size(size.systems, 2, 1)

    def by_run(statistic: str, **given: object) -> pd.DataFrame:
        rows = made(statistic, one, only="single", seed=3, **given)
        rows = rows.assign(label="overall mean", method=None, group=None)
        return pd.concat([rows.assign(corpus=run) for run in runs])

    z = {"low": -0.6, "high": 0.6, "workers": "passed"}
    tests = by_run("system_test", of="pair", standardised="all", scores="z", odd=False, **z)
    ranks = by_run("threshold_rank", of="system", scores="z", threshold=[0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0])
    counts = by_run("qc_count", low=40, high=250, threshold=[0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0])
    r = {
        "among": ["systems", "families", "variants"],
        "interval": ["workers", "fisher"],
        "low": -1,
        "standardised": "all",
    }
    r |= {"scores": ["z", "raw"], "workers": ["all", "passed", "failed", "once"], "against": runs[0]}
    ranks["estimate"] = ranks["estimate"].groupby([ranks["corpus"], ranks["threshold"]]).rank()
    results = collect(
        by_run("replication_r", odd=False, **r).query("corpus != 'free_run1'"),
        by_run("mean_z", of="system", standardised="all", **z),
        by_run("variant_contrast", of="system", scores="z", **z).assign(system_b=lambda f: f["system"]),
        tests.assign(p_value=rng.uniform(0, 0.2, len(tests))),
        ranks,
        counts.round({"estimate": 0}),
    )
    yield from quality_control.repeat(results, people)
    labels = pd.DataFrame(size.methods_and_labels("single"), columns=["method", "label"]).drop_duplicates("label")
    people.scores = labels
    pooled = [
        {"statistic": "variant_effect", "label": label, "corpus": run, "interval": "workers", "scores": "z", "n": 5}
        | {"over": "families" if run else "families and runs", "ci_kind": "simultaneous", "n_clusters": 99}
        | {"estimate": (x := rng.uniform(-0.5, 0.5)), "ci_low": x - 0.1, "ci_high": x + 0.1}
        for label in ["overall mean", *labels["label"]]
        for run in (*runs, None)
    ]
    yield effect_views.effects(collect(pooled), names, people)
    yield quality_control.p_values(people)
    for figure in (quality_control.runs, quality_control.variants, quality_control.significance):
        yield figure(results, names, people)
    yield quality_control.thresholds(results, names, people)
    pairs = pd.DataFrame({"r": rng.uniform(-1, 1, 400), "control": ["with", "without"] * 200, "pairs": "all"})
    yield quality_control.pairs(pairs.assign(workers=np.repeat(["passed", "failed"], 200)))
    long = pd.DataFrame(
        {"corpus": runs[0], "of": ["conversation", "input"] * 100, "passed": [True, False, False, True] * 50}
    )
    long["words"] = rng.integers(1, 200, len(long))
    yield from quality_control.lengths(long.assign(characters=6 * long["words"]), people)


def of_techniques(size: Size) -> Iterator[Plot]:
    titles = {"compared": "Comparative", "rated": "Dialogue Likert", "marked": "Turns, winner takes all"}
    titles |= {f"mix{i}": f"Comparative and Dialogue Likert 1:{i}" for i in range(4)} if size.labels > 2 else {}
    dimensions = {"quality": "Quality", "humanness": "Humanness"}
    names = with_titles(size.names, technique=titles, dimension=dimensions, pair={})
    one = Size(size.systems, 2, size.groups)
    method = made("turn_rate", one, only="single", of="pair", seed=6, turn=[1])["method"].iloc[0]
    timed = {t: SimpleNamespace(timed=True, corpus=None, method=method) for t in titles}
    data = SimpleNamespace(
        techniques=timed, pairs=size.pairs, labels=list(dimensions), systems=list(names.titles["system"])
    )
    options = SimpleNamespace(power=0.8, alpha=0.05)

    def of(statistic: str, kind: str = "pair", **keys: object) -> pd.DataFrame:
        rows = made(statistic, one, only="single", of=kind, seed=6, **keys)
        return pd.concat([rows.assign(label=x) for x in dimensions])

    every = {"technique": list(titles)}
    hours = of("hours_to_power", low=1, high=90, alpha=0.05, power=0.8, **every)
    hours.loc[hours.index[::5], ["estimate", "ci_high"]] = np.nan
    lines = of("technique_power", odd=False, alpha=0.05, conversations=[8, 32, 128], hours=1.0, **every)
    lines["hours"] = lines["conversations"].astype(float) / 7
    few = SimpleNamespace(**{**vars(data), "techniques": timed})
    results = collect(
        of("technique_win_rate", ties="half", **every),
        hours,
        of("hours_to_significance", low=0.3, high=60, alpha=0.05, odd=False, **every),
        lines,
        of("technique_false_positive", low=0, high=0.1, odd=False, alpha=0.05, conversations=8, hours=1.0, **every),
        of("technique_false_crossing", low=0.2, high=0.6, odd=False, alpha=0.05, **every),
        of("turn_rate", turn=[1, 2, 3, 4, 5, 6], odd=False),
        of("turn_rate", "system", turn=[1, 2, 3, 4, 5, 6], odd=False),
        of("turn_mean", "system", turn=[1, 2, 3, 4, 5, 6], odd=False, low=1, high=5),
        of("turn_coefficient", "system", turn=[1, 2, 3], odd=False, low=-1)
        .query("group == group.iloc[0]")
        .drop_duplicates(["system", "turn"]),
    )
    view = {"results": results, "data": few, "names": names}
    yield from techniques.rates(**view)
    yield from techniques.turns(**view)
    yield from techniques.marks(**view)
    yield from techniques.coefficients(**view)
    yield techniques.power(**view, options=options)
    yield from techniques.hours(**view, options=options)
    yield techniques.errors(**view, options=options)


def of_moderation(size: Size) -> Iterator[Plot]:
    names, one = size.names, Size(size.systems, 2, 1)
    outcomes = {"outcome": ["wins", "tied", "unrelated", "loses"], "interval": ["n", "context", "items"]}

    def shares(kind: str, **keys: object) -> pd.DataFrame:
        rows = made("moderation_share", one, only="single", of=kind, odd=False, **outcomes, **keys)
        known = [c for c in ("system", "system_b") if rows[c].notna().any()]
        rows["estimate"] = rows["estimate"].groupby([rows[c] for c in [*known, "outcome"]]).transform("first")
        total = rows.groupby([*known, "interval"])["estimate"].transform("sum")
        rows = rows.assign(**{c: rows[c] / total for c in CI}, label=None, method=None)
        return rows.assign(ci_low=rows["estimate"] * 0.8, ci_high=(rows["estimate"] * 1.2).clip(upper=1))

    who = {"annotator": [f"A{i:04}" for i in range(size.labels)], "score": ["-1", "0", "1"]}
    scores = made("annotator_score_share", one, only="single", odd=False, **who)
    scores["estimate"] /= scores.groupby("annotator")["estimate"].transform("sum")
    results = collect(scores, shares("system"), shares("pair"), shares("system", data="printed"))
    yield from moderation.categories(results, names)
    yield from moderation.outcomes(results, names)
    if size.systems < 20:
        yield moderation.printed(results, names)


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
        rows.append(made("assisted_gain", one, low=1.0, high=1.8, share="0.25", seed=i))
        measure = ["accuracy", "sensitivity", "specificity"]
        rows.append(made("gold_agreement", one, of="system", low=0.4, high=1.0, measure=measure, seed=i))
        rows.append(made("gold_agreement", one, low=0.4, high=1.0, measure=measure, seed=i))
        rows[-5:] = [frame.assign(metric=judge) for frame in rows[-5:]]
    by = judges.SECOND
    rows = [r.assign(by=r["by"].replace("second person", by)) if "by" in r else r for r in rows]
    yield from judges.alphas(collect(*rows), names)
    yield from judges.changes(collect(*rows), names)
    yield from judges.gains(collect(*rows), names)
    yield from judges.gold(collect(*rows), names)


ALL = "systems labels groups"
ROOMS = {
    "groups": (of_groups, ALL),
    "metrics": (of_metrics, ALL),
    "quality_control": (of_quality_control, "systems"),
    "techniques": (of_techniques, ALL),
    "moderation": (of_moderation, ALL),
    "judges": (of_judges, ALL),
}


@pytest.mark.parametrize(("room", "size"), cases(ROOMS, SIZES), ids=str)
def test_every_figure_can_be_read(room, size):
    assert not unreadable(ROOMS[room][0](size))
