"""What notebooks 04 and 06 can and cannot say about Finch et al. 2023, where a study has less than theirs.

What differs from the paper's design is read from the study: who rated what is predicted, how many dialogues there are,
which labels are absent, and which predictors come from the same people and form as the target.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from judgebook.annotations.dialogue_values import COMPARATIVE_QUALITY, DIALOGUE_QUALITY
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.validity.tables import ROWS, TITLES
from judgebook.questions.validity.targets import Targets
from judgebook.study.labels import LABEL_SETS
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)
#: the label set of the paper
PAPER = "abc_eval"
POWER = 0.8


def reach(study_targets: Targets, results: Results, names: DisplayNames, label_set: str | None, section: str) -> Prose:
    """Prose for a study with the paper's labels whose target is external, or which lacks some of them; else nothing.

    results : of the notebook. section : whose claim is meant, `7.3` (notebook 04) or `7.4` (06).
    """
    have = set(study_targets.values[["method", "label"]].drop_duplicates().itertuples(index=False, name=None))
    parts: dict[str, list[bool]] = {}
    for label in LABEL_SETS[PAPER] if label_set == PAPER else ():
        parts.setdefault(label.method, []).append((label.method, label.id) in have)
    absent = [(names.name("method", m), sum(flags), len(flags)) for m, flags in parts.items() if not all(flags)]
    if not parts or not (study_targets.external or absent):
        return Prose("")
    sizes = [
        {"title": TITLES[t], "n": len(d.y), "row": ROWS[t], "paper": _IN_PAPER[t], "least": detectable(len(d.y))}
        for t, d in study_targets.designs.items()
    ]
    shared = [names.name("method", m) for m in study_targets.shared] if study_targets.external else []
    facts = {"section": section, "external": study_targets.external, "sizes": sizes, "absent": absent}
    return Prose(_PHRASES.say("reach", differences=_differences(results, names), shared=shared, **facts))


#: rows of the paper's models (sections 6 and 7.2)
_IN_PAPER = {DIALOGUE_QUALITY: 400, COMPARATIVE_QUALITY: 184}


def detectable(n: int, alpha: float = 0.05) -> float:
    """The correlation that a test on n independent rows finds with a probability of POWER (Fisher's z)."""
    return float(np.tanh((ndtri(1 - alpha / 2) + ndtri(POWER)) / np.sqrt(max(n - 3, 1))))


def _differences(results: Results, names: DisplayNames) -> list[dict]:
    rows, out = results["fit_difference"].dropna(subset="ci_low"), []
    for row in rows.to_dict("records"):
        a, b = (names.name("method", row[key]) for key in ("method", "other"))
        leader, other = (a, b) if row["ci_low"] > 0 else (b, a)
        facts = {"a": a, "b": b, "leader": leader, "other": other, "title": TITLES[row["target"]], "row": row}
        out.append(facts | {"open": bool(row["ci_low"] <= 0 <= row["ci_high"])})
    return out
