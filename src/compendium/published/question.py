"""What this folder asks."""

from __future__ import annotations

from judgebook.study.questions import Question

SCOREBOARD = Question(
    notebook="90_scoreboard",
    asks="Which printed numbers reproduce?",
    follows="all five, and public data sets",
    reads=["data/published/*"],
    across=True,
    only="scoreboard",
    headline="verdicts",
    results_of="compendium.published.mapping:sources",
)

QUESTIONS = [
    SCOREBOARD,
    Question(
        notebook="91_consistency_audit",
        asks="Are the papers' printed numbers consistent?",
        follows="all five",
        reads=["data/published/*"],
        requires=["embedded"],
        headline="outcomes",
    ),
]
