"""What notebook 09 shows and says, made from its result rows. All sentences speak from Spearman's correlations with
contexts (or dialogues) resampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from helpers import tables
from helpers.look import Look
from helpers.metric_analysis import DATA_SET, of_data_sets
from helpers.metric_correlation import MIN_SYSTEMS, places
from helpers.rater_correlation import PART_WHOLE
from helpers.tables import interval, number
from helpers.text_metrics import INSTALL, METRICS
from helpers.views.metric_plots import Panel

#: keys of the condition that tables and sentences select by
KEYS = ("coefficient", "scope", "over", "average", "of", "test", "against", "comparison", "summary")


def names(metrics: Sequence[str], titles: Mapping[str, str], directions: Mapping[str, int]) -> dict[str, str]:
    """Display names: those given, else the id made readable; metrics that were turned around say so."""
    out = {}
    for metric in metrics:
        plain = metric.replace("_", " ")
        name = titles.get(metric, plain[:1].upper() + plain[1:])
        out[metric] = f"{name}, reversed" if directions.get(metric, 1) == -1 else name
    return out


def data_sets(results: pd.DataFrame, look: Look) -> dict[tuple[str, str], str]:
    """(corpus, method) -> its name: the corpus, unless there is one without a name; the method, where there are two."""
    pairs = results[results["statistic"] == "correlation"].drop_duplicates(DATA_SET)[DATA_SET]
    pairs = list(pairs.itertuples(index=False, name=None))
    corpora, methods = ({pair[i] for pair in pairs} for i in (0, 1))

    def name(corpus: str, method: str) -> str:
        plain = corpus.replace("_", " ")
        parts = [] if corpora == {"main"} else [plain[:1].upper() + plain[1:]]
        parts += [look.name("method", method)] if len(methods) > 1 or not parts else []
        return ", ".join(parts)

    return {pair: name(*pair) for pair in pairs}


def overall(rows: pd.DataFrame, coefficient: str = "spearman") -> pd.DataFrame:
    """One row a data set and metric: the plain mean over labels, or the only label's correlation."""
    return of_data_sets(rows[(rows["coefficient"] == coefficient) & rows["level"].ne("system")])


def order(rows: pd.DataFrame) -> list[str]:
    """Metrics from the best mean correlation over data sets to the worst."""
    return list(overall(rows).groupby("metric")["estimate"].mean().sort_values(ascending=False, kind="stable").index)


def panel(rows: pd.DataFrame, data_set: tuple[str, str], label: str | None, title: str) -> Panel:
    """What a panel shows of one label; None: of the mean over the labels of the data set."""
    here = rows[(rows["corpus"] == data_set[0]) & (rows["method"] == data_set[1])]
    if label is None:
        found = overall(here)
    else:
        pooled = here["statistic"].eq("correlation") & here["scope"].eq("pooled") & here["coefficient"].eq("spearman")
        found = here[pooled & here["label"].eq(label)]
        here = here[here["label"] == label]
    replaced = here[here["statistic"] == "replaceability"]
    reduced = replaced[replaced["of"] == "metric"].groupby("metric")["estimate"].mean()
    metrics = found[["metric", "estimate", "ci_low", "ci_high"]].assign(
        reduced=found["metric"].map(reduced).astype(float)
    )
    top = here[here["statistic"] == "reliability_ceiling"]
    one = len(top) == 1
    ends = (top["ci_low"].iloc[0], top["ci_high"].iloc[0]) if one else (np.nan, np.nan)
    # a mean over labels has the mean ceiling; where a label has none, neither has the mean
    ceiling = float(top["estimate"].mean(skipna=False)) if len(top) else np.nan
    person = replaced[replaced["of"] == "annotator"].groupby("label")["estimate"].mean()
    return Panel(
        title, metrics.dropna(subset="estimate"), (ceiling, *ends), float(person.mean()) if len(person) else np.nan
    )


def leaderboard(rows: pd.DataFrame, sets: Mapping[tuple, str], titles: Mapping[str, str]) -> pd.DataFrame:
    """Metrics by data sets as Tables 2 and 3 of Zhang et al. 2022: correlation in percent, with (1), (2), (3) behind
    the three best of a column; the averages over data sets last."""
    found = overall(rows)
    wide = pd.DataFrame(index=order(rows))
    for pair, name in sets.items():
        part = found[(found["corpus"] == pair[0]) & (found["method"] == pair[1])].set_index("metric")["estimate"]
        wide[name] = 100 * part.reindex(wide.index)
    for average in ("plain", "fisher") if len(sets) > 1 else ():
        mean = rows[(rows["over"] == "data set") & (rows["average"] == average) & (rows["coefficient"] == "spearman")]
        wide[f"Average ({average})"] = 100 * mean.set_index("metric")["estimate"].reindex(wide.index)
    rank = places(wide)
    text = {
        c: [
            None if pd.isna(v) else number(float(v), 1) + ("" if pd.isna(p) else f" ({p})")
            for v, p in zip(wide[c], rank[c], strict=True)
        ]
        for c in wide
    }
    return pd.DataFrame({"Metric": [titles[m] for m in wide.index]} | text)


def coefficients(rows: pd.DataFrame, data_set: tuple[str, str], titles: Mapping[str, str]) -> pd.DataFrame:
    """For each metric of a data set: Spearman with its interval, Pearson and Kendall, the mean within contexts, and the
    means of systems; over labels, plain means."""
    here = rows[(rows["corpus"] == data_set[0]) & (rows["method"] == data_set[1])]
    best = overall(here).set_index("metric")
    best = best.loc[[m for m in order(rows) if m in best.index]]
    out = pd.DataFrame({"Metric": [titles[m] for m in best.index]}, index=best.index)
    out["Spearman"] = tables.intervals(best)
    for coefficient in ("pearson", "kendall"):
        out[coefficient.capitalize()] = overall(here, coefficient).set_index("metric")["estimate"].reindex(best.index)
    each = here[here["statistic"].eq("correlation") & here["coefficient"].eq("spearman")]
    within = each[each["scope"] == "within_context"]
    if len(within):
        out["Within contexts"] = within.groupby("metric")["estimate"].mean().reindex(best.index)
    systems = each[each["scope"] == "system"]
    if len(systems):
        joint = here[here["statistic"].eq("mean_correlation") & here["level"].eq("system")]
        joint = joint[joint["coefficient"].eq("spearman")]
        shown = (joint if len(joint) else systems).set_index("metric").reindex(best.index)
        out[f"Systems ({int(systems['n'].max())})"] = tables.intervals(shown)
    return out.reset_index(drop=True)


def comparison(rows: pd.DataFrame, data_set: tuple[str, str], titles: Mapping[str, str]) -> pd.DataFrame:
    """The best metric of a data set against each other one: difference, p of the permutation, Holm over all pairs."""
    here = rows[(rows["corpus"] == data_set[0]) & (rows["method"] == data_set[1])]
    tests = here[here["statistic"].eq("correlation_difference") & here["test"].eq("permutation")]
    tests = tests[tests["over"].eq("label")] if tests["over"].notna().any() else tests
    best = overall(here).sort_values("estimate", ascending=False)["metric"].iloc[0] if len(overall(here)) else None
    sides = []
    for own, other, sign in (("metric", "against", 1), ("against", "metric", -1)):
        part = tests[tests[own] == best]
        sides.append(
            pd.DataFrame(
                {
                    "metric": part[other],
                    "Difference": sign * part["estimate"],
                    "p": part["p_value"],
                    "p (Holm)": part["p_adjusted"],
                    "n": part["n"],
                    "best": best,
                }
            )
        )
    out = pd.concat(sides).dropna(subset="Difference").sort_values("Difference", kind="stable")
    return out.assign(**{"Less than the best by": [titles[m] for m in out["metric"]]})


def agreement(rows: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Correlations between raters by definition, one row a label."""
    found = rows[rows["statistic"].eq("annotator_correlation") & rows["label"].notna()]
    keys = [*DATA_SET, "label"]
    heading = {
        "position_pairs": "Two raters",
        "annotator_pairs": "Two people",
        "position_rest": "Rating and the others",
        "position_mean": "Rating and mean of all *",
        "position_trimmed_mean": "Farthest dropped *",
    }
    out = found.drop_duplicates(keys)[keys].set_index(keys)
    for name, title in heading.items():
        part = found[found["comparison"] == name].set_index(keys)
        if len(part):
            both = name in ("position_pairs", "annotator_pairs")
            out[title] = tables.intervals(part) if both else part["estimate"]
    reliability = rows[rows["statistic"] == "reliability"].set_index(keys)
    top = rows[rows["statistic"] == "reliability_ceiling"].set_index(keys)
    if len(reliability):
        out["Reliability of the mean"] = reliability["estimate"].reindex(out.index)
        out["Ceiling"] = tables.intervals(top).reindex(out.index)
    return look.named(look.sort(out.reset_index()))


def matrix(rows: pd.DataFrame, data_set: tuple[str, str], titles: Mapping[str, str]) -> pd.DataFrame:
    """The symmetric matrix of correlations between the metrics of a data set, in the order of the leaderboard."""
    here = rows[rows["statistic"].eq("metric_correlation") & rows["corpus"].eq(data_set[0])]
    here = here[here["method"] == data_set[1]]
    used = [m for m in order(rows) if m in {*here["metric"], *here["against"]}]
    out = pd.DataFrame(np.eye(len(used)), index=used, columns=used)
    for row in here.itertuples():
        out.loc[row.metric, row.against] = out.loc[row.against, row.metric] = row.estimate
    return out.rename(index=titles, columns=titles)


def verdicts(rows: pd.DataFrame, sets: Mapping[tuple, str], titles: Mapping[str, str]) -> str:
    """The first paragraphs of "What we see": for each data set the best metric, what it lacks, and whom it beats."""
    return "\n".join(f"- **{tables.plain(name)}**: {_verdict(rows, pair, titles)}" for pair, name in sets.items())


def _verdict(rows: pd.DataFrame, pair: tuple[str, str], titles: Mapping[str, str]) -> str:
    here = rows[(rows["corpus"] == pair[0]) & (rows["method"] == pair[1])]
    found = overall(here).dropna(subset="estimate").sort_values("estimate", ascending=False, kind="stable")
    if found.empty:
        return "no metric has a correlation."
    best = found.iloc[0]
    title = tables.plain(titles[best["metric"]])
    text = f"{title} is closest to people, ρ {interval(best['estimate'], best['ci_low'], best['ci_high'])}"
    text += " on average over labels" if best["condition"].find("over=label") >= 0 else ""
    ceiling = panel(rows, pair, None, "").ceiling[0]
    text += f"; a metric without error could reach {number(ceiling)}" if np.isfinite(ceiling) else ""
    text += f". {_above(found)}"
    rest = comparison(rows, pair, titles)
    if len(rest):
        apart = int((rest["p (Holm)"] < 0.05).sum())
        text += (
            f" It is told apart from {apart or 'none'} of the other {len(rest)} (permutation by context, Holm over all"
        )
        text += " pairs, .05)."
    return f"{text} {_replaceable(here, best['metric'], title)}".strip()


def _above(found: pd.DataFrame) -> str:
    above, below = int((found["ci_low"] > 0).sum()), int((found["ci_high"] < 0).sum())
    known = int(found["ci_low"].notna().sum())
    text = f"Intervals wholly above 0: {above} of {known} metrics"
    return text + (f"; wholly below, where higher scores go with lower ratings: {below}." if below else ".")


def _replaceable(here: pd.DataFrame, metric: str, title: str) -> str:
    mine = here[here["statistic"].eq("replaceability") & here["metric"].eq(metric) & here["of"].eq("difference")]
    mine = mine.dropna(subset="ci_low")
    if mine.empty:
        return "Annotators cannot be left out: too few ratings an item."
    worse, better = int((mine["ci_high"] < 0).sum()), int((mine["ci_low"] > 0).sum())
    text = f"Held against the mean of all annotators but one, {title} is"
    if len(mine) == 1:
        row = mine.iloc[0]
        how = "further from it than" if worse else "closer to it than" if better else "not told apart from"
        return f"{text} {how} the one left out (difference {interval(row['estimate'], row['ci_low'], row['ci_high'])})."
    return f"{text} further from it than the one left out on {worse} of {len(mine)} labels, closer on {better}."


def cautions(rows: pd.DataFrame, computed: Sequence[str]) -> list[str]:
    """What a reader should not conclude: length as a baseline, contexts, systems, part-whole agreement."""
    out = []
    found = overall(rows)
    length = found[found["metric"] == "length"].set_index(DATA_SET)["estimate"] if "length" in computed else pd.Series()
    if len(length):
        others = found[found["metric"] != "length"].set_index(DATA_SET)["estimate"]
        behind = int((others < length.reindex(others.index)).sum())
        out.append(
            f"The number of words alone reaches ρ {number(length.min())} to {number(length.max())}"
            f" over the data sets; {behind} of {len(others)} other metrics and data sets lie below it."
            if len(length) > 1
            else f"The number of words alone reaches ρ {number(float(length.iloc[0]))}; {behind} of {len(others)} other"
            " metrics lie below it."
        )
    each = rows[rows["statistic"].eq("correlation") & rows["coefficient"].eq("spearman")]
    within = each[each["scope"] == "within_context"].dropna(subset="estimate")
    if len(within):
        keys = [*DATA_SET, "label", "metric"]
        both = within.merge(each[each["scope"] == "pooled"], on=keys, suffixes=("", "_pooled"))
        smaller = int((both["estimate"].abs() < both["estimate_pooled"].abs()).sum())
        out.append(
            "Within contexts, where responses to the same history are ranked, the correlation is weaker than pooled"
            f" for {smaller} of {len(both)} labels and metrics; pooled correlations also count that some contexts have"
            " better responses and higher scores."
        )
    systems = each[each["scope"] == "system"]
    if len(systems):
        fewest, n = int(systems["n"].min()), int(systems["n"].max())
        out.append(
            f"Correlations of system means rest on {n if n == fewest else f'{fewest} to {n}'} systems"
            + (
                f"; with fewer than {MIN_SYSTEMS} they have no interval and no p-value."
                if n < MIN_SYSTEMS
                else " and take each mean as known."
            )
        )
    raters = rows[rows["statistic"].eq("annotator_correlation") & rows["label"].notna()]
    if len(raters):
        pair, *part = (
            raters[raters["comparison"] == c]["estimate"].mean() for c in ("position_pairs", *sorted(PART_WHOLE))
        )
        out.append(
            f"Two raters correlate by {number(pair)} on average over labels. A rating and a mean that contains it"
            f" correlate by {number(part[0])}, by {number(part[1])} where the rating farthest from the mean is dropped"
            " first: that is no agreement between raters, although it has been printed as such."
        )
    return out


def labels(rows: pd.DataFrame, data_set: tuple[str, str]) -> list[str]:
    """Labels of a data set that have a correlation, in the order of the data."""
    here = rows[rows["statistic"].eq("correlation") & rows["corpus"].eq(data_set[0]) & rows["method"].eq(data_set[1])]
    return list(dict.fromkeys(here["label"]))


def sources(
    scores: pd.DataFrame,
    computed: Sequence[str],
    absent: Sequence[str],
    corpora: Sequence[str],
    asked: Sequence[str] = (),
) -> str:
    """How many metrics there are, where they are from, and what could not be computed. asked : computed if possible."""
    given = len(set(scores["metric"]) - set(computed))
    text = f"{given or 'No'} metric{'' if given == 1 else 's'} with the data, {len(computed) or 'none'} computed here"
    text += ": the data hold no texts." if asked and not computed and not absent else "."
    if corpora:
        text += f" Of several corpora these are analysed: {tables.listing(corpora)}."
    if absent:
        titles = tables.listing(METRICS[m].title for m in absent)
        text += f" **Not computed, because packages are not installed:** {titles}. To have them: `{INSTALL}`."
    return text


def beside(cells: pd.DataFrame, raters: pd.DataFrame) -> pd.DataFrame:
    """Printed values beside ours by the definition that comes nearest, and how two raters correlate, one a row.

    cells : from `verdicts.beside`. raters : the same for `two_raters`.
    """
    out = cells.rename(columns={"row": "Row", "column": "Column", "printed": "Printed"})
    out = out.assign(Here=cells["here"], Verdict=cells["verdict"].str.replace("_", " "), Raters=raters["here"])
    out = out.rename(columns={"Raters": "Two raters"})
    return out[["Row", "Column", "Printed", "Here", "Verdict", "Two raters"]]


def two_raters(results: pd.DataFrame) -> pd.DataFrame:
    """The results with the correlation of two raters in the place of every other definition of agreement."""
    rows = results[results["statistic"] == "annotator_correlation"]
    told = rows["condition"].str.extract(r"comparison=([a-z_]+)")[0]
    pairs = rows[told == "position_pairs"]
    swapped = [
        pairs.assign(condition=pairs["condition"].str.replace("position_pairs", other, regex=False))
        for other in told.unique()
    ]
    return pd.concat([results[results["statistic"] != "annotator_correlation"], *swapped])


def outcome(cells: pd.DataFrame) -> str:
    """How many printed values are equal at their printed decimals, and what is known of the others."""
    same, fitted = (int((cells["verdict"] == v).sum()) for v in ("match", "match_fitted"))
    text = (
        f"Of {len(cells)} printed values {same or 'none'} {'is' if same < 2 else 'are'} equal at the printed decimals"
    )
    text += " by a definition that is stated or suggests itself"
    text += (
        f", {fitted} by one that was found by searching for these values, which confirms nothing." if fitted else "."
    )
    notes = cells.loc[cells["verdict"] != "match", ["verdict", "note"]].drop_duplicates()
    told = [f"Fitted was {n}." if v == "match_fitted" else n for v, n in notes.itertuples(index=False) if n]
    return " ".join([text, *told])
