"""Who passes before they may judge: the training for a task, or the quiz before the first conversation.

Training: attempts at training dialogues are judged by a rule. Finch et al. 2023, section 5: an annotator may work on a
task after marking fewer than a given number of turns wrongly in its third training dialogue. Figure 9 shows the share
that passed, by task and workforce.

Quiz (Smith et al. 2022, Appendix A): before they may talk, people choose between two answers at each turn of a
conversation in which one answer is clearly better. They must choose it every time, and have two tries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from judgebook.display.text import listing
from judgebook.questions.collection.question import Pilot, Quiz
from judgebook.questions.performance import rate_intervals
from judgebook.statistics.intervals import Interval, Sampling
from judgebook.statistics.resampling import bootstrap_sums
from judgebook.study.schema import Annotations

PERSON = ["corpus", "group", "annotator", "task"]
ALL_TASKS = "all"


def places(attempts: pd.DataFrame) -> pd.Series:
    """The number (from 1) of the training dialogue of its task that each attempt refers to.

    The number at the end of its id where the ids of a task end in different numbers, as on the ABC-Eval platform; else
    the order in which the source has them.
    """
    out = pd.Series(0, index=attempts.index)
    for _, part in attempts.groupby(["corpus", "group", "task"], sort=False):
        ids = part["dialogue"].drop_duplicates()
        number = ids.str.extract(r"(\d+)$")[0]
        numbered = number.notna().all() and not number.astype(float).duplicated().any()
        place = number.astype(int) if numbered else pd.Series(np.arange(1, len(ids) + 1), ids.index)
        out[part.index] = part["dialogue"].map(dict(zip(ids, place, strict=True)))
    return out


def verdicts(attempts: pd.DataFrame, rule: Pilot) -> pd.DataFrame:
    """Whether each person passed each task that they tried.

    Parameters
    ----------
    attempts : frame
        Columns of `schema.SCREENING`.
    rule : Pilot
        Which training dialogue decides (`all`: the mistakes of all dialogues of an attempt together), and with fewer
        than how many mistakes people pass.

    Returns
    -------
    One row a corpus, group, annotator and task: `finished` (the mistakes of some attempt at the deciding dialogue are
    known), `passed` (in any attempt), `at_once` (in the first), `recorded` (what the platform noted in any attempt;
    missing where it noted nothing).
    """
    if rule.deciding_dialogue == "all":
        attempts, decides = _together(attempts), True
    else:
        decides = places(attempts) == rule.deciding_dialogue
    limit = attempts["task"].map(lambda task: rule.mistakes_below.get(task, rule.other_tasks_below))
    counted = decides & attempts["mistakes"].notna()
    passed = counted & (attempts["mistakes"] < limit).fillna(False).astype(bool)
    tries = attempts.assign(finished=counted, passed=passed, at_once=passed & (attempts["attempt"] == 0))
    out = tries.groupby(PERSON, sort=False)[["finished", "passed", "at_once"]].any()
    noted = attempts.dropna(subset="passed").groupby(PERSON)["passed"].any()
    return out.assign(recorded=noted.reindex(out.index)).reset_index()


def in_words(rule: Pilot) -> str:
    """`fewer than 3 turns marked wrongly in training dialogue 3 (2 in antisocial)`."""
    fewer = listing(f"{n} in {task.replace('_', ' ')}" for task, n in rule.mistakes_below.items())
    deciding = rule.deciding_dialogue
    place = "all training dialogues" if deciding == "all" else f"training dialogue {deciding}"
    return f"fewer than {rule.other_tasks_below} turns marked wrongly in {place}" + (f" ({fewer})" if fewer else "")


def _together(attempts: pd.DataFrame) -> pd.DataFrame:
    """One row per person, task and attempt: mistakes added up, missing where any dialogue's are; passed only if all."""
    by = attempts.groupby([*PERSON, "attempt"], sort=False)
    mistakes = by["mistakes"].apply(lambda part: part.sum() if part.notna().all() else pd.NA)
    passed = by["passed"].apply(lambda part: part.all() if part.notna().all() else pd.NA)
    return pd.DataFrame({"mistakes": mistakes, "passed": passed}).reset_index()


#: what a rate counts, and among whom -> column of `verdicts` that is counted, column that says who is in
RATES = {
    ("rule", "tried", "any"): ("passed", None),
    ("rule", "tried", "first"): ("at_once", None),
    ("rule", "finished", "any"): ("passed", "finished"),
    ("platform", "tried", "any"): ("recorded", None),
}


def each_way(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Who passed, in each way of counting: a row a person, task and way, with `passed`.

    verdicts : from `verdicts`. Columns say what counts (`by` the paper's `rule`, or what the `platform` recorded),
    among whom (`of` those who `tried` or `finished` the deciding dialogue) and in which `tries` (`any`, or the
    `first`). What the platform recorded counts in any dialogue, as in the authors' code
    (sfillwo/DialogueEval-AnnotatorImpact, `utilities/analysis.py`, commit 6908236).
    """
    parts = []
    for (by, of, tries), (column, among) in RATES.items():
        rows = (verdicts if among is None else verdicts[verdicts[among]]).dropna(subset=column)
        parts.append(rows[PERSON].assign(by=by, of=of, tries=tries, passed=rows[column].astype(bool)))
    return pd.concat(parts, ignore_index=True)


def pass_rates(tried: pd.DataFrame, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Share passed of all tasks that people tried: `screening_pass_rate` rows by workforce (`task` of `all`), with
    people resampled, because each tried several. tried : from `each_way`."""
    for (corpus, group, by, of, tries), rows in tried.groupby(["corpus", "group", "by", "of", "tries"], sort=False):
        head = {"corpus": corpus, "group": group, "statistic": "screening_pass_rate", "level": "annotator"}
        head |= {"by": by, "of": of, "tries": tries, "task": ALL_TASKS, "seed": sampling.seed}
        # the stream's name as it was when keys were stored as text, so that intervals stay the same
        key = f"by={by};of={of};task={ALL_TASKS};tries={tries}"
        share = _over_people(rows, sampling, sampling.stream("screening", corpus, group, key))
        yield head | share | {"n": len(rows), "n_annotators": rows["annotator"].nunique()}


def _over_people(rows: pd.DataFrame, sampling: Sampling, rng: np.random.Generator) -> dict[str, Any]:
    """The share over all tasks, with people resampled; a bound where few passed, or few did not."""
    who = rows.assign(x=rows["passed"].astype(float)).groupby("annotator")["x"].agg(["size", "sum"]).to_numpy(float)
    n, passed = who.T
    if rare := rate_intervals.rare_interval(n, passed, passed, "annotator", sampling.confidence):
        return rare
    interval = bootstrap_sums(
        who,
        lambda sums: sums[:, 1] / sums[:, 0],
        unit="annotator",
        rng=rng,
        n_resamples=sampling.n_resamples,
        confidence=sampling.confidence,
    )
    assert isinstance(interval, Interval)  # of one value per resample
    return interval.row()


def quiz_tries(annotations: Annotations, quiz: Quiz) -> pd.DataFrame:
    """One row per group, label, person and try: `right`, whether every choice was the better answer, and `place`, the
    number of the try.

    A try is a work unit, or a conversation where work units are not known, in the order of the source.
    """
    rows = annotations[annotations["corpus"] == quiz.corpus]
    unit = rows["work_unit"].astype(object).where(rows["work_unit"].notna(), rows["dialogue"].astype(object))
    won = rows["score"].where(rows["system"] == quiz.better, -rows["score"]) > 0
    person = ["group", "label", "annotator"]
    by_try = rows.assign(unit=unit, right=won).groupby([*person, "unit"], sort=False, observed=True)
    out = by_try.agg(right=("right", "all"), first=("source_row", "min")).reset_index().sort_values("first")
    return out.assign(place=out.groupby(person).cumcount() + 1).drop(columns=["unit", "first"])


def quiz_pass_rates(annotations: Annotations, quiz: Quiz | None, confidence: float = 0.95) -> Iterator[dict[str, Any]]:
    """`quiz_pass_rate`: share of the people who tried the quiz on a label and passed at the `first` try, and within as
    many as are allowed (`any`), with Wilson's interval; and `quiz_failed`, how many of those who did not pass judged
    anything all the same."""
    if quiz is None:
        return
    tried = quiz_tries(annotations, quiz)
    tried = tried[tried["place"] <= quiz.tries]
    elsewhere = set(annotations.loc[annotations["corpus"] != quiz.corpus, "annotator"])
    for (group, label), part in tried.groupby(["group", "label"], sort=False):
        head = {"corpus": quiz.corpus, "group": group, "label": label, "level": "annotator"}
        passed = part.groupby("annotator")["right"].any()
        first = part[part["place"] == 1].set_index("annotator")["right"]
        for name, each in {"first": first, "any": passed}.items():
            k, n = int(each.sum()), len(each)
            low, high = rate_intervals.wilson(k, n, confidence)
            row = {"statistic": "quiz_pass_rate", "tries": name, "estimate": k / n, "ci_low": low, "ci_high": high}
            yield head | row | {"n": n, "n_annotators": n, "ci_kind": "wilson", "resample_unit": "annotator"}
        failed = set(passed.index[~passed])
        yield head | {"statistic": "quiz_failed", "estimate": len(failed & elsewhere), "n": len(failed)}
