"""What notebook 16 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgebook.display.cells import Cell
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose, Table
from judgebook.questions.fragility.analysis import (
    CONTEXT,
    DATA,
    DIALOGUES,
    PERSON,
    SESSION,
    STURDY_SHARE,
)
from judgebook.questions.fragility.leaving_out import STURDY_DIALOGUES
from judgebook.questions.fragility.specifications import KEYS
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)
_BY = ["corpus", *KEYS]
#: what a conclusion can depend on, for readers
HANGS_ON = {
    "workers": "quality control of workers",
    "ratings": "whether all annotations of an item are used or only one",
    "scores": "whether scores are standardised",
    "units": "whether dialogues or turns are the units",
    "people": "whether annotators are treated as a sample",
    "ties": "whether ties are kept",
    DATA: "which run is analysed",
    "choices": "several choices together",
    DIALOGUES: f"fewer than {STURDY_DIALOGUES:.0%} of the dialogues",
    PERSON: "one annotator",
    SESSION: "one session",
    CONTEXT: "one context",
}


def findings(results: Results) -> Iterator[Prose]:
    """How many conclusions are sturdy, and what the others depend on; what sturdy means, and the choices."""
    verdicts, share = results["sturdy"]["estimate"], results.select("specification_share", kept="sign")
    notes = results["hangs_on"]["reason"].value_counts(sort=False).sort_values(ascending=False)
    facts = {"n": len(verdicts), "hangs": [(HANGS_ON[what], int(n)) for what, n in notes.items()]}
    yield Prose(_PHRASES.say("headline", sturdy=int(verdicts.sum()), **facts))
    open_ = set(results["choice_effect"]["choice"])
    facts |= {
        "found": int(results["conclusions_found"]["estimate"].sum()),
        "n_specs": int(share["n"].max()) if len(share) else 0,
        "open": [HANGS_ON[c] for c in HANGS_ON if c in open_],
        "tried": results["without_person"]["without"].nunique(),
        "unit": " or ".join(sorted(set(results["without_session"]["resample_unit"]), reverse=True)),
    }
    yield Prose(_PHRASES.say("meaning", share=STURDY_SHARE, dialogues=STURDY_DIALOGUES, **facts))


def conclusions(results: Results, names: DisplayNames) -> Table:
    """Every conclusion: shares of specifications, how few dialogues or annotators reverse it, the verdict."""
    rows = results["conclusion"]
    key = pd.MultiIndex.from_frame(rows[_BY])
    out = names.pairs(rows[[*_BY, "estimate"]]).rename(columns={"estimate": "Difference"})
    for keeps, heading in (("sign", "Same sign, %"), ("significance", "Significant, %")):
        share = results.select("specification_share", kept=keeps).set_index(_BY)["estimate"]
        out[heading] = 100 * share.reindex(key).to_numpy()
    few = results["drop_few"].set_index(_BY).reindex(key)
    out["Dialogues to reverse it"] = [_of(n, total) for n, total in zip(few["estimate"], few["n"], strict=True)]
    verdict = results["sturdy"].set_index(_BY)["estimate"]
    reasons = results["hangs_on"].groupby(_BY)["reason"].agg(list).reindex(key)
    out["Sturdy?"] = ["yes" if v else "no" for v in verdict.reindex(key)]
    out["Depends on"] = ["; ".join(HANGS_ON[r] for r in each) if isinstance(each, list) else "–" for each in reasons]
    if len(set(out["corpus"])) == 1:
        out = out.drop(columns="corpus")
    caption = (
        "Conclusions of the primary analysis: pairs of systems that differ significantly on a label. Shares are of"
        " combinations of choices under which the difference has the same sign, and is also significant; combinations"
        " in which no test is possible are left out. To reverse it: the smallest number of dialogues that must be left"
        " out for the sign to change."
    )
    why = dict.fromkeys(out.columns, "Even leaving out half is not enough, or a system would have no data left.")
    out = names.named(names.sort(out))
    out = out.rename(columns={"system_b": "Other system"})
    out["Other system"] = [names.name("system", s) for s in out["Other system"]]
    return Table(out, "conclusions", caption, {"Same sign, %": 0, "Significant, %": 0}, why)


def _of(n: float, total: float) -> Cell | None:
    if pd.isna(n):
        return None
    return Cell(f"{int(n)} of {int(total)}", {"": n, "of": total})
