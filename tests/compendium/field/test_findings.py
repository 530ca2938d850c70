"""Notebook 92: findings against a second computation from the CSV files of the atlas, and what is said of them."""

import csv
import statistics
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from compendium.field import analysis
from judgebook.questions.planning.assumed import nested, once
from judgebook.statistics.intervals import Sampling

SAMPLING = Sampling(n_resamples=2000, confidence=0.95, seed=1)


@pytest.fixture(scope="module")
def tables_read():
    return analysis.read()


@pytest.fixture(scope="module")
def results(tables_read):
    return analysis.analyse(*tables_read[1:], SAMPLING)


@pytest.fixture(scope="module")
def lines():
    """Rows of values.csv as text, each with that of its label."""

    def read(name):
        with (analysis.FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    labels = {tuple(row[k] for k in analysis.KEYS): row for row in read("labels")}
    values = [row for row in read("values") if row["estimate"]]
    return [(row, labels[tuple(row[k] for k in analysis.KEYS)]) for row in values]


def finding(results, name, summary):
    rows = results.select("field_finding", finding=name, summary=summary)
    assert len(rows) == 1
    return rows.iloc[0]


def resampled(values, statistic, n=4000):
    """Percentile interval over studies, one resample at a time."""
    rng, values = np.random.default_rng(7), np.asarray(values, float)
    drawn = [statistic(values[rng.integers(len(values), size=len(values))]) for _ in range(n)]
    return np.nanquantile(drawn, [0.025, 0.975])


def kleinman(pairs):
    """Weights by the F of an analysis of variance of single claims, 1 for those that stand."""
    claims = [np.repeat([1.0, 0.0], [int(k), int(n - k)]) for k, n in pairs]
    n = np.array([len(c) for c in claims])
    f, size = stats.f_oneway(*claims).statistic, (n.sum() - (n**2).sum() / n.sum()) / (len(n) - 1)
    return n / (1 + (n - 1) * np.clip((f - 1) / (f - 1 + size), 0, 1))


def test_the_same_answers_under_two_names_count_once(tables_read):
    """And where a share rests on claims alike in all studies, they are pooled; where each study has one, averaged."""
    labels = tables_read[1]
    again = labels.loc[labels.index.difference(once(*tables_read[1:]).index)]
    assert again[["study", "corpus", "label", "main"]].to_numpy().tolist() == [["d2t_bws", "lab1", "coherence", 0]]
    alike = pd.DataFrame({"stand": [5, 50], "of": [10, 100]})
    assert analysis.weights(alike).tolist() == [10, 100]
    assert analysis.weights(alike.assign(of=1, stand=[0, 1])).tolist() == [1, 1]


@pytest.mark.parametrize("against", ["dialogues", "annotators", "rerun"])
def test_shares_of_claims_that_stand(results, lines, against):
    stand, of = defaultdict(float), defaultdict(int)
    for value, label in lines:
        if value["statistic"] == f"claims_{against}" and (against == "rerun" or label["main"] == "1"):
            stand[value["study"]] += float(value["estimate"])
            of[value["study"]] += int(value["n"])
    pairs = [(stand[s], of[s]) for s in of if of[s]]
    mean, pooled = (finding(results, f"stand_{against}", summary) for summary in ("mean", "pooled"))
    counts = kleinman(pairs)
    assert mean["estimate"] == pytest.approx(np.average([k / n for k, n in pairs], weights=counts))
    assert max(counts) / min(counts) < max(n for _, n in pairs) / min(n for _, n in pairs)
    assert pooled["estimate"] == pytest.approx(sum(k for k, _ in pairs) / sum(n for _, n in pairs))
    assert [mean["n_clusters"], pooled["n"]] == [len(pairs), sum(n for _, n in pairs)]
    if len(pairs) < analysis.FEWEST:
        assert mean[["ci_low", "ci_high"]].isna().all()
        assert mean["note"] == f"{len(pairs)} studies are too few for an interval"
        return
    weighted = np.column_stack([pairs, counts])  # BCa moves the interval away from the bound at 1
    low, high = resampled(weighted, lambda x: np.average(x[:, 0] / x[:, 1], weights=x[:, 2]))
    assert [mean["ci_low"], mean["ci_high"]] == pytest.approx([low, high], abs=0.06)


def test_what_agreement_predicts(results, lines):
    usable = [(v, label) for v, label in lines if label["main"] == "1" and label["aggregated"] == "0"]
    by_label = defaultdict(dict)
    for value, _ in usable:
        share = int(value["n"]) if value["statistic"] == "pairs_different" else 1
        if share:
            by_label[tuple(value[k] for k in analysis.KEYS)][value["statistic"]] = float(value["estimate"]) / share
    alphas, others = defaultdict(list), defaultdict(list)
    for key, one in by_label.items():
        if "alpha" in one:
            alphas[key[0]].append(one["alpha"])
            if "pairs_different" in one:
                others[key[0]].append(one["pairs_different"])
    pairs = [(statistics.median(alphas[s]), statistics.median(others[s])) for s in others]
    row = finding(results, "agreement_different", "correlation")
    assert row["n_clusters"] == len(pairs)
    assert row["estimate"] == pytest.approx(stats.spearmanr(*zip(*pairs, strict=True)).statistic)
    low, high = resampled(pairs, lambda x: stats.spearmanr(x[:, 0], x[:, 1]).statistic, 1000)
    assert [row["ci_low"], row["ci_high"]] == pytest.approx([low, high], abs=0.12)


def test_a_second_rater(results, lines):
    shared = {f"variance_{w}" for w in ("session", "side", "dialogue", "item")}
    alone = {f"variance_{w}" for w in ("annotator", "annotator_of_system", "residual")}
    parts = defaultdict(dict)
    for value, label in lines:
        usable = label["main"] == "1" and label["aggregated"] == "0" and int(label["twice"]) > 0
        if usable and value["statistic"] in shared | alone:
            parts[tuple(value[k] for k in analysis.KEYS)][value["statistic"]] = float(value["estimate"])
    ratios = defaultdict(list)
    for key, one in parts.items():
        if "variance_residual" in one:
            between, within = (sum(v for k, v in one.items() if k in names) for names in (shared, alone))
            if between + within:
                ratios[key[0]].append((between + within) / (between + within / 2))
    medians = [statistics.median(v) for v in ratios.values()]
    row = finding(results, "second_rater", "mean")
    assert row["estimate"] == pytest.approx(statistics.mean(medians))
    assert row["n_clusters"] == len(medians)
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(resampled(medians, np.mean), abs=0.02)


@pytest.mark.parametrize("quantity", analysis.QUANTITIES)
def test_means_over_studies(results, tables_read, quantity):
    """Random effects, with a t quantile for the mean and for a new label; of design effects the logarithm, and cut off
    where the quantity ends."""
    rows = analysis.labelled(*tables_read[1:])
    of = rows[rows["statistic"] == quantity]
    there, back = (np.log, np.exp) if quantity.startswith("design") else (float, float)
    reference, error = nested(of["study"], of["estimate"].map(there).astype(float))
    t = stats.t.ppf(0.975, reference.df)
    for statistic, sd in {"field_mean": error, "field_prediction": reference.sd}.items():
        row = results.select(statistic, quantity=quantity, moderator="none").iloc[0]
        ends = [back(reference.mean + sign * t * sd) for sign in (-1, 1)]
        assert row["estimate"] == pytest.approx(back(reference.mean))
        assert [row["ci_low"], row["ci_high"]] == pytest.approx(np.clip(ends, *analysis.QUANTITIES[quantity]).tolist())


def test_few_studies_have_no_mean(results, tables_read):
    rows = analysis.labelled(*tables_read[1:])
    few = rows[rows["statistic"] == "alpha"].groupby("kind")["study"].nunique() < analysis.FEWEST
    assert few.any()
    shown = results.select("field_mean", quantity="alpha", moderator="kind")["category"]
    assert {*shown}.isdisjoint(few[few].index)
