"""Who judged what of a label, and the components of variance of its scores, with a mean for each system.

References
----------
Searle, Casella and McCulloch 1992, Variance Components, section 5.2 (quadratic forms equated to their expectations).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import optimize, sparse

from judgebook.study.labels import METHODS
from judgebook.study.schema import ITEM

#: what scores share, each kind within the one before it; then what they share through people
NESTED, PEOPLE = ("session", "side", "dialogue", "item"), ("annotator", "annotator_of_system")


@dataclass(frozen=True)
class AnnotationDesign:
    """Who judged what, for one method and label of one corpus and group; n annotations.

    Attributes
    ----------
    score : (n,)
        As observed; of a comparison, positive where the first of the two systems (in the order of `systems`) won.
    system : (n,)
        Position in `kinds`.
    kinds : list of (int, int)
        Positions in `systems`: a system and -1, or the two systems of a comparison.
    factors : dict from str to (n,)
        Numbers from 0, by those of NESTED and PEOPLE that the study has and that can be distinguished.
    row : (n,)
        The dialogue (pair) of each annotation, numbers from 0.
    weight : (n,)
        One over the number of annotations of the item.
    session : (rows,)
        Of each row, its own number where there is none.
    annotator : (n,)
        Numbers of known people; None where they are not known.
    """

    method: str
    label: str
    systems: list[str]
    score: np.ndarray
    system: np.ndarray
    kinds: list[tuple[int, int]]
    factors: dict[str, np.ndarray]
    row: np.ndarray
    weight: np.ndarray
    session: np.ndarray
    annotator: np.ndarray | None

    @property
    def pairwise(self) -> bool:
        return METHODS[self.method].unit == "pair"


def design(rows: pd.DataFrame, systems: list[str]) -> AnnotationDesign | None:
    """The design of the annotations of one method and label; None without two kinds of systems or two scores.

    rows : of one corpus and group, by people. systems : in their order; others are left out.
    """
    method, label = rows["method"].iloc[0], rows["label"].iloc[0]
    pairwise = METHODS[method].unit == "pair"
    place = {s: i for i, s in enumerate(systems)}
    rows = rows[rows["system"].isin(systems) & (rows["system_b"].isin(systems) if pairwise else True)]
    if pairwise:
        rows = rows[rows["system"] != rows["system_b"]]
    if rows.empty or np.ptp(rows["score"].to_numpy(float)) == 0:
        return None
    a = rows["system"].map(place).to_numpy()
    b = rows["system_b"].map(place).to_numpy() if pairwise else np.full(len(rows), -1)
    turned = pairwise & (a > b)
    low, high = (np.minimum(a, b), np.maximum(a, b)) if pairwise else (a, b)
    kinds, code = np.unique(np.column_stack([low, high]), axis=0, return_inverse=True)
    code = code.reshape(-1)  # NumPy 2.0 returns a column
    if not pairwise and len(kinds) < 2:
        return None
    row = rows.groupby(["dialogue", "dialogue_b"], dropna=False, sort=True).ngroup().to_numpy()
    session = rows["session"].where(rows["session"].notna(), rows["dialogue"].astype(str) + "\x1f").to_numpy(object)
    item = rows.groupby([c for c in ITEM if c in rows], dropna=False, sort=False).ngroup().to_numpy()
    people = pd.factorize(rows["annotator"])[0]
    who = people if rows["annotator_known"].all() and people.max() > 0 else None
    codes = {"session": pd.factorize(session)[0], "dialogue": row, "item": item}
    codes["side"] = _both(codes["session"], code)
    if who is not None:
        codes["annotator"] = who
        codes["annotator_of_system"] = _both(who, code)
    if pairwise:  # which side a person prefers is a matter of the pair: the orientation is arbitrary
        codes.pop("annotator", None)
    first = np.unique(row, return_index=True)[1]
    return AnnotationDesign(
        method, label, systems, np.where(turned, -1.0, 1.0) * rows["score"].to_numpy(float), code,
        [(int(a), int(b)) for a, b in kinds], _distinct(codes, len(rows)), row,
        (1 / rows.groupby(item)["score"].transform("size")).to_numpy(), codes["session"][first], who,
    )  # fmt: skip


def _distinct(codes: Mapping[str, np.ndarray], n: int) -> dict[str, np.ndarray]:
    """The factors that neither repeat another one nor have a level for each annotation."""
    out: dict[str, np.ndarray] = {}
    for name in ("dialogue", "session", "side", "item", *PEOPLE):  # of two that are alike the first is kept
        if name in codes and 1 < codes[name].max() + 1 < n:
            code = codes[name]
            same = [f for f in out.values() if f.max() == code.max() == _both(f, code).max()]
            if not same:
                out[name] = code
    return {name: out[name] for name in (*NESTED, *PEOPLE) if name in out}


def _both(f: np.ndarray, g: np.ndarray) -> np.ndarray:
    return pd.factorize(f.astype(np.int64) * (int(g.max()) + 1) + g)[0]


def variances(
    score: np.ndarray, system: np.ndarray, factors: Mapping[str, np.ndarray], matrix: np.ndarray | None = None
) -> dict[str, float]:
    """Variance of each factor, and of the residual, of scores with a mean for each system.

    For each factor the sum of products of residuals over pairs of scores that share a level is set equal to its
    expectation; the equations are solved with variances of at least 0. With balanced data these are the estimates of
    the analysis of variance.

    matrix : `expectations` of the design, where they are known.
    """
    matrix = expectations(system, factors) if matrix is None else matrix
    size = np.bincount(system).astype(float)
    r = score - (np.bincount(system, score) / np.maximum(size, 1))[system]
    alone = np.sum(r**2)
    target = np.array([*(np.sum(np.bincount(code, r) ** 2) - alone for code in factors.values()), alone])
    scale = np.maximum(np.abs(matrix).max(axis=1), 1.0)
    estimates = optimize.nnls(matrix / scale[:, None], target / scale)[0]
    return dict(zip([*factors, "residual"], estimates.tolist(), strict=True))


def expectations(system: np.ndarray, factors: Mapping[str, np.ndarray]) -> np.ndarray:
    """(factors + 1, factors + 1): how much each variance adds to each sum of products of `variances`."""
    n, groups = len(system), {**factors, "residual": np.arange(len(system))}
    size = np.bincount(system).astype(float)
    of_system = sparse.csr_array((np.ones(n), (system, np.arange(n))), shape=(len(size), n))
    shared = {name: _shares(code, system) for name, code in groups.items()}  # (n, systems): scores alike by system
    sums = {name: of_system @ table for name, table in shared.items()}
    matrix = np.zeros((len(groups), len(groups)))
    for i, (f, code) in enumerate(groups.items()):
        # K = G - I, pairs of different scores; the residual itself has K = I
        less = 0.0 if f == "residual" else 1.0
        inner = sums[f] - less * np.diag(size)
        for j, (g, other) in enumerate(groups.items()):
            together = np.bincount(_both(code, other)).astype(float)
            trace = np.sum(together**2) - less * n
            pairs_within = np.einsum("ns,ns->s", shared[f], shared[g]) - less * np.diag(sums[g])
            matrix[i, j] = trace - 2 * np.sum(pairs_within / size) + np.sum(inner * sums[g] / np.outer(size, size))
    return matrix


def _shares(code: np.ndarray, system: np.ndarray) -> np.ndarray:
    m = int(system.max()) + 1
    table = np.bincount(code * m + system, minlength=(int(code.max()) + 1) * m).reshape(-1, m)
    return table[code].astype(float)
