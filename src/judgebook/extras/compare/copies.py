"""Are the judgements of two runs those of the same people? Then their agreement says nothing about a repetition."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

#: judgements from which somebody is recognised: fewer may well be the same by chance
LEAST = 5


@dataclass(frozen=True)
class Copies:
    """People who judged the same and gave the same scores in both runs, and their judgements; of : judgements of the
    run that has fewer."""

    people: int
    judgements: int
    of: int

    @property
    def most(self) -> bool:
        """Whether they gave at least half of the judgements of a run."""
        return self.judgements > 0 and 2 * self.judgements >= self.of


def copies(rows: pd.DataFrame) -> Copies:
    """Whose judgements are in both runs, whatever their ids.

    Parameters
    ----------
    rows : corpus (the run), person, known, item (led by its run), pair (its comparison has two rows), system, label,
        score.

    Notes
    -----
    Somebody is recognised by everything they judged and how, where nobody else of either run did just the same: where
    all agree on the same items, the same scores are no sign of the same people.
    """
    rows = rows.assign(item=rows["item"].str.partition(" ")[2], weight=1 - rows["pair"] / 2)
    of = rows.groupby("corpus")["weight"].sum().min()
    each = pd.util.hash_pandas_object(rows[["item", "system", "label", "score"]].astype(str), index=False)
    by_person = rows.assign(mark=each.to_numpy())[rows["known"]].groupby(["corpus", "person"])
    people = by_person.agg(mark=("mark", "sum"), judgements=("weight", "sum")).reset_index()
    people = people.drop_duplicates(["corpus", "mark"], keep=False)
    both = people[people.duplicated("mark") & (people["judgements"] >= LEAST)]
    return Copies(len(both), int(both["judgements"].sum()), int(of))
