"""Which systems and procedures survive a pilot?

Pilots of systems: the mean rating of each system by those who talked to it (Finch et al. 2023, section 2, Table 1).
Pilots of annotation: Krippendorff's alpha over all labels together, by kind of annotator, and of those who passed the
training (appendix D, Table 8). Screening has a module of its own.

Pilots are small. Their intervals leave out one dialogue, or one person, at a time and use Student's t. With six
dialogues that differ in difficulty this covers 94 % in simulation; resampling single marks covers half
(`tests/test_pilot.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers import agreement, rates
from helpers.alpha import alpha_intervals, alpha_of
from helpers.coincidences import patterns_long
from helpers.distributions import t_ppf
from helpers.labels import METHODS, Label
from helpers.resampling import generator
from helpers.schema import ITEM, condition
from helpers.validity import jackknife_t

BOT_PILOT, ANNOTATION_PILOT = r"bot_pilot_\d+", r"annotation_pilot_\d+"
#: name of the corpus in which all pilots of systems are put together
BOTS = "bot_pilots"


def bots(annotations: pd.DataFrame, label: str, *, least: float, confidence: float = 0.95) -> pd.DataFrame:
    """Mean rating of each system over all pilots of systems, and whether it passes.

    annotations : ratings of whole dialogues in corpora `bot_pilot_1`, …; others are ignored. label : the rating that
    counts. least : the smallest mean that passes.

    Result rows of corpus `bot_pilots`: `mean` with Student's t over dialogues (`interval=independent`, as published)
    and with people left out one at a time (`interval=annotator`), `count` of dialogues and annotators, `pilot_passed`
    (1 or 0). Empty without such ratings. Checked by hand and through `rates.published`.
    """
    rows = annotations[annotations["corpus"].str.fullmatch(BOT_PILOT) & annotations["turn"].isna()]
    rows = rows[(rows["label"] == label) & rows["dialogue_b"].isna()].assign(corpus=BOTS)
    if rows.empty:
        return pd.DataFrame(columns=["statistic"])
    means, out = rates.published(rows, confidence=confidence).assign(statistic="mean"), []
    for _, mean in means.iterrows():
        own = rows[(rows["system"] == mean["system"]) & (rows["group"] == mean["group"])]
        same = {c: mean[c] for c in ("corpus", "method", "label", "group", "system", "level", "n")}
        who = own.groupby("annotator")["score"].agg(["sum", "size"])
        left = (own["score"].sum() - who["sum"]) / (len(own) - who["size"]).replace(0, np.nan)
        people = jackknife_t(mean["estimate"], left.to_numpy(), "annotator", confidence, bounded=False).row()
        if np.ptp(own["score"]) == 0:  # no spread is no certainty
            people |= {"ci_low": np.nan, "ci_high": np.nan, "ci_kind": "not_estimable", "note": mean["note"]}
        out.append({**same, "statistic": "mean", "condition": condition(interval="annotator"), **people})
        counts = {"dialogues": own["dialogue"].nunique(), "annotators": len(who)}
        out += [
            {**same, "statistic": "count", "condition": condition(what=w), "estimate": n} for w, n in counts.items()
        ]
        passed = {"statistic": "pilot_passed", "condition": condition(least=f"{least:g}")}
        out.append({**same, **passed, "estimate": float(mean["estimate"] >= least)})
    return pd.concat([means, pd.DataFrame(out)], ignore_index=True)


def agreements(
    annotations: pd.DataFrame,
    labels: Iterable[Label],
    passed: pd.DataFrame | None = None,
    *,
    seed: int,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Alpha over all labels together in each pilot: of everybody, of each kind of annotator, of the screened.

    Parameters
    ----------
    annotations : frame
        Judgements of people in corpora `annotation_pilot_1`, …; others are ignored. The group is the kind of annotator.
    labels : iterable of Label
        Give level of measurement and task. The labels of a method must have one scale, or they cannot be put together.
    passed : frame, optional
        Who passed the training: columns corpus, annotator, task. Where a pilot has any, alpha is given again for the
        annotations made in tasks that their annotator had passed (`scope=screened`).

    Returns
    -------
    Result rows, without a label: `alpha` for each way of telling what is independent (`resample`: `dialogue` and
    `annotator`, leaving out one at a time; `item`, a BCa bootstrap of turns and labels), `count` of dialogues,
    annotators and labels, and `alpha_gain`. A group of `all` puts kinds together; kinds with one annotator have no row.

    Notes
    -----
    Finch et al. 2023, Table 8. Checked against the `krippendorff` package, with and without a dialogue.
    """
    pilots = annotations[annotations["corpus"].str.fullmatch(ANNOTATION_PILOT)]
    pilots = pilots[(pilots["annotator_kind"] == "human") & pilots["annotator_known"]]
    known = _with_pilot_labels(pilots, labels)
    options = {"seed": seed, "n_resamples": n_resamples, "confidence": confidence}
    out = []
    for cell, rows in _parts(pilots):
        whole = _Pooled(cell, rows, known)
        out += whole.rows(None, **options)
        screened = _screened(rows, known, passed)
        if screened is not None and len(set(screened["annotator"])) > 1:
            some = _Pooled(cell, screened, known)
            out += some.rows("screened", **options)
            out.append(_gain(whole, some, confidence))
    return pd.DataFrame(out) if out else pd.DataFrame(columns=["statistic"])


def _with_pilot_labels(pilots: pd.DataFrame, labels: Iterable[Label]) -> dict[tuple[str, str], Label]:
    """Labels by method and id. One that only a pilot had is like the others of its method, and belongs to no task."""
    known = {(label.method, label.id): label for label in labels}
    for method, label in pilots[["method", "label"]].drop_duplicates().itertuples(index=False, name=None):
        alike = {(x.scale, x.level): x for x in known.values() if x.method == method}
        if (method, label) not in known:
            if len(alike) != 1:
                raise ValueError(f"labels: declare {label!r} of method {method!r}, which only a pilot has")
            known[method, label] = replace(next(iter(alike.values())), id=label, title=label, task="")
    return known


def _parts(pilots: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Each pilot and method: all annotators, then each kind, where there are several, with two people or more."""
    for (corpus, method), rows in pilots.groupby(["corpus", "method"], sort=True):
        groups = [g for g, part in rows.groupby("group", sort=False) if len(set(part["annotator"])) > 1]
        if len(set(rows["group"])) > 1:
            yield {"corpus": corpus, "group": "all", "method": method}, rows.assign(group="all")
        for group in groups:
            yield {"corpus": corpus, "group": group, "method": method}, rows[rows["group"] == group]


def _screened(rows: pd.DataFrame, labels: Mapping, passed: pd.DataFrame | None) -> pd.DataFrame | None:
    """The annotations made in tasks that their annotator had passed; None where the pilot had no training."""
    if passed is None or not len(here := passed[passed["corpus"] == rows["corpus"].iloc[0]]):
        return None
    able = set(zip(here["annotator"], here["task"], strict=True))
    task = [labels[key].task for key in zip(rows["method"], rows["label"], strict=True)]
    return rows[[pair in able for pair in zip(rows["annotator"], task, strict=True)]]


class _Pooled:
    """The judgements of one part of a pilot as items, whatever their label."""

    def __init__(self, cell: dict[str, str], rows: pd.DataFrame, labels: Mapping):
        used = {(label.scale, label.level) for label in (labels[cell["method"], n] for n in rows["label"].unique())}
        if len(used) > 1:
            raise ValueError(
                f"{cell['corpus']}, {cell['method']}: labels of one scale can be put together, found {used}"
            )
        (_, self.level), self.cell, self.labels = used.pop(), cell, labels
        self.frame = agreement.first_annotations(rows, first=None)
        several = self.frame.groupby("item")["annotator"].transform("nunique") > 1
        self.judged = self.frame[several]
        self.estimate = self.alpha()

    def on(self, frame: pd.DataFrame) -> _Pooled:
        """The same on the items that `frame` has."""
        items = pd.MultiIndex.from_frame(frame[ITEM])
        return _Pooled(self.cell, self.judged[pd.MultiIndex.from_frame(self.judged[ITEM]).isin(items)], self.labels)

    def alpha(self, column: str | None = None, without: str | None = None) -> float:
        """Alpha, also without the judgements that have a value in a column."""
        frame = self.judged if column is None else self.judged[self.judged[column] != without]
        return alpha_of(self._patterns(frame), self.level, mirrored=self.mirrored).estimate if len(frame) else np.nan

    @property
    def mirrored(self) -> bool:
        return METHODS[self.cell["method"]].unit == "pair"

    def _patterns(self, frame: pd.DataFrame):
        item = pd.factorize(frame["item"])[0]
        values = np.unique(np.r_[frame["score"], -frame["score"]]) if self.mirrored else None
        return patterns_long(item, frame["score"].to_numpy(float), item.max() + 1, values)

    def left_out(self, column: str) -> np.ndarray:
        return np.array([self.alpha(column, value) for value in sorted(set(self.judged[column]))])

    def rows(self, scope: str | None, *, seed: int, n_resamples: int, confidence: float) -> list[dict]:
        head = {**self.cell, "level": METHODS[self.cell["method"]].unit}
        keys = {"measurement": self.level, "raters": "all", "kind": "human", "scope": scope}
        out = []
        for unit in ("dialogue", "annotator"):
            found = jackknife_t(self.estimate, self.left_out(unit), unit, confidence, bounded=False).row()
            out.append({**head, "statistic": "alpha", "condition": condition(resample=unit, **keys), **found})
        if len(self.judged):
            rng = generator(seed, "pilot", *self.cell.values(), str(scope))
            size = {"n_resamples": n_resamples, "confidence": confidence, "mirrored": self.mirrored}
            found = alpha_intervals(self._patterns(self.judged), self.level, unit="item", rng=rng, **size)[
                "alpha"
            ].row()
            out.append({**head, "statistic": "alpha", "condition": condition(resample="item", **keys), **found})
        people = {"n": self.judged["item"].nunique(), "n_annotators": self.judged["annotator"].nunique()}
        counts = {"dialogues": "dialogue", "annotators": "annotator", "labels": "label"}
        for what, column in counts.items():
            named = {"statistic": "count", "condition": condition(what=what, kind="human", scope=scope)}
            out.append({**head, **named, "estimate": self.frame[column].nunique()})
        return [{**row, **people} for row in out]


def _gain(whole: _Pooled, some: _Pooled, confidence: float) -> dict:
    """Alpha of the screened less that of everybody on the same items, leaving out one dialogue of both at a time."""
    same = whole.on(some.judged)
    left = some.left_out("dialogue") - same.left_out("dialogue")
    found = jackknife_t(some.estimate - same.estimate, left, "dialogue", confidence, bounded=False)
    keys = condition(against="everybody on the same items", resample="dialogue", scope="screened")
    n = some.judged[ITEM].drop_duplicates().shape[0]
    return {**whole.cell, "statistic": "alpha_gain", "condition": keys, "n": n, **found.row()}


def gains(results: pd.DataFrame, confidence: float = 0.95) -> pd.DataFrame:
    """Alpha of each pilot less that of the one before, of the same group: `alpha_gain` rows.

    results : rows of `agreements`. Dialogues of two pilots are others: the variances of leaving out dialogues add up,
    with Welch's degrees of freedom. Checked against `scipy.stats.ttest_ind_from_stats`.
    """
    rows = results[results["statistic"] == "alpha"] if len(results) else results
    if rows.empty:
        return pd.DataFrame(columns=["statistic"])
    rows = rows[(rows["resample_unit"] == "dialogue") & ~rows["condition"].str.contains("scope", regex=False)]
    out = []
    for (group, method), part in rows.groupby(["group", "method"], sort=False):
        part = part.sort_values("corpus", key=lambda c: c.str.extract(r"(\d+)$")[0].astype(int))
        for (_, before), (_, after) in zip(part.iloc[:-1].iterrows(), part.iloc[1:].iterrows(), strict=True):
            keys = condition(against=before["corpus"], resample="dialogue")
            head = {"corpus": after["corpus"], "group": group, "method": method, "level": after["level"]}
            out.append({**head, "statistic": "alpha_gain", "condition": keys, **_difference(before, after, confidence)})
    return pd.DataFrame(out) if out else pd.DataFrame(columns=["statistic"])


def _difference(before: pd.Series, after: pd.Series, confidence: float) -> dict:
    value = after["estimate"] - before["estimate"]
    found = {"estimate": value, "resample_unit": "dialogue"}
    clusters = np.array([before["n_clusters"], after["n_clusters"]], dtype=float)
    half = np.array([row["ci_high"] - row["estimate"] for row in (before, after)], dtype=float)
    if not np.isfinite(half).all() or not half.any():
        return found | {"ci_kind": "not_estimable", "note": "too few dialogues in one of the pilots"}
    variance = (half / t_ppf((1 + confidence) / 2, clusters - 1)) ** 2
    df = variance.sum() ** 2 / np.sum(variance**2 / (clusters - 1))  # Welch 1947, Biometrika 34, 28-35
    wide = t_ppf((1 + confidence) / 2, df) * np.sqrt(variance.sum())
    return found | {
        "ci_low": value - wide,
        "ci_high": value + wide,
        "ci_kind": "welch",
        "n_clusters": int(clusters.sum()),
    }


def least_mean(given: float | None, label: str, labels: Iterable[Label]) -> float:
    """The smallest mean with which a system passes: as given, else the middle of the label's scale.

    Finch et al. 2023 print no number: all systems above the middle of the scale passed, and none below (Table 1).
    Raises ValueError where neither is known.

    Checked by hand.
    """
    scales = [x.scale for x in labels if x.id == label and METHODS[x.method].unit == "dialogue"]
    if given is None and not scales:
        raise ValueError(f"pilot.least: expected a number, as no label {label!r} rates whole dialogues")
    return float(np.mean(scales[0])) if given is None else given
