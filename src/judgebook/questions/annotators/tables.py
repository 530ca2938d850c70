"""Tables of notebook 15: annotators appear under pseudonyms throughout."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgebook.display import cells
from judgebook.display.names import DisplayNames
from judgebook.display.tables import intervals
from judgebook.display.views import Table
from judgebook.questions.annotators.analysis import flagged
from judgebook.questions.annotators.figures import SCALE, TITLES, worded
from judgebook.study.results import Results, where

#: annotators in the table of all
MOST = 40
_WHO = ["corpus", "group", "annotator"]
_CELL = ["corpus", "group", "method", "annotator"]
SOURCES = {"mean": "Annotations", "dawid_skene": "Dawid–Skene", "mace": "MACE"}
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
    """Each annotator by method: leniency, agreement, answers, speed, drift, accuracy."""
    answers = results["annotator_answers"]
    if answers.empty:
        return None
    out = answers.drop_duplicates(_CELL)[[*_CELL, "n"]].rename(columns={"n": "Scores"})
    key = pd.MultiIndex.from_frame(out[_CELL])
    severity = results["annotator_severity"]
    for heading, rows in {
        "Leniency": severity[severity["label"].isna() & severity["estimate"].notna()],
        "Drift": results["annotator_drift"],
    }.items():
        if rows.empty:
            continue
        out[heading] = intervals(rows).set_axis(pd.MultiIndex.from_frame(rows[_CELL])).reindex(key).to_numpy()
    for heading, rows in {
        "r with others": results["annotator_agreement"],
        "Alpha without": results["alpha_without"],
        "Most frequent answer, %": where(answers, of="commonest"),
        "Entropy, bits": where(answers, of="entropy"),
        "Longest run": where(answers, of="run"),
    }.items():
        out[heading] = rows.set_index(_CELL)["estimate"].reindex(key).to_numpy()
    out["Most frequent answer, %"] *= 100
    speed = results["annotator_speed"].set_index(_WHO)["estimate"]
    out["Time"] = speed.reindex(pd.MultiIndex.from_frame(out[_WHO])).to_numpy()
    accuracy = where(results["annotator_accuracy"], source="dawid_skene")
    if len(accuracy):
        weight = accuracy["n"].astype(float)
        sums = pd.DataFrame({"s": weight * accuracy["estimate"], "n": weight}).groupby([accuracy[c] for c in _CELL])
        total = sums.sum()
        out["Accuracy, %"] = 100 * (total["s"] / total["n"]).reindex(key).to_numpy()
    far = results["annotator_z"].groupby(_WHO)["p_adjusted"].min()
    z = results["annotator_z"].assign(z=results["annotator_z"]["estimate"].abs()).groupby(_WHO)["z"].max()
    who = pd.MultiIndex.from_frame(out[_WHO])
    out = out.assign(p=far.reindex(who).to_numpy(), z=-z.reindex(who).to_numpy()) if len(z) else out.assign(p=1, z=0)
    total = len(out)
    out = out.sort_values(["p", "z"], kind="stable").drop(columns=["p", "z"]).head(MOST)
    out = out.dropna(axis=1, how="all").rename(columns={"annotator": "Annotator"})
    caption = (
        "Leniency: in standard deviations of scores; positive: more favourable scores, or more marks. Drift: change in"
    )
    caption = worded(caption, names)
    caption += " leniency from the first to the last dialogue. r with others: correlation with their mean. Alpha"
    caption += " without: change in alpha when the annotator is left out. Time: relative to what is usual for the task."
    caption += " Accuracy: estimated by Dawid and Skene’s model."
    caption += f" Intervals: {names.ci}."
    if total > MOST:
        caption += f" Shown: the {MOST} of {total} rows with the most unusual values; the stored results contain all."
    decimals = {"Most frequent answer, %": 0, "Accuracy, %": 0, "Longest run": 0, "Alpha without": 3}
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
    why = {"Dawid–Skene": "The likelihood did not converge.", "MACE": "One answer is rare: MACE takes it for guesses."}
    return Table(names.named(names.sort(wide)), "consensus", caption, 3, why)


def order_changes(results: Results) -> pd.DataFrame:
    """Of each label and consensus source: `changed`, the largest change of a rate, and `turned`, how many of `pairs` of
    systems change their order."""
    rows, out = results["consensus_rate"], []
    keys = ["corpus", "group", "method", "label"]
    for key, of_case in rows.groupby(keys, sort=False):
        wide = of_case.set_index(["system", "source"])["estimate"].unstack()  # noqa: PD010
        base = wide["mean"].to_numpy()
        upper = np.triu_indices(len(base), 1)
        before = np.sign(base[:, None] - base)[upper]
        for source in [s for s in wide if s != "mean"]:
            values = wide[source].to_numpy()
            after = np.sign(values[:, None] - values)[upper]
            turned = int(np.sum(before * after < 0))
            largest = float(np.abs(values - base).max())
            row = dict(zip(keys, key, strict=True)) | {"source": source, "changed": largest, "turned": turned}
            out.append(row | {"pairs": len(before)})
    return pd.DataFrame(out, columns=[*keys, "source", "changed", "turned", "pairs"])
