"""Tables of notebook 15: annotators appear under pseudonyms throughout."""

from __future__ import annotations

import pandas as pd

from judgebook.display import cells
from judgebook.display.names import DisplayNames
from judgebook.display.tables import intervals
from judgebook.display.views import Table
from judgebook.questions.annotators.analysis import flagged
from judgebook.study.results import Results

#: annotators in the table of all
MOST = 40
_WHO = ["corpus", "group", "annotator"]
_CELL = ["corpus", "group", "method", "annotator"]
SOURCES = {"mean": "Annotations", "dawid_skene": "Dawid–Skene"}
TITLES = {
    "severity": "Leniency", "disagreement": "Disagreement", "answers": "Variety of answers", "speed": "Time taken",
    "drift": "Drift",
}  # fmt: skip
#: indicator -> what a low and a high value mean
MEANING = {
    "severity": ("gives less favourable scores, or fewer marks", "gives more favourable scores, or more marks"),
    "disagreement": ("agrees more than the others", "disagrees with the others"),
    "answers": ("gives less varied answers than the others", "gives more varied answers than the others"),
    "speed": ("is faster than the others", "is slower than the others"),
    "drift": (
        "gives less favourable scores, or fewer marks, over time",
        "gives more favourable scores, or more marks, over time",
    ),
}
#: what z is divided by, for readers: see `indicators`
SCALE = (
    "For leniency and time taken, z is in standard deviations of these estimates across annotators. For the other"
    " indicators, it is in the standard deviations expected by chance if annotators neither differed nor drifted."
)


def worded(text: str, names: DisplayNames) -> str:
    """A text about leniency; where no label has a direction, no score is favourable, only higher or lower."""
    if any(label.direction for label in names.labels.values()):
        return text
    return text.replace("more favourable", "higher").replace("less favourable", "lower")


def named(results: Results, names: DisplayNames, false_alarms: float) -> Table | None:
    """Who is flagged, and why."""
    rows = flagged(results, false_alarms)
    if rows.empty:
        return None
    out = rows[["corpus", "group", "method"]].assign(
        Annotator=rows["annotator"],
        Indicator=[TITLES[i] for i in rows["indicator"]],
        Finding=[
            worded(MEANING[i][int(v > 0)], names) for i, v in zip(rows["indicator"], rows["estimate"], strict=True)
        ],
    )
    out["z"], out["Adjusted p"] = rows["estimate"], cells.p_values(rows["p_adjusted"])
    caption = f"Annotators outside the spread of the others. {SCALE} The p-values (generalised ESD test) compare z with"
    caption += " those of the other annotators, not with 0. They are adjusted for all annotators and indicators of the"
    caption += " group."
    return Table(names.named(out), "named", caption, {"z": 1}, {"Method": "Over all methods."})


def everyone(results: Results, names: DisplayNames) -> Table | None:
    """Each annotator by method: leniency, drift, agreement, answers and time; the most unusual values first."""
    answers = results["annotator_answers"]
    if answers.empty:
        return None
    out = answers[[*_CELL, "n"]].rename(columns={"n": "Scores"})
    key, who = pd.MultiIndex.from_frame(out[_CELL]), pd.MultiIndex.from_frame(out[_WHO])
    severity = results["annotator_severity"]
    for heading, rows in {
        "Leniency": severity[severity["estimate"].notna()],
        "Drift": results["annotator_drift"],
    }.items():
        if len(rows):
            out[heading] = intervals(rows).set_axis(pd.MultiIndex.from_frame(rows[_CELL])).reindex(key).to_numpy()
    out["r with others"] = results["annotator_agreement"].set_index(_CELL)["estimate"].reindex(key).to_numpy()
    out["Most frequent answer, %"] = 100 * answers["estimate"]
    out["Time"] = results["annotator_speed"].set_index(_WHO)["estimate"].reindex(who).to_numpy()
    far = results["annotator_z"].assign(z=-results["annotator_z"]["estimate"].abs()).groupby(_WHO)[["p_adjusted", "z"]]
    order = far.min().reindex(who).reset_index(drop=True).sort_values(["p_adjusted", "z"], kind="stable").index
    total, out = len(out), out.iloc[order].head(MOST)
    out = out.dropna(axis=1, how="all").rename(columns={"annotator": "Annotator"})
    caption = worded(
        "Leniency: in standard deviations of scores; positive: more favourable scores, or more marks.", names
    )
    caption += " Drift: change in leniency from the first to the last dialogue. r with others: correlation with their"
    caption += f" mean. Time: relative to what is usual for the task. Intervals: {names.ci}."
    if total > MOST:
        caption += f" Shown: the {MOST} of {total} rows with the most unusual values; the stored results contain all."
    decimals = {"Most frequent answer, %": 0}
    why = dict.fromkeys(out.columns, "Too few judgements, or none that the statistic can use.")
    return Table(names.named(out), "everyone", caption, decimals, why)


def consensus(results: Results, names: DisplayNames) -> Table | None:
    """Rates of systems by the mean of annotations and by consensus labels."""
    rows = results["consensus_rate"]
    if rows.empty:
        return None
    keys = ["corpus", "group", "method", "label", "system"]
    wide = rows.set_index([*keys, "source"])["estimate"].unstack()  # noqa: PD010
    wide = wide[[s for s in SOURCES if s in wide]].rename(columns=SOURCES).reset_index()
    sizes = rows.drop_duplicates(keys).set_index(keys)["n"]
    wide["Items"] = sizes.reindex(pd.MultiIndex.from_frame(wide[keys])).to_numpy()
    if len(set(wide["corpus"])) == 1:
        wide = wide.drop(columns="corpus")
    caption = "Rates of marks, or of comparisons won minus lost, from all annotations and from consensus labels, for"
    caption += " items judged more than once."
    why = {"Dawid–Skene": "The likelihood did not converge."}
    return Table(names.named(names.sort(wide)), "consensus", caption, 3, why)
