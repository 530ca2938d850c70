"""What has changed over time? The results of notebook 18.

Means of systems in each period, who and what there was, and which changes of systems and annotators from one period to
the next are more than chance. Means change with the systems, with those who judge, and with the items;
changes of systems are therefore told by annotators who judged in both periods.

Scores of two adjacent periods are modelled by systems and annotators. A change of a system, or of the items, moves the
scores of all annotators alike; so an annotator's change is that relative to the other annotators of the same systems,
and does not depend on what systems did. Annotators who changed are left out, one at a time, and those who judged in
both periods and did not change tell how systems changed. If all annotators became stricter together, that looks like a
change of all systems; nothing in such data can tell these apart.

Changes are linear contrasts of effects: least squares on indicators, with the error of the jackknife, which leaves out
a cluster at a time (CR3), and degrees of freedom by the effective number of clusters that the contrast rests on.

References
----------
Bell and McCaffrey 2002, Survey Methodology 28, 169-181 (CR3). Carter, Schnepel and Steigerwald 2017, Review of
Economics and Statistics 99, 698-709 (effective number). Dunn 1961, Journal of the American Statistical Association 56,
52-64 (Bonferroni's inequality, over all changes that might be named in a corpus and group).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from judgebook.annotations import population
from judgebook.annotations.cells import cells, within_scale
from judgebook.annotations.periods import in_order, periods
from judgebook.questions.over_time.question import OverTime
from judgebook.questions.performance import rates
from judgebook.questions.performance.analysis import by_unit, chosen, interval_unit, ranking_unit
from judgebook.statistics.clusters import numbered
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import ResultRows, Results, collect
from judgebook.study.schema import SYSTEM_CELL, Annotations

#: why changes of systems and annotators cannot be told apart, for readers
UNKNOWN, NOBODY = "it is not known who judged", "no annotator judged enough in both"
ONLY_ONE, ALL_CHANGED = "only one annotator judged enough in both", "those who judged in both changed"


@dataclass(frozen=True)
class Contrast:
    """NaN where the data do not identify a contrast, or hardly any cluster does."""

    estimate: float
    error: float
    df: float

    @property
    def p_value(self) -> float:
        """Two-sided."""
        return float(2 * stdtr(self.df, -abs(self.estimate / self.error)))

    def row(self, confidence: float) -> dict[str, Any]:
        """Columns of a result row: estimate, interval and p-value."""
        half = float(stdtrit(self.df, (1 + confidence) / 2)) * self.error
        ends = {"estimate": self.estimate, "ci_low": self.estimate - half, "ci_high": self.estimate + half}
        return ends | {"ci_kind": "t", "p_value": self.p_value}


@dataclass
class Boundary:
    """Two adjacent periods of one label.

    rows : annotator, system, unit (the cluster), score, late (whether of the later period). least : units in either
    period of whom and what is tested. identified : whether all annotators are known. annotators, systems : name ->
    its change, after `test`. changed : annotators who did. why : why systems could not be tested.
    """

    rows: pd.DataFrame
    least: int
    identified: bool = True
    annotators: dict[str, Contrast] = field(default_factory=dict)
    systems: dict[str, Contrast] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    why: str = ""

    def __post_init__(self) -> None:
        self.common = _in_both(self.rows, "annotator", self.least)
        self.rows = self.rows[self.rows["annotator"].isin(self.common)]
        self.both = _in_both(self.rows, "system", self.least)

    @property
    def n_tests(self) -> int:
        """How many changes may be named here."""
        few = len(self.common) < 2
        return 0 if few else (len(self.common) if len(self.common) > 2 else 1) + len(self.both)

    def test(self, level: float) -> None:
        """Annotators first, the most conspicuous taken out as long as its p-value is below `level`; then systems."""
        left = list(self.common)
        while len(left) > 1:
            values = annotator_changes(self.rows[self.rows["annotator"].isin(left)], left)
            self.annotators |= dict(zip(left, values, strict=True))
            p = np.array([one.p_value for one in values])
            if np.isnan(p).all() or np.nanmin(p) >= level:
                break
            if len(left) == 2:  # one relative to the other: it cannot be told whose change it is
                self.changed += left
                left = []
            else:
                self.changed.append(left.pop(int(np.nanargmin(p))))
        if len(left) < 2:
            few = ONLY_ONE if self.common else NOBODY if self.identified else UNKNOWN
            self.why = ALL_CHANGED if self.changed else few
            return
        rows = self.rows[self.rows["annotator"].isin(left)]
        if not self.both:
            return
        self.systems = dict(zip(self.both, system_changes(rows, self.both), strict=True))


def _in_both(rows: pd.DataFrame, column: str, least: int) -> list[str]:
    """Values of a column with at least so many units in either period, in order."""
    units = rows.drop_duplicates([column, "unit", "late"]).groupby([column, "late"]).size()
    units = units.unstack(fill_value=0)  # noqa: PD010
    return sorted(units.index[(units.reindex(columns=[False, True], fill_value=0) >= least).all(axis=1)])


def annotator_changes(rows: pd.DataFrame, annotators: list[str]) -> list[Contrast]:
    """Of each of (two or more) annotators: how much their scores rose more than those of the others.

    rows : as in `Boundary`, by these annotators.
    """
    late = rows["late"].to_numpy(int)
    cell = 2 * pd.factorize(rows["system"])[0] + late
    who = 2 * pd.Index(annotators).get_indexer(rows["annotator"]) + late
    x = np.hstack([indicators(cell), np.eye(2 * len(annotators))[who]])
    n = len(annotators)
    own = np.eye(n) - (1 - np.eye(n)) / (n - 1)
    wanted = np.hstack([np.zeros((n, x.shape[1] - 2 * n)), np.kron(own, [-1.0, 1.0])])
    return contrasts(x, rows["score"].to_numpy(float), rows["unit"].to_numpy(), wanted, late)


def system_changes(rows: pd.DataFrame, systems: list[str]) -> list[Contrast]:
    """Of each system: how much its scores rose, annotators being as strict as before. rows : as in `Boundary`."""
    rows = rows[rows["system"].isin(systems)]
    late = rows["late"].to_numpy(int)
    cell = 2 * pd.Index(systems).get_indexer(rows["system"]) + late
    x = np.hstack([np.eye(2 * len(systems))[cell], indicators(pd.factorize(rows["annotator"])[0])])
    wanted = np.zeros((len(systems), x.shape[1]))
    wanted[:, : 2 * len(systems)] = np.kron(np.eye(len(systems)), [-1.0, 1.0])
    return contrasts(x, rows["score"].to_numpy(float), rows["unit"].to_numpy(), wanted, late)


def indicators(*codes: np.ndarray) -> np.ndarray:
    """(n, p) indicator columns of each of (n,) codes, side by side; p is the sum of their largest values and ones."""
    return np.hstack([np.eye(int(c.max(initial=-1)) + 1)[c] for c in codes])


def contrasts(
    x: np.ndarray, y: np.ndarray, clusters: np.ndarray, wanted: np.ndarray, samples: np.ndarray
) -> list[Contrast]:
    """Contrasts (q, p) of the coefficients of (n,) y on (n, p) x, which need not have full rank.

    clusters : (n,) names. samples : (n,) numbers of the samples that are compared. Degrees of freedom are one less than
    the effective number of clusters in the sample that has fewest. Missing are contrasts that the data do not identify,
    and those for which a sample has fewer than two effective clusters.
    """
    inverse = np.linalg.pinv(x.T @ x, hermitian=True)
    estimable = np.isclose(wanted @ inverse @ (x.T @ x), wanted, atol=1e-6).all(axis=1)
    reach = wanted @ inverse @ x.T  # (q, n): what each score counts for
    code = numbered(clusters)
    rest = y - x @ (inverse @ (x.T @ y))
    influence = []
    for rows in _alike(code):  # (k, size): all clusters of one size at once
        part, of_cluster = x[rows], reach[:, rows].transpose(1, 0, 2)
        hat = part @ inverse @ part.transpose(0, 2, 1)
        without = np.linalg.pinv(np.eye(rows.shape[1]) - hat, hermitian=True, rcond=1e-8) @ rest[rows][..., None]
        influence.append((of_cluster @ without)[..., 0])
    variance, count = np.sum(np.concatenate(influence) ** 2, axis=0), int(code.max()) + 1
    df = np.min([_effective(reach[:, samples == s], code[samples == s]) for s in np.unique(samples)], axis=0) - 1
    usable = estimable & (df >= 1) & (variance > 1e-12)
    error = np.sqrt(variance * (count - 1) / count)
    values = np.where(usable, [wanted @ (inverse @ (x.T @ y)), error, df], np.nan)
    return [Contrast(*map(float, value)) for value in values.T]


def _effective(reach: np.ndarray, code: np.ndarray) -> np.ndarray:
    """(q,) effective number of clusters, from what each of (q, n) scores counts for in a contrast."""
    weight = np.array([np.bincount(code, row**2) for row in reach])
    return weight.sum(axis=1) ** 2 / np.maximum(np.sum(weight**2, axis=1), 1e-300)


def _alike(code: np.ndarray) -> Iterator[np.ndarray]:
    """(k, size) places of the members of all clusters of one size, for each size."""
    size, order = np.bincount(code), np.argsort(code, kind="stable")
    first = np.cumsum(size) - size
    for one in np.unique(size):
        yield order[first[size == one][:, None] + np.arange(one)]


_PLACE = ["corpus", "group"]


def analyse(
    annotations: Annotations,
    labels: Sequence[Label],
    options: OverTime,
    unranked: Collection[str] = (),
    *,
    inference: str = "auto",
    sampling: Sampling,
) -> Results:
    """All results of notebook 18.

    annotations : of the evaluation itself. unranked : systems that are not ranked. inference : of `populations`.

    Returns `Results`: `period_mean`, `period_count`, and from each period to the next `annotator_change`,
    `system_change` (p-values adjusted within the corpus and group) and `unseparated`.
    """
    judged = chosen(annotations, unranked, labels)
    judged = judged.assign(period=periods(judged, options.every or "week"))
    judged = judged[judged["period"].notna()]
    rated = judged[judged["dialogue_b"].isna()]
    order = {place: in_order(part["period"]) for place, part in judged.groupby(_PLACE, sort=False)}
    return collect(
        means(judged, labels, inference=inference, sampling=sampling),
        (row for place, part in judged.groupby(_PLACE, sort=False) for row in composition(part, order[place])),
        (row for place, part in rated.groupby(_PLACE, sort=False) for row in
         changes(part, labels, order[place], options, sampling.confidence)),
    )  # fmt: skip


def means(
    judged: Annotations, labels: Iterable[Label], *, inference: str, sampling: Sampling
) -> ResultRows | Iterator[dict[str, Any]]:
    """`period_mean` of every system, for the population of annotators that notebook 07 has; of comparisons the share
    won."""
    declared = population.declared(judged, population.populations(judged, inference))
    key, pieces = [*SYSTEM_CELL, "period"], []
    for unit, part in by_unit(declared, None):
        for period, rows in part.groupby("period", sort=False):
            wide = rates.with_annotators(rows, unit=unit, confidence=sampling.confidence)
            narrow = rates.clustered(rows, unit=unit, sampling=sampling)
            pieces += [made.assign(period=period) for made in (wide, narrow) if len(made)]
    if not pieces:
        return iter(())
    both = pd.concat(pieces, ignore_index=True)
    both = both[both["statistic"].isin(["rate", "mean"]) | (both["outcome"] == "win")].drop_duplicates(key)
    return within_scale(both, labels).assign(statistic="period_mean").drop(columns=["interval", "outcome"])


def composition(judged: Annotations, order: Sequence[str]) -> Iterator[dict[str, Any]]:
    """`period_count` of one corpus and group: judgements, items, systems and annotators, and how many of the latter two
    are new since the period before, or gone."""
    head = {**dict(zip(_PLACE, judged[_PLACE].iloc[0], strict=True)), "statistic": "period_count"}
    before: dict[str, set[str]] = {}
    for period in order:
        rows = judged[judged["period"] == period]
        members = {"systems": {*rows["system"], *rows["system_b"].dropna()}}
        if rows["annotator_known"].all():
            members["annotators"] = set(rows["annotator"])
        counts = {"judgements": len(rows), "items": len(rows[["dialogue", "dialogue_b"]].drop_duplicates())}
        counts |= {what: len(names) for what, names in members.items()}
        for what in (what for what in members if what in before):
            counts |= {
                f"{what} new": len(members[what] - before[what]),
                f"{what} gone": len(before[what] - members[what]),
            }
        yield from ({**head, "period": period, "what": what, "estimate": n} for what, n in counts.items())
        before = members


def changes(
    rated: Annotations, labels: Sequence[Label], order: Sequence[str], options: OverTime, confidence: float
) -> Iterator[dict[str, Any]]:
    """`annotator_change`, `system_change` and `unseparated` of one corpus and group."""
    at: list[tuple[Mapping[str, Any], Boundary]] = []
    for cell, label, rows in cells(rated, labels):
        scores = rows[rows["annotator_known"]]
        unit = ranking_unit(scores)  # what systems share, else what holds several dialogues of one, else the dialogue
        unit = interval_unit(scores) if unit in ("dialogue", "pair") else unit
        scores = scores.assign(unit=scores[unit])
        for before, period in pairwise(order):
            part = scores[scores["period"].isin([before, period])]
            if rows.loc[rows["period"].isin([before, period]), "period"].nunique() == 2:
                head = {**cell, "level": METHODS[label.method].unit, "before": before, "period": period}
                late = part.assign(late=part["period"] == period)
                at.append((head, Boundary(late, options.min_items, identified=len(scores) == len(rows))))
    m = sum(boundary.n_tests for _, boundary in at)
    for of_boundary, boundary in at:
        boundary.test(options.false_alarms / max(m, 1))
        yield from _rows(of_boundary, boundary, m, confidence)


def _rows(head: Mapping[str, Any], boundary: Boundary, m: int, confidence: float) -> Iterator[dict[str, Any]]:
    family = {"family": f"{m} changes that might be named, bonferroni"}
    for kind, tested in (("annotator", boundary.annotators), ("system", boundary.systems)):
        for name, contrast in tested.items():
            row = contrast.row(confidence)
            if np.isfinite(p := row["p_value"]):
                row |= {"p_adjusted": min(1.0, m * p), "n_annotators": len(boundary.common), "resample_unit": "item"}
                yield {"statistic": f"{kind}_change", **head, kind: name, **row, **family}
    if boundary.why:
        yield {"statistic": "unseparated", **head, "estimate": len(boundary.common), "note": boundary.why}
