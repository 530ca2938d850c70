"""What notebook 08 shows and says of evaluator groups, made from result rows of `group_effects`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from helpers import tables
from helpers.effects import ANALYSIS
from helpers.labels import METHODS
from helpers.look import Look
from helpers.schema import read_condition

#: groups of fewer people than this are people, not a sample of a group
FEW_PEOPLE = 5
#: keys of a condition that tell a variant from the primary analysis
VARIANTS = ("scope", "pick", "over", "without")
#: decimals of p-values in tables
DECIMALS = {"p (Holm)": 3, "p, people (Holm)": 3}
PAIR = [*ANALYSIS, "group", "group_b"]
DIFFERS, ROBUST, BOTH, UNKNOWN, NONE = "differs", "robust", "differs, within the margin", "cannot tell", "no test"


def select(results: pd.DataFrame, statistic: str, **keys: object) -> pd.DataFrame:
    """Rows of a statistic whose condition has these keys, and no key of VARIANTS but these."""
    rows = results[results["statistic"] == statistic]
    wanted = {k: str(v) for k, v in keys.items() if v is not None}

    def fits(text: str) -> bool:
        found = read_condition(text)
        return wanted.items() <= found.items() and not (set(VARIANTS) & set(found)) - set(wanted)

    fitting = {c for c in rows["condition"].unique() if fits(c)}
    return rows[rows["condition"].isin(fitting)]


def differences(results: pd.DataFrame, level: float, **variant: object) -> pd.DataFrame:
    """One row a label and two groups: the difference as published, and all that says what it means.

    results : result rows; variant : `scope` and `pick` of the values as published, none for the primary analysis. level
    : of the tests. Columns: PAIR, estimate, ci_low, ci_high, null_mean, null_q95, exceeds (None without a null), p,
    p_adjusted, p_people; primary only: debiased, debiased_low, debiased_high, margin, p_margin, without_low,
    without_high, picks_low, picks_high, verdict.
    """
    out = select(results, "group_difference", resample="score", **variant).set_index(PAIR)
    out = out[["level", "n", "n_annotators", "estimate", "ci_low", "ci_high"]]

    def add(names: Mapping[str, str], statistic: str, **keys: object) -> None:
        rows = select(results, statistic, **keys).set_index(PAIR).reindex(out.index)
        for name, column in names.items():
            out[name] = rows[column].astype(float)

    null = {"exchange": "judgement", **variant}
    for point in ("mean", "q95"):
        add({f"null_{point}": "estimate"}, "group_difference_null", point=point, **null)
    add({"p": "p_value", "p_adjusted": "p_adjusted", "tested": "estimate"}, "group_difference_test", **null)
    exceeds = (out["tested"] > out["null_q95"]).astype(object)
    out["exceeds"] = exceeds.where(out["null_q95"].notna() & out["tested"].notna(), None)
    if not variant:
        add({"p_people": "p_adjusted"}, "group_difference_test", exchange="annotator")
        names = {"debiased": "estimate", "debiased_low": "ci_low", "debiased_high": "ci_high"}
        add(names, "group_difference_debiased", scale="root")
        add({"margin": "estimate", "p_margin": "p_adjusted"}, "equivalence_margin")
        add({"without_low": "ci_low", "without_high": "ci_high"}, "group_difference", over="people")
        add({"picks_low": "ci_low", "picks_high": "ci_high"}, "group_difference", over="picks")
        out["verdict"] = [verdict(p, q, level) for p, q in zip(out["p_adjusted"], out["p_margin"], strict=True)]
    return out.reset_index()


def verdict(p_difference: float, p_equivalence: float, level: float) -> str:
    """In words: do two groups differ beyond chance, are they equivalent within the margin, or can nobody tell?"""
    if np.isnan(p_difference) and np.isnan(p_equivalence):
        return NONE
    differs, same = p_difference < level, p_equivalence < level
    return BOTH if differs and same else DIFFERS if differs else ROBUST if same else UNKNOWN


def extent(values: pd.Series) -> str:
    """`from a to b`, for descriptions of figures."""
    found = values.dropna()
    return (
        f"from {tables.number(found.min())} to {tables.number(found.max())}" if len(found) else "none of them defined"
    )


def named(rows: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Corpus (where several), method, label and groups as a reader knows them."""
    out = {"Corpus": rows["corpus"]} if len(set(rows["corpus"])) > 1 else {}
    out["Method"] = [look.name("method", m) for m in rows["method"]]
    out["Label"] = [look.name("label", x, m) for m, x in zip(rows["method"], rows["label"], strict=True)]
    out["Groups"] = [both(a, b, look) for a, b in zip(rows["group"], rows["group_b"], strict=True)]
    return pd.DataFrame(out, index=rows.index)


def both(group: str, group_b: object, look: Look) -> str:
    """`A / B`, in the order of figures; `A` where there is one group."""
    names = sorted([group, *([group_b] if isinstance(group_b, str) else [])], key=lambda g: look.position("group", g))
    return " / ".join(look.name("group", g) for g in names)


def ordered(rows: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Rows by method, label, then pairs of groups, in the order of figures."""
    place = [
        sorted(look.position("group", g) for g in pair) for pair in zip(rows["group"], rows["group_b"], strict=True)
    ]
    order = sorted(range(len(rows)), key=place.__getitem__)
    return rows.loc[look.sort(rows.iloc[order].drop(columns="group")).index]


def shown(found: pd.DataFrame, look: Look) -> pd.DataFrame:
    """`differences` as a table."""
    rows = ordered(found, look)
    out = named(rows, look)
    out["Difference"] = tables.intervals(rows)
    out["By chance"] = rows["null_mean"]
    out["95 % of chance"] = rows["null_q95"]
    out["p (Holm)"] = rows["p_adjusted"]
    if "debiased" in rows:
        out["p, people (Holm)"] = rows["p_people"]
        out["Beyond noise"] = span(rows, "debiased_low", "debiased_high", "debiased")
        out["Without one person"] = span(rows, "without_low", "without_high")
        out["Over picks"] = span(rows, "picks_low", "picks_high")
        out["Smallest margin"] = rows["margin"]
        out["Verdict"] = rows["verdict"]
    else:
        out["Exceeds"] = rows["exceeds"]
    return out


def span(rows: pd.DataFrame, low: str, high: str, estimate: str | None = None) -> list[str | None]:
    def text(value: float, a: float, b: float) -> str | None:
        if estimate:
            return None if pd.isna(value) else tables.interval(value, a, b)
        return None if pd.isna(a) else f"{tables.number(a)} to {tables.number(b)}"

    return [text(*r) for r in zip(rows[estimate or low], rows[low], rows[high], strict=True)]


def statistics(counts: pd.DataFrame, look: Look, payments: Mapping, currency: str) -> pd.DataFrame:
    """Who judged how much, and for what payment, as Table 2 of Finch et al. 2024. counts : of `group_counts`."""
    what = counts["condition"].map(lambda c: read_condition(c)["what"])
    wide = counts.assign(what=what)[counts["method"].notna()]
    wide = wide.pivot_table(index=["corpus", "group", "method"], columns="what", values="estimate", sort=False)
    wide = look.sort(wide.reset_index().rename_axis(columns=None))
    out = pd.DataFrame({"Corpus": wide["corpus"]} if len(set(wide["corpus"])) > 1 else {}, index=wide.index)
    out["Group"] = [look.name("group", g) for g in wide["group"]]
    out["Method"] = [look.name("method", m) for m in wide["method"]]
    heads = {"evaluators_of_method": "Evaluators", "evaluated": "Evaluated", "doubly_annotated": "Of these, twice"}
    for name, head in heads.items():
        out[head] = wide[name].astype("Int64") if name in wide else pd.array([pd.NA] * len(wide), dtype="Int64")
    paid = [payments.get(g, {}).get(m) for g, m in zip(wide["group"], wide["method"], strict=True)]
    out[f"Payment ({currency})"] = [p if isinstance(p, float) else np.nan for p in paid]
    return out


def totals(results: pd.DataFrame, of: str, resample: str | None = None) -> pd.DataFrame:
    """`conclusion_count` added up over labels: method, group, group_b, same, opposite or different, undecided."""
    rows = select(results, "conclusion_count", of=of, resample=resample)
    verdicts = ["same", "different" if of == "size" else "opposite", "undecided"]
    if rows.empty:
        return pd.DataFrame(columns=["method", "group", "group_b", *verdicts])
    kind = rows["condition"].map(lambda c: read_condition(c)["verdict"])
    wide = rows.assign(verdict=kind).pivot_table(
        index=["method", "group", "group_b"], columns="verdict", values="estimate", aggfunc="sum", sort=False
    )
    return wide[verdicts].rename_axis(columns=None).reset_index()


def few_people(one: pd.DataFrame, look: Look) -> str:
    """A warning where groups are few people; empty where none is. one : one annotation an item and group."""
    known = one[one["annotator_known"] & (one["annotator_kind"] == "human")]
    sizes = known.groupby("group")["annotator"].nunique()
    few = sizes[sizes < FEW_PEOPLE]
    if few.empty:
        return ""
    said = tables.listing([f"{look.name('group', g)} ({n} {'person' if n == 1 else 'people'})" for g, n in few.items()])
    return (
        f"**Few people.** {said}: results speak of these people. Nothing here is a finding about everyone who could be"
        " called by the group's name; even intervals that resample people are too narrow with so few."
    )


def what_chance_gives(found: pd.DataFrame, look: Look, margin: float) -> str:
    """Of each method, how many differences exceed chance, hold after Holm, and how many are equivalent."""
    lines = []
    for method, rows in ordered(found, look).groupby("method", sort=False):
        tested = rows.dropna(subset=["p"])
        name = tables.plain(look.name("method", method))
        if tested.empty:
            lines.append(f"- {name}: no difference could be tested.")
            continue
        middle, null = tested["estimate"].median(), tested["null_mean"].median()
        beyond, n = int(tested["exceeds"].astype(bool).sum()), len(tested)
        text = f"- {name}: the median of {_many(n, 'difference')} is {tables.number(middle)}; chance alone gives"
        text += f" {tables.number(null)}. {beyond} of {n} exceed the 95 % point of chance, where"
        text += f" {tables.number(0.05 * n, 1)} would by chance;"
        held = rows["verdict"].isin([DIFFERS, BOTH]).sum()
        text += f" {none(held)} after Holm's adjustment."
        robust = rows["verdict"].isin([ROBUST, BOTH]).sum()
        text += f" {robust} of {len(rows)} can be called robust, that is, shown to differ by less than {margin:g} in"
        text += f" every pair of systems (the smallest margin that could be claimed is {_least(rows)})."
        lines.append(text)
    return "\n".join(lines)


def _least(rows: pd.DataFrame) -> str:
    margins = rows["margin"].dropna()
    return (
        f"{tables.number(margins.min())}, the median {tables.number(margins.median())}" if len(margins) else "unknown"
    )


def _many(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def none(n: int) -> str:
    return str(n) if n else "none"


def between_methods(found: pd.DataFrame, look: Look) -> str:
    """What methods' differences are in terms of what chance gives each; empty with one method."""
    rows = found.dropna(subset=["null_mean", "debiased"])
    middle = rows.groupby("method", sort=False)[["estimate", "null_mean", "debiased"]].median()
    if len(middle) < 2:
        return ""
    order = list(middle.sort_values("estimate").index)
    names = {m: tables.plain(look.name("method", m)) for m in order}
    said = [
        f"{names[m]} {tables.number(middle.loc[m, 'estimate'])} (chance {tables.number(middle.loc[m, 'null_mean'])},"
        f" without noise {tables.number(middle.loc[m, 'debiased'])})"
        for m in order
    ]
    text = (
        f"Median difference by method: {'; '.join(said)}. A method with fewer or coarser judgements looks less stable"
    )
    text += " for that reason alone, so methods can only be compared without noise;"
    least = middle["debiased"].min()
    best = [m for m in order if middle.loc[m, "debiased"] <= least + 1e-9]
    text += f" the least is then left with {tables.listing([names[m] for m in best])}."
    if len({METHODS[m].unit == "pair" for m in order}) > 1:
        text += " Even so, d of ratings and h of win shares are different scales."
    return text


def conclusions(results: pd.DataFrame, look: Look, margin: float) -> str:
    """Which conclusions survive a change of evaluators, which do not, and which the data cannot tell."""
    kinds = (("sign", "session"), ("size", None), ("order", None))
    sign, size, order = (totals(results, *k) for k in kinds)
    out = []
    for method in sorted(set(sign["method"]), key=lambda m: look.position("method", m)):
        here = [
            t[t["method"] == method].drop(columns=["method", "group", "group_b"]).sum() for t in (sign, size, order)
        ]
        (s, z, o), n = here, here[0].sum()
        name = tables.plain(look.name("method", method))
        lines = [f"**{name}**, {int(n)} pairs of systems (over labels and pairs of groups):"]
        lines += [
            f"- *Survives a change of evaluators:* both groups find the same direction in {_share(s['same'], n)};"
        ]
        lines[-1] += f" the effect is the same within ± {margin:g} in {_share(z['same'], z.sum())}."
        lines += [f"- *Does not survive:* the groups find opposite directions in {_share(s['opposite'], n)};"]
        lines[-1] += f" the effect has another size in {_share(z['different'], z.sum())}, where 5 % would seem so"
        lines[-1] += " by chance."
        lines += [f"- *The data cannot tell:* at least one group finds no difference in {_share(s['undecided'], n)};"]
        lines[-1] += f" whether the effect has the same size is open in {_share(z['undecided'], z.sum())}."
        lines[-1] += f" The estimates alone put the two systems in the same order in {_share(o['same'], o.sum())}."
        out.append("\n".join([lines[0], "", *lines[1:]]))
    return "\n\n".join(out)


def _share(n: float, of: float) -> str:
    return f"{int(n)} ({100 * n / of:.0f} %)" if of else "none"


def with_people(results: pd.DataFrame) -> str:
    """What is left of the findings when people are a sample, too; empty where annotators are not known."""
    two = totals(results, "sign", "session and annotator")
    one = totals(results, "sign", "session")
    if two.empty:
        return ""
    one = one.merge(two[["method", "group", "group_b"]])
    n = two[["same", "opposite", "undecided"]].to_numpy().sum()
    return (
        f"When other people are allowed for, both groups find the same direction in {_share(two['same'].sum(), n)}"
        f" pairs of systems (with these people: {_share(one['same'].sum(), n)}), and opposite directions in"
        f" {_share(two['opposite'].sum(), n)}."
    )


def which(found: pd.DataFrame, look: Look, verdicts: tuple[str, ...], most: int = 8) -> str:
    """Names of the labels and groups with one of these verdicts, clearest first; empty where there are none."""
    rows = found[found["verdict"].isin(verdicts)].sort_values("p_adjusted", kind="stable")
    said = names(rows.head(most), look, several=len(found[["group", "group_b"]].drop_duplicates()) > 1)
    return tables.listing([*said, f"{len(rows) - most} more"] if len(rows) > most else said) if len(said) else ""


def names(rows: pd.DataFrame, look: Look, *, several: bool) -> list[str]:
    """`Quality (Dialogue Likert; A / B)` for each row; the groups only where there are several pairs of them."""
    parts = named(rows, look)[["Label", "Method", "Groups"]].itertuples(index=False)
    return [f"{label} ({method}{'; ' + groups if several else ''})" for label, method, groups in parts]


def by_people(found: pd.DataFrame, level: float) -> str:
    """Whether differences are those of groups, or of the people in them; empty where nobody is known."""
    tested = found.dropna(subset=["p_people"])
    if tested.empty:
        return ""
    held = int((tested["p_people"] < level).sum())
    text = f"When whole annotators change groups, {none(held)} of {len(tested)} differences stay beyond chance after"
    text += " Holm's adjustment: " + (
        "these are differences of the groups." if held else "what differs cannot be told from the people who judged."
    )
    spread = (found["without_high"] - found["without_low"]).dropna()
    if len(spread):
        text += f" Without one person a difference moves within a range of {tables.number(spread.median())} (median)"
        text += f" to {tables.number(spread.max())} (largest)."
    return text


def findings(found: pd.DataFrame, look: Look) -> str:
    """Which differences are shown, and which groups are shown to be equivalent; both may be none."""
    differ, same = which(found, look, (DIFFERS, BOTH)), which(found, look, (ROBUST, BOTH))
    text = f"Groups differ beyond chance in {differ}." if differ else "No single difference stays beyond chance."
    return text + (f" They are equivalent within the margin in {same}." if same else "")
