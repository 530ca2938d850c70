"""How dialogues were drawn: what a file or its YAML says of it, and whether the estimates use it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from judgebook.questions.design.material import Evaluation, StudyFrames
from judgebook.questions.design.registry import NotCheckableError, PricedFacts, check
from judgebook.sources import sampling as drawn

#: dialogues below which a stratum is not compared with others
_STRATUM = 5
#: of annotations; where it is filled, estimates are weighted
_USED = "sampling_weight"
_BY = ["label", "system"]
#: level of the tests of columns that are called so: few files have one, so that one error in a hundred is rare enough
_CALLED = 0.01
_LIMIT = -ndtri(_CALLED / 2)
#: by how much ratios of two sets of weights may differ: probabilities are often rounded
_ROUNDED = 1.1
#: what a YAML says of a selection that is no simple random sample
_SAID = re.compile(
    r"\b(?:flagged|escalated|enriched|over-?sampled|unequal probabilit\w+"
    r"|(?:\d+ ?%|a (?:half|third|quarter|fifth|tenth)|half) of (?:the )?(?:rest|others|remain\w+|unflagged))\b",
    re.IGNORECASE,
)
#: characters of the YAML that are quoted
_QUOTED = 120


@check("enriched_sample", "order", "labels", "sample", whole=True)
def enriched(study: StudyFrames) -> PricedFacts:
    """A column or the YAML says how items were chosen, and the analyses do not use it or use something else."""
    marks, columns = study.annotations, _columns(study)
    if _USED in marks and marks[_USED].notna().any():
        yield from _contradicted(study, columns)
        return
    statement = _SAID.search(study.selection)
    certain = [name for name in [*columns, *study.not_used] if drawn.certain(name)]
    if not (columns or certain or statement):
        raise NotCheckableError("No column says how the dialogues were chosen; they count as a random sample.")
    effects = [one for part in study.parts for name, values in columns.items() if (one := _effect(part, name, values))]
    # the column that says most: a probability or weight before a stratum, and the part in which it matters most
    effects.sort(key=lambda f: (not f["beyond"], f["kind"] != "weight", -f["moved"]))
    if effects and (effects[0]["moved"] >= 1 or drawn.certain(effects[0]["column"])):
        yield max(effects[0]["moved"] * effects[0]["beyond"], 0.5), effects[0]
    elif certain:
        # what is called so says how dialogues were drawn, whether results change or not
        yield 0.5, {"column": certain[0], "kind": "unknown"}
    elif statement:
        yield 0.5, {"text": study.selection[:_QUOTED], "kind": "said"}
    elif telling := [name for name in columns if drawn.telling(name)]:
        yield 0.5, {"column": telling[0], "kind": "chance"}


def _contradicted(study: StudyFrames, columns: dict[str, pd.Series]) -> PricedFacts:
    """A probability or weight in the file that is not in proportion to the weights in use, within a system."""
    marks = study.annotations.dropna(subset=_USED)
    used = marks.groupby(["corpus", "dialogue"])[[_USED, "system"]].first()
    for name in filter(drawn.certain, columns):
        weight = _weights(name, pd.to_numeric(columns[name], errors="coerce"))
        ratio = (weight / used[_USED]).groupby([used.index.get_level_values("corpus"), used["system"]])
        if not (ratio.max() > _ROUNDED * ratio.min()).any():
            continue
        rows = marks.assign(other=pd.MultiIndex.from_frame(marks[["corpus", "dialogue"]]).map(weight.get))
        contradicting = [
            one | {"corpus": corpus, "group": group, "method": method, "label": label, "system": system}
            for (corpus, group, method, label, system), cell in rows[rows["dialogue_b"].isna()].groupby(
                ["corpus", "group", "method", *_BY]
            )
            if (one := _both(cell.groupby("dialogue")[["score", _USED, "other"]].mean().dropna()))
        ]
        worst = max(contradicting, key=lambda f: f["moved"], default={"moved": 0.0})
        yield max(worst["moved"], 0.5), {"column": name, "kind": "contradicted"} | worst
        return


def _both(cell: pd.DataFrame) -> dict[str, float] | None:
    """The mean by the weights in use and by others, and their difference in standard errors of an unweighted mean."""
    sd = cell["score"].std()
    if not sd > 0:
        return None
    was, now = (float(np.average(cell["score"], weights=cell[w])) for w in (_USED, "other"))
    return {"was": was, "now": now, "moved": abs(now - was) / float(sd / np.sqrt(len(cell)))}


def _weights(name: str, values: pd.Series) -> pd.Series:
    """Weights that a column with values above 0 stands for: their inverse, where they are probabilities."""
    values = values.where(values > 0)
    return values if (values > 1).any() or drawn.named(name) == "weight" else 1 / values


def _columns(study: StudyFrames) -> dict[str, pd.Series]:
    """Names of such columns -> their values by (corpus, dialogue)."""
    key = ["corpus", "dialogue"]
    facts = study.facts[study.facts["key"].astype(str).str.startswith(drawn.UNUSED)]
    out = {
        str(k).removeprefix(drawn.UNUSED): f.groupby(key)["value"].first() for k, f in facts.groupby("key", sort=True)
    }
    metrics = study.metric_scores
    called = metrics[metrics["metric"].isin([m for m in metrics["metric"].unique() if drawn.named(str(m))])]
    out |= {str(m): f.groupby(key)["score"].mean() for m, f in called.groupby("metric", sort=True)}
    marks = study.annotations
    for name in (c for c in marks if drawn.named(str(c)) and c != _USED and marks[c].notna().any()):
        out[name] = marks.groupby(key)[name].first()
    return {name: values for name, values in out.items() if len(values.unique()) > 1}


def _effect(part: Evaluation, name: str, values: pd.Series) -> dict[str, Any] | None:
    """What the column does to the mean of the system on which it does most: weighted by it, or, of a stratum, how far
    apart the strata are; None where that is no more than chance. Weights are strata, too: what they do to one side of
    comparisons may be undone by the other."""
    if part.corpus not in values.index.get_level_values(0):
        return None
    of_corpus = values.xs(part.corpus, level=0)
    number = pd.to_numeric(of_corpus, errors="coerce")
    positive = number.notna().mean() > 0.9 and (number > 0).all() and number.min() < number.max()
    effects = []
    if positive and drawn.named(name) != "stratum":
        effects.append(_moved(part, name, _weights(name, number), weighted=True))
    if of_corpus.nunique() <= drawn.MOST_STRATA:
        effects.append(_moved(part, name, of_corpus, weighted=False))
    return next((f for f in effects if f and f["beyond"]), effects[0] if effects and drawn.certain(name) else None)


def _moved(part: Evaluation, name: str, values: pd.Series, *, weighted: bool) -> dict[str, Any] | None:
    """`_effect` of weights, or of strata. beyond : whether it is more than chance."""
    units = _units(part, values, weighted)
    cells = [_cell(cell, weighted) for _, cell in units.groupby(_BY)]
    table = pd.DataFrame([cell for cell in cells if cell])
    if table.empty:
        return None
    beyond = table["beyond"] | _of_all(part, units, table, weighted)
    worst = table.loc[table["moved"].where(beyond | ~beyond.any()).idxmax()]
    facts = {"column": name, "kind": "weight" if weighted else "stratum", "beyond": bool(beyond.any())}
    facts |= {"corpus": part.corpus, "group": part.group, "method": part.method}
    return facts | {k: worst[k] for k in ("label", "system", "was", "now", "moved")}


def _of_all(part: Evaluation, units: pd.DataFrame, table: pd.DataFrame, weighted: bool) -> bool:
    """Whether all systems together differ by more than chance, each perhaps by too little: weighted means in the same
    direction, or strata within systems."""
    if weighted:
        sums = table.assign(chance=table["chance"] ** 2).groupby("label")[["shift", "chance"]].sum()
        # what one side of a comparison gains, the other loses
        return part.votes.empty and bool((sums["shift"].abs() > _LIMIT * np.sqrt(sums["chance"])).any())
    within = units["score"] - units.groupby(_BY)["score"].transform("mean")
    return any(
        _apart(x.to_numpy(), units.loc[x.index, "value"])[1] <= _CALLED for _, x in within.groupby(units["label"])
    )


def _units(part: Evaluation, values: pd.Series, weighted: bool) -> pd.DataFrame:
    """Mean scores of dialogues, and shares of their comparisons that these win, with their `value`: the weight of a
    pair is that of either side; of a stratum, only sides count that have a value of their own."""
    rated = part.rated.groupby([*_BY, "dialogue"])["score"].mean().reset_index()
    votes, keys = part.votes, [*_BY, "dialogue", "dialogue_b"]
    value, value_b = votes["dialogue"].map(values), votes["dialogue_b"].map(values)
    won = (1 + votes["score"].clip(-1, 1)) / 2
    left = votes.assign(score=won, value=value.fillna(value_b) if weighted else value)
    right = votes.assign(score=1 - won, value=value_b.fillna(value) if weighted else value_b, system=votes["system_b"])
    compared = pd.concat([left, right]).dropna(subset="value").groupby(keys)
    compared = compared.agg(score=("score", "mean"), value=("value", "first")).reset_index()
    return pd.concat([rated.assign(value=rated["dialogue"].map(values)), compared], ignore_index=True)


def _cell(cell: pd.DataFrame, weighted: bool) -> dict[str, Any] | None:
    """Of a system: its mean, that of the population, their difference, and the standard deviation of that by chance.

    Where the column has nothing to do with scores, a weighted mean differs by one with variance s² Σ (w / Σw − 1 / n)².
    """
    score, values = cell["score"].to_numpy(float), cell["value"]
    sd = score.std(ddof=1) if len(score) > 2 else 0.0
    if not sd > 0 or values.notna().sum() < 3:
        return None
    if weighted:
        weighed = values.notna().to_numpy()
        w = values.to_numpy(float)[weighed]
        share = w / w.sum()
        now, chance = float(share @ score[weighed]), sd * np.sqrt(((share - 1 / len(share)) ** 2).sum())
        beyond = abs(now - score.mean()) > _LIMIT * chance
    else:
        (now, p), chance = _apart(score, values), np.nan
        if not np.isfinite(now):
            return None
        beyond = p <= _CALLED
    was = float(score.mean())
    first = cell.iloc[0]
    return {"label": first["label"], "system": first["system"], "was": was, "now": now, "shift": now - was,
            "chance": float(chance), "beyond": bool(beyond),
            "moved": float(abs(now - was) / (sd / np.sqrt(len(score))))}  # fmt: skip


def _apart(score: np.ndarray, values: pd.Series) -> tuple[float, float]:
    """Of the values of a stratum, the mean that is farthest from all, and the p-value of their differences (F test)."""
    groups = [g for _, g in pd.Series(score).groupby(values.to_numpy()) if len(g) >= _STRATUM]
    if len(groups) < 2 or not any(g.std() > 0 for g in groups):
        return np.nan, np.nan
    from scipy.stats import f_oneway  # takes a second to import, which the first page would wait for

    means = np.array([g.mean() for g in groups])
    return float(means[np.abs(means - score.mean()).argmax()]), float(f_oneway(*groups).pvalue)
