"""How labels are asked for: the forms by which studies are compared."""

from __future__ import annotations

from judgebook.study.labels import Label

#: points of a scale up to which it is one of points; longer ones are used like sliders
MOST_POINTS = 11


def points(label: Label) -> int | None:
    """Points of a label's scale; None where there are more than MOST_POINTS, or it has none."""
    low, high = label.scale
    in_points = label.integer and label.level != "sets" and high - low < MOST_POINTS
    return int(high - low) + 1 if in_points else None


def form(level: str, points: float | None, unit: str) -> str:
    """`comparative`, `binary`, `likert` (3 to 11 points) or `slider`; empty for names without order, and for counts and
    magnitudes, whose width is not that of a scale. points : of the scale, None or NaN where it is continuous."""
    if unit == "pair":
        return "comparative"
    if points == 2:
        return "binary"
    if level not in ("ordinal", "interval"):
        return ""
    return "likert" if points is not None and points <= MOST_POINTS else "slider"
