"""What notebook 05 compares: systems that each evaluator group judged, by published tests, which its cells make, and by
the fits of notebook 07."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgebook.annotations.dialogue_values import DialogueValues, dialogue_values
from judgebook.annotations.scores import sampled
from judgebook.annotations.summary import main_group
from judgebook.questions.performance import leading
from judgebook.study.labels import METHODS
from judgebook.study.results import Results
from judgebook.study.schema import Annotations

#: a system with fewer dialogues in a method is not compared
MIN_DIALOGUES = 5
#: p-values that all draws together may have; fewer draws are made of larger families, but not fewer than FEWEST_DRAWS
MOST_TESTS, FEWEST_DRAWS = 30_000_000, 100


@dataclass(frozen=True)
class JudgedGroup:
    """What one evaluator group judged in one corpus, as far as systems can be compared by it.

    systems : of each method, in the order of `labels.METHODS`, those compared. dialogues : of each system and method;
    of comparisons, pairs of dialogues of each pair of systems. tests : pairs of systems, label by label. weighted :
    whether dialogues have sampling weights.
    """

    corpus: str
    group: str
    systems: dict[str, list[str]]
    dialogues: list[int]
    tests: int
    weighted: bool

    def draw_size(self, n: int) -> int | None:
        """`n`, or None where no system has more than n dialogues, so that there is nothing to draw, and where dialogues
        have sampling weights: the tests of draws know none."""
        return n if max(self.dialogues) > n and not self.weighted else None

    def n_draws(self, wanted: int) -> int:
        """How many draws are made of those wanted: fewer of very many pairs of systems and labels."""
        return min(wanted, max(FEWEST_DRAWS, MOST_TESTS // self.tests))


def groups(annotations: Annotations, systems: Sequence[str]) -> list[JudgedGroup]:
    """What can be compared, by corpus and evaluator group; the group that judged most labels first.

    Systems of which a group judged fewer than MIN_DIALOGUES dialogues by a method are left out of that method; so are
    methods with fewer than two systems, and groups without a method.

    annotations : by people, of the evaluation itself. systems : those to compare, in the order of figures.
    """
    out = []
    annotations = annotations[annotations["system"].isin(list(systems))]
    for _, part in annotations.groupby("corpus", sort=False):
        first = main_group(part)
        for group in [first, *(g for g in sorted(part["group"].unique()) if g != first)]:
            one = _group(part[part["group"] == group], systems)
            out += [one] if one.systems else []
    return out


def _group(part: Annotations, systems: Sequence[str]) -> JudgedGroup:
    values, kept, dialogues, tests = dialogue_values(part), {}, [], 0
    for method in METHODS:
        rows = values[values["method"] == method]
        enough = _judged(rows)
        of_method = [s for s in systems if enough.get(s, 0) >= MIN_DIALOGUES]
        paired = METHODS[method].unit == "pair"
        rows = rows[rows["system"].isin(of_method) & (rows["system_b"].isin(of_method) | (not paired))]
        rows = rows[rows["system"] != rows["system_b"]]
        once = rows.drop_duplicates(["dialogue", "dialogue_b"])
        sides = np.sort(once[["system", "system_b"] if paired else ["system"]].to_numpy(str), axis=1)
        sizes = np.unique(sides, axis=0, return_counts=True)[1]
        pairs = len(sizes) if paired else len(of_method) * (len(of_method) - 1) // 2
        if len(of_method) > 1 and pairs:
            kept[method], tests = of_method, tests + pairs * rows["label"].nunique()
            dialogues += sizes.tolist()
    return JudgedGroup(str(part["corpus"].iloc[0]), str(part["group"].iloc[0]), kept, dialogues, tests, sampled(part))


def _judged(values: DialogueValues) -> pd.Series:
    """How many dialogues of each system were judged, on either side of a comparison."""
    right = values[["system_b", "dialogue_b"]].dropna().set_axis(["system", "dialogue"], axis=1)
    return pd.concat([values[["system", "dialogue"]], right]).drop_duplicates().groupby("system").size()


def of_group(results: Results, judged: JudgedGroup) -> Results:
    """The results of one corpus and evaluator group."""
    return results.part(corpus=judged.corpus, group=judged.group)


def of_methods(results: Results, judged: Sequence[JudgedGroup]) -> Results:
    """The results of the first corpus, of each method those of the first group that judged with it."""
    groups: dict[str, str] = {}
    for one in (one for one in judged if one.corpus == judged[0].corpus):
        groups = dict.fromkeys(one.systems, one.group) | groups
    of_corpus = results.part(corpus=judged[0].corpus)
    return Results({s: rows[rows["group"] == rows["method"].map(groups)] for s, rows in of_corpus.items()})


def compared(results: Results) -> pd.DataFrame:
    """Differences of pairs of systems by the fits, with `sure`, whether a pair is decided; of pairs that can be
    compared."""
    rows = results["contrast"].dropna(subset="ci_low")
    return rows.assign(sure=leading.decided(rows))
