"""Rows of studies.csv, labels.csv and values.csv.

Of values nothing is estimated here: rows of the stored results of a study's notebooks are chosen, and what is stored
for each system, pair or conclusion is counted or its median taken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations
from types import MappingProxyType
from typing import Any

import pandas as pd

from compendium.atlas import declared
from compendium.atlas.declared import About
from judgebook.questions.agreement import items
from judgebook.questions.performance import leading
from judgebook.questions.planning.assumed import points
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import Results
from judgebook.study.schema import CELL, ITEM, Annotations
from judgebook.summary.evidence import Evidence, parts

#: the name that dialogues get where nothing names their system
_UNNAMED = "system"


def study_row(evidence: Evidence, about: About) -> dict[str, Any]:
    """What studies.csv says of the judgements of a study; where they come from is `computing.provenance`."""
    people = evidence.people
    items = people[["corpus", "method", "dialogue", "dialogue_b", "turn"]].drop_duplicates()
    head = {"study": evidence.study.key, "title": evidence.study.title, "genre": about.genre}
    return head | {"judgements": len(people), "items": len(items), **_who_and_what(people)}


def label_rows(evidence: Evidence, about: About) -> pd.DataFrame:
    """Rows of labels.csv: one for each corpus, group, method and label that people judged."""
    labels = {(label.method, label.id): label for label in evidence.study.label_list()}
    main = parts(evidence)[0][:2]
    rows = []
    for (corpus, group, method, label), judged in evidence.people.groupby(CELL, sort=False, observed=True):
        row = dict(zip(CELL, (corpus, group, method, label), strict=True))
        row |= {"study": evidence.study.key, "main": int((corpus, group) == main), "kind": about.labels[label]}
        row |= {"judges": about.who(group), "aggregated": int(about.of_several(group)), "unit": METHODS[method].unit}
        rows.append(row | _of_scale(labels[method, label]) | _sizes(judged) | _who_and_what(judged))
    return pd.DataFrame(rows)[declared.columns("labels")]


def _of_scale(label: Label) -> dict[str, Any]:
    low, high = label.scale
    row = {"level": label.level, "low": low, "high": high, "points": points(label)}
    return row | {"direction": label.direction}


def _sizes(judged: Annotations) -> dict[str, int]:
    times = judged.groupby(ITEM, dropna=False, observed=True).size()
    return {"judgements": len(judged), "items": len(times), "twice": int((times > 1).sum())}


def _who_and_what(judged: Annotations) -> dict[str, Any]:
    systems = {*judged["system"].dropna(), *judged["system_b"].dropna()} - {_UNNAMED}
    people = judged["annotator"].nunique() if judged["annotator_known"].all() else None
    return {"people": people, "systems": len(systems)}


_PAIR = [*CELL, "system", "system_b"]
#: statistic -> the p-values by which it counts
_COUNTS = {"claims": "p_value", "adjusted_claims": "p_adjusted"}


def of_claims(
    results: Results, tests: Mapping[str, pd.DataFrame], runs: Collection[str] = ()
) -> Iterator[tuple[str, pd.DataFrame]]:
    """`claims` and `adjusted_claims` by label, and of these claims how many stand over dialogues (`…_dialogues`), over
    annotators (`…_annotators`) and in another run (`…_rerun`), with `n` pairs, or claims for which there is a test.

    results : of notebook 05. tests : over what -> differences of systems (`computing.pair_tests`). runs : corpora or
    groups that are runs of one study; the test is the same in all of them. A claim is a pair with p < 0.05 by the test
    as published, every item independent and with one judgement; it stands where the other test has p < 0.05 and the
    same sign.
    """
    plain = results.select("system_difference", sample=None).dropna(subset="p_value")
    for statistic, p in _COUNTS.items():
        claims = plain[plain[p] < 0.05]
        yield statistic, _counted(plain.assign(estimate=plain[p] < 0.05))
        for over, of_pairs in tests.items():
            yield f"{statistic}_{over}", _standing(claims, of_pairs.dropna(subset="p_value"), _PAIR, p)
        yield f"{statistic}_rerun", _rerun(claims, plain, p, runs)


def _standing(claims: pd.DataFrame, tests: pd.DataFrame, on: list[str], p: str) -> pd.DataFrame:
    both = claims.merge(tests, on=on, suffixes=("", "_other"))
    same = (both["estimate"] > 0) == (both["estimate_other"] > 0)
    return _counted(both.assign(estimate=same & (both[f"{p}_other"] < 0.05)))


def _rerun(claims: pd.DataFrame, tests: pd.DataFrame, p: str, runs: Collection[str]) -> pd.DataFrame:
    """Claims of a run that stand in each other run."""
    place = "corpus" if claims["corpus"].isin(list(runs)).any() else "group"
    same = [column for column in _PAIR if column != place]
    parts = [
        _standing(claims[claims[place] == run], tests[tests[place] == other], same, p)
        for run, other in permutations(runs, 2)
    ]
    return pd.concat([part for part in parts if len(part)] or [_counted(claims.iloc[:0])]).reset_index(drop=True)


def _counted(tests: pd.DataFrame) -> pd.DataFrame:
    """By label, of how many tests `estimate` is true, and `n` tests."""
    by_label = tests.groupby(CELL, sort=False)["estimate"]
    return pd.DataFrame({"estimate": by_label.sum().astype(float), "n": by_label.size()}).reset_index()


PART = CELL[:3]
#: column of results -> column of values.csv
_COLUMNS = {"resample_unit": "over", "note": "missing"}
_ROW = [*CELL, "statistic", "other"]
#: parts of a fit that have another name here
_OF_FIT = {"context": "session", "item": "dialogue", "answer": "dialogue", "taste": "annotator_of_system"}
_SHARED = {"context": "session", "item": "dialogue", "answer": "dialogue", "taste": "system_annotator"}


def value_rows(
    stored: Mapping[str, Results],
    parts: Sequence[tuple[str, str, str]],
    runs: Collection[str] = (),
    tests: Mapping[str, pd.DataFrame] = MappingProxyType({}),
) -> pd.DataFrame:
    """What the notebooks stored, in the columns of values.csv but `study`.

    stored : notebook -> its results (what `computing` computes among them), empty where it did not run. parts : the
    evaluations, the main one first; what was not computed by group or method is said of the first that fits. A label is
    missing (NaN) where a row is about all labels of an evaluation. runs : corpora or groups that are runs of one study.
    tests : of `computing.pair_tests`.
    """
    of_notebook: Mapping[str, Callable[[Results], Iterator[tuple[str, pd.DataFrame]]]] = {
        "02_collection_stats": _costs,
        "03_iaa": _agreement,
        "05_sensitivity": partial(of_claims, tests=tests, runs=runs),
        "07_bot_performance": _performance,
        "09_metric_correlation": _metrics,
        "10_quality_control": _replication,
        "13_judges": _judges,
        "14_planning": _planning,
        "16_fragility": _fragility,
    }
    frames = [
        frame.assign(statistic=statistic)
        for notebook, chosen in of_notebook.items()
        for statistic, frame in chosen(stored[notebook])
        if len(frame)
    ]
    wanted = [c for c in declared.columns("values") if c != "study"]
    if not frames:
        return pd.DataFrame(columns=wanted)
    # `over` is a key of some statistics, too
    frames = [frame.drop(columns="over", errors="ignore").rename(columns=_COLUMNS) for frame in frames]
    out = pd.concat([frame.reindex(columns=wanted) for frame in frames], ignore_index=True)
    for column, place, by in (("method", 2, ["corpus"]), ("group", 1, ["corpus", "method"])):
        out[column] = out[column].fillna(_first(out, parts, place, by))
    out["missing"] = out["missing"].where(out["estimate"].isna())
    if (twice := out.duplicated(_ROW)).any():
        raise ValueError(f"two rows for {out.loc[twice, _ROW].iloc[0].tolist()}")
    return out


def _first(rows: pd.DataFrame, parts: Sequence[tuple[str, str, str]], place: int, by: list[str]) -> pd.Series:
    """Of each row, what stands at a place of the first evaluation that agrees with it in the columns `by`."""
    first = pd.DataFrame(parts, columns=PART).drop_duplicates(by).set_index(by)[PART[place]]
    return pd.Series(
        first.reindex(pd.MultiIndex.from_frame(rows[by]) if by[1:] else rows[by[0]]).to_numpy(),
        rows.index,
    )


def complete(found: pd.DataFrame, labels: pd.DataFrame, reasons: Mapping[str, str]) -> pd.DataFrame:
    """Rows of values.csv: every statistic of every label, and why it is missing where it is.

    found : what `value_rows` returns. labels : rows of labels.csv. reasons : notebook -> why it did not run.
    """
    about = declared.statistics()
    every = labels[["study", *CELL]].merge(pd.DataFrame({"statistic": list(about)}), how="cross")
    per_label = found[found["label"].notna()]
    per_part = every.merge(found[found["label"].isna()].drop(columns="label"), on=[*PART, "statistic"])
    out = every.merge(pd.concat([per_label, per_part.drop(columns="study")]), on=[*CELL, "statistic"], how="left")
    without = [reasons.get(about[s].get("from", "")) or about[s]["without"] for s in out["statistic"]]
    out["missing"] = out["missing"].fillna(pd.Series(without, out.index)).where(out["estimate"].isna())
    return out[declared.columns("values")]


def _agreement(results: Results) -> Iterator[tuple[str, pd.DataFrame]]:
    yield "alpha", _human(items.primary(results))
    yield "ac", _human(results["ac"])
    for statistic in ("raw_agreement", "positive_agreement", "negative_agreement", "prevalence"):
        rows = _human(results[statistic])
        yield statistic, rows[rows["against"].isna()] if "against" in rows else rows


def _human(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["kind"] == "human"]


def _performance(results: Results) -> Iterator[tuple[str, pd.DataFrame]]:
    effects = results["design_effect"].dropna(subset="estimate")
    effects = effects[~effects["outcome"].isin(["tie", "loss"])]
    people = effects["unit"] == "annotator"
    yield "design_effect_dialogue", _summary(effects[~people], "median")
    yield "design_effect_annotator", _summary(effects[people], "median")
    ranks = leading.rankings(results).dropna(subset=["label", "rank_low"])
    yield "ranks_resolved", _summary(ranks.assign(estimate=ranks["rank_low"] == ranks["rank_high"]), "sum")
    pairs = results["contrast"].dropna(subset="ci_low")
    yield "pairs_different", _summary(pairs.assign(estimate=leading.decided(pairs)), "sum")
    yield "detectable_difference", results["difference_found"].dropna(subset="estimate")
    for part, rows in results["component_share"].groupby("part", sort=False):
        yield f"share_{_SHARED.get(part, part)}", rows
    yield "reliability", results["order_reliability"].query("n >= 3").dropna(subset="estimate")


def _summary(rows: pd.DataFrame, how: str) -> pd.DataFrame:
    """Sum, mean or median of `estimate` by label, with `n` rows."""
    values = rows.assign(estimate=rows["estimate"].astype(float)).groupby(CELL, sort=False, dropna=False)["estimate"]
    return pd.DataFrame({"estimate": values.agg(how), "n": values.size()}).reset_index()


def _planning(results: Results) -> Iterator[tuple[str, pd.DataFrame]]:
    for part, rows in results["pilot_variance"].groupby("part", sort=False):
        yield f"variance_{_OF_FIT.get(part, part)}", rows


def _fragility(results: Results) -> Iterator[tuple[str, pd.DataFrame]]:
    yield "sturdy", _summary(results["sturdy"], "mean")


def _replication(results: Results) -> Iterator[tuple[str, pd.DataFrame]]:
    rows = results.select("replication_r", among="systems", interval="workers", scores="z", list=None, threshold=None)
    rows = rows[rows["label"].notna() & (rows["standardised"].isna() | (rows["standardised"] == "all"))]
    first = rows.drop_duplicates(["corpus", "against"])["corpus"].iloc[:1]
    rows = rows[rows["corpus"].isin(first)]
    passed = rows["workers"] == "passed"
    yield (
        "replication_r",
        (rows[passed] if passed.any() else rows[rows["workers"] == "all"]).drop_duplicates(CELL),
    )


def _costs(results: Results) -> Iterator[tuple[str, pd.DataFrame]]:
    yield "minutes", results.select("unit_minutes", tasks="all")
    yield "cost", results.select("estimated_cost", tasks="all")


def _judges(results: Results) -> Iterator[tuple[str, pd.DataFrame]]:
    yield "judge_alpha", results.select("judge_alpha", pair="difference").rename(columns={"metric": "other"})


def _metrics(results: Results) -> Iterator[tuple[str, pd.DataFrame]]:
    rows = results.select("correlation", coefficient="spearman").rename(columns={"metric": "other"})
    yield "correlation", rows[rows["scope"] == "pooled"]
    yield "correlation_systems", rows[rows["scope"] == "system"]
