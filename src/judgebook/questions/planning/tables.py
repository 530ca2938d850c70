"""Tables of notebook 14."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgebook.display.cells import Cell
from judgebook.display.names import DisplayNames
from judgebook.display.tables import intervals
from judgebook.display.text import percent, plural, span
from judgebook.display.views import Table
from judgebook.questions.planning.components import FACTORS
from judgebook.questions.planning.designs import SAME, SAMPLE
from judgebook.statistics.intervals import exact_binomial
from judgebook.study.results import Results, where

_CASE = ["method", "label"]
_FACTORS = {
    "session": "Sessions", "side": "System in session", "dialogue": "Dialogues", "item": "Turns",
    "annotator": "Annotators", "annotator_of_system": "Annotator × system", "residual": "Residual",
}  # fmt: skip
LOOKS = {
    "never": "One test at the end", "unadjusted": "0.05 at each look", "obrien_fleming": "O’Brien–Fleming",
    "pocock": "Pocock",
}  # fmt: skip


def variances(results: Results, names: DisplayNames, unit: str = "session") -> Table:
    """Shares of each source in the variance of a judgement. unit : what systems meet in, `session` or `context`."""
    rows = results["pilot_variance"]
    total = rows.groupby(_CASE, sort=False)["estimate"].transform("sum")
    others = total - rows["estimate"]  # the ends are shares, too, with the other variances as estimated
    for column in ("estimate", "ci_low", "ci_high"):
        rows = rows.assign(**{column: 100 * rows[column] / (rows[column] + others)})
    titles = _FACTORS | {"session": f"{unit.capitalize()}s", "side": f"System in {unit}"}
    cells = rows.assign(cell=intervals(rows, 0)).set_index([*_CASE, "facet"])["cell"].unstack()  # noqa: PD010
    wide = cells[[f for f in FACTORS if f in cells]].rename(columns=titles).reset_index()
    caption = f"Percentage of the variance of single judgements within systems, by source; {names.ci} by parametric"
    caption += " bootstrap. A source that the pilot cannot separate from others is included in one further to the"
    caption += " right, ultimately in the residual."
    why = dict.fromkeys(wide.columns, "The pilot cannot separate this source from others.")
    return Table(names.named(names.sort(wide)), "variances", caption, why=why)


def called_different(results: Results, names: DisplayNames, unit: str = "session") -> Table | None:
    """Difference in ratings between dialogues that people preferred in a comparison and the others."""
    rows = results["called_different"]
    if rows.empty:
        return None
    rows = names.sort(rows)
    wanted = results["planned_difference"].set_index(_CASE)["estimate"]
    out = rows[_CASE].assign(Difference=intervals(rows).to_numpy(), Choices=rows["n"].astype("Int64"))
    out["Worth finding"] = wanted.reindex(pd.MultiIndex.from_frame(rows[_CASE])).to_numpy()
    caption = (
        "Mean rating of the dialogue that was chosen in a comparison minus that of the other, on the same label; CI"
    )
    caption += f" clustered by {unit}. Systems that differ by this much differ, on average, as much as two dialogues of"
    caption += " which people prefer one. Worth finding: the difference for which this page plans."
    return Table(names.named(out), "called_different", caption, why={"Worth finding": "No plan for this label."})


def designs(results: Results, names: DisplayNames, *, currency: str) -> Table:
    """The cheapest design that finds the difference worth finding, and what the budget buys, label by label."""
    wanted = results["planned_difference"].set_index(_CASE)["estimate"]
    rows = names.sort(results["plan_dialogues"])
    keys = [*_CASE, "aim"]
    out = rows[keys].assign(
        **{"Worth finding": [wanted[m, x] for m, x in zip(rows["method"], rows["label"], strict=True)]}
    )
    out["Dialogues per system"] = rows["estimate"].astype("Int64")
    out["Annotators each"] = rows.get("annotators_per_dialogue", pd.Series(pd.NA, rows.index)).astype("Int64")
    detectable = where(results["plan_detectable"], people=SAME).dropna(subset="aim").set_index(keys)["estimate"]
    out["Difference found"] = detectable.reindex(pd.MultiIndex.from_frame(rows[keys])).to_numpy()
    cost = results["plan_cost"]
    if len(cost) and "aim" in cost:
        for resource, heading in {"hours": "Hours", "money": currency}.items():
            costs = cost[(cost["resource"] == resource) & cost["aim"].notna()].set_index(keys)["estimate"]
            out[heading] = costs.reindex(pd.MultiIndex.from_frame(rows[keys])).round().to_numpy()
    of = {"cheapest": "cheapest", "budget": "within the budget"}
    out["aim"] = out["aim"].map(of)
    if len(set(out["aim"])) == 1:
        out = out.drop(columns="aim")
    caption = "The design that finds the difference worth finding with the least work"
    caption += ", and the design within the budget that finds the smallest difference." if "aim" in out else "."
    caption += " Differences are in units of the label."
    notes = rows.loc[rows["estimate"].isna(), "note"].dropna().unique() if "note" in rows else []
    why = dict.fromkeys(out.columns, f"There is no such design: {'; or '.join(notes)}." if len(notes) else "")
    untimed = "The time per judgement is unknown."
    if any(c in out and (out[c].isna() & rows["estimate"].notna()).any() for c in ("Hours", currency)):
        why |= {
            c: " ".join(filter(None, [untimed, why[c].replace("There is", "Or there is")])) for c in ("Hours", currency)
        }
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
    keys = [*_CASE, "annotators_per_dialogue", "annotators"]
    wide = rows.assign(cell=intervals(rows)).set_index([*keys, "n_dialogues"])["cell"].unstack()  # noqa: PD010
    wide = wide.rename(columns=lambda n: plural(int(n), "dialogue")).reset_index()
    wide = wide.rename(columns={"annotators_per_dialogue": "Annotators each", "annotators": "Annotators"})
    wide = wide.astype({"Annotators each": "Int64", "Annotators": "Int64"})
    caption = "Reliability of system means (generalizability coefficient: the share of their variance that is due to"
    caption += " systems), by dialogues per system. Systems and annotators are treated as samples;"
    caption += (
        f" {names.ci} from {span(rows['n'], 0)} systems, wide where there are few. The intervals are approximate, and"
    )
    caption += " too narrow with few annotators."
    why = dict.fromkeys(wide.columns, "Not identified.")
    return Table(names.named(names.sort(wide)), "reliability", caption, why=why)


def annotators(results: Results, names: DisplayNames, *, each: int) -> Table | None:
    """What other annotators would add: the smallest difference with annotators treated as a sample."""
    rows = where(results["plan_detectable"], aim=None, annotators_per_dialogue=each)
    if SAMPLE not in set(rows["people"]):
        return None
    rows = _around_the_plan(results, rows)
    wide = rows.assign(cell=intervals(rows)).set_index([*_CASE, "n_dialogues", "people"])["cell"].unstack()  # noqa: PD010
    wide = wide.rename(columns={SAME: "These annotators", SAMPLE: "Annotators as a sample"}).reset_index()
    caption = f"Smallest difference found with {plural(each, 'annotator')} per dialogue, for the same annotators and"
    caption += f" for annotators as a sample, in units of the label; {names.ci}. Sizes: those nearest to the cheapest"
    caption += " design, or the largest where no design finds the difference."
    why = dict.fromkeys(wide.columns, "No difference that the scale allows is found with this power.")
    frame = names.named(names.sort(wide).rename(columns={"n_dialogues": "Dialogues per system"}))
    return Table(frame, "annotators", caption, why=why)


def _around_the_plan(results: Results, rows: pd.DataFrame) -> pd.DataFrame:
    """Of each label the sizes next to that of the cheapest design; the largest where none finds the difference."""
    plan = where(results["plan_dialogues"], aim="cheapest").set_index(_CASE)["estimate"].dropna().to_dict()
    keep = []
    for key, of_case in rows.groupby(_CASE, sort=False):
        sizes = sorted(set(of_case["n_dialogues"].dropna()))
        below = [n for n in sizes if n <= plan.get(key, np.inf)][-1:]
        above = [n for n in sizes if n > plan.get(key, np.inf)][:1]
        keep.append(of_case["n_dialogues"].isin([*below, *above]))
    return rows[pd.concat(keep).reindex(rows.index)]


def boundaries(results: Results) -> Table:
    """z boundaries and p-values at each look."""
    rows = results["sequential_boundary"]
    rows = rows[rows["looks"].isin(["obrien_fleming", "pocock"])]
    wide = pd.DataFrame({"Share of the dialogues": [percent(float(s)) for s in rows["share"].unique()]})
    for look, part in rows.groupby("looks", sort=False):
        wide[f"{LOOKS[look]}: z"] = part["estimate"].round(3).to_numpy()
        wide[f"{LOOKS[look]}: p"] = part["p_value"].to_numpy()
    caption = (
        "A look is significant if |z| exceeds the boundary or, equivalently, if the two-sided p-value is below the one"
        " given."
    )
    p = {c: 6 for c in wide if c.endswith("p")} | {c: 3 for c in wide if c.endswith("z")}
    return Table(wide, "boundaries", caption, p)


def looks(results: Results, names: DisplayNames) -> Table | None:
    """False alarms, power and dialogues used, by rule for looking: means over the simulated labels."""
    rows = results["sequential_crossing"]
    rows = rows[rows["truth"].isin(["equal", "wanted"])]
    if rows.empty:
        return None
    theory = results.select("sequential_crossing", truth="theory").set_index("looks")["estimate"]
    factor = results["sequential_inflation"].set_index("looks")["estimate"]
    used = results["sequential_sample"]
    out = []
    for how, title in LOOKS.items():
        row: dict[str, object] = {"Rule": title, "False alarms in theory, %": 100 * theory[how]}
        for truth, heading in {"equal": "False alarms, %", "wanted": "Power, %"}.items():
            of_look = where(rows, looks=how, truth=truth)
            row[heading] = _pooled(of_look)
        row["Dialogues used, %"] = 100 * where(used, looks=how, truth="wanted")["estimate"].mean()
        row["Largest sample, % of a single test’s"] = 100 * factor[how] if how in factor else None
        out.append(row)
    caption = f"Simulated studies of the planned size, over {plural(rows['label'].nunique(), 'label')}, with 95% Monte"
    caption += " Carlo intervals. False alarms: how often equal systems are found to differ; power: how often systems"
    caption += " that differ are. Dialogues used: their share of the planned ones, on average, where systems differ."
    caption += " Largest sample: the one that gives the power of a single test."
    if results["plan_power"]["times"].max() > 1:
        caption += " A single pair of systems is tested, at 5%: power is higher than where several tests share the 5%."
    why = {"Largest sample, % of a single test’s": "The test does not keep its level."}
    return Table(pd.DataFrame(out), "looks", caption, 1, why)


def _pooled(rows: pd.DataFrame) -> Cell:
    hits, n = int((rows["estimate"] * rows["n"]).round().sum()), int(rows["n"].sum())
    low, high = exact_binomial(hits, n)
    frame = pd.DataFrame({"estimate": [100 * hits / n], "ci_low": [100 * low], "ci_high": [100 * high]})
    return intervals(frame, 1).iloc[0]


def powers(results: Results, names: DisplayNames) -> Table | None:
    """Planned and simulated power of the cheapest design."""
    rows = results["plan_power"]
    if rows.empty:
        return None
    simulated = rows[rows["source"] == "simulated"].set_index(_CASE)
    planned = rows[rows["source"] == "planned"].set_index(_CASE)
    out = names.sort(simulated.reset_index())
    key = pd.MultiIndex.from_frame(out[_CASE])
    wide = out[_CASE].assign(**{
        "Annotators each": out["annotators_per_dialogue"].astype("Int64"),
        "Dialogues by formula": planned["n_dialogues"].reindex(key).astype("Int64").to_numpy(),
        "Power by formula, %": 100 * planned["estimate"].reindex(key).to_numpy(),
        "Dialogues per system": out["n_dialogues"].astype("Int64"),
        "Simulated, %": intervals(out.assign(**{c: 100 * out[c] for c in ("estimate", "ci_low", "ci_high")}), 1),
    })  # fmt: skip
    caption = "Power of the cheapest design: by formula, and in simulated studies whose annotators are drawn anew,"
    caption += (
        " analysed with the permutation test of notebook 05 (95% Monte Carlo intervals). Where the simulated power"
    )
    caption += (
        " of the size by formula is too low, as for rare marks by few annotators, the number of dialogues follows"
    )
    caption += " the simulation."
    return Table(names.named(wide), "power", caption, 1)
