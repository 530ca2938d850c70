"""Somebody who knows a study, and answers what `new` asks about its file."""

from __future__ import annotations

import re

from doors.layouts import Saved
from doors.studies import Study

#: the first words of questions -> our column
_ROLES = {
    "Which column names the system?": "system",
    "Which column or key names the system?": "system",
    "Who judged?": "annotator",
    "What is one item?": "item",
}
#: what is always so of studies that are drawn: questions, and the beginning of what is true
_TRUE = {
    "Is the file the whole study?": "yes",
    "Which annotators are language models?": "people",
    r"Is (?:a high score of|being chosen for) .* good or bad\?": "good",
    r"Which side do .* say won\?": "the first",
}


def ask(study: Study, saved: Saved):
    """What is typed for a question: the number of the answer that is true, else of `leave it open`."""

    def typed(prompt: str) -> str:
        text, *lines = prompt.splitlines()
        text = text.partition(": ")[2]
        choices = [m[1] for line in lines if (m := re.fullmatch(r"  [0-9]+  (.*)", line))]
        place = next((i for i, c in enumerate(choices, 1) if _holds(study, saved, text, c)), len(choices))
        return str(place)

    return typed


def _holds(study: Study, saved: Saved, text: str, choice: str) -> bool:
    """Whether an answer is true as far as the study says."""
    for begin, role in _ROLES.items():
        if text.startswith(begin):
            each = {"by person": "each column of scores is a person", "by system": "each column of scores is a system"}
            if role not in saved.columns and len(study.labels) == 1 and saved.layout in each:
                return choice.startswith(each[saved.layout])
            return choice in (f"the column {saved.columns.get(role)!r}", f"{saved.columns.get(role)!r}")
    for form, true in _TRUE.items():
        if re.match(form, text):
            return choice.startswith(true)
    if re.match(r"Which scale was offered for ", text):
        ends = {x.scale for x in study.labels if x.scale and x.name in text}
        return any(choice in (f"{a:g} to {b:g}", f"`scale: [{a:g}, {b:g}]`") for a, b in ends)
    if text.startswith("What do the names of columns combine with a label?"):
        return choice == "the system" and saved.layout == "by system"
    if about := re.match(r"What is '(.*)', ", text):
        return choice.startswith("a label" if _scores(study, saved, about[1]) else ("a setting", "no judg"))
    if about := re.match(r"Does '(.*)' hold judgements", text):
        return choice.startswith("yes" if _scores(study, saved, about[1]) else "no")
    if about := re.match(r"What is (.*) in ", text):
        return choice.startswith("no answer") and all(w.strip("'") == study.missing for w in about[1].split(", "))
    return False


def _scores(study: Study, saved: Saved, column: str) -> bool:
    """Whether a column holds scores: those of a label, of a person or of a system, or of one of these on a label."""
    labels = [x.name for x in study.labels]
    if saved.layout not in ("by person", "by system"):
        return column in labels
    sides = {key[2 if saved.layout == "by person" else 1] for key in study.answers}
    return column in (sides if not saved.names_label else labels) or any(
        column.startswith(label) and column.endswith(side) for label in labels for side in sides
    )
