"""Figures and tables of notebook 11."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from judgebook.display import captions, cells, tables
from judgebook.display.grid_plots import DRAWN, ROW, filled, grid_figure, interval_keys, intervals, pages
from judgebook.display.names import DisplayNames
from judgebook.display.style import handle, log_axis
from judgebook.display.text import Phrases, percent, span
from judgebook.display.views import Plot, Table
from judgebook.questions.techniques.question import Techniques
from judgebook.questions.techniques.sittings import OVERALL, TechniqueData, pair_key
from judgebook.questions.techniques.texts import CHECKS
from judgebook.study.results import Results, where

#: with more dimensions than this, one of them is shown
MANY_DIMENSIONS = 3
#: identifies two systems under one technique and label
CONTEST = ["corpus", "group", "label", "system", "system_b", "technique"]
HEADINGS = ("Corpus", "Group", "Pair", "System", "Dimension", "Technique")
#: fewer differences than this have no quartiles
FEW = 4
#: why a cell of scores is empty
WHY = "Not judged."
TIES = {"half": "ties as half a win", "drop": "ties excluded"}


def shown(data: TechniqueData) -> list[str]:
    """The dimensions that figures and tables show: all of a few, or else `quality` or the first; all where no systems
    are compared."""
    if len(data.labels) <= MANY_DIMENSIONS or data.alone:
        return data.labels
    return ["quality"] if "quality" in data.labels else data.labels[:1]


def described(rows: pd.DataFrame, data: TechniqueData, names: DisplayNames) -> pd.DataFrame:
    """`rows` in the order of figures, led by display names (ordered categories): Pair or System, Technique, and Corpus,
    Group and Dimension where there are several.

    Corpora are left out where techniques have corpora of their own: they do not separate what is compared.
    """
    place = partial(names.position, "system")
    own_corpora = any(t.corpus for t in data.techniques.values())
    titles = {
        "Corpus": {} if own_corpora else {c: names.name("corpus", c) for c in rows["corpus"].unique()},
        "Group": names.titles["group"],
        "Pair": {
            pair: pair_title(names, *pair) for pair in sorted(data.pairs, key=lambda pair: sorted(map(place, pair)))
        },
        "System": {s: names.name("system", s) for s in sorted(data.systems, key=place)},
        "Dimension": names.titles["dimension"],
        "Technique": names.titles["technique"],
    }
    pairs = pd.Series([*zip(rows["system"], rows["system_b"], strict=True)], index=rows.index, dtype=object)
    keys = rows.rename(columns={"label": "dimension"}).assign(pair=pairs)
    out = {}
    for heading, titles_of in titles.items():
        if heading.lower() in keys:
            titled = keys[heading.lower()].map(titles_of)
            several = heading in ("Pair", "System") or len(set(titled)) > 1
            if heading == "Technique" or (titled.notna().any() and several):
                out[heading] = pd.Categorical(titled, list(dict.fromkeys(titles_of.values())), ordered=True)
    if "Pair" in out:
        out.pop("System", None)
    return pd.concat([pd.DataFrame(out, index=rows.index), rows], axis=1).sort_values(list(out), kind="stable")


def pair_title(names: DisplayNames, a: str, b: str) -> str:
    """The name that the study gives a pair of systems, or both systems."""
    return names.titles["pair"].get(pair_key(a, b), f"{names.name('system', a)} – {names.name('system', b)}")


def crossed(rows: pd.DataFrame, texts: pd.Series) -> pd.DataFrame:
    """Texts of `described` rows: pairs as columns where they are fewer than techniques, otherwise techniques."""
    key = "Pair" if "Pair" in rows and rows["Pair"].nunique() < rows["Technique"].nunique() else "Technique"
    index = [c for c in HEADINGS if c in rows and c != key]
    wide = rows.assign(text=texts).set_index([*index, key])["text"].unstack(key)  # noqa: PD010 (one value per place)
    return wide.set_axis(list(wide.columns), axis=1).reset_index()


def matching(rows: pd.DataFrame, others: pd.DataFrame) -> np.ndarray:
    """The estimates in `others` for the same systems, technique and label as each of `rows`."""
    return others.set_index(CONTEST)["estimate"].reindex(pd.MultiIndex.from_frame(rows[CONTEST])).to_numpy(float)


def checks(results: Results) -> Table | None:
    """Conversations and people that fail a check of their messages."""
    rows = results["message_check"]
    if rows.empty:
        return None
    wide = tables.pivot(rows, ["check"], "of", {"conversations": "Conversations", "people": "People"})
    wide["check"] = wide["check"].map(CHECKS | {"any": "any of these", "all": "checked"})
    return Table(wide.rename(columns={"check": "Check"}), "checks", "Messages that fail a check.")


def rates(every: pd.DataFrame, data: TechniqueData, names: DisplayNames) -> Iterator[Table]:
    """Win rates in percent with intervals, for either way of counting ties. every : estimates as published."""
    for ties, words in TIES.items():
        rows = described(every[every["ties"].isin([ties] if ties == "drop" else [ties, "none"])], data, names)
        if len(rows):
            wide = crossed(rows, tables.intervals(in_percent(rows), 0))
            caption = f"Win rate of the first system in percent, {words}, with CI over conversations."
            yield Table(wide, f"rates_{ties}", caption, why=dict.fromkeys(wide, "Not judged, or no ties."))


def in_percent(rows: pd.DataFrame) -> pd.DataFrame:
    """`rows` with estimate and interval times 100."""
    return rows.assign(**{c: 100 * rows[c] for c in ("estimate", "ci_low", "ci_high")})


def scores(every: pd.DataFrame, data: TechniqueData, names: DisplayNames, name: str = "scores") -> Table | None:
    """The score of each system where systems are judged one at a time: percent where conversations are worth 0 to 1,
    otherwise the mean on the technique's own scale. All dimensions where no systems are compared."""
    rows = where(every, label=shown(data), technique=list(data.techniques))
    if rows.empty:
        return None
    rows = described(rows, data, names)
    share = rows["technique"].map(lambda t: data.scales[t] == (0, 1)).astype(bool)
    wide = crossed(rows, tables.intervals(in_percent(rows), 0).where(share, tables.intervals(rows)))
    units = dict(zip(rows["Technique"], np.where(share, "%", "mean"), strict=True))
    wide = wide.rename(columns={title: f"{title} ({unit})" for title, unit in units.items()})
    return Table(wide, name, "Systems judged one at a time, with CI over conversations.", why=dict.fromkeys(wide, WHY))


def turn_means(results: Results, names: DisplayNames) -> Table | None:
    """Correlation of the mean mark of conversations with their ratings."""
    rows = results["turn_mean_correlation"]
    if rows.empty:
        return None
    key = ["corpus", "group", "group_b", "of", "label"]
    parts = [rows[rows["coefficient"] == c].set_index(key) for c in ("pearson", "spearman")]
    out = pd.DataFrame({"Pearson": tables.intervals(parts[0]), "Spearman": tables.intervals(parts[1])})
    out["Conversations"] = parts[0]["n"]
    out = out.reset_index()
    named = {"of": "Marked", "label": "Rated"}
    for column, heading in named.items():
        out[column] = out[column].map(names.titles["dimension"])
        out = out.rename(columns={column: heading})
    several = len(out[["group", "group_b"]].drop_duplicates()) > 1
    out["Raters"] = out["group_b"].fillna(out["group"]).map(names.titles["group"])
    first = ["Raters"] * several + ["Marked"] * (len(set(out["Marked"])) > 1) + ["Rated"]
    caption = "Correlation of the mean mark of a conversation's turns with its mean rating, with CI over conversations."
    return Table(out[[*first, "Pearson", "Spearman", "Conversations"]], "turn_means", caption)


def seconds(results: Results, data: TechniqueData, names: DisplayNames) -> Table | None:
    """Seconds per judgement, of training, and of collecting a conversation, for techniques that are timed."""
    if not data.techniques:
        return None
    timed = [t for t, spec in data.techniques.items() if spec.timed]
    rows = described(results.select("technique_seconds", technique=timed), data, names)
    if rows["estimate"].isna().all() or results["hours_to_power"].empty:
        return None
    index = [c for c in ("Corpus", "Group", "Technique") if c in rows]
    unit, training = (where(rows, of=of).set_index(index) for of in ("unit", "training"))
    out = pd.DataFrame({"Seconds": unit["estimate"], "Training": training["estimate"]})
    collecting = [60 * data.techniques[t].conversation_minutes for t in unit["technique"]]
    out = out.assign(**{"Collecting a conversation": collecting} if any(collecting) else {})
    out = out.assign(**{"Sittings timed": unit["n"], "People": unit["n_annotators"]})
    caption = "Mean seconds per conversation or comparison, and what else is counted in the hours."
    caption += (
        " Techniques that were judged in the same tasks have one duration, and the hours of each contain all of it."
    )
    return Table(out.reset_index(), "seconds", caption, 0)


def hours(results: Results, data: TechniqueData, names: DisplayNames, options: Techniques) -> Table:
    """Median hours to the stated power by technique, with type I error rates of one planned test, and of a test after
    every rating."""
    median = median_hours(results, data, names)
    index = [c for c in ("Corpus", "Group", "Technique") if c in median]
    tests = {"Type I errors": "technique_false_positive", "After every rating": "technique_false_crossing"}
    for heading, statistic in tests.items():
        if len(results[statistic]):
            rates = described(results[statistic], data, names).groupby(index, observed=True)["estimate"].mean()
            median = median.merge(cells.percents(rates, 1).rename(heading), "left", left_on=index, right_index=True)
    caption = f"Hours to {percent(options.power)} power: median and quartiles over pairs of systems and dimensions, for"
    caption += " differences shrunk according to the noise of the technique."
    if (median["Differences"] < FEW).any():
        caption += f" Of fewer than {FEW}, the smallest and the largest take the place of quartiles."
    caption += " Type I errors: how often the test finds a difference of equal systems at the level"
    caption += f" {percent(options.alpha)}, and how often tests after every rating do."
    few = "Too many differences not found at the largest sample size tried."
    why = dict.fromkeys(("Hours", "Lower quartile", "Upper quartile"), few)
    return Table(median, "middle", caption, 1, why | {"After every rating": "Not simulated."})


def median_hours(results: Results, data: TechniqueData, names: DisplayNames) -> pd.DataFrame:
    """Median hours to the stated power by technique, over pairs of systems and dimensions: Hours, with quartiles;
    Found, Differences.

    A difference that is not found takes longer than all that are; the (lower) median is missing where that is so for
    half of them. Fewer than `FEW` differences have no quartiles: these are then the smallest and the largest.
    """
    rows = described(results["hours_to_power"], data, names)
    index = [c for c in ("Corpus", "Group", "Technique") if c in rows]
    each = rows.sort_values("estimate", kind="stable").groupby(index)["estimate"]  # missing ones last
    ends = {"Lower quartile": (0.25, 0), "Upper quartile": (0.75, -1)}
    quartiles = {
        name: (lambda h, q=q, end=end: h.iloc[int(q * (len(h) - 1)) if len(h) >= FEW else end])
        for name, (q, end) in ends.items()
    }
    out = each.agg(
        **{"Hours": lambda h: h.iloc[(len(h) - 1) // 2], **quartiles, "Found": "count", "Differences": "size"}
    )
    return out.reset_index()


def chunks(every: pd.DataFrame, data: TechniqueData, names: DisplayNames) -> Table | None:
    """Standard deviation of win rates over parts of equal working time, and in brackets that expected by chance."""
    rows = where(every, label=OVERALL if len(set(every["label"])) > 1 else data.labels, of="observed")
    rows = described(rows.dropna(subset="estimate"), data, names)
    if rows.empty:
        return None
    chance = pd.Series(matching(rows, where(every, of="independent")), rows.index)
    texts = cells.numbers(100 * rows["estimate"], 0)
    texts = texts + (" (" + cells.numbers(100 * chance, 0, "by chance") + ")").fillna("")
    caption = (
        f"Standard deviation of the win rate (percentage points) over parts of {rows['minutes'].iloc[0]:g} minutes."
    )
    wide = crossed(rows, texts)
    return Table(wide, "chunks", caption, why=dict.fromkeys(wide, "Fewer than two full parts."))


def reasons(results: Results, data: TechniqueData, names: DisplayNames) -> Table | None:
    """Length and typical terms of the reasons for choosing each system of a pair."""
    rows = results.select("reason_words", label=shown(data))
    if rows.empty:
        return None
    index = ["corpus", "group", "label", "technique", "system", "system_b"]
    terms = results["reason_term"].groupby(index, sort=False)["term"].agg(", ".join)
    out = pd.DataFrame({"Chosen": names.named(rows[["system"]])["System"], "Reasons": rows["n"]})
    out.insert(1, "Other", [names.name("system", s) for s in rows["system_b"]])
    out.insert(0, "Technique", rows["technique"].map(names.titles["technique"]))
    if len(set(rows["label"])) > 1:
        out.insert(1, "Dimension", rows["label"].map(names.titles["dimension"]))
    out["Words"] = tables.intervals(rows, 1)
    out["Typical terms"] = [terms.get(key) for key in rows[index].itertuples(index=False, name=None)]
    over = "people" if set(rows["resample_unit"]) == {"annotator"} else "conversations"
    caption = (
        f"Reasons for choosing a system: mean number of words, with {names.ci} over {over}, and the terms with the"
    )
    caption += " highest mean TF-IDF."
    return Table(out, "reasons", caption, why={"Typical terms": "No term occurs in two reasons by two people."})


_PHRASES = Phrases(__package__)


def rates_figure(every: pd.DataFrame, names: DisplayNames, ties: str) -> Iterator[Plot]:
    """Win rates with intervals, figures of each corpus: a panel per pair of systems, a row per technique.

    every : `described`. ties : how they count, in words.
    """
    for suffix, part in _by_corpus(every):
        from_half = (0.5 - (part["estimate"] - 0.5).abs()).groupby(part["Pair"].astype(str), sort=False).mean()
        few, note = _drawn(part, from_half, "furthest from equality")
        keys = interval_keys(f"{names.ci} over conversations", None, few)
        caption = f"Marks: share of judgements that prefer the first system of a pair to the second, {ties},"
        caption += f" by technique (rows). {captions.intervals(names.ci, 'conversations', few['n_clusters'])}"
        exact = " Dashed, hollow: exact binomial interval, where too few judgements differ for the bootstrap."
        caption = captions.joined(caption + exact * bool((few["ci_kind"] == "exact_bound").any()), note)
        for page, rows in pages(_grid(few), columns=3):
            fig = grid_figure(
                rows, intervals, names=names, xlabel="Win rate of the first system", columns=3, sharex=True, keys=keys,
                reference=0.5, named="both equal", percent=True,
            )  # fmt: skip
            alt = f"Win rates with intervals for {_sizes(few)}: {span(rows['estimate'].dropna())}."
            name = f"rates{suffix}{'_page' if page else ''}{page}"
            yield Plot(fig, name, alt, caption, rates_title(part), "Share of judgements that prefer the first system")


def rates_title(rows: pd.DataFrame) -> str:
    """How many win rates have an interval without one half."""
    known = rows.dropna(subset="ci_low")
    apart = (known["ci_low"] > 0.5) | (known["ci_high"] < 0.5)
    return _PHRASES.say("rates_title", n=len(known), apart=int(apart.sum()))


def _drawn(rows: pd.DataFrame, by_pair: pd.Series, which: str) -> tuple[pd.DataFrame, str]:
    """The rows of the DRAWN pairs of systems with the smallest values, and what is left out."""
    first = by_pair.sort_values(kind="stable").index[:DRAWN]
    note = captions.chosen(len(first), len(by_pair), f"pairs of systems {which}")
    return rows[rows["Pair"].astype(str).isin(first)], note


def _by_corpus(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each corpus, where there are several, with the end of its figure's name."""
    parts = [p for _, p in rows.groupby("Corpus", sort=False)] if "Corpus" in rows else [rows] * (len(rows) > 0)
    yield from ((f"_{i}" if i else "", part) for i, part in enumerate(parts))


def _sizes(rows: pd.DataFrame) -> str:
    corpus = f" ({rows['Corpus'].iloc[0]})" if "Corpus" in rows else ""
    return f"{rows['Pair'].nunique()} pairs of systems under {rows['Technique'].nunique()} techniques{corpus}"


def _grid(rows: pd.DataFrame) -> pd.DataFrame:
    """`described` rows for `grid_figure`: a panel per pair, a row per technique, a hue per group and dimension; all
    panels have the same rows, so that names on the left hold for all of them."""
    hue = [", ".join(row) for row in rows[[c for c in ("Group", "Dimension") if c in rows]].to_numpy()]
    placed = rows.assign(panel=rows["Pair"].astype(str), block=rows["Technique"].astype(str), hue=hue)
    return filled(placed, [str(t) for t in rows["Technique"].cat.categories if str(t) in set(placed["block"])])


def hours_figure(results: Results, data: TechniqueData, names: DisplayNames, options: Techniques) -> Iterator[Plot]:
    """Hours to the stated power with intervals, and hours until first significant: panels as in `rates_figure`."""
    rows = described(results.select("hours_to_power", label=shown(data)), data, names)
    rows = rows.assign(first=matching(rows, results["hours_to_significance"]))
    power = f"{percent(options.power)} power"
    for suffix, part in _by_corpus(rows):
        needed = part["estimate"].fillna(np.inf).groupby(part["Pair"].astype(str), sort=False).median()
        part, note = _drawn(part, needed, "that take the least work to distinguish")
        keys = [handle(f"to {power}, with {names.ci}", "#555555", "o")]
        if part["estimate"].isna().any():
            keys.append(handle(f"CI alone: {power} not reached", "#555555", ""))
        keys.append(handle("until first significant, as published", "#555555", "D", linewidth=0, mfc="white"))
        if (part["ci_low"].notna() & part["ci_high"].isna()).any():
            keys.append(handle("no upper end below 1,000 hours", "#555555", ">", linewidth=0))
        ends = part[["estimate", "ci_low", "ci_high", "first"]]
        part = part.assign(end=1.5 * ends.max().max(), start=ends[ends > 0].min().min() / 1.5)
        caption = f"Large marks: hours of work until a test finds the difference between two systems with {power}, by"
        caption += (
            f" technique (rows). {captions.intervals(names.ci, 'conversations', part['n'])} A line without a mark: the"
        )
        caption += (
            " power is not reached with as many conversations as were simulated. Small hollow marks: hours until the"
        )
        caption += (
            " difference is first significant if it is tested after every rating, as published. Logarithmic axis."
        )
        least = part[["estimate", "first"]].melt()["value"].dropna()
        for page, on_page in pages(_grid(part), columns=3, around=2.0):
            fig = grid_figure(on_page, _marks, names=names, xlabel="Hours of work", columns=3, sharex=True, keys=keys)
            for ax in fig.axes[: on_page["panel"].nunique()]:
                log_axis(ax)
            alt = f"Hours of work for {_sizes(part)}, to {power} and until first significant: {span(least, 1)}."
            name = f"hours{suffix}{'_page' if page else ''}{page}"
            yield Plot(fig, name, alt, captions.joined(caption, note))


def _marks(ax: Axes, rows: pd.DataFrame, color: str, marker: str) -> None:
    bounded = rows[rows["ci_low"].notna()]
    opened = bounded[bounded["ci_high"].isna()]
    low = bounded["ci_low"].clip(lower=bounded["start"])  # no 0 on a logarithmic axis
    ax.hlines(bounded["y"], low, bounded["ci_high"].fillna(bounded["end"]), color=color, linewidth=1.3)
    ax.plot(opened["end"], opened["y"], ">", color=color, markersize=3)
    ax.plot(rows["estimate"], rows["y"], marker, color=color, markersize=3.2)
    ax.plot(rows["first"], rows["y"] + 0.3 * ROW, "D", color=color, markersize=2.2, mfc="white", mew=0.7)
