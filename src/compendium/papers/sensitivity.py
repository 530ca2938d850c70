"""Notebook 05: how many pairs of systems differ, as printed and in this study (Finch et al. 2023, Table 4)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgebook.display import cells
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose, Table
from judgebook.questions.sensitivity.views import LABEL
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)


def printed_counts(results: Results, printed: pd.DataFrame, panels: dict[str, str]) -> pd.DataFrame:
    """Printed counts (value) and ours by the published tests: of the first draw or of all dialogues (here), and the
    smallest and largest over draws.

    printed : cells with a method as panel (`panels`), a level like `alpha_0_05` as row, a label as column.
    """
    alpha = printed["row"].str.removeprefix("alpha_").str.replace("_", ".").astype(float)
    cells = printed.assign(method=printed["panel"].map(panels), label=printed["column"], alpha=alpha)
    counted = results["n_significant"].astype({"alpha": float})
    counted["what"] = counted["summary"].where(counted["n_dialogues"].notna(), "every")
    wide = counted.set_index([*LABEL, "alpha", "what"])["estimate"].unstack("what")  # noqa: PD010 (twice must raise)
    wide = wide.reindex(columns=["first", "smallest", "largest", "every"])
    out = cells[[*LABEL, "alpha", "printed", "value"]].join(wide, on=[*LABEL, "alpha"])
    return out.assign(here=out["first"].fillna(out["every"])).dropna(subset="here").reset_index(drop=True)


def table(counted: pd.DataFrame, names: DisplayNames, element: str) -> Table:
    """`printed_counts` ready to be shown; a range only where there were draws."""
    rows = names.sort(counted)
    out = rows[LABEL].assign(Level=rows["alpha"], Printed=rows["printed"], Here=rows["here"].astype("Int64"))
    if rows["smallest"].notna().any():
        out["Over draws"] = cells.ranges(rows[["smallest", "largest"]], 0)
    caption = f"Printed counts ({element}) and counts in this study by the tests above."
    return Table(names.named(out), "beside", caption)


def said(cells: pd.DataFrame, *, same_size: bool) -> Prose:
    """How many printed counts agree, and how often another label's count would.

    cells : `printed_counts`. same_size : whether draws have the paper's number of conversations.
    """
    gap = (cells["here"] - cells["value"]).abs()
    inside = cells["value"].between(cells["smallest"], cells["largest"])
    facts = {"n": len(cells), "n_equal": int((gap == 0).sum()), "n_near": int((gap <= 1).sum())}
    facts |= {"same_size": same_size, "n_inside": int(inside.sum())}
    return Prose(_PHRASES.say("counts_said", by_chance=others_inside(cells), **facts))


def others_inside(cells: pd.DataFrame) -> float | None:
    """How often the printed count of another label of the same method and level lies inside a label's range."""
    hits, n = 0, 0
    for _, part in cells.dropna(subset="smallest").groupby(["method", "alpha"]):
        value, low, high = (part[c].to_numpy(float) for c in ("value", "smallest", "largest"))
        inside = (low[:, None] <= value[None, :]) & (value[None, :] <= high[:, None])
        hits, n = hits + inside.sum() - np.trace(inside), n + inside.size - len(part)
    return hits / n if n else None
