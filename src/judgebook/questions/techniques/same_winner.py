"""Do ratings of two dialogues and a comparison of them favour the same one?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from judgebook.questions.techniques.sittings import QUESTION, TechniqueData
from judgebook.questions.techniques.win_rates import ratio, stream


def same_winner(data: TechniqueData, *, seed: int, n_resamples: int, confidence: float) -> Iterator[dict]:
    """Agreement of pairwise techniques with those that judge a dialogue at a time, all pairs of systems together.

    Yields rows of `same_winner`: how often both name the same winner where neither ties, pairs of dialogues resampled;
    `tied_share` of either; and `same_sitting`: the share of comparisons made together with a rating of one of the two
    dialogues, which are no second opinion.
    """
    techniques = [(a, b) for a in data.techniques if data.compares(a) for b in data.techniques if not data.compares(b)]
    for compared, rated in techniques:
        both = joined(data.sittings[compared], data.sittings[rated])
        for key, rows in both.groupby(QUESTION, sort=False):
            head = dict(zip(QUESTION, key, strict=True)) | {"level": "pair", "technique": compared, "against": rated}
            head |= {"method": data.techniques[compared].method, "n": len(rows)}
            for of, column in ((compared, "value"), (rated, "difference")):
                yield head | {"statistic": "tied_share", "of": of, "estimate": float((rows[column] == 0).mean())}
            together = same_sitting(rows, data.sittings[rated])
            yield head | {"statistic": "same_sitting", "estimate": together}
            decided = rows[rows["agrees"].notna()]
            if len(decided):
                rng, won = stream(seed, "same winner", compared, rated, *key), decided["agrees"].to_numpy(float)
                size = {"n_resamples": n_resamples, "confidence": confidence}
                found = ratio(decided, won, np.ones(len(won)), rng=rng, **size)
                yield head | {"statistic": "same_winner"} | found


def joined(compared: pd.DataFrame, rated: pd.DataFrame) -> pd.DataFrame:
    """Comparisons of which both dialogues were rated in the same corpus and group on the same label.

    compared, rated : `sittings`; several ratings of a dialogue are averaged. Returns the comparisons with `difference`
    (of the two ratings) and `agrees`: 1 where both name the same winner, 0 where they name different ones, missing
    where either ties.
    """
    mean = rated.groupby([*QUESTION, "dialogue"])["value"].mean()
    left, right = (
        mean.reindex(pd.MultiIndex.from_frame(compared[[*QUESTION, c]].rename(columns={c: "dialogue"}))).to_numpy()
        for c in ("dialogue", "dialogue_b")
    )
    out = compared.assign(difference=left - right)
    out = out[out["difference"].notna()]
    product = np.sign(out["difference"]) * np.sign(out["value"])
    return out.assign(agrees=np.where(product == 0, np.nan, product > 0))


def same_sitting(compared: pd.DataFrame, rated: pd.DataFrame) -> float:
    """Share of comparisons that their annotator made in the same work unit as a rating of one of the two dialogues.

    compared, rated : `sittings`. Those whose work unit is not known count as made separately.
    """
    work = ["annotator", "work_unit"]
    seen = pd.MultiIndex.from_frame(rated.dropna(subset=["work_unit"])[[*work, "dialogue"]])
    sides = [pd.MultiIndex.from_frame(compared[[*work, c]]).isin(seen) for c in ("dialogue", "dialogue_b")]
    return float(np.mean(sides[0] | sides[1]))
