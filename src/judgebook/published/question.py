"""What this folder asks."""

from __future__ import annotations

from judgebook.study.questions import Question

QUESTIONS = [
    Question(
        notebook="90_scoreboard",
        asks="Which printed numbers reproduce?",
        follows="all five, and public data sets",
        reads=["data/published/*"],
        across=True,
        only="scoreboard",
        headline="verdicts",
    ),
    Question(
        notebook="91_consistency_audit",
        asks="Are the papers' printed numbers consistent?",
        follows="all five",
        reads=["data/published/*"],
        requires=["embedded"],
        headline="outcomes",
    ),
]
