"""Figure and tables of notebook 10 for effects of variants and changes between runs, by label."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judgebook.display import captions, cells, tables
from judgebook.display.grid_plots import grid_figure, interval_keys, intervals
from judgebook.display.many import DRAWN
from judgebook.display.names import DisplayNames
from judgebook.display.text import span
from judgebook.display.views import Plot, Table
from judgebook.questions.quality_control.crowd import Crowd
from judgebook.questions.quality_control.effects import EVERYTHING, FAMILIES, RUNS
from judgebook.questions.quality_control.tables import SCORES, label_titles, overall_first
from judgebook.questions.quality_control.worker_tests import OVERALL
from judgebook.study.results import Results, where

ALL_RUNS = "All runs"
#: a column of both tables of effects
P = "p, adjusted"


def pooled(results: Results, interval: str = "workers") -> pd.DataFrame:
    """`variant_effect` on standardised scores, over families and as many runs as there are."""
    rows = results.select("variant_effect", scores="z", interval=interval)
    return rows[rows["over"] == (EVERYTHING if (rows["over"] == EVERYTHING).any() else FAMILIES)]


def effects(results: Results, names: DisplayNames, crowd: Crowd) -> Plot | None:
    """The mean effect of the variant over families by label: a mark per run and one for all runs."""
    rows = results.select("variant_effect", scores="z", interval="workers", over=[FAMILIES, EVERYTHING])
    if rows.empty:
        return None
    order = overall_first(rows["label"].unique(), names)
    note = captions.chosen(len(order[:DRAWN]), len(order), "labels")
    rows = rows.set_index("label").loc[order[:DRAWN]].reset_index()
    n, several = int(where(rows, over=FAMILIES)["n"].iloc[0]), (rows["over"] == EVERYTHING).any()
    runs = rows["corpus"].map(crowd.title, na_action="ignore").fillna(ALL_RUNS)
    rows = rows.assign(panel="", block=rows["label"].map(label_titles(names, crowd)), hue=runs)
    what = f"Mean standardised score, with minus without {crowd.options.variant}"
    keys = interval_keys(f"simultaneous {names.ci}", None, rows)
    fig = grid_figure(
        rows, intervals, xlabel=f"{what} (standard deviations)", reference=0, named="no effect", keys=keys,
        styles={ALL_RUNS: ("#000000", "D")},
    )  # fmt: skip
    shown = pooled(results)
    alt = f"{what}, by label, averaged over {n} systems: from {span(shown['estimate'])}"
    caption = f"Marks: mean over {n} pairs of systems of the score with minus without {crowd.options.variant}, by label"
    caption += (
        f"{', in each run and over all runs' if several else ''}, among workers who passed. Lines: {names.ci} over"
    )
    caption += f" workers, {captions.sample(rows['n_clusters'])}, for these systems; those of labels are simultaneous."
    return Plot(fig, "effects", f"{alt}{' over all runs' if several else ''}.", captions.joined(caption, note))


def variant_effects(results: Results, names: DisplayNames, crowd: Crowd) -> Table | None:
    """The pooled effect by label, for other workers and for other families, and the lowest and highest of a family."""
    rows = pooled(results)
    if rows.empty:
        return None
    rows = rows.set_index("label").loc[overall_first(rows["label"].unique(), names)]
    others = pooled(results, "families").set_index("label").reindex(rows.index)
    each = results.select("variant_effect", scores="z", interval="workers", over=RUNS)
    if each.empty:
        each = results.select("variant_contrast", scores="z")
    by_family = each.groupby("label")["estimate"].agg(["min", "max"]).reindex(rows.index)
    titles = label_titles(names, crowd)
    out = pd.DataFrame({"Label": [titles[label] for label in rows.index]}, index=rows.index)
    out["Effect, other workers"], out[P] = tables.intervals(rows), cells.p_values(rows["p_adjusted"])
    out["CI, other families"] = cells.ranges(others[["ci_low", "ci_high"]], 2, brackets=True)
    out["p, other families"] = cells.p_values(others["p_adjusted"])
    out["By family"] = cells.ranges(by_family, 2)
    n = int(rows["n"].iloc[0])
    caption = f"Mean of {n} differences, with minus without {crowd.options.variant}, in standard deviations of a"
    caption += " worker's scores; CI if other workers had rated these systems, and if the families were a sample of"
    caption += (
        " others. CIs and p-values of labels are adjusted for their number (Sidak); overall is a test of its own. By"
    )
    caption += " family: lowest and highest effect."
    why = dict.fromkeys(("CI, other families", "p, other families"), "Too few families.")
    return Table(out, "variant_effects", caption, 2, why | dict.fromkeys(("By family",), "Not rated."))


def best(results: Results, crowd: Crowd) -> str | None:
    """The system with the highest overall mean of raw scores in the first run, among those in every run."""
    rows = results.select("mean_raw", corpus=crowd.corpora[0], interval="workers", label=OVERALL)
    rows = rows[rows["system"].isin(crowd.shared)].dropna(subset="estimate")
    return rows.set_index("system")["estimate"].idxmax() if len(rows) else None


def change_rows(results: Results, names: DisplayNames, crowd: Crowd) -> pd.DataFrame:
    """`run_change` by run, of the mean over systems (system missing) before that of the best system, overall first."""
    rows = results["run_change"]
    rows = rows[rows["system"].isna() | (rows["system"] == best(results, crowd))]
    order = overall_first(rows["label"].unique(), names)
    keys = {"corpus": crowd.corpora.index, "system": pd.notna, "label": order.index}
    return rows.sort_values([*keys], key=lambda column: column.map(keys[column.name]), kind="stable")


def changes(
    results: Results, names: DisplayNames, crowd: Crowd, printed: Mapping[tuple[str, str, str], float]
) -> Table | None:
    """What changes between the first and each other run, by label, beside what the printed raw means say.

    printed : (corpus, system, label) -> the change of the printed raw means; system "": of the mean over systems.
    """
    rows = change_rows(results, names, crowd)
    if rows.empty:
        return None
    rows = rows.assign(system=rows["system"].fillna(""))
    parts = {scores: where(rows, scores=scores).set_index(["corpus", "system", "label"]) for scores in SCORES}
    index, titles = parts["raw"].index, label_titles(names, crowd)
    out = pd.DataFrame({"Run": [crowd.title(corpus) for corpus, *_ in index]}, index=index)
    out["Of"] = [names.name("system", system) if system else "Mean of systems" for _, system, _ in index]
    out["Label"] = [titles[label] for *_, label in index]
    if printed:
        out["Raw, printed"] = pd.Series([printed.get(place) for place in index], index, dtype=float)
    for scores, decimals in (("raw", 1), ("z", 2)):
        shown = index if scores == "raw" else index[index.get_level_values("system") != ""]
        part = parts[scores].reindex(shown).dropna(subset="estimate")
        out[SCORES[scores]] = tables.intervals(part, decimals)
        out[f"{SCORES[scores]}, {P}"] = cells.p_values(part["p_adjusted"])
    why = {"Raw, printed": "Not printed."}
    why |= dict.fromkeys(
        [c for c in out if c.startswith(SCORES["z"])], "Not shown: a worker's standardised scores average 0."
    )
    first = crowd.title(crowd.corpora[0])
    caption = f"Means minus those in {first}, workers who passed; averaged over systems, and of the system with the"
    caption += f" highest mean in {first}. CIs over workers and p-values are adjusted for the number of labels (Sidak);"
    caption += " overall is a test of its own."
    return Table(out, "changes", caption, 2, why)
