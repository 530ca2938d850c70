"""What sampling weights do to the estimates of systems: with and without them, side by side.

The difference between the two estimates is the effect of the composition of the sample: it holds more dialogues of some
kinds than the population does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from judgebook.annotations.scores import identities, item_means, kish, numbered, sampled
from judgebook.study.schema import Annotations


def composition(annotations: Annotations) -> Iterator[dict[str, Any]]:
    """Of each rate, mean and share of a system rows of `unweighted` (the estimate in which every item counts once),
    `composition_effect` (the weighted estimate minus that) and `weight_effect` (design effect of the weights, 1 + CV²).

    None without sampling weights. `n` counts items. The first has no interval: it estimates nothing in the population.
    """
    if not sampled(annotations):
        return
    scores, codes = numbered(annotations)
    heads, (items, of) = identities(scores, codes, "weights"), item_means(scores, codes)
    x, weight = items["score"].to_numpy(float), items["sampling"].to_numpy()
    n = np.bincount(of)
    plain, hajek = np.bincount(of, x) / n, np.bincount(of, weight * x) / np.bincount(of, weight)
    for i, head in enumerate(heads):
        key = {k: v for k, v in head.items() if k not in ("interval", "statistic")} | {"of": head["statistic"]}
        yield key | {"statistic": "unweighted", "estimate": plain[i]}
        yield key | {"statistic": "composition_effect", "estimate": hajek[i] - plain[i]}
        yield key | {"statistic": "weight_effect", "estimate": kish(weight[of == i])}
