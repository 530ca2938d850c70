"""What a result row may carry: each statistic's title, the keys of its condition, and its range."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class Statistic:
    title: str
    keys: tuple[str, ...] = ()
    range: tuple[float, float] = (-inf, inf)


UNIT = (0.0, 1.0)
SIGNED = (-1.0, 1.0)

STATISTICS: dict[str, Statistic] = {
    # agreement (03)
    "alpha": Statistic("Krippendorff's alpha", ("measurement", "raters", "resample", "kind"), (-inf, 1.0)),
    "observed_disagreement": Statistic("Observed disagreement", ("measurement", "raters", "kind"), (0.0, inf)),
    "expected_disagreement": Statistic("Expected disagreement", ("measurement", "raters", "kind"), (0.0, inf)),
    "raw_agreement": Statistic("Raw agreement", ("raters", "kind"), UNIT),
    "positive_agreement": Statistic("Positive specific agreement", ("raters", "kind"), UNIT),
    "negative_agreement": Statistic("Negative specific agreement", ("raters", "kind"), UNIT),
    "prevalence": Statistic("Prevalence of a mark", ("raters", "kind"), UNIT),
    "cohen_kappa": Statistic("Cohen's kappa", ("weights", "raters", "kind"), (-inf, 1.0)),
    "fleiss_kappa": Statistic("Fleiss' kappa", ("raters", "kind"), (-inf, 1.0)),
    "icc": Statistic("Intraclass correlation", ("form", "raters", "kind"), (-inf, 1.0)),
    "generalizability": Statistic("Reliability of a system's mean", ("n_dialogues", "n_annotators", "kind"), UNIT),
    "interval_width_ratio": Statistic("Width of the dialogue interval over the turn interval", ("raters",), (0.0, inf)),
    # counts (00, 02)
    "count": Statistic("Count", ("what", "kind"), (0.0, inf)),
    "mean_count": Statistic("Mean count", ("what",), (0.0, inf)),
    "coverage": Statistic("Share judged of what could be judged", ("kind", "times"), UNIT),
    "busiest_share": Statistic("Share of the work done by the busiest annotator", (), UNIT),
    "score_share": Statistic("Share of a score among annotations", ("score", "kind"), UNIT),
    "median_minutes": Statistic("Median minutes of a work unit of one task", ("task",), (0.0, inf)),
    "unit_minutes": Statistic("Minutes of all tasks of a dialogue or pair", ("tasks",), (0.0, inf)),
    "throughput": Statistic("Dialogues or pairs an hour", ("tasks",), (0.0, inf)),
    "estimated_cost": Statistic("Cost at the hourly rate", ("tasks",), (0.0, inf)),
    "own_cost": Statistic("Cost at the payments made", ("tasks",), (0.0, inf)),
    "cost_per_label": Statistic("Estimated cost of one label of a dialogue or pair", ("tasks",), (0.0, inf)),
}
