"""What workers did, those who passed quality control and those who failed it: numbers, times, opinions, texts, money.

Verdicts are a Series of booleans over (corpus, annotator), from `quality.passes` or from a list that the data carry.
`workers` in a condition is all, passed or failed. The definitions are those that were found to give the printed values
of Ji et al. 2022 (Tables 1, 2 and 11, Figure 2); each function says them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import nan

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from helpers.quality import WORKER
from helpers.resampling import bootstrap_sums, generator

GROUPS = ("all", "passed", "failed")


def verdict_of(rows: pd.DataFrame, verdicts: pd.Series) -> pd.Series:
    """The verdict of each row's worker, missing for workers without one."""
    return pd.Series(verdicts.reindex(pd.MultiIndex.from_frame(rows[WORKER])).to_numpy(object), rows.index)


def split(rows: pd.DataFrame, verdict: pd.Series) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """(corpus, workers, rows) for all, passed and failed; rows whose worker has no verdict count under all only."""
    for corpus, part in rows.groupby("corpus", sort=False):
        here = verdict.loc[part.index]
        yield corpus, "all", part
        yield corpus, "passed", part[(here == True).to_numpy(bool)]  # noqa: E712 missing is neither
        yield corpus, "failed", part[(here == False).to_numpy(bool)]  # noqa: E712


def work_units(frame: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """One row a whole work unit: corpus, annotator, work_unit, n_dialogues, seconds.

    Taken from the study's work units, those without any answer among them; where a study has none, from the ratings.
    """
    whole = frame[(frame["part"] == "whole") & frame["annotator"].isin(scores["annotator"])]
    if len(whole):
        return whole[[*WORKER, "work_unit", "n_dialogues", "seconds"]].reset_index(drop=True)
    units = scores.dropna(subset="work_unit").groupby([*WORKER, "work_unit"], sort=False)
    return units.agg(n_dialogues=("dialogue", "nunique"), seconds=("seconds", "first")).reset_index()


def planned_dialogues(scores: pd.DataFrame, control: str) -> int:
    """How many dialogues with ordinary systems a work unit holds as a rule: the most frequent number; 0 if unknown."""
    ordinary = scores[(scores["system"] != control) & scores["work_unit"].notna()]
    n = ordinary.groupby(["corpus", "work_unit"])["dialogue"].nunique()
    return int(n.mode().iloc[0]) if len(n) else 0


def numbers(units: pd.DataFrame, verdicts: pd.Series, per_unit: int, confidence: float = 0.95) -> pd.DataFrame:
    """Workers, work units and dialogues before and after quality control (Ji et al. 2022, Table 1).

    units : from `work_units`. Workers without any answer, and their units, count under all. Dialogues are
    `per_unit` for each unit, as in the paper. `qc_count` rows, and `pass_rate` rows with Wilson's interval, which takes
    units of one worker as independent. Keys still apart.
    """
    rows, totals = [], {}
    for corpus, workers, part in split(units, verdict_of(units, verdicts)):
        found = {"workers": part["annotator"].nunique(), "work_units": len(part), "dialogues": per_unit * len(part)}
        totals |= {(corpus, what): n for what, n in found.items() if workers == "all"}
        for what, n in found.items():
            rows.append(_row("qc_count", corpus, n, {"what": what, "workers": workers}))
            total = totals[corpus, what]
            if workers == "passed" and what != "work_units" and total:
                trials = (len(part), totals[corpus, "work_units"]) if what == "dialogues" else (n, total)
                low, high = proportion_confint(*trials, alpha=1 - confidence, method="wilson")
                ends = {"ci_low": low, "ci_high": high, "ci_kind": "wilson", "n": trials[1]}
                unit = "worker" if what == "workers" else "work unit"
                rows.append(_row("pass_rate", corpus, n / total, {"of": what}) | ends | {"resample_unit": unit})
    return pd.DataFrame(rows)


def minutes(
    units: pd.DataFrame, verdicts: pd.Series, *, seed: int, n_resamples: int, confidence: float = 0.95
) -> pd.DataFrame:
    """Minutes a dialogue: seconds of a work unit over its dialogues, mean over units (Ji et al. 2022, Table 1).

    Units without an answer, or not timed, stay out. The interval resamples workers. Keys still apart.
    """
    timed = units[units["seconds"].notna() & (units["n_dialogues"] > 0)]
    timed = timed.assign(minutes=timed["seconds"] / 60 / timed["n_dialogues"].astype(float))
    rows = []
    for corpus, workers, part in split(timed, verdict_of(timed, verdicts)):
        row = _row("minutes_per_dialogue", corpus, nan, {"workers": workers}) | {"n": len(part)}
        if part.empty:
            rows.append(row | {"note": "no timed work unit"})
            continue
        sums = part.groupby("annotator")["minutes"].agg(["size", "sum"]).to_numpy(float)
        rng = generator(seed, "minutes", corpus, workers)
        found = bootstrap_sums(
            sums, lambda s: s[:, 1] / s[:, 0], unit="worker", rng=rng, n_resamples=n_resamples, confidence=confidence
        )
        rows.append(row | found.row() | {"n_annotators": len(sums)})
    return pd.DataFrame(rows)


def opinions(dialogues: pd.DataFrame, facts: pd.DataFrame, key: str, verdicts: pd.Series) -> pd.DataFrame:
    """Share of each opinion on the topic (Ji et al. 2022, Table 2): `opinion_share` rows, keys still apart.

    dialogues : corpus, annotator, dialogue; those with the control count too. facts : the study's dialogue facts, of
    which the first with `key` in a dialogue counts. Empty where no dialogue has one.
    """
    known = facts[facts["key"] == key].drop_duplicates(["corpus", "dialogue"])
    rows = dialogues.merge(known[["corpus", "dialogue", "value"]], on=["corpus", "dialogue"])
    out = []
    for corpus, workers, part in split(rows, verdict_of(rows, verdicts)):
        for opinion in dict.fromkeys(rows["value"]):
            share = (part["value"] == opinion).mean() if len(part) else nan
            keys = {"opinion": opinion, "workers": workers}
            out.append(_row("opinion_share", corpus, share, keys) | {"n": len(part), "level": "dialogue"})
    return pd.DataFrame(out)


def same_topics(dialogues: pd.DataFrame, facts: pd.DataFrame, topic: str, task: str) -> pd.DataFrame:
    """How often two workers given the same task chose the same topic (Ji et al. 2022, section 4.1).

    dialogues : corpus, work_unit, dialogue, place (of the dialogue within its unit). Two dialogues are compared when
    their units share the fact `task` and they stand in the same place; topics are compared without case and outer
    spaces. `same_topic_share` rows; n counts the pairs of dialogues.
    """
    text = (
        facts[facts["key"] == topic].drop_duplicates(["corpus", "dialogue"]).set_index(["corpus", "dialogue"])["text"]
    )
    tasks = (
        facts[facts["key"] == task].drop_duplicates(["corpus", "dialogue"]).set_index(["corpus", "dialogue"])["value"]
    )
    at = pd.MultiIndex.from_frame(dialogues[["corpus", "dialogue"]])
    topics = text.reindex(at).str.strip().str.casefold().to_numpy()
    rows = dialogues.assign(task=tasks.reindex(at).to_numpy(), topic=topics).dropna(subset=["task", "topic"])
    pairs = rows.merge(rows, on=["corpus", "task", "place"])
    pairs = pairs[pairs["work_unit_x"] < pairs["work_unit_y"]]
    same = (pairs["topic_x"] == pairs["topic_y"]).groupby(pairs["corpus"], sort=False).agg(["mean", "size"])
    return pd.DataFrame(
        [
            _row("same_topic_share", c, r["mean"], {}) | {"n": int(r["size"]), "level": "dialogue"}
            for c, r in same.iterrows()
        ]
    )


def lengths(dialogues: pd.DataFrame) -> pd.DataFrame:
    """Words and characters of inputs and conversations: one row an input or conversation, as in Ji et al. 2022, A.4.

    dialogues : `schema.DIALOGUES` with corpus, dialogue, user_text, system_text. Words are separated by white space,
    which characters leave out. An `input` is a message of either side, a `conversation` all that the person wrote.
    Columns corpus, dialogue, of, words, characters.
    """
    keys = ["corpus", "dialogue"]
    sides = dialogues.melt(keys, ["user_text", "system_text"], var_name="side", value_name="text").dropna(subset="text")
    pieces = sides["text"].str.split()
    sized = sides[[*keys, "side"]].assign(words=pieces.str.len(), characters=pieces.str.join("").str.len())
    user = sized[sized["side"] == "user_text"].groupby(keys, sort=False)[["words", "characters"]].sum().reset_index()
    return pd.concat([sized.drop(columns="side").assign(of="input"), user.assign(of="conversation")], ignore_index=True)


def median_lengths(sizes: pd.DataFrame, verdict: pd.Series) -> pd.DataFrame:
    """Median lengths (Ji et al. 2022, Table 11): `median_length` rows, keys still apart.

    sizes : from `lengths`; verdict : of each of its rows.
    """
    rows = []
    for corpus, workers, part in split(sizes, verdict):
        for of, here in part.groupby("of", sort=False):
            for unit in ("characters", "words"):
                keys = {"of": of, "unit": unit, "workers": workers}
                rows.append(_row("median_length", corpus, here[unit].median(), keys) | {"n": len(here)})
    return pd.DataFrame(rows)


def costs(units: pd.DataFrame, verdicts: pd.Series, payment: float, n_systems: int, per_unit: int) -> pd.DataFrame:
    """What a run cost: in all, a system, and a dialogue that quality control leaves: `crowd_cost` rows, keys apart.

    payment : for one work unit. Every unit counts as paid, since failing quality control does not cost the pay (Ji et
    al. 2022, A.2); platform fees are not in it.
    """
    rows = []
    verdict = verdict_of(units, verdicts)
    for corpus, part in units.groupby("corpus", sort=False):
        total, kept = payment * len(part), per_unit * int((verdict.loc[part.index] == True).sum())  # noqa: E712
        amounts = {"run": total, "system": total / n_systems, "dialogue": total / (per_unit * len(part))}
        amounts["passed dialogue"] = total / kept if kept else nan
        rows += [_row("crowd_cost", corpus, value, {"per": per}) for per, value in amounts.items()]
    return pd.DataFrame(rows)


def pair_correlations(
    dialogues: pd.DataFrame,
    families: Mapping[str, Iterable[str]],
    verdicts: pd.Series,
    *,
    tasks: pd.Series | None = None,
) -> pd.DataFrame:
    """Pearson correlation of every two work units of different workers, over the systems both rated.

    Parameters
    ----------
    dialogues : from `quality.dialogue_means`, of raw scores: one value a dialogue.
    families : systems of a family (say, an architecture with and without persona) count as one.
    tasks : work unit -> task; only units with the same task are then compared.

    Returns
    -------
    corpus, workers (passed or failed: both of them; mixed), r, n (systems in common, at least three). Pairs in which
    one side is constant have no r and stay out.

    Notes
    -----
    The paper says "the Pearson correlation of ratings" of "pairs of workers who assessed the same hit" (section 4.1)
    and no more. Over the mean rating of a dialogue, the control among the systems, and all pairs of workers (every task
    shows the same model types), the peak lies where the paper has it. Checked against `numpy.corrcoef`.
    """
    family = {system: name for name, systems in families.items() for system in systems}
    rows = dialogues.assign(kind=dialogues["system"].map(lambda s: family.get(s, s)))
    out = []
    for corpus, part in rows.groupby("corpus", sort=False):
        wide = part.pivot_table(index=["annotator", "work_unit"], columns="kind", values="value", sort=False)
        who, unit = (wide.index.get_level_values(i).to_numpy(object) for i in (0, 1))
        passed = verdicts.reindex(pd.MultiIndex.from_arrays([[corpus] * len(who), who])).to_numpy(bool)
        i, j = np.triu_indices(len(wide), 1)
        keep = who[i] != who[j]
        if tasks is not None:
            task = tasks.reindex(unit).to_numpy(object)
            keep &= task[i] == task[j]
        i, j = i[keep], j[keep]
        r, n = _correlations(wide.to_numpy(float), i, j)
        both = np.where(passed[i] & passed[j], "passed", np.where(passed[i] | passed[j], "mixed", "failed"))
        found = pd.DataFrame({"corpus": corpus, "workers": both, "r": r, "n": n})
        out.append(found[np.isfinite(r)])
    return pd.concat(out, ignore_index=True)


def _correlations(x: np.ndarray, i: np.ndarray, j: np.ndarray, least: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Pearson r of rows i and j over the columns both have, and their number; NaN with fewer than `least`."""
    a, b = x[i], x[j]
    both = np.isfinite(a) & np.isfinite(b)
    n = both.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (np.where(both, v, 0) for v in (a, b))
        a, b = (np.where(both, v - (v.sum(axis=1) / n)[:, None], 0) for v in (a, b))
        aa, bb = (a**2).sum(axis=1), (b**2).sum(axis=1)
        r = np.where((n >= least) & (aa > 1e-9) & (bb > 1e-9), (a * b).sum(axis=1) / np.sqrt(aa * bb), nan)
    return np.clip(r, -1, 1), n


def pair_summary(pairs: pd.DataFrame, bins: np.ndarray | None = None) -> pd.DataFrame:
    """Median, share below zero and the fullest of bins of width 0.1 (its lower edge) of r: `worker_pair_r` rows.

    pairs : from `pair_correlations`; both runs also taken together (corpus missing). Keys still apart; n counts pairs.
    """
    bins = np.arange(-10, 11) / 10 if bins is None else bins
    parts = [(c, w, p) for (c, w), p in pairs.groupby(["corpus", "workers"], sort=False)]
    if len(set(pairs["corpus"])) > 1:
        parts += [(None, w, p) for w, p in pairs.groupby("workers", sort=False)]
    rows = []
    for corpus, workers, part in parts:
        count = np.histogram(part["r"], bins)[0]
        values = {"median": part["r"].median(), "below_zero": (part["r"] < 0).mean(), "peak": bins[count.argmax()]}
        for of, value in values.items():
            rows.append(_row("worker_pair_r", corpus, value, {"of": of, "workers": workers}) | {"n": len(part)})
    return pd.DataFrame(rows)


def _row(statistic: str, corpus: str | None, estimate: float, keys: dict[str, object]) -> dict[str, object]:
    return {"statistic": statistic, "corpus": corpus, "estimate": float(estimate), "keys": keys}
