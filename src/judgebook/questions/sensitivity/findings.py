"""What notebook 05 says: facts from its results and the fits of notebook 07, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.performance.fitted import POWER
from judgebook.questions.sensitivity.analysis import PUBLISHED, compared, counts, of_group, on_all, others
from judgebook.questions.sensitivity.judged_groups import JudgedGroup
from judgebook.questions.sensitivity.question import Sensitivity
from judgebook.questions.sensitivity.shown import TESTS, who
from judgebook.study.labels import METHODS
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)
#: type I error at 0.05 that a sound test exceeds, or stays below, by more than chance only
INFLATED, CONSERVATIVE = 0.075, 0.025


def findings(
    results: Results, judged: Sequence[JudgedGroup], names: DisplayNames, options: Sensitivity
) -> Iterator[Prose]:
    """The headline; what was counted; draws; type I error.

    results : with those of the fits (`analysis.with_fits`).
    """
    parts = [(who(one, judged, names), of_group(results, one)) for one in judged]
    groups = [{"who": name, **tally(of_part), "pairs": _most_often(of_part, names)} for name, of_part in parts]
    yield Prose(_PHRASES.say("headline", groups=groups, power=POWER, **_points([p for _, p in parts], names)))
    yield Prose(_PHRASES.say("counted", groups=groups))
    drawn = next((size for one in judged if (size := one.draw_size(options.n_dialogues))), None)
    n_draws = min(one.n_draws(options.n_draws) for one in judged)
    yield Prose(_PHRASES.say("draws", drawn=drawn, n_draws=n_draws, **_spread([of_part for _, of_part in parts])))
    weighted, n_runs = any(one.weighted for one in judged), options.null_runs
    yield Prose(_PHRASES.say("errors", n_runs=n_runs, weighted=weighted, **_errors(parts, names, n_runs)))


def tally(results: Results) -> dict:
    """How many labels and comparisons can be compared by the fits, how many are decided, and for whom; and how many of
    the published tests on all dialogues are significant."""
    rows, published = compared(results), on_all(results).dropna(subset="p_value")
    sure = rows[rows["sure"]]
    n_labels, n_apart = (len(frame[["method", "label"]].drop_duplicates()) for frame in (rows, sure))
    return {
        "n_labels": n_labels,
        "n_apart": n_apart,
        "n": len(rows),
        "n_sure": len(sure),
        "full": n_apart == n_labels,
        "share": len(sure) / max(len(rows), 1),
        "others": others(results),
        "n_published": int((published["p_value"] < 0.05).sum()),
        "of_published": len(published),
    }


def shares(method: str, label: str, names: DisplayNames) -> bool:
    """Whether differences are told in percentage points: of marks and comparisons."""
    return METHODS[method].unit == "pair" or names.labels[method, label].binary


def _points(parts: Sequence[Results], names: DisplayNames) -> dict[str, list[float]]:
    """Medians over labels, by method and group, of the difference that is decided with 80% power: of marks and
    comparisons (percentage points), and of ratings (points on their scales)."""
    out: dict[str, list[float]] = {"shares": [], "points": []}
    for results in parts:
        rows = results["difference_found"].dropna(subset="estimate")
        for method, of_method in rows.groupby("method", sort=False):
            share = all(shares(str(method), label, names) for label in of_method["label"])
            out["shares" if share else "points"].append((100 if share else 1) * of_method["estimate"].median())
    return out


def sample(judged: Sequence[JudgedGroup], names: DisplayNames, *, n: int) -> Prose:
    """How many dialogues per system each group judged, and how many a draw has."""
    groups = [
        {"who": who(one, judged, names), "few": min(one.dialogues), "many": max(one.dialogues)}
        | {"drawn": one.draw_size(n)}
        for one in judged
    ]
    return Prose(_PHRASES.say("sample", groups=groups, n=n, weighted=any(one.weighted for one in judged)))


def _most_often(results: Results, names: DisplayNames) -> dict | None:
    """The pairs of systems that differ on most labels."""
    rows = compared(results)
    sizes = names.pairs(rows[rows["sure"]]).groupby(["system", "system_b"]).size()
    if sizes.empty:
        return None
    first = [" and ".join(names.name("system", s) for s in pair) for pair in sizes.index[sizes == sizes.max()]]
    return {"first": first, "n_labels": int(sizes.max())}


def _spread(groups: Sequence[Results]) -> dict:
    """Median and largest difference between draws of the count of one label, of methods whose draws differ."""
    gaps = []
    for results in groups:
        gap = counts(results, "largest") - counts(results, "smallest")
        gaps.append(gap[gap.groupby("method").transform("max") > 0] if len(gap) else gap)
    gap = pd.concat(gaps)
    return {"median": gap.median(), "largest": int(gap.max())} if len(gap) else {"median": None, "largest": None}


def _errors(parts: Sequence[tuple[str, Results]], names: DisplayNames, n_runs: int) -> dict:
    """Type I error of each published test at 0.05: mean over labels of every method, corpus and group."""
    means: dict[str, list[float]] = {}
    for _, results in parts:
        rows = results.select("null_rejection", alpha=0.05, test=PUBLISHED).dropna(subset="estimate")
        for (_, test), of_test in names.sort(rows).groupby(["method", "test"], sort=False):
            means.setdefault(test, []).append(of_test["estimate"].mean())
    chance = 1.96 * np.sqrt(0.05 * 0.95 / n_runs)
    rates = np.array([share for every in means.values() for share in every])
    facts = {"inflated": bool((rates > INFLATED).any()), "conservative": bool((rates < CONSERVATIVE).any())}
    tests = [(TESTS[test], every) for test, every in means.items()]
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
