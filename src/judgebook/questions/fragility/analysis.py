"""What does each conclusion depend on? The results of notebook 16.

A conclusion is a pair of systems that differ significantly on a label in the primary analysis: Student's t over
sessions, all dialogues, adjusted by Holm within the label. Each is looked at under every combination of choices that an
analyst might reasonably make (`specifications`) and in the other runs with the same systems, without each person and
each session, and by how few dialogues must be left out to turn it (`leaving_out`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.dialogue_values import one_side
from judgebook.annotations.summary import in_sessions, main_group, with_means
from judgebook.questions.fragility.leaving_out import KEPT, NOTHING_LEFT, STURDY_DIALOGUES, holm_level, with_less_data
from judgebook.questions.fragility.question import Fragility
from judgebook.questions.fragility.specifications import ALPHA, CHOICES, KEYS, MethodData, curve
from judgebook.questions.quality_control.question import QualityControl
from judgebook.questions.quality_control.worker_tests import of_those_who_passed
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations

#: a conclusion is sturdy if it keeps its sign in all, and its significance in at least this share of specifications,
#: if at least STURDY_DIALOGUES of the dialogues must be left out to turn its sign, and if it is kept (sign and
#: significance) without any single person or session
STURDY_SHARE = 0.9
#: the choice between runs with the same systems, besides CHOICES
DATA = "data"
#: what it can depend on, besides choices
DIALOGUES, PERSON, SESSION, CONTEXT = "dialogues", "a person", "a session", "a context"


@dataclass(frozen=True)
class GroupData:
    """One corpus and group: its annotations by method. blocks : what sessions are, `session` or `context`."""

    corpus: str
    group: str
    methods: list[MethodData]
    blocks: str = "session"


def parts(
    annotations: Annotations,
    labels: Sequence[Label],
    *,
    systems: Sequence[str],
    control: str | None,
    options: QualityControl,
    pick_seed: int,
) -> Iterator[GroupData]:
    """Each corpus with its main group. annotations : of the evaluation itself, by people."""
    for corpus, of_corpus in annotations.groupby("corpus", sort=False):
        group = main_group(of_corpus)
        rows, blocks = in_sessions(with_means(of_corpus[of_corpus["group"] == group], labels))
        selections = {
            value: of_corpus.index.isin(of_those_who_passed(of_corpus, labels, control, chosen).index)
            for value, chosen in _thresholds(options).items()
        }
        methods = []
        for method, of_method in rows.groupby("method", sort=False):
            of_method = of_method[of_method["system"].isin(list(systems))]
            if METHODS[method].unit == "pair":
                of_method = one_side(of_method[of_method["system_b"].isin(list(systems))])
            if of_method["system"].nunique() + of_method["system_b"].dropna().nunique() < 2:
                continue
            masks = {value: mask[of_corpus.index.get_indexer(of_method.index)] for value, mask in selections.items()}
            methods.append(MethodData(of_method, method, list(systems), distinct(masks), pick_seed))
        yield GroupData(str(corpus), str(group), methods, blocks)


def _thresholds(options: QualityControl) -> dict[str, QualityControl]:
    """Quality control with the study's threshold, and with the next lower and the next higher that it tries."""
    lower = [a for a in options.thresholds if a < options.alpha]
    higher = [a for a in options.thresholds if options.alpha < a < 1]
    out = {"passed": options}
    if lower:
        out["stricter"] = options.model_copy(update={"alpha": max(lower)})
    if higher:
        out["looser"] = options.model_copy(update={"alpha": min(higher)})
    return out


def distinct(masks: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Selections of annotations with that of all, without empty ones and those that equal an earlier one. `passed` is
    always there: all annotations where nobody passed."""
    everything = np.ones(len(masks["passed"]), dtype=bool)
    out = {"passed": masks["passed"] if masks["passed"].any() else everything}
    for value, mask in {**masks, "all": everything}.items():
        if mask.any() and not any(np.array_equal(mask, earlier) for earlier in out.values()):
            out[value] = mask
    return out


def analyse(evaluations: Sequence[GroupData], options: Fragility) -> Results:
    """All results of notebook 16.

    `conclusions_found` (how many there are by method; all else is about those `examined`), `conclusion`,
    `specification`, `specification_share`, `choice_effect`, `without_person`, `without_session`, `drop_few`, `sturdy`
    and `hangs_on`.
    """
    rows: list[dict[str, Any]] = []
    frames: list[pd.DataFrame] = []
    curves = [{data.method: curve(data) for data in part.methods} for part in evaluations]
    for i, part in enumerate(evaluations):
        head = {"corpus": part.corpus, "group": part.group}
        for data in part.methods:
            every = curves[i][data.method]
            if every.empty:
                continue
            primary, level = every[every["spec"] == 0], METHODS[data.method].unit
            significant = primary[primary["p_adjusted"] < ALPHA].sort_values("p_value", kind="stable")
            if significant.empty:
                continue
            what = {"statistic": "conclusions_found", "method": data.method, "level": level}
            rows.append(head | what | {"estimate": float(len(significant))})
            chosen = examined(significant, options.most)
            every = every.assign(**{DATA: part.corpus})
            others = [
                curves[k][data.method].assign(**{DATA: other.corpus})
                for k, other in enumerate(evaluations)
                if k != i and other.group == part.group and len(curves[k].get(data.method, ()))
            ]
            every = pd.concat([every, *others], ignore_index=True)
            about = pd.MultiIndex.from_frame(every[KEYS]).isin(pd.MultiIndex.from_frame(chosen[KEYS]))
            every = every[about & every["p_adjusted"].notna()]  # in which a test is possible
            frames += [f.assign(**head, level=level) for f in _curves(every, chosen)]
            levels = holm_levels(primary, chosen)
            left = with_less_data(data, chosen, levels, options.people, part.blocks)
            rows += [head | {"level": level} | row for row in chain(_of_choices(every, chosen), left)]
    results = collect(*frames, rows)
    return collect(results, sturdy(results))


def examined(significant: pd.DataFrame, most: int) -> pd.DataFrame:
    """Which conclusions are looked at: all, or of more than `most` half the clearest and half the most doubtful, by
    their adjusted p-values; the clearest alone would all be sturdy.

    significant : pairs of the primary analysis, by p-value.
    """
    if len(significant) <= most:
        return significant
    order = significant.sort_values(["p_adjusted", "p_value"], kind="stable")
    return pd.concat([order.head(most - most // 2), order.tail(most // 2)]).sort_index(
        key=significant.index.get_indexer
    )


def holm_levels(primary: pd.DataFrame, chosen: pd.DataFrame) -> np.ndarray:
    """(chosen,) the unadjusted p-value from which a conclusion would no longer be one: `holm_level` given the
    p-values of the other pairs of its label. primary : all pairs of the primary analysis."""
    tested = primary.dropna(subset="p_value")
    p, label = tested["p_value"], tested["label"]
    return np.array([holm_level(p[label == row.label].drop(row.Index), ALPHA) for row in chosen.itertuples()])


def _curves(every: pd.DataFrame, chosen: pd.DataFrame) -> Iterator[pd.DataFrame]:
    drop = ["se", "df", "spec", "sd"]
    yield chosen.drop(columns=[*drop, *CHOICES], errors="ignore").assign(statistic="conclusion")
    scaled = every.copy()
    for column in ("estimate", "ci_low", "ci_high"):
        scaled[column] = scaled[column] / scaled["sd"]
    note = scaled["note"].where(scaled["sd"].notna(), "no spread within systems")
    yield scaled.assign(statistic="specification", note=note).drop(columns=drop, errors="ignore")


def _of_choices(every: pd.DataFrame, chosen: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Shares of specifications that keep sign and significance, and how they change with each choice."""
    places = every.groupby(KEYS, sort=False).indices
    estimates, p = every["estimate"].to_numpy(), every["p_adjusted"].to_numpy()
    choices = {choice: every[choice].to_numpy(object) for choice in (*CHOICES, DATA)}
    for row in chosen.to_dict("records"):
        key = {k: row[k] for k in KEYS}
        at = places[tuple(key.values())]
        same = np.sign(estimates[at]) == np.sign(row["estimate"])
        significant = same & (p[at] < ALPHA)
        for keeps, holds in (("sign", same), ("significance", significant)):
            share = {"statistic": "specification_share", "kept": keeps, "estimate": float(holds.mean())}
            yield key | share | {"n": len(at)}
        for choice, values in choices.items():
            made = values[at]
            for value in present if len(present := dict.fromkeys(made)) > 1 else ():
                what = {"statistic": "choice_effect", "choice": choice, "value": value}
                under = significant[made == value]
                yield key | what | {"estimate": float(under.mean()), "n": len(under)}


def sturdy(results: Results) -> Iterator[dict[str, Any]]:
    """1 for each conclusion that is sturdy (STURDY_SHARE, STURDY_DIALOGUES), else 0, and what it hangs on (`hangs_on`:
    a choice, DIALOGUES, PERSON, SESSION or CONTEXT): one row `hangs_on` for each."""
    if results["conclusion"].empty:
        return
    by = ["corpus", *KEYS]
    sign, significance = (
        results.select("specification_share", kept=k).set_index(by)["estimate"] for k in ("sign", "significance")
    )
    few = results["drop_few"].set_index(by)
    effects = dict(iter(results["choice_effect"].groupby(by, sort=False)))
    lost = {
        what: {tuple(key) for key in rows.loc[rows["verdict"] != KEPT, by].to_numpy()}
        for what, rows in (
            (PERSON, results["without_person"]),
            (SESSION, results.select("without_session", resample_unit="session")),
            (CONTEXT, results.select("without_session", resample_unit="context")),
        )
    }
    for row in results["conclusion"].to_dict("records"):
        key = tuple(row[k] for k in by)
        reasons = []
        if sign[key] < 1 or significance[key] < STURDY_SHARE:
            reasons.append(_choice(effects.get(key)))
        if few.at[key, "estimate"] < STURDY_DIALOGUES * few.at[key, "n"] or few.at[key, "note"] == NOTHING_LEFT:
            reasons.append(DIALOGUES)
        reasons += [what for what, keys in lost.items() if key in keys]
        head = {k: row[k] for k in ("corpus", "group", "level", *KEYS)}
        yield head | {"statistic": "sturdy", "estimate": float(not reasons)}
        for reason in reasons:
            yield head | {"statistic": "hangs_on", "reason": reason, "estimate": 1.0}


def _choice(effects: pd.DataFrame | None) -> str:
    """The choice that moves the share of specifications that keep the conclusion most."""
    if effects is None:
        return "choices"
    spread = effects.groupby("choice", sort=False)["estimate"].agg(np.ptp)
    return str(spread.idxmax()) if spread.max() > 0 else "choices"
