"""Designs where no study is the pilot: from what somebody says of how scores vary, or from public studies like the one
that is planned (`data/atlas`); and what `plan` prints of them.

What a plan rests on is one number: the variance of a dialogue's value among the dialogues of a system, relative to the
squared width of the scale. Its logarithm is taken to vary normally between studies, and between the labels of a study;
the next study is one more. So its number of dialogues is uncertain in two ways, which are kept apart: by what studies
differ in, and by how few of them there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from judgebook.display.text import Phrases, plural
from judgebook.model.designs import MOST, chance, fewest
from judgebook.study import escape
from judgebook.study.labels import Label

#: points of a scale up to which it is one of points; longer ones are used like sliders
MOST_POINTS = 11
#: studies, at least, that a plan may rest on
FEWEST = 5
#: quantiles of what the next study may be like
_QUANTILES = (np.arange(100) + 0.5) / 100
#: of the variance of one judgement, by what varies
_SHARED = ("variance_session", "variance_dialogue")
_ALONE = ("variance_annotator", "variance_annotator_of_system", "variance_residual")
_KEYS = ["study", "corpus", "group", "method", "label"]
#: agreements that are gone through where none is stated, and annotators per dialogue
AGREEMENTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
PER_DIALOGUE = (1, 2, 3)
_PHRASES = Phrases(__package__)
WIDTH = 100
#: scales of which there is one
_ENDS = {"comparative": (-1.0, 1.0), "binary": (0.0, 1.0)}


def points(label: Label) -> int | None:
    """Points of a label's scale; None where there are more than MOST_POINTS, or it has none."""
    low, high = label.scale
    in_points = label.integer and label.level != "sets" and high - low < MOST_POINTS
    return int(high - low) + 1 if in_points else None


def form_of(level: str, points: float | None, unit: str) -> str:
    """`comparative`, `binary`, `likert` (3 to 11 points) or `slider`; empty for names without order, and for counts and
    magnitudes, whose width is not that of a scale. points : of the scale, None or NaN where it is continuous."""
    if unit == "pair":
        return "comparative"
    if points == 2:
        return "binary"
    if level not in ("ordinal", "interval"):
        return ""
    return "likert" if points is not None and points <= MOST_POINTS else "slider"


def form(labels: pd.DataFrame) -> pd.Series:
    """`form_of` of labels of the atlas; missing where there is none."""
    columns = (labels[name] for name in ("level", "points", "unit"))
    found = [form_of(*row) or pd.NA for row in zip(*columns, strict=True)]
    return pd.Series(found, labels.index, dtype="string")


def words(labels: pd.DataFrame) -> dict[str, list[str]]:
    """What a label of the atlas can be asked for by: what it is about, how it was asked, who judged."""
    of = {"kind": labels["kind"], "form": form(labels), "judges": labels["judges"]}
    return {name: sorted(column.dropna().unique()) for name, column in of.items()}


def comparable(labels: pd.DataFrame, asked: Sequence[str]) -> pd.DataFrame:
    """Labels of the atlas that have all of these words (`words`)."""
    of = labels.assign(form=form(labels))
    keep = of["form"].notna()
    for name, choices in words(labels).items():
        for word in asked:
            if word in choices:
                keep &= of[name].eq(word).fillna(False)
    return labels[keep]


def nearest(labels: pd.DataFrame, values: pd.DataFrame, asked: Sequence[str], annotators: int) -> list[str]:
    """The words of `asked` that at least FEWEST studies have: without who judged, without what it is about, without
    both, where these are too few; none where even then they are.

    labels, values, annotators : as of `log_variances`.
    """
    of = words(labels)
    for out in ((), ("judges",), ("kind",), ("judges", "kind")):
        kept = [word for word in asked if not any(word in of[name] for name in out)]
        rows = log_variances(comparable(labels, kept), values, annotators)
        if kept and rows["study"].nunique() >= FEWEST:
            return kept
    return []


def log_variances(labels: pd.DataFrame, values: pd.DataFrame, annotators: int) -> pd.DataFrame:
    """`study` and `log_variance` of labels of the atlas whose variance is known (`variances`), other than 0."""
    relative = variances(labels, values, annotators)
    out = pd.DataFrame({"log_variance": np.log(relative.where(relative > 0))}).dropna()
    return out.reset_index()[["study", "log_variance"]]


def once(labels: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Labels of the atlas without answers that another study has, too: where the components of variance of labels of
    two studies are the same to all digits, the label stays from which its study answers."""
    parts = values[values["statistic"].isin([*_SHARED, *_ALONE]) & (values["estimate"] > 0)].sort_values("statistic")
    same = parts.groupby(_KEYS)["estimate"].agg(tuple).rename("same").reset_index()
    same = same[same["same"].map(len) > 2].merge(labels[[*_KEYS, "main"]], on=_KEYS)
    same = same.sort_values("main", ascending=False, kind="stable")
    again = same[same.duplicated("same") & (same["study"] != same.groupby("same")["study"].transform("first"))]
    return labels[~pd.MultiIndex.from_frame(labels[_KEYS]).isin(pd.MultiIndex.from_frame(again[_KEYS]))]


def variances(labels: pd.DataFrame, values: pd.DataFrame, annotators: int) -> pd.Series:
    """Variances of values of dialogues, each the mean of so many annotators of its own, by label, in squared widths of
    the scale; labels for which it is not known are left out.

    labels, values : `labels.csv` and `values.csv` of the atlas; judgements that are means of several people are left
    out. A label of which no dialogue was judged twice does not
    say what further annotators average out, and counts for one only.
    """
    names = [*_SHARED, *_ALONE]
    labels = once(labels[labels["aggregated"] == 0], values)
    part = values[values["statistic"].isin(names)]
    wide = part.pivot_table(index=_KEYS, columns="statistic", values="estimate", aggfunc="first")
    known = labels.set_index(_KEYS).join(wide.reindex(columns=names), how="inner")
    known = known[known["variance_residual"].notna() & ((annotators == 1) | (known["twice"] > 0))].fillna(
        dict.fromkeys(names, 0.0)
    )
    variance = known[list(_SHARED)].sum(axis=1) + known[list(_ALONE)].sum(axis=1) / annotators
    return variance / (known["high"] - known["low"]) ** 2


@dataclass(frozen=True)
class Reference:
    """What a label of the next study may be like: a location-scale t distribution of its log variance.

    mean, sd : of the distribution. df : degrees of freedom of its spread. n_labels, n_studies : that the mean is of.
    """

    mean: float
    sd: float
    df: int
    n_labels: int
    n_studies: int

    def quantile(self, share: np.ndarray) -> np.ndarray:
        """Log variances below which these shares of labels lie."""
        return self.mean + self.sd * stdtrit(self.df, share)

    def after(self, dialogues: int, pairwise: bool = False) -> Reference:
        """After a pilot of so many dialogues of each of two systems (comparisons of a pair), on average: the logarithm
        of its variance varies by 2 / degrees of freedom, and both are weighted by their precision."""
        pilot = 2 / ((1 if pairwise else 2) * (dialogues - 1))
        return Reference(self.mean, (1 / (1 / self.sd**2 + 1 / pilot)) ** 0.5, self.df, self.n_labels, self.n_studies)


def reference(rows: pd.DataFrame, of_form: pd.DataFrame | None = None) -> Reference:
    """The distribution of a label of another study.

    rows : `log_variances` of the labels that are like it. of_form : of all labels of its form, at least two studies:
    how much studies, and the labels of a study, differ is taken to be the same whatever they are about, because five
    studies say little of it. None: `rows`.
    """
    spread = rows if of_form is None else of_form
    return _next(rows["study"], rows["log_variance"], _components(spread["study"], spread["log_variance"]))[0]


def nested(study: pd.Series, values: pd.Series) -> tuple[Reference, float]:
    """The distribution of the value of a label of another study, and the standard error of its mean.

    study, values : of labels, of at least two studies.
    """
    return _next(study, values, _components(study, values))


def _next(study: pd.Series, values: pd.Series, components: tuple[float, float, int]) -> tuple[Reference, float]:
    """The mean weighted by what each study's varies by, and the spread of the next label around it.

    References
    ----------
    Higgins, Thompson and Spiegelhalter 2009, JRSS A 172, 137-159, sec. 3.2 (prediction; t, studies less one degrees).
    """
    across, inside, df = components
    groups = values.groupby(study)
    size, mean = groups.size().to_numpy(float), groups.mean().to_numpy()
    if across + inside == 0:
        return Reference(float(mean.mean()), 0.0, df, len(values), len(size)), 0.0
    weight = 1 / (across + inside / size)
    centre, error = float((weight * mean).sum() / weight.sum()), 1 / weight.sum()
    sd = float(np.sqrt(across + inside + error))
    return Reference(centre, sd, df, len(values), len(size)), float(np.sqrt(error))


def _components(study: pd.Series, values: pd.Series) -> tuple[float, float, int]:
    """Variance across studies, inside a study, and degrees of freedom of the former.

    References
    ----------
    Searle, Casella and McCulloch 1992, Variance Components, ch. 3.6 (by moments, groups of unequal size).
    """
    groups = values.groupby(study)
    size, mean = groups.size().to_numpy(float), groups.mean().to_numpy()
    n, k = size.sum(), len(size)
    within = groups.apply(lambda y: ((y - y.mean()) ** 2).sum()).sum()
    inside = within / (n - k) if n > k else 0.0
    between = (size * (mean - (size * mean).sum() / n) ** 2).sum() / (k - 1)
    across = max((between - inside) / ((n - (size**2).sum() / n) / (k - 1)), 0.0)
    return float(across), float(inside), k - 1


@dataclass(frozen=True)
class Likely:
    """Dialogues per system, or comparisons per pair; None where more than `model.designs.MOST`.

    dialogues : that find the difference with the wanted probability, on average over labels like these. low, high :
    what the middle 80% of them need.
    """

    annotators: int
    dialogues: int | None
    low: int | None
    high: int | None


def likely(
    known: Reference,
    difference: float,
    annotators: int,
    *,
    pairwise: bool = False,
    systems: int = 2,
    wanted: float = 0.8,
) -> Likely:
    """Sizes for a label like these. difference : relative to the width of the scale. pairwise : of comparisons, whose
    number is that of each pair of systems."""
    spreads = np.exp(known.quantile(_QUANTILES) / 2)
    ends = (np.exp(known.quantile(np.array([share])) / 2) for share in (0.1, 0.9))

    def needed(sds: np.ndarray) -> int | None:
        return fewest(lambda n: mean_power(sds, n, difference, pairwise, systems) >= wanted)

    return Likely(annotators, *(needed(sds) for sds in (spreads, *ends)))


def mean_power(spreads: np.ndarray, n: int, difference: float, pairwise: bool = False, systems: int = 2) -> float:
    """Power of n dialogues per system (comparisons per pair), a mean over standard deviations of their values."""
    se = spreads * np.sqrt((1 if pairwise else 2) / n)
    return float(np.mean(chance(difference, se, n - 1 if pairwise else systems * (n - 1), systems)))


@dataclass(frozen=True)
class Sizes:
    """What is needed.

    agreements : of the rows. per_dialogue : annotators, of the columns. dialogues : rows of columns, per system; None
    where no number of dialogues is enough.
    """

    agreements: Sequence[float]
    per_dialogue: Sequence[int]
    dialogues: list[list[int | None]]


def sizes(
    difference: float,
    *,
    sd: float | None = None,
    rate: float | None = None,
    agreement: float | None = None,
    annotators: int | None = None,
    systems: int = 2,
    power: float = 0.8,
) -> Sizes:
    """Dialogues per system that find `difference` with probability `power`, of all pairs of systems at once, by
    agreement and annotators per dialogue: those that are stated, else several.

    sd : standard deviation of one annotator's scores of dialogues of a system. rate : instead of it, the share of
    dialogues of the first system that one annotator marks. agreement : correlation of the scores that two annotators
    give to the same dialogues of a system.
    """
    per_dialogue = PER_DIALOGUE if annotators is None else (annotators,)
    agreements = (1.0,) if max(per_dialogue) == 1 else AGREEMENTS
    agreements = agreements if agreement is None else (agreement,)
    of_two = 2 * (sd or 0.0) ** 2 if rate is None else sum(p * (1 - p) for p in (rate, rate + difference))

    def needed(together: float, each: int) -> int | None:
        of_values = of_two * (together + (1 - together) / each)
        return fewest(lambda n: bool(chance(difference, sqrt(of_values / n), systems * (n - 1), systems) >= power))

    return Sizes(agreements, per_dialogue, [[needed(r, m) for m in per_dialogue] for r in agreements])


def stated(difference: float, *, systems: int = 2, power: float = 0.8, **given: Any) -> str:
    """The `sizes` of a study of which the user says how scores vary, in words."""
    needed = sizes(difference, systems=systems, power=power, **given)
    said = {name: given.get(name) for name in ("sd", "rate", "agreement")}
    facts = said | {"difference": difference, "power": power, "systems": systems}
    return _filled(_PHRASES.say("sized", **facts, per_dialogue=needed.per_dialogue, table="TABLE"), _table(needed))


def like(
    labels: pd.DataFrame,
    values: pd.DataFrame,
    asked: Sequence[str],
    difference: float,
    scale: tuple[float, float] | None = None,
    *,
    annotators: int | None = None,
    systems: int = 2,
    power: float = 0.8,
    pilot: int = 20,
) -> str:
    """The sizes of a study whose label is like those of public studies that have the words `asked`.

    labels, values : of the atlas. scale : its lowest and highest score, where several are usual. pilot : dialogues of
    each system.

    Raises ValueError for a word that no label has, and where fewer than `FEWEST` studies are like it, even
    without what the label is about and who judged.
    """
    each = PER_DIALOGUE if annotators is None else (annotators,)
    kept = _chosen(labels, values, asked, max(each))
    chosen = comparable(labels, kept)
    scale = _scale(form(chosen), scale)
    pairwise = bool((form(chosen) == "comparative").all())
    of_form = labels[form(labels).isin(form(chosen))]
    unit = "pair" if pairwise else "dialogue"
    relative = difference / (scale[1] - scale[0])
    if relative >= 1:
        raise ValueError(f"expected a difference below the width of the scale, {scale[0]:g} to {scale[1]:g}")
    rows = [[f"people a {unit}", f"{unit}s", "80% need", f"after a pilot of {pilot}"]]
    for m in each:
        rows_of = (log_variances(part, values, m) for part in (chosen, of_form))
        known = reference(*rows_of)
        now, then = (
            likely(one, relative, m, pairwise=pairwise, systems=systems, wanted=power)
            for one in (known, known.after(pilot, pairwise))
        )
        rows.append([str(m), _count(now.dialogues), _range(now), _range(then)])
    used = log_variances(chosen, values, max(each))
    text = _PHRASES.say(
        "like", difference=difference, power=power, systems=systems, asked=kept,
        without=[word for word in asked if word not in kept],
        n_labels=len(used), studies=sorted(used["study"].unique()), table="TABLE", pilot=pilot,
        pairwise=pairwise,
    )  # fmt: skip
    return _filled(text, _columns(rows))


def _scale(forms: pd.Series, stated: tuple[float, float] | None) -> tuple[float, float]:
    """Of labels of these forms; ValueError where it has to be stated, and where another is."""
    several = sorted(set(forms))
    (one,) = several if len(several) == 1 else ("",)
    ends = _ENDS.get(one)
    if ends and stated not in (ends, None):
        raise ValueError(f"{one} labels are from {ends[0]:g} to {ends[1]:g}: leave out --scale")
    if not one:
        raise ValueError(f"expected one form of label among the words, found {', '.join(several)}")
    if found := ends or stated:
        return found
    raise ValueError("expected the scale that the difference is on, as in --scale 1:5")


def _chosen(labels: pd.DataFrame, values: pd.DataFrame, asked: Sequence[str], annotators: int) -> list[str]:
    """The words that enough studies have; ValueError for an unknown word, and where too few have any."""
    known = words(labels).values()
    for word in asked:
        if not any(word in choices for choices in known):
            raise ValueError(f"{word!r}: expected one of {'; '.join(', '.join(choices) for choices in known)}")
    if not (kept := nearest(labels, values, asked, annotators)):
        raise ValueError(f"fewer than {FEWEST} public studies are like {','.join(asked) or 'nothing'}")
    return kept


def _count(n: int | None) -> str:
    return f"> {MOST:,}" if n is None else f"{n:,}"


def _range(found: Likely) -> str:
    return f"{_count(found.low)} to {_count(found.high)}"


def _table(needed: Sizes) -> list[str]:
    """Lines: a row for each agreement, a column for each number of people."""
    names = {0.0: "none (0)", 1.0: "complete (1)"}
    several = len(needed.agreements) > 1
    rows = [["agreement"] * several + [f"{plural(m, 'person', 'people')} a dialogue" for m in needed.per_dialogue]]
    for agreement, row in zip(needed.agreements, needed.dialogues, strict=True):
        rows.append([names.get(agreement, f"{agreement:g}")] * several + [_count(n) for n in row])
    return _columns(rows)


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  " + "   ".join(cell.rjust(w) for cell, w in zip(row, wide, strict=True)) for row in rows]


def _filled(text: str, table: Sequence[str]) -> str:
    """Paragraphs at the width of a terminal, with the table in its place."""
    return "\n\n".join(
        "\n".join(table) if p == "TABLE" else fill(escape.unmarked(p), WIDTH) for p in text.split("\n\n")
    )
