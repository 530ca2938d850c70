"""Tables of notebook 14."""

from __future__ import annotations

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.tables import intervals
from judgebook.display.text import percent, plural, span
from judgebook.display.views import Table
from judgebook.study.results import Results

_CASE = ["method", "label"]
#: what a design is for
AIMS = {"cheapest": "cheapest", "separate": "first from second", "budget": "within the budget"}


def designs(results: Results, names: DisplayNames, *, currency: str) -> Table:
    """The cheapest design that finds the difference worth finding, and what the budget buys, label by label."""
    wanted = results["planned_difference"].set_index(_CASE)["estimate"]
    rows = names.sort(results["plan_dialogues"])
    keys = [*_CASE, "aim"]
    out = rows[keys].assign(
        **{"Worth finding": [wanted[m, x] for m, x in zip(rows["method"], rows["label"], strict=True)]}
    )
    separate = rows["aim"] == "separate"
    out["Worth finding"] = out["Worth finding"].mask(separate.to_numpy())
    out["Dialogues per system"] = rows["estimate"].astype("Int64")
    for column, title in {"annotators_per_dialogue": "Annotators each", "annotators": "Annotators"}.items():
        out[title] = rows.get(column, pd.Series(pd.NA, rows.index)).astype("Int64")
    index = pd.MultiIndex.from_frame(rows[keys])
    found = results["plan_detectable"].dropna(subset="aim").set_index(keys)["estimate"]
    out["Difference found"] = found.reindex(index).to_numpy()
    cost = results["plan_cost"]
    if len(cost) and cost["aim"].notna().any():
        for resource, heading in {"hours": "Hours", "money": currency}.items():
            costs = cost[(cost["resource"] == resource) & cost["aim"].notna()].set_index(keys)["estimate"]
            out[heading] = costs.reindex(index).round().to_numpy()
    out["aim"] = out["aim"].map(AIMS)
    if len(set(out["aim"])) == 1:
        out = out.drop(columns="aim")
    caption = "The design that finds the difference worth finding with the least work"
    if separate.any():
        caption += "; the one that tells the first system from the second, if they differ as in this study"
    if (rows["aim"] == "budget").any():
        caption += "; and the one within the budget that finds the smallest difference"
    caption += ". Differences are in units of the label."
    notes = rows.loc[rows["estimate"].isna(), "note"].dropna().unique() if "note" in rows else []
    none = f"There is no such design: {'; or '.join(notes)}." if len(notes) else ""
    why = dict.fromkeys(out.columns, none) | {"Worth finding": "As far apart as in this study."}
    why["Annotators"] = f"Who judged is not known. {none}".strip()
    why |= dict.fromkeys(("Hours", currency), f"The time per judgement is unknown. {none}".strip())
    return Table(names.named(out.rename(columns={"aim": "Design"})), "designs", caption, {"Hours": 0, currency: 0}, why)


def reliability(results: Results, names: DisplayNames) -> Table | None:
    """Reliability of system means by dialogues per system, each judged by as many as in the cheapest design (by the
    fewest, where no design finds the difference)."""
    rows = results["plan_reliability"].dropna(subset="estimate")
    if rows.empty:
        return None
    chosen = results.select("plan_dialogues", aim="cheapest").dropna(subset="estimate")
    each = chosen.set_index(_CASE)["annotators_per_dialogue"].to_dict() if len(chosen) else {}
    fewest = rows["annotators_per_dialogue"].min()
    wanted = [each.get(key, fewest) for key in zip(rows["method"], rows["label"], strict=True)]
    rows = rows[rows["annotators_per_dialogue"] == wanted]
    keys = [*_CASE, "annotators_per_dialogue"]
    wide = rows.assign(cell=intervals(rows)).set_index([*keys, "n_dialogues"])["cell"].unstack()  # noqa: PD010
    wide = wide.rename(columns=lambda n: plural(int(n), "dialogue")).reset_index()
    wide = wide.rename(columns={"annotators_per_dialogue": "Annotators each"}).astype({"Annotators each": "Int64"})
    caption = "Reliability of the order of system means, the share of their variance that is due to systems, by"
    caption += f" dialogues per system; {names.ci} by F, wide where systems are few ({span(rows['n'], 0)})."
    why = dict.fromkeys(wide.columns, "Not identified.")
    return Table(names.named(names.sort(wide)), "reliability", caption, why=why)


def boundaries(results: Results) -> Table:
    """z boundaries and p-values at each look."""
    rows = results["sequential_boundary"]
    wide = pd.DataFrame({"Share of the dialogues": [percent(float(s)) for s in rows["share"]]})
    wide["z"], wide["p"] = rows["estimate"].round(3).to_numpy(), rows["p_value"].to_numpy()
    caption = "O’Brien–Fleming boundaries. A look is significant if |z| exceeds the boundary or, equivalently, if the"
    caption += " two-sided p-value is below the one given."
    return Table(wide, "boundaries", caption, {"p": 6, "z": 3})
