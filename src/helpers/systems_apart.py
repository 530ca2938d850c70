"""From a study's annotations to the tests of notebook 05, one corpus and group of evaluators at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from helpers import power, sensitivity, values
from helpers.contrasts import Panel, panel
from helpers.labels import METHODS
from helpers.multiplicity import adjust_rows
from helpers.picks import picks
from helpers.targets import main_group

#: a system with fewer dialogues in a method is not compared
MIN_DIALOGUES = 5
#: permutations for each comparison of the largest family, so that the smallest p-value can stand its adjustment
PER_COMPARISON = 40


@dataclass(frozen=True)
class Cell:
    """The panels of one corpus and group, one a method, in the order of `labels.METHODS`.

    blocks : what dialogues are exchanged within: 'session', 'context' (where the study has no sessions, but responses
    to the same context), or 'none' where no two dialogues share either.
    """

    corpus: str
    group: str
    panels: list[Panel]
    blocks: str

    @property
    def rows(self) -> int:
        """Judged rows (dialogues, pairs) of all methods: the size of the cell. Checked by hand."""
        return sum(len(p.system) for p in self.panels)

    def smallest(self) -> int:
        """The fewest dialogues a system has in a method; pairs of systems for comparisons. Checked by hand."""
        sizes = [p.rows_of(a, b).sum() if p.unit == "pair" else min((p.system == a).sum(), (p.system == b).sum())
                 for p in self.panels for a, b in p.pairs]  # fmt: skip
        return int(min(sizes))

    def draw_size(self, n: int) -> int | None:
        """`n`, or None where no system has more than n dialogues, so that there is nothing to draw. Checked by hand."""
        counts = [pd.Series(p.system).value_counts().max() for p in self.panels if p.unit != "pair"]
        counts += [p.rows_of(a, b).sum() for p in self.panels if p.unit == "pair" for a, b in p.pairs]
        return n if max(counts) > n else None


def cells(annotations: pd.DataFrame, dialogues: pd.DataFrame, *, systems: Sequence[str], pick_seed: int) -> list[Cell]:
    """What can be compared: a cell for each corpus and group, the group that judged the most labels first.

    annotations : by people, of the evaluation itself. systems : those to compare, in the order of figures. Systems of
    which a group judged fewer than MIN_DIALOGUES dialogues by a method are left out of it; so are methods with fewer
    than two systems, and groups without a method.

    Checked by hand.
    """
    out = []
    annotations = annotations[annotations["system"].isin(list(systems))]
    for corpus, part in annotations.groupby("corpus", sort=False):
        talked = values.interactors(dialogues[dialogues["corpus"] == corpus])
        groups = sorted(part["group"].unique())
        first = main_group(part)
        for group in [first, *(g for g in groups if g != first)]:
            found = _cell(part[part["group"] == group], talked, systems, pick_seed)
            out += [found] if found.panels else []
    return out


def _cell(part: pd.DataFrame, talked: pd.Series, systems: Sequence[str], pick_seed: int) -> Cell:
    picked, blocks = next(picks(part, 1, pick_seed)), "session"
    if picked["session"].isna().all():
        picked, blocks = picked.assign(session=picked["context"]), "context"
    found = values.dialogue_values(picked)
    made = []
    for method in METHODS:
        enough = _judged(found[found["method"] == method])
        here = [s for s in systems if enough.get(s, 0) >= MIN_DIALOGUES]
        if len(here) > 1 and (one := panel(found, method, here, talked)).pairs:
            made.append(one)
    if not any(_shared(p) for p in made):
        blocks = "none"
    return Cell(str(part["corpus"].iloc[0]), str(part["group"].iloc[0]), made, blocks)


def _judged(values: pd.DataFrame) -> pd.Series:
    """How many dialogues of each system were judged, on either side of a comparison."""
    right = values[["system_b", "dialogue_b"]].dropna().set_axis(["system", "dialogue"], axis=1)
    return pd.concat([values[["system", "dialogue"]], right]).drop_duplicates().groupby("system").size()


def _shared(data: Panel) -> bool:
    """Whether any two systems meet in a session (context), or are compared."""
    systems = pd.Series(data.system).groupby(data.session).nunique()
    return data.unit == "pair" or bool((systems > 1).any())


def tests(cell: Cell, *, seed: int, within: str, n_permutations: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every pair of systems and label by the published test, Welch's t and the permutation test, on all dialogues.

    Returns rows system_difference with p-values adjusted by Holm within each label and test; and n_significant counted
    from them, which have the families over all labels, too. Families of many comparisons get more permutations
    (PER_COMPARISON).

    Checked against statsmodels: z tests of real marks, and Holm's adjustment within each family.
    """
    n_permutations = max(n_permutations, PER_COMPARISON * sum(len(p.pairs) * len(p.labels) for p in cell.panels))
    found = []
    for data in cell.panels:
        own = [sensitivity.published_tests(data)]
        own += [sensitivity.published_tests(data, "welch")] if data.published_test == "student" else []
        own.append(
            sensitivity.session_tests(data, seed=seed, within=_within(data, within), n_permutations=n_permutations)
        )
        found += own
    rows = pd.concat(found, ignore_index=True)
    rows = adjust_rows(rows, ["method", "label", "condition"], "systems of one label")
    primary = rows["condition"].str.contains("test=session")
    published = ~primary & ~rows["condition"].str.contains("test=welch")
    counts = [sensitivity.count_tests(cell.panels, rows[part]) for part in (primary, published)]
    return _marked(cell, rows), _marked(cell, pd.concat(counts, ignore_index=True))


def draws(cell: Cell, *, n: int, n_draws: int, seed: int, within: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Counts over draws of `n` dialogues a system, by the published test and the permutation test (its normal
    approximation), unadjusted and by Holm; and the tests of the first draw. See `sensitivity.count_significant`.

    Checked against `sensitivity.count_significant`, panel by panel.
    """
    within = min(_within(p, within) for p in cell.panels)  # 'interactor' only where all panels allow it
    counts, first = sensitivity.count_significant(cell.panels, n=n, n_draws=n_draws, seed=seed, within=within)
    counts = counts[~counts["condition"].str.contains("adjust=b", regex=False)]  # bh, by: only for all dialogues
    return _marked(cell, counts), _marked(cell, first)


def errors(cell: Cell, *, n: int, n_runs: int, seed: int, within: str, n_permutations: int) -> pd.DataFrame:
    """How often each test finds a difference within one system, at up to n dialogues a side: `power.null_rejection`.

    Checked against `power.null_rejection`, panel by panel.
    """
    found = []
    for data in cell.panels:
        size = min(n, int(pd.Series(data.system).value_counts().max()) // 2)
        kinds = [data.published_test, *(["dialogue_welch"] if data.row != data.unit else []), "session"]
        if data.unit == "pair":
            size = min(n, len(data.system))
        if size < 2:
            continue
        given = {"n": size, "n_runs": n_runs, "seed": seed, "within": _within(data, within)}
        found.append(power.null_rejection(data, kinds, n_permutations=n_permutations, **given))
    return _marked(cell, pd.concat(found, ignore_index=True) if found else pd.DataFrame())


def planning(cell: Cell, *, sizes: Sequence[int], n_draws: int, seed: int, within: str) -> pd.DataFrame:
    """Power of the permutation test by number of dialogues, and the difference that the observed number would find.

    Checked against `power.power_by_size` and `power.detectable`, panel by panel.
    """
    found = []
    for data in cell.panels:
        given = {"n_draws": n_draws, "seed": seed, "within": _within(data, within)}
        found.append(power.power_by_size(data, ["session"], sizes, **given))
        least = int(pd.Series(data.system).value_counts().min())
        if data.unit != "pair" and least > 1:
            found.append(power.detectable(data, least))
    return _marked(cell, pd.concat(found, ignore_index=True))


def _within(data: Panel, wanted: str) -> str:
    """`wanted`, but 'session' where nobody knows who talked."""
    return "session" if data.interactor is None and data.unit != "pair" else wanted


def _marked(cell: Cell, rows: pd.DataFrame) -> pd.DataFrame:
    if rows.empty:
        return rows
    unit = "session" if cell.blocks == "none" else cell.blocks
    if unit != "session" and "resample_unit" in rows:
        rows = rows.assign(resample_unit=rows["resample_unit"].replace("session", unit))
    return rows.assign(corpus=cell.corpus, group=cell.group)
