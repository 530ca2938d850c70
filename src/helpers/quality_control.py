"""The analyses of notebook 10 put together: one set of ratings, several sets of workers, result rows out.

A set of workers is named in the condition of a result row: `all`, `passed` and `failed` by the rule, `once` (passed,
and in one run only). `list=released` or `list=fitted` says that a list which the data carry stands in for the rule; a
fitted list was found by searching for printed values and confirms nothing about them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers import quality, replication, system_scores
from helpers.quality import OVERALL
from helpers.replication import finish
from helpers.resampling import generator
from helpers.schema import condition

#: fact of a dialogue that holds the verdict of a list -> name of the list
LISTS = {"released_pass": "released", "fitted_pass": "fitted"}
SETS = ("all", "passed", "failed", "once")


@dataclass(frozen=True)
class Crowd:
    """Ratings and workers of one study.

    scores : `quality.ratings` with z (worker's mean and sd of all ratings), z_last (of the last dialogue with each
    family in a work unit), and a boolean column for each of SETS and for each list.
    workers : `quality.worker_tests` with the same columns. systems : those that are ranked. corpora : the first is the
    one others are held against. families, control : as in the YAML.
    """

    scores: pd.DataFrame
    workers: pd.DataFrame
    systems: list[str]
    corpora: list[str]
    families: Mapping[str, Sequence[str]]
    control: str

    def verdicts(self, column: str = "passed") -> pd.Series:
        """Whether each worker is in a set or on a list, over (corpus, annotator).

        Checked against scipy's tests of each worker.
        """
        return self.workers.set_index(quality.WORKER)[column]

    @property
    def lists(self) -> list[str]:
        """The lists of verdicts that the data carry. Checked by hand."""
        return [name for name in LISTS.values() if name in self.workers]

    @property
    def shared(self) -> list[str]:
        """Ranked systems that occur in every corpus. Checked by hand."""
        seen = self.scores.groupby("system")["corpus"].nunique()
        return [s for s in self.systems if seen.get(s, 0) == len(self.corpora)]


def crowd(
    scores: pd.DataFrame,
    facts: pd.DataFrame,
    *,
    control: str,
    systems: Sequence[str],
    labels: Sequence[str] = (),
    alpha: float = 0.05,
    corpora: Sequence[str] = (),
    families: Mapping[str, Sequence[str]] | None = None,
) -> Crowd:
    """Test every worker, standardise the scores and form the sets of workers.

    scores : `quality.ratings`; facts : the study's dialogue facts (lists of verdicts); systems : candidates for the
    ranking, in the order of figures; those nobody rated, and the control, drop out; corpora : by default those where
    the control was rated, sorted. Raises ValueError for a corpus that the ratings do not have, and for corpora that
    share no system.

    Checked against scipy's tests of each worker, and against the verdicts that Ji et al. released.
    """
    absent = sorted(set(corpora) - set(scores["corpus"]))
    if absent:
        raise ValueError(
            f"runs: expected corpora of the study ({', '.join(sorted(set(scores['corpus'])))}), found {absent}"
        )
    names = list(corpora) or sorted(set(scores.loc[scores["system"] == control, "corpus"]))
    families, scores = dict(families or {}), scores[scores["corpus"].isin(names)].reset_index(drop=True)
    workers = quality.worker_tests(scores, control, labels)
    passed = quality.passes(workers, alpha)
    in_runs = workers.groupby("annotator")["corpus"].transform("nunique")
    sets = {"all": True, "passed": passed, "failed": ~passed, "once": passed & (in_runs == 1)}
    workers = workers.assign(**sets, **_lists(scores, facts, workers, passed))
    scores = scores.assign(z=quality.standardise(scores))
    last = quality.last_of_family(scores, families) if scores["work_unit"].notna().all() else None
    scores["z_last"] = quality.standardise(scores, last)
    for name in [*SETS, *(n for n in LISTS.values() if n in workers)]:
        scores[name] = quality.of_workers(scores, workers, workers[name]).astype(bool)
    rated = set(scores["system"]) - {control}
    out = Crowd(scores, workers, [s for s in systems if s in rated], names, families, control)
    if not out.shared:
        raise ValueError(f"runs: expected corpora with a system in common, found {names}: name those that have one")
    return out


def _lists(scores: pd.DataFrame, facts: pd.DataFrame, workers: pd.DataFrame, passed: pd.Series) -> dict[str, pd.Series]:
    """Verdicts of the lists that the facts hold, by worker; where a list says nothing of a worker, the rule's."""
    who = scores.drop_duplicates(["corpus", "dialogue"])[[*quality.WORKER, "dialogue"]]
    out = {}
    for key, name in LISTS.items():
        said = facts.loc[facts["key"] == key, ["corpus", "dialogue", "value"]].merge(who, on=["corpus", "dialogue"])
        if len(said):
            yes = said["value"].eq("yes").groupby([said[c] for c in quality.WORKER]).all()
            of = yes.reindex(pd.MultiIndex.from_frame(workers[quality.WORKER])).to_numpy(object)
            out[name] = pd.Series(of, workers.index).where(pd.notna(of), passed).astype(bool)
    return out


def agreement_with_lists(c: Crowd) -> pd.DataFrame:
    """How many workers have the same verdict by the rule and by each list the data carry: `verdict_agreement` rows.

    Checked by hand.
    """
    rows = [
        {"corpus": corpus, "estimate": (part["passed"] == part[name]).mean(), "n": len(part)}
        | {"condition": condition(list=name), "note": f"{int((part['passed'] != part[name]).sum())} differ"}
        for name in c.lists
        for corpus, part in c.workers.groupby("corpus", sort=False)
    ]
    return pd.DataFrame(rows).assign(statistic="verdict_agreement", level="worker") if rows else pd.DataFrame()


def means(c: Crowd) -> pd.DataFrame:
    """System means that have no interval: `mean_z` and `mean_raw` rows, and `qc_count` of ratings, by set and list.

    Of the set `passed`, z over all ratings and raw scores are left to `resampled`, which gives them with intervals.

    Checked by counting, and against the printed Tables 3, 8 and 9.
    """
    chosen = c.scores[c.scores["system"].isin([*c.systems, c.control])]
    out = []
    for column, keys in _selections(c).items():
        rows = chosen[chosen[column]]
        values = {"z": ("mean_z", "all"), "z_last": ("mean_z", "last"), "score": ("mean_raw", None)}
        for value, (statistic, over) in values.items():
            found = quality.system_means(rows, value)
            if keys == {"workers": "passed"} and value != "z_last":
                found = found[found["system"] == c.control]
            found["condition"] = condition(standardised=over, **keys)
            out.append(found.assign(statistic=statistic, level="dialogue"))
        n = rows.groupby(["corpus", "system"], sort=False).size().rename("estimate").reset_index()
        out.append(n.assign(statistic="qc_count", level="rating", condition=condition(what="ratings", **keys)))
    return pd.concat(out, ignore_index=True)


def _selections(c: Crowd) -> dict[str, dict[str, str]]:
    """Columns of `scores` that select ratings -> the keys of the selection. A list that equals the rule stays out."""
    differ = [name for name in c.lists if (c.workers[name] != c.workers["passed"]).any()]
    return {s: {"workers": s} for s in SETS} | {name: {"workers": "passed", "list": name} for name in differ}


def resampled(c: Crowd, *, seed: int, n_resamples: int, confidence: float) -> pd.DataFrame:
    """Everything that workers are resampled for, with `keys` still apart (see `replication.resampled`).

    Replication for every set; means and variant contrasts of all who passed; gaps between systems, and the size of
    their differences beside their standard errors, for all, passed and failed.

    Checked against means and correlations by scipy; the resamples in `replication.resampled`.
    """
    out = []
    for name in SETS:
        for scores in ("z", "raw"):
            t = _tally(c, name, scores)
            if len(t.people):
                rng = generator(seed, "replication", name, scores)
                quantities = _quantities(c, t, name, scores)
                out.append(
                    replication.resampled(t, quantities, rng=rng, n_resamples=n_resamples, confidence=confidence)
                )
    return pd.concat(out, ignore_index=True)


def _tally(c: Crowd, column: str, scores: str, value: str | None = None) -> replication.Tally:
    value = value or {"z": "z", "raw": "score"}[scores]
    return replication.tally(c.scores[c.scores[column]], value, c.corpora, c.shared)


def _quantities(c: Crowd, t: replication.Tally, name: str, scores: str) -> list[replication.Quantity]:
    keys = {"workers": name}
    over = {"standardised": "all"} if scores == "z" else {}
    passed, z = name == "passed", scores == "z"
    every, overall = None, [OVERALL]
    out = [
        replication.replication(t, c.families, labels=every if z else overall, scores=scores, **over, **keys),
        replication.levels(t, f"mean_{scores}", labels=every if passed else overall, **over, **keys),
    ]
    if z and name in ("passed", "all"):
        out.append(replication.gaps(t, scores=scores, **keys))
    if passed:
        out.append(replication.variants(t, c.families, labels=every if z else overall, scores=scores, **keys))
        out.append(replication.run_differences(t, scores=scores, **keys))
    return out


def replication_rows(c: Crowd, found: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """`replication_r` rows: with workers resampled (and the bias of that), and with Fisher's interval.

    The second kind is given for every set and list, and for z over the last dialogues too. Empty with one corpus.

    Checked against `scipy.stats.pearsonr` and its interval, and against printed r.
    """
    if len(c.corpora) < 2:
        return pd.DataFrame()
    r = found[found["statistic"] == "replication_r"]
    bias = r[["corpus", "level", "label", "n"]].assign(statistic="replication_bias", estimate=r["bias"], keys=r["keys"])
    out = [finish(r, interval="workers"), finish(bias)]
    for column, keys in _selections(c).items():
        for value, where in (("z", {"standardised": "all"}), ("z_last", {"standardised": "last"}), ("score", {})):
            scores = "raw" if value == "score" else "z"
            t = _tally(c, column, scores, value)
            if len(t.people):
                quantity = replication.replication(t, c.families, scores=scores, **where, **keys)
                rows = replication.estimates(t, [quantity])
                out.append(finish(replication.with_fisher(rows, confidence), interval="fisher"))
    return pd.concat(out, ignore_index=True)


def other_rows(found: pd.DataFrame) -> pd.DataFrame:
    """Means, contrasts and differences between runs as result rows; means that `means` gives too stay out.

    Checked against means of the ratings.
    """
    kept = found[found["statistic"].isin(["variant_contrast", "run_difference", "mean_z", "mean_raw"])]
    of_means = kept["statistic"].isin(["mean_z", "mean_raw"]).to_numpy()
    passed = np.array([k["workers"] == "passed" for k in kept["keys"]], dtype=bool)
    return finish(kept[passed | ~of_means])


def spread(found: pd.DataFrame) -> pd.DataFrame:
    """How far systems lie apart and how surely their means are known: `spread` and `standard_error` rows.

    spread : standard deviation (ddof 1) of the systems' overall means; standard_error : root mean square over systems
    of the standard error, workers resampled.

    Checked against means of the ratings, and the standard errors of means over workers.
    """
    rows = found[found["statistic"].isin(["mean_z", "mean_raw"]) & (found["label"] == OVERALL)]
    rows = rows.assign(workers=[k["workers"] for k in rows["keys"]], scores=rows["statistic"].str.removeprefix("mean_"))
    out = []
    for (corpus, workers, scores), part in rows.groupby(["corpus", "workers", "scores"], sort=False):
        values = {"spread": part["estimate"].std(), "standard_error": np.sqrt(np.mean(part["standard_error"] ** 2))}
        keys = condition(workers=workers, scores=scores)
        out += [
            {"statistic": s, "corpus": corpus, "condition": keys, "estimate": v, "n": len(part)}
            for s, v in values.items()
        ]
    return pd.DataFrame(out).assign(level="system")


def random_rows(c: Crowd, found: pd.DataFrame, *, seed: int, confidence: float, n_draws: int = 2_000) -> pd.DataFrame:
    """r of random sets of workers, as many as passed or failed: is it the choice of workers, or their number?

    `replication_r` rows (`workers` is random as passed, random as failed; median and range of n_draws sets) and
    `replication_share`, how many of them repeat at least as well as the chosen ones. Empty with one corpus.

    Checked against `replication.random_subsets`.
    """
    if len(c.corpora) < 2:
        return pd.DataFrame()
    r = found[(found["statistic"] == "replication_r") & (found["label"] == OVERALL)]
    out, tail = [], (1 - confidence) / 2
    for scores in ("z", "raw"):
        t = _tally(c, "all", scores)
        for name in ("passed", "failed"):
            sizes = c.workers[c.workers[name] & (c.workers["sd"] > 0)].groupby("corpus").size()
            rng = generator(seed, "random workers", name, scores)
            drawn = replication.random_subsets(
                t, sizes.reindex(c.corpora, fill_value=0).to_dict(), rng=rng, n_draws=n_draws
            )
            for i, corpus in enumerate(c.corpora[1:]):
                keys = {"workers": name, "scores": scores, "among": replication.SYSTEMS}
                own = [
                    row.estimate for row in r[r["corpus"] == corpus].itertuples() if keys.items() <= row.keys.items()
                ]
                out += _random(drawn[:, i], own[0] if own else np.nan, corpus, c.corpora[0], name, scores, tail)
    return pd.DataFrame(out).assign(level="system", label=OVERALL)


def _random(
    drawn: np.ndarray, own: float, corpus: str, against: str, name: str, scores: str, tail: float
) -> list[dict]:
    drawn = drawn[np.isfinite(drawn)]
    low, middle, high = np.quantile(drawn, [tail, 0.5, 1 - tail]) if len(drawn) else (np.nan,) * 3
    over = "all" if scores == "z" else None
    keys = {"against": against, "scores": scores, "among": replication.SYSTEMS, "standardised": over}
    where = condition(workers=f"random as {name}", interval="random sets", **keys)
    r = {"statistic": "replication_r", "corpus": corpus, "condition": where, "estimate": middle, "n": len(drawn)}
    r |= {"ci_low": low, "ci_high": high, "ci_kind": "range", "resample_unit": "worker"}
    share = float(np.mean(drawn >= own)) if len(drawn) and np.isfinite(own) else np.nan
    where = condition(against=against, scores=scores, workers=name)
    note = None if np.isfinite(share) else "r is undefined"
    return [
        r,
        {"statistic": "replication_share", "corpus": corpus, "condition": where, "estimate": share, "note": note},
    ]


def tests(c: Crowd) -> pd.DataFrame:
    """The rank-sum test of every two systems, for each set and list: `system_test` rows with `keys` still apart.

    Dialogues with z over all ratings; for lists with z over the last dialogues too, as the released scores have it.

    Checked against `scipy.stats.mannwhitneyu`.
    """
    out = []
    for column, keys in _selections(c).items():
        for value, over in (("z", "all"), ("z_last", "last")):
            if column == "once" or (value == "z_last" and "list" not in keys and column != "passed"):
                continue
            dialogues = quality.dialogue_means(c.scores[c.scores[column] & c.scores["system"].isin(c.systems)], value)
            found = system_scores.rank_sum_tests(dialogues, c.systems)
            every = {"scores": "z", "standardised": over, **keys}
            out.append(found.assign(keys=[every] * len(found)))
    return pd.concat(out, ignore_index=True)


def concordance(c: Crowd, tested: pd.DataFrame, found: pd.DataFrame, levels: Sequence[float]) -> pd.DataFrame:
    """`system_scores.concordance` of the rank-sum tests and of the gaps with resampled standard errors (test=wald).

    Checked by counting; see `system_scores.concordance`.
    """
    gaps = system_scores.wald(found[found["statistic"] == "system_gap"])
    both = [(tested, "rank_sum"), (gaps[[k["workers"] != "once" for k in gaps["keys"]]], "wald")]
    out = []
    for rows, test in both:
        for where in {condition(**k): k for k in rows["keys"]}.values():
            part = rows[[k == where for k in rows["keys"]]]
            out += [finish(system_scores.concordance(part, alpha), test=test, **where) for alpha in levels]
    return pd.concat(out, ignore_index=True)


def thresholds(c: Crowd, values: Sequence[float]) -> pd.DataFrame:
    """The ranking by mean z, r and the number of workers as the p-value that passes moves.

    `threshold_rank`, `replication_r` (without interval) and `qc_count` rows.

    Checked against scipy on the ratings of the workers who pass each threshold.
    """
    out = []
    for value in values:
        kept = quality.of_workers(c.scores, c.workers, quality.passes(c.workers, value)).astype(bool)
        rows = c.scores[kept]
        ranks = system_scores.ranks(quality.system_means(rows, "z"), c.systems)
        out.append(ranks.assign(statistic="threshold_rank", condition=condition(scores="z", threshold=value)))
        n = (
            rows.groupby("corpus")["annotator"]
            .nunique()
            .reindex(c.corpora, fill_value=0)
            .rename("estimate")
            .reset_index()
        )
        out.append(n.assign(statistic="qc_count", condition=condition(what="workers", threshold=value)))
        t = replication.tally(rows, "z", c.corpora, c.shared)
        quantity = replication.replication(t, {}, scores="z", standardised="all", workers="passed")
        if len(t.people) and quantity.rows:
            r = replication.estimates(t, [quantity])
            out.append(finish(r[r["label"] == OVERALL], threshold=value))
    return pd.concat(out, ignore_index=True).assign(level="system")


def criteria(c: Crowd) -> pd.DataFrame:
    """Correlation of labels over systems, raw and z, of the workers who passed (Ji et al. 2022, Table 7).

    Checked against `scipy.stats.pearsonr`, and against the printed Table 7.
    """
    out = []
    for value, scores in (("score", "raw"), ("z", "z")):
        found = quality.system_means(c.scores[c.scores["passed"]], value)
        out.append(finish(system_scores.criteria(found, c.systems), scores=scores, workers="passed"))
    return pd.concat(out, ignore_index=True)


def verdict_lists(c: Crowd) -> dict[str | None, pd.Series]:
    """Verdicts by rule (key None) and by each list that differs from it. Checked by hand."""
    keys = [k["list"] for k in _selections(c).values() if "list" in k]
    return {None: c.verdicts()} | {name: c.verdicts(name) for name in keys}
