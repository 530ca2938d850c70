"""What notebook 91 says: facts from the audit, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator

from compendium.published.consistency.analysis import CONTRADICTS, FOLLOWS, Audit, by_check, failures
from judgebook.display.text import Phrases
from judgebook.display.views import Prose

_PHRASES = Phrases(__package__)


def findings(audited: Audit) -> Iterator[Prose]:
    """The headline; where each paper's checks fail; what it means that a number follows."""
    checks = by_check(audited.checks)
    firm, conditional = failures(checks)
    facts = {
        "n": len(audited.cells),
        "n_papers": len(audited.titles),
        "checks": len(checks),
        "places": len(audited.checks),
    }
    facts |= {
        name: int((audited.cells["state"] == s).sum()) for name, s in (("follow", FOLLOWS), ("against", CONTRADICTS))
    }
    yield Prose(_PHRASES.say("headline", firm=len(firm), conditional=len(conditional), **facts))
    papers = [(title, firm.loc[firm["paper"] == paper, "element"]) for paper, title in audited.titles.items()]
    yield Prose(_PHRASES.say("papers", papers=[(title, len(e), list(dict.fromkeys(e))) for title, e in papers]))
    yield Prose(_PHRASES.say("meaning"))
