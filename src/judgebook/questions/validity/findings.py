"""What notebooks 04 and 06 say: facts from their results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.dialogue_values import DIALOGUE_QUALITY
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases, percent, plural
from judgebook.display.views import Prose
from judgebook.questions.validity.analysis import KEY, chosen, comparison, corrected, correlations, excludes_zero
from judgebook.questions.validity.coverage import FITS
from judgebook.questions.validity.label_selection import ALL
from judgebook.questions.validity.tables import ROWS, SETS, STATISTICS, TITLES, sampled
from judgebook.questions.validity.targets import Targets
from judgebook.study.results import Results

#: a label chosen in this share of half-samples is called stable
STABLE = 0.8
#: a true |r| that an analysis of a simulated study should find
STRONG = 0.2
_PHRASES = Phrases(__package__)


def importance(
    results: Results, names: DisplayNames, *, confidence: float, itself: str | None = None
) -> Iterator[Prose]:
    """The headline of notebook 04; how certain the order of labels is; measurement error; halo.

    itself : the label that is predicted, if others judged it too (`Targets.label`): how well it predicts itself is
    agreement between people, and not counted in the headline.
    """
    targets = [t for t in TITLES if len(results.select("r", target=t))]
    related = [_related(results, t, names, confidence, itself) for t in targets]
    yield Prose(_PHRASES.say("related", targets=related, group=_group(results["r"], names)))
    ranks = [_ranks(results.select("importance_rank", target=t), t) for t in targets]
    yield Prose(_PHRASES.say("ranking", targets=[r for r in ranks if r["n"] > 1], level=confidence))
    noisy = [_noise(results, t) for t in targets if len(corrected(results, t))]
    yield Prose(_PHRASES.say("noise", targets=noisy))
    yield Prose(_PHRASES.say("halo", **_halo(results, names)))


def predictors(study_targets: Targets, names: DisplayNames) -> Prose:
    """Who predicts whose ratings."""
    people = sorted(set(study_targets.n_annotators.values()))
    groups: dict[str, list[str]] = {}
    for method in sorted(study_targets.groups, key=lambda m: names.position("method", m)):
        groups.setdefault(names.name("group", study_targets.groups[method]), []).append(names.name("method", method))
    facts = {
        "groups": list(groups.items()),
        "n_interactors": study_targets.n_interactors,
        "external": study_targets.external,
    }
    facts |= {"rated_by": [names.name("group", g) for g in study_targets.rated_by], "rating": study_targets.rating}
    facts |= {
        "shared": [names.name("method", m) for m in study_targets.shared],
        "targets": [ROWS[t] for t in study_targets.designs],
    }
    facts["n_ties"] = study_targets.n_ties
    return Prose(_PHRASES.say("predictors", fewest=min(people, default=0), most=max(people, default=0), **facts))


def population(study_targets: Targets, results: Results) -> Prose:
    """Of whom the statements hold: intervals allow for the choice of who talked, where that is known, and never for the
    choice of who judged, so that not knowing who judged makes no statement more certain."""
    rows = results["r"] if len(results["r"]) else pd.concat([results[s] for s in FITS.values()])
    units = sampled(rows.dropna(subset="ci_low"))
    judged = {(m, label) for m, label in study_targets.values[KEY].drop_duplicates().itertuples(index=False, name=None)}
    all_known = judged <= {key for key, n in study_targets.n_annotators.items() if n}
    return Prose(_PHRASES.say("population", units=units, known=all_known, people=units == "people"))


def left_out(results: Results, target: str) -> str:
    """What cross-validation leaves out: people, where it is known who talked; else sessions or dialogues."""
    rows = results.select(FITS[target], target=target, kind="cross_validated")
    return sampled(rows)


def by_method(results: Results, names: DisplayNames, target: str) -> Prose:
    """Median |r| of each method, and how many of its labels have an interval that excludes 0."""
    parts = names.sort(correlations(results, target)).groupby("method", sort=False)
    facts = [
        {"method": names.name("method", m), "n": len(p), "related": int(excludes_zero(p).sum())}
        | {"median": p["estimate"].abs().median()}
        for m, p in parts
    ]
    return Prose(_PHRASES.say("by_method", target=TITLES[target], parts=facts))


def reasons(results: Results, names: DisplayNames, target: str) -> Prose:
    """Labels without r or without an interval, and why."""
    rows = names.sort(results.select("r", target=target, kind=None).query("ci_low.isna()"))
    facts = [(_name(row, names), row["note"]) for _, row in rows.iterrows()]
    return Prose(_PHRASES.say("reasons", target=TITLES[target], rows=facts))


def against_truth(results: Results, truth: Mapping[str, Any], *, confidence: float) -> Prose:
    """How many intervals of r with dialogue quality contain the true correlation of a simulated study, and which labels
    are found. truth : `quality`, records of method, label, r."""
    true = pd.DataFrame(truth["quality"]).dropna(subset="r").rename(columns={"r": "true"})
    rows = correlations(results, DIALOGUE_QUALITY).dropna(subset="ci_low").merge(true[[*KEY, "true"]], on=KEY)
    null, strong, clear = rows["true"] == 0, rows["true"].abs() >= STRONG, excludes_zero(rows)
    right = clear & (np.sign(rows["estimate"]) == np.sign(rows["true"]))
    facts = {
        "n": len(rows),
        "held": int(rows["true"].between(rows["ci_low"], rows["ci_high"]).sum()),
        "null": int(null.sum()),
        "wrong": int(clear[null].sum()),
        "strong": int(strong.sum()),
        "found": int(right[strong].sum()),
        "expected": confidence * len(rows),
        "least": STRONG,
    }
    return Prose(_PHRASES.say("against_truth", **facts))


def _group(rows: pd.DataFrame, names: DisplayNames) -> str | None:
    """The group whose judgements predict; None where there is one group only."""
    groups = set(rows["group"].dropna()) - {"all"}
    return names.name("group", groups.pop()) if len(groups) == 1 else None


def _related(results: Results, target: str, names: DisplayNames, confidence: float, itself: str | None) -> dict:
    every = correlations(results, target)
    rows = every[every["label"] != itself]
    same = every[(every["label"] == itself) & every["ci_low"].notna()]
    bounded = rows[rows["ci_low"].notna()]
    clear = bounded[excludes_zero(bounded)]
    best = clear.loc[clear["estimate"].abs().sort_values(ascending=False, kind="stable").index[:3]]
    unit = bounded["resample_unit"].iloc[0] if len(bounded) else ROWS[target]
    size = plural(int(rows["n"].max()), ROWS[target]) if len(rows) else ""
    size += f" of {plural(int(rows['n_clusters'].max()), unit)}" if unit != ROWS[target] else ""
    facts = {"title": TITLES[target], "size": size, "n_labels": len(rows), "n": len(bounded), "related": len(clear)}
    facts |= {"expected": (1 - confidence) * len(bounded), "level": confidence}
    facts["same"] = [(_name(row, names), row.to_dict()) for _, row in same.iterrows()]
    return facts | {"best": [(_name(row, names), row.to_dict()) for _, row in best.iterrows()]}


def _ranks(rows: pd.DataFrame, target: str) -> dict:
    bounded = rows[rows["ci_low"].notna()]
    places = (bounded["ci_high"] - bounded["ci_low"] + 1).median() if len(bounded) else 0
    first = int((bounded["ci_low"] == 1).sum())
    return {"title": TITLES[target], "n": len(bounded), "first": first, "places": int(places)}


def _noise(results: Results, target: str) -> dict:
    reliability = results.select("repeat_reliability", target=target)["estimate"].median()
    factor = 1 / np.sqrt(reliability) if reliability > 0 else None
    return {"title": TITLES[target], "row": ROWS[target], "reliability": reliability, "factor": factor}


def _halo(results: Results, names: DisplayNames) -> dict:
    """Methods whose labels mostly come from one annotator per dialogue or pair, and the others."""
    shares = results["single_source_share"].set_index("method")["estimate"]
    between = results["label_intercorrelation"].set_index("method")["estimate"]
    rows = [(names.name("method", m), shares.get(m, nan), between[m]) for m in between.index]
    return {"same": [r for r in rows if r[1] > 0.5], "others": [r for r in rows if not r[1] > 0.5]}


def _name(row: pd.Series, names: DisplayNames) -> str:
    return f"{names.name('label', row['label'], row['method'])}, {names.name('method', row['method'])}"


def coverage(
    results: Results, selected: pd.DataFrame, names: DisplayNames, applied: dict[str, float]
) -> Iterator[Prose]:
    """The headline of notebook 06, labels kept; the fit of each method; stable labels. applied :
    `label_selection.limits`."""
    targets = [t for t in TITLES if len(comparison(results, t))]
    explained = [_explained(results, t, names) for t in targets]
    fits = pd.concat([results["r2"], results["mcfadden_r2"]]) if targets else results["r2"]
    yield Prose(_PHRASES.say("explained", targets=explained))
    labels = selected[selected["kept"]]
    yield Prose(_PHRASES.say("kept", n=len(selected), kept=len(labels), parts=_grouped(labels, names)))
    yield Prose(_PHRASES.say("thresholds", **_strictest(selected, applied), minutes=_minutes(results, names)))
    yield Prose(_PHRASES.say("fits", targets=explained, group=_group(fits, names)))
    frequency = results["selection_frequency"].dropna(subset="estimate")
    stable = [_stable(frequency[frequency["target"] == t], t, names) for t in TITLES]
    close = [(r.close, names.name("method", r.method), TITLES[t]) for t in TITLES for r in _closest(results, t)]
    yield Prose(_PHRASES.say("stable", targets=[s for s in stable if s["n"]], share=STABLE, close=close))


def precision(n_permutations: int, n_halves: int) -> Prose:
    """Monte Carlo error of results based on random draws: binomial 95% margins."""
    half = 1.96 * np.sqrt(0.25 / n_halves)
    low, high = (0.95 + side * 1.96 * np.sqrt(0.95 * 0.05 / n_permutations) for side in (-1, 1))
    facts = {"half": 100 * half, "low": percent(low), "high": percent(min(high, 1.0))}
    return Prose(_PHRASES.say("precision", n_permutations=n_permutations, n_halves=n_halves, **facts))


def label_sets(results: Results, names: DisplayNames) -> Prose:
    """What chosen sets of labels explain less than all labels of their method, on people left out."""
    rows = names.sort(results.select("set_fit_difference", kind="cross_validated").dropna(subset="ci_low"))
    every = results.select("set_fit", set=ALL, kind="cross_validated").set_index(["method", "target"])["k"]
    facts = [
        {"set": SETS[row["set"]].lower(), "method": names.name("method", row["method"]), "title": TITLES[row["target"]]}
        | {"k": int(row["k"]), "all": int(every[row["method"], row["target"]]), "row": row}
        | {"resolved": bool(row["ci_low"] > 0 or row["ci_high"] < 0)}
        for row in rows.to_dict("records")
    ]
    return Prose(_PHRASES.say("label_sets", sets=[f for f in facts if f["resolved"]], n=len(facts)))


def excluded(results: Results, names: DisplayNames) -> Prose:
    """Methods and labels that could not be used, and why."""
    rows = pd.concat([results.select(s, kind="excluded") for s in ("r2", "mcfadden_r2", "selected")])
    facts = []
    for row in rows[["method", "label", "target", "note"]].drop_duplicates().to_dict("records"):
        label_name = f", {names.name('label', row['label'], row['method'])}" if isinstance(row["label"], str) else ""
        facts.append((names.name("method", row["method"]) + label_name, TITLES[row["target"]], row["note"]))
    return Prose(_PHRASES.say("excluded", rows=facts))


def paper_in_words(results: Results, names: DisplayNames, named: Sequence[str]) -> Prose:
    """What section 7.4 of Finch et al. 2023 says in words, and what is found here; nothing without those behaviours.

    named : behaviours the section calls distinct. The rest is drawn (Figure 3) or shown in bold type (Table 4).
    """
    rows = results.select("selection_frequency", method="behavior").dropna(subset="estimate")
    facts = []
    for target in [t for t in TITLES if (rows["target"] == t).any()]:
        share = rows[rows["target"] == target].set_index("label")["estimate"]
        inside, best = share.index.isin(list(named)), _best_method(results, target)
        if not inside.any():
            continue
        fewest = share[inside].idxmin()
        fact = {
            "title": TITLES[target],
            "left": left_out(results, target),
            "best": best and names.name("method", best),
            "median": share[inside].median(),
        }
        fact |= {"fewest": names.name("label", fewest, "behavior"), "least": share[fewest]}
        facts.append(fact | {"others": None if inside.all() else share[~inside].median()})
    labels = [names.name("label", label, "behavior") for label in named]
    return Prose(_PHRASES.say("paper_in_words", labels=labels, targets=facts))


def _best_method(results: Results, target: str) -> str | None:
    """The method shown to explain more than every other on data left out, at the largest size all have."""
    last = _equal_size(comparison(results, target))
    return last["method"].iloc[0] if len(last) > 1 and _ahead(results, target, last["method"].iloc[0]) else None


def _ahead(results: Results, target: str, method: str) -> bool:
    """Whether the simultaneous intervals of all differences between a method and another lie above 0."""
    rows = results.select("fit_difference", target=target)
    first, second = rows[rows["method"] == method], rows[rows["other"] == method]
    return len(first) + len(second) > 0 and (first["ci_low"] > 0).all() and (second["ci_high"] < 0).all()


def _equal_size(rows: pd.DataFrame) -> pd.DataFrame:
    """`comparison` at the largest number of labels that all methods have, best cross-validated fit first."""
    size = rows.groupby("method")["k"].max().min() if len(rows) else 0
    return rows[rows["k"] == size].sort_values("cross_validated", ascending=False, kind="stable")


def _explained(results: Results, target: str, names: DisplayNames) -> dict:
    rows = comparison(results, target)
    last, top = _equal_size(rows), rows.loc[rows["cross_validated"].fillna(-np.inf).idxmax()]
    facts = {"title": TITLES[target], "statistic": STATISTICS[target], "k": int(last["k"].iloc[0])}
    facts |= {"size": plural(int(last["n"].iloc[0]), ROWS[target]), "left": left_out(results, target)}
    facts["methods"] = [
        {"name": names.name("method", r["method"]), "row": r | {"estimate": r["cross_validated"]}} | r
        for r in last.to_dict("records")
    ]
    facts["ahead"] = _ahead(results, target, last["method"].iloc[0])
    best = {"name": names.name("method", top["method"]), "k": int(top["k"]), "fit": top["cross_validated"]}
    return facts | {"best": best}


def _stable(rows: pd.DataFrame, target: str, names: DisplayNames) -> dict:
    stable = rows[rows["estimate"] >= STABLE]
    return {"title": TITLES[target], "n": len(rows), "found": len(stable), "parts": _grouped(stable, names)}


def _grouped(labels: pd.DataFrame, names: DisplayNames) -> list[tuple[str, list[str]]]:
    """(method, its labels), as prose lists them."""
    return [
        (names.name("method", m), [names.name("label", label, m) for label in part["label"]])
        for m, part in names.sort(labels).groupby("method", sort=False)
    ]


def _closest(results: Results, target: str) -> list:
    """The method with most subsets nearly as good as its best, if more than one is."""
    rivals = chosen(results, target).query("close > 1").sort_values("close", ascending=False, kind="stable")
    return list(rivals.head(1).itertuples())


def _strictest(selected: pd.DataFrame, applied: dict[str, float]) -> dict:
    """The thresholds, and which of them alone excludes the most labels."""
    missed = {c: int((~selected[f"{c}_met"]).sum()) for c in applied}
    strictest = max(missed, key=missed.__getitem__, default=None)
    return {"limits": applied, "strictest": strictest, "missed": missed[strictest] if strictest else 0}


def _minutes(results: Results, names: DisplayNames) -> list[tuple[str, float, str]]:
    rows = results.select("unit_minutes", tasks="kept")
    return [(names.name("method", r.method), r.estimate, r.level) for r in rows.itertuples()]
