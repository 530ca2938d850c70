"""What notebook 16 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.fragility import drop_few
from judgebook.questions.fragility.analysis import (
    CONTEXT,
    DATA,
    DIALOGUES,
    PERSON,
    SESSION,
    STURDY_SHARE,
)
from judgebook.questions.fragility.leaving_out import STURDY_DIALOGUES
from judgebook.study.results import Results, where

_PHRASES = Phrases(__package__)
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


def facts(results: Results, **keys: object) -> dict[str, Any]:
    """How many conclusions there are, how many are sturdy, and what the others depend on.

    keys : of which conclusions, for instance those of a corpus and group.

    Returns `n` and `examined` (looked at: all, or of very many the clearest and the most doubtful), `found` (all),
    `sturdy`, `hangs` (what, in how many conclusions, the commonest first),
    `n_specs` (most combinations that any was tested under), `open` (the choices, as HANGS_ON), `same_sign` (conclusions
    that keep their sign in all combinations), `least` (the smallest share of dialogues that reverses a sign, None where
    half of them do not), `tried` (how many annotators were left out in turn, and of how many, where most were there;
    None if nobody was), `untried` (whether for some methods nobody was), `unit` (sessions, contexts or both, one of
    which was left out in turn).
    """
    verdicts = where(results["sturdy"], **keys)
    notes = where(results["hangs_on"], **keys)["reason"].value_counts(sort=False).sort_values(ascending=False)
    open_ = set(where(results["choice_effect"], **keys)["choice"])
    share = where(results["specification_share"], **keys)
    sign = share[share["kept"] == "sign"]
    few = results.select("drop_few", dropped="dialogue", turns=drop_few.SIGN, **keys)
    least = (few["estimate"] / few["n"]).min()
    people = where(results["people_tried"], **keys)
    some = people[people["estimate"] > 0].sort_values("n_annotators")
    return {
        "n": len(verdicts),
        "examined": len(verdicts),
        "found": int(where(results["conclusions_found"], **keys)["estimate"].sum()),
        "sturdy": int(verdicts["estimate"].sum()),
        "hangs": [(HANGS_ON[what], int(n)) for what, n in notes.items()],
        "n_specs": int(share["n"].max()) if len(share) else 0,
        "open": [HANGS_ON[c] for c in HANGS_ON if c in open_],
        "same_sign": int((sign["estimate"] == 1).sum()),
        "least": None if pd.isna(least) else float(least),
        "tried": (int(some["estimate"].iloc[-1]), int(some["n_annotators"].iloc[-1])) if len(some) else None,
        "untried": 0 < len(some) < len(people),
        "unit": " or ".join(sorted(set(where(results["without_session"], **keys)["resample_unit"]), reverse=True)),
    }


def findings(results: Results, names: DisplayNames) -> Iterator[Prose]:
    """The headline: how many conclusions are sturdy, and what the others depend on; the leading system; what sturdy
    means, and the choices."""
    every = facts(results)
    yield Prose(_PHRASES.say("headline", **{key: every[key] for key in ("n", "sturdy", "hangs")}))
    first = results["first_system"]
    several = len(set(first["corpus"])) > 1
    shown = [
        {
            "method": names.name("method", method) + (f" ({names.name('corpus', corpus)})" if several else ""),
            "systems": [
                (names.name("system", s), round(share * n))
                for s, share, n in zip(rows["system"], rows["estimate"], rows["n"], strict=True)
            ],
            "n": int(rows["n"].iloc[0]),
        }
        for (corpus, method), rows in first.groupby(["corpus", "method"], sort=False)
    ]
    yield Prose(_PHRASES.say("first", shown=shown))
    thresholds = {"share": STURDY_SHARE, "dialogues": STURDY_DIALOGUES}
    yield Prose(_PHRASES.say("meaning", **{key: v for key, v in every.items() if key != "sturdy"}, **thresholds))
