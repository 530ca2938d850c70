"""What this folder asks."""

from __future__ import annotations

from judgebook.study.questions import Question

QUESTIONS = [
    Question(
        notebook="17_design_check",
        asks="Can this design answer the questions?",
        after="00_build_annotations",
        uses=["annotators", "comparisons", "performance"],
        reads=["annotations", "dialogues", "counts", "metric_scores", "dialogue_facts"],
        sections=["control_system", "unranked_systems", "heds.selection"],
        headline="loads",
        answers=["design"],
        early=True,
    ),
]
