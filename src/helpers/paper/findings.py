"""What an author can say of a study: facts from its data and results, put into words by `text.md.j2`.

A passage is a function of the material that gives its facts, or None where the study has nothing to say; the macro of
the template has its name. Values are those of the results, settings those of the YAML.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pandas as pd
from markupsafe import Markup

from helpers.agreement import analysis as agreement_analysis
from helpers.display.text import Phrases
from helpers.groups import analysis as groups_analysis
from helpers.judges import analysis as judges_analysis
from helpers.metrics import analysis as metrics_analysis
from helpers.paper import references
from helpers.paper.analysis import Material, items, judged_systems, people
from helpers.performance import analysis as performance_analysis
from helpers.quality_control.worker_tests import OVERALL
from helpers.sensitivity import analysis as sensitivity_analysis
from helpers.study.labels import METHODS
from helpers.study.results import where

_PHRASES = Phrases(__package__)
#: more systems than this are not listed
MANY = 12
#: with more labels compared, strengths are left to the table
MOST = 4
#: packages whose versions are named
PACKAGES = ("numpy", "scipy", "statsmodels", "pandas")
#: units of judgement in words
_UNITS = {"turn": "turn", "dialogue": "dialogue", "pair": "pair of dialogues"}


def methods(m: Material) -> str:
    """The methods, as Markdown with citations."""
    return _said(m, METHODS_PASSAGES)


def results(m: Material) -> str:
    """The results, as Markdown with citations."""
    return _said(m, RESULTS_PASSAGES)


def _said(m: Material, passages: dict[str, Callable[[Material], dict | None]]) -> str:
    texts = []
    for name, facts in passages.items():
        found = facts(m)
        if found is not None:
            texts.append(_PHRASES.say(name, **found))
    return re.sub(r"(?<=\S) {2,}", " ", "\n\n".join(t for t in texts if t)) + "\n"


def _level(m: Material) -> float:
    return m.study.bootstrap.confidence


# Data


def data(m: Material) -> dict:
    """What was judged by whom."""
    systems, own = judged_systems(m.scores), references.of_data(m.study)
    methods_ = [_method(m, method, part) for method, part in _by_method(m)]
    groups = people(m.scores)
    models = [m.names.name("group", g) for g in m.scores.loc[m.scores["annotator_kind"] != "human", "group"].unique()]
    return {
        "title": m.study.title,
        "cite": Markup(f" [@{own.key}]") if own else "",
        "simulated": m.study.simulated,
        "n": len(m.scores),
        "n_human": len(m.human),
        "dialogues": int(pd.concat([m.scores["dialogue"], m.scores["dialogue_b"]]).nunique()),
        "n_systems": len(systems),
        "systems": [m.names.name("system", s) for s in sorted(systems, key=lambda s: m.names.position("system", s))]
        if len(systems) <= MANY
        else [],
        "methods": methods_,
        "groups": [(m.names.name("group", g), n) for g, n in groups.items()],
        "n_people": m.human.loc[m.human["annotator_known"].astype(bool), "annotator"].nunique(),
        "models": models,
        "control": m.names.name("system", m.study.control_system) if m.study.control_system else "",
    }


def _by_method(m: Material) -> list[tuple[str, pd.DataFrame]]:
    parts = dict(list(m.scores.groupby("method", sort=False)))
    return [(name, parts[name]) for name in METHODS if name in parts]


def _method(m: Material, method: str, part: pd.DataFrame) -> dict:
    labels = [label for (of, _), label in m.names.labels.items() if of == method and label.id in set(part["label"])]
    scales = list(dict.fromkeys(label.scale for label in labels))
    human = part[part["annotator_kind"] == "human"]
    return {
        "name": m.names.name("method", method),
        "unit": _UNITS[METHODS[method].unit],
        "labels": [label.title for label in labels],
        "scale": scales[0] if len(scales) == 1 else None,
        "binary": all(label.scale == (0, 1) and label.integer for label in labels),
        "words": any(label.categories for label in labels),
        "n_items": items(part).nunique(),
        "each": len(human) / len(human.assign(item=items(human))[["group", "label", "item"]].drop_duplicates())
        if len(human)
        else None,
    }


# Methods


def agreement(m: Material) -> dict | None:
    """How agreement was measured."""
    found = m.of("03")
    rows = agreement_analysis.primary(found) if found else ()
    if not len(rows):
        return None
    return {
        "measurement": sorted(set(rows["measurement"])),
        "first": m.study.iaa.first,
        "units": agreement_units(rows),
        "n_resamples": m.study.bootstrap.n_resamples,
        "level": _level(m),
        "bca": bool((rows["ci_kind"] == "bca").any()),
        "bounds": bool((rows["ci_kind"] == "exact_bound").any()),
        "profile": bool((rows["ci_kind"] == "profile").any()),
    }


def agreement_units(rows: pd.DataFrame) -> list[str]:
    """What the intervals of alpha resample."""
    words = {"pair": "pairs of dialogues"}
    return list(dict.fromkeys(words.get(u, f"{u}s") for u in rows["resample"]))


def scores(m: Material) -> dict | None:
    """How systems were scored and ranked."""
    found = m.of("07")
    if found is None:
        return None
    rows = performance_analysis.two_intervals(found) if any(len(found[s]) for s in performance_analysis.SCORES) else ()
    kinds = set(rows["statistic"]) if len(rows) else set()
    both = rows["resample_unit"].fillna("").str.endswith(" and annotator") if len(rows) else pd.Series(dtype=bool)
    clusters = sorted({str(u).removesuffix(" and annotator") for u in rows["resample_unit"].dropna()}) if kinds else []
    return {
        "statistics": [w for s, w in (("mean", "mean score"), ("rate", "rate of marks"), ("share", "share won"))
                       if s in kinds],
        "people": bool(both.any()),
        "alone": bool((~both).any()) if kinds else False,
        "clusters": clusters,
        "bca": bool((rows["ci_kind"] == "bca").any()) if kinds else False,
        "n_resamples": m.study.bootstrap.n_resamples,
        "bounds": bool(rows["ci_kind"].isin(["exact_bound", "clustered_exact"]).any()) if kinds else False,
        "level": _level(m),
        "strength": bool(found["strength"]["estimate"].notna().any()),
        "ranks": bool(len(found["rank"]) or len(found["overall_rank"])),
        "overall": bool(len(found["overall_mean"])),
    }  # fmt: skip


def tests(m: Material) -> dict | None:
    """How systems were compared."""
    found = m.of("05")
    if found is None or not len(sensitivity_analysis.primary(found)):
        return None
    options, rows = m.study.sensitivity, sensitivity_analysis.primary(found)
    return {
        "n_permutations": options.n_permutations,
        "blocks": sorted(set(rows["within"].dropna()) | set(rows["resample_unit"].dropna()) & {"context"}),
        "pairs": bool((rows["level"] == "pair").any()),
        "people": bool(len(sensitivity_analysis.with_people(found))),
        "margin": options.margin if len(found["equivalence"]) else None,
        "seed": m.study.seeds.permute,
    }


def importance(m: Material) -> dict | None:
    """How labels were related to quality."""
    found = m.of("04")
    if found is None or not len(found["r"]):
        return None
    return {"logit": bool(len(found["mcfadden_r2"])), "level": _level(m), "coverage": m.of("06") is not None,
            "n_halves": m.study.coverage.n_halves}  # fmt: skip


def groups(m: Material) -> dict | None:
    """How evaluator groups were compared."""
    found = m.of("08")
    if found is None or not len(found["group_difference"]):
        return None
    options = m.study.group_effects
    return {"n_permutations": options.n_permutations, "margin": options.margin,
            "n_resamples": m.study.bootstrap.n_resamples, "level": _level(m)}  # fmt: skip


def metrics(m: Material) -> dict | None:
    """How metrics were correlated with people."""
    found = m.of("09")
    if found is None or not len(found["correlation"]):
        return None
    units = sorted(set(found["correlation"]["resample_unit"].dropna()) & {"context", "dialogue"})
    tested = bool(found["correlation_difference"]["p_value"].notna().any())
    return {"units": [f"{u}s" for u in units], "n_resamples": m.study.metrics.n_resamples, "level": _level(m),
            "tested": tested}  # fmt: skip


def quality_control(m: Material) -> dict | None:
    """How workers were screened and runs compared."""
    found = m.of("10")
    if found is None or not len(found["pass_rate"]):
        return None
    options = m.study.quality_control
    return {
        "control": m.names.name("system", m.study.control_system or ""),
        "alpha": options.alpha,
        "labels": [_label(m, label) for label in options.labels],
        "replicated": bool(len(found["replication_r"])),
        "level": _level(m),
    }


def techniques(m: Material) -> dict | None:
    """How ways of evaluating were compared."""
    found = m.of("11")
    if found is None or not (len(found["technique_win_rate"]) or len(found["effective_win_rate"])):
        return None
    options = m.study.techniques
    names = [spec.title or m.names.name("method", spec.method) for spec in options.compare.values()]
    return {"names": names if len(names) <= MANY else [], "power": options.power, "alpha": options.alpha,
            "n_runs": options.n_runs, "hours": bool(found["hours_to_power"]["estimate"].notna().any())}  # fmt: skip


def judges(m: Material) -> dict | None:
    """How models were compared with people."""
    found = m.of("13")
    if found is None or not len(found["judge_alpha"]):
        return None
    tested = found["winning_rate"]
    return {
        "judges": _judges(m, found["judge_alpha"]["metric"]),
        "cost": m.study.judges.cost,
        "min_items": m.study.judges.min_items,
        "alt_test": bool(tested["estimate"].notna().any()),
        "n_resamples": m.study.bootstrap.n_resamples,
        "level": _level(m),
        "units": [f"{u}s" for u in dict.fromkeys(found["judge_alpha"]["resample_unit"].dropna())],
    }


def software(m: Material) -> dict:
    """What computed the results, from which data, with which seeds."""
    own = {
        name: m.made.packages[name] for name in ("numpy", "scipy", "statsmodels", "pandas") if name in m.made.packages
    }
    used = {"pick": "annotations picked at random", "downsample": "dialogues drawn", "permute": "permutations",
            "bootstrap": "resampling", "simulate": "simulated data"}  # fmt: skip
    seeds = m.study.seeds.model_dump()
    if not m.study.simulated:
        seeds.pop("simulate")
    return {
        "cite": Markup(f" [@{report_key(m)}]"),
        "version": m.made.version,
        "python": m.made.python,
        "numpy": own.get("numpy"),
        "scipy": own.get("scipy"),
        "others": [f"{n} {v}" for n, v in own.items() if n not in ("numpy", "scipy")],
        "data": m.made.data,
        "seeds": [f"{used[name]}: {seed}" for name, seed in seeds.items()],
    }


# Results


def agreement_found(m: Material) -> dict | None:
    """Range of alpha by method and group, and its ends with intervals."""
    found = m.of("03")
    rows = m.names.sort(agreement_analysis.primary(found)).dropna(subset="estimate") if found else ()
    if not len(rows):
        return None
    several, parts = len(set(rows["group"])) > 1, []
    for (method, group), own in rows.groupby(["method", "group"], sort=False):
        ends = [own.loc[own["estimate"].idxmax()], own.loc[own["estimate"].idxmin()]]
        parts.append(
            {
                "who": m.names.name("method", method) + (f", {m.names.name('group', group)}" if several else ""),
                "n": len(own),
                "median": own["estimate"].median(),
                "high": _named(m, ends[0]),
                "low": _named(m, ends[1]),
            }
        )
    free = rows[~rows["ci_kind"].isin(agreement_analysis.BOUNDS)]
    return {"parts": parts, "n": len(rows), "level": _level(m), "tentative": int((free["ci_low"] > 0.667).sum()),
            "chance": int((free["ci_low"] <= 0).sum()), "known": len(free)}  # fmt: skip


def ranks_found(m: Material) -> dict | None:
    """Which system is first, overall where labels are combined, and by label."""
    found = m.of("07")
    if found is None:
        return None
    overall = [_order(m, own, key) for key, own in _cells(m, found["overall_mean"], ["corpus", "method", "group"])]
    for line, (key, _) in zip(overall, _cells(m, found["overall_mean"], ["corpus", "method", "group"]), strict=True):
        ranks = where(found["overall_rank"], corpus=key[0], method=key[1], group=key[2]).set_index("system")
        line["rank"] = ranks.loc[line.pop("first_id")].to_dict() if len(ranks) else None
    by_label = []
    for key, own in _cells(m, found["rank"], ["corpus", "method", "group"]):
        sure = own[(own["ci_high"] == 1) & (own["ci_kind"] == "simultaneous")]
        by_label.append({"who": _who(m, key, found["rank"]), "n": own["label"].nunique(),
                         "n_sure": sure["label"].nunique()})  # fmt: skip
    strengths = [
        _order(m, own, key)
        for key, own in _cells(m, found["strength"].dropna(subset="estimate"), ["corpus", "method", "group", "label"])
        if len(set(own["system"])) > 1
    ]
    for line in strengths:
        line.pop("first_id")
    if not (overall or by_label or strengths):
        return None
    return {
        "overall": overall,
        "labels": by_label,
        "level": _level(m),
        "strengths": strengths if len(strengths) <= 4 else [],
    }


def _cells(m: Material, rows: pd.DataFrame, keys: list[str]) -> list[tuple[tuple, pd.DataFrame]]:
    return list(m.names.sort(rows).groupby(keys, sort=False)) if len(rows) else []


def _who(m: Material, key: tuple, rows: pd.DataFrame) -> str:
    """Method, with corpus, group and label where `rows` have several."""
    corpus, method, group, *label = key
    parts = [m.names.name("method", method)]
    parts += [m.names.name("label", label[0], method)] if label and len(set(rows["label"])) > 1 else []
    parts += [m.names.name("group", group)] if len(set(rows["group"])) > 1 else []
    parts += [m.names.name("corpus", corpus)] if len(set(rows["corpus"])) > 1 else []
    return ", ".join(parts)


def _order(m: Material, own: pd.DataFrame, key: tuple) -> dict:
    """The best and the worst system of rows of estimates, more being better."""
    found = own.sort_values("estimate", ascending=False, kind="stable")
    every = m.of("07")["strength" if len(key) == 4 else "overall_mean"]
    first, last = found.iloc[0], found.iloc[-1]
    return {
        "who": _who(m, key, every),
        "n": len(found),
        "first_id": first["system"],
        "first": m.names.name("system", first["system"]),
        "best": first.to_dict(),
        "last": m.names.name("system", last["system"]),
        "worst": last.to_dict(),
        "labels": int(first["n"]) if len(key) == 3 else None,
    }


def tests_found(m: Material) -> dict | None:
    """How many pairs of systems differ, are equivalent, and what could have been detected."""
    found = m.of("05")
    rows = sensitivity_analysis.primary(found).dropna(subset="p_value") if found else ()
    if not len(rows):
        return None
    parts = []
    for key, own in _cells(m, rows, ["corpus", "method", "group"]):
        mine = dict(zip(("corpus", "method", "group"), key, strict=True))
        people_ = where(sensitivity_analysis.with_people(found), **mine).dropna(subset="p_adjusted")
        alike = where(sensitivity_analysis.verdicts(found), **mine) if len(found["equivalence"]) else ()
        least = found.select("detectable_effect", n_dialogues=None, **mine).dropna(subset="estimate")["estimate"]
        parts.append(
            {
                "who": _who(m, key, rows),
                "labels": own["label"].nunique(),
                "n": len(own),
                "differ": int((own["p_adjusted"] < 0.05).sum()),
                "people": int((people_["p_adjusted"] < 0.05).sum()) if len(people_) else None,
                "n_people": len(people_),
                "alike": int(alike["alike"].sum()) if len(alike) else None,
                "least": [least.median(), least.min(), least.max()] if len(least) else None,
                "power": 0.8,
            }
        )
    return {"parts": parts, "margin": m.study.sensitivity.margin}


def importance_found(m: Material) -> dict | None:
    """The label most related to quality."""
    found = m.of("04")
    rows = found.select("r", kind=None).dropna(subset="estimate") if found else ()
    if not len(rows):
        return None
    lines = []
    for target, own in rows.groupby("target", sort=False):
        best = own.loc[own["estimate"].abs().idxmax()]
        lines.append({"target": str(target).replace("_", " "), "n": len(own), "best": _named(m, best),
                      "excluding": int(((own["ci_low"] > 0) | (own["ci_high"] < 0)).sum())})  # fmt: skip
    return {"lines": lines, "level": _level(m)}


def groups_found(m: Material) -> dict | None:
    """How many labels groups differ on."""
    found = m.of("08")
    rows = groups_analysis.differences(found, _level(m)).dropna(subset="p_adjusted") if groups(m) else ()
    if not len(rows):
        return None
    most = rows.loc[rows["estimate"].idxmax()]
    by_people = rows["p_people"].dropna()
    return {"n": len(rows), "differ": int((rows["p_adjusted"] < 0.05).sum()), "most": _named(m, most),
            "n_people": len(by_people), "people": int((by_people < 0.05).sum()), "level": _level(m)}  # fmt: skip


def metrics_found(m: Material) -> dict | None:
    """The metric that agrees best with people, by data set."""
    found = m.of("09")
    if metrics(m) is None:
        return None
    titles = metrics_analysis.metric_titles(found, m.study.metrics.titles, m.study.metric_directions)
    lines = []
    for name, part in metrics_analysis.data_sets(found, m.names.titles).items():
        own = metrics_analysis.overall(part).dropna(subset="estimate")
        if len(own):
            best = own.loc[own["estimate"].idxmax()]
            lines.append(
                {
                    "set": name,
                    "metric": titles.get(best["metric"], best["metric"]),
                    "row": best.to_dict(),
                    "n": len(own),
                }
            )
    return {"lines": lines, "level": _level(m)} if lines else None


def quality_control_found(m: Material) -> dict | None:
    """Who passed, and whether results repeat."""
    found = m.of("10")
    if quality_control(m) is None:
        return None
    rate = found.select("pass_rate", of="workers", list=None)
    again = found.select("replication_r", label=OVERALL, among="systems", interval="workers", list=None, scores="z",
                         workers="passed", threshold=None)  # fmt: skip
    again = again[again["standardised"].isna() | (again["standardised"] == "all")].dropna(subset="estimate")
    runs = list(dict.fromkeys(rate["corpus"]))
    return {
        "passed": [r.to_dict() | {"run": i + 1} for i, (_, r) in enumerate(rate.iterrows())],
        "again": [r.to_dict() | {"first": runs.index(r["against"]) + 1, "run": runs.index(r["corpus"]) + 1}
                  for _, r in again.iterrows()],
        "level": _level(m),
    }  # fmt: skip


def judges_found(m: Material) -> dict | None:
    """Agreement of models with people, and the alternative annotator test."""
    found = m.of("13")
    if judges(m) is None:
        return None
    rows = found["judge_alpha"].dropna(subset="estimate")
    lines = []
    for metric, own in rows.groupby("metric", sort=False):
        gap, mean = (where(own, pair=pair) for pair in ("difference", "mean"))
        tested = found.select("winning_rate", metric=metric, test="items", cost=m.study.judges.cost)
        tested = tested.dropna(subset="estimate")
        if len(mean):
            lines.append(
                {
                    "judge": _judges(m, [metric])[0],
                    "n": len(mean),
                    "median": mean["estimate"].median(),
                    "row": mean.iloc[0].to_dict() if len(mean) == 1 else None,
                    "below": int((gap["ci_high"] < 0).sum()),
                    "gaps": int(gap["ci_high"].notna().sum()),
                    "tested": len(tested),
                    "passed": int((tested["estimate"] >= 0.5).sum()),
                    "rates": list(tested["estimate"]),
                }
            )
    return {"lines": lines, "level": _level(m)} if lines else None


def _named(m: Material, row: pd.Series) -> dict:
    """A row with the display name of its label."""
    return row.to_dict() | {"title": m.names.name("label", row["label"], row["method"])}


def _label(m: Material, label: str) -> str:
    return next((known.title for (_, id_), known in m.names.labels.items() if id_ == label), label)


def _judges(m: Material, metrics_: Any) -> list[str]:
    """Display names of models."""
    titles = judges_analysis.judge_titles(m.study.groups, m.scores, m.study.judges.titles)
    return [titles.get(j, m.names.name("group", j)) for j in dict.fromkeys(metrics_)]


METHODS_PASSAGES: dict[str, Callable[[Material], dict | None]] = {
    "data": data,
    "agreement": agreement,
    "scores": scores,
    "tests": tests,
    "importance": importance,
    "groups": groups,
    "metrics": metrics,
    "quality_control": quality_control,
    "techniques": techniques,
    "judges": judges,
    "software": software,
}
RESULTS_PASSAGES: dict[str, Callable[[Material], dict | None]] = {
    "agreement_found": agreement_found,
    "ranks_found": ranks_found,
    "tests_found": tests_found,
    "importance_found": importance_found,
    "groups_found": groups_found,
    "metrics_found": metrics_found,
    "quality_control_found": quality_control_found,
    "judges_found": judges_found,
}


def report_key(m: Material) -> str:
    """Key of the BibTeX entry of the report."""
    return f"{m.study.key}_report_{m.made.year}".lower()


def report_entry(m: Material) -> references.Entry:
    """How to cite the report: study, date, version of the project, digest of the data, seeds."""
    from helpers.display.latex import tex

    seeds = ", ".join(f"{name} {seed}" for name, seed in m.study.seeds.model_dump().items())
    note = f"Report of {m.made.date}, version {m.made.version}; data {m.made.data}; seeds: {seeds}"
    fields = {
        "author": "{The contributors of the chat evaluation compendium}",
        "title": "{Analysis of the study: " + tex(m.study.title) + "}",
        "howpublished": "A reproducible compendium for human evaluation of chat systems",
        "year": m.made.year,
        "note": tex(note),
    }
    return references.entry("misc", report_key(m), fields)
