"""Statistics of human evaluations: arrays in, numbers out. NumPy and SciPy, no files, no processes, no study.

Every function names what is resampled, permuted or clustered, and takes its random generator as an argument. Missing
values are NaN; what cannot be estimated is NaN with a reason beside it, never an exception. Wrong arguments raise
ValueError with the argument, what was expected and what was found.

Intervals
    Interval                   an estimate with its interval, its unit, and the reason where there is none
    bootstrap_sums             BCa interval of what depends on the data through sums: a rate, a difference of means
    bootstrap_weights          BCa interval of anything else, from how often each unit is drawn
    ratio_interval             BCa interval of a share or mean: sums over sums
    replicate_sums             the resampled values behind `bootstrap_sums`
    replicate_two_way          the resampled values where items and annotators are both resampled
    replicate_weights          the resampled values behind `bootstrap_weights`
    Replicates                 what intervals are made from
    Sampling                   how often, at which level, from which seed
    jackknife_t                Student's t from leave-one-out values, for few clusters
    exact_binomial             of a proportion (Clopper and Pearson)
    confidence_sequence        of a mean, valid at every look
    generator                  a stream of random numbers for each seed and name

Tests
    permutation_test           of any statistic, from a function that rearranges the data
    sign_flip_test             of a mean difference of pairs
    Permutation                what these return
    adjust_p_values            Holm, Benjamini-Hochberg, Benjamini-Yekutieli
    simultaneous_t             critical t of all pairs at once (Sidak)

Clustered data
    clustered_covariance       means of samples and their covariance, clustered in one way or in two
    clustered_variances        its diagonal, for many samples
    Covariance                 variances of contrasts and pairs
    pair_df                    degrees of freedom of all pairs of means
    effective_number           of clusters, where some are larger than others
    jackknife_covariance       of statistics, from their leave-one-out values

Correlation
    correlate                  Pearson, Spearman or Kendall
    pearson_interval           on Fisher's scale, of independent points
    spearman_interval          on Fisher's scale, of independent points
    weighted_correlations      of many resamples at once
    influence                  what each item contributes to a correlation
    clustered_se               standard error of a sum of contributions
    fisher_interval            from a correlation and its standard error
    rounded                    values whose ties do not depend on rounding errors

Regression
    fit_linear_mixed           crossed random effects by REML
    fit_logit                  maximum likelihood, also where answers are separated
    fit_firth                  penalised, finite under separation
    LinearMixedFit, LogitFit, FirthFit
                               what these return
    Fitness                    how well subsets of predictors fit
    all_r2                     R² of every subset
    best_of_each_size          the best subsets
    best_subset_losses         held-out losses of the best subsets

Modules are imported when one of their names is first used. Examples in docstrings run where `numpy` is `np` and these
names are imported.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgebook.statistics.clusters import (
        Covariance,
        clustered_covariance,
        clustered_variances,
        effective_number,
        jackknife_covariance,
        pair_df,
    )
    from judgebook.statistics.correlation import (
        clustered_se,
        correlate,
        fisher_interval,
        influence,
        pearson_interval,
        rounded,
        spearman_interval,
        weighted_correlations,
    )
    from judgebook.statistics.intervals import (
        Interval,
        Replicates,
        Sampling,
        confidence_sequence,
        exact_binomial,
        generator,
        jackknife_t,
    )
    from judgebook.statistics.logit import FirthFit, LogitFit, fit_firth, fit_logit
    from judgebook.statistics.multiplicity import adjust_p_values, simultaneous_t
    from judgebook.statistics.permutation import Permutation, permutation_test, sign_flip_test
    from judgebook.statistics.reml import LinearMixedFit, fit_linear_mixed
    from judgebook.statistics.resampling import (
        bootstrap_sums,
        bootstrap_weights,
        ratio_interval,
        replicate_sums,
        replicate_two_way,
        replicate_weights,
    )
    from judgebook.statistics.subsets import Fitness, all_r2, best_of_each_size, best_subset_losses

#: where the public names are
_MODULES = {
    "clusters": [
        *("Covariance", "clustered_covariance", "clustered_variances", "effective_number", "jackknife_covariance"),
        "pair_df",
    ],
    "correlation": [
        *("clustered_se", "correlate", "fisher_interval", "influence", "pearson_interval"),
        *("rounded", "spearman_interval", "weighted_correlations"),
    ],
    "intervals": [
        "Interval",
        "Replicates",
        "Sampling",
        "confidence_sequence",
        "exact_binomial",
        "generator",
        "jackknife_t",
    ],
    "logit": ["FirthFit", "LogitFit", "fit_firth", "fit_logit"],
    "multiplicity": ["adjust_p_values", "simultaneous_t"],
    "permutation": ["Permutation", "permutation_test", "sign_flip_test"],
    "reml": ["LinearMixedFit", "fit_linear_mixed"],
    "resampling": [
        *("bootstrap_sums", "bootstrap_weights", "ratio_interval"),
        *("replicate_sums", "replicate_two_way", "replicate_weights"),
    ],
    "subsets": ["Fitness", "all_r2", "best_of_each_size", "best_subset_losses"],
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Covariance",
    "FirthFit",
    "Fitness",
    "Interval",
    "LinearMixedFit",
    "LogitFit",
    "Permutation",
    "Replicates",
    "Sampling",
    "adjust_p_values",
    "all_r2",
    "best_of_each_size",
    "best_subset_losses",
    "bootstrap_sums",
    "bootstrap_weights",
    "clustered_covariance",
    "clustered_se",
    "clustered_variances",
    "confidence_sequence",
    "correlate",
    "effective_number",
    "exact_binomial",
    "fisher_interval",
    "fit_firth",
    "fit_linear_mixed",
    "fit_logit",
    "generator",
    "influence",
    "jackknife_covariance",
    "jackknife_t",
    "pair_df",
    "pearson_interval",
    "permutation_test",
    "ratio_interval",
    "replicate_sums",
    "replicate_two_way",
    "replicate_weights",
    "rounded",
    "sign_flip_test",
    "simultaneous_t",
    "spearman_interval",
    "weighted_correlations",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
