"""May a judge stand in for people? Decided by how much its results differ, not by how well it agrees.

A judge may stand in if the change in every system's rate (in every difference of two systems) is smaller than a margin
that the study sets: all intervals of the change lie within it. As all must, no adjustment for their number is needed
(intersection-union test). It may not if one interval lies beyond the margin; otherwise the data do not decide.

References
----------
Berger 1982, Multiparameter hypothesis testing and acceptance sampling, Technometrics 24, 295-300. Schuirmann 1987,
Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680 (two one-sided tests).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from judgebook.questions.judges.items import CASE
from judgebook.study.results import Results

#: what may be the same by judge and people -> the results that say how much it changes
CHANGES = {"rates": "rate_change", "differences": "contrast_change", "win rates": "win_rate_change"}


def decisions(results: Results, margin: Mapping[str, float]) -> Iterator[dict]:
    """From the changes of rates, of differences and of win rates (`of`), by label and judge.

    margin : label (`*`: all others) -> largest change that is harmless, in units of the label (rates and win rates: as
    shares). Without one, nothing is decided.

    Yields `judge_margin`, the smallest margin within which all changes are shown to lie, by the judge and, for rates
    and differences, by another person (`by`); missing where a change has no interval; and, where there is a margin,
    `judge_stands_in`: 1 where the judge may stand in, 0 where not, missing where that is not decided.
    """
    for of, statistic in CHANGES.items():
        rows = results[statistic]
        rows = rows if "by" in rows else rows.assign(by="model")
        for (*case, by), part in rows.groupby([*CASE, "by"], sort=False):
            head = dict(zip(CASE, case, strict=True)) | {"level": "system", "of": of, "n": len(part)}
            low, high = part["ci_low"].to_numpy(), part["ci_high"].to_numpy()
            without = int(np.sum(~np.isfinite(low) | ~np.isfinite(high)))
            note = f"no interval for {without} of {len(part)} {of}" if without else None
            least = np.nan if without else float(np.maximum(-low, high).max())
            yield head | {"statistic": "judge_margin", "by": by, "estimate": least, "note": note}
            wanted = margin.get(head["label"], margin.get("*"))
            if by != "model" or wanted is None:
                continue
            verdict, row = np.nan, {"statistic": "judge_stands_in", "margin": wanted}
            if np.any((low > wanted) | (high < -wanted)):
                verdict, note = 0.0, None
            elif least <= wanted:
                verdict = 1.0
            yield head | row | {"estimate": verdict, "note": note or _why(verdict)}


def _why(verdict: float) -> str | None:
    return "an interval contains the margin" if np.isnan(verdict) else None
