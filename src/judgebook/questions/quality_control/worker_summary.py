"""What workers did, those who passed quality control and those who failed it, and how they agree in pairs.

Every worker rates conversations of their own, so that two workers never rate the same dialogue; what they share is the
systems (Ji et al. 2022, section 4.1, Figure 2).

`verdict` names the column of `workers` (see `crowd`) that separates them: the rule's, or that of a list. The
definitions are those that give the printed values of Ji et al. 2022 (Tables 1, 2 and 11).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from judgebook.questions.quality_control.worker_tests import WORKER, Crowd, dialogue_means, verdict_of
from judgebook.statistics.intervals import Sampling
from judgebook.statistics.resampling import replicate_sums
from judgebook.study.schema import DialogueFacts, Dialogues

#: fact of a dialogue: the opinion on its topic, with the topic as text
OPINION = "topic_opinion"
#: fact of a dialogue: what its work unit was paid
PAYMENT = "payment"
#: fact of a dialogue: the task it was held in
TASK = "hit"


def by_verdict(
    rows: pd.DataFrame, workers: pd.DataFrame, verdict: str = "passed"
) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """(corpus and workers, rows) for all, passed and failed; rows whose worker has no verdict only count in all."""
    passed = verdict_of(rows, workers, verdict)
    for corpus, part in rows.groupby("corpus", sort=False):
        for name, verdict_is in {"all": None, "passed": True, "failed": False}.items():
            selected = part if verdict_is is None else part[(passed.loc[part.index] == verdict_is).to_numpy(bool)]
            yield {"corpus": corpus, "workers": name}, selected


def work_units(frame: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """One row per whole work unit: corpus, annotator, work_unit, n_dialogues, seconds.

    From the study's work units: those of the tasks in which ratings were made, including units without any answer.
    From the ratings where a study has none.
    """
    whole = frame[(frame["part"] == "whole") & frame["corpus"].isin(scores["corpus"])]
    whole = whole[whole["task"].isin(whole.loc[whole["work_unit"].isin(scores["work_unit"]), "task"])]
    if len(whole):
        return whole[[*WORKER, "work_unit", "n_dialogues", "seconds"]].reset_index(drop=True)
    units = scores.dropna(subset="work_unit").groupby([*WORKER, "work_unit"], sort=False)
    return units.agg(n_dialogues=("dialogue", "nunique"), seconds=("seconds", "first")).reset_index()


def planned_dialogues(scores: pd.DataFrame, control: str) -> int:
    """How many dialogues with ordinary systems a work unit usually holds: the most frequent number; 0 if unknown."""
    ordinary = scores[(scores["system"] != control) & scores["work_unit"].notna()]
    n = ordinary.groupby(["corpus", "work_unit"])["dialogue"].nunique()
    return int(n.mode().iloc[0]) if len(n) else 0


def designs(scores: pd.DataFrame, control: str, facts: DialogueFacts) -> Iterator[dict[str, Any]]:
    """What a work unit holds and pays, over all runs: `qc_count` of systems and `crowd_cost` per work unit.

    Both are the most frequent value. The payment is a fact of the data (`PAYMENT`), not of the YAML.
    """
    units = scores.dropna(subset="work_unit").drop_duplicates(["corpus", "work_unit", "dialogue"])
    for what, part in {"systems": units, "control systems": units[units["system"] == control]}.items():
        n = part.groupby(["corpus", "work_unit"]).size()
        if len(n):
            yield {"statistic": "qc_count", "what": f"{what} of a work unit", "estimate": float(n.mode().iloc[0])}
    if ordinary := planned_dialogues(scores, control):
        row = {"statistic": "qc_count", "what": "ordinary systems of a work unit"}
        yield row | {"estimate": float(ordinary)}
    paid = pd.to_numeric(facts.loc[facts["key"] == PAYMENT, "value"])
    if len(paid):
        yield {"statistic": "crowd_cost", "per": "work unit", "estimate": float(paid.mode().iloc[0])}


def numbers(
    units: pd.DataFrame, workers: pd.DataFrame, per_unit: int, *, verdict: str = "passed", confidence: float = 0.95
) -> Iterator[dict[str, Any]]:
    """Workers, work units and dialogues before and after quality control (Ji et al. 2022, Table 1).

    Workers without any answer, and their units, count in all. Dialogues are `per_unit` for each unit, as in the paper.
    Yields `qc_count`, and `pass_rate` with Wilson's interval, which treats units of one worker as independent.
    """
    total: dict[str, int] = {}
    for keys, part in by_verdict(units, workers, verdict):
        counts = {"workers": part["annotator"].nunique(), "work_units": len(part), "dialogues": per_unit * len(part)}
        total = counts if keys["workers"] == "all" else total
        for what, n in counts.items():
            yield {"statistic": "qc_count", **keys, "what": what, "estimate": n}
        for of in ("workers", "dialogues") if keys["workers"] == "passed" else ():
            unit = "work_units" if of == "dialogues" else of
            if total[of]:
                low, high = proportion_confint(counts[unit], total[unit], alpha=1 - confidence, method="wilson")
                row = {"statistic": "pass_rate", "corpus": keys["corpus"], "of": of, "estimate": counts[of] / total[of]}
                row |= {"ci_low": low, "ci_high": high, "ci_kind": "wilson", "n": total[unit]}
                yield row | {"resample_unit": unit.removesuffix("s").replace("_", " ")}


def minutes(units: pd.DataFrame, workers: pd.DataFrame, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """`minutes_per_dialogue`: seconds of a work unit over its dialogues, mean over units (Ji et al. 2022, Table 1).

    Units without an answer, or not timed, are left out. The interval resamples workers.
    """
    timed = units[units["seconds"].notna() & (units["n_dialogues"] > 0)]
    timed = timed.assign(minutes=timed["seconds"] / 60 / timed["n_dialogues"].astype(float))
    for keys, part in by_verdict(timed, workers):
        row = {"statistic": "minutes_per_dialogue", **keys, "n": len(part)}
        if part.empty:
            yield row | {"estimate": nan, "note": "no timed work unit"}
            continue
        sums = part.groupby("annotator")["minutes"].agg(["size", "sum"]).to_numpy(float)
        rng, n = sampling.stream("minutes", *keys.values()), sampling.n_resamples
        replicates = replicate_sums(sums, lambda s: s[:, 1] / s[:, 0], unit="worker", rng=rng, n_resamples=n)
        yield row | replicates.interval(sampling.confidence).row() | {"n_annotators": len(sums)}


def opinions(dialogues: pd.DataFrame, facts: DialogueFacts, workers: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """`opinion_share`: share of each opinion on the topic (Ji et al. 2022, Table 2).

    dialogues : corpus, annotator, dialogue; those with the control count, too. facts : the study's dialogue facts, of
    which the first opinion of a dialogue counts.
    """
    stated = facts[facts["key"] == OPINION].drop_duplicates(["corpus", "dialogue"])
    rows = dialogues.merge(stated[["corpus", "dialogue", "value"]], on=["corpus", "dialogue"])
    for keys, part in by_verdict(rows, workers):
        for opinion in rows["value"].unique():
            share = (part["value"] == opinion).mean() if len(part) else nan
            row = {"statistic": "opinion_share", "level": "dialogue", "opinion": opinion, "n": len(part)}
            yield keys | row | {"estimate": share}


def lengths(dialogues: Dialogues) -> pd.DataFrame:
    """Words and characters of inputs and conversations (Ji et al. 2022, A.4): corpus, dialogue, of, words, characters.

    dialogues : DataFrame
        corpus, dialogue, user_text, system_text.

    An `input` is a message of the person, a `message` one of either side, a `conversation` all that the person wrote.
    Words are separated by white space, which is not counted as characters. The paper's caption says that inputs are
    "provided by workers", but its values are those of messages of either side.
    """
    keys = ["corpus", "dialogue"]
    sides = dialogues.melt(keys, ["user_text", "system_text"], var_name="side", value_name="text").dropna(subset="text")
    pieces = sides["text"].str.split()
    sized = sides[[*keys, "side"]].assign(words=pieces.str.len(), characters=pieces.str.join("").str.len())
    inputs, messages = sized[sized["side"] == "user_text"], sized.assign(of="message")
    whole = inputs.groupby(keys, sort=False)[["words", "characters"]].sum().reset_index()
    parts = [inputs.assign(of="input"), messages, whole.assign(of="conversation")]
    return pd.concat([part.drop(columns="side", errors="ignore") for part in parts], ignore_index=True)


def median_lengths(sizes: pd.DataFrame, workers: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """`median_length` (Ji et al. 2022, Table 11). sizes : from `lengths`, with annotator."""
    for keys, part in by_verdict(sizes, workers):
        for of, of_part in part.groupby("of", sort=False):
            for unit in ("characters", "words"):
                row = {"statistic": "median_length", "of": of, "unit": unit, "n": len(of_part)}
                yield keys | row | {"estimate": of_part[unit].median()}


def costs(
    units: pd.DataFrame, workers: pd.DataFrame, payment: float, n_systems: int, per_unit: int
) -> Iterator[dict[str, Any]]:
    """`crowd_cost` of a run: in total, per system, and per dialogue before and after quality control.

    payment : for one work unit. Every unit counts as paid, since workers who failed quality control were paid, too (Ji
    et al. 2022, A.2); platform fees are not included.
    """
    counts: dict[str, dict[str, int]] = {}
    for keys, part in by_verdict(units, workers):
        counts.setdefault(keys["corpus"], {})[keys["workers"]] = len(part)
    for corpus, n in counts.items():
        total, of_passed = payment * n["all"], per_unit * n["passed"]
        amounts = {"run": total, "system": total / n_systems, "dialogue": total / (per_unit * n["all"])}
        amounts["passed dialogue"] = total / of_passed if of_passed else nan
        for per, value in amounts.items():
            yield {"statistic": "crowd_cost", "corpus": corpus, "per": per, "estimate": value}


def pairs(crowd: Crowd, facts: DialogueFacts) -> pd.DataFrame:
    """Every pair of work units of different workers: `pair_correlations` with columns `control` (whether the control is
    among the systems: with, without) and `pairs` (all, same task)."""
    means = dialogue_means(crowd.scores.dropna(subset="work_unit"), "score")
    task_of = facts.loc[facts["key"] == TASK, ["corpus", "dialogue", "value"]].merge(means, on=["corpus", "dialogue"])
    tasks = task_of.drop_duplicates("work_unit").set_index("work_unit")["value_x"]
    out = [pd.DataFrame(columns=["corpus", "workers", "r", "n", "control", "pairs"])]
    for control in ("with", "without") if len(means) else ():
        counted = means if control == "with" else means[means["system"] != crowd.control]
        for which, task in {"all": None, "same task": tasks}.items():
            if which == "all" or len(tasks):
                correlated = pair_correlations(counted, crowd.options.families, crowd.workers, tasks=task)
                out.append(correlated.assign(control=control, pairs=which))
    return pd.concat([f for f in out if len(f)] or out, ignore_index=True)


def pair_correlations(
    dialogues: pd.DataFrame,
    families: Mapping[str, Iterable[str]],
    workers: pd.DataFrame,
    *,
    tasks: pd.Series | None = None,
) -> pd.DataFrame:
    """Pearson correlation of each pair of work units of different workers, over the systems both rated.

    Parameters
    ----------
    dialogues : DataFrame
        From `worker_tests.dialogue_means`, of raw scores: one value per dialogue.
    families : mapping
        Systems of a family (say, an architecture with and without persona) count as one.
    workers : DataFrame
        corpus, annotator, passed.
    tasks : Series, optional
        Work unit -> task; only units with the same task are then compared.

    Returns
    -------
    DataFrame: corpus, workers (passed or failed: both of them; mixed), r, n (systems in common, at least three). Pairs
    in which one side is constant have no r and are left out.

    Notes
    -----
    The paper says "the Pearson correlation of ratings" of "pairs of workers who assessed the same hit" (section 4.1)
    and no more. Over the mean rating of a dialogue, the control among the systems, and all pairs of workers (every task
    shows the same model types), the peak is where the paper has it.
    """
    family = {system: name for name, systems in families.items() for system in systems}
    rows = dialogues.assign(kind=dialogues["system"].map(lambda s: family.get(s, s)))
    out = []
    for corpus, part in rows.groupby("corpus", sort=False):
        wide = part.pivot_table(index=["annotator", "work_unit"], columns="kind", values="value", sort=False)
        who, unit = (wide.index.get_level_values(i).to_numpy(object) for i in (0, 1))
        passed = verdict_of(pd.DataFrame({"corpus": corpus, "annotator": who}), workers).to_numpy(bool)
        i, j = np.triu_indices(len(wide), 1)
        keep = who[i] != who[j]
        if tasks is not None:
            task = tasks.reindex(unit).to_numpy(object)
            keep &= task[i] == task[j]
        i, j = i[keep], j[keep]
        r, n = _correlations(wide.to_numpy(float), i, j)
        verdicts = np.where(passed[i] & passed[j], "passed", np.where(passed[i] | passed[j], "mixed", "failed"))
        correlated = pd.DataFrame({"corpus": corpus, "workers": verdicts, "r": r, "n": n})
        out.append(correlated[np.isfinite(r)])
    return pd.concat(out, ignore_index=True)


def _correlations(x: np.ndarray, i: np.ndarray, j: np.ndarray, least: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Pearson r of rows i and j over the columns both have, and their number; NaN with fewer than `least`."""
    a, b = x[i], x[j]
    common = np.isfinite(a) & np.isfinite(b)
    n = common.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (np.where(common, v, 0) for v in (a, b))
        a, b = (np.where(common, v - (v.sum(axis=1) / n)[:, None], 0) for v in (a, b))
        aa, bb = (a**2).sum(axis=1), (b**2).sum(axis=1)
        r = np.where((n >= least) & (aa > 1e-9) & (bb > 1e-9), (a * b).sum(axis=1) / np.sqrt(aa * bb), nan)
    return np.clip(r, -1, 1), n


def pair_summary(pairs: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """`worker_pair_r`: median of r, share below zero, and the edges of the fullest bin of width 0.1.

    pairs : from `pairs`. Of each run, and of all runs together (corpus missing). n counts pairs.
    """
    bins, keys = np.arange(-10, 11) / 10, ["corpus", "control", "pairs", "workers"]
    runs = pairs.groupby(["control", "pairs"])["corpus"].transform("nunique")
    for frame in (pairs, pairs[runs > 1].assign(corpus=None)):
        for values, part in frame.groupby(keys, sort=False, dropna=False):
            row = {"statistic": "worker_pair_r", **dict(zip(keys, values, strict=True)), "n": len(part)}
            peak = bins[np.histogram(part["r"], bins)[0].argmax()]
            of = {"median": part["r"].median(), "below_zero": (part["r"] < 0).mean()}
            of |= {"peak": peak, "peak_end": peak + 0.1}
            yield from (row | {"of": name, "estimate": value} for name, value in of.items())


def same_topics(scores: pd.DataFrame, facts: DialogueFacts) -> Iterator[dict[str, Any]]:
    """`same_topic_share`: how often two workers with the same task chose the same topic (Ji et al. 2022, section 4.1).

    scores : corpus, work_unit, dialogue, in the order of the source. Two dialogues are compared when their units share
    a task and they have the same place in them; topics are compared without case and outer spaces. n counts the pairs
    of dialogues.
    """
    key = ["corpus", "dialogue"]
    rows = scores.dropna(subset="work_unit").drop_duplicates(["work_unit", "dialogue"])[["work_unit", *key]]
    rows["place"] = rows.groupby("work_unit").cumcount()
    for fact, column, name in ((OPINION, "text", "topic"), (TASK, "value", "task")):
        topics = facts[facts["key"] == fact].drop_duplicates(key).rename(columns={column: name})
        rows = rows.merge(topics[[*key, name]].dropna(), on=key)
    rows["topic"] = rows["topic"].str.strip().str.casefold()
    compared = rows.merge(rows, on=["corpus", "task", "place"])
    compared = compared[compared["work_unit_x"] < compared["work_unit_y"]]
    for corpus, part in compared.groupby("corpus", sort=False):
        share = (part["topic_x"] == part["topic_y"]).mean()
        row = {"statistic": "same_topic_share", "corpus": corpus, "level": "dialogue"}
        yield row | {"estimate": share, "n": len(part)}
