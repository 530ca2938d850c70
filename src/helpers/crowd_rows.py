"""Result rows about workers, by rule and by list: numbers, times, costs, opinions, lengths of texts, pairs."""

from __future__ import annotations

import pandas as pd

from helpers import crowd, quality, worker_pairs
from helpers.quality_control import Crowd, verdict_lists
from helpers.replication import finish

#: facts of a dialogue: the opinion on its topic (with the topic as text), and the task it was held in
OPINION, TASK = "topic_opinion", "hit"


def numbers(
    c: Crowd,
    units: pd.DataFrame,
    *,
    payment: float | None,
    seed: int,
    n_resamples: int,
    confidence: float,
) -> pd.DataFrame:
    """Numbers, times and costs before and after quality control, by rule and by list: result rows.

    units : from `crowd.work_units`; empty where the data do not tell work units apart.

    Checked against the printed Table 1; its parts are checked by hand in `crowd`.
    """
    if units.empty:
        return pd.DataFrame()
    per_unit, out = crowd.planned_dialogues(c.scores, c.control), []
    for name, verdicts in verdict_lists(c).items():
        out.append(finish(crowd.numbers(units, verdicts, per_unit, confidence), list=name))
        times = crowd.minutes(units, verdicts, seed=seed, n_resamples=n_resamples, confidence=confidence)
        out.append(finish(times, list=name) if len(times) else times)
    if payment:
        out.append(finish(crowd.costs(units, c.verdicts(), payment, len(c.systems), per_unit)))
    return pd.concat([f for f in out if len(f)], ignore_index=True)


def texts(c: Crowd, dialogues: pd.DataFrame, facts: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Opinions on the topic and lengths of texts, by rule and list: result rows, and the length of every text.

    The lengths leave the control out, with `passed` beside. Either is empty where the data do not have it.

    Checked against the printed Tables 2 and 11; its parts are checked by hand in `crowd`.
    """
    who = c.scores.drop_duplicates(["corpus", "dialogue"])[[*quality.WORKER, "dialogue", "system"]]
    out, sizes = [], pd.DataFrame()
    if dialogues["user_text"].notna().any():
        sizes = crowd.lengths(dialogues).merge(who[who["system"] != c.control], on=["corpus", "dialogue"])
    for name, verdicts in verdict_lists(c).items():
        shares = crowd.opinions(who, facts, OPINION, verdicts)
        medians = crowd.median_lengths(sizes, crowd.verdict_of(sizes, verdicts)) if len(sizes) else pd.DataFrame()
        out += [finish(f, list=name) for f in (shares, medians) if len(f)]
    if len(sizes):
        sizes = sizes.assign(passed=crowd.verdict_of(sizes, c.verdicts()).astype(bool))
    return (pd.concat(out, ignore_index=True) if out else pd.DataFrame()), sizes


def pairs(c: Crowd, facts: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """How two workers correlate, with the control among the systems and without, over all pairs and over pairs with
    one task; and how often two with one task chose the same topic: result rows, and every pair.

    Checked against `worker_pairs.pair_correlations`.
    """
    units = c.scores.dropna(subset="work_unit")
    means = quality.dialogue_means(units, "score") if len(units) else pd.DataFrame()
    if means.empty:
        return pd.DataFrame(), pd.DataFrame()
    given = facts.loc[facts["key"] == TASK, ["corpus", "dialogue", "value"]].rename(columns={"value": "task"})
    given = means.merge(given, on=["corpus", "dialogue"]).drop_duplicates("work_unit")
    tasks = given.set_index("work_unit")["task"] if len(given) else None
    rows, every = [], []
    for control in ("with", "without"):
        here = means if control == "with" else means[means["system"] != c.control]
        for which, task in {"all": None, "same task": tasks}.items():
            if which == "all" or task is not None:
                found = worker_pairs.pair_correlations(here, c.families, c.verdicts(), tasks=task)
                if len(found):
                    rows.append(finish(worker_pairs.pair_summary(found), control=control, pairs=which))
                    every.append(found.assign(control=control, pairs=which))
    place = units.drop_duplicates(["work_unit", "dialogue"]).copy()
    place["place"] = place.groupby("work_unit").cumcount()
    topics = worker_pairs.same_topics(place[["corpus", "work_unit", "dialogue", "place"]], facts, OPINION, TASK)
    rows += [finish(topics)] if len(topics) else []
    empty = pd.DataFrame()
    return (pd.concat(rows, ignore_index=True) if rows else empty), (pd.concat(every) if every else empty)
