"""What notebook 07 draws and tabulates, made from the result rows of `performance` and `rates`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from helpers import tables
from helpers.look import Look
from helpers.schema import read_condition
from helpers.scores import CELL

#: with more systems than this a panel is a label, not a group of evaluators
MANY = 6
#: order of the first columns of tables
_PLACE = ["corpus", "group", "method", "label", "system"]
#: marks of labels of which less is better, or neither, where they stand among others
SIGNS = {-1: " ↓", 0: " ○", 1: ""}
DIRECTIONS = {-1: "Less is better", 0: "Neither good nor bad", 1: "More is better"}


def by(rows: pd.DataFrame, key: str) -> pd.Series:
    """The value of a key of the condition of each result row, missing where it has none."""
    parsed = {text: read_condition(text).get(key) for text in rows["condition"].dropna().unique()}
    return rows["condition"].map(parsed)


def part_names(rows: pd.DataFrame, look: Look) -> pd.Series:
    """What tells the parts of one figure apart: the corpus and the group, whichever differ."""
    group = pd.Series([look.name("group", g) for g in rows["group"]], index=rows.index, dtype=object)
    several = len(set(rows["corpus"])) > 1, len(set(rows["group"])) > 1
    if several == (True, True):
        return rows["corpus"] + ", " + group
    return rows["corpus"].astype(object) if several[0] else group


def two_intervals(thick: pd.DataFrame, thin: pd.DataFrame) -> pd.DataFrame:
    """Rows of `rates.clustered` with the ends of those of `rates.published` as `light_low`, `light_high`."""
    keys = [*CELL, "statistic"]
    thick, thin = (f.assign(outcome=by(f, "outcome").fillna("")) for f in (thick, thin))
    ends = thin.set_index([*keys, "outcome"])[["ci_low", "ci_high"]].set_axis(["light_low", "light_high"], axis=1)
    return thick.join(ends, on=[*keys, "outcome"])


def won(both: pd.DataFrame) -> pd.DataFrame:
    """Shares won, with the share tied beside (`tie`): rows of `two_intervals`."""
    tied = both[both["outcome"] == "tie"].set_index(CELL)["estimate"].rename("tie")
    return both[both["outcome"] == "win"].join(tied, on=CELL)


def arrange(rows: pd.DataFrame, look: Look, *, split: bool = True) -> pd.DataFrame:
    """Rows of one method with `panel`, `block` and `hue` as `grid_plots.grid_figure` wants them.

    With up to MANY systems: parts (groups, corpora), labels, systems. One part of many labels is split by whether more
    or less is better. With more systems: labels, systems, parts.
    """
    rows = _within_scale(look.sort(rows), look).assign(part=lambda f: part_names(f, look))
    direction = [look.labels[m, lab].direction for m, lab in zip(rows["method"], rows["label"], strict=True)]
    label = [look.name("label", lab, m) for m, lab in zip(rows["method"], rows["label"], strict=True)]
    system = [look.name("system", s) for s in rows["system"]]
    rows = rows.assign(direction=direction)
    marked = [name + SIGNS[d] for name, d in zip(label, direction, strict=True)]
    if rows["system"].nunique() > MANY:
        return rows.assign(panel=marked, block=system, hue=rows["part"])
    if split and len(set(rows["part"])) == 1 and len(set(direction)) > 1 and len(set(label)) > 8:
        bad = np.array(direction) < 0
        neither = np.array(direction) == 0
        title = DIRECTIONS[1] + (", or neither (○)" if neither.any() else "")
        names = [n if d else n + SIGNS[0] for n, d in zip(label, direction, strict=True)]
        panel = np.where(bad, DIRECTIONS[-1], title)
        return rows.assign(panel=panel, block=names, hue=system).sort_values("panel", kind="stable")
    return padded(rows.assign(panel=rows["part"] if len(set(rows["part"])) > 1 else "", block=marked, hue=system))


def _within_scale(rows: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Means with the ends of intervals cut at the ends of the scale: Student's t of two ratings would fill the axis."""
    ends = np.array([look.labels[key].scale for key in zip(rows["method"], rows["label"], strict=True)]).reshape(-1, 2)
    ends = np.where((rows["statistic"] == "mean").to_numpy()[:, None], ends, [-np.inf, np.inf])
    columns = [c for c in ("ci_low", "ci_high", "light_low", "light_high") if c in rows]
    return rows.assign(**{c: rows[c].clip(ends[:, 0], ends[:, 1]) for c in columns})


def padded(rows: pd.DataFrame) -> pd.DataFrame:
    """`rows` with empty ones for each block that a panel lacks, so that panels have the same blocks at one height."""
    blocks, out = list(dict.fromkeys(rows["block"])), []
    hues = rows.groupby("block", sort=False)["hue"].unique()
    for panel, part in rows.groupby("panel", sort=False):
        absent = [(panel, b, hue, "") for b in blocks if b not in set(part["block"]) for hue in hues[b]]
        empty = pd.DataFrame(absent, columns=["panel", "block", "hue", "ci_kind"], dtype=object)
        both = pd.concat([part, empty.reindex(columns=part.columns)]) if absent else part
        out.append(both.iloc[np.argsort([blocks.index(b) for b in both["block"]], kind="stable")])
    return pd.concat(out, ignore_index=True)


def one_axis(rows: pd.DataFrame) -> bool:
    """Whether the panels of `arrange`d rows can share an axis: those of parts do, those of labels differ in scale."""
    return rows["system"].nunique() <= MANY and not set(rows["panel"]) & set(DIRECTIONS.values())


def pages(rows: pd.DataFrame, most: int = 12) -> list[pd.DataFrame]:
    """`rows` of `arrange` cut into figures of at most so many panels."""
    panels = list(dict.fromkeys(rows["panel"]))
    return [rows[rows["panel"].isin(panels[i : i + most])] for i in range(0, len(panels), most)]


def score_table(both: pd.DataFrame, look: Look, scale: float) -> pd.DataFrame:
    """Estimates with both intervals, `scale` times as large: a row a label, or a row a label and system where systems
    are many. `Widths` is the width of the interval over clusters in parts of that over independent scores.
    """
    rows = look.sort(both).copy()
    ends = ["estimate", "ci_low", "ci_high", "light_low", "light_high"]
    rows[ends] *= scale
    rows["widths"] = (rows["ci_high"] - rows["ci_low"]) / (rows["light_high"] - rows["light_low"])
    decimals = 1 if scale > 1 else 2
    triples = rows[["estimate", "ci_low", "ci_high"]].itertuples(index=False)
    rows["text"] = [tables.interval(*t, decimals) for t in triples]
    keys = [k for k in ("corpus", "group", "method", "label") if k in rows]
    if rows["system"].nunique() > MANY:
        light = [f"{tables.number(a, decimals)} to {tables.number(b, decimals)}" for a, b in rows[ends[3:]].to_numpy()]
        out = rows[[*keys, "system"]].assign(n=rows["n"].astype(int), text=rows["text"], light=light)
        names = {"text": "Estimate, over clusters", "light": "As if independent", "widths": "Widths"}
        return look.named(out.assign(widths=rows["widths"])).rename(columns=names).drop(columns="Method")
    wide = rows.set_index([*keys, "system"])["text"].unstack("system")  # noqa: PD010 (twice must raise)
    wide = wide.reindex(rows.drop_duplicates(keys).set_index(keys).index)
    systems = sorted(wide.columns, key=lambda s: look.position("system", s))
    out = wide[systems].rename(columns=lambda s: look.name("system", s))
    out["Widths"] = rows.groupby(keys)["widths"].median()
    return look.named(out.rename_axis(columns=None).reset_index()).drop(columns="Method")


def share_table(both: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Percent of comparisons won (with interval) and tied, as `score_table`."""
    rows = won(both)
    out = score_table(rows, look, 100)
    if rows["system"].nunique() > MANY:
        out.insert(list(out.columns).index("n") + 1, "Tied", 100 * look.sort(rows)["tie"].to_numpy())
    return out


def rank_matrices(ranks: pd.DataFrame, look: Look) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """For each part and method the shares of first place and, as text, rank with interval: labels by systems.

    The part with most labels comes first.
    """
    rows = look.sort(ranks[ranks["statistic"].isin(["rank", "first_place_share"])])
    rows = rows.assign(part=part_names(rows, look), cell=[_rank_text(*r) for r in _ends(rows)])
    several, out = len(set(rows["part"])) > 1, {}
    most = rows.groupby("part", sort=False)["label"].size().sort_values(ascending=False, kind="stable").index
    order = rows["part"].map({part: i for i, part in enumerate(most)}).argsort(kind="stable")
    for (part, method), own in rows.iloc[order].groupby(["part", "method"], sort=False):
        systems = sorted(own["system"].unique(), key=lambda s: look.position("system", s))
        labels = list(dict.fromkeys(own["label"]))
        shown = [own[own["statistic"] == s].set_index(["label", "system"]) for s in ("first_place_share", "rank")]
        pair = [
            f[c].unstack("system").reindex(index=labels, columns=systems)  # noqa: PD010 (twice must raise)
            for f, c in zip(shown, ("estimate", "cell"), strict=True)
        ]
        for frame in pair:
            frame.index = [
                look.name("label", name, method) + SIGNS[look.labels[method, name].direction] for name in labels
            ]
            frame.columns = [look.name("system", s) for s in systems]
        title = look.name("method", method) + (f", {part}" if several else "")
        out[title] = (pair[0], pair[1].fillna(tables.MISSING))
    return out


def matrix_pages(parts: dict, first: int, most: int = 6) -> list[dict]:
    """The matrices of `rank_matrices` cut into figures: the `first` ones, those of one part, then so many each."""
    titles = list(parts)
    cuts = [0, *range(first, len(titles), most), len(titles)] if len(titles) > 4 else [0, len(titles)]
    return [{t: parts[t] for t in titles[i:j]} for i, j in pairwise(cuts) if j > i]


def _ends(rows: pd.DataFrame) -> Sequence[tuple]:
    return rows[["estimate", "ci_low", "ci_high"]].itertuples(index=False, name=None)


def _rank_text(rank: float, low: float, high: float) -> str:
    if pd.isna(low):
        return tables.MISSING if pd.isna(rank) else f"{rank:g}"
    return f"{rank:g} ({low:g})" if low == high else f"{rank:g} ({low:g}–{high:g})"


def rank_table(ranks: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Rank with interval, and percent of resamples in first place, as `score_table`."""
    rows = look.sort(ranks[ranks["statistic"] == "rank"])
    first = ranks[ranks["statistic"] == "first_place_share"].set_index(_PLACE)["estimate"]
    share = first.reindex(pd.MultiIndex.from_frame(rows[_PLACE])).to_numpy()
    text = [f"{_rank_text(*r)}; {tables.number(100 * s, 0)} %" for r, s in zip(_ends(rows), share, strict=True)]
    return _by_system(rows.assign(text=text), "Rank", look)


def strength_table(ranks: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Bradley-Terry strengths with intervals, as `score_table`."""
    rows = look.sort(ranks[ranks["statistic"] == "bradley_terry"])
    rows = rows.assign(text=[tables.interval(*r) for r in _ends(rows)])
    return _by_system(rows, "Strength", look).drop(columns="Method")


def _by_system(rows: pd.DataFrame, what: str, look: Look) -> pd.DataFrame:
    """The column `text` with systems side by side; where they are many, one a row under the heading `what`."""
    if rows["system"].nunique() > MANY:
        return look.named(rows[[*_PLACE, "text"]]).rename(columns={"text": what})
    wide = rows.set_index(_PLACE)["text"].unstack("system")  # noqa: PD010
    systems = sorted(wide.columns, key=lambda s: look.position("system", s))
    wide = wide[systems].reindex(rows.drop_duplicates(_PLACE[:-1]).set_index(_PLACE[:-1]).index)
    wide = wide.rename(columns=lambda s: look.name("system", s))
    return look.named(wide.rename_axis(columns=None).reset_index())


def any_clustering(effects: pd.DataFrame) -> bool:
    """Whether any design effect is not 1."""
    return bool((effects["estimate"].dropna() - 1).abs().gt(0.02).any())


def _effects(effects: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Median, smallest and largest design effect over labels and systems, by method, part and kind of cluster; of
    comparisons those of the share won."""
    rows = look.sort(effects.dropna(subset="estimate"))
    rows = rows.assign(outcome=by(rows, "outcome"), unit=by(rows, "unit"))
    rows = rows[rows["outcome"].isna() | (rows["outcome"] == "win")]
    keys = ["corpus", "method", "group", "unit"]
    value = rows.groupby(keys, sort=False)["estimate"].agg(estimate="median", ci_low="min", ci_high="max")
    return value.join(rows.groupby(keys)["n_clusters"].median().round()).reset_index()


def effect_rows(effects: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Design effects as `grid_plots.grid_figure` wants them: a block a method and part, a hue a kind of cluster."""
    found = _effects(effects, look)
    part = part_names(found, look)
    several = len(set(part)) > 1
    method = [look.name("method", m) for m in found["method"]]
    block = [f"{m}, {p}" if several else m for m, p in zip(method, part, strict=True)]
    return found.assign(panel="", block=block, hue="by " + found["unit"].astype(str), ci_kind="range")


def effect_table(effects: pd.DataFrame, look: Look) -> pd.DataFrame:
    """The same as a table."""
    found = _effects(effects, look)
    text = [f"{tables.number(lo)} to {tables.number(hi)}" for lo, hi in found[["ci_low", "ci_high"]].to_numpy()]
    out = found.drop(columns=["ci_low", "ci_high"]).astype({"n_clusters": int}).assign(Range=text)
    names = {"unit": "Clusters are", "estimate": "Median", "n_clusters": "Clusters a system"}
    return look.named(out).rename(columns=names)


def pick_table(picked: pd.DataFrame, clustered: pd.DataFrame, look: Look) -> pd.DataFrame:
    """How far estimates move over picks, in parts of the width of their interval: median and largest, by method."""
    rows = look.sort(picked).assign(outcome=by(picked, "outcome").fillna(""))
    own = clustered[clustered["statistic"] != "design_effect"]
    width = own.assign(outcome=by(own, "outcome").fillna(""), width=own["ci_high"] - own["ci_low"])
    rows = rows.join(width.set_index([*CELL, "outcome"])["width"], on=[*CELL, "outcome"])
    rows["moved"] = (rows["ci_high"] - rows["ci_low"]) / rows["width"]
    rows = rows.replace([np.inf, -np.inf], np.nan).dropna(subset="moved")
    found = rows.groupby(["corpus", "method", "group"], sort=False)["moved"].agg(["size", "median", "max"])
    names = {"size": "Estimates", "median": "Median", "max": "Largest"}
    return look.named(found.reset_index()).rename(columns=names)
