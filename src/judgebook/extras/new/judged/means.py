"""Fractions that are means of a few people's ratings, and no scores of automatic metrics."""

from __future__ import annotations

import re

import pandas as pd

from judgebook.extras.new.words import ASPECT
from judgebook.sources.nature import plain

#: so many people at most; means of more cannot be told from other fractions
_MOST = 8
#: fractions below this say nothing
_ENOUGH = 8
_MEAN = re.compile(r"mean|average|avg|score|rating", re.I)


def means(numeric: dict[str, pd.Series], fractions: list[str], ratings: list[str]) -> list[str]:
    """Columns of fractions that are means of people: of a named aspect of quality, or where nothing else was judged.

    A mean of ratings that the table holds is none.
    """
    few = [c for c in fractions if _of_few(numeric[c].dropna()) and (ASPECT.search(c) or not ratings)]
    return [c for c in few if not any(_aspect(c) and _aspect(c) in plain(r) for r in ratings)]


def _aspect(column: str) -> str:
    return plain(_MEAN.sub("", column))


def _of_few(values: pd.Series) -> bool:
    """Whether each value is a whole number over a small number of people, as far as its decimals say."""
    odd = values[values % 1 != 0]
    if len(odd) < _ENOUGH or odd.nunique() < 4 or not values.between(-3, 10).all():
        return False
    exact = 0.0051 if (odd.round(2) == odd).all() else 0.00051
    away = [(odd - (odd * n).round() / n).abs() for n in range(2, _MOST + 1)]
    return bool(pd.concat(away, axis=1).min(axis=1).le(exact).all())
