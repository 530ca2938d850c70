"""Tables and sentences of notebook 12, made from result rows unfolded by `KEYS`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from helpers import tables
from helpers.kappa_bounds import kappa_bounds
from helpers.look import Look
from helpers.moderation import OUTCOMES, of_counts
from helpers.schema import condition
from helpers.tables import interval, number
from helpers.views.quality_tables import one

#: keys of conditions that become columns
KEYS = (
    "annotator",
    "score",
    "annotators",
    "definition",
    "end",
    "data",
    "outcome",
    "interval",
    "resample",
    "measurement",
)
SIMULATED = (
    "The judgements are simulated after the printed counts: nothing here is evidence about the systems whose names they"
    " bear. What the printed numbers themselves allow to be said stands apart and is not simulated."
)


def outcome_table(rows: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Shares of the outcomes in percent with every interval: a row a system (or pair) and outcome.

    rows : `moderation_share` rows with outcome, interval and `line`.
    """
    heads = {"n": "All judgements", "context": "Prompts resampled", "items": "Items only"}
    out = []
    for line, name in names.items():
        for outcome in OUTCOMES:
            here = rows[(rows["line"] == line) & (rows["outcome"] == outcome)].set_index("interval")
            if len(here):
                row = {"System": name, "Outcome": outcome, "Share (%)": 100 * here["estimate"].iloc[0]}
                row |= {h: _ends(here.loc[k]) for k, h in heads.items() if k in here.index}
                out.append(row)
    return pd.DataFrame(out)


def _ends(row: pd.Series) -> str:
    return f"{100 * row['ci_low']:.1f} to {100 * row['ci_high']:.1f}"


def system_lines(rows: pd.DataFrame, look: Look) -> dict[str, str]:
    """Systems that have rows, with their names, in the order of figures; those without a name come last."""
    systems = sorted(rows["system"].unique(), key=lambda s: look.position("system", s))
    return {s: look.name("system", s) for s in systems}


def pair_lines(rows: pd.DataFrame, lines: Mapping[str, str]) -> tuple[pd.DataFrame, dict[str, str]]:
    """Rows of pairs, from the side of the system that `lines` has first, with `line`; and the names of those lines."""
    place = {s: i for i, s in enumerate(lines)}
    pairs = rows[rows["system_b"].notna()]
    pairs = pairs[pairs["system"].map(place) < pairs["system_b"].map(place)]
    pairs = pairs.assign(line=pairs["system"] + " " + pairs["system_b"])
    seen = pairs.drop_duplicates("line")
    between = zip(seen["line"], seen["system"], seen["system_b"], strict=True)
    return pairs, {line: f"{lines[a]} against {lines[b]}" for line, a, b in between}


def _head(rows: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Corpus, where there are several, and System."""
    return look.named(rows[["corpus", "system"]])


def lead_table(rows: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Wins less losses of pairs of systems, in percent of their comparisons, with Holm-adjusted p-values."""
    leads = rows[rows["statistic"] == "moderation_lead"]
    percent = leads.assign(**{k: 100 * leads[k] for k in ("estimate", "ci_low", "ci_high")})
    return _head(leads, look).assign(
        **{
            "Against": [look.name("system", s) for s in leads["system_b"]],
            "Wins less losses (%)": tables.intervals(percent, 1),
            "p (Holm)": leads["p_adjusted"],
            "Judgements": leads["n"],
        }
    )


def flag_table(rows: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Shares of judgements that flag a reply, in percent, with intervals. rows : `flagged_rate`."""
    percent = rows.assign(**{k: 100 * rows[k] for k in ("estimate", "ci_low", "ci_high")})
    shown = {"Flagged (%)": tables.intervals(percent, 1), "Judgements": rows["n"]}
    return _head(rows, look).assign(**shown)


def overlap_table(rows: pd.DataFrame, titles: Mapping[str, str], look: Look) -> pd.DataFrame:
    """Mean scores by system, a column a metric. rows : `overlap`. titles : metric -> heading, in order."""
    text = rows.assign(text=tables.intervals(rows, 2)).set_index(["corpus", "system", "metric"])["text"]
    wide = text.unstack("metric").reindex(columns=[m for m in titles if (rows["metric"] == m).any()])  # noqa: PD010
    wide = wide.reset_index().rename(columns=titles)
    return pd.concat([_head(wide, look), wide.drop(columns=["corpus", "system"])], axis=1)


def agreement_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Items by definition and category, a column a number of annotators. rows : `agreement_count` rows."""
    wide = rows.assign(annotators=rows["annotators"].astype(int)).set_index(["definition", "score", "annotators"])
    wide = wide["estimate"].unstack("annotators").sort_index(axis=1)  # noqa: PD010
    wide = wide.reindex(rows.drop_duplicates(["definition", "score"]).set_index(["definition", "score"]).index)
    text = wide.map(lambda n: number(n, 1 if n % 1 else 0)).rename(columns=str).reset_index()
    text["score"] = text["score"].map(minus)
    return text.rename(columns={"definition": "Definition", "score": "Category"}).rename_axis(columns=None)


def printed_agreement(in_print: pd.DataFrame) -> pd.DataFrame:
    """The printed Table 5: a row a category, a column a number of annotators. in_print : `published.load`."""
    rows = in_print[(in_print["element"] == "Table 5") & (in_print["panel"] == "agreement")]
    rows = rows.assign(column=rows["column"].str.removeprefix("annotators_"))
    wide = rows.set_index(["row", "column"])["value"].astype(int).unstack("column")  # noqa: PD010
    wide = wide.reindex(rows["row"].drop_duplicates())
    words = wide.index.str.removeprefix("label_").str.replace("minus_", "−")
    return wide.set_axis(words).rename_axis("Category").rename_axis(columns=None).reset_index()


def agreement(rows: pd.DataFrame) -> str:
    """Fleiss' kappa, alpha, and how different the annotators' shares are."""
    kappa = one(rows, statistic="fleiss_kappa", resample="item")
    if kappa is None:
        return ""
    alphas = rows[rows["statistic"] == "alpha"].drop_duplicates("measurement")
    told = [f"{r.estimate:.2f} at the {r.measurement} level" for r in alphas.itertuples()]
    share = rows[rows["statistic"] == "annotator_score_share"].groupby("score")["estimate"].agg(["min", "max"])
    widest = (share["max"] - share["min"]).idxmax()
    low, high = 100 * share.loc[widest]
    weak = ": annotators hardly agree on single items" if kappa["estimate"] < 0.2 else ""
    return (
        f"Fleiss' kappa of the categories is {_told(kappa)} and alpha {' and '.join(told)}{weak}. The share of category"
        f" {minus(widest)} runs from {low:.0f} to {high:.0f} % by annotator, so that part of the disagreement is how"
        " much each of them tolerates."
    )


def minus(score: str) -> str:
    """A score as text with a true minus sign."""
    return score.replace("-", "−")


def _told(row: pd.Series) -> str:
    return interval(row["estimate"], row["ci_low"], row["ci_high"])


def widths(rows: pd.DataFrame) -> str:
    """How much wider intervals are when prompts are resampled than if all judgements were independent."""
    wide = rows[(rows["statistic"] == "moderation_share") & rows["data"].isna() & rows["system_b"].isna()]
    if wide.empty:
        return ""
    wide = wide.assign(width=wide["ci_high"] - wide["ci_low"])
    wide = wide.pivot_table(index=["corpus", "system", "outcome"], columns="interval", values="width")
    if not {"n", "items", "context"} <= set(wide):
        return ""
    ratio, most = wide["context"] / wide["n"], (wide["items"] / wide["n"]).mean()
    verdict = "are not independent" if ratio.mean() > 1.1 else "are nearly independent"
    return (
        f"Intervals with prompts resampled are {number(ratio.mean(), 1)} times as wide as if all judgements were"
        f" independent ({number(ratio.min(), 1)} to {number(ratio.max(), 1)}), where copies of one judgement would make"
        f" them {number(most, 1)} times as wide: judgements of one prompt {verdict}."
    )


def order(rows: pd.DataFrame, look: Look, alpha: float = 0.05) -> str:
    """Which pairs of systems a test by prompts tells apart."""
    leads = rows[rows["statistic"] == "moderation_lead"]
    if leads.empty:
        return ""
    found = leads[leads["p_adjusted"] < alpha]
    said = [
        f"{look.name('system', r.system if r.estimate > 0 else r.system_b)} over"
        f" {look.name('system', r.system_b if r.estimate > 0 else r.system)}"
        for r in found.itertuples()
    ]
    return (
        f"A test that turns whole prompts (Holm over {len(leads)} pairs) finds {tables.listing(said)}."
        if said
        else f"A test that turns whole prompts (Holm over {len(leads)} pairs) tells no two systems apart."
    )


def flags(rows: pd.DataFrame, look: Look) -> str:
    """How often replies were flagged."""
    found = rows[rows["statistic"] == "flagged_rate"].sort_values("estimate")
    percent = found.assign(**{k: 100 * found[k] for k in ("estimate", "ci_low", "ci_high")})
    told = zip(found["system"], tables.intervals(percent, 1), strict=True)
    said = [f"{tables.plain(look.name('system', system))} {rate} %" for system, rate in told]
    return f"Replies were flagged: {'; '.join(said)}." if said else ""


def printed_rows(in_print: pd.DataFrame, confidence: float) -> list[pd.DataFrame]:
    """`kappa_bound` rows from the printed numbers of agreeing annotators (Table 5), and `moderation_share` rows from
    the printed counts of outcomes (Table 6).

    in_print : `published.load` of the paper.
    """
    known = in_print.set_index(["element", "panel", "row", "column"])["value"].sort_index()
    m = int(known["Text 3.3", "moderation", "pairwise", "annotators"])
    agreeing = known.loc["Table 5", "agreement"].unstack("column").fillna(0.0)  # noqa: PD010
    counts = np.zeros((len(agreeing), m + 1))
    for name, values in agreeing.items():
        counts[:, int(name.removeprefix("annotators_"))] = values
    bounds = dict(zip(("low", "high"), kappa_bounds(counts, m), strict=True))
    rows = [
        {"statistic": "kappa_bound", "level": "turn", "estimate": value, "n": int(counts.sum())}
        | {"n_annotators": m, "condition": condition(end=end, data="printed")}
        for end, value in bounds.items()
    ]
    outcome = known.loc["Table 6", "count"].unstack("column").drop("total").astype(int)  # noqa: PD010
    return [pd.DataFrame(rows), of_counts(outcome.to_dict("index"), m, confidence)]


def printed(rows: pd.DataFrame, reported: float, decimals: int) -> str:
    """What the printed numbers allow: the range of kappa, and the leads that either interval leaves.

    reported : the kappa in print, with its decimals.
    """
    low, high = (one(rows, statistic="kappa_bound", end=end, data="printed") for end in ("low", "high"))
    shares = rows[(rows["statistic"] == "moderation_share") & (rows["data"] == "printed") & (rows["outcome"] == "wins")]
    half, out = 0.5 * 10.0**-decimals, []
    if low is not None:
        fits = low["estimate"] <= reported + half and high["estimate"] >= reported - half
        out.append(
            "The printed numbers of agreeing annotators allow a Fleiss' kappa between"
            f" {number(low['estimate'])} and {number(high['estimate'])}, whatever else was chosen on an item; that"
            f" {'agrees with' if fits else 'contradicts'} the printed {number(reported, decimals)}."
        )
    if len(shares):
        of = {k: shares[shares["interval"] == k].set_index("system") for k in ("n", "items")}
        best = of["n"]["estimate"].idxmax()
        below = [(f["ci_high"].drop(best) < f.at[best, "ci_low"]).sum() for f in of.values()]
        out.append(
            f"Of the {len(of['n']) - 1} other printed shares of wins, {below[0]} lie below the interval of the largest"
            f" if all judgements are independent, {below[1]} if the judgements of an item are copies. No test of the"
            " order follows from either: wins of one are losses of another, and the printed counts do not say against"
            " whom. It needs the judgements."
        )
    return " ".join(out)


def arithmetic(printed_rows: pd.DataFrame) -> dict[str, float]:
    """Sums of printed numbers of section 3 that should agree. printed_rows : `published.load` of the paper."""
    known = printed_rows.set_index(["element", "panel", "row", "column"])["value"].sort_index()
    pairwise, count = known.loc["Text 3.3", "moderation", "pairwise"], known.loc["Table 6", "count"]
    total = {o: count.drop("total", level="row").xs(o, level="column").sum() for o in OUTCOMES}
    agreeing = known.loc["Table 5", "agreement"]
    chosen = known.loc["Text 3.3", "moderation", "selection"]
    return {
        "stated": pairwise["pairs_per_annotator"],
        "prompts": pairwise["prompts"],
        "control": pairwise["human_control_pairs"],
        "annotators": pairwise["annotators"],
        "parts": 3 * pairwise["prompts"] + pairwise["human_control_pairs"],
        "table": (total["wins"] + (total["tied"] + total["unrelated"]) / 2) / pairwise["annotators"],
        "items": agreeing.sum(),
        "items stated": known["Text 3.2", "annotation", "pairs", "annotated"],
        "label_1 from": _from(agreeing.loc["label_1"], chosen["label_1"]),
        "label_minus_1 from": _from(agreeing.loc["label_minus_1"], chosen["label_minus_1"]),
    }


def _from(agreeing: pd.Series, chosen: float) -> float:
    """The number of annotators from which on items add up to those chosen; NaN where none does."""
    k = agreeing.index.str.removeprefix("annotators_").astype(int)
    sums = agreeing.to_numpy()[np.argsort(-k)].cumsum()
    return next((float(a) for a, s in zip(np.sort(k)[::-1], sums, strict=True) if s == chosen), float("nan"))


def contradictions(of: dict[str, float]) -> str:
    """Where section 3 contradicts itself. of : `arithmetic`."""
    return (
        f"Section 3.3 gives {of['stated']:.0f} pairs an annotator; {of['prompts']:.0f} prompts with three pairs of"
        f" chatbots and {of['control']:.0f} control pairs are {of['parts']:.0f}, and Table 6 adds up to"
        f" {of['table']:.0f} for each of {of['annotators']:.0f} annotators. Table 5 adds up to {of['items']:.0f} items,"
        f" its caption has {of['items stated']:.0f}; with seven annotators two categories can have three each, and the"
        " paper does not say how such an item counts. Turns were selected on which “more than 5” agreed: the numbers"
        f" given are those from {of['label_1 from']:.0f} annotators on for category 1, and from"
        f" {of['label_minus_1 from']:.0f} on for category −1. Notebook 91 checks these relations by rule."
    )
