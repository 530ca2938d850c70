"""Does it matter who judged? How much of the variance of judgements is due to annotators, label by label.

Of groups whose annotators are a sample of others (`annotations.population`): strictness, preferences for systems, the
test that there is neither, and how often other annotators would order two systems the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from judgebook.annotations.families import adjust_rows
from judgebook.annotations.population import Population
from judgebook.questions.performance.annotator_effects import Effects, annotator_effects, reversal
from judgebook.study.labels import METHODS
from judgebook.study.results import Results, collect
from judgebook.study.schema import SYSTEM_CELL

CELL = SYSTEM_CELL[:-1]
PARTS = ("strictness", "preference")
#: share of judgements by annotators with one session, alone in it, from which annotators and sessions are one thing
COINCIDE = 0.5


def who_judged(
    annotations: pd.DataFrame, found: Mapping[tuple[str, str], Population], *, confidence: float = 0.95
) -> Results:
    """`annotators_differ`, `annotator_share` (by `part`) and `order_reversal` of each label.

    annotations : of ranked systems, from `analysis.chosen`. Returns rows only of the groups whose annotators are a
    sample; p-values are adjusted over the labels of a group; a label that cannot be analysed has one row, whose note
    says why.
    """
    several = [key for key, one in found.items() if one.others]
    here = annotations[pd.MultiIndex.from_frame(annotations[["corpus", "group"]]).isin(several)]
    rows = collect(
        row for key, part in here.groupby(CELL, sort=False) if _ranked(part) for row in _of_label(key, part, confidence)
    )
    if len(rows["annotators_differ"]):
        tested = adjust_rows(rows["annotators_differ"], ["corpus", "group"], "labels of one group")
        rows["annotators_differ"] = tested
    return rows


def _ranked(part: pd.DataFrame) -> bool:
    return len({*part["system"], *part["system_b"].dropna()}) > 1


def _of_label(key: tuple, part: pd.DataFrame, confidence: float) -> Iterator[dict]:
    rows, block, apart = _units(part)
    head = dict(zip(CELL, key, strict=True)) | {"n": len(rows), "n_annotators": rows["annotator"].nunique()}
    head |= {"level": "pair" if METHODS[key[1]].unit == "pair" else "dialogue"}
    codes = {c: pd.factorize(rows[c])[0] for c in ("annotator", "block")}
    paired = head["level"] == "pair"
    effects: Effects | str = f"most annotators judged one {block} each, alone"
    if apart:
        options = {"confidence": confidence, "system_b": rows["two"].to_numpy() if paired else None}
        effects = annotator_effects(rows["score"].to_numpy(float), rows["one"].to_numpy(), *codes.values(), **options)
    if isinstance(effects, str):
        yield head | {"statistic": "annotators_differ", "note": effects}
        return
    yield head | {"statistic": "annotators_differ", "estimate": effects.f, "p_value": effects.p_value}
    for name in PARTS:
        if (one := getattr(effects, name)) is not None:
            share, low, high = effects.share(one)
            ends = {"estimate": share, "ci_low": low, "ci_high": high, "ci_kind": "f", "resample_unit": "annotator"}
            yield head | {"statistic": "annotator_share", "part": name} | ends
    yield head | {"statistic": "order_reversal", "estimate": float(np.median(_reversals(rows, effects, paired)))}


def _units(part: pd.DataFrame) -> tuple[pd.DataFrame, str, bool]:
    """One row per annotator and dialogue (pair), with `one` and `two`, codes of systems, and `block`, which is taken
    out; what that is; and whether the effects of annotators and blocks can be separated."""
    systems = pd.Index(sorted({*part["system"], *part["system_b"].dropna()}))
    shared = next((c for c in ("session", "context") if c in part and part[c].notna().all()), None)
    one, two = systems.get_indexer(part["system"]), systems.get_indexer(part["system_b"])
    swap = (two >= 0) & (two < one)
    item = part["dialogue"].astype(str) if not (two >= 0).any() else part["pair"].astype(str)
    rows = pd.DataFrame({
        "item": pd.factorize(item)[0], "annotator": part["annotator"].to_numpy(), "one": np.where(swap, two, one),
        "two": np.where(swap, one, two), "score": np.where(swap, -1, 1) * part["score"].to_numpy(float),
        "shared": pd.factorize(part[shared])[0] if shared else 0,
    })  # fmt: skip
    rows = rows.groupby(["item", "annotator", "one", "two", "shared"], sort=False)["score"].mean().reset_index()
    again = rows.duplicated("item", keep=False)
    if again.mean() >= 0.5:
        return rows.assign(block=rows["item"]), "dialogue", True
    rows = rows.drop_duplicates("item")
    alone = rows.groupby("shared")["annotator"].transform("nunique") == 1
    alone &= rows.groupby("annotator")["shared"].transform("nunique") == 1
    return rows.assign(block=rows["shared"]), shared or "", not shared or alone.mean() < COINCIDE


def _reversals(rows: pd.DataFrame, effects: Effects, paired: bool) -> np.ndarray:
    """The chance for every pair of systems (that was compared)."""
    preference = effects.preference.variance if effects.preference else 0.0
    strictness = effects.strictness.variance if effects.strictness else 0.0
    keys = ["one", "two"] if paired else ["one"]
    counts = {"index": keys, "columns": "annotator", "values": "score", "aggfunc": "size", "fill_value": 0}
    table = rows.pivot_table(**counts).to_numpy(float)
    means, weight = rows.groupby(keys)["score"].mean().to_numpy(), table / table.sum(axis=1, keepdims=True)
    if paired:
        return reversal(means, 2 * preference * np.sum(weight**2, axis=1))
    i, j = np.triu_indices(len(means), 1)
    own = np.sum(weight**2, axis=1)
    between = np.sum((weight[i] - weight[j]) ** 2, axis=1)
    return reversal(means[i] - means[j], preference * (own[i] + own[j]) + strictness * between)
