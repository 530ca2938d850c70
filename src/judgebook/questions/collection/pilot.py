"""How certain is what a pilot says, and who passes the training for a task?

Notebook 01 computes in its cells what Finch et al. 2023 published: mean ratings of systems (Table 1), and alpha over
all labels combined (Table 8). Pilots are small: here, jackknife intervals of both leave out one dialogue, or one
person, at a time and use Student's t. With six dialogues that differ in difficulty, coverage is 94% in simulation, but
only half when single marks are resampled (`tests/questions/collection/test_pilot.py`).

Attempts at training dialogues are judged by a rule. Finch et al. 2023, section 5: an annotator may work on a task after
marking fewer than a given number of turns wrongly in its third training dialogue. Figure 9 shows the share that passed,
by task and workforce.

Who passes the quiz before the first conversation? Smith et al. 2022, Appendix A: before they may talk, people choose
between two answers at each turn of a conversation in which one answer is clearly better. They must choose it every
time, and have two tries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgebook.display.text import listing
from judgebook.questions.agreement.alpha import alpha_of
from judgebook.questions.agreement.coincidences import patterns_long
from judgebook.questions.agreement.items import first_annotations
from judgebook.questions.collection.question import Pilot, Quiz
from judgebook.questions.performance import rates
from judgebook.statistics.intervals import Sampling, jackknife_t
from judgebook.statistics.resampling import replicate_sums
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import Annotations

BOT_PILOT, ANNOTATION_PILOT = r"bot_pilot_\d+", r"annotation_pilot_\d+"
#: name of the corpus in which all pilots of systems are combined
BOTS = "bot_pilots"
PERSON = ["corpus", "group", "annotator", "task"]
ALL_TASKS = "all"


def rated(annotations: Annotations, label: str) -> Annotations:
    """Ratings of whole dialogues on a label in corpora `bot_pilot_1`, …"""
    rows = annotations[annotations["corpus"].str.fullmatch(BOT_PILOT) & annotations["turn"].isna()]
    return rows[(rows["label"] == label) & rows["dialogue_b"].isna()]


def means(ratings: Annotations, *, confidence: float = 0.95) -> Iterator[dict[str, Any]]:
    """Mean rating of each system over all pilots of systems, leaving out one person at a time.

    ratings : from `rated`. Gives `mean` rows of corpus `bot_pilots`, `interval` of `annotator`.
    """
    for (method, group, system), of_system in ratings.groupby(["method", "group", "system"], sort=False):
        x, level = of_system["score"].to_numpy(float), METHODS[method].unit
        people = of_system.groupby("annotator")["score"].agg(["sum", "size"])
        row = {"corpus": BOTS, "method": method, "label": of_system["label"].iloc[0], "group": group, "system": system}
        row |= {"level": level, "n": len(x), "statistic": "mean", "interval": "annotator"}
        without = (x.sum() - people["sum"]) / (len(x) - people["size"]).replace(0, np.nan)
        row |= jackknife_t(x.mean(), without.to_numpy(), "annotator", confidence, bounded=False).row()
        if np.ptp(x) == 0:  # no spread is no certainty
            few = "fewer than two scores" if len(x) < 2 else "all scores are equal"
            row |= {"ci_low": np.nan, "ci_high": np.nan, "ci_kind": "not_estimable", "note": few}
        yield row


def marks(annotations: Annotations, labels: Iterable[Label], passed: pd.DataFrame | None = None) -> Annotations:
    """Judgements of known people in corpora `annotation_pilot_1`, …, the group being the kind of annotator.

    labels : give scale, level of measurement and task. passed : who passed the training, with columns corpus,
    annotator, task. Three more columns: `scale`, `measurement`, and `passed`, whether the annotator had passed the
    training for the task of the label. Raises ValueError for a label that is not declared and has no others like it.
    """
    rows = annotations[annotations["corpus"].str.fullmatch(ANNOTATION_PILOT)]
    rows = rows[(rows["annotator_kind"] == "human") & rows["annotator_known"]]
    by_key = _with_pilot_labels(rows, labels)
    of = [by_key[key] for key in zip(rows["method"], rows["label"], strict=True)]
    able = set() if passed is None else set(passed[["corpus", "annotator", "task"]].itertuples(index=False, name=None))
    who = zip(rows["corpus"], rows["annotator"], (label.task for label in of), strict=True)
    kinds = {"scale": [label.scale for label in of], "measurement": [label.level for label in of]}
    return rows.assign(**kinds, passed=np.array([key in able for key in who], dtype=bool))


def agreements(marks: Annotations, *, confidence: float = 0.95) -> Iterator[dict[str, Any]]:
    """Alpha over all labels together in each pilot: of everybody, of each kind of annotator, of those who passed.

    marks : from `marks`; the labels of a method must share a scale, or they cannot be combined. Where a pilot has any,
    alpha is given again for the annotations made in tasks that their annotator had passed (`scope` of `screened`).

    Returns
    -------
    `alpha` rows without a label, leaving out one dialogue at a time. The group `all` combines kinds; kinds with one
    annotator have no row.

    Raises
    ------
    ValueError
        Labels of one method have different scales.
    """
    for cell, rows in _parts(marks):
        yield _alpha_row(cell, None, rows, confidence)
        screened = rows[rows["passed"]]
        if len(set(screened["annotator"])) > 1:
            yield _alpha_row(cell, "screened", screened, confidence)


def _with_pilot_labels(pilots: pd.DataFrame, labels: Iterable[Label]) -> dict[tuple[str, str], Label]:
    """Labels by method and id. One that only a pilot had is like the others of its method, and belongs to no task."""
    by_key = {(label.method, label.id): label for label in labels}
    for method, label in pilots[["method", "label"]].drop_duplicates().itertuples(index=False, name=None):
        alike = {(x.scale, x.level): x for x in by_key.values() if x.method == method}
        if (method, label) not in by_key:
            if len(alike) != 1:
                raise ValueError(f"labels: declare {label!r} of method {method!r}, which only a pilot has")
            by_key[method, label] = replace(next(iter(alike.values())), id=label, title=label, task="")
    return by_key


def _parts(pilots: Annotations) -> Iterator[tuple[dict[str, str], Annotations]]:
    """Each pilot and method: all annotators, where they are of several kinds, then each kind with two people."""
    for (corpus, method), rows in pilots.groupby(["corpus", "method"], sort=True):
        if len(set(rows["group"])) > 1:
            yield {"corpus": corpus, "group": "all", "method": method}, rows.assign(group="all")
        for group, part in rows.groupby("group", sort=False):
            if len(set(part["annotator"])) > 1:
                yield {"corpus": corpus, "group": group, "method": method}, part


def _alpha_row(cell: dict[str, str], scope: str | None, rows: Annotations, confidence: float) -> dict[str, Any]:
    """Alpha of one part of a pilot, whatever the label, leaving out one dialogue at a time."""
    used = set(zip(rows["scale"], rows["measurement"], strict=True))
    if len(used) > 1:
        raise ValueError(f"{cell['corpus']}, {cell['method']}: only labels of one scale can be combined, found {used}")
    (_, level), unit = used.pop(), METHODS[cell["method"]].unit
    judged = first_annotations(rows, first=None)
    judged = judged[judged.groupby("item")["annotator"].transform("nunique") > 1]
    items, scores = judged["item"].to_numpy(), judged["score"].to_numpy(float)
    dialogue, dialogues = pd.factorize(judged["dialogue"], sort=True)

    def alpha(chosen: np.ndarray) -> float:
        if not chosen.any():
            return np.nan
        codes, x, pair = pd.factorize(items[chosen])[0], scores[chosen], unit == "pair"
        found = patterns_long(codes, x, codes.max() + 1, np.unique(np.r_[x, -x]) if pair else None)
        return alpha_of(found, level, mirrored=pair).estimate

    without = np.array([alpha(dialogue != i) for i in range(len(dialogues))])
    interval = jackknife_t(alpha(dialogue >= 0), without, "dialogue", confidence, bounded=False)
    row: dict[str, Any] = {
        **cell,
        "statistic": "alpha",
        "level": unit,
        "kind": "human",
        "scope": scope,
        "raters": "all",
    }
    row |= {"measurement": level, "resample": "dialogue", **interval.row()}
    return row | {"n": judged["item"].nunique(), "n_annotators": judged["annotator"].nunique()}


def least_mean(stated: float | None, label: str, labels: Iterable[Label]) -> float:
    """The smallest mean with which a system passes: as given, else the middle of the label's scale.

    Finch et al. 2023 print no number: all systems above the middle of the scale passed, and none below (Table 1).
    Raises ValueError where neither is known.
    """
    scales = [x.scale for x in labels if x.id == label and METHODS[x.method].unit == "dialogue"]
    if stated is None and not scales:
        raise ValueError(f"pilot.least: expected a number, as no label {label!r} rates whole dialogues")
    return float(np.mean(scales[0])) if stated is None else stated


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
    One row a corpus, group, annotator and task: `passed`, in any attempt.
    """
    if rule.deciding_dialogue == "all":
        mistakes = attempts.groupby([*PERSON, "attempt"], sort=False)["mistakes"]
        mistakes = mistakes.apply(lambda part: part.sum() if part.notna().all() else pd.NA)  # unknown where one is
        attempts, decides = mistakes.reset_index(), True
    else:
        decides = places(attempts) == rule.deciding_dialogue
    limit = attempts["task"].map(lambda task: rule.mistakes_below.get(task, rule.other_tasks_below))
    passed = decides & (attempts["mistakes"] < limit).fillna(False).astype(bool)
    return attempts.assign(passed=passed).groupby(PERSON, sort=False)["passed"].any().reset_index()


def in_words(rule: Pilot) -> str:
    """`fewer than 3 turns marked wrongly in training dialogue 3 (2 in antisocial)`."""
    fewer = listing(f"{n} in {task.replace('_', ' ')}" for task, n in rule.mistakes_below.items())
    deciding = rule.deciding_dialogue
    place = "all training dialogues" if deciding == "all" else f"training dialogue {deciding}"
    return f"fewer than {rule.other_tasks_below} turns marked wrongly in {place}" + (f" ({fewer})" if fewer else "")


def pass_rates(verdicts: pd.DataFrame, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Share passed of all tasks that people tried: `screening_pass_rate` rows by workforce (`task` of `all`), with
    people resampled, because each tried several; a bound where few passed, or few did not. verdicts : from `verdicts`.
    """
    for (corpus, group), rows in verdicts.groupby(["corpus", "group"], sort=False):
        who = rows.assign(x=rows["passed"].astype(float)).groupby("annotator")["x"].agg(["size", "sum"])
        n, passed = who.to_numpy(float).T
        share = rates.rare_interval(n, passed, passed, "annotator", sampling.confidence)
        if not share:
            # the stream's name as it was when there were other ways of counting, so that intervals stay the same
            rng = sampling.stream("screening", corpus, group, f"by=rule;of=tried;task={ALL_TASKS};tries=any")
            sums, drawn = np.column_stack([n, passed]), sampling.n_resamples
            replicates = replicate_sums(sums, lambda s: s[:, 1] / s[:, 0], unit="annotator", rng=rng, n_resamples=drawn)
            share = replicates.interval(sampling.confidence).row()
        head = {"corpus": corpus, "group": group, "statistic": "screening_pass_rate", "level": "annotator"}
        yield head | {"task": ALL_TASKS, "seed": sampling.seed} | share | {"n": len(rows), "n_annotators": len(who)}


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
            low, high = rates.wilson(k, n, confidence)
            row = {"statistic": "quiz_pass_rate", "tries": name, "estimate": k / n, "ci_low": low, "ci_high": high}
            yield head | row | {"n": n, "n_annotators": n, "ci_kind": "wilson", "resample_unit": "annotator"}
        failed = set(passed.index[~passed])
        yield head | {"statistic": "quiz_failed", "estimate": len(failed & elsewhere), "n": len(failed)}
