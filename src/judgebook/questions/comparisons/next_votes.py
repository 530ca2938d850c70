"""Week by week: which systems may still be the best, whenever one looks, and which pairs to send to voters next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.cells import in_turn
from judgebook.annotations.population import Population
from judgebook.codes import distinct
from judgebook.display.grid_plots import MOST
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose, Table
from judgebook.model import comparisons
from judgebook.model.every_look import contenders, halves
from judgebook.model.fit import Fit
from judgebook.model.next_votes import allocate
from judgebook.questions.comparisons.views import BOARD, who_votes
from judgebook.questions.performance.fitted import CELL, votes
from judgebook.study.labels import METHODS
from judgebook.study.results import Results
from judgebook.study.schema import Annotations

_PHRASES = Phrases(__package__)
#: votes that are given to pairs, and pairs that are shown of a board
NEXT, SHOWN = 100, 10


def rows(
    judged: Annotations, people: Mapping[tuple[str, str], Population], *, confidence: float = 0.95
) -> Iterator[dict[str, Any]]:
    """Rows of each board as collected: `of_fit`. judged, people : as of `adjusted.boards`."""
    for key, part in in_turn(judged, CELL):
        head = dict(zip(CELL, key, strict=True)) | {"level": METHODS[key[1]].unit}
        if len(distinct(part["system"], part["system_b"])) > 1:
            fit = comparisons.fit(votes(part, people=people[head["corpus"], head["group"]].others))
            head |= {"n": len(part), "n_annotators": fit.n_annotators or None, "resample_unit": fit.over}
            yield from of_fit(fit, head, confidence)


def of_fit(fit: Fit, head: Mapping[str, Any], confidence: float) -> Iterator[dict[str, Any]]:
    """`may_be_best` of each system; `lead_anytime` of the first over each other; `next_votes` of pairs that get any."""
    x, s, note = fit.levels.estimates, len(fit.systems), fit.note or None
    half, first = np.zeros((s, s)), int(np.argmax(x))
    half[fit.levels.pairs] = halves(fit.levels, confidence, s - 1)
    half += half.T
    for i, (system, may) in enumerate(zip(fit.systems, contenders(fit.levels, confidence), strict=True)):
        row = {**head, "system": system, "note": note}
        yield row | {"statistic": "may_be_best", "estimate": float(may), "n_clusters": int(fit.sizes[i])}
        if i != first and np.isfinite(half[first, i]):
            lead = x[first] - x[i]
            ends = {"ci_low": lead - half[first, i], "ci_high": lead + half[first, i], "ci_kind": "anytime"}
            names = {"system": fit.systems[first], "system_b": system}
            yield row | names | {"statistic": "lead_anytime", "estimate": lead, **ends}
    for i, j, n in zip(*fit.levels.pairs, allocate(fit, NEXT, confidence), strict=True):
        if n:
            names = {"system": fit.systems[i], "system_b": fit.systems[j]}
            yield {**head, **names, "statistic": "next_votes", "estimate": float(n), "note": note}


def views(results: Results, names: DisplayNames, confidence: float = 0.95) -> Iterator[Prose | Table]:
    """Who may be the best, and the table of pairs to compare next."""
    may, chosen = results["may_be_best"], results["next_votes"]
    if may.empty:
        return
    told = []
    for (_, part), who in zip(may.groupby(BOARD, sort=False), who_votes(may, names), strict=True):
        called = [names.name("system", system) for system in part["system"]]
        may_be = [*compress(called, part["estimate"] > 0)]
        told.append({"who": who, "n": len(part), "may": may_be, "out": len(part) - len(may_be)})
    yield Prose(_PHRASES.say("next_votes", boards=told, error=1 - confidence))
    if chosen.empty:
        return
    parts = (part for _, part in chosen.groupby(BOARD, sort=False))
    order = pd.concat(part.sort_values("estimate", ascending=False, kind="stable").head(SHOWN) for part in parts)
    out = names.named(order[[*BOARD, "system"]]).reset_index(drop=True)
    out["Against"] = [names.name("system", system) for system in order["system_b"]]
    out["Votes"] = order["estimate"].to_numpy()
    caption = f"How best to split the next {NEXT} votes on new prompts between pairs, to find the best system with the"
    caption += f" fewest votes; at most {SHOWN} pairs of each board."
    yield Table(out, "next_votes", caption, decimals=0, folded=len(out) > MOST)
