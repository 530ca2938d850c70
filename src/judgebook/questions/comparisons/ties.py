"""Ties of which the data say that both answers were good, or both bad: how many, for which prompts, of which systems.

Shares have Wilson's intervals with the effective number of votes, prompts being a sample of others and voters these. In
the model of votes either is a tie. Each kind of prompt is compared with all others.

References
----------
Rao and Scott 1992, Biometrics 48, 577-585 (tests of clustered proportions with effective numbers).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from judgebook.annotations.cells import adjust_rows, in_turn
from judgebook.display import cells
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose, Table
from judgebook.model.fit import coded, crossed
from judgebook.questions.comparisons.views import BOARD, who_votes
from judgebook.questions.performance.fitted import CELL, votes
from judgebook.questions.performance.rates import clustered_wilson, design_effect, effective_trials
from judgebook.study.labels import METHODS
from judgebook.study.results import Results, collect, where
from judgebook.study.schema import BOTH_BAD, TIES, Annotations

_PHRASES = Phrases(__package__)
#: a variance that is none
_LEAST = 1e-30


def rows(judged: Annotations, kind: pd.Series | None = None, *, confidence: float = 0.95) -> Results:
    """`tie_kind`, and where some ties are both bad `kind_both_bad` and `system_both_bad`, of labels whose ties are told
    apart. judged : of `analysis.votes`. kind : of `kinds.kinds_of`."""
    found: list[dict[str, Any]] = []
    for key, part in in_turn(judged.assign(kind=None if kind is None else kind), CELL):
        if part["tie"].notna().any():
            head = dict(zip(CELL, key, strict=True)) | {"level": METHODS[key[1]].unit}
            found += [head | row for row in _rows(part, confidence)]
    results = collect(found)
    if len(tested := results["kind_both_bad"]):
        results["kind_both_bad"] = adjust_rows(tested, ["level"], "kinds of prompts of all boards")
    return results


def _rows(part: Annotations, confidence: float) -> Iterator[dict[str, Any]]:
    c, tie = votes(part, people=False), part["tie"].astype(object).to_numpy()
    tied, bad = part["score"].to_numpy() == 0, tie == BOTH_BAD
    unit = next((shared for shared in ("context", "session") if part[shared].notna().all()), "pair")

    def share(of: np.ndarray, hits: np.ndarray) -> dict[str, Any]:
        return clustered_wilson(np.bincount(c.context, of), np.bincount(c.context, of & hits), unit, confidence)

    for which in TIES:
        if (tie == which).any():
            yield {"statistic": "tie_kind", "tie": which} | share(tied, tie == which)
    if not bad.any():
        return
    code, names = coded(part["kind"].dropna())
    kind = np.full(len(part), -1)
    kind[part["kind"].notna()] = code
    for k, name in enumerate(names if len(names) > 1 else ()):
        row = {"statistic": "kind_both_bad", "prompt_kind": str(name)} | share(kind == k, bad)
        # of two kinds it is one test
        tested = p_value(c.context[kind >= 0], bad[kind >= 0], kind[kind >= 0] == k, confidence)
        yield row | {"p_value": tested if len(names) > 2 or k == 0 else nan}
    for i, system in enumerate(c.systems):
        yield {"statistic": "system_both_bad", "system": system} | share((c.first == i) | (c.second == i), bad)


def p_value(context: np.ndarray, hits: np.ndarray, one: np.ndarray, confidence: float = 0.95) -> float:
    """Whether a share of votes is the same on some prompts (`one`) as on the others; NaN where it is 0 or 1 on all, or
    where one side has a single prompt.

    The larger p-value of two tests: Student's, of what each prompt has beyond the share of all, which rejects too often
    where the prompts of one side have far fewer votes; and the score test with effective numbers of votes and Student's
    t, which does where prompts differ much. In simulations of 2 to 6 kinds with 3 to 200 prompts of 1 to 50 votes, any
    false difference was found in 0 to 6.4% at 5%.

    context : (votes,) codes of prompts. hits, one : (votes,) booleans.
    """
    place = crossed(context, one.astype(int))
    n, s, of = np.bincount(place), np.bincount(place, hits), np.bincount(place, one) > 0
    if hits.all() or not hits.any() or min(of.sum(), (~of).sum()) < 2:
        return nan
    beyond = (s - n * hits.mean()) / np.where(of, n[of].mean(), n[~of].mean())
    sides, sizes = (of, ~of), np.array([of.sum(), (~of).sum()])
    shares = np.array([s[at].sum() / n[at].sum() for at in sides])
    spread = max(sum(np.var(beyond[at]) * at.sum() for at in sides) / (len(n) - 2), _LEAST)
    effects = [design_effect(n[at], s[at], s[at]) for at in sides]
    trials = np.array(
        [effective_trials(s[a].sum(), n[a].sum(), a.sum(), e, confidence) for a, e in zip(sides, effects, strict=True)]
    )
    both = trials @ shares / trials.sum()
    errors = np.sqrt([spread * (1 / sizes).sum(), both * (1 - both) * (1 / trials).sum()])
    return float(2 * stdtr([len(n) - 2, sizes.min() - 1], -np.abs(np.diff(shares)) / errors).max())


def views(results: Results, names: DisplayNames, confidence: float) -> Iterator[Prose | Table]:
    """In words, and of kinds of prompts and systems how often voters call both answers bad."""
    shares, boards = results["tie_kind"], list[dict[str, Any]]()
    if shares.empty:
        return
    once = shares.drop_duplicates(BOARD)
    for row, who in zip(once.to_dict("records"), who_votes(once, names), strict=True):
        of = {c: row[c] for c in BOARD}
        kinds = where(results["kind_both_bad"], **of)
        mean = np.average(kinds["estimate"], weights=kinds["n"]) if len(kinds) else nan
        sure = kinds[kinds["p_adjusted"] < 1 - confidence].sort_values("p_adjusted").to_dict("records")
        differ = [r | {"more": r["estimate"] > mean} for r in sure]
        ties = where(shares, **of).sort_values("tie").to_dict("records")
        boards.append({"who": who, "n": int(row["n"]), "ties": ties, "kinds": len(kinds), "differ": differ})
    yield Prose(_PHRASES.say("ties", boards=boards))
    found = pd.concat([results["kind_both_bad"], results["system_both_bad"]], ignore_index=True)
    if found.empty:
        return
    out = names.named(found[CELL])
    system = [None if pd.isna(s) else names.name("system", s) for s in found["system"]]
    out["Votes on"] = found["prompt_kind"].where(found["prompt_kind"].notna(), system)
    scaled = found[["estimate", "ci_low", "ci_high"]] * 100
    out["Both bad, %"], out["n"], out["Prompts"] = cells.intervals(scaled, 0), found["n"], found["n_clusters"]
    if found["p_adjusted"].notna().any():
        out["p"] = cells.p_values(found["p_adjusted"])
    caption = f"Percent of votes that call both answers bad, with {names.ci} that treat prompts, not voters, as a"
    caption += (
        " sample. p: whether a kind differs from all others (Holm). Nothing is adjusted: opponents and prompts count."
    )
    why = {"p": "Not tested: a system, the second of two kinds, or too few prompts."}
    yield Table(out, "both_bad", caption, why=why, folded=True)
