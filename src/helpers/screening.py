"""Who passes the training of a task? Attempts at training dialogues, judged by a rule, as rates of each workforce.

Finch et al. 2023, section 5: an annotator may work on a task after marking fewer than so many turns of its third
training dialogue wrongly. Figure 9 shows the share that passed, by task and workforce.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from helpers import rates
from helpers.resampling import bootstrap_sums, generator
from helpers.schema import condition

PERSON = ["corpus", "group", "annotator", "task"]
ALL_TASKS = "all"


def places(attempts: pd.DataFrame) -> pd.Series:
    """Which training dialogue of its task each attempt is about, from 1.

    The number at the end of its id where the ids of a task end in different numbers, as on the ABC-Eval platform; else
    the order in which the source has them.

    Checked by hand.
    """
    out = pd.Series(0, index=attempts.index)
    for _, part in attempts.groupby(["corpus", "group", "task"], sort=False):
        ids = part["dialogue"].drop_duplicates()
        number = ids.str.extract(r"(\d+)$")[0]
        told = number.notna().all() and not number.astype(float).duplicated().any()
        place = number.astype(int) if told else pd.Series(np.arange(1, len(ids) + 1), ids.index)
        out[part.index] = part["dialogue"].map(dict(zip(ids, place, strict=True)))
    return out


def verdicts(attempts: pd.DataFrame, *, deciding: int, below: Mapping[str, int], other: int) -> pd.DataFrame:
    """Whether each person passed each task that they tried.

    Parameters
    ----------
    attempts : frame
        Columns of `schema.SCREENING`.
    deciding : int
        Which training dialogue decides.
    below, other : dict, int
        Fewer mistakes than `below[task]` pass, fewer than `other` where the task is not named.

    Returns
    -------
    One row a corpus, group, annotator and task: `finished` (the mistakes of some attempt at the deciding dialogue are
    known), `passed` (in any attempt), `at_once` (in the first), `recorded` (what the platform noted in any attempt;
    missing where it noted nothing).

    Checked by hand.
    """
    limit = attempts["task"].map(lambda task: below.get(task, other))
    known = (places(attempts) == deciding) & attempts["mistakes"].notna()
    passed = known & (attempts["mistakes"] < limit).fillna(False).astype(bool)
    tries = attempts.assign(finished=known, passed=passed, at_once=passed & (attempts["attempt"] == 0))
    out = tries.groupby(PERSON, sort=False)[["finished", "passed", "at_once"]].any()
    noted = attempts.dropna(subset="passed").groupby(PERSON)["passed"].any()
    return out.assign(recorded=noted.reindex(out.index)).reset_index()


#: what a rate counts, and among whom -> column of `verdicts` that is counted, column that says who is in
RATES = {
    ("rule", "tried", "any"): ("passed", None),
    ("rule", "tried", "first"): ("at_once", None),
    ("rule", "finished", "any"): ("passed", "finished"),
    ("platform", "tried", "any"): ("recorded", None),
}


def pass_rates(found: pd.DataFrame, *, seed: int, n_resamples: int = 10_000, confidence: float = 0.95) -> pd.DataFrame:
    """Share of the people who tried a task that passed it: `screening_pass_rate` rows by workforce and task.

    found : from `verdicts`. Wilson's interval, as people of one task are independent; over all tasks (`task=all`)
    people are resampled, because each tried several. The condition says what counts (`by` the paper's `rule`, or what
    the `platform` recorded), among whom (`of` those who `tried` or `finished` the deciding dialogue) and in which
    `tries` (`any`, or the `first`). What the platform recorded counts in any dialogue, as in the authors' code
    (sfillwo/DialogueEval-AnnotatorImpact, `utilities/analysis.py`, commit 6908236).

    Checked by hand and through `rates.wilson`.
    """
    out = []
    for (corpus, group), people in found.groupby(["corpus", "group"], sort=False):
        for (by, of, tries), (column, among) in RATES.items():
            rows = (people if among is None else people[people[among]]).dropna(subset=column)
            head = {"corpus": corpus, "group": group, "statistic": "screening_pass_rate", "level": "annotator"}
            for task, part in rows.groupby("task", sort=False):
                passed, n = int(part[column].sum()), len(part)
                low, high = rates.wilson(passed, n, confidence)
                ends = {"estimate": passed / n, "ci_low": low, "ci_high": high, "ci_kind": "wilson", "n": n}
                keys = condition(task=task, by=by, of=of, tries=tries)
                out.append({**head, **ends, "condition": keys, "resample_unit": "annotator", "n_annotators": n})
            if len(rows):
                keys = condition(task=ALL_TASKS, by=by, of=of, tries=tries)
                rng = generator(seed, "screening", corpus, group, keys)
                ends = _over_people(rows, column, rng, n_resamples, confidence)
                size = {"n": len(rows), "n_annotators": rows["annotator"].nunique(), "seed": seed}
                out.append({**head, **ends, **size, "condition": keys})
    return pd.DataFrame(out) if out else pd.DataFrame(columns=["statistic"])


def _over_people(rows: pd.DataFrame, column: str, rng, n_resamples: int, confidence: float) -> dict:
    """The share over all tasks, with people resampled; a bound where few passed, or few did not."""
    who = rows.assign(x=rows[column].astype(float)).groupby("annotator")["x"].agg(["size", "sum"]).to_numpy(float)
    n, s = who.T
    found = rates.rare_interval(n, s, s, "annotator", confidence)
    if found is None:
        size = {"n_resamples": n_resamples, "confidence": confidence}
        found = bootstrap_sums(who, lambda t: t[:, 1] / t[:, 0], unit="annotator", rng=rng, **size).row()
    return found
