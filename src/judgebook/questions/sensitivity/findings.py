"""What notebook 05 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.sensitivity.analysis import (
    PUBLISHED,
    approximate,
    bounded,
    counts,
    of_group,
    primary,
    primary_name,
    verdicts,
)
from judgebook.questions.sensitivity.equivalence import within
from judgebook.questions.sensitivity.judged_groups import JudgedGroup
from judgebook.questions.sensitivity.overview import planning, tally
from judgebook.questions.sensitivity.question import Sensitivity
from judgebook.questions.sensitivity.shown import TESTS, who
from judgebook.statistics.bounded_means import LEAST_AWAY, MOST_VALUES
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)
#: type I error at 0.05 that a sound test exceeds, or stays below, by more than chance only
INFLATED, CONSERVATIVE = 0.075, 0.025


def findings(
    results: Results, judged: Sequence[JudgedGroup], names: DisplayNames, options: Sensitivity
) -> Iterator[Prose]:
    """The headline; what the tests assume; type I error; what more conversations would find."""
    parts = [(who(one, judged, names), of_group(results, one)) for one in judged]
    groups = [{"who": name, **tally(of_part), "pairs": _most_often(primary(of_part), names)} for name, of_part in parts]
    test, planned = primary_name(results), [p for name, of_part in parts for p in planning(of_part, name, names)]
    facts = {
        "blocks": "" if judged[0].weighted else judged[0].blocks,
        "approximate": any(approximate(of_part) for _, of_part in parts),
        "most": MOST_VALUES,
        "least": LEAST_AWAY,
        "bounded": sum(bounded(primary(of_part)) for _, of_part in parts),
        "n_tests": sum(g["n"] for g in groups),
    }
    yield Prose(_PHRASES.say("headline", groups=groups, test=test, **_points(planned)))
    yield Prose(_PHRASES.say("assumed", groups=groups, test=test, **facts))
    drawn = next((size for one in judged if (size := one.draw_size(options.n_dialogues))), None)
    n_draws = min(one.n_draws(options.n_draws) for one in judged)
    yield Prose(_PHRASES.say("draws", drawn=drawn, n_draws=n_draws, **_spread([of_part for _, of_part in parts])))
    weighted, n_runs = any(one.weighted for one in judged), options.null_runs
    yield Prose(_PHRASES.say("errors", n_runs=n_runs, weighted=weighted, **_errors(parts, names, n_runs)))


def _points(planned: Sequence[dict]) -> dict:
    """Detectable differences of marks and comparisons (percentage points), and of ratings (points on their scales)."""
    medians = {k: [p["scale"] * p["least"][0] for p in planned if p["share"] == k] for k in (True, False)}
    return {"shares": medians[True], "points": medians[False]}


def sample(judged: Sequence[JudgedGroup], names: DisplayNames, *, n: int) -> Prose:
    """How many dialogues per system each group judged, and how many a draw has."""
    groups = [
        {"who": who(one, judged, names), "few": min(one.dialogues), "many": max(one.dialogues)}
        | {"drawn": one.draw_size(n)}
        for one in judged
    ]
    return Prose(_PHRASES.say("sample", groups=groups, n=n, weighted=any(one.weighted for one in judged)))


def _most_often(tests: pd.DataFrame, names: DisplayNames) -> dict | None:
    """The pairs of systems that differ on most labels."""
    sizes = names.pairs(tests[tests["p_adjusted"] < 0.05]).groupby(["system", "system_b"]).size()
    if sizes.empty:
        return None
    first = [" and ".join(names.name("system", s) for s in pair) for pair in sizes.index[sizes == sizes.max()]]
    return {"first": first, "n_labels": int(sizes.max())}


def _spread(groups: Sequence[Results]) -> dict:
    """Median and largest difference between draws of the count of one label, of methods whose draws differ."""
    gaps = []
    for results in groups:
        low, high = (counts(results, PUBLISHED, "none", s) for s in ("smallest", "largest"))
        gap = high - low
        gaps.append(gap[gap.groupby("method").transform("max") > 0] if len(gap) else gap)
    gap = pd.concat(gaps)
    return {"median": gap.median(), "largest": int(gap.max())} if len(gap) else {"median": None, "largest": None}


def _errors(parts: Sequence[tuple[str, Results]], names: DisplayNames, n_runs: int) -> dict:
    """Type I error of each test at 0.05: mean over labels of every method, corpus and group."""
    means: dict[str, list[float]] = {}
    for _, results in parts:
        rows = results.select("null_rejection", alpha=0.05, test=[*PUBLISHED, "session"]).dropna(subset="estimate")
        for (_, test), of_test in names.sort(rows).groupby(["method", "test"], sort=False):
            means.setdefault(test, []).append(of_test["estimate"].mean())
    chance = 1.96 * np.sqrt(0.05 * 0.95 / n_runs)
    published = np.array([share for test, shares in means.items() if test in PUBLISHED for share in shares])
    facts = {"inflated": bool((published > INFLATED).any()), "conservative": bool((published < CONSERVATIVE).any())}
    tests = [(TESTS[test], shares) for test, shares in means.items()]
    tested = [results for _, results in parts if len(results["null_rejection"])]
    return facts | {"tests": tests, "chance": chance, "first_only": len(tested) < len(parts)}


def printed(cells: pd.DataFrame, *, same_size: bool) -> Prose:
    """How many printed counts agree, and how often another label's count would.

    cells : `tables.printed_counts`. same_size : whether draws have the paper's number of conversations.
    """
    gap = (cells["here"] - cells["value"]).abs()
    inside = cells["value"].between(cells["smallest"], cells["largest"])
    facts = {"n": len(cells), "n_equal": int((gap == 0).sum()), "n_near": int((gap <= 1).sum())}
    facts |= {"same_size": same_size, "n_inside": int(inside.sum())}
    return Prose(_PHRASES.say("printed", by_chance=others_inside(cells), **facts))


def others_inside(cells: pd.DataFrame) -> float | None:
    """How often the printed count of another label of the same method and level lies inside a label's range."""
    hits, n = 0, 0
    for _, part in cells.dropna(subset="smallest").groupby(["method", "alpha"]):
        value, low, high = (part[c].to_numpy(float) for c in ("value", "smallest", "largest"))
        inside = (low[:, None] <= value[None, :]) & (value[None, :] <= high[:, None])
        hits, n = hits + inside.sum() - np.trace(inside), n + inside.size - len(part)
    return hits / n if n else None


def equivalence(results: Results, judged: Sequence[JudgedGroup], names: DisplayNames) -> Prose:
    """Of how many pairs a difference is found, how many are shown to be alike, and of how many neither holds."""
    groups = []
    for one in judged:
        rows = verdicts(of_group(results, one))
        if rows.empty:
            continue
        differ, alike = rows["differ"], rows["alike"]
        untested = int(primary(of_group(results, one))["p_value"].notna().sum()) - len(rows)
        facts = {"who": who(one, judged, names), "n": len(rows), "untested": untested, "n_differ": int(differ.sum())}
        facts |= {"n_alike": int((alike & ~differ).sum()), "n_both": int((alike & differ).sum())}
        facts |= {"n_open": int((~differ & ~alike).sum()), "smallest": rows["smallest"].quantile([0, 0.5]).tolist()}
        groups.append(facts)
    return Prose(_PHRASES.say("equivalence", groups=groups, within=within(results["equivalence"]) if groups else ""))
