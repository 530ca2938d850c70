"""Whether the accounts of a study add up: nothing that was read may be missing without a reason."""

from __future__ import annotations

import pandas as pd

from judgebook.sources.accounts.physical import SOURCES
from judgebook.study.schema import Problem

#: said where they do not: what was read is right or wrong, but its account is a defect of ours
DEFECT = "the accounts of the file do not add up: this is a defect of the reader, please report it"


def problems(counts: pd.DataFrame, n_annotations: int) -> list[Problem]:
    """What does not add up in the frame `counts` of a study that has so many annotations."""
    total = counts.groupby(["file", "what", "action"], sort=False)["n"].sum().unstack(fill_value=0)  # noqa: PD010
    total = total.reindex(columns=["read", "kept", "dropped"], fill_value=0)
    total = total[(total["read"] > 0) & (total.index.get_level_values("what") != SOURCES)]
    out = [
        Problem(
            row.Index[0],
            "",
            row.Index[1],
            f"{row.read:,} {row.Index[1]}, as were read",
            f"{row.kept:,} kept and {row.dropped:,} left out for a reason",
            DEFECT,
        )
        for row in total[total["read"] != total["kept"] + total["dropped"]].itertuples()
    ]
    judged = counts["what"].str.endswith("annotations") & (counts["action"] == "kept")
    kept = int(counts.loc[judged, "n"].sum())
    if judged.any() and kept != n_annotations:
        out.append(Problem("annotations", "", "", f"{kept:,}, as the files have", f"{n_annotations:,}", DEFECT))
    return out
