"""The facts on which every result of a new study rests, each with where it comes from: printed before all else."""

from __future__ import annotations

import pandas as pd

from judgebook.annotations.periods import in_order
from judgebook.extras.new.asking.doubts import Draft
from judgebook.sources import build, in_words
from judgebook.sources.ids.personal import personal
from judgebook.sources.in_words import counted
from judgebook.study import params
from judgebook.study.schema import ITEM as PLACES

#: what makes an item, whatever was judged of it
ITEM = [c for c in PLACES if c != "label"]
#: names that are shown of systems and metrics
_SHOWN = 6


def lines(study: params.Study, built: build.Built, out: Draft) -> list[str]:
    """What is the system, who judged, what is one item, and what the scores of each label mean."""
    marks = built.frames["annotations"]
    return [
        f"system: {_systems(marks)}{_from(study, out, 'system')}",
        f"who judged: {in_words.judges(marks)}{_from(study, out, 'annotator')}; {_per_item(marks)}",
        f"one item: {_item(marks)}{_from(study, out, 'dialogue')}: {len(marks.drop_duplicates(ITEM)):,}",
        *_periods(study, marks, out),
        *_labels(study, marks),
        *in_words.directions(study, marks),
        *_metrics(built),
    ]


def _from(study: params.Study, out: Draft, ours: str) -> str:
    """Where a fact stands in the file, why it was taken to be there, and what it could be instead."""
    roles = (ours, "context") if ours == "dialogue" else (ours,)
    columns = {c: n for s in study.sources for c, n in getattr(s, "columns", {}).items() if c in roles and n != "{row}"}
    places = [f"`{name}`" for name in columns.values()]
    for source in study.sources if ours == "dialogue" else ():
        places += [f"`{part}`" for part in getattr(source, "identify", {}).get("dialogue", []) if part != "{row}"]
    if not places:
        where = ""
    else:
        why = next((out.why[c] for c in roles if c in columns and c in out.why), "")
        where = f", from {' and '.join(dict.fromkeys(places))}" + (f" ({why})" if why else "")
    rivals = " or ".join(f"`{c}`" for c in out.rivals.get(ours, [])[:2])
    return where + (f"; or {rivals}?" if rivals else "")


def _periods(study: params.Study, marks: pd.DataFrame, out: Draft) -> list[str]:
    """From which period to which, where the data name periods."""
    names = in_order(marks["period"].dropna().astype(str)) if "period" in marks else []
    ends = f" ({names[0]} to {names[-1]})" if len(names) > 1 else ""
    return [f"when: {counted(len(names), 'period')}{ends}{_from(study, out, 'period')}"] if names else []


def _systems(marks: pd.DataFrame) -> str:
    names = pd.concat([marks["system"], marks["system_b"]]).dropna().astype(str).drop_duplicates()
    if list(names) == ["system"]:
        return "nothing names one, so all judgements are of one system"
    shown = "" if personal("system", names) else f" ({', '.join(names[:_SHOWN])}{', …' if len(names) > _SHOWN else ''})"
    return f"{len(names):,}{shown}"


def _per_item(marks: pd.DataFrame) -> str:
    each = marks.groupby([*ITEM, "label"], dropna=False, observed=True).size()
    low, high = int(each.min()), int(each.max())
    return f"{counted(low, 'judgement') if low == high else f'{low:,} to {high:,} judgements'} per item and label"


def _item(marks: pd.DataFrame) -> str:
    kinds = {
        "two dialogues compared": marks["dialogue_b"].notna().any(),
        "a turn of a dialogue": marks["turn"].notna().any(),
    }
    return next((kind for kind, is_one in kinds.items() if is_one), "a dialogue")


def _labels(study: params.Study, marks: pd.DataFrame) -> list[str]:
    """The scale and the level of measurement of the labels judged, those alike on one line."""
    judged = set(marks["label"])
    alike: dict[str, list[str]] = {}
    for label in study.label_list():
        if label.id in judged:
            ends = f"from {label.scale[0]:g} to {label.scale[1]:g}"
            answers = ", ".join(label.categories[:_SHOWN]) if label.categories else ""
            alike.setdefault(f"{answers or ends}; level: {label.level}", []).append(label.id)
    return [f"{', '.join(dict.fromkeys(ids))}: {what}" for what, ids in alike.items()]


def _metrics(built: build.Built) -> list[str]:
    metrics = built.frames["metric_scores"]
    names = list(dict.fromkeys(metrics["metric"])) if len(metrics) else []
    return [f"taken as automatic metrics: {', '.join(map(str, names))}"] if names else []
