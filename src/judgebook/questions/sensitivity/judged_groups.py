"""What each evaluator group judged in each corpus, as far as systems can be compared by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from judgebook.annotations.dialogue_values import DialogueValues, dialogue_values
from judgebook.annotations.picks import picks
from judgebook.annotations.scores import sampled
from judgebook.annotations.summary import main_group
from judgebook.questions.sensitivity.panels import Panel, panel
from judgebook.study.labels import METHODS
from judgebook.study.schema import Annotations

#: a system with fewer dialogues in a method is not compared
MIN_DIALOGUES = 5
#: p-values that all draws together may have; fewer draws are made of larger families, but not fewer than FEWEST_DRAWS
MOST_TESTS, FEWEST_DRAWS = 30_000_000, 100


@dataclass(frozen=True)
class JudgedGroup:
    """What one evaluator group judged in one corpus.

    panels : one per method, in the order of `labels.METHODS`, of one annotation per item, for the tests as published.
    weighted : whether dialogues have sampling weights.
    """

    corpus: str
    group: str
    panels: list[Panel]
    weighted: bool

    @property
    def dialogues(self) -> list[int]:
        """Dialogues of each system and method; of comparisons, pairs of dialogues of each pair of systems."""
        sizes = [int(n) for p in self.panels if p.unit != "pair" for n in pd.Series(p.system).value_counts()]
        return sizes + [int(p.rows_of(a, b).sum()) for p in self.panels if p.unit == "pair" for a, b in p.pairs]

    def draw_size(self, n: int) -> int | None:
        """`n`, or None where no system has more than n dialogues, so that there is nothing to draw, and where dialogues
        have sampling weights: the tests of draws know none."""
        return n if max(self.dialogues) > n and not self.weighted else None

    def n_draws(self, wanted: int) -> int:
        """How many draws are made of those wanted: fewer of very many pairs of systems and labels."""
        tests = sum(len(p.pairs) * len(p.labels) for p in self.panels)
        return min(wanted, max(FEWEST_DRAWS, MOST_TESTS // tests))


def groups(annotations: Annotations, *, systems: Sequence[str], pick_seed: int) -> list[JudgedGroup]:
    """What can be compared, by corpus and evaluator group; the group that judged most labels first.

    Systems of which a group judged fewer than MIN_DIALOGUES dialogues by a method are left out of that method; so are
    methods with fewer than two systems, and groups without a method.

    Parameters
    ----------
    annotations : DataFrame
        By people, of the evaluation itself.
    systems : sequence of str
        Those to compare, in the order of figures.
    pick_seed : int
        Of the random pick among several annotations of an item.
    """
    out = []
    annotations = annotations[annotations["system"].isin(list(systems))]
    for _, part in annotations.groupby("corpus", sort=False):
        first = main_group(part)
        for group in [first, *(g for g in sorted(part["group"].unique()) if g != first)]:
            judged_group = _group(part[part["group"] == group], systems, pick_seed)
            out += [judged_group] if judged_group.panels else []
    return out


def _group(part: Annotations, systems: Sequence[str], pick_seed: int) -> JudgedGroup:
    values = dialogue_values(next(picks(part, 1, pick_seed)))
    panels = []
    for method in METHODS:
        enough = _judged(values[values["method"] == method])
        enough_dialogues = [s for s in systems if enough.get(s, 0) >= MIN_DIALOGUES]
        if len(enough_dialogues) > 1 and (one := panel(values, method, enough_dialogues)).pairs:
            panels.append(one)
    return JudgedGroup(str(part["corpus"].iloc[0]), str(part["group"].iloc[0]), panels, sampled(part))


def _judged(values: DialogueValues) -> pd.Series:
    """How many dialogues of each system were judged, on either side of a comparison."""
    right = values[["system_b", "dialogue_b"]].dropna().set_axis(["system", "dialogue"], axis=1)
    return pd.concat([values[["system", "dialogue"]], right]).drop_duplicates().groupby("system").size()
