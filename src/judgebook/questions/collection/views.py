"""What notebooks 00, 01 and 02 show and say: figures, tables, and sentences, which `text.md.j2` puts into words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgebook.display import cells, tables
from judgebook.display.names import DisplayNames
from judgebook.display.plots import heatmap, share_figure
from judgebook.display.style import subplots
from judgebook.display.text import Phrases, listing, percent, span
from judgebook.display.views import Plot, Prose, Table
from judgebook.questions.collection.costs import COLLECTION, TOGETHER, payment
from judgebook.questions.collection.pilot import ALL_TASKS
from judgebook.questions.collection.question import Costs
from judgebook.sources.accounts import words
from judgebook.study.definitions import definitions
from judgebook.study.labels import METHODS, Label
from judgebook.study.params import Study
from judgebook.study.results import Results, where
from judgebook.study.schema import CELL, ITEM, Annotations

CARD = ["instances", "systems", "utterances", "context words", "response words", "criteria", "annotations"]
TEXTS = ["dialogues", "interactors", "turns a dialogue", "tokens a user turn", "words a user turn"]
TEXTS += ["tokens a system turn", "words a system turn"]
#: kinds of annotators, where no name is given
KINDS = {"human": "People", "llm": "Language models", "classifier": "Classifiers"}


def row_titles(
    rows: pd.DataFrame, names: DisplayNames, columns: Iterable[str], always: Collection[str] = ()
) -> pd.Series:
    """Names of rows: those of the `columns` (ids) that differ between rows or are in `always`; else the method."""
    ids = rows[list(columns)]
    once = ids.drop_duplicates()  # of millions of rows, few differ
    named = [c for c in once if c in always or len(set(once[c])) > 1] or ["method"]
    shown = {c: once[c].map(lambda key, c=c: names.name(c, key)).astype(object) for c in named}
    place = ids.groupby(list(ids), sort=False, dropna=False).ngroup()
    return pd.DataFrame(shown).agg(", ".join, axis=1).take(place).set_axis(rows.index)


def kind_names(annotations: Annotations, names: DisplayNames) -> dict[str, str]:
    """Kind of annotator -> display name: that of its groups, where these hold no other kind and are not people."""
    kinds = annotations[["annotator_kind", "group"]].drop_duplicates()
    alone = kinds[~kinds["group"].duplicated(keep=False) & (kinds["annotator_kind"] != "human")]
    groups = alone.groupby("annotator_kind")["group"]
    return KINDS | {kind: listing(names.name("group", g) for g in members) for kind, members in groups}


# 00


def read(counts: pd.DataFrame) -> Iterator[Table | Prose]:
    """What became of the lines of each file, and why rows were recoded, corrected or dropped; the numbers add up."""
    steps = words.chains(counts)
    if len(steps) > 1:
        steps.loc["All files"] = steps.sum(min_count=1)
    steps = steps.dropna(axis=1, how="all").rename(columns=str.capitalize).rename_axis("File").reset_index()
    caption = "From the lines of each file to its rows (or records), the annotations in them, and those that were kept."
    why = dict.fromkeys(["Lines", "Rows"], "The file has none, or its format counts other units.")
    yield Table(steps, "read", caption, why=why)
    reasons = words.differences(counts).drop(columns="labels").replace("mended", "changed")
    reasons = reasons.rename(columns={"where": "First places"}).rename(columns=lambda c: c if c == "n" else _title(c))
    caption = "Every difference between what was read and what was kept, and what was recoded or corrected."
    yield Table(reasons, "reasons", caption)
    if reasons.empty:
        yield Prose("Nothing was recoded, corrected or dropped.")


def _title(column: str) -> str:
    return column[:1].upper() + column[1:]


#: direction of a label -> what the table of labels says of it
GOOD_WHEN = {1: "high", -1: "low", 0: "neither"}
GOOD_IF = {1: "chosen", -1: "not chosen", 0: "neither"}  # of two dialogues


def labels(annotations: Annotations, study: Study, names: DisplayNames) -> Table:
    """What each label means, its scale, and which end is good; one row where several methods agree."""
    judged = set(annotations[["method", "label"]].drop_duplicates().itertuples(index=False, name=None))
    rows: dict[tuple[str, str | None, str, str], list[str]] = {}
    for (method, id_), label in names.labels.items():
        if (method, id_) in judged:
            conditions = GOOD_IF if METHODS[method].unit == "pair" else GOOD_WHEN
            good = conditions[label.direction] if label.direction_declared else "not declared"
            row = (label.title, definitions(study, method).get(id_), _offered(label), good)
            rows.setdefault(row, []).append(names.name("method", method))
    frame = pd.DataFrame([[*row, listing(methods)] for row, methods in rows.items()],
                         columns=["Label", "Meaning", "Answers", "Good when", "Asked as"])  # fmt: skip
    caption = "The labels, what annotators were told that they mean, and the answers they could give."
    if frame["Meaning"].isna().all():
        frame = frame.drop(columns="Meaning")
        caption = "The labels, and the answers that annotators could give. The YAML does not say what labels mean "
        caption += "(`elicitation.definitions`)."
    return Table(frame, "labels", caption, why={"Meaning": "The YAML does not say (`elicitation.definitions`)."})


def _offered(label: Label) -> str:
    """The answers that annotators could give."""
    if METHODS[label.method].unit == "pair":
        return "one of the two" + (" or neither" if label.scale[0] < 0 else "")
    if label.categories:
        return listing(label.categories, "or")
    return "yes or no" if label.binary else f"{label.scale[0]:g} to {label.scale[1]:g}"


def answers(results: Results, names: DisplayNames) -> Iterator[Table]:
    """Shares of answers without order, and of choices; which answer the majority gave."""
    keys = ["corpus", "group", "method", "label", "system"]
    rows = results["answer_share"]
    for name, part in (("answers", rows[rows["system"].isna()]), ("answers_by_system", rows[rows["system"].notna()])):
        if part.empty:
            continue
        part = names.sort(part) if name == "answers_by_system" else names.sort(part.drop(columns="system"))
        present = [k for k in keys if k in part]
        texts = part[["estimate", "ci_low", "ci_high"]].mul(100)
        part = part.assign(text=tables.intervals(texts, 1))
        wide = part.set_index([*present, "answer"])["text"].unstack("answer", sort=False).reset_index()  # noqa: PD010
        answered = list(dict.fromkeys(part["answer"]))
        units = listing(f"{u}s" for u in dict.fromkeys(part["resample_unit"]))
        caption = f"Percent of annotations that give each answer; CI over {units}."
        table = names.named(names.sort(wide)).rename(columns=str)
        yield Table(table, name, caption, why=dict.fromkeys(answered, "No annotation, or no variation."))
    rows = results["majority_count"]
    if len(rows):
        rows = names.sort(rows)
        wide = rows.set_index([*keys[:-1], "answer"])["estimate"].astype(int).unstack("answer", sort=False)  # noqa: PD010
        table = names.named(names.sort(wide.reset_index())).rename(columns={"none": "No majority"})
        yield Table(table, "majorities", "Items judged by two or more people, by the answer given most often.")
    yield from _of_systems(results, names)


def _of_systems(results: Results, names: DisplayNames) -> Iterator[Table]:
    if results["best_worst"].empty:
        return
    spec: dict[str, tuple[str, dict[str, object]]] = {
        title: ("system_outcomes", {"outcome": outcome})
        for outcome, title in {"win": "Won", "tie": "Tied", "loss": "Lost"}.items()
    }
    spec["Balance"] = ("best_worst", {})
    wide = tables.side_by_side(results, [*CELL, "system"], spec)
    caption = "Judgements that each system won, tied and lost; balance: won less lost, per judgement."
    yield Table(names.named(names.sort(wide)), "outcomes", caption, dict.fromkeys(("Won", "Tied", "Lost"), 0))


def card(results: Results, names: DisplayNames) -> Table:
    """The data-set card: one row per corpus and method."""
    index = ["corpus", "method"]
    rows = pd.concat([results["count"], results["mean_count"]]).dropna(subset="method")
    wide = names.sort(tables.pivot(rows, index, "what", {c: c.capitalize() for c in CARD}))
    alphas = results["alpha"].dropna(subset="estimate").groupby(index)["estimate"]
    summary = alphas.agg(["median", "min", "max"]).astype(float)
    texts = cells.numbers(summary["median"]) + " (" + cells.ranges(summary[["min", "max"]]) + ")"
    wide["Agreement"] = texts.reindex(wide.set_index(index).index).to_numpy()
    why = dict.fromkeys(["Utterances", "Context words"], "The data contain no text.")
    why["Agreement"] = "No item was judged twice within a group."
    why["Response words"] = "Whole dialogues, not single responses, are judged, or the data contain no text."
    caption = "The data set. Numbers of utterances and words are means over instances."
    return Table(names.named(wide), "card", caption, 1, why)


def coverage(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Percent of what could be judged that was judged once, and twice: a figure per corpus."""
    corpora = list(dict.fromkeys(results["coverage"]["corpus"]))
    for i, corpus in enumerate(corpora):
        rows = results.select("coverage", corpus=corpus)
        matrices = {
            title: coverage_matrix(where(rows, times=times), names)
            for times, title in ((1, "Judged at least once (%)"), (2, "Judged at least twice (%)"))
        }
        n_rows, n_groups = next(iter(matrices.values())).shape
        grid = (2, 1) if n_groups > 2 else (1, 2)
        width = 2.2 + grid[1] * max(2.0, 0.95 * n_groups)
        row = 0.22 if grid[0] * n_rows < 36 else max(0.12, 7.6 / (grid[0] * n_rows))
        height = max(1.6, 0.5 + grid[0] * (0.3 + row * n_rows))  # with less there is no room for axes
        fig, axes = subplots(*grid, sharex=True, sharey=True, width=width, height=height)
        for ax, (title, matrix) in zip(axes, matrices.items(), strict=True):
            heatmap(matrix, ax, vmin=0, vmax=100, decimals=0)
            ax.set_title(title)
        caption = "Share of all possible items (label and turn, dialogue or pair) of each method or label that"
        caption += " annotators of a group judged at least once (first panel) and at least twice (second), in"
        caption += " percent. Labels of a method with equal shares have one row; hatched: not judged by this group."
        once, twice = (percent_span(where(rows, times=times)["estimate"]) for times in (1, 2))
        alt = f"Two heatmaps by label and group: {once} of all possible items were judged at least once, {twice} at"
        unit = "Percent of all possible items, by label and group"
        unit += f" ({names.name('corpus', corpus)})" if len(corpora) > 1 else ""
        yield Plot(fig, f"coverage_{i}" if i else "coverage", alt + " least twice.", caption, subtitle=unit)


def percent_span(shares: pd.Series) -> str:
    """`36 to 100%`."""
    return span(100 * shares, 0) + "%"


def coverage_matrix(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """Percent judged: rows labels, columns groups, display names. Labels of a method that are alike share a row."""
    lines = {}
    for method, part in names.sort(rows).groupby("method", sort=False):
        wide = part.pivot_table(index="label", columns="group", values="estimate", sort=False)
        if len(wide.drop_duplicates()) == 1:
            n, name = len(wide), names.name("method", method)
            lines[f"{name} ({n} labels)" if n > 1 else name] = wide.iloc[0]
        else:
            lines |= {names.name("label", label, method): line for label, line in wide.iterrows()}
    matrix = 100 * pd.DataFrame(lines).T
    groups = sorted(matrix.columns, key=lambda g: names.position("group", g))
    return matrix[groups].rename(columns=lambda g: names.name("group", g))


def scores(results: Results, names: DisplayNames, kinds: Mapping[str, str]) -> Plot:
    """The share of each score: a panel per method, and per kind of annotator and corpus where there are several.

    kinds : display names of kinds of annotators.
    """
    named = replace(names, titles=names.titles | {"kind": dict(kinds)})
    rows = names.sort(results["score_share"])
    rows = rows.assign(panel=row_titles(rows, named, ["method", "kind", "corpus"]))
    titles = list(dict.fromkeys(rows["panel"]))
    alt = f"Bars: the share of each score, by label, for {listing(titles)}."
    caption = "Share of each score among all annotations, in percent; of labels that are marked or not, the share"
    caption += " marked."
    if (rows["level"] == "pair").any():
        caption += " Comparisons are shown as the annotators saw them: left and right dialogue."
    return Plot(share_figure(rows, names, dict(zip(titles, titles, strict=True))), "scores", alt, caption)


# 01


def systems(results: Results, names: DisplayNames) -> Table:
    """Mean ratings of the pilots of systems, leaving out people."""
    rows = results.select("mean", interval="annotator").sort_values("estimate", ascending=False, kind="stable")
    out = names.named(rows[["group", "system"]])
    out["Dialogues"], out["Annotators"], out["Mean"] = rows["n"], rows["n_clusters"], tables.intervals(rows)
    why = {"Mean": "All ratings are equal, or fewer than five people rated."}
    caption = f"Mean rating of {rows['label'].iloc[0]} in the pilots of systems; CIs leave out one person at a time."
    return Table(out, "systems", caption, why=why)


def pilot_number(corpora: pd.Series) -> pd.Series:
    """`3` for `annotation_pilot_3`."""
    return corpora.str.extract(r"(\d+)$")[0]


def annotators(group: str, scope: object, names: DisplayNames) -> str:
    """Who judged in a pilot: the display name of the group, and whether they had passed the training."""
    who = "All annotators" if group == "all" else names.name("group", group)
    return f"{who}, passed the training" if scope == "screened" else who


def agreement(results: Results, names: DisplayNames, confidence: float) -> Table:
    """Alpha of each pilot of annotation, leaving out dialogues."""
    rows = results.select("alpha", resample="dialogue")
    out = pd.DataFrame({"Pilot": pilot_number(rows["corpus"])})
    if len(set(rows["method"])) > 1:
        out["Method"] = [names.name("method", m) for m in rows["method"]]
    out["Judged by"] = [annotators(g, s, names) for g, s in zip(rows["group"], rows["scope"], strict=True)]
    out["Items"], out["Alpha"] = rows["n"].astype(int), tables.intervals(rows)
    caption = (
        f"Alpha over all labels in the annotation pilots; {percent(confidence)} CIs leave out one dialogue at a time."
    )
    return Table(out, "agreement", caption, why={"Alpha": "Undefined, as all marks are alike."})


def quiz(results: Results, names: DisplayNames, titles: Mapping[str, str]) -> Table | None:
    """Who passed the quiz, by what was asked. titles : label -> display name."""
    rows = results["quiz_pass_rate"]
    if rows.empty:
        return None
    key = ["group", "label"]
    parts = {tries: rows[rows["tries"] == tries].set_index(key) for tries in ("first", "any")}
    out = pd.DataFrame({"At the first try": _in_percent(parts["first"]), "In any try": _in_percent(parts["any"])})
    out["People"], failed = parts["any"]["n"], results["quiz_failed"].set_index(key)
    out["Failed"], out["Judged all the same"] = failed["n"], failed["estimate"].astype(int)
    out = out.reset_index()
    out.insert(0, "Question", out["label"].map(lambda x: titles.get(x, x)))
    several = len(set(out["group"])) > 1
    out.insert(0, "Group", [names.name("group", g) for g in out["group"]])
    out = out.drop(columns=key if several else [*key, "Group"])
    return Table(out, "quiz", "Percentage who passed the quiz, with CI, and people who failed it.")


def _in_percent(rows: pd.DataFrame) -> pd.Series:
    return tables.intervals(100 * rows[["estimate", "ci_low", "ci_high"]], 0)


# 02


def texts(results: Results, names: DisplayNames) -> Table | Prose:
    """Size of the conversations, of all systems and of each."""
    sizes = pd.concat([where(results["count"], kind=None), results["mean_count"]])
    sizes = where(sizes, method=None)
    if sizes.empty:
        return Prose("The data contain no text of the dialogues.")
    heads = {c: c.replace(" a ", " per ").capitalize() for c in TEXTS}
    wide = names.sort(tables.pivot(sizes.fillna({"system": "All systems"}), ["corpus", "system"], "what", heads))
    return Table(names.named(wide), "texts", "Size of the conversations. Means are over dialogues or turns.", 1)


def minutes(results: Results, names: DisplayNames) -> Table | Prose:
    """Median minutes of each task."""
    rows = names.sort(results["median_minutes"])
    if rows.empty:
        return Prose("The data contain no annotation times, so costs are unknown as well.")
    task = rows["task"].where(rows["task"] != rows["method"], "all together").str.replace("_", " ").str.capitalize()
    out = rows[["corpus", "group", "method"]].assign(Task=task, **{"Median minutes": tables.intervals(rows)})
    out["Work units"], out["Annotators"] = rows["n"], rows["n_annotators"]
    caption = "Minutes per dialogue or pair, with the exact CI of the median (work units treated as independent)."
    return Table(names.named(out), "minutes", caption)


_PHRASES = Phrases(__package__)
_WHO = ["method", "group", "corpus"], ["method"]
#: so few times are all given
_FEW_TIMES = 3


def data_set(
    counts: pd.DataFrame, annotations: Annotations, results: Results, names: DisplayNames, *, control: bool = False
) -> Iterator[Prose]:
    """What became of the annotations that were read; how much was judged twice.

    annotations : of the evaluation. control : whether workers are to pass quality control by a degraded system.
    """
    # some adapters count the annotations of turns and of dialogues separately
    total = counts[counts["what"].str.endswith("annotations")].groupby("action")["n"].sum()
    facts: dict[str, Any] = {action: int(total.get(action, 0)) for action in ("read", "kept", "mended", "dropped")}
    people = annotations[annotations["annotator_kind"] == "human"]
    sides = [annotations[["corpus", "dialogue", "system"]], annotations[["corpus", "dialogue_b", "system_b"]].dropna()]
    either_side = pd.concat([side.set_axis(["corpus", "dialogue", "system"], axis=1) for side in sides])
    facts["n_dialogues"] = len(either_side.drop_duplicates(["corpus", "dialogue"]))  # an id may recur in another corpus
    facts |= {"n_systems": either_side["system"].nunique(), "n_main": len(annotations)}
    facts["n_people"] = people.loc[people["annotator_known"], "annotator"].nunique()
    sizes = people.groupby([c for c in ("group", *ITEM) if c in people], dropna=False).size()
    facts["per_item"] = int(sizes.max()) if len(sizes) else 0
    kinds = kind_names(annotations, names)
    judged = [k for k in kinds if k != "human" and (annotations["annotator_kind"] == k).any()]
    facts["models"] = [kinds[k].lower() if kinds[k] == KINDS.get(k) else kinds[k] for k in judged]
    facts["extra"] = bool(counts["corpus"].astype(str).str.startswith("extra_").any())
    yield Prose(_PHRASES.say("read", **facts))
    yield Prose(_PHRASES.say("later", control=control))
    twice = results.select("coverage", kind="human", times=2).groupby("method")["estimate"].max()
    shares = [(names.name("method", m), twice[m]) for m in names.titles["method"] if m in twice]
    yield Prose(_PHRASES.say("coverage", shares=shares))


def pilots(results: Results, names: DisplayNames, *, least: float, simulated: bool) -> Iterator[Prose]:
    """Which systems pass, how many annotators do, and alpha of the pilots. least : mean that passes."""
    yield Prose(_PHRASES.say("systems", **_systems(results, names, least)))
    rates = names.sort(results.select("screening_pass_rate", task=ALL_TASKS))
    groups = [{"who": names.name("group", row["group"]), "every": row} for row in rates.to_dict("records")]
    yield Prose(_PHRASES.say("screening", groups=groups))
    yield Prose(_PHRASES.say("agreement", alphas=list(results["alpha"]["estimate"].dropna())))
    yield Prose(_PHRASES.say("simulated") if simulated else "")


def _systems(results: Results, names: DisplayNames, least: float) -> dict[str, Any]:
    means = results.select("mean", interval="annotator").sort_values("estimate", ascending=False, kind="stable")
    if means.empty:
        return {"n": 0}
    chosen = {
        "passed": means[means["estimate"] >= least],
        "failed": means[means["estimate"] < least],
        "unsure": means[(means["ci_low"] < least) & (means["ci_high"] > least)],
    }
    facts = {key: [names.name("system", s) for s in rows["system"]] for key, rows in chosen.items()}
    return facts | {"n": len(means), "least": f"{least:g}", "label": means["label"].iloc[0]}


def collection(
    annotations: Annotations, results: Results, names: DisplayNames, section: Costs, *, paid_elsewhere: bool = False
) -> Iterator[Prose]:
    """How much people judged and at what cost, which method takes longest, and how evenly the work was shared.

    paid_elsewhere : whether notebook 10 says what was paid.
    """
    people = annotations[annotations["annotator_kind"] == "human"]
    labels = people[["method", "label"]].drop_duplicates()
    facts: dict[str, Any] = {"n": len(people), "n_labels": len(labels), "n_methods": labels["method"].nunique()}
    costs, paid = _per_unit(results, section)
    facts |= {"costs": _by_level(costs), "paid": _by_level(paid)}
    facts |= {"currency": section.currency, "rate": f"{section.hourly_rate:g}", "paid_elsewhere": paid_elsewhere}
    yield Prose(_PHRASES.say("collected", **facts))
    total = results.select("unit_minutes", tasks="all").dropna(subset="estimate")
    total = names.sort(total[total["method"] != COLLECTION])
    if len(total):
        total["who"] = row_titles(total, names, *_WHO)
        mixed = bool((total["method"] == TOGETHER).any())
        facts = {"rows": total.to_dict("records"), "few": _FEW_TIMES, "mixed": mixed}
        ranked = total.sort_values("estimate", kind="stable")
        facts |= {"slowest": ranked.iloc[-1].to_dict(), "fastest": ranked.iloc[0].to_dict()}
        yield Prose(_PHRASES.say("minutes", **facts))
    busiest = results["busiest_share"]
    if len(busiest):
        top = busiest.loc[busiest["estimate"].idxmax()].to_dict()
        title = row_titles(busiest, names, *_WHO)[busiest["estimate"].idxmax()]
        yield Prose(_PHRASES.say("workload", who=title, share=top["estimate"], n=top["n"]))
    else:
        yield Prose(_PHRASES.say("unknown_annotators"))


def _per_unit(results: Results, section: Costs) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Costs of one dialogue or pair: at the hourly rate, and at what was paid, where that is known."""
    rows = results.select("unit_minutes", tasks="all").dropna(subset="estimate")
    rows = rows[rows["method"] != COLLECTION]
    task_of = results["median_minutes"].groupby(["corpus", "group", "method"])["task"]
    paid = [
        payment(section.payments.get(group, {}).get(method), task_of.get_group((corpus, group, method)))
        for corpus, group, method in zip(rows["corpus"], rows["group"], rows["method"], strict=True)
    ]
    at_rate = rows.assign(estimate=rows["estimate"] / 60 * section.hourly_rate)
    return at_rate, rows.assign(estimate=np.array(paid, dtype=float)).dropna(subset="estimate")


def _by_level(rows: pd.DataFrame) -> list[tuple[str, list[float]]]:
    return [(level, list(part["estimate"])) for level, part in rows.groupby("level", sort=False)]
