"""What notebook 13 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.judges.analysis import SECOND
from judgebook.questions.judges.items import LABEL
from judgebook.questions.judges.prediction_powered import SHARE
from judgebook.statistics.multiplicity import adjust_p_values
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)
#: so many judges are compared within one sentence
_FEW_JUDGES = 2
_GOLD = ("gold_agreement", "gold_kappa", "gold_correlation", "gold_error")
#: level of the tests of whether people judged a random sample
SELECTED = 0.05
#: a label is worth more than one if the CI of its worth lies above this: a squared correlation is never below 0
LEAST_GAIN = 1.01


def findings(results: Results, names: DisplayNames, *, confidence: float, cost: float) -> Iterator[Prose]:
    """The headline: whether rates, differences and choices change more than between people, and whether a judge may
    stand in, by a margin. Then a model against people: choices, conclusions about systems, agreement, the alternative
    annotator test; and with people: human labels saved."""
    judges = {title: _of(results, judge) for judge, title in names.titles["metric"].items()}
    judges = {title: part for title, part in judges.items() if len(part["judge_alpha"])}

    def say(passage: str, facts: Callable[[Results], dict], **more: object) -> Prose:
        return Prose(_PHRASES.say(passage, judges={title: facts(part) for title, part in judges.items()}, **more))

    chosen = {title: _choices(_of(results, judge), names) for judge, title in names.titles["metric"].items()}
    chosen = {title: lines for title, lines in chosen.items() if lines}
    every = {title: _of(results, judge) for judge, title in names.titles["metric"].items()}
    margins = {title: _stands_in(part) for title, part in every.items() if len(part["judge_margin"])}
    alone = ("gold_agreement", "gold_kappa")
    gold = {title: _gold(part, confidence) for title, part in every.items() if any(len(part[s]) for s in alone)}
    words: dict[str, Any] = {"chosen": _compared(chosen), "few": _FEW_JUDGES, "margins": margins, "gold": gold}
    yield say("headline", lambda part: _changes(part, confidence), **words)
    orders = {title: _orders(part, names) for title, part in every.items() if len(part["order_effect"])}
    yield Prose(_PHRASES.say("choices", judges=chosen, orders=orders))
    yield say("conclusions", _conclusions)
    left_out = results["judge_items"]["estimate"]
    few = {"n": len(left_out), "least": float(left_out.min()) if len(left_out) else 1.0}
    yield say("agreement", lambda part: _agreement(part, names), level=confidence, left_out=few, gold=gold)
    yield say("significant", lambda part: _changes(part, confidence), level=confidence)
    saved = {title: _saved(part, names) for title, part in every.items()}
    saved = {title: facts for title, facts in saved.items() if facts}
    judged = bool(len(results["assisted_explained"]))
    yield Prose(_PHRASES.say("saved", judges=saved, judged=judged, share=SHARE))
    reasons: dict[str, list[tuple[str, int]]] = {}
    tests = {title: _test(part) for title, part in every.items() if title in judges or title in gold}
    for title, test in tests.items():
        for reason, n in test["reasons"].items():
            reasons.setdefault(reason, []).append((title, n))
    yield Prose(_PHRASES.say("alternative", judges=tests, reasons=reasons, cost=cost))


def _compared(chosen: dict[str, list[dict]]) -> dict[str, Any] | None:
    """Over judges and labels: how often a judge agrees with a person, two people agree, and which judges agree less."""
    cases = [(judge, line["share"]) for judge, lines in chosen.items() for line in lines]
    if not cases:
        return None
    shares = [share for _, share in cases]
    less = [judge for judge, share in cases if share["difference"]["ci_high"] < 0]
    values = {of: [share[of]["estimate"] for share in shares] for of in ("judge", "people", "difference")}
    facts = {"n": len(cases), "n_judges": len(chosen), "less": less, **values}
    return facts | {"cases": [{"name": judge, "difference": share["difference"]} for judge, share in cases]}


def _of(results: Results, judge: str) -> Results:
    return Results({statistic: frame[frame["metric"] == judge] for statistic, frame in results.items()})


def _gold(part: Results, confidence: float) -> dict[str, Any]:
    """Agreement with the one human label of an item: of one label its numbers, of several the kappas; how many rates
    and differences of systems change."""
    whole = {s: part[s] for s in _GOLD}
    kappa = whole["gold_kappa"].drop_duplicates(LABEL, keep="last")  # weighted, where it is
    labels = pd.concat([rows[LABEL] for rows in whole.values() if len(rows)]).drop_duplicates()
    facts: dict[str, Any] = {"n": len(labels), "kappas": list(kappa["estimate"].dropna())}
    facts |= dict.fromkeys(("kappa", "accuracy", "sensitivity", "specificity", "spearman"))
    facts |= {of: count for of, count in _changes(part, confidence).items() if of != "more"}
    if len(labels) == 1:
        facts["kappa"] = kappa.iloc[0].to_dict() if len(kappa) else None
        facts |= {row["measure"]: row for row in whole["gold_agreement"].to_dict("records")}
        facts |= {row["measure"]: row for row in whole["gold_error"].to_dict("records")}
        facts |= {row["coefficient"]: row for row in whole["gold_correlation"].to_dict("records")}
    return facts


def _orders(part: Results, names: DisplayNames) -> list[dict[str, Any]]:
    """Of each label with pairs in both orders: how often the choice changes, and the effect of the order."""
    out = []
    for _, effect in part["order_effect"].iterrows():
        label = dict(effect[LABEL])
        change = {row["change"]: row for row in part.select("order_change", **label).to_dict("records")}
        facts = {"label": names.name("label", label["label"], label["method"]), "n": effect["n"]}
        facts |= {"effect": dict(effect), "harmless": None, "margin": None}
        for row in part.select("order_harmless", **label).to_dict("records"):
            facts |= {"harmless": row["estimate"], "margin": float(row["margin"])}
        out.append(change | facts)
    return out


def _changes(part: Results, confidence: float) -> dict[str, Any]:
    """How many rates and differences of systems change significantly, by the judge and between two people.

    more : whether the judge changes more than that, and more than chance in as many tests would.
    """
    from scipy.stats import binom  # takes a second to import, which the first page would wait for

    out = {}
    for what in ("rate_change", "contrast_change"):
        rows = part[what]
        beyond = (rows["ci_low"] > 0) | (rows["ci_high"] < 0)
        by = {"judge": rows["by"] == "model", "person": rows["by"] == SECOND}
        out[what] = {"n": int(by["judge"].sum())} | {who: int((beyond & on_side).sum()) for who, on_side in by.items()}
    judge, person = (sum(out[what][who] for what in out) for who in ("judge", "person"))

    chance = binom.ppf((1 + confidence) / 2, sum(counts["n"] for counts in out.values()), 1 - confidence)
    return out | {"more": bool(judge > max(person, chance))}


def _choices(part: Results, names: DisplayNames) -> list[dict]:
    """Of each label judged by choices: agreement, position bias, the order of systems."""
    out = []
    for key, rows in part["choice_agreement"].groupby(LABEL, sort=False):
        share = {row["pair"]: row for row in rows.to_dict("records")}
        of_label = {s: frame[(frame[LABEL] == list(key)).all(axis=1)] for s, frame in part.items() if "label" in frame}
        first = {row["pair"]: row for row in of_label.get("first_choice_share", rows.iloc[:0]).to_dict("records")}
        rho = of_label["judge_rank_correlation"].set_index("coefficient")["estimate"]
        top = of_label["judge_first_system"].iloc[0]
        facts = {"label": names.name("label", key[2], key[1]), "share": share, "first": first, "n": top["n"]}
        facts |= {"rho": rho["spearman_bradley_terry"], "same": top["estimate"] == 1}
        sides = (("people", top["system"]), ("judge", top["system_b"]))
        out.append(facts | {side: names.name("system", s) if pd.notna(s) else None for side, s in sides})
    return out


def _stands_in(part: Results) -> dict[str, dict[str, int]]:
    """Of rates and differences: on how many labels with a margin the judge may stand in."""
    decided = part["judge_stands_in"].groupby("of", sort=False)["estimate"]
    return {of: {"n": len(verdicts), "may": int((verdicts == 1).sum())} for of, verdicts in decided}


def _saved(part: Results, names: DisplayNames) -> dict[str, Any] | None:
    """What a human label is worth with the judge's labels, by label; on how many labels more than one; the label on
    which it is worth most; whether people judged a random sample."""
    rows = part["assisted_gain"].dropna(subset="estimate")
    if rows.empty:
        return None
    estimated = rows if rows["ci_low"].isna().all() else rows.dropna(subset="ci_low")
    best = estimated.loc[estimated["estimate"].idxmax()]
    facts = {"n": len(rows), "worth": list(rows["estimate"]), "more": int((rows["ci_low"] > LEAST_GAIN).sum())}
    facts |= {"label": names.name("label", best["label"], best["method"]), "row": best.to_dict()}
    if len(tested := part["assisted_selection"].dropna(subset="p_value")):
        facts["sample"] = {
            "n": len(tested),
            "differ": int((adjust_p_values(tested["p_value"].to_numpy()) < SELECTED).sum()),
        }
    return facts


def _conclusions(part: Results) -> dict[str, int]:
    return part["judge_conclusions"].groupby("verdict")["estimate"].sum().astype(int).to_dict()


def _agreement(part: Results, names: DisplayNames) -> dict[str, Any]:
    """On how many labels the judge agrees with a person less, and more, than people do; where it comes closest."""
    gaps = part.select("judge_alpha", pair="difference").dropna(subset="ci_low")
    counts = {"n": len(gaps), "less": int((gaps["ci_high"] < 0).sum()), "more": int((gaps["ci_low"] > 0).sum())}
    if gaps.empty:
        return counts
    best = gaps.loc[gaps["estimate"].idxmax()]
    return counts | {"label": names.name("label", best["label"], best["method"]), "row": best.to_dict()}


def _test(part: Results) -> dict[str, Any]:
    """On how many labels the judge wins the alternative annotator test, and why it does not apply to others."""
    rows = part["winning_rate"]
    won = rows[rows["estimate"] >= 0.5].groupby("test").size().to_dict()
    done = int(rows["estimate"].notna().sum()) // 2
    return {"n": done, "wins": {"items": 0, "dialogues": 0} | won, "reasons": rows["note"].value_counts().to_dict()}
