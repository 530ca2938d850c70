"""The work of `gate`: compute, decide, say."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from functools import partial
from math import isnan
from typing import Any

from judgebook.display.text import Phrases, number
from judgebook.extras.gate.anytime import decide_anytime
from judgebook.extras.gate.deciding import Decision, Verdict, check, decide, requirement
from judgebook.pipeline.audit.computing import output_below
from judgebook.pipeline.audit.writing import answered
from judgebook.plugins import UsageError
from judgebook.study import escape, params
from judgebook.summary.evidence import AGREEMENT, PERFORMANCE

_PHRASES = Phrases(__package__)
#: whether a requirement compares systems -> the notebooks whose results decide it
NEEDED = {True: (PERFORMANCE,), False: (AGREEMENT,)}


def command(study: str, required: list[str], values: list[str], *, anytime: bool = False) -> int:
    """Decide the requirements, or those of the study's YAML, and print each decision; returns the exit code.

    anytime : by intervals that hold at every look at data that accumulate.

    Raises UsageError for a requirement that is not understood or about something that the study does not have.
    """
    path = params.find(study)
    texts = required or params.load(path, params.parse_set(values)).gate
    if not texts:
        raise UsageError(f"{study}: no requirement: write --require TEXT, or a list `gate` in the YAML")
    each = [requirement(text) for text in texts]
    with ExitStack() as stack:
        if "COMPENDIUM_OUT" not in os.environ:
            stack.enter_context(output_below(None))
        # a sequence of looks is decided by the judgements alone
        needed = [] if anytime else [name for one in each for name in NEEDED[one.compares]]
        evidence, rows = answered(path, values, _say, needed, partial(check, each))
        decisions = [(decide_anytime if anytime else decide)(one, evidence) for one in each]
        for row in (row for row in rows if row.state == "failed"):
            print(f"notebook {row.name[:2]} failed: {row.reason}", file=sys.stderr)
    for decision in decisions:
        print(sentence(decision))
    found = [decision.verdict for decision in decisions]
    n_met, n_not = found.count(Verdict.MET), found.count(Verdict.NOT_MET)
    if together := _PHRASES.say("together", n=len(found), n_met=n_met, n_not=n_not):
        print(together)
    return Verdict.NOT_MET if n_not else Verdict.MET if n_met == len(found) else Verdict.OPEN


def _say(step: str) -> None:
    print(f"  … {step}", file=sys.stderr, flush=True)


def sentence(decision: Decision) -> str:
    """A decision as a sentence."""
    shown = "" if isnan(decision.estimate) else number(decision.estimate)
    if shown and not isnan(decision.low):
        shown += f" [{number(decision.low)}, {number(decision.high)}]"
    facts: dict[str, Any] = {"people": decision.people, "why": decision.why, "value": shown}
    facts |= {"n_differences": decision.n_differences, "n_votes": decision.n_votes, "unit": decision.unit}
    said = _PHRASES.say("decision", required=decision.required.text, verdict=int(decision.verdict), **facts)
    return escape.unmarked(said)
