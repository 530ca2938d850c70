"""`jb.fit`: the model of one label, from a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import expit

from judgebook.errors import JudgebookError
from judgebook.model import comparisons, designs, every_look, next_votes, ratings
from judgebook.model.comparisons import Comparisons
from judgebook.model.contrasts import Levels
from judgebook.model.fit import PEOPLE, SIDE, Fit, Judgements, coded, crossed

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


class FitError(JudgebookError, ValueError):
    """A frame that no model can be fitted to; says which column and what is expected."""


@dataclass(frozen=True)
class FittedModel:
    """One label's model and what follows from it, as frames.

    fit : estimates and covariance as arrays. direction : 1 where a high level is good, -1 where it is bad.
    """

    fit: Fit = field(repr=False)
    direction: int = 1
    confidence: float = 0.95

    @property
    def levels(self) -> pd.DataFrame:
        """A row per system, the best first: estimate (points, or log strength), se, p_best, expected_rank, tier."""
        better = self._better
        rows = {
            "estimate": self.fit.levels.estimates,
            "se": np.sqrt(np.diag(self.fit.levels.covariance)),
            "p_best": better.p_best,
            "expected_rank": better.expected_rank,
            "tier": better.tiers(self.confidence),
        }
        frame = pd.DataFrame(rows, index=pd.Index(self.fit.systems, name="system"))
        return frame.iloc[np.argsort(-better.estimates, kind="stable")]

    @property
    def contrasts(self) -> pd.DataFrame:
        """A row per pair of systems: estimate (first less second), se, df, low and high of all pairs at once, p_value
        of the pair alone, p_adjusted of all pairs, and decided, whether the interval excludes 0."""
        d, names = self.fit.levels.differences(self.confidence), np.array(self.fit.systems)
        columns = ("estimate", "se", "df", "low", "high", "p_value", "p_adjusted", "decided")
        pairs = {"system": names[d.first], "system_b": names[d.second]}
        return pd.DataFrame(pairs | {name: getattr(d, name) for name in columns})

    @property
    def covariates(self) -> pd.DataFrame:
        """A row per covariate of comparisons: estimate (log odds by one unit more), se, low, high; wins, of 100 votes
        between equal systems that are no ties, those for the side with one unit more, with wins_low and wins_high."""
        slopes, nothing = self.fit.slopes, np.zeros(0)
        names = [] if slopes is None else slopes.names
        x, se = (nothing, nothing) if slopes is None else (slopes.estimates, slopes.errors)
        half = nothing if slopes is None else slopes.half_widths(self.confidence)
        ends = {"": x, "_low": x - half, "_high": x + half}
        rows = {"estimate": x, "se": se, "low": ends["_low"], "high": ends["_high"]}
        rows |= {f"wins{end}": 100 * expit(value) for end, value in ends.items()}
        return pd.DataFrame(rows, index=pd.Index(names, name="covariate"))

    @property
    def moved(self) -> pd.DataFrame:
        """A row per system, in the order of `levels`: estimate, by how much covariates being equal raises its log
        strength, with low and high of each alone; empty without covariates."""
        slopes = self.fit.slopes
        if slopes is None:
            return pd.DataFrame({"estimate": [], "low": [], "high": []}, dtype=float)
        half = (slopes.half_widths(self.confidence) / slopes.errors).max()  # of the fewest degrees of freedom
        error = half * np.sqrt(np.diag(slopes.moved_covariance))
        rows = {"estimate": slopes.moved, "low": slopes.moved - error, "high": slopes.moved + error}
        return pd.DataFrame(rows, index=pd.Index(self.fit.systems, name="system")).loc[self.levels.index]

    @property
    def components(self) -> pd.DataFrame:
        """A row per part of the variance: variance, share in the variance of judgements of one system, and note, why a
        part is left out, or is not that of annotators alone."""
        alone = {part: self.fit.confounded for part in PEOPLE}
        rows = [(part, v, self.fit.shares[part], alone.get(part, "")) for part, v in self.fit.variances.items()]
        rows += [(part, np.nan, np.nan, why) for part, why in self.fit.left_out.items()]
        return pd.DataFrame(rows, columns=["part", "variance", "share", "note"]).set_index("part")

    @property
    def p_best(self) -> pd.Series:
        """By system, the best first: chance of being the best."""
        return self.levels["p_best"]

    def predict(self, dialogues: int, annotators: int, per_dialogue: int = 1) -> dict[str, float]:
        """What a balanced design would tell, if judgements vary as in this one.

        dialogues : per system. annotators : in all, each judging all systems. per_dialogue : judgements of a dialogue,
        by different annotators. Returns se of a difference of two systems, and difference_found, the smallest that is
        found with 80% power by the criterion of `contrasts`.

        Raises FitError for comparisons, or where there are more judgements of a dialogue than annotators.
        """
        if self.fit.log_nu is not None:
            raise FitError("predict: expected a model of ratings, found one of comparisons")
        if not 1 <= per_dialogue <= annotators:
            raise FitError(f"predict: expected from 1 to {annotators} judgements per dialogue, found {per_dialogue}")
        design = designs.Design(dialogues, per_dialogue, annotators, len(self.fit.systems))
        difference = designs.found(self.fit, design, confidence=self.confidence)
        return {"se": designs.error(self.fit, design)[0], "difference_found": difference}

    @property
    def anytime(self) -> pd.DataFrame:
        """Of comparisons, a row per pair of systems as in `contrasts`: estimate, low, high and decided, which hold at
        every look at votes that accumulate.

        Raises FitError for ratings.
        """
        levels, names = self._votes("anytime").levels, np.array(self.fit.systems)
        (i, j), half = levels.pairs, every_look.halves(levels, self.confidence)
        gap = levels.estimates[i] - levels.estimates[j]
        rows = {"system": names[i], "system_b": names[j], "estimate": gap, "low": gap - half, "high": gap + half}
        return pd.DataFrame(rows | {"decided": np.abs(gap) > half})

    @property
    def contenders(self) -> list[str]:
        """Of comparisons, the systems that may be the best, which holds at every look; one alone is the best.

        Raises FitError for ratings.
        """
        self._votes("contenders")
        may = every_look.contenders(self._better, self.confidence)
        return [s for s in self.levels.index if may[self.fit.systems.index(s)]]

    def next_votes(self, n: int) -> pd.DataFrame:
        """Which pairs the next n voters should compare, on new prompts, so that the best system is known soon: a row
        per pair with votes, the most first. Empty where it is known.

        Raises FitError for ratings, or where n is less than 1.
        """
        fit, names = self._votes("next_votes"), np.array(self.fit.systems)
        if n < 1:
            raise FitError(f"next_votes: expected 1 vote or more, found {n}")
        votes = next_votes.allocate(fit, n, self.confidence, direction=self.direction)
        i, j = fit.levels.pairs
        rows = pd.DataFrame({"system": names[i], "system_b": names[j], "votes": votes}).query("votes > 0")
        return rows.sort_values("votes", ascending=False, kind="stable", ignore_index=True)

    def _votes(self, name: str) -> Fit:
        if self.fit.log_nu is None:
            raise FitError(f"{name}: expected a model of comparisons, found one of ratings")
        return self.fit

    @property
    def _better(self) -> Levels:
        return self.fit.levels.reversed() if self.direction < 0 else self.fit.levels

    def __repr__(self) -> str:
        whom = "other annotators like these" if self.fit.others else "these annotators"
        n = sum(self.contrasts["decided"])
        head = f"{self.fit.n} judgements of {len(self.fit.systems)} systems, for {whom}; {n} of "
        return f"{head}{len(self.contrasts)} differences decided\n{self.levels.round(3).to_string()}"


def fit(
    frame: IntoDataFrame,
    *,
    system: str | Sequence[str],
    score: str,
    item: str | None = None,
    context: str | None = None,
    annotator: str | None = None,
    covariates: Sequence[str] | Mapping[str, tuple[str, str]] = (),
    direction: int = 1,
    confidence: float = 0.95,
) -> FittedModel:
    """Fit the model of one label to a frame of judgements; no study is made of it.

    Parameters
    ----------
    frame : of pandas, polars or pyarrow; one row per judgement. Rows without a score are left out.
    system : the column of systems. Of comparisons the columns of the two: `("left", "right")`.
    score : the column of scores, numbers. Of comparisons: 1 where the first wins, -1 where the second does, 0 of a tie;
        or the name of the system that wins, anything else being a tie.
    item : the column of what was judged (a dialogue of one system). None: each row is an item, or with a context each
        system's answer to it.
    context : the column of what several systems answered, such as a prompt.
    annotator : the column of people. None: unknown, and all that is said is about these annotators.
    covariates : of comparisons, what besides systems may decide votes: columns of numbers, of the first side less the
        second, or name -> the columns of both sides. "side" stands for being first, if no column is called so.
        Levels are then those of systems that are equal in all of these: a choice, as longer answers may be better ones.
    direction : 1 where a high score is good, -1 where it is bad.

    Raises
    ------
    FitError : a column is not there or has gaps, scores are no numbers, or there are not two systems.

    Examples
    --------
    >>> import pandas as pd
    >>> import judgebook as jb
    >>> rows = [(f"prompt {i}", s, who, 2 + (s == "new") + (i * i + k * i) % 3)
    ...         for i in range(24) for s in ("old", "new") for k, who in enumerate("ABC")]
    >>> frame = pd.DataFrame(rows, columns=["prompt", "bot", "rater", "fluency"])
    >>> model = jb.fit(frame, system="bot", score="fluency", context="prompt", annotator="rater")
    >>> model.contrasts[["system", "system_b", "estimate", "decided"]].round(2).values.tolist()
    [['new', 'old', 1.0, True]]
    """
    import narwhals

    pair = [system] if isinstance(system, str) else list(system)
    if len(pair) not in (1, 2):
        raise FitError(f"system: expected one column, or the two of comparisons, found {len(pair)}")
    if direction not in (-1, 1):
        raise FitError(f"direction: expected 1 or -1, found {direction!r}")
    both_sides = dict(covariates) if isinstance(covariates, Mapping) else {name: (name,) for name in covariates}
    if both_sides and len(pair) == 1:
        raise FitError("covariates: expected a model of comparisons, found one of ratings")
    if not 0 < confidence < 1:
        raise FitError(f"confidence: expected more than 0 and less than 1, found {confidence!r}")
    named = [*pair, score, *(c for c in (item, context, annotator) if c is not None)]
    table = narwhals.from_native(frame, eager_only=True)
    constant = {name for name, of in both_sides.items() if of == (SIDE,) and SIDE not in table.columns}
    named += [c for name, of in both_sides.items() for c in of if name not in constant]
    if absent := [name for name in named if name not in table.columns]:
        raise FitError(f"column {absent[0]!r}: expected one of {', '.join(table.columns)}")
    rows = table.select(list(dict.fromkeys(named))).to_pandas().dropna(subset=score).reset_index(drop=True)
    if rows.empty:
        raise FitError(f"column {score!r}: expected scores, found none")
    for name in named:
        if rows[name].isna().any():
            raise FitError(
                f"column {name!r}: expected a value in every row, found none in row {rows[name].isna().argmax()}"
            )
    people = coded(rows[annotator])[0] if annotator else None
    try:
        if len(pair) == 2:
            both, systems = coded(pd.concat([rows[pair[0]], rows[pair[1]]], ignore_index=True))
            n = len(rows)
            where = coded(rows[context])[0] if context else np.arange(n)
            names = tuple(map(str, systems))
            votes = _votes(rows, pair, score)
            measured = {name: _covariate(rows, of, constant=name in constant) for name, of in both_sides.items()}
            made = comparisons.fit(Comparisons(names, both[:n], both[n:], votes, where, people, covariates=measured))
        else:
            made = ratings.fit(_ratings(rows, pair[0], score, item, context, people))
    except ValueError as error:
        raise FitError(str(error)) from error
    return FittedModel(made, direction, confidence)


def _covariate(rows: pd.DataFrame, of: Sequence[str], *, constant: bool) -> np.ndarray:
    if constant:
        return np.ones(len(rows))
    for column in of:
        values = pd.to_numeric(rows[column], errors="coerce")
        if values.isna().any():
            raise FitError(f"column {column!r}: expected numbers, found {rows[column][values.isna()].iloc[0]!r}")
    first, *second = (rows[column].to_numpy(float) for column in of)
    return first - second[0] if second else first


def _ratings(
    rows: pd.DataFrame, system: str, score: str, item: str | None, context: str | None, people: np.ndarray | None
) -> Judgements:
    values = pd.to_numeric(rows[score], errors="coerce").to_numpy(float)
    if np.isnan(values).any():
        raise FitError(f"column {score!r}: expected numbers, found {rows[score][np.isnan(values)].iloc[0]!r}")
    code, systems = coded(rows[system])
    shared = coded(rows[context])[0] if context else None
    if item:
        of_item = crossed(coded(rows[item])[0], code)
    else:
        of_item = np.arange(len(rows)) if shared is None else crossed(shared, code)
    place = crossed(of_item, people) if people is not None else np.arange(len(rows))
    first = np.unique(place, return_index=True)[1]
    means = np.bincount(place, values) / np.bincount(place)
    return Judgements(
        tuple(map(str, systems)),
        code[first],
        of_item[first],
        (of_item if shared is None else shared)[first],
        None if people is None else people[first],
        means,
        marks=set(np.unique(values)) <= {0.0, 1.0},
    )


def _votes(rows: pd.DataFrame, pair: Sequence[str], score: str) -> np.ndarray:
    values = pd.to_numeric(rows[score], errors="coerce")
    if values.isin([-1, 0, 1]).all():
        return values.to_numpy(float)
    won, lost = (rows[score].astype(str) == rows[side].astype(str) for side in pair)
    if not (won | lost).any():
        raise FitError(f"column {score!r}: expected 1, 0 and -1, or the name of the system that wins")
    return won.to_numpy(float) - lost.to_numpy(float)
