"""What notebooks 00 and 02 show and say, made from frames and result rows."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from helpers import tables
from helpers.costs import COLLECTION
from helpers.look import Look
from helpers.schema import read_condition

#: kinds of annotators as readers know them
KINDS = {"human": "People", "llm": "Language model", "classifier": "Classifier"}


def of_reading(counts: pd.DataFrame, main: pd.DataFrame) -> str:
    """What became of the annotations that were read, and what the evaluation (`main`) holds."""
    # some adapters count the annotations of turns and of dialogues apart
    total = counts[counts["what"].str.endswith("annotations")].groupby("action")["n"].sum()
    read, kept, dropped, mended = (int(total.get(a, 0)) for a in ("read", "kept", "dropped", "mended"))
    people = main[main["annotator_kind"] == "human"]
    known = people.loc[people["annotator_known"], "annotator"].nunique()
    who = f"{known} people" if known else "people whose identity is not in the data"
    dialogues, systems = (len({*main[side], *main[f"{side}_b"].dropna()}) for side in ("dialogue", "system"))
    text = f"Of {read:,} annotations read, {kept:,} were kept{f' ({mended:,} of them mended)' if mended else ''}"
    text += f" and {dropped:,} dropped. {'All' if len(main) == kept else f'Of these, {len(main):,}'} belong to the"
    text += f" evaluation itself: {_many(dialogues, 'dialogue')} of {_many(systems, 'system')}, judged by {who}"
    extra = "corpus" in counts and counts["corpus"].astype(str).str.startswith("extra_").any()
    rest = "pilots, gold units and corpora with notebooks of their own" if extra else "pilots and gold units"
    return text + ("." if len(main) == kept else f"; the others are {rest}.")


def judged(counts: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """What each group judged by method, one a row; kinds of annotators apart where a group holds several.

    counts : from `collection.counts`. columns : what is counted, in order.
    """
    rows = counts[counts["method"].notna()]
    rows = rows.assign(kind=[KINDS[read_condition(c)["kind"]] for c in rows["condition"]])
    index = ["corpus", "group", "method"]
    if rows.groupby(index)["kind"].nunique().max() > 1:
        rows, index = rows.rename(columns={"kind": "Judged by"}), [*index, "Judged by"]
    return tables.spread(rows, index, "what", {c: c.capitalize() for c in columns})


def spread_of_alpha(alphas: pd.DataFrame) -> pd.Series:
    """`0.50 (0.00 to 0.62)`: median and range over labels and groups, by corpus and method."""

    def text(values: pd.Series) -> str:
        middle, low, high = (tables.number(v) for v in values.agg(["median", "min", "max"]))
        return f"{middle} ({low} to {high})"

    return alphas.dropna(subset=["estimate"]).groupby(["corpus", "method"])["estimate"].agg(text)


def of_coverage(coverage: pd.DataFrame, look: Look) -> str:
    """How much of each method people judged at least twice."""
    here = coverage["condition"].str.contains("times=2") & coverage["condition"].str.contains("kind=human")
    best = coverage[here].groupby("method")["estimate"].max()
    said = [f"{look.name('method', m)} {100 * best[m]:.0f} %" for m in look.names["method"] if m in best]
    return f"Judged at least twice, by the group that did so most: {tables.listing(said)}."


def whole(results: pd.DataFrame, corpus: str | None = None) -> pd.DataFrame:
    """The rows of `costs` with the minutes of all tasks, of one corpus or all."""
    here = (results["statistic"] == "unit_minutes") & (results["condition"] == "tasks=all")
    return results[here if corpus is None else here & (results["corpus"] == corpus)]


def side_by_side(results: pd.DataFrame, currency: str) -> pd.DataFrame:
    """Rows of `costs` as a table: corpus, group, method, Tasks and the statistics, money with its currency."""
    heads = {
        "unit_minutes": "Minutes",
        "throughput": "Units an hour",
        "estimated_cost": f"Estimated cost ({currency})",
        "own_cost": f"Own cost ({currency})",
        "cost_per_label": f"A label ({currency})",
    }
    index = ["corpus", "group", "method", "condition"]
    wide = results.set_index([*index, "statistic"])["estimate"].unstack()  # noqa: PD010 (a repeat must raise)
    wide = wide.reindex(results.drop_duplicates(index).set_index(index).index).reindex(columns=list(heads))
    wide = wide.rename(columns=heads).rename_axis(columns=None).reset_index()
    tasks = wide.pop("condition").str.removeprefix("tasks=")
    if (tasks != "all").any():
        wide.insert(3, "Tasks", tasks)
    return wide


def of_collection(annotations: pd.DataFrame, workload: pd.DataFrame, cost: pd.DataFrame, look: Look) -> str:
    """How much people judged, how evenly, and which method takes longest and least.

    workload : rows of `collection.workload_summary`. cost : rows of `costs.costs`. Both may be empty.
    """
    people = annotations[annotations["annotator_kind"] == "human"]
    labels = people[["method", "label"]].drop_duplicates()
    text = f"People made {len(people):,} annotations of {_many(len(labels), 'label')}"
    text += f" in {_many(labels['method'].nunique(), 'method')}."
    if len(workload):
        busy = workload[workload["statistic"] == "busiest_share"]
        top = busy.loc[busy["estimate"].idxmax()]
        text += f" The busiest annotator of a group and method did {100 * top['estimate']:.0f} % of its work"
        text += f" ({_who(top, look)}, {_many(top['n'], 'annotator')})."
    total = whole(cost) if len(cost) else cost
    total = total[total["method"] != COLLECTION] if len(total) else total
    if len(total) > 1:
        slow, quick = (total.loc[i] for i in (total["estimate"].idxmax(), total["estimate"].idxmin()))
        text += f" The slowest method, {_who(slow, look)}, takes {_minutes(slow)};"
        text += f" the quickest, {_who(quick, look)}, {_minutes(quick)}."
    elif len(total):
        text += f" {_who(total.iloc[0], look)} takes {_minutes(total.iloc[0])}."
    return text


def _who(row: pd.Series, look: Look) -> str:
    group = "" if row["group"] == "all" else f" ({look.name('group', row['group'])})"
    return tables.plain(look.name("method", row["method"]) + group)


def _minutes(row: pd.Series) -> str:
    return f"{tables.interval(row['estimate'], row['ci_low'], row['ci_high'], 1)} minutes a {row['level']}"


def _many(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def coverage_matrix(results: pd.DataFrame, look: Look, times: int) -> pd.DataFrame:
    """Percent of what could be judged that was judged at least so often: rows labels, columns groups, display names.

    results : `coverage` rows of one corpus. Labels of a method that do not differ in any group share a row.
    """
    here = look.sort(results[results["condition"].str.contains(f"times={times}", regex=False)])
    rows = {}
    for method, part in here.groupby("method", sort=False):
        wide = part.pivot_table(index="label", columns="group", values="estimate", sort=False)
        if len(wide.drop_duplicates()) == 1:
            n, name = len(wide), look.name("method", method)
            rows[f"{name} ({n} labels)" if n > 1 else name] = wide.iloc[0]
        else:
            rows |= {look.name("label", label, method): row for label, row in wide.iterrows()}
    matrix = 100 * pd.DataFrame(rows).T
    groups = sorted(matrix.columns, key=lambda g: look.position("group", g))
    return matrix[groups].rename(columns=lambda g: look.name("group", g))


def panels(results: pd.DataFrame, look: Look) -> tuple[pd.DataFrame, dict[str, str]]:
    """`score_share` rows as `plotting.share_figure` wants them, and the titles of its panels, in order.

    A panel is a method; kinds of annotators and corpora have panels of their own where there are several.
    """
    keys = results["condition"].map(read_condition)
    out = look.sort(results.assign(score=[k["score"] for k in keys], kind=[k["kind"] for k in keys]))
    parts = pd.DataFrame(
        {
            "method": [look.name("method", m) for m in out["method"]],
            "kind": out["kind"].map(KINDS),
            "corpus": out["corpus"],
        },
        index=out.index,
    )
    told = [c for c in parts if len(set(parts[c])) > 1] or ["method"]
    out["panel"] = parts[told].agg(", ".join, axis=1)
    return out, {p: p for p in dict.fromkeys(out["panel"])}
