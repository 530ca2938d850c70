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
    "alpha": Statistic(
        "Krippendorff's alpha", ("measurement", "raters", "resample", "kind", "scope", "pick", "over"), (-inf, 1.0)
    ),
    "observed_disagreement": Statistic("Observed disagreement", ("measurement", "raters", "kind"), (0.0, inf)),
    "expected_disagreement": Statistic("Expected disagreement", ("measurement", "raters", "kind"), (0.0, inf)),
    "raw_agreement": Statistic("Raw agreement", ("raters", "kind"), UNIT),
    "positive_agreement": Statistic("Positive specific agreement", ("raters", "kind", "against"), UNIT),
    "negative_agreement": Statistic("Negative specific agreement", ("raters", "kind", "against"), UNIT),
    "prevalence": Statistic("Prevalence of a mark", ("raters", "kind"), UNIT),
    "cohen_kappa": Statistic("Cohen's kappa", ("weights", "raters", "kind"), (-inf, 1.0)),
    "fleiss_kappa": Statistic("Fleiss' kappa", ("raters", "kind", "resample"), (-inf, 1.0)),
    "icc": Statistic("Intraclass correlation", ("form", "raters", "kind"), (-inf, 1.0)),
    "generalizability": Statistic("Reliability of a system's mean", ("n_dialogues", "n_annotators", "kind"), UNIT),
    "dependability": Statistic(
        "Reliability of a system's mean, level included", ("n_dialogues", "n_annotators", "kind"), UNIT
    ),
    "facet_variance": Statistic("Variance due to systems, annotators, dialogues", ("facet", "kind"), (0.0, inf)),
    "annotator_correlation": Statistic(
        "Correlation between annotators", ("coefficient", "comparison", "kind", "summary"), SIGNED
    ),
    "interval_width_ratio": Statistic("Width of the dialogue interval over the turn interval", ("raters",), (0.0, inf)),
    # validity (04)
    "r": Statistic("Correlation with quality", ("target", "kind"), SIGNED),
    "corrected_r": Statistic("Correlation, corrected for the label's unreliability", ("target",)),
    "repeat_reliability": Statistic("Reliability of one annotator's value of a dialogue", ("target",), (-inf, 1.0)),
    "r2": Statistic("R²", ("target", "kind", "k"), (-inf, 1.0)),
    "adjusted_r2": Statistic("Adjusted R²", ("target", "kind", "k"), (-inf, 1.0)),
    "mcfadden_r2": Statistic("McFadden's pseudo-R²", ("target", "kind", "k"), (-inf, 1.0)),
    "adjusted_mcfadden_r2": Statistic("Adjusted pseudo-R²", ("target", "kind", "k"), (-inf, 1.0)),
    "f_test": Statistic("F statistic of a regression", ("target",), (0.0, inf)),
    "llr": Statistic("Likelihood ratio statistic of a regression", ("target",), (0.0, inf)),
    "coefficient": Statistic("Log-odds for one standard deviation", ("target",)),
    "firth_coefficient": Statistic("Log-odds for one standard deviation, Firth's estimate", ("target",)),
    "separated": Statistic("Is the logit separated?", ("target", "kind", "k"), UNIT),
    "importance_rank": Statistic("Rank by |r| with quality, 1 the strongest", ("target",), (1.0, inf)),
    "single_source_share": Statistic(
        "Share of dialogues or pairs whose labels of a method come from one person", (), UNIT
    ),
    "label_intercorrelation": Statistic("Mean |r| between the labels of a method", (), UNIT),
    # coverage (06)
    "smallest_gain": Statistic("Smallest gain of a predictor in adjusted fit", ("target", "kind", "k")),
    "selected": Statistic("Is the label in the best subset of its size?", ("target", "kind", "k"), UNIT),
    "selection_frequency": Statistic("Share of half-samples that select the label", ("target", "kind"), UNIT),
    "close_subsets": Statistic("Subsets nearly as good as the best", ("target", "kind", "within"), (0.0, inf)),
    "criterion_met": Statistic("Does the label reach the threshold?", ("criterion", "threshold"), UNIT),
    "n_kept": Statistic("Labels that reach the threshold", ("criterion", "threshold"), (0.0, inf)),
    # sensitivity (05, 80)
    "system_difference": Statistic("Difference between two systems", ("test", "within", "sample", "n_dialogues")),
    "n_significant": Statistic(
        "Pairs of systems told apart", ("test", "alpha", "family", "adjust", "n_dialogues", "summary"), (0.0, inf)
    ),
    "null_rejection": Statistic("Share of true nulls rejected", ("test", "alpha", "n_dialogues", "within"), UNIT),
    "power": Statistic("Power", ("test", "alpha", "n_dialogues", "effect", "size", "within"), UNIT),
    "detectable_effect": Statistic(
        "Smallest difference found with the stated power",
        ("test", "alpha", "n_dialogues", "power", "scale"),
        (0.0, inf),
    ),
    # operating characteristics (80)
    "interval_coverage": Statistic(
        "Share of intervals that hold the truth", ("of", "interval", "over", "sample", "n", "marks", "scenario"), UNIT
    ),
    "interval_width": Statistic(
        "Mean width of an interval", ("of", "interval", "over", "sample", "n", "marks", "scenario"), (0.0, inf)
    ),
    "interval_power": Statistic(
        "Share of intervals that exclude 0", ("of", "interval", "over", "sample", "n", "marks", "scenario"), UNIT
    ),
    "false_crossing": Statistic(
        "Share of equal systems told apart when tested after each conversation",
        ("test", "alpha", "n_dialogues", "looks"),
        UNIT,
    ),
    "top_share": Statistic("Largest bootstrap share of first place", ("of", "n", "systems", "point"), UNIT),
    "group_difference_bias": Statistic("Bias of a difference between groups", ("of", "scenario", "n")),
    # pilots and screening (01)
    "pilot_passed": Statistic("Does the system pass its pilot?", ("least",), UNIT),
    "alpha_gain": Statistic("Difference of alpha on the same dialogues", ("against", "resample", "scope")),
    "screening_pass_rate": Statistic(
        "Share of those who tried that passes the screening", ("by", "of", "task", "tries"), UNIT
    ),
    # counts (00, 02)
    "count": Statistic("Count", ("what", "kind", "scope"), (0.0, inf)),
    "mean_count": Statistic("Mean count", ("what",), (0.0, inf)),
    "coverage": Statistic("Share judged of what could be judged", ("kind", "times"), UNIT),
    "busiest_share": Statistic("Share of the work done by the busiest annotator", (), UNIT),
    "score_share": Statistic("Share of a score among annotations", ("score", "kind"), UNIT),
    "median_minutes": Statistic("Median minutes of one task a dialogue or pair", ("task",), (0.0, inf)),
    "unit_minutes": Statistic("Minutes of all tasks of a dialogue or pair", ("tasks",), (0.0, inf)),
    "throughput": Statistic("Dialogues or pairs an hour", ("tasks",), (0.0, inf)),
    "estimated_cost": Statistic("Cost at the hourly rate", ("tasks",), (0.0, inf)),
    "own_cost": Statistic("Cost at the payments made", ("tasks",), (0.0, inf)),
    "cost_per_label": Statistic("Estimated cost of one label of a dialogue or pair", ("tasks",), (0.0, inf)),
    # rates and means (07)
    "rate": Statistic("Share of units with the mark", ("interval", "outcome"), UNIT),
    "mean": Statistic("Mean score", ("interval", "outcome")),
    "share": Statistic("Share of comparisons won, tied or lost", ("interval", "outcome"), UNIT),
    "rate_summary": Statistic(
        "Rate over systems together, its ends, or the share without the mark", ("summary",), UNIT
    ),
    "design_effect": Statistic(
        "Variance of the mean over that of independent scores", ("of", "outcome", "unit"), (0.0, inf)
    ),
    # ranking (07, 11)
    "win_rate": Statistic("Win rate", ("ties", "interval"), UNIT),
    "first_place_share": Statistic("Bootstrap share of first place", ("of", "resample"), UNIT),
    "rank": Statistic("Rank, 1 the best", ("of", "resample"), (1.0, inf)),
    "bradley_terry": Statistic("Bradley-Terry strength (log, mean 0)", ("resample",)),
    # effects and groups (08)
    "effect_size": Statistic("Effect size between two systems", ("effect", "resample"), (-inf, inf)),
    "mean_absolute_effect": Statistic(
        "Mean absolute effect size over pairs of systems",
        ("effect", "resample", "scope", "pick", "over", "sides"),
        (0.0, inf),
    ),
    "group_difference": Statistic(
        "Mean absolute difference of effect sizes between groups",
        ("effect", "resample", "without", "scope", "pick", "over", "sides"),
        (0.0, inf),
    ),
    "effect_difference": Statistic("Difference of an effect size between groups", ("effect", "resample")),
    "group_difference_debiased": Statistic(
        "Difference of effect sizes between groups beyond noise", ("effect", "resample", "scale")
    ),
    "equivalence_margin": Statistic(
        "Smallest margin within which groups are equivalent", ("effect", "margin", "resample"), (0.0, inf)
    ),
    "group_difference_null": Statistic(
        "Group difference to expect by chance", ("effect", "exchange", "point", "scope", "pick"), (0.0, inf)
    ),
    "group_difference_test": Statistic(
        "Group difference, tested by permutation", ("effect", "exchange", "scope", "pick"), (0.0, inf)
    ),
    "conclusion_count": Statistic(
        "Pairs of systems by agreement of conclusions", ("effect", "resample", "of", "margin", "verdict"), (0.0, inf)
    ),
    "wrong_inside": Statistic(
        "Share of other labels' printed values inside the range over picks", ("of", "sides", "scope"), UNIT
    ),
    # metrics and people (09)
    "correlation": Statistic("Correlation with people", ("coefficient", "resample", "scope"), SIGNED),
    "mean_correlation": Statistic("Mean correlation", ("average", "coefficient", "over", "resample"), SIGNED),
    "correlation_difference": Statistic(
        "Difference of two metrics' correlations", ("against", "coefficient", "over", "test"), (-2.0, 2.0)
    ),
    "reliability": Statistic("Reliability of the mean rating", ("coefficient", "form"), (-inf, 1.0)),
    "reliability_ceiling": Statistic("Highest correlation to expect", ("coefficient", "form"), UNIT),
    "replaceability": Statistic("Agreement with the other annotators", ("coefficient", "of"), (-2.0, 2.0)),
    "metric_correlation": Statistic("Correlation of two metrics", ("against", "coefficient"), SIGNED),
    # judges (13)
    "precision": Statistic("Share of the model's marks that a person confirms", ("against",), UNIT),
    "recall": Statistic("Share of a person's marks that the model finds", ("against",), UNIT),
    "judge_alpha": Statistic("Alpha of a model with people", ("measurement", "pair"), (-inf, 2.0)),
    "judge_rate": Statistic("Rate or mean of a system, by who judged", ("raters",)),
    "judge_contrast": Statistic("Difference of two systems, by who judged", ("raters",)),
    "rate_change": Statistic("Change of a rate with another judge", ("by",)),
    "contrast_change": Statistic("Change of a difference with another judge", ("by",)),
    "judge_rank_correlation": Statistic("Order of systems, model against people", ("coefficient",), SIGNED),
    "judge_conclusions": Statistic("Pairs of systems by who tells them apart", ("verdict",), (0.0, inf)),
    "winning_rate": Statistic("Share of annotators whom a model passes", ("cost", "test"), UNIT),
    "advantage_probability": Statistic("Share of items on which a model is as close as a person", (), UNIT),
    # quality control (10)
    "qc_count": Statistic(
        "Workers, work units, dialogues, ratings", ("what", "workers", "list", "threshold"), (0.0, inf)
    ),
    "pass_rate": Statistic("Share that passes quality control", ("of", "list"), UNIT),
    "verdict_agreement": Statistic("Share of workers with the same verdict by rule and by list", ("list",), UNIT),
    "minutes_per_dialogue": Statistic("Minutes a dialogue", ("workers", "list"), (0.0, inf)),
    "opinion_share": Statistic("Share of an opinion on the topic", ("opinion", "workers", "list"), UNIT),
    "same_topic_share": Statistic("Share of dialogues of one task with the same topic", (), UNIT),
    "median_length": Statistic("Median length", ("of", "unit", "workers", "list"), (0.0, inf)),
    "crowd_cost": Statistic("Cost of a run", ("per",), (0.0, inf)),
    "worker_pair_r": Statistic("Correlation of two workers", ("control", "of", "pairs", "workers")),
    "mean_z": Statistic("Mean standardised score", ("list", "standardised", "workers")),
    "mean_raw": Statistic("Mean score", ("list", "workers")),
    "replication_r": Statistic(
        "Correlation of system scores between runs",
        ("against", "among", "interval", "list", "scores", "standardised", "threshold", "workers"),
        SIGNED,
    ),
    "replication_bias": Statistic(
        "Bias of resampled correlations", ("against", "among", "scores", "standardised", "workers"), (-2.0, 2.0)
    ),
    "replication_share": Statistic(
        "Share of random sets of workers that repeat better", ("against", "scores", "workers"), UNIT
    ),
    "spread": Statistic("Standard deviation of system means", ("scores", "workers"), (0.0, inf)),
    "standard_error": Statistic("Standard error of a system's mean", ("scores", "workers"), (0.0, inf)),
    "system_test": Statistic("Probability of a higher rating", ("list", "scores", "standardised", "workers"), UNIT),
    "system_gap": Statistic("Difference of two systems' means", ("scores", "workers")),
    "variant_contrast": Statistic("Variant less plain system", ("scores", "workers")),
    "run_difference": Statistic("Difference of a system's mean between runs", ("against", "scores", "workers")),
    "concordance": Statistic(
        "Agreement of conclusions between runs",
        ("against", "alpha", "list", "of", "scores", "standardised", "test", "workers"),
    ),
    "criteria_correlation": Statistic(
        "Correlation of two labels over systems", ("coefficient", "list", "scores", "workers"), SIGNED
    ),
    "threshold_rank": Statistic("Rank of a system as the threshold moves", ("scores", "threshold"), (1.0, inf)),
    # techniques (11)
    "technique_win_rate": Statistic("Win rate under a technique", ("technique", "ties"), UNIT),
    "technique_score": Statistic("Rate or mean of a system under a technique", ("technique",)),
    "effective_win_rate": Statistic(
        "How often a system scores higher than another", ("technique", "ties", "data"), UNIT
    ),
    "turn_rate": Statistic("Share won or marked at a turn", ("turn",), UNIT),
    "turn_coefficient": Statistic("What a mark at a turn adds to the final rating", ("turn",)),
    "same_winner": Statistic("Ratings name the same winner as comparisons", ("technique", "against"), UNIT),
    "tied_share": Statistic("Share of ties", ("technique", "against", "of"), UNIT),
    "same_sitting": Statistic("Comparisons made in the work unit of a rating", ("technique", "against"), UNIT),
    "technique_seconds": Statistic("Mean seconds of a conversation or comparison", ("technique", "of"), (0.0, inf)),
    "technique_uses": Statistic("Comparisons that a conversation stands in", ("technique",), (0.0, inf)),
    "technique_power": Statistic(
        "Share of studies that find the difference", ("technique", "alpha", "conversations", "hours"), UNIT
    ),
    "technique_false_positive": Statistic(
        "Share of equal systems told apart", ("technique", "alpha", "conversations", "hours"), UNIT
    ),
    "hours_to_power": Statistic("Hours until the stated power", ("technique", "alpha", "power"), (0.0, inf)),
    "hours_to_significance": Statistic("Hours until a test is first significant", ("technique", "alpha"), (0.0, inf)),
    "technique_false_crossing": Statistic(
        "Share of equal systems told apart when tested after each rating", ("technique", "alpha"), UNIT
    ),
    "chunk_sd": Statistic(
        "Standard deviation of win rates over parts of equal working time", ("technique", "minutes", "of"), (0.0, inf)
    ),
    "message_check": Statistic("Conversations or people that fail a check of messages", ("check", "of"), (0.0, inf)),
    # moderation (12)
    "annotator_score_share": Statistic(
        "Share of a score among an annotator's judgements", ("annotator", "score"), UNIT
    ),
    "agreement_count": Statistic(
        "Items by the number of annotators who agree", ("score", "annotators", "definition"), (0.0, inf)
    ),
    "kappa_bound": Statistic("Fleiss' kappa that numbers of agreeing annotators allow", ("end", "data"), (-inf, 1.0)),
    "moderation_count": Statistic("Judgements by outcome", ("outcome",), (0.0, inf)),
    "moderation_share": Statistic("Share of an outcome", ("outcome", "interval", "data"), UNIT),
    "moderation_lead": Statistic("Wins less losses of one system against another", (), (-1.0, 1.0)),
    "flagged_rate": Statistic("Share of judgements that flag a reply", ("interval",), UNIT),
    "overlap": Statistic("Mean overlap with the reference reply"),
    # the papers' printed numbers (91)
    "audit_places": Statistic("Places where a check was made", ("assumed", "outcome", "paper", "rule"), (0.0, inf)),
    "audit_numbers": Statistic("Printed numbers", ("paper", "state"), (0.0, inf)),
    # what reproduces (90)
    "printed_numbers": Statistic("Printed numbers", ("paper", "verdict"), (0.0, inf)),
    "control_match_rate": Statistic(
        "Share of printed numbers that match a wrong value", ("control", "element", "paper"), UNIT
    ),
    # mixed models
    "variance_component": Statistic("Variance component", ("model", "part", "scale"), (0.0, inf)),
    "variance_share": Statistic("Share of variance", ("model", "part", "scale"), UNIT),
    "system_effect": Statistic("Effect of a system, adjusted", ("model", "reference", "scale")),
}
