"""How long a notebook will take: as long as last time, or by the size of the data where it has not run yet."""

from __future__ import annotations

from typing import Any

from judgebook.study.questions import Question

#: judgements of a study whose data have not been read yet
USUAL = 50_000
#: seconds from which a run says beforehand how long a notebook will take
LONG = 60.0


def estimated(question: Question, profile: dict[str, Any]) -> float:
    """CPU seconds that a notebook takes with data of this size, as `profile.json` gives it; before the data have been
    read, with `USUAL` judgements. Good to about a factor of two."""
    return sum(c * x for c, x in zip(question.seconds, sizes(question, profile), strict=True))


def sizes(question: Question, profile: dict[str, Any]) -> tuple[float, float, float]:
    """What `Question.seconds` is multiplied by: 1, 10⁵ judgements, 1,000 pairs of systems × labels."""
    systems, labels = len(profile.get("systems", [])), len(profile.get("labels", []))
    share = min(1.0, question.most_labels / labels) if question.most_labels and labels else 1.0
    judgements = share * profile.get("n_annotations", USUAL)
    return 1.0, judgements / 1e5, systems * (systems - 1) / 2 * labels / 1e3


def shown(seconds: float) -> str:
    """A duration as one says it: `40 s`, `3 min`, `1.5 h`."""
    if seconds < 90:
        return f"{max(10, round(seconds, -1)):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
