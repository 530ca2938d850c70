"""How long a notebook will take: as long as last time, or by the size of the data where it has not run yet."""

from __future__ import annotations

from typing import Any

#: CPU seconds of a notebook: a constant, and what is added for 10⁵ judgements and for 1,000 pairs of systems × labels.
#: Rounded from what was measured on studies of 10⁵ and 10⁶ judgements (2 cores of a cloud machine, November 2026), good
#: to about a factor of two; `python benchmarks/durations.py` fits them to what `benchmarks/size.py` measures elsewhere.
COEFFICIENTS: dict[str, tuple[float, float, float]] = {
    "00_build_annotations": (4.5, 0.3, 0.0),
    "02_collection_stats": (1.0, 0.35, 0.0),
    "03_iaa": (8.0, 6.0, 0.3),
    "04_importance": (4.0, 0.4, 0.0),
    "05_sensitivity": (6.0, 4.0, 0.15),
    "06_stepwise_coverage": (7.0, 0.3, 0.01),
    "07_bot_performance": (8.0, 4.0, 0.2),
    "08_group_effects": (10.0, 4.0, 0.4),
    "09_metric_correlation": (12.0, 4.0, 0.06),
    "14_planning": (20.0, 2.5, 0.18),
    "15_annotators": (12.0, 3.0, 0.2),
    "16_fragility": (5.0, 2.5, 0.03),
    "80_operating_characteristics": (14.0, 40.0, 0.25),
}
#: notebooks that study a few labels of each method: of how many labels the judgements count
SOME_LABELS = {"80_operating_characteristics": 10}
#: seconds from which a run says beforehand how long a notebook will take
LONG = 60.0


def estimated(name: str, profile: dict[str, Any]) -> float | None:
    """Seconds that a notebook takes with data of this size, as `profile.json` gives it; None where unknown."""
    if name not in COEFFICIENTS or "n_annotations" not in profile:
        return None
    return sum(c * x for c, x in zip(COEFFICIENTS[name], sizes(name, profile), strict=True))


def sizes(name: str, profile: dict[str, Any]) -> tuple[float, float, float]:
    """What the coefficients of a notebook are multiplied by: 1, 10⁵ judgements, 1,000 pairs of systems × labels."""
    systems, labels = len(profile.get("systems", [])), len(profile.get("labels", []))
    share = min(1.0, SOME_LABELS.get(name, labels) / max(labels, 1))
    return 1.0, share * profile["n_annotations"] / 1e5, systems * (systems - 1) / 2 * labels / 1e3


def shown(seconds: float) -> str:
    """A duration as one says it: `40 s`, `3 min`, `1.5 h`."""
    if seconds < 90:
        return f"{max(10, round(seconds, -1)):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
