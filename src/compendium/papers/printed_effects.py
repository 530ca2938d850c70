"""What printed effect sizes say of groups whose judgements were never published (Finch et al. 2024, Table 4).

For each label, Table 4 prints T, the mean over pairs of systems of a group's absolute effect size |E|. Figure 1 shows
D, the mean over the same pairs of |E₁ − E₂| for two groups (section 5), and is not printed in numbers. By the triangle
inequality, |T₁ − T₂| ≤ D ≤ T₁ + T₂. The lower end also holds if effects kept their signs before they were averaged,
which the paper leaves open; the upper end does not. Every printed number stands for all values that round to it.

|E| is larger in fewer judgements, which are noisier, and so are D and T; print has nothing to correct this with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import pandas as pd

from compendium.published import numbers
from compendium.published.consistency.cells import Range, exactly, printed, total
from compendium.published.mapping import title
from compendium.published.numbers import select
from judgebook.display import cells
from judgebook.display.text import Phrases
from judgebook.display.views import Prose, Section, Table
from judgebook.questions.groups.question import GroupEffects

_PHRASES = Phrases(__package__)


EFFECTS = "Table 4/*/*/*"
AGREEMENT = "Table 3/*/*__*/*"
PEOPLE = "Table 2/all"
#: what the paper calls a large difference between groups (section 5)
LARGE = 0.4


def are_printed(numbers: pd.DataFrame) -> bool:
    """Whether a paper's Table 4 holds effect sizes under both methods, as that of Finch et al. 2024 does."""
    return set(numbers.loc[numbers["element"] == "Table 4", "unit"]) == {"cohens_d", "cohens_h"}


def gap(first: Range, second: Range) -> Range:
    """|first − second|."""
    low, high = first.low - second.high, first.high - second.low
    nearest = Fraction(0) if low <= 0 <= high else low if low > 0 else -high
    return Range(nearest, high if high > -low else -low)


def differences(numbers: pd.DataFrame, paper: str) -> pd.DataFrame:
    """A row for each method, label and pair of groups: `gap`, |T₁ − T₂| as a Range; `low` and `high` of D.

    numbers : of `published.numbers.load`. Raises ValueError where the paper prints no effect sizes.
    """
    rows = []
    for (method, label), of_label in select(numbers, paper, EFFECTS).groupby(["panel", "row"], sort=False):
        texts = zip(of_label["column"], of_label["printed"], of_label["decimals"], strict=True)
        values = {group: printed(text, decimals) for group, text, decimals in texts}
        for first, second in combinations(values, 2):
            between, most = gap(values[first], values[second]), values[first] + values[second]
            row = {"method": method, "label": label, "group": first, "group_b": second, "gap": between}
            rows.append(row | {"low": float(between.low), "high": float(most.high)})
    return pd.DataFrame(rows)


def means(rows: pd.DataFrame) -> pd.DataFrame:
    """By pair of groups and method: `gap`, the mean over labels as a Range, and `large`, in how many D exceeds LARGE
    whatever was rounded."""
    groups = rows.groupby(["group", "group_b", "method"], sort=False)
    mean = groups["gap"].agg(lambda gaps: total(list(gaps)) / exactly(len(gaps)))
    return pd.DataFrame({"gap": mean, "large": groups["low"].agg(lambda low: int((low > LARGE).sum()))}).reset_index()


def agreement(numbers: pd.DataFrame, paper: str) -> pd.DataFrame:
    """By pair of groups and method, the mean over labels of the printed alpha between groups (Table 3): `alpha`."""
    rows = select(numbers, paper, AGREEMENT)
    pairs = rows["row"].str.split("__", expand=True)
    rows = rows.assign(group=pairs[0], group_b=pairs[1], method=rows["panel"])
    return rows.groupby(["group", "group_b", "method"], sort=False)["value"].mean().rename("alpha").reset_index()


def odd_one_out(by_pair: pd.DataFrame) -> str:
    """The group whose effects differ most from those of the others, on average over pairs and methods."""
    either_side = pd.concat([by_pair, by_pair.assign(group=by_pair["group_b"])])
    return either_side.assign(gap=either_side["gap"].map(_middle)).groupby("group")["gap"].mean().idxmax()


def smaller(first: Range, second: Range) -> str:
    """Whether the first is `smaller`, `larger`, or `open` because of rounding."""
    return "smaller" if first.high < second.low else "larger" if first.low > second.high else "open"


def facts(numbers: pd.DataFrame, paper: str, objective: Sequence[str]) -> dict[str, Any]:
    """What the printed numbers say of the paper's three claims and of its recommendations (sections 5 and 6).

    methods : the two, as printed. by_method : for each pair of groups, whether the gap is smaller under the first.
    odd : the group that differs most. largest : in how many rows of Table 4 its effect is the largest, of n_rows.
    apart : by method, how many D of that group exceed LARGE for certain, of how many; others : the same without it.
    gaps : smallest and largest mean gap with that group, and without. objective : rows of those labels, with the pair
    of other groups that has the smallest gap. alphas : their mean by method. highest : in how many rows of Table 3 no
    alpha is higher than that group's best, of n_alphas. judged : dialogues or pairs that it judged, and the least that
    another group did. people : how many of that group judged.
    """
    rows, effects = differences(numbers, paper), select(numbers, paper, EFFECTS)
    by_pair, odd = means(rows), odd_one_out(means(rows))
    with_odd, (first, second) = (rows["group"] == odd) | (rows["group_b"] == odd), rows["method"].unique().tolist()
    sides = by_pair.pivot(index=["group", "group_b"], columns="method", values="gap")  # noqa: PD010
    table = effects.pivot(index=["panel", "row"], columns="column", values="value")  # noqa: PD010
    alphas = select(numbers, paper, AGREEMENT)
    with_it = alphas["row"].str.split("__").map(lambda pair: odd in pair)
    best = [part.groupby(["panel", "column"])["value"].max() for part in (alphas[with_it], alphas[~with_it])]
    mean_gap = by_pair["gap"].map(_middle)
    of_odd = (by_pair["group"] == odd) | (by_pair["group_b"] == odd)
    inner = rows[~with_odd & rows["label"].isin(objective)]
    return {
        "methods": [first, second],
        "by_method": [smaller(a, b) for a, b in zip(sides[first], sides[second], strict=True)],
        "estimates": int(
            sum(a.low + a.high < b.low + b.high for a, b in zip(sides[first], sides[second], strict=True))
        ),
        "scale": [effects.loc[effects["panel"] == m, "value"].mean() for m in (first, second)],
        "odd": odd,
        "largest": int((table[odd] > table.drop(columns=odd).max(axis=1)).sum()),
        "n_rows": len(table),
        "apart": [_large(rows[with_odd & (rows["method"] == m)]) for m in (first, second)],
        "others": _large(rows[~with_odd]),
        "gaps": [[mean_gap[part].min(), mean_gap[part].max()] for part in (of_odd, ~of_odd)],
        "objective": [_closest(part) for _, part in inner.groupby(["label", "method"], sort=False)],
        "alphas": [alphas.loc[alphas["panel"] == m, "value"].mean() for m in (first, second)],
        "highest": int((best[0] >= best[1]).sum()),
        "n_alphas": len(best[0]),
        "judged": [_judged(numbers, paper, m, odd) for m in (first, second)],
        "people": int(select(numbers, paper, f"{PEOPLE}/{odd}/evaluators")["value"].item()),
    }


def _middle(gap: Range) -> float:
    return float(gap.low + gap.high) / 2


def _judged(numbers: pd.DataFrame, paper: str, method: str, group: str) -> dict[str, Any]:
    n = select(numbers, paper, f"Table 2/{method}/*/evaluated").set_index("row")["value"].astype(int)
    least = int(n.drop(index=group).min())
    return {"method": method, "n": int(n[group]), "least": least, "fewest": bool(n[group] < least)}


def _large(rows: pd.DataFrame) -> tuple[int, int]:
    return int((rows["low"] > LARGE).sum()), len(rows)


def _closest(rows: pd.DataFrame) -> dict[str, Any]:
    """The pair of groups with the smallest gap, and whether another pair can have as small a D."""
    at = rows["gap"].map(_middle).idxmin()
    method, label, *pair, high = rows.loc[at, ["method", "label", "group", "group_b", "high"]]
    undecided = bool((rows.drop(index=at)["low"] <= high).any())
    return {"method": method, "label": label, "pair": tuple(pair), "open": undecided}


def printed_claims(numbers: pd.DataFrame, paper: str, objective: Sequence[str]) -> Prose:
    """What the paper's printed numbers say of its claims and recommendations, for groups that are not public, too."""
    found = facts(numbers, paper, objective)
    found |= {"methods": [title(paper, m) for m in found["methods"]], "odd": title(paper, found["odd"])}
    found["objective"] = [
        {"method": title(paper, row["method"]), "label": title(paper, row["label"]), "open": row["open"]}
        | {"pair": " / ".join(title(paper, g) for g in row["pair"])}
        for row in found["objective"]
    ]
    found["judged"] = [row | {"method": title(paper, row["method"])} for row in found["judged"]]
    return Prose(_PHRASES.say("printed_claims", large=f"{LARGE:g}", **found))


def printed_pairs(numbers: pd.DataFrame, paper: str) -> Iterator[Table]:
    """What Tables 3 and 4 say of each pair of groups; all that Figure 1 can show, by label."""
    rows = differences(numbers, paper)
    by_pair = means(rows).merge(agreement(numbers, paper))
    by_pair["mean"] = cells.ranges(pd.DataFrame([(float(g.low), float(g.high)) for g in by_pair["gap"]]))
    headings = {"mean": "Distance of means", "large": f"Above {LARGE}", "alpha": "Mean alpha"}
    out = pd.DataFrame({"Groups": _pairs(by_pair, paper)}).drop_duplicates(ignore_index=True)
    for key, heading in headings.items():
        for method, part in by_pair.groupby("method", sort=False):
            out[f"{heading}, {title(paper, method)}"] = part[key].to_numpy()
    caption = "All pairs of groups, from print. Distance of means: mean over labels of the distance between two groups'"
    caption += f" mean effects (Table 4), given rounding. Above {LARGE}: labels whose difference in"
    caption += " Figure 1 must exceed it. Mean alpha: over labels (Table 3)."
    yield Table(out, "printed_pairs", caption)
    rows["range"] = cells.ranges(rows[["low", "high"]])
    effects = select(numbers, paper, EFFECTS)
    wide = effects.pivot(index=["panel", "row"], columns="column", values="value")  # noqa: PD010
    wide = wide.rename(columns=lambda key: title(paper, key)).rename_axis(["method", "label"])
    rows["pair"] = _pairs(rows, paper)
    wide = wide.join(rows.pivot(index=["method", "label"], columns="pair", values="range"))  # noqa: PD010
    place = pd.DataFrame([(title(paper, m), title(paper, x)) for m, x in wide.index], columns=["Method", "Label"])
    caption = "Printed mean effects of each group (Table 4), and from where to where two groups can differ in Figure 1."
    yield Table(pd.concat([place, wide.reset_index(drop=True)], axis=1), "printed_effects", caption)


def _pairs(rows: pd.DataFrame, paper: str) -> list[str]:
    return [f"{title(paper, a)} / {title(paper, b)}" for a, b in zip(rows["group"], rows["group_b"], strict=True)]


def views(options: GroupEffects) -> Section:
    """What the paper's tables say of all groups, if its effect sizes are printed."""
    if options.paper and are_printed(printed_numbers := numbers.load(options.paper)):
        yield printed_claims(printed_numbers, options.paper, options.objective)
        yield printed_pairs(printed_numbers, options.paper)
