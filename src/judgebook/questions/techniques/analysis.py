"""Which way of asking people distinguishes two systems, and after how many hours? What notebook 11 defends.

Intervals resample whole conversations, hours are those to a stated power for shrunken differences, with the type I
error rate of the test. What Smith et al. (2022) published is computed in cells of the notebook.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.techniques import power, texts, turns
from judgebook.questions.techniques.power import Cost, Distribution
from judgebook.questions.techniques.question import Mixture, Techniques
from judgebook.questions.techniques.sittings import QUESTION, TechniqueData, by_conversation, sides, stream
from judgebook.questions.techniques.turns import Paired, Turned
from judgebook.statistics.intervals import Sampling
from judgebook.study.results import Results, collect

#: hours beyond which an interval is called open
OPEN = 1_000.0


@dataclass(frozen=True)
class Contest:
    """Two systems under one technique and label.

    head : columns of its result rows. a, b : values of conversations, b None where the two are compared directly.
    cost : of a conversation or comparison.
    """

    head: dict[str, Any]
    a: Distribution
    b: Distribution | None
    cost: Cost

    @property
    def n(self) -> int:
        """Conversations or comparisons judged."""
        return self.a.n + (self.b.n if self.b else 0)


def analyse(
    data: TechniqueData,
    turned: Turned,
    pairings: Sequence[Paired],
    options: Techniques,
    *,
    run_seed: int,
    sampling: Sampling,
) -> Results:
    """What notebook 11 defends about judgements; checks of messages and printed rates are added by the notebook.

    Each part needs only what it is about: `data` may be without techniques, `turned` without marks or ratings.

    Parameters
    ----------
    data : TechniqueData
    turned : Turned
    pairings : sequence of Paired
        Marks of turns with ratings of the same conversations.
    options : Techniques
        Averages, and the plan of the simulated studies.
    run_seed : int
        Of simulated studies.
    sampling : Sampling
        Of intervals.
    """
    timed = collect(seconds(data))
    contested = shrunken(contests(data, timed["technique_seconds"], options.average))
    return collect(
        turns.whose_rows(pairings),
        turns.correlations(turned.marks, turned.ratings, sampling),
        timed,
        chain.from_iterable(hours(contest, options, run_seed=run_seed, sampling=sampling) for contest in contested),
        texts.reasons(data, sampling),
    )


def seconds(data: TechniqueData) -> Iterator[dict[str, Any]]:
    """Mean seconds of a conversation or comparison (`of` is `unit`; without those left open), and of the training that
    goes with it (`training`: minutes of training times people, over their sittings): rows of `technique_seconds`.

    A work unit is counted once, whatever labels it holds.
    """
    for technique, spec in data.techniques.items():
        for (corpus, group), rows in data.sittings[technique].groupby(["corpus", "group"], sort=False):
            one = rows.drop_duplicates(["conversation", "annotator"])
            timed, level = one["seconds"].dropna(), "pair" if data.compares(technique) else "dialogue"
            head = {"corpus": corpus, "group": group, "method": spec.method, "level": level}
            head |= {"technique": technique, "n_annotators": one["annotator"].nunique()}
            people = rows.groupby("label").apply(lambda r: r["annotator"].nunique() / len(r), include_groups=False)
            means = {"unit": timed.mean(), "training": 60 * spec.onboarding_minutes * people.mean()}
            note = None if len(timed) else "not timed"
            for of, mean in means.items():
                row = head | {"statistic": "technique_seconds", "of": of, "estimate": mean, "n": len(timed)}
                yield row | {"note": note}


def contests(data: TechniqueData, timed: pd.DataFrame, averages: Mapping[str, Mixture]) -> Iterator[Contest]:
    """Every pair of systems under every technique that has seconds, and under averages of techniques.

    timed : frame of `technique_seconds`. averages : of single-system techniques on the same conversations (Smith et al.
    2022, Appendix G); values are first rescaled from their technique's scale to 0 to 1, and the time is that of the
    first technique.
    """
    spent = timed.groupby(["corpus", "group", "technique"])["estimate"].sum(skipna=False).dropna()
    for technique in (t for t, spec in data.techniques.items() if spec.timed):
        for head, rows in data.cells(technique):
            place = head["corpus"], head["group"], technique
            if place in spent.index:
                yield from _contests(data, head, rows, spent[place])
    for name, mix in averages.items():
        if not all(t in data.techniques and not data.compares(t) for t in mix.techniques):
            continue
        for key, rows in _average(data, mix).groupby(QUESTION, sort=False):
            place = key[0], key[1], mix.techniques[0]
            for pair in data.pairs:
                a, b = (power.sample(rows.loc[rows["system"] == s, "value"]) for s in pair)
                if place in spent.index and min(a.n, b.n) > 1:
                    head = dict(zip(QUESTION, key, strict=True)) | {"system": pair[0], "system_b": pair[1]}
                    head |= {"level": "dialogue", "technique": name}
                    yield Contest(head, a, b, Cost(spent[place], 2))


def _contests(data: TechniqueData, cell: dict[str, str], rows: pd.DataFrame, each: float) -> Iterator[Contest]:
    technique = cell["technique"]
    spec, two = data.techniques[technique], data.compares(technique)
    for a, b in data.pairs:
        parts = sides(rows, (a, b))
        if any(len(p) < 2 for p in parts):
            continue
        units = [by_conversation(p) for p in parts]
        first, *second = (power.sample(u["value"]) for u in units)  # one sample where the two are compared directly
        often = float(np.mean([u["sittings"].mean() for u in units]))  # how many people judge one conversation
        cost = Cost(each * often, 1 if two else 2, 60 * spec.conversation_minutes)
        head = {k: cell[k] for k in (*QUESTION, "method")} | {"system": a, "system_b": b}
        yield Contest(
            head | {"level": cell["level"], "technique": technique}, first, second[0] if second else None, cost
        )


def _average(data: TechniqueData, mix: Mixture) -> pd.DataFrame:
    """Mean value of each conversation that all techniques of an average have, on a scale of 0 to 1."""
    key = [*QUESTION, "system", "conversation", "annotator"]
    parts = []
    for technique, share in zip(mix.techniques, np.array(mix.weights) / np.sum(mix.weights), strict=True):
        low, high = data.scales[technique]
        parts.append(share * (data.sittings[technique].set_index(key)["value"] - low) / (high - low))
    return pd.concat(parts, axis=1, join="inner").sum(axis=1).rename("value").reset_index()


def shrunken(contested: Iterable[Contest]) -> Iterator[Contest]:
    """Contests with the differences of conversations shrunken, by those of the same technique, corpus and group."""
    kinds: dict[tuple[str, ...], list[Contest]] = {}
    for contest in contested:
        kinds.setdefault(tuple(contest.head[c] for c in ("corpus", "group", "technique")), []).append(contest)
    for members in kinds.values():
        factors = power.shrinkage([(c.a, c.b) for c in members])
        for contest, factor in zip(members, factors, strict=True):
            a, b = power.shrunken(contest.a, contest.b, float(factor))
            yield replace(contest, a=a, b=b)


def hours(contest: Contest, plan: Techniques, *, run_seed: int, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Hours to the stated power for one contest, which should be `shrunken`, and type I errors by size.

    run_seed : of simulated studies, and of the resamples of `sampling`, whose seed is not used.

    Yields rows of `technique_false_positive` by size, and `hours_to_power`.
    """
    names = ("hours", *contest.head.values())
    head = contest.head | {"alpha": plan.alpha}
    rng = stream(run_seed, *names, "power")
    curve = power.power_curve(contest.a, contest.b, power.SIZES, runs=plan.n_runs, alpha=plan.alpha, rng=rng)
    spent = [float(f"{contest.cost.hours(n):.4g}") for n in curve["conversations"]]
    errors = curve["statistic"] == "technique_false_positive"
    for row in curve.assign(hours=spent, n=plan.n_runs, ci_kind="exact_bound")[errors].to_dict("records"):
        yield head | row
    reached = curve.loc[~errors, "estimate"]
    size = power.size_for(power.SIZES, reached, plan.power)
    ends = power.size_interval(
        contest.a,
        contest.b,
        plan.power,
        plan.alpha,
        rng=stream(run_seed, *names, "interval"),
        n_resamples=sampling.n_resamples,
        confidence=sampling.confidence,
    )
    yield head | {"power": plan.power} | _to_power(contest, plan, size, ends)


def _to_power(contest: Contest, plan: Techniques, size: float, ends: tuple[float, float]) -> dict[str, object]:
    needed, low, high = (contest.cost.hours(n) if np.isfinite(n) else np.nan for n in (size, *ends))
    most = f"{power.SIZES[-1]} conversations ({contest.cost.hours(power.SIZES[-1]):,.0f} hours)"
    notes = [f"not reached with {most}"] if np.isnan(needed) else []
    notes += ["reached with the fewest conversations that were tried"] if size == power.SIZES[0] else []
    if np.isnan(high) or high > OPEN:
        high = np.nan
        notes.append(f"the interval has no upper end below {OPEN:,.0f} hours")
    row = {"statistic": "hours_to_power", "estimate": needed, "ci_low": low, "ci_high": high, "ci_kind": "percentile"}
    return row | {"resample_unit": "conversation", "n": contest.n, "note": "; ".join(notes) or None}
