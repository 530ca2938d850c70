"""Can a model stand in for an annotator? Language models and classifiers held against people who judged the same items.

Three questions, from the weakest to the one that matters. Does the model mark what people mark (`detection`)? Does it
agree with one person as another person does (`agreement_with_people`)? Would the rates of systems, their differences
and their order be the same (`replacement`)? Beside each stands what changes when one person replaces another: the least
that any replacement can be expected to change. The alternative annotator test is in `alternative_annotator`.

Everything resamples dialogues, as turns of one dialogue are not independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import nan

import numpy as np
import pandas as pd
from scipy import stats

from helpers.coincidences import patterns, terms
from helpers.labels import METHODS, Label
from helpers.resampling import MIN_MINORITY, Interval, bootstrap_sums, generator
from helpers.schema import condition

#: what a model is compared with: the other annotator
SECOND = "another person"


@dataclass(frozen=True)
class Case:
    """One label as judged by people and one model, on the items that all of them judged.

    human : (n, people) scores, judge : (n,); dialogue : (n,) numbers from 0; system : (dialogues,) names. People are
    columns: known annotators, or positions where these are all that is known.
    """

    key: dict[str, str]
    label: Label
    people: list[str]
    human: np.ndarray
    judge: np.ndarray
    dialogue: np.ndarray
    system: np.ndarray

    @property
    def head(self) -> dict[str, str]:
        """What identifies its result rows. Checked by hand."""
        return self.key | {"level": METHODS[self.label.method].unit}

    @property
    def n_dialogues(self) -> int:
        """How many dialogues were judged. Checked by hand."""
        return len(self.system)

    @property
    def names(self) -> list[str]:
        """The systems, in order. Checked by hand."""
        return sorted(set(self.system.tolist()))

    def by_dialogue(self, values: np.ndarray) -> np.ndarray:
        """(dialogues, q) sums of (n, q) values. Checked by counting."""
        out = np.zeros((self.n_dialogues, values.shape[1]))
        np.add.at(out, self.dialogue, values)
        return out


def cases(annotations: pd.DataFrame, labels: Iterable[Label]) -> Iterator[Case]:
    """Every corpus, method, label and model with items that the model and all of at least two people judged.

    annotations : comparisons are left out. Where people take turns (known annotators, each with some of the items),
    their ratings of an item stand in source order, as positions. Checked by hand.
    """
    known = {(label.method, label.id): label for label in labels}
    marks = annotations[annotations["dialogue_b"].isna()].assign(turn=lambda f: f["turn"].fillna(-1))
    for (corpus, method, name), rows in marks.groupby(["corpus", "method", "label"], sort=False):
        item = ["dialogue", "turn"]
        people = rows[rows["annotator_kind"] == "human"].sort_values("source_row", kind="stable")
        people = people.assign(place=people.groupby(item, sort=False).cumcount())
        wide = people.set_index([*item, "place"])["score"].unstack()  # noqa: PD010
        systems = rows.drop_duplicates("dialogue").set_index("dialogue")["system"]
        for judge, theirs in rows[rows["annotator_kind"] != "human"].groupby("annotator", sort=False):
            both = wide.join(theirs.set_index(item)["score"].rename("judge"), how="inner")
            full = both.dropna(axis=1, how="all").dropna()
            if len(full) == 0 or full.shape[1] < 3:
                continue
            dialogue, names = pd.factorize(full.index.get_level_values("dialogue"))
            key = {"corpus": corpus, "method": method, "label": name, "metric": judge}
            values = full.drop(columns="judge").to_numpy(float)
            places = [f"position {i + 1}" for i in range(values.shape[1])]
            system = systems.loc[names].to_numpy()
            yield Case(key, known[method, name], places, values, full["judge"].to_numpy(float), dialogue, system)


def detection(case: Case, *, seed: int, n_resamples: int = 10_000, confidence: float = 0.95) -> pd.DataFrame:
    """For a label of two values: what of the model's marks people confirm, and what of people's marks it finds.

    Result rows `precision`, `recall`, `positive_agreement` (their harmonic mean, F1) and `negative_agreement`, with
    `against=people`: sums over the people, each taken as the truth once; and the last two for people against each other
    (`against=each other`, no metric), for whom precision and recall are the same on average. Dialogues are resampled.
    With fewer than 20 marks of either side there is no interval.

    Checked by counting, and against `agreement.alpha_table` for two people.
    """
    if not case.label.binary:
        return pd.DataFrame(columns=["statistic"])
    j, h, m = case.judge[:, None], case.human, case.human.shape[1]
    hits, wrong = (h * j).sum(axis=1), m * j[:, 0]
    rows = np.stack([hits, wrong, h.sum(axis=1), ((1 - h) * (1 - j)).sum(axis=1), np.full(len(h), m)], axis=1)
    marks = min(j.sum(), h.sum() / m)
    pair = np.array(list(combinations(range(m), 2)))
    a, b = h[:, pair[:, 0]], h[:, pair[:, 1]]
    among = np.stack([2 * (a * b).sum(axis=1), (a + b).sum(axis=1), (2 - a - b).sum(axis=1)], axis=1)
    among = np.concatenate([among, 2 * ((1 - a) * (1 - b)).sum(axis=1, keepdims=True)], axis=1)

    def measures(s: np.ndarray) -> np.ndarray:
        hit, judged, found, neither, n = s[:, :5].T
        both, either, none, nothing = s[:, 5:].T
        negative = 2 * neither / (2 * n - judged - found)
        return np.stack(
            [hit / judged, hit / found, 2 * hit / (judged + found), negative, both / either, nothing / none], axis=1
        )

    rng = generator(seed, "detection", *case.key.values())
    options = {"unit": "dialogue", "rng": rng, "n_resamples": n_resamples, "confidence": confidence}
    found = bootstrap_sums(case.by_dialogue(np.concatenate([rows, among], axis=1)), measures, **options)
    names = ["precision", "recall", "positive_agreement", "negative_agreement"] * 2
    out = []
    for i, (name, interval) in enumerate(zip([*names[:4], *names[2:4]], found, strict=True)):
        interval = interval if marks >= MIN_MINORITY else _few(interval, int(marks))
        head = case.head if i < 4 else case.head | {"metric": None}
        keys = condition(against="people" if i < 4 else "each other")
        out.append(head | {"statistic": name, "condition": keys} | interval.row() | {"n": len(h), "n_annotators": m})
    return pd.DataFrame(out)


def _few(interval: Interval, marks: int) -> Interval:
    why = f"{marks} marks of the model or of a person: fewer than {MIN_MINORITY}, no bootstrap interval"
    return Interval(interval.estimate, nan, nan, "not_estimable", interval.unit, interval.n_units, note=why)


def agreement_with_people(
    case: Case, *, seed: int, n_resamples: int = 10_000, confidence: float = 0.95
) -> pd.DataFrame:
    """Alpha of the model with each person, beside alpha of the people, and the difference.

    Result rows `judge_alpha` with `pair=` each person in turn, `pair=mean` (plain mean over people), `pair=people` (all
    people together) and `pair=difference` (mean less people): below 0 the model agrees with a person less well than
    people do. Dialogues are resampled, the same in all. Alpha at the label's level of measurement.

    Checked against `agreement.alpha_table` on the same pairs.
    """
    m, domain = case.human.shape[1], np.unique(np.r_[case.human.ravel(), case.judge])
    domain = np.array([0.0, 1.0]) if case.label.binary else domain
    parts, blocks, start = [], [], 0
    for columns in [np.stack([case.judge, h], axis=1) for h in case.human.T] + [case.human]:
        found = patterns(columns, domain)
        t = terms(found.counts, found.values, case.label.level)
        parts.append(case.by_dialogue(t.rows[found.index]))
        blocks.append((t, slice(start, start + t.rows.shape[1]), found.n_minority))
        start += t.rows.shape[1]

    def alphas(sums: np.ndarray) -> np.ndarray:
        each = np.stack([t.measures(sums[:, at])["alpha"] for t, at, _ in blocks], axis=1)
        mean = each[:, :m].mean(axis=1)
        return np.column_stack([each, mean, mean - each[:, m]])

    rng = generator(seed, "judge_alpha", *case.key.values())
    options = {"unit": "dialogue", "rng": rng, "n_resamples": n_resamples, "confidence": confidence}
    intervals = bootstrap_sums(np.concatenate(parts, axis=1), alphas, **options)
    fewest = min(marks for *_, marks in blocks)
    out = []
    for pair, interval in zip([*case.people, "people", "mean", "difference"], intervals, strict=True):
        if case.label.binary and fewest < MIN_MINORITY:
            interval = _few(interval, fewest)
        keys = condition(pair=pair, measurement=case.label.level)
        row = case.head | {"statistic": "judge_alpha", "condition": keys}
        out.append(row | interval.row() | {"n": len(case.judge), "n_annotators": m})
    return pd.DataFrame(out)


def replacement(case: Case, *, seed: int, n_resamples: int = 10_000, confidence: float = 0.95) -> pd.DataFrame:
    """What becomes of the systems' rates (means) when the model judges instead of people.

    Result rows, dialogues resampled within systems:
    `judge_rate` of each system by people (mean over them) and by the model (`raters`);
    `rate_change` of each system: model less people (`by=model`), and one person less another (`by=another person`, the
    first two positions);
    `contrast_change` of each two systems: how much their difference changes, likewise: a model that marks more of
    everything moves rates and leaves differences, and the order, as they are.

    Checked by counting.
    """
    systems, h, j = case.names, case.human, case.judge
    place = np.searchsorted(systems, case.system)[case.dialogue]
    columns = np.stack([np.ones(len(j)), j, h.mean(axis=1), h[:, 0], h[:, 1]], axis=1)
    spread = np.zeros((len(j), len(systems), 5))
    spread[np.arange(len(j)), place] = columns
    pairs = np.array(list(combinations(range(len(systems)), 2))).reshape(-1, 2)

    def values(sums: np.ndarray) -> np.ndarray:
        s = sums.reshape(len(sums), len(systems), 5)
        rate = s[:, :, 1:] / s[:, :, :1]
        model, people, first, second = np.moveaxis(rate, 2, 0)
        change, other = model - people, first - second
        contrasts = [c[:, pairs[:, 0]] - c[:, pairs[:, 1]] for c in (change, other, model, people)]
        return np.concatenate([model, people, change, other, *contrasts], axis=1)

    rng = generator(seed, "replacement", *case.key.values())
    options = {"unit": "dialogue", "rng": rng, "n_resamples": n_resamples, "confidence": confidence}
    found = bootstrap_sums(case.by_dialogue(spread.reshape(len(j), -1)), values, strata=case.system, **options)
    judge = case.key["metric"]
    one = [("judge_rate", {"raters": "model"}), ("judge_rate", {"raters": "people"})]
    one += [("rate_change", {"by": "model"}), ("rate_change", {"by": SECOND})]
    two = [("contrast_change", {"by": "model"}), ("contrast_change", {"by": SECOND})]
    two += [("judge_contrast", {"raters": "model"}), ("judge_contrast", {"raters": "people"})]
    rows = [(name, keys, {"system": s}) for name, keys in one for s in systems]
    rows += [(name, keys, {"system": systems[a], "system_b": systems[b]}) for name, keys in two for a, b in pairs]
    sizes = {s: int((place == i).sum()) for i, s in enumerate(systems)}
    out = []
    for (name, keys, who), interval in zip(rows, found, strict=True):
        row = case.head | who | {"statistic": name, "condition": condition(**keys), "metric": judge}
        out.append(row | interval.row() | {"n": sum(sizes[s] for s in who.values())})
    return pd.DataFrame(out)


def order(found: pd.DataFrame) -> pd.DataFrame:
    """From the rows of `replacement`: does the order of systems stay?

    Result rows `judge_rank_correlation` (Kendall's tau-b of the systems' rates, model against people; missing where a
    side is constant) and `judge_conclusions`, counts of pairs of systems by what people and model say, a difference
    being one whose interval excludes 0: `same` sign, `opposite`, `people only`, `model only`, `neither`. Checked by
    hand.
    """
    out, keys = [], ["corpus", "method", "label", "metric"]
    for key, rows in found.groupby(keys, sort=False):
        head = dict(zip(keys, key, strict=True)) | {"level": "system"}
        rates = rows[rows["statistic"] == "judge_rate"]
        wide = rates.pivot_table(index="system", columns="condition", values="estimate", sort=False)
        model, people = wide["raters=model"], wide["raters=people"]
        varied = len(wide) > 1 and np.ptp(model) > 0 and np.ptp(people) > 0
        tau = float(stats.kendalltau(model, people).statistic) if varied else nan
        note = None if varied else "fewer than two systems, or rates that are all equal"
        row = {"statistic": "judge_rank_correlation", "condition": "coefficient=kendall", "estimate": tau, "note": note}
        out.append(head | row | {"n": len(wide)})
        contrast = rows[rows["statistic"] == "judge_contrast"]
        if contrast.empty:
            continue
        signs = [_sign(contrast[contrast["condition"] == f"raters={who}"]) for who in ("people", "model")]
        pairs = pd.DataFrame(signs, index=["people", "model"]).T
        verdict = [_verdict(p, m) for p, m in zip(pairs["people"], pairs["model"], strict=True)]
        for name in ("same", "opposite", "people only", "model only", "neither"):
            row = {"statistic": "judge_conclusions", "condition": condition(verdict=name)}
            out.append(head | row | {"estimate": float(verdict.count(name)), "n": len(verdict)})
    return pd.DataFrame(out) if out else pd.DataFrame(columns=["statistic"])


def _sign(contrasts: pd.DataFrame) -> pd.Series:
    rows = contrasts.set_index(["system", "system_b"])
    return (rows["ci_low"] > 0).astype(int) - (rows["ci_high"] < 0).astype(int)


def _verdict(people: int, model: int) -> str:
    if people and model:
        return "same" if people == model else "opposite"
    return "people only" if people else "model only" if model else "neither"


def evaluate(
    annotations: pd.DataFrame,
    labels: Iterable[Label],
    *,
    seed: int,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """All of the above for every case of `cases`: result rows, those about people alone once a label.

    Checked by counting, against `agreement.alpha_table`, and against alphas printed by S. E. Finch et al. 2023.
    """
    labels, parts = list(labels), []
    options = {"seed": seed, "n_resamples": n_resamples, "confidence": confidence}
    for case in cases(annotations, labels):
        parts += [part(case, **options) for part in (detection, agreement_with_people, replacement)]
    if not parts:
        return pd.DataFrame(columns=["statistic"])
    found = pd.concat([part for part in parts if len(part)], ignore_index=True)
    found = found[~(found["metric"].isna() & found.duplicated(["corpus", "method", "label", "statistic", "condition"]))]
    return pd.concat([found, order(found)], ignore_index=True)
