"""Tables of a comparison of two runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from judgebook.display import cells
from judgebook.display.cells import Cell
from judgebook.display.names import DisplayNames
from judgebook.display.text import listing
from judgebook.display.views import Table
from judgebook.extras.compare.analysis import CLEARLY, NOT, OPEN, RAW, STANDARDISED, WEAKLY, Comparison
from judgebook.questions.quality_control.worker_tests import OVERALL

#: kind of scores -> heading
SCORES = {STANDARDISED: "Standardised", RAW: "Raw"}
VERDICTS = {CLEARLY: "Clearly", WEAKLY: "Weakly", NOT: "Not", OPEN: "Cannot be told"}
_UNITS = {"person": "people", "dialogue": "dialogues", "pair": "pairs of dialogues"}


def label_name(row: Mapping[str, object], names: DisplayNames) -> str:
    """Display name of a label; that of its method follows where the study has the label under several."""
    if row["label"] == OVERALL:
        return "Mean of all labels"
    title = names.name("label", str(row["label"]), str(row["method"]))
    several = sum(label_.title == title for label_ in names.labels.values()) > 1
    return f"{title}, {names.name('method', str(row['method']))}" if several else title


def over(rows: pd.DataFrame) -> str:
    """What clusters are: `people`, `people or dialogues`."""
    return listing((_UNITS[unit] for unit in dict.fromkeys(rows["unit"])), "or")


def _first(rows: pd.DataFrame, runs: Comparison, names: DisplayNames) -> pd.DataFrame:
    """Scores (where there are two kinds) and labels."""
    out = pd.DataFrame({"Label": [label_name(row, names) for row in rows.to_dict("records")]}, index=rows.index)
    if len(set(runs.labels["scores"])) > 1:
        out.insert(0, "Scores", rows["scores"].map(SCORES))
    return out


def ordered(runs: Comparison) -> pd.DataFrame:
    """Rows of labels, those that decide first."""
    place = {key: i for i, key in enumerate(runs.known)}
    rows = runs.labels
    order = [place.get(key, -1) for key in zip(rows["method"], rows["label"], strict=True)]
    rows = rows.assign(later=rows["scores"] != runs.primary, place=order)
    return rows.sort_values(["later", "place"], kind="stable").drop(columns=["later", "place"])


def grades(runs: Comparison, names: DisplayNames) -> Table:
    """The verdict on each label, and what it rests on."""
    rows = ordered(runs)
    rows = rows[rows["scores"] == runs.primary]
    by_clusters = np.isfinite(rows["r_low"].to_numpy(float))
    out = _first(rows, runs, names).assign(Reproduced=rows["verdict"].map(VERDICTS), r=rows["r"])
    for end in ("low", "high"):
        out[f"r, {end}"] = rows[f"r_{end}"].where(by_clusters, rows[f"fisher_{end}"])
    heads = {"same": "Same order", "pairs": "of pairs", "opposite": "Opposite, significant", "changed": "Changed"}
    out = out.assign(**{heading: rows[column] for column, heading in heads.items()})
    caption = f"How far each label was reproduced: r of system means with the ends of its {runs.confidence:.0%} CI over"
    caption += f" {over(rows)}{'' if by_clusters.all() else ' or systems'}. Same order: pairs of systems. Opposite,"
    caption += f" significant: those that differ so in both runs (p < {1 - runs.confidence:.2g}, unadjusted)."
    caption += (
        " Changed: pairs whose difference is not the same in both runs, significant with all pairs tested at once."
    )
    return Table(out, "grades", caption, why=pd.Series(_why(rows), rows.index))


def scores(runs: Comparison, names: DisplayNames) -> Table:
    """Other ways to see whether the means of systems agree: correlations over systems, ranks, order."""
    rows = ordered(runs)
    out = _first(rows, runs, names)
    out["Systems"] = rows["systems"]
    out["r"] = _intervals(rows, "r", "r_low", "r_high")
    out["r, over systems"] = _intervals(rows, "r", "fisher_low", "fisher_high")
    out["Rank correlation"] = _intervals(rows, "rho", "rho_low", "rho_high")
    out["Same order"] = [_percent(*row) for row in _informative(rows).to_numpy(float)]
    out["Ties"] = rows["ties"]
    caption = f"Agreement of system means: r with its {runs.confidence:.0%} CI over {over(rows)}; r and Spearman's rank"
    caption += " correlation with CIs over systems. Same order: pairs of systems, with the CI of the true share unless"
    caption += " that is 0% to 100%."
    return Table(out, "scores", caption, why=pd.Series(_why(rows), rows.index))


def _informative(rows: pd.DataFrame) -> pd.DataFrame:
    """Shares of pairs in the same order, with the ends of their intervals unless these are 0 and 1."""
    shares = rows[["order", "order_low", "order_high"]].astype(float)
    nothing = (shares["order_low"] <= 0) & (shares["order_high"] >= 1)
    return shares.mask(pd.concat([nothing & False, nothing, nothing], axis=1).set_axis(shares.columns, axis=1))


def _why(rows: pd.DataFrame) -> list[str]:
    return [note or "fewer than three systems, or all means are equal" for note in rows["r_note"].fillna("")]


def _intervals(rows: pd.DataFrame, *columns: str) -> list[Cell | None]:
    return [cells.of_interval(*row) if np.isfinite(row[0]) else None for row in rows[list(columns)].to_numpy(float)]


def _percent(share: float, low: float, high: float) -> Cell | None:
    return cells.of_share(share, low, high) if np.isfinite(share) else None


def conclusions(runs: Comparison, names: DisplayNames) -> Table:
    """Whether conclusions about pairs of systems agree."""
    rows = ordered(runs)
    out = _first(rows, runs, names).assign(Pairs=rows["tested"])
    heads = {"same_sign": "Both, same sign", "opposite": "Both, opposite", "only_a": f"Only {runs.a.title}"}
    heads |= {"only_b": f"Only {runs.b.title}", "neither": "Neither"}
    for column, heading in heads.items():
        out[heading] = rows[column]
    caption = (
        f"Pairs of systems by the runs in which they differ at {1 - runs.confidence:.2g} (unadjusted; t tests with"
    )
    caption += f" {over(rows)} left out in turn). Counts have no CI: pairs that share a system are not independent."
    return Table(out, "conclusions", caption)


def variation(runs: Comparison, names: DisplayNames) -> Iterator[Table]:
    """CV* by label, and by system and label."""
    rows = ordered(runs)
    rows = rows[rows["scores"] == RAW]
    out = pd.DataFrame({"Label": [label_name(row, names) for row in rows.to_dict("records")]})
    out["Mean CV*"] = [_with_ends(*row) for row in rows[["cv", "cv_low", "cv_high"]].to_numpy(float)]
    out["Sampling alone"] = rows["cv_expected"].to_numpy()
    if len(out) > 1:
        every = runs.spread
        out.loc[len(out)] = ["Mean", _with_ends(*(every[k] for k in ("cv", "low", "high"))), every["expected"]]
    caption = "CV* in percent, mean over systems (CI conservative: all systems at once), and what it would be if both"
    caption += f" runs measured the same and only {over(rows)} differed. Raw scores, counted from the scale's low end."
    yield Table(out, "variation", caption, 1, {"Mean CV*": _NO_CV, "Sampling alone": _NO_CV})
    cells = runs.variation
    text = [_with_ends(*row) for row in cells[["cv", "ci_low", "ci_high"]].to_numpy(float)]
    titles = {tuple(k): label_name(dict(zip(("method", "label"), k, strict=True)), names) for k in runs.known}
    cells = cells.assign(text=text, column=[titles[k] for k in zip(cells["method"], cells["label"], strict=True)])
    wide = cells.pivot_table(index="system", columns="column", values="text", aggfunc="first", sort=False)
    wide = wide.reindex(index=[s for s in runs.systems if s in wide.index], columns=[*dict.fromkeys(cells["column"])])
    wide.insert(0, "System", [names.name("system", s) for s in wide.index])
    caption = f"CV* in percent of each system's two means, with {runs.confidence:.0%} CI over {over(rows)}."
    why = dict.fromkeys(wide.columns[1:], _NO_CV)
    yield Table(wide.rename_axis(columns=None).reset_index(drop=True), "variation_systems", caption, 1, why)


_NO_CV = "Not rated in both runs, or the mean lies at the low end of the scale."


def _with_ends(value: float, low: float, high: float) -> Cell | None:
    return cells.of_interval(value, low, high, 1) if np.isfinite(value) else None


def settings(runs: Comparison) -> Table:
    """What differs between the runs apart from their results."""
    out = runs.settings.set_axis(["What", runs.a.title, runs.b.title], axis=1)
    short = {c: [v if len(v) <= 100 else v[:99] + "…" for v in out[c]] for c in out.columns[1:]}
    return Table(out.assign(**short), "settings", "Settings, data and versions that differ.")


def missing(runs: Comparison, names: DisplayNames) -> Table:
    """Systems and labels that only one run has."""
    rows = runs.missing
    shown = []
    for kind, key in zip(rows["kind"], rows["id"], strict=True):
        method, _, label = key.rpartition("/")
        shown.append(
            label_name({"label": label, "method": method}, names) if "label" in kind else names.name(kind, key)
        )
    titles = {0: runs.a.title, 1: runs.b.title, 2: "both"}
    out = pd.DataFrame({"What": rows["kind"].str.capitalize(), "Name": shown, "In": rows["in_"].map(titles)})
    return Table(
        out,
        "missing",
        "Systems and labels that are not compared, because only one run has them or their scales differ.",
    )
