"""Effect sizes recomputed by established libraries, on the data of the report itself."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pandas as pd

from judgebook.questions.groups.analysis import study_pick
from judgebook.questions.groups.effects import KEY, label_scores
from judgebook.study.results import Results
from judgebook.study.schema import Annotations

#: pairs of systems that are compared, about
MOST = 10_000


def compare(annotations: Annotations, results: Results, pick_seed: int) -> pd.DataFrame:
    """Mean |effect| of each group by `pingouin` (Cohen's d) and `statsmodels` (Cohen's h), against that in `results`.

    annotations, pick_seed : as given to `analysis.analyse`, which `results` come from.

    Labels are gone through until MOST pairs of systems were compared, which take about a second a thousand.

    Returns one row per label and group: library, ours, theirs.
    """
    import pingouin
    from statsmodels.stats.proportion import proportion_effectsize

    by = [*KEY, "group"]
    ours = results.select("mean_absolute_effect", resample="score", scope=None, pick=None, over=None)
    ours = ours.set_index(by)["estimate"].dropna()
    rows, done = [], 0
    for one in label_scores(study_pick(annotations, pick_seed)):
        scores = dict(list(one.scores.dropna(subset="score").groupby(["group", "system"])["score"]))
        if done > MOST:
            break
        done += len(one.groups) * comb(len(one.systems), 2)
        for group in one.groups:
            key = (*one.key, group)
            if key not in ours.index:
                continue
            checks = []
            for pair in combinations(one.systems, 2):
                a, b = (scores[group, system].to_numpy() for system in pair)
                cohens_d = one.effect == "d"
                checks.append(
                    pingouin.compute_effsize(a, b, eftype="cohen")
                    if cohens_d
                    else proportion_effectsize(a.mean(), b.mean())
                )
            library = "pingouin" if one.effect == "d" else "statsmodels"
            rows.append({"library": library, "ours": ours[key], "theirs": float(np.abs(checks).mean())})
    return pd.DataFrame(rows, columns=["library", "ours", "theirs"])
