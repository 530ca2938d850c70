"""What workers did, those who passed quality control and those who failed it: numbers, times, opinions, texts, money.

Verdicts are a Series of booleans over (corpus, annotator), from `quality.passes` or from a list that the data carry.
`workers` in a condition is all, passed or failed. The definitions are those that were found to give the printed values
of Ji et al. 2022 (Tables 1, 2 and 11); each function says them.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import nan

import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from helpers.quality import WORKER
from helpers.resampling import bootstrap_sums, generator

GROUPS = ("all", "passed", "failed")


def verdict_of(rows: pd.DataFrame, verdicts: pd.Series) -> pd.Series:
    """The verdict of each row's worker, missing for workers without one.

    Checked by hand, through the functions below.
    """
    return pd.Series(verdicts.reindex(pd.MultiIndex.from_frame(rows[WORKER])).to_numpy(object), rows.index)


def _split(rows: pd.DataFrame, verdict: pd.Series) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """(corpus, workers, rows) for all, passed and failed; rows whose worker has no verdict count under all only."""
    for corpus, part in rows.groupby("corpus", sort=False):
        here = verdict.loc[part.index]
        yield corpus, "all", part
        yield corpus, "passed", part[(here == True).to_numpy(bool)]  # noqa: E712 missing is neither
        yield corpus, "failed", part[(here == False).to_numpy(bool)]  # noqa: E712


def work_units(frame: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """One row a whole work unit: corpus, annotator, work_unit, n_dialogues, seconds.

    Taken from the study's work units: those of the tasks in which ratings were made, also where one was left without
    any answer. Where a study has none, from the ratings.

    Checked by hand.
    """
    whole = frame[(frame["part"] == "whole") & frame["corpus"].isin(scores["corpus"])]
    whole = whole[whole["task"].isin(whole.loc[whole["work_unit"].isin(scores["work_unit"]), "task"])]
    if len(whole):
        return whole[[*WORKER, "work_unit", "n_dialogues", "seconds"]].reset_index(drop=True)
    units = scores.dropna(subset="work_unit").groupby([*WORKER, "work_unit"], sort=False)
    return units.agg(n_dialogues=("dialogue", "nunique"), seconds=("seconds", "first")).reset_index()


def planned_dialogues(scores: pd.DataFrame, control: str) -> int:
    """How many dialogues with ordinary systems a work unit holds as a rule: the most frequent number; 0 if unknown.

    Checked by hand.
    """
    ordinary = scores[(scores["system"] != control) & scores["work_unit"].notna()]
    n = ordinary.groupby(["corpus", "work_unit"])["dialogue"].nunique()
    return int(n.mode().iloc[0]) if len(n) else 0


def numbers(units: pd.DataFrame, verdicts: pd.Series, per_unit: int, confidence: float = 0.95) -> pd.DataFrame:
    """Workers, work units and dialogues before and after quality control (Ji et al. 2022, Table 1).

    units : from `work_units`. Workers without any answer, and their units, count under all. Dialogues are
    `per_unit` for each unit, as in the paper. `qc_count` rows, and `pass_rate` rows with Wilson's interval, which takes
    units of one worker as independent. Keys still apart.

    Checked by hand, and against the printed Table 1.
    """
    rows, totals = [], {}
    for corpus, workers, part in _split(units, verdict_of(units, verdicts)):
        found = {"workers": part["annotator"].nunique(), "work_units": len(part), "dialogues": per_unit * len(part)}
        totals |= {(corpus, what): n for what, n in found.items() if workers == "all"}
        for what, n in found.items():
            rows.append(row("qc_count", corpus, n, {"what": what, "workers": workers}))
            total = totals[corpus, what]
            if workers == "passed" and what != "work_units" and total:
                trials = (len(part), totals[corpus, "work_units"]) if what == "dialogues" else (n, total)
                low, high = proportion_confint(*trials, alpha=1 - confidence, method="wilson")
                ends = {"ci_low": low, "ci_high": high, "ci_kind": "wilson", "n": trials[1]}
                unit = "worker" if what == "workers" else "work unit"
                rows.append(row("pass_rate", corpus, n / total, {"of": what}) | ends | {"resample_unit": unit})
    return pd.DataFrame(rows)


def minutes(
    units: pd.DataFrame, verdicts: pd.Series, *, seed: int, n_resamples: int, confidence: float = 0.95
) -> pd.DataFrame:
    """Minutes a dialogue: seconds of a work unit over its dialogues, mean over units (Ji et al. 2022, Table 1).

    Units without an answer, or not timed, stay out. The interval resamples workers. Keys still apart.

    Checked by hand, and against the printed Table 1.
    """
    timed = units[units["seconds"].notna() & (units["n_dialogues"] > 0)]
    timed = timed.assign(minutes=timed["seconds"] / 60 / timed["n_dialogues"].astype(float))
    rows = []
    for corpus, workers, part in _split(timed, verdict_of(timed, verdicts)):
        here = row("minutes_per_dialogue", corpus, nan, {"workers": workers}) | {"n": len(part)}
        if part.empty:
            rows.append(here | {"note": "no timed work unit"})
            continue
        sums = part.groupby("annotator")["minutes"].agg(["size", "sum"]).to_numpy(float)
        rng = generator(seed, "minutes", corpus, workers)
        found = bootstrap_sums(
            sums, lambda s: s[:, 1] / s[:, 0], unit="worker", rng=rng, n_resamples=n_resamples, confidence=confidence
        )
        rows.append(here | found.row() | {"n_annotators": len(sums)})
    return pd.DataFrame(rows)


def opinions(dialogues: pd.DataFrame, facts: pd.DataFrame, key: str, verdicts: pd.Series) -> pd.DataFrame:
    """Share of each opinion on the topic (Ji et al. 2022, Table 2): `opinion_share` rows, keys still apart.

    dialogues : corpus, annotator, dialogue; those with the control count too. facts : the study's dialogue facts, of
    which the first with `key` in a dialogue counts. Empty where no dialogue has one.

    Checked by hand, and against the printed Table 2.
    """
    known = facts[facts["key"] == key].drop_duplicates(["corpus", "dialogue"])
    rows = dialogues.merge(known[["corpus", "dialogue", "value"]], on=["corpus", "dialogue"])
    out = []
    for corpus, workers, part in _split(rows, verdict_of(rows, verdicts)):
        for opinion in dict.fromkeys(rows["value"]):
            share = (part["value"] == opinion).mean() if len(part) else nan
            keys = {"opinion": opinion, "workers": workers}
            out.append(row("opinion_share", corpus, share, keys) | {"n": len(part), "level": "dialogue"})
    return pd.DataFrame(out)


def lengths(dialogues: pd.DataFrame) -> pd.DataFrame:
    """Words and characters of inputs and conversations: one row an input or conversation, as in Ji et al. 2022, A.4.

    dialogues : `schema.DIALOGUES` with corpus, dialogue, user_text, system_text. Words are separated by white space,
    which characters leave out. An `input` is a message of either side, a `conversation` all that the person wrote.
    Columns corpus, dialogue, of, words, characters.

    Checked by hand.
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

    Checked by hand, and against the printed Table 11.
    """
    rows = []
    for corpus, workers, part in _split(sizes, verdict):
        for of, here in part.groupby("of", sort=False):
            for unit in ("characters", "words"):
                keys = {"of": of, "unit": unit, "workers": workers}
                rows.append(row("median_length", corpus, here[unit].median(), keys) | {"n": len(here)})
    return pd.DataFrame(rows)


def costs(units: pd.DataFrame, verdicts: pd.Series, payment: float, n_systems: int, per_unit: int) -> pd.DataFrame:
    """What a run cost: in all, a system, and a dialogue that quality control leaves: `crowd_cost` rows, keys apart.

    payment : for one work unit. Every unit counts as paid, since failing quality control does not cost the pay (Ji et
    al. 2022, A.2); platform fees are not in it.

    Checked by hand.
    """
    rows = []
    verdict = verdict_of(units, verdicts)
    for corpus, part in units.groupby("corpus", sort=False):
        total, kept = payment * len(part), per_unit * int((verdict.loc[part.index] == True).sum())  # noqa: E712
        amounts = {"run": total, "system": total / n_systems, "dialogue": total / (per_unit * len(part))}
        amounts["passed dialogue"] = total / kept if kept else nan
        rows += [row("crowd_cost", corpus, value, {"per": per}) for per, value in amounts.items()]
    return pd.DataFrame(rows)


def row(statistic: str, corpus: str | None, estimate: float, keys: dict[str, object]) -> dict[str, object]:
    """A result row with its keys still apart. Checked by hand, through the functions that use it."""
    return {"statistic": statistic, "corpus": corpus, "estimate": float(estimate), "keys": keys}
