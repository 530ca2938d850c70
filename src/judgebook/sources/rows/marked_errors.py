"""Errors that annotators marked, each with a severity: the sum of their weights is the score of what was judged.

Freitag et al. (2021), Experts, Errors, and Context: A Large-Scale Study of Human Evaluation for Machine Translation,
Transactions of the ACL 9, Table 4, has the weights that are used where the YAML gives no others.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from judgebook.sources.adapters.options.records import Errors, Records
from judgebook.sources.nature import plain
from judgebook.sources.rows.scoring import ITEM
from judgebook.study.schema import Problem, several

_WEIGHTS = {"major": 5.0, "minor": 1.0, "neutral": 0.0}
_OF_CATEGORIES: dict[str, float | dict[str, float]] = {
    "Non-translation": {"major": 25.0},
    "Fluency/Punctuation": {"minor": 0.1},
}
#: what stands for a segment without errors, in the column of severities or of categories
NO_ERROR = ("noerror", "none", "noissue", "noerrors")


def _weigher(rules: Errors) -> Callable[[str, str], float | None]:
    """What gives an error of a category and a plain severity its weight, or None."""
    severities = {plain(s): w for s, w in (_WEIGHTS | rules.weights).items()}
    own = {
        plain(name): {plain(s): w for s, w in rule.items()} if isinstance(rule, dict) else rule
        for name, rule in (_OF_CATEGORIES | rules.categories).items()
    }

    def weigh(category: str, severity: str) -> float | None:
        for name in (category, category.partition("/")[0]):
            rule = own.get(plain(name))
            weight = rule.get(severity) if isinstance(rule, dict) else rule
            if weight is not None:
                return weight
        return severities.get(severity)

    return weigh


def summed(
    source: Records, cells: pd.DataFrame, base: pd.DataFrame, problems: list[Problem]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`cells` and `base` with a row for each annotator, item and label instead of one for each error.

    A score is the sum of the weights of the errors. Whoever is known to have judged an item (by an error, or by a row
    that says that there is none) has 0 for each label of which they marked no error there. Where an error cannot be
    weighted, its place is a problem.
    """
    rules = source.errors or Errors()
    weigh = _weigher(rules)
    severity = base["score"].map(lambda s: plain(s) if s else "")
    category = cells[rules.category] if rules.category else pd.Series(None, cells.index, dtype=object)
    category = category.where(~category.isin(source.na_values) & category.notna(), "")
    none = severity.isin(NO_ERROR) | category.map(plain).isin(NO_ERROR) | ((severity == "") & (category == ""))
    weight = pd.Series(
        [0.0 if n else weigh(c, s) for n, c, s in zip(none, category, severity, strict=True)],
        base.index,
        dtype=float,
    )

    def unknown(i: int) -> Problem:
        hint = f"give it a weight: `errors: {{weights: {{{base.at[i, 'score'] or '…'}: 1}}}}`"
        expected = f"a severity with a weight ({', '.join(dict.fromkeys([*_WEIGHTS, *rules.weights]))})"
        return Problem(base.at[i, "file"], base.at[i, "where"], "score", expected, repr(base.at[i, "score"]), hint)

    problems += several(base.index[weight.isna()], unknown)
    base = base.assign(label=base["label"].replace(source.label_names), _weight=weight)
    judged = [c for c in ("annotator", *ITEM) if c in base and c != "label"]
    # where categories are labels, a row without an error is of none
    labels = (base if "label" in source.constants else base[~none])["label"].unique()
    rows, held = [], []
    for _, mine in base.groupby(judged, dropna=False, sort=False):
        totals = mine.groupby("label")["_weight"].sum()
        rows += [mine.index[0]] * len(labels)
        held += [(label, totals.get(label, 0.0)) for label in labels]
    out = base.loc[rows].reset_index(drop=True).drop(columns="_weight")
    out = out.assign(label=[x for x, _ in held], score=[float(f"{total:.10g}") for _, total in held])
    return cells.loc[rows].reset_index(drop=True), out
