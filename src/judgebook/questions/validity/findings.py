"""What notebooks 04 and 06 say: facts from their results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy.special import ndtri

from judgebook.annotations.dialogue_values import COMPARATIVE_QUALITY, DIALOGUE_QUALITY
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases, plural
from judgebook.display.views import Prose
from judgebook.questions.validity.analysis import KEY, comparison, correlations, excludes_zero
from judgebook.questions.validity.coverage import FITS
from judgebook.questions.validity.targets import Targets
from judgebook.questions.validity.views import ROWS, STATISTICS, TITLES, sampled
from judgebook.study.labels import LABEL_SETS
from judgebook.study.results import Results

#: a label chosen in this share of half-samples is called stable
STABLE = 0.8
#: the label set of the paper, and rows of its models (sections 6 and 7.2)
PAPER, _IN_PAPER = "abc_eval", {DIALOGUE_QUALITY: 400, COMPARATIVE_QUALITY: 184}
POWER = 0.8
_PHRASES = Phrases(__package__)


def importance(
    results: Results, names: DisplayNames, *, confidence: float, itself: str | None = None
) -> Iterator[Prose]:
    """The headline of notebook 04, and how certain the order of labels is.

    itself : the label that is predicted, if others judged it too (`Targets.label`): how well it predicts itself is
    agreement between people, and not counted in the headline.
    """
    targets = [t for t in TITLES if len(results.select("r", target=t))]
    related = [_related(results, t, names, confidence, itself) for t in targets]
    yield Prose(_PHRASES.say("related", targets=related, group=_group(results["r"], names)))
    ranks = [_ranks(results.select("importance_rank", target=t), t) for t in targets]
    yield Prose(_PHRASES.say("ranking", targets=[r for r in ranks if r["n"] > 1], level=confidence))


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
    facts |= {"rated_by": [names.name("group", g) for g in study_targets.rated_by]}
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
    rows = names.sort(results.select("r", target=target).query("ci_low.isna()"))
    facts = [(_name(row, names), row["note"]) for _, row in rows.iterrows()]
    return Prose(_PHRASES.say("reasons", target=TITLES[target], rows=facts))


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


def _name(row: pd.Series, names: DisplayNames) -> str:
    return f"{names.name('label', row['label'], row['method'])}, {names.name('method', row['method'])}"


def coverage(
    results: Results, selected: pd.DataFrame, names: DisplayNames, applied: dict[str, float]
) -> Iterator[Prose]:
    """The headline of notebook 06, labels kept; the fit of each method; stable labels. applied :
    `analysis.limits`."""
    targets = [t for t in TITLES if len(comparison(results, t))]
    explained = [_explained(results, t, names) for t in targets]
    fits = pd.concat([results["r2"], results["mcfadden_r2"]]) if targets else results["r2"]
    yield Prose(_PHRASES.say("explained", targets=explained))
    labels = selected[selected["kept"]]
    yield Prose(_PHRASES.say("kept", n=len(selected), kept=len(labels), parts=_grouped(labels, names)))
    yield Prose(_PHRASES.say("thresholds", **_strictest(selected, applied)))
    yield Prose(_PHRASES.say("fits", targets=explained, group=_group(fits, names)))
    frequency = results["selection_frequency"].dropna(subset="estimate")
    stable = [_stable(frequency[frequency["target"] == t], t, names) for t in TITLES]
    yield Prose(_PHRASES.say("stable", targets=[s for s in stable if s["n"]], share=STABLE))


def excluded(results: Results, names: DisplayNames) -> Prose:
    """Methods and labels that could not be used, and why."""
    rows = pd.concat([results.select(s, kind="excluded") for s in (*FITS.values(), "selection_frequency")])
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


def _strictest(selected: pd.DataFrame, applied: dict[str, float]) -> dict:
    """The thresholds, and which of them alone excludes the most labels."""
    missed = {c: int((~selected[f"{c}_met"]).sum()) for c in applied}
    strictest = max(missed, key=missed.__getitem__, default=None)
    return {"limits": applied, "strictest": strictest, "missed": missed[strictest] if strictest else 0}


def reach(study_targets: Targets, results: Results, names: DisplayNames, label_set: str | None, section: str) -> Prose:
    """What notebooks 04 and 06 can and cannot say about Finch et al. 2023, for a study with the paper's labels whose
    target is external, or which lacks some of them; else nothing. What differs is read from the study.

    results : of the notebook. section : whose claim is meant, `7.3` (notebook 04) or `7.4` (06).
    """
    have = set(study_targets.values[["method", "label"]].drop_duplicates().itertuples(index=False, name=None))
    parts: dict[str, list[bool]] = {}
    for label in LABEL_SETS[PAPER] if label_set == PAPER else ():
        parts.setdefault(label.method, []).append((label.method, label.id) in have)
    absent = [(names.name("method", m), sum(flags), len(flags)) for m, flags in parts.items() if not all(flags)]
    if not parts or not (study_targets.external or absent):
        return Prose("")
    sizes = [
        {"title": TITLES[t], "n": len(d.y), "row": ROWS[t], "paper": _IN_PAPER[t], "least": detectable(len(d.y))}
        for t, d in study_targets.designs.items()
    ]
    shared = [names.name("method", m) for m in study_targets.shared] if study_targets.external else []
    facts = {"section": section, "external": study_targets.external, "sizes": sizes, "absent": absent}
    return Prose(_PHRASES.say("reach", differences=_differences(results, names), shared=shared, **facts))


def detectable(n: int, alpha: float = 0.05) -> float:
    """The correlation that a test on n independent rows finds with a probability of POWER (Fisher's z)."""
    return float(np.tanh((ndtri(1 - alpha / 2) + ndtri(POWER)) / np.sqrt(max(n - 3, 1))))


def _differences(results: Results, names: DisplayNames) -> list[dict]:
    rows, out = results["fit_difference"].dropna(subset="ci_low"), []
    for row in rows.to_dict("records"):
        a, b = (names.name("method", row[key]) for key in ("method", "other"))
        leader, other = (a, b) if row["ci_low"] > 0 else (b, a)
        facts = {"a": a, "b": b, "leader": leader, "other": other, "title": TITLES[row["target"]], "row": row}
        out.append(facts | {"open": bool(row["ci_low"] <= 0 <= row["ci_high"])})
    return out
