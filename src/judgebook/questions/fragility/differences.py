"""Differences of means between systems with intervals and without a model: for other dialogues and, where annotators
are a sample, other annotators.

The variance of a difference is that of scores clustered by session and by annotator (`statistics.clusters`), and
systems judged in the same sessions or by the same people are compared as pairs.

References
----------
Cameron, Gelbach and Miller 2011, Journal of Business and Economic Statistics 29, 238-249.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from judgebook.annotations.dialogue_values import one_side
from judgebook.annotations.scores import sampled
from judgebook.statistics.clusters import (
    LEAST_DF,
    clustered_covariance,
    clustered_variances,
    crossed,
    effective_number,
    pair_df,
)
from judgebook.study.labels import METHODS


def differences(annotations: pd.DataFrame, method: str, systems: list[str], *, people: bool = True) -> pd.DataFrame:
    """Every pair of systems on every label: difference of means, t interval and p-value.

    A dialogue counts once, with the mean of its items, and an item once, with the mean of its annotations; so does a
    pair of dialogues that is compared.

    Parameters
    ----------
    annotations : DataFrame
        Of one corpus and evaluator group, with `session`; dialogues without one are sessions of their own.
    systems : list of str
        Which are compared; the first of a pair comes first here.
    people : bool
        Treat annotators as a sample too, for labels whose annotators are known.

    Returns
    -------
    DataFrame, with `se` and `df`; `n` counts dialogues (pairs), `n_clusters` the fewer of sessions and annotators of
    either system. df is one less than their effective number (`clusters.effective_number`), or Welch's if the systems
    share neither.
    """
    rows = annotations[annotations["method"] == method]
    rows = rows[rows["system"].isin(systems)]
    if METHODS[method].unit == "pair":
        rows = one_side(rows[rows["system_b"].isin(systems)])
    return of_numbers(numbers(rows, method, systems), method, systems, people=people)


def numbers(rows: pd.DataFrame, method: str, systems: list[str]) -> pd.DataFrame:
    """What differences are made from, with numbers in place of names, which take most of the time; a row for each.

    rows : annotations by the method of these systems; comparisons of two dialogues all seen from one side.

    `one`, `two` : places in `systems`. `known` : by a known person. A dialogue, or pair, without a session is one.
    `item` : of a dialogue or pair, whatever its label.
    """
    paired = METHODS[method].unit == "pair"
    place, dialogue = pd.Index(systems), rows["dialogue"]
    if paired:
        dialogue = rows.groupby(["dialogue", "dialogue_b"], sort=False).ngroup().astype(str)
    people = {"annotator", "annotator_known", "annotator_kind"} <= set(rows)
    unit, session = (pd.factorize(names)[0] for names in (dialogue, rows["session"]))
    return pd.DataFrame(
        {
            "label": rows["label"].astype("category"),
            "one": place.get_indexer(rows["system"]),
            "two": place.get_indexer(rows["system_b"]) if paired else -1,
            "dialogue": unit,
            "item": crossed(unit, rows["turn"].fillna(-1).to_numpy()),
            # numbers of its own, whatever the sessions and dialogues are called
            "session": np.where(session < 0, session.max(initial=-1) + 1 + unit, session),
            "annotator": pd.factorize(rows["annotator"])[0] if people else 0,
            "known": rows["annotator_known"] & (rows["annotator_kind"] == "human") if people else False,
            "score": rows["score"].to_numpy(float),
            "sampling": rows["sampling_weight"].fillna(1.0).to_numpy() if sampled(rows) else 1.0,
        }
    )


def of_numbers(
    rows: pd.DataFrame, method: str, systems: list[str], *, people: bool = True, confidence: float = 0.95
) -> pd.DataFrame:
    """As `differences`, of some or all rows of `numbers`: for callers that compare many selections of annotations."""
    paired = METHODS[method].unit == "pair"
    if paired:
        rows = rows[rows["one"] != rows["two"]]
    frames = []
    columns = {k: rows[k].to_numpy() for k in rows.columns.drop("label")} | {"weight": _weights(rows)}
    for label, at in _by_label(rows["label"]):
        part = {k: column[at] for k, column in columns.items()}
        session, annotator = part["session"], part["annotator"]
        two_way = people and part["known"].all() and np.any(annotator != annotator[0])
        clusters = [session, annotator] if two_way else [session]
        estimates = (_pairs if paired else _systems)(part, clusters, len(systems))
        same = {"label": label, "people": two_way}
        frames.append(estimates | {k: np.full(len(estimates["n"]), v, dtype=object) for k, v in same.items()})
    if not frames:
        return pd.DataFrame()
    out, names = {k: np.concatenate([f[k] for f in frames]) for k in frames[0]}, np.array(systems, dtype=object)
    sides = {k: names[out[k]] for k in ("system", "system_b")}
    return _rows(pd.DataFrame({"method": method, **out, **sides}), METHODS[method].unit, confidence)


def _by_label(labels: pd.Series) -> Iterator[tuple[str, np.ndarray]]:
    """Each label, in the order in which they first appear, and the places of its rows."""
    code, present = pd.factorize(labels.cat.codes.to_numpy())
    places = np.split(np.argsort(code, kind="stable"), np.cumsum(np.bincount(code))[:-1])
    yield from zip(labels.cat.categories[present], places, strict=True) if len(code) else ()


def _weights(rows: pd.DataFrame) -> np.ndarray:
    """(annotations,) so that every dialogue or pair counts once per label, and every item in it alike.

    With sampling weights a dialogue counts as often as these say; they add up to the number of dialogues of a system
    (of pairs of two systems).
    """
    label, sampling = rows["label"].cat.codes.to_numpy(), rows["sampling"].to_numpy()
    dialogue, item = (crossed(label, rows[unit].to_numpy()) for unit in ("dialogue", "item"))
    of_item = 1 / np.bincount(item)[item]
    once = of_item / np.bincount(dialogue, of_item)[dialogue]
    if (sampling == 1).all():
        return once
    sides = np.sort(rows[["one", "two"]].to_numpy(), axis=1)
    sample = crossed(label, crossed(sides[:, 0], sides[:, 1]))
    return once * sampling * (np.bincount(sample, once) / np.bincount(sample, once * sampling))[sample]


def _systems(part: dict[str, np.ndarray], clusters: list[np.ndarray], n_systems: int) -> dict[str, np.ndarray]:
    """Columns, a row for each pair of the systems that were judged.

    part : columns of `numbers` and weights, of one label.
    """
    present, code = np.unique(part["one"], return_inverse=True)
    weight = part["weight"]
    means, cov, fewest = clustered_covariance(code, part["score"], weight, clusters)
    sizes = np.bincount(code, weight)
    a, b = np.triu_indices(len(present), 1)
    return {
        "system": present[a],
        "system_b": present[b],
        "n": np.rint(sizes[a] + sizes[b]).astype(int),
        "unit": np.full(len(a), "session"),
        "estimate": means[a] - means[b],
        "variance": cov.pair_errors() ** 2,
        "n_clusters": np.minimum(fewest[a], fewest[b]),
        "df": pair_df(code, weight, clusters, cov.variances),
    }


def _pairs(part: dict[str, np.ndarray], clusters: list[np.ndarray], n_systems: int) -> dict[str, np.ndarray]:
    """Columns, a row for each pair of systems that were compared.

    part : columns of `numbers` and weights, of one label.
    """
    one, two = part["one"], part["two"]
    score = np.where(one < two, 1, -1) * part["score"]
    pairs, code = np.unique(np.minimum(one, two) * n_systems + np.maximum(one, two), return_inverse=True)
    unit = "session" if len(np.unique(part["session"])) < len(np.unique(part["dialogue"])) else "pair"
    weight = part["weight"]
    means, variance, fewest = clustered_variances(code, score, weight, clusters)
    return {
        "system": pairs // n_systems,
        "system_b": pairs % n_systems,
        "n": np.rint(np.bincount(code, weight)).astype(int),
        "unit": np.full(len(pairs), unit),
        "estimate": means,
        "variance": variance,
        "n_clusters": fewest,
        "df": effective_number(code, weight, clusters) - 1,
    }


def _rows(estimated: pd.DataFrame, unit: str, confidence: float) -> pd.DataFrame:
    df = estimated["df"].to_numpy(float)
    enough, spread = df >= LEAST_DF, estimated["variance"].to_numpy() > 1e-12
    usable = enough & spread
    se = np.where(usable, np.sqrt(np.maximum(estimated["variance"], 0)), np.nan)
    t, half = estimated["estimate"] / se, stdtrit(np.maximum(df, LEAST_DF), (1 + confidence) / 2) * se
    kind = np.where(usable, "t", "not_estimable")
    over = estimated["unit"].where(~estimated["people"].astype(bool), estimated["unit"] + " and annotator")
    note = np.select([~enough, ~spread], ["too few effective clusters", "no spread"], "").astype(object)
    return estimated.drop(columns=["variance", "unit", "people"]).assign(
        level="pair" if unit == "pair" else "dialogue",
        se=se,
        ci_low=estimated["estimate"] - half,
        ci_high=estimated["estimate"] + half,
        ci_kind=kind,
        p_value=2 * stdtr(np.maximum(df, LEAST_DF), -np.abs(t)),
        resample_unit=over,
        note=pd.Series(note, estimated.index).replace("", None),
    )
