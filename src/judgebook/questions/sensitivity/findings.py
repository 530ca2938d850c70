"""What notebook 05 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.sensitivity.analysis import (
    PRIMARY,
    PUBLISHED,
    approximate,
    bounded,
    counts,
    detectable,
    of_group,
    of_one_pick,
    primary,
    primary_name,
    verdicts,
    with_people,
)
from judgebook.questions.sensitivity.judged_groups import JudgedGroup
from judgebook.questions.sensitivity.power import SAMPLE
from judgebook.questions.sensitivity.question import Sensitivity
from judgebook.questions.sensitivity.shown import TESTS, who
from judgebook.statistics.bounded_means import LEAST_AWAY, MOST_VALUES
from judgebook.study.labels import METHODS
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)
#: type I error at 0.05 that a sound test exceeds, or stays below, by more than chance only
INFLATED, CONSERVATIVE = 0.075, 0.025


def findings(
    results: Results, judged: Sequence[JudgedGroup], names: DisplayNames, options: Sensitivity
) -> Iterator[Prose]:
    """The headline; pairs by method; type I error; what more conversations would find."""
    parts = [(who(one, judged, names), of_group(results, one)) for one in judged]
    groups = [
        {"who": name, **_found(of_part), "pairs": _most_often(primary(of_part), names)} for name, of_part in parts
    ]
    facts = {
        "test": primary_name(results),
        "blocks": "" if judged[0].weighted else judged[0].blocks,
        "approximate": any(approximate(of_part) for _, of_part in parts),
        "most": MOST_VALUES,
        "least": LEAST_AWAY,
        "bounded": sum(bounded(primary(of_part)) for _, of_part in parts),
        "n_tests": sum(g["n"] for g in groups),
    }
    yield Prose(_PHRASES.say("headline", groups=groups, **facts))
    by_method = [line for name, of_part in parts for line in _by_method(of_part, name, names)]
    drawn = next((size for one in judged if (size := one.draw_size(options.n_dialogues))), None)
    n_draws = min(one.n_draws(options.n_draws) for one in judged)
    spread = _spread([of_part for _, of_part in parts])
    test = primary_name(results)
    yield Prose(_PHRASES.say("by_method", parts=by_method, test=test, drawn=drawn, n_draws=n_draws, **spread))
    weighted, n_runs = any(one.weighted for one in judged), options.null_runs
    yield Prose(_PHRASES.say("errors", n_runs=n_runs, weighted=weighted, **_errors(parts, names, n_runs)))
    planned = [line for name, of_part in parts for line in _planning(of_part, name, names)]
    yield Prose(_PHRASES.say("planning", parts=planned))


def sample(judged: Sequence[JudgedGroup], names: DisplayNames, *, n: int) -> Prose:
    """How many dialogues per system each group judged, and how many a draw has."""
    groups = [
        {"who": who(one, judged, names), "few": min(one.dialogues), "many": max(one.dialogues)}
        | {"drawn": one.draw_size(n)}
        for one in judged
    ]
    return Prose(_PHRASES.say("sample", groups=groups, n=n, weighted=any(one.weighted for one in judged)))


def _found(results: Results) -> dict:
    """How many labels and comparisons can be tested, and how many are significant."""
    tests, people = primary(results).dropna(subset="p_value"), with_people(results)
    sure = tests[tests["p_adjusted"] < 0.05]
    n_labels, n_apart = (len(rows[["method", "label"]].drop_duplicates()) for rows in (tests, sure))
    of_pick = of_one_pick(results)
    return {
        "picked": int((of_pick["p_adjusted"] < 0.05).sum()) if len(of_pick) else None,
        "n_labels": n_labels,
        "n_apart": n_apart,
        "n": len(tests),
        "n_sure": len(sure),
        "over_all": int(counts(results, PRIMARY, "all").sum()),
        "n_people": int((people["p_adjusted"] < 0.05).sum()) if len(people) else None,
        "n_tested": len(people),
    }


def _most_often(tests: pd.DataFrame, names: DisplayNames) -> dict | None:
    """The pairs of systems that differ on most labels."""
    sizes = names.pairs(tests[tests["p_adjusted"] < 0.05]).groupby(["system", "system_b"]).size()
    if sizes.empty:
        return None
    first = [" and ".join(names.name("system", s) for s in pair) for pair in sizes.index[sizes == sizes.max()]]
    return {"first": first, "n_labels": int(sizes.max())}


def _named(method: str, part: str, names: DisplayNames) -> str:
    return names.name("method", method) + (f", {part}" if part else "")


def _by_method(results: Results, part: str, names: DisplayNames) -> list[dict]:
    """Mean number of significant pairs per label, by method: permutation test, published tests over draws."""
    counted = counts(results, PRIMARY, "label")
    over_draws = [counts(results, PUBLISHED, "none", s) for s in ("mean", "smallest", "largest")]
    n = results["n_significant"].groupby("method")["n"].first()
    out = []
    for method in sorted(counted.index.unique("method"), key=lambda m: names.position("method", m)):
        draws = [values[method].mean() for values in over_draws if method in values.index]
        line = {"who": _named(method, part, names), "n": int(n[method]), "mean": counted[method].mean(), "draws": draws}
        out.append(line)
    return out


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
    out, published = [], []
    for part, results in parts:
        rows = results.select("null_rejection", alpha=0.05, test=[*PUBLISHED, "session"]).dropna(subset="estimate")
        for method, of_method in names.sort(rows).groupby("method", sort=False):
            means = of_method.groupby("test", sort=False)["estimate"].mean()
            out.append({"who": _named(method, part, names), "tests": [(TESTS[t], share) for t, share in means.items()]})
            published += means[means.index.isin(PUBLISHED)].tolist()
    chance = 1.96 * np.sqrt(0.05 * 0.95 / n_runs)
    inflated, conservative = (np.array(published) > INFLATED).any(), (np.array(published) < CONSERVATIVE).any()
    facts = {"inflated": bool(inflated), "conservative": bool(conservative)}
    tested = [results for _, results in parts if len(results["null_rejection"])]
    return facts | {"parts": out, "chance": chance, "first_only": len(tested) < len(parts)}


def _planning(results: Results, part: str, names: DisplayNames) -> list[dict]:
    """Of each method the detectable difference now, after adjustment, by a single test and with annotators as a sample,
    and expected power at the most dialogues: median and range over labels."""
    now = detectable(results)
    single = results.select("detectable_effect", n_dialogues=None)
    shares, others = results["power"].dropna(subset="estimate"), detectable(results, people=SAMPLE)
    out = []
    for method, rows in names.sort(now).groupby("method", sort=False):
        of_method = shares[shares["method"] == method].astype({"n_dialogues": int})
        n = int(of_method["n_dialogues"].max()) if len(of_method) else None
        power = of_method.loc[of_method["n_dialogues"] == n, "estimate"]
        marks = all(names.labels[method, label].binary for label in rows["label"])
        share = marks or METHODS[method].unit == "pair"
        say = {"scale": 100 if share else 1, "decimals": 1 if share else 2, "share": share, "n": n}
        kinds = {"least": rows, "single": single, "others": others}
        quantiles = {
            k: f.loc[f["method"] == method, "estimate"].quantile([0.5, 0, 1]).tolist() for k, f in kinds.items()
        }
        quantiles["others"] = quantiles["others"] if (others["method"] == method).any() else None
        line = {"who": _named(method, part, names), "power": [power.median(), power.min(), power.max()]}
        out.append(line | say | quantiles)
    return out


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


def equivalence(results: Results, judged: Sequence[JudgedGroup], names: DisplayNames, *, margin: float) -> Prose:
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
    return Prose(_PHRASES.say("equivalence", groups=groups, margin=margin))
