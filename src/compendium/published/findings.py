"""What notebook 90 says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from compendium.published.consistency.analysis import CONTRADICTS
from compendium.published.controls import overall
from compendium.published.scoreboard import ARITHMETIC, ATTEMPTED, INCONSISTENT, apart, badge
from compendium.published.verdicts import FITTED, MATCH, NOISE, SOURCE, Sources
from judgebook.display.text import Phrases
from judgebook.display.views import Prose

_PHRASES = Phrases(__package__)


def findings(cells: pd.DataFrame, wrong: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[Prose]:
    """The headline; negative controls; what is not counted as a match; each paper."""
    n = _numbers(cells)
    yield Prose(badge(cells) if n["attempted"] else _PHRASES.say("nothing"))
    if not n["attempted"]:
        return
    yield Prose(_PHRASES.say("controls", **_controls(wrong, titles)))
    noise = cells.loc[cells["verdict"] == NOISE, "wrong_inside"].mean()
    both = int((cells["arithmetic"] == CONTRADICTS).sum()) - n["inconsistent"]
    yield Prose(_PHRASES.say("not_counted", share_inside=noise, contradicted_but_decided=both, **n))
    for name, part in apart(cells).items():
        papers = [(titles[paper], _numbers(of)) for paper, of in part.groupby("paper", sort=False)]
        yield Prose(_PHRASES.say("papers", name=name, papers=papers))


def absent(sources: Sources) -> Prose:
    """The notebooks whose results are not here."""
    missing: dict[str, list[str]] = {}
    for (study, notebook), results in sources.items():
        if results is None:
            missing.setdefault(study, []).append(notebook.split("_")[0])
    return Prose(_PHRASES.say("absent", missing=[_named(s, n) for s, n in missing.items()]))


def _named(study: str, notebooks: list[str]) -> str:
    return f"{study} (notebook{'s' if notebooks[1:] else ''} {', '.join(notebooks)})"


def _numbers(cells: pd.DataFrame) -> dict[str, int]:
    n = cells["verdict"].value_counts()
    names = {"match": MATCH, "source": SOURCE, "fitted": FITTED, "noise": NOISE}
    names |= {"arithmetic": ARITHMETIC, "inconsistent": INCONSISTENT}
    counted = {name: int(n.get(verdict, 0)) for name, verdict in names.items()}
    return counted | {"attempted": int(cells["verdict"].isin(ATTEMPTED).sum()), "printed": len(cells)}


def _controls(wrong: pd.DataFrame, titles: Mapping[str, str]) -> dict:
    """How often wrong values match: overall by kind, in how many rows a quarter or more do, and where most do."""
    if wrong.empty:
        return {"kinds": [], "weak": 0, "n": 0, "worst": None}
    share = wrong["wrong_matches"] / wrong["comparisons"]
    worst = wrong.loc[share.idxmax()]
    return {
        "kinds": [(r.control, r.wrong_matches / r.comparisons) for r in overall(wrong).itertuples()],
        "weak": int((share >= 0.25).sum()),
        "n": len(wrong),
        "worst": (titles[worst["paper"]], worst["element"], worst["control"], share.max()),
    }
