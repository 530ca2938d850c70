"""What notebook 80 says: sentences made from its result rows.

A rate of rejections or a coverage is called off only where its Monte Carlo interval leaves the nominal value out.
"""

from __future__ import annotations

import pandas as pd

from helpers import tables
from helpers.look import Look
from helpers.resampling import exact_binomial
from helpers.views.operating_report import pool, test_name


def say_size(sizes: pd.DataFrame, look: Look, nominal: float) -> list[str]:
    """What each method's published test and ours do to a true null."""
    means = look.sort(sizes[sizes["label"].isna() & (sizes["alpha"] == nominal)])
    lines = []
    for method, part in means.groupby("method", sort=False):
        said = []
        for test in dict.fromkeys(["z", "student", "sign", "session"]):
            row = part[part["test"] == test]
            if len(row):
                r = row.iloc[0]
                name = test_name(test, r["level"])
                said.append(f"{name[0].lower() if not name.startswith(('Student', 'Welch')) else name[0]}{name[1:]} "
                            f"{_percent(r)} ({_verdict(r, nominal)})")  # fmt: skip
        lines.append(f"- {tables.plain(look.name('method', method))}: " + "; ".join(said) + ".")
    return lines


def _verdict(row: pd.Series, nominal: float) -> str:
    if row["ci_low"] > nominal:
        return "too often" if row["estimate"] < 2 * nominal else "far too often"
    return "less often than it may" if row["ci_high"] < nominal else "as promised"


def say_power(power: pd.DataFrame, look: Look) -> list[str]:
    """At the largest size: ours and the published test, both at the corrected level, and the published at its own."""
    lines = []
    for method, part in look.sort(power).groupby("method", sort=False):
        part = part[part["n_dialogues"] == part["n_dialogues"].max()]
        ours = part[part["test"] == "session"]
        theirs = part[part["test"].isin(["z", "student", "sign"])]
        if theirs.empty:
            continue
        if ours.empty:  # comparisons
            n, found = int(theirs["n_dialogues"].iloc[0]), theirs[theirs["size"] == "nominal"].iloc[0]
            name = tables.plain(look.name("method", method))
            lines.append(f"- {name}, {n} comparisons a pair: the sign test tells {_percent(found)} of the pairs apart.")
            continue
        own, nominal = (ours[ours["size"] == s].iloc[0] for s in ("corrected", "nominal"))
        fair, claimed = (theirs[theirs["size"] == s].iloc[0] for s in ("corrected", "nominal"))
        text = f"- {tables.plain(look.name('method', method))}, {int(own['n_dialogues'])} conversations a system: ours"
        text += f" tells {_percent(nominal)} of the pairs apart ({_percent(own)} size-corrected), the published test"
        text += f" {_percent(fair)} size-corrected"
        text += (
            "." if claimed["valid"] else f"; the {_percent(claimed)} it claims at its own level are partly test size."
        )
        lines.append(text)
    return lines


def say_crossing(rows: pd.DataFrame, nominal: float) -> str:
    """What testing after every conversation does; empty where it was not simulated."""
    if rows.empty:
        return ""
    each, last = (rows[rows["looks"] == k]["estimate"] for k in ("each", "last"))
    n = int(rows["n_dialogues"].max())
    return (
        f"Stopping at the first p below {nominal:g} calls equal systems different in {100 * each.min():.0f} to"
        f" {100 * each.max():.0f} % of the runs within {n} conversations; one test at the end in"
        f" {100 * last.min():.1f} to {100 * last.max():.1f} %."
    )


def say_alpha(rows: pd.DataFrame) -> list[str]:
    """Coverage of agreement: over turns against dialogues, and few items or marks."""
    alpha, out = rows[(rows["of"] == "alpha") & (rows["n"] > 0)], []
    drawn = alpha[alpha["sample"] == "dialogue"]
    if len(drawn):
        for n, part in drawn.groupby("size_"):
            found = pool(part[part["interval"].isin(["bca", "policy"])], ["over", "interval"]).set_index(
                ["over", "interval"]
            )
            text = f"With {int(n)} dialogues the interval over dialogues holds the true alpha in"
            text += f" {_percent(found.loc['dialogue', 'policy'])} of the samples"
            if ("turn", "bca") in found.index:
                text += f", that over turns in {_percent(found.loc['turn', 'bca'])}"
                worst = part[(part["over"] == "turn") & (part["interval"] == "bca")]["estimate"].min()
                text += f" (least: {100 * worst:.1f} %)"
            out.append(text + ".")
    items = alpha[(alpha["sample"] == "item") & alpha["interval"].eq("bca")]
    items = items[items["scenario"].isna()] if "scenario" in items else items
    marked = items["marks"].notna() if "marks" in items else pd.Series(False, index=items.index)
    out += _range(items[~marked], "size_", 25, "of ratings and comparisons", "items")
    out += _range(items[marked], "marks", 30, "of marks", "marks of the rarer kind")
    return out


def _range(rows: pd.DataFrame, column: str, enough: int, what: str, unit: str) -> list[str]:
    if rows.empty:
        return []
    said = []
    for name, part in (("at least", rows[rows[column] >= enough]), ("fewer than", rows[rows[column] < enough])):
        if len(part):
            low, high = 100 * part["estimate"].min(), 100 * part["estimate"].max()
            lost = part["n_undefined"].sum() / (part["n_undefined"].sum() + part["n"].sum())
            note = f" and is missing in {100 * lost:.1f} % of the runs" if lost else ""
            said.append(f"with {name} {enough} {unit} in {low:.1f} to {high:.1f} %{note}")
    return [f"Independent items: BCa of alpha {what} covers, label by label, " + "; ".join(said) + "."]


def say_pairs(pairs: pd.DataFrame, confidence: float) -> list[str]:
    """One line a question: the published interval and ours, and whether they hold what they promise."""
    lines = []
    for question, part in pairs.groupby("question", sort=False):
        said = []
        for r in part[part["who"] != "beside"].itertuples():
            lost = r.n_undefined / (r.n + r.n_undefined)
            none = f", none in {100 * lost:.0f} % of the samples" if lost > 0.01 else ""
            said.append(f"{r.name} {100 * r.estimate:.1f} % ({_promise(r, confidence)}{none})")
        lines.append(f"- {question}: " + "; ".join(said) + ".")
    return lines


def _promise(row, confidence: float) -> str:
    if row.ci_low <= confidence <= row.ci_high:
        return "as promised"
    little = "a little " if abs(row.estimate - confidence) <= 0.02 else ""
    return little + ("too seldom" if row.estimate < confidence else "more often than promised")


def say_first(top: pd.DataFrame) -> str:
    """How large the bootstrap share of first place gets among equal systems; empty where not simulated."""
    if top.empty:
        return ""
    middle, high = (top.loc[top["point"] == p, "estimate"].median() for p in ("median", "q95"))
    return (
        f"Among {int(top['systems'].iloc[0])} equal systems the largest bootstrap share of first place has a median of"
        f" {middle:.2f}, and in one run of twenty it exceeds {high:.2f}. It is no probability that the system is best."
    )


def say_defaults(
    pairs: pd.DataFrame, sizes: pd.DataFrame, look: Look, *, nominal: float, confidence: float, simulated: bool
) -> str:
    """Which choices of the other notebooks these numbers support; on simulated data, none."""
    if simulated:
        return (
            "These data are simulated: the numbers show what the methods do under the simulation's assumptions. The"
            " choices of the other notebooks rest on the pages of real studies, not on this one."
        )
    said = []
    means = sizes[sizes["label"].isna() & (sizes["alpha"] == nominal)] if len(sizes) else sizes
    for method, part in means.groupby("method", sort=False) if len(sizes) else ():
        worst = part[part["test"].isin(["z", "student"]) & (part["ci_low"] > nominal)]
        ours = part[(part["test"] == "session") & (part["ci_low"] <= nominal)]
        if len(worst) and len(ours):
            said.append(f"{tables.plain(look.name('method', method))}: the permutation test, not the published one")
        elif len(ours):
            said.append(f"{tables.plain(look.name('method', method))}: either test keeps its level")
        else:
            said.append(f"{tables.plain(look.name('method', method))}: no test here keeps its level")
    text = f"**Tests.** {'; '.join(said)}." if said else ""
    found = {"ours": [], "published": [], "alike": []}
    for question, part in pairs.groupby("question", sort=False) if len(pairs) else ():
        theirs, ours = (part[part["who"] == w] for w in ("published", "ours"))
        if len(theirs) and len(ours):
            found[_closer(theirs.iloc[0], ours.iloc[0], confidence)].append(f"“{question[0].lower()}{question[1:]}”")
    said = {
        "ours": "Ours come closer to what they promise for",
        "published": "The published ones come closer for",
        "alike": "No difference between the two is shown for",
    }
    lines = [f"{said[k]} {tables.listing(v)}." for k, v in found.items() if v]
    if lines:
        text += " **Intervals.** A sample without an interval counts as missed. " + " ".join(lines)
    return text.strip()


def _closer(theirs: pd.Series, ours: pd.Series, confidence: float) -> str:
    """Whose coverage is nearer to the confidence level, or alike where the simulation's noise leaves that open.

    A sample without an interval counts as one whose interval does not hold the truth.
    """
    shares = [exact_binomial(round(r["estimate"] * r["n"]), r["n"] + r["n_undefined"]) for r in (theirs, ours)]
    off = [max(low - confidence, confidence - high, 0.0) for low, high in shares]
    (low_a, high_a), (low_b, high_b) = shares
    if max(low_a, low_b) <= min(high_a, high_b) or off[0] == off[1]:
        return "alike"
    return "ours" if off[1] < off[0] else "published"


def _percent(row: pd.Series) -> str:
    return f"{100 * row['estimate']:.1f} %"
