"""What earlier studies of evaluation examined: check marks of Finch et al. 2023, Table 2, counted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pandas as pd

from compendium.published import numbers
from compendium.published.mapping import title
from judgebook.display.text import Phrases
from judgebook.display.views import Prose, Table

_PHRASES = Phrases(__package__)
PAPER, FILE, OWN = "finch2023", "finch2023_table02.csv", "this_work"


def marks() -> pd.DataFrame:
    """Studies x aspects, as booleans, in the order of print; the paper itself is the row OWN."""
    cells = numbers.labels(FILE)
    wide = cells.pivot(index="row", columns="column", values="value") == "1"  # noqa: PD010
    return wide.loc[cells["row"].unique(), cells["column"].unique()]


def views(examined: pd.DataFrame) -> Iterator[Prose | Table]:
    """Whether an earlier study examined all aspects, and which two aspects none examined together; all pairs."""
    earlier, names = examined.drop(index=OWN), {aspect: title(PAPER, aspect) for aspect in examined}
    together, counts = earlier.astype(int).T @ earlier.astype(int), earlier.sum(axis=1)
    never = [(names[a].lower(), names[b].lower()) for a, b in combinations(names, 2) if not together.at[a, b]]
    who = [title(PAPER, study) for study in counts.index[counts == counts.max()]]
    facts = {"n": len(earlier), "aspects": len(names), "own": int(examined.loc[OWN].sum()), "never": never}
    facts |= {"most": int(counts.max()), "who": who}
    yield Prose(_PHRASES.say("survey", all=int((counts == len(names)).sum()), **facts))
    table = together.rename(columns=names).assign(Aspect=list(names.values()))[["Aspect", *names.values()]]
    caption = f"Earlier studies, of {len(earlier)}, that examined both aspects; diagonal: that examined it."
    yield Table(table.reset_index(drop=True), "survey", caption)
