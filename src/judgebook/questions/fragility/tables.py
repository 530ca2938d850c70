"""Tables of notebook 16."""

from __future__ import annotations

import pandas as pd

from judgebook.display import captions
from judgebook.display.cells import Cell
from judgebook.display.many import DRAWN
from judgebook.display.names import DisplayNames
from judgebook.display.views import Table
from judgebook.questions.fragility import drop_few
from judgebook.questions.fragility.findings import HANGS_ON
from judgebook.questions.fragility.leaving_out import KEPT, LOST, TURNED
from judgebook.questions.fragility.specifications import KEYS
from judgebook.study.results import Results

_BY = ["corpus", *KEYS]


def conclusions(results: Results, names: DisplayNames) -> Table:
    """Every conclusion: shares of specifications, how few dialogues or annotators reverse it, the verdict."""
    rows = results["conclusion"]
    key = pd.MultiIndex.from_frame(rows[_BY])
    out = names.pairs(rows[[*_BY, "estimate"]]).rename(columns={"estimate": "Difference"})
    for keeps, heading in (("sign", "Same sign, %"), ("significance", "Significant, %")):
        share = results.select("specification_share", kept=keeps).set_index(_BY)["estimate"]
        out[heading] = 100 * share.reindex(key).to_numpy()
    few = results["drop_few"]
    headings = {
        ("dialogue", drop_few.SIGN): "Dialogues to reverse it",
        ("dialogue", drop_few.SIGNIFICANCE): "Dialogues to lose significance",
        ("annotator", drop_few.SIGN): "Annotators to reverse it",
    }
    for (dropped, turns), heading in headings.items():
        needed = few[(few["dropped"] == dropped) & (few["turns"] == turns)].set_index(_BY) if len(few) else few
        if len(needed):
            needed = needed.reindex(key)
            out[heading] = [_of(n, total) for n, total in zip(needed["estimate"], needed["n"], strict=True)]
    verdict = results["sturdy"].set_index(_BY)["estimate"]
    reasons = results["hangs_on"].groupby(_BY)["reason"].agg(list).reindex(key)
    out["Sturdy?"] = ["yes" if v else "no" for v in verdict.reindex(key)]
    out["Depends on"] = ["; ".join(HANGS_ON[r] for r in each) if isinstance(each, list) else "–" for each in reasons]
    if len(set(out["corpus"])) == 1:
        out = out.drop(columns="corpus")
    caption = (
        "Conclusions of the primary analysis: pairs of systems that differ significantly on a label. Shares are of"
        " combinations of choices under which the difference has the same sign, and is also significant; combinations"
        " in which no test is possible are left out. To reverse it: how many dialogues (the smallest number) or"
        " annotators (an upper bound) must be left out for the sign to change. To lose significance: how many dialogues"
        " must be left out before a plain t test is no longer significant (an upper bound). Its level is the one that"
        " Holm's adjustment leaves this pair, given the p-values of the others."
    )
    why = dict.fromkeys(
        out.columns,
        "Even leaving out half is not enough, a system would have no data left, or the column does not apply.",
    )
    out = names.named(names.sort(out))
    out = out.rename(columns={"system_b": "Other system"})
    out["Other system"] = [names.name("system", s) for s in out["Other system"]]
    return Table(out, "conclusions", caption, {"Same sign, %": 0, "Significant, %": 0}, why)


def _of(n: float, total: float) -> Cell | None:
    if pd.isna(n):
        return None
    return Cell(f"{int(n)} of {int(total)}", {"": n, "of": total})


def people(results: Results, names: DisplayNames) -> Table | None:
    """Annotators without whom a conclusion is lost."""
    rows = results["without_person"]
    rows = rows[rows["verdict"] != KEPT] if len(rows) else rows
    if rows.empty:
        return None
    counts = rows.groupby("without", sort=False)["verdict"].value_counts().unstack(fill_value=0)  # noqa: PD010
    frame = counts.reindex(columns=[LOST, TURNED], fill_value=0).sort_values([TURNED, LOST], ascending=False)
    frame = frame.head(DRAWN).rename(columns={LOST: "No longer significant", TURNED: "Reversed"})
    frame = frame.rename_axis("Annotator").rename_axis(None, axis=1).reset_index()
    n = len(results["conclusion"])
    caption = (
        f'How many of {n} conclusions are lost without each annotator (pseudonyms). "No longer significant" includes'
    )
    caption += " cases in which a system has no data left."
    return Table(frame, "people", captions.joined(caption, captions.chosen(len(frame), len(counts), "annotators")), 0)
