"""Tables of notebook 11, and which rows go into which of its figures.

Rows are unfolded (`schema.unfold`) and carry `part`: the evaluator group, with the corpus where techniques do
not name one of their own. Every part has its figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from helpers import tables
from helpers.look import Look
from helpers.schema import unfold
from helpers.techniques import Collected
from helpers.winrates import pairwise

#: labels shown where there are more than this: `quality`, or the first
MANY_LABELS = 3
#: with more pairs than this, curves are averaged over them
MANY_PAIRS = 3
WIN = ("technique_win_rate", "effective_win_rate")
#: keys of conditions that become columns
KEYS = ("technique", "ties", "turn", "against", "of", "alpha", "power", "conversations", "hours", "minutes", "data")
KINDS = {True: "Two systems at once", False: "One system at a time"}


def with_parts(results: pd.DataFrame, c: Collected) -> pd.DataFrame:
    """Unfolded rows with `part`."""
    rows = unfold(results, KEYS)
    named = any(spec.corpus is not None for spec in c.specs.values())
    part = (
        rows["group"].astype(object) if named else rows["corpus"].astype(object) + " / " + rows["group"].astype(object)
    )
    return rows.assign(part=part)


def part_title(part: str, look: Look) -> str:
    """A part as a reader knows it, without what is the same in all studies."""
    corpus, _, group = part.rpartition(" / ")
    words = [corpus if corpus not in ("", "main") else "", look.name("group", group) if group != "all" else ""]
    return ", ".join(w for w in words if w)


def shown_labels(c: Collected) -> list[str]:
    """Labels that figures show: all of a few, or else one."""
    if len(c.labels) <= MANY_LABELS:
        return c.labels
    return ["quality"] if "quality" in c.labels else c.labels[:1]


def label_titles(c: Collected, look: Look) -> dict[str, str]:
    methods = [spec.method for spec in c.specs.values()]
    known = {x: next((look.labels[m, x].title for m in methods if (m, x) in look.labels), x) for x in c.labels}
    return known


def technique_titles(c: Collected, mixtures: Mapping[str, object] = (), two: bool | None = None) -> dict[str, str]:
    """Technique -> title, and mixtures after them. two : pairwise ones only, or only the others."""
    out = {t: c.title(t) for t, spec in c.specs.items() if two is None or pairwise(spec.method) == two}
    return out | {name: mixtures[name].title or name.replace("_", " ") for name in mixtures}


def win_rows(rows: pd.DataFrame, ties: str = "half") -> pd.DataFrame:
    """Win rates of pairs, with one way of ties; where nothing ties there is one only."""
    found = rows[rows["statistic"].isin(WIN)]
    found = found[found["data"].isna()]
    return found[found["ties"].isin([ties, "none"])]


def lines(rows: pd.DataFrame, c: Collected, labels: Sequence[str]) -> list[tuple[str, str, str]]:
    """(system, system_b, label) that have rows, in the order of pairs and labels."""
    seen = set(rows[["system", "system_b", "label"]].itertuples(index=False, name=None))
    return [(a, b, x) for a, b in c.pairs for x in labels if (a, b, x) in seen]


def rate_table(rows: pd.DataFrame, names: Mapping[tuple, str], techniques: Mapping[str, str]) -> pd.DataFrame:
    """Win rates in percent with intervals: a row a line, a column a technique. rows : one way of ties."""
    out = pd.DataFrame({"Pair": list(names.values())}, index=pd.MultiIndex.from_tuples(list(names)))
    for technique, title in techniques.items():
        here = rows[rows["technique"] == technique].set_index(["system", "system_b", "label"])
        if len(here):
            percent = here.assign(**{k: 100 * here[k] for k in ("estimate", "ci_low", "ci_high")})
            out[title] = tables.intervals(percent, 0).reindex(out.index)
    return out.reset_index(drop=True)


def score_table(rows: pd.DataFrame, c: Collected, look: Look, labels: Sequence[str]) -> pd.DataFrame:
    """What each system gets where systems are judged one at a time: a row a system and label, a column a technique.

    Where conversations are worth 0 to 1 it is a rate in percent, else a mean on the technique's own scale. Empty where
    systems are only compared.
    """
    found = rows[(rows["statistic"] == "technique_score") & rows["label"].isin(labels)]
    key, columns = ["part", "system", "label"], {}
    for technique in (t for t in c.specs if (found["technique"] == t).any()):
        here = found[found["technique"] == technique].set_index(key)
        share = c.scales[technique] == (0, 1)
        ends = here[["estimate", "ci_low", "ci_high"]] * (100 if share else 1)
        columns[f"{c.title(technique)} ({'%' if share else 'mean'})"] = tables.intervals(ends, 0 if share else 2)
    if not columns:
        return pd.DataFrame()
    wide = pd.DataFrame(columns).rename_axis(key).reset_index()
    wide["label"] = wide["label"].map(label_titles(c, look))
    wide["part"] = wide["part"].map(lambda p: part_title(p, look))
    wide["system"] = wide["system"].map(lambda s: look.name("system", s))
    return wide.rename(columns={k: k.capitalize() for k in key}).drop(columns=[] if wide["part"].any() else "Part")


def hours_table(rows: pd.DataFrame, names: Mapping[tuple, str], techniques: Mapping[str, str]) -> pd.DataFrame:
    """Hours to power with interval and, behind, hours until first significant: a row a line, a column a technique."""
    out = pd.DataFrame({"Pair": list(names.values())}, index=pd.MultiIndex.from_tuples(list(names)))
    for technique, title in techniques.items():
        here = rows[rows["technique"] == technique].set_index(["system", "system_b", "label"])
        to_power = here[here["statistic"] == "hours_to_power"]
        if len(to_power):
            first = here.loc[here["statistic"] == "hours_to_significance", "estimate"].reindex(to_power.index)
            text = tables.intervals(to_power, 1) + " / " + first.map(lambda h: tables.number(h, 1))
            out[title] = text.reindex(out.index)
    return out.reset_index(drop=True)


def power_columns(
    rows: pd.DataFrame, c: Collected, pairs: Mapping[tuple, str], look: Look, labels: Sequence[str]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Power rows for `technique_plots.power_figure`: means over the shown labels, a column for each of a few pairs, or
    one column with the mean over all pairs.

    Returns the rows with `column` and a number of `hours`, and the headings.
    """
    here = rows[rows["label"].isin(labels)].assign(hours=rows["hours"].astype(float))
    seen = set(here[["system", "system_b"]].itertuples(index=False, name=None))
    few = len(seen) <= MANY_PAIRS
    names = {
        f"{a} {b}": pairs.get((a, b)) or f"{look.name('system', a)} – {look.name('system', b)}" for a, b in c.pairs
    }
    here = here.assign(column=here["system"] + " " + here["system_b"] if few else "all")
    size = here["conversations"].astype(int)
    mean = here.groupby(["statistic", "technique", "column", size], sort=False)[["hours", "estimate"]].mean()
    return mean.reset_index(), names if few else {"all": f"Mean over {len(seen)} pairs"}


def seconds_table(rows: pd.DataFrame, c: Collected, look: Look) -> pd.DataFrame:
    """Mean seconds of a conversation or comparison, of the training that goes with it, and of collecting one of the
    conversations compared: of the techniques whose hours are told."""
    timed = rows[rows["statistic"] == "technique_seconds"]
    timed = timed[[c.specs[t].timed for t in timed["technique"]]]
    wide = timed.pivot_table(index=["part", "technique"], columns="of", values="estimate", sort=False)
    n = timed[timed["of"] == "unit"].set_index(["part", "technique"])
    wide = wide.reset_index()
    keys = pd.MultiIndex.from_frame(wide[["part", "technique"]])
    out = pd.DataFrame({"Part": [part_title(p, look) for p in wide["part"]]})
    out["Technique"] = [c.title(t) for t in wide["technique"]]
    out["Seconds"] = wide.get("unit")
    out["Training"] = wide.get("training")
    collecting = [60 * c.specs[t].conversation_minutes for t in wide["technique"]]
    if any(collecting):
        out["Collecting a chat"] = collecting
    out["Sittings timed"] = n["n"].reindex(keys).to_numpy()
    out["People"] = n["n_annotators"].reindex(keys).to_numpy()
    return out.drop(columns="Part") if (out["Part"] == "").all() else out


def middle_table(rows: pd.DataFrame, titles: Mapping[str, str], look: Look) -> pd.DataFrame:
    """The hours to power that half of the contests take at most, by part and technique, and how many get there.

    A contest is a pair of systems under a label. One that is not reached takes longer than all that are; the middle is
    missing where that is so for half of them.
    """
    found = rows[(rows["statistic"] == "hours_to_power") & rows["technique"].isin(list(titles))]
    out = []
    for part, here in found.groupby("part", sort=False):
        for technique in (t for t in titles if (here["technique"] == t).any()):
            of = here.loc[here["technique"] == technique, "estimate"]
            middle = of.fillna(float("inf")).sort_values().iloc[(len(of) - 1) // 2]
            row = {"Part": part_title(part, look), "Technique": titles[technique]}
            row |= {"Hours": middle if middle < float("inf") else None, "Reached": int(of.notna().sum())}
            out.append(row | {"Contests": len(of)})
    return pd.DataFrame(out, columns=["Part", "Technique", "Hours", "Reached", "Contests"])


def chunk_table(rows: pd.DataFrame, c: Collected, pairs: Mapping[tuple, str], label: str) -> pd.DataFrame:
    """Standard deviation of win rates over parts of equal working time, and in brackets what chance alone gives."""
    found = rows[(rows["statistic"] == "chunk_sd") & (rows["label"] == label)]
    out = []
    for technique in c.specs:
        row: dict[str, object] = {"Technique": c.title(technique)}
        for (a, b), title in pairs.items():
            here = found[(found["technique"] == technique) & (found["system"] == a) & (found["system_b"] == b)]
            value = here.set_index("of")["estimate"]
            if value.notna().any():
                told = f"{100 * value['observed']:.0f}"
                row[title] = told + (
                    f" ({100 * value['independent']:.0f})" if pd.notna(value.get("independent")) else ""
                )
        out.append(row)
    found = pd.DataFrame(out, columns=["Technique", *pairs.values()])
    return found.dropna(axis=1, how="all").dropna(axis=0, thresh=2)


def printed_table(found: pd.DataFrame, pairs: Mapping[str, str], labels: Mapping[str, str]) -> pd.DataFrame:
    """Printed effective win rates beside the ranges that the printed rates allow (`effective_rates.of_printed`)."""
    out = found.drop_duplicates(["panel", "row"])[["panel", "row", "printed"]].set_index(["panel", "row"])
    for ties, title in {"drop": "Ties left out", "half": "Ties as half a win"}.items():
        here = found[found["ties"] == ties].set_index(["panel", "row"])
        text = [
            f"{100 * low:.1f} to {100 * high:.1f}{' fits' if fits else ''}"
            for low, high, fits in zip(here["low"], here["high"], here["fits"], strict=True)
        ]
        out[title] = pd.Series(text, index=here.index).reindex(out.index)
    out = out.reset_index()
    out["panel"], out["row"] = out["panel"].map(lambda p: pairs.get(p, p)), out["row"].map(lambda x: labels.get(x, x))
    return out.rename(columns={"panel": "Pair", "row": "Question", "printed": "Printed"})
