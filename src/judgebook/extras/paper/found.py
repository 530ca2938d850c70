"""What an author can say of the results of a study: facts, put into words by `text.md.j2`, as in `findings`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial

import pandas as pd

from judgebook.extras.paper.analysis import Material
from judgebook.extras.paper.findings import (
    Passages,
    groups,
    judge_titles,
    judges,
    level,
    metrics,
    quality_control,
    said,
    within,
)
from judgebook.questions.agreement import population
from judgebook.questions.groups import analysis as groups_analysis
from judgebook.questions.metrics import analysis as metrics_analysis
from judgebook.questions.performance import leading
from judgebook.questions.performance.fitted import POWER
from judgebook.questions.performance.leading import ALIKE, by_margin
from judgebook.questions.quality_control.worker_tests import OVERALL
from judgebook.study.labels import METHODS
from judgebook.study.results import where

_PART = ["corpus", "method", "group"]


def results(m: Material) -> dict[str, str]:
    """The results by passage, as Markdown with citations."""
    return said(m, RESULTS_PASSAGES)


def agreement_found(m: Material) -> dict | None:
    """Range of alpha by method and group, and its ends with intervals."""
    results = m.of("03")
    rows = m.names.sort(population.primary(results)).dropna(subset="estimate") if results else pd.DataFrame()
    if not len(rows):
        return None
    parts = []
    for key, part in rows.groupby(_PART, sort=False):
        ends = [part.loc[part["estimate"].idxmax()], part.loc[part["estimate"].idxmin()]]
        parts.append(
            {
                "who": who(m, key, rows),
                "n": len(part),
                "median": part["estimate"].median(),
                "high": _named(m, ends[0]),
                "low": _named(m, ends[1]),
            }
        )
    free = rows[~rows["ci_kind"].isin(population.BOUNDS)]
    least = m.study.iaa.threshold
    counts = {"tentative": int((free["ci_low"] > least).sum()), "chance": int((free["ci_low"] <= 0).sum())}
    facts = {"parts": parts, "over": _varying(rows), "level": level(m), "known": len(free)}
    return facts | counts | {"threshold": f"{least:g}"}


def ranks_found(m: Material) -> dict | None:
    """Which system is first in each evaluation, by how much and how certainly, on how many labels one surely is."""
    results = m.of("07")
    if not (len(results["rank"]) or len(results["overall_rank"])):
        return None
    rows = leading.rankings(results)
    shown = leading.order(results, list(rows[leading.PART].itertuples(index=False, name=None)))
    cells = [(key, part) for key, part in shown.groupby(_PART, sort=False) if len(part) > 1]
    orders = [_order(m, part, key, shown) for key, part in cells]
    by_label = rows[rows["label"].notna()]
    sure = by_label[by_label["rank_high"] == 1].groupby(_PART).size()
    labels = {key: (int(sure.get(key, 0)), part["label"].nunique()) for key, part in by_label.groupby(_PART)}
    n_labels = sum(n for _, n in labels.values())
    return {
        "orders": orders,
        "leaders": Counter(line["first"] for line in orders).most_common(),
        "n_sure": sum(line["sure"] for line in orders),
        "labels": labels,
        "n_rankings": n_labels if n_labels > sum(line["label"] is not None for line in orders) else 0,
        "n_sure_labels": sum(n for n, _ in labels.values()),
        "over": _varying(shown),
        "level": level(m),
    }


def _cells(m: Material, rows: pd.DataFrame, keys: list[str]) -> list[tuple[tuple, pd.DataFrame]]:
    return list(m.names.sort(rows).groupby(keys, sort=False)) if len(rows) else []


def _several(rows: pd.DataFrame, column: str) -> bool:
    return len(rows[column].unique()) > 1


def _varying(rows: pd.DataFrame) -> list[str]:
    """In what the evaluations of these rows differ: `method`, `group`, `corpus`."""
    return [column for column in ("method", "group", "corpus") if len(rows) and _several(rows, column)]


def who(m: Material, key: tuple, rows: pd.DataFrame) -> str:
    """Method, with corpus, group and label where `rows` have several."""
    corpus, method, group, *label = key
    parts = [m.names.name("method", method)]
    parts += [m.names.name("label", label[0], method)] if label and _several(rows, "label") else []
    parts += [m.names.name("group", group)] if _several(rows, "group") else []
    parts += [m.names.name("corpus", corpus)] if _several(rows, "corpus") else []
    return ", ".join(parts)


def _order(m: Material, rows: pd.DataFrame, key: tuple, every: pd.DataFrame) -> dict:
    """The first, the second and the last system of rows of `leading.order`, and what the first has over both."""
    label, first = rows["label"].iloc[0], rows.iloc[0]
    single = pd.notna(label)
    votes = METHODS[key[1]].unit == "pair"
    place = dict(zip(_PART, key, strict=True)) | ({"label": label} if single else {})
    contrasts = where(m.of("07")["contrast" if single else "overall_contrast"], **place)
    return {
        "key": key,
        "who": who(m, key, every),
        "n": len(rows),
        "label": m.names.name("label", label, key[1]) if single else None,
        "labels": int(first["n_labels"]),
        "first": m.names.name("system", first["system"]),
        "chance": first["p_best"],
        "rank": [first["rank_low"], first["rank_high"]],
        "sure": bool(first["rank_high"] == 1),
        "unit": unit(m, key[1], [label]) if single else "wins" if votes else "SD",
        "over": [
            {"name": m.names.name("system", other)} | _ahead(contrasts, first["system"], other)
            for other in dict.fromkeys([rows["system"].iloc[1], rows["system"].iloc[-1]])
        ],
    }


def _ahead(contrasts: pd.DataFrame, first: str, other: str) -> dict[str, float]:
    """How far the first is ahead of another: estimate, ci_low and ci_high of their contrast, turned."""
    pair = {first, other}
    (row,) = [r for r in contrasts.to_dict("records") if {r["system"], r["system_b"]} == pair]
    low, high = (row["ci_low"], row["ci_high"]) if row["estimate"] >= 0 else (-row["ci_high"], -row["ci_low"])
    return {"estimate": abs(row["estimate"]), "ci_low": low, "ci_high": high}


def tests_found(m: Material) -> dict | None:
    """How many pairs of systems differ, are equivalent, and what could have been detected."""
    results = m.of("07")
    rows = results["contrast"].dropna(subset="ci_low") if results else pd.DataFrame()
    if not len(rows):
        return None
    parts, margin = [], within(m, rows)
    for key, part in _cells(m, rows, _PART):
        mine = dict(zip(_PART, key, strict=True))
        found = where(results["difference_found"], **mine).dropna(subset="estimate")
        least, verdicts = found["estimate"], by_margin(part, m.study.margins, key[1])
        parts.append(
            {
                "who": who(m, key, rows),
                "labels": part["label"].nunique(),
                "n": len(part),
                "differ": int(leading.decided(part).sum()),
                "alike": int((verdicts["verdict"] == ALIKE).sum()) if verdicts["margin"].notna().any() else None,
                "least": [least.median(), least.min(), least.max()] if len(least) else None,
                "others": m.populations[key[::2]].others,
                "beyond": bool(least.median() > _largest(m, key[1], found["label"])),
                "unit": unit(m, key[1], part["label"].unique()),
            }
        )
    totals = {name: sum(p[name] or 0 for p in parts) for name in ("n", "differ", "alike")}
    facts = {"parts": parts, "totals": totals, "over": _varying(rows), "level": level(m), "power": POWER}
    return facts | {"margin": margin}


def _largest(m: Material, method: str, labels: pd.Series) -> float:
    """The largest difference that two systems can have on any of these labels."""
    if METHODS[method].unit == "pair":
        return 1.0
    return max((high - low for low, high in (m.names.labels[method, x].scale for x in labels)), default=0.0)


def unit(m: Material, method: str, labels: Iterable[str]) -> tuple[float, float] | str:
    """What differences of two systems on labels are in: `wins` (share won minus share lost), `share` of marks, the
    scale of the ratings, or `label` where labels have several."""
    if METHODS[method].unit == "pair":
        return "wins"
    scales = {m.names.labels[method, label].scale for label in labels}
    if len(scales) > 1:
        return "label"
    return "share" if scales == {(0, 1)} else next(iter(scales))


def importance_found(m: Material) -> dict | None:
    """The label most related to quality."""
    results = m.of("04")
    rows = results.select("r", kind=None).dropna(subset="estimate") if results else pd.DataFrame()
    if not len(rows):
        return None
    lines = []
    for target, part in rows.groupby("target", sort=False):
        best = part.loc[part["estimate"].abs().idxmax()]
        other = part[part["label"] != best["label"]]
        second = other.loc[other["estimate"].abs().idxmax()] if len(other) else None
        itself = str(best["label"]) in str(target).split("_")  # the same question, put to others
        lines.append({"target": str(target).replace("_", " "), "n": len(part), "best": _named(m, best),
                      "second": _named(m, second) if itself and second is not None else None,
                      "method": m.names.name("method", best["method"]),
                      "excluding": int(((part["ci_low"] > 0) | (part["ci_high"] < 0)).sum())})  # fmt: skip
    return {"lines": lines, "level": level(m)}


def groups_found(m: Material) -> dict | None:
    """How many labels groups differ on."""
    results = m.of("08")
    rows = groups_analysis.differences(results, level(m)).dropna(subset="p_adjusted") if groups(m) else pd.DataFrame()
    if not len(rows):
        return None
    most = rows.loc[rows["estimate"].idxmax()]
    by_people = rows["p_people"].dropna()
    return {"n": len(rows), "differ": int((rows["p_adjusted"] < 0.05).sum()), "most": _named(m, most),
            "n_people": len(by_people), "people": int((by_people < 0.05).sum()), "level": level(m)}  # fmt: skip


def metrics_found(m: Material) -> dict | None:
    """The metric that agrees best with people, by data set."""
    results = m.of("09")
    if metrics(m) is None:
        return None
    titles = metrics_analysis.metric_titles(results, m.study.metrics.titles, m.study.metric_directions)
    lines = []
    for name, part in metrics_analysis.data_sets(results, m.names.titles).items():
        values = metrics_analysis.overall(part).dropna(subset="estimate")
        if len(values):
            best = values.loc[values["estimate"].idxmax()]
            lines.append(
                {
                    "set": name,
                    "metric": titles.get(best["metric"], best["metric"]),
                    "row": best.to_dict(),
                    "n": len(values),
                }
            )
    return {"lines": lines, "level": level(m)} if lines else None


def quality_control_found(m: Material) -> dict | None:
    """Who passed, and whether results repeat."""
    results = m.of("10")
    if quality_control(m) is None:
        return None
    rate = results.select("pass_rate", of="workers", list=None)
    again = results.select("replication_r", label=OVERALL, among="systems", interval="workers", list=None, scores="z",
                         workers="passed", threshold=None)  # fmt: skip
    again = again[again["standardised"].isna() | (again["standardised"] == "all")].dropna(subset="estimate")
    run, several = partial(m.names.name, "corpus"), len(set(rate["corpus"])) > 1
    return {
        "passed": [r.to_dict() | {"run": run(r["corpus"]) if several else ""} for _, r in rate.iterrows()],
        "again": [r.to_dict() | {"first": run(r["against"]), "run": run(r["corpus"])} for _, r in again.iterrows()],
        "level": level(m),
    }  # fmt: skip


def judges_found(m: Material) -> dict | None:
    """Agreement of models with people, and the alternative annotator test."""
    results = m.of("13")
    if judges(m) is None:
        return None
    rows = results["judge_alpha"].dropna(subset="estimate")
    lines = []
    for metric, part in rows.groupby("metric", sort=False):
        gap, mean = (where(part, pair=pair) for pair in ("difference", "mean"))
        tested = results.select("winning_rate", metric=metric, test="items", cost=m.study.judges.cost)
        tested = tested.dropna(subset="estimate")
        if len(mean):
            lines.append(
                {
                    "judge": judge_titles(m, [metric])[0],
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
    return {"lines": lines, "level": level(m)} if lines else None


def _named(m: Material, row: pd.Series) -> dict:
    """A row with the display name of its label."""
    return row.to_dict() | {"title": m.names.name("label", row["label"], row["method"])}


RESULTS_PASSAGES: Passages = {
    "agreement_found": agreement_found,
    "ranks_found": ranks_found,
    "tests_found": tests_found,
    "importance_found": importance_found,
    "groups_found": groups_found,
    "metrics_found": metrics_found,
    "quality_control_found": quality_control_found,
    "judges_found": judges_found,
}
