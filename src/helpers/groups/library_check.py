"""Effect sizes recomputed by established libraries, on the data of the report itself."""

from __future__ import annotations

from itertools import combinations, product

import pandas as pd

from helpers.groups.analysis import primary_pick
from helpers.groups.effects import KEY, label_scores
from helpers.study.results import Results


def compare(annotations: pd.DataFrame, results: Results, pick_seed: int) -> pd.DataFrame:
    """Cohen's d by `pingouin` and Cohen's h by `statsmodels` against the effect sizes in `results`.

    annotations, pick_seed : as given to `analysis.analyse`, which `results` come from.

    Returns one row per label, group and pair of systems: library, ours, theirs.
    """
    import pingouin
    from statsmodels.stats.proportion import proportion_effectsize

    names = [*KEY, "group", "system", "system_b"]
    ours = results.select("effect_size", resample="session").set_index(names)["estimate"].dropna()
    rows = []
    for one in label_scores(primary_pick(annotations, pick_seed)):
        scores = dict(list(one.scores.dropna(subset="score").groupby(["group", "system"])["score"]))
        for group, pair in product(one.groups, combinations(one.systems, 2)):
            key = (*one.key, group, *pair)
            if key not in ours.index:
                continue
            a, b = (scores[group, system].to_numpy() for system in pair)
            if one.effect == "d":
                theirs = {"library": "pingouin", "theirs": pingouin.compute_effsize(a, b, eftype="cohen")}
            else:
                theirs = {"library": "statsmodels", "theirs": proportion_effectsize(a.mean(), b.mean())}
            rows.append({"ours": ours[key], **theirs})
    return pd.DataFrame(rows, columns=["library", "ours", "theirs"])
