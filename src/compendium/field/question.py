"""What this folder asks."""

from __future__ import annotations

from judgebook.study.questions import Question

QUESTIONS = [
    Question(
        notebook="92_human_evaluations",
        asks="What are human evaluations like?",
        uses=["planning"],
        reads=["data/atlas/*.csv"],
        sections=["bootstrap", "seeds.bootstrap"],
        across=True,
        only="atlas",
        headline="claims",
    ),
]
