"""How dialogues were drawn: sampling weights from the columns that `inclusion_probability`, `weight` or `stratum` name.

The weight of a dialogue is the inverse of the probability with which it was drawn: how many dialogues of the population
it stands for. Of a stratum with known size, it is that size divided by the number of its dialogues in the file
(Särndal, Swensson and Wretman 1992, Model Assisted Survey Sampling, sections 2.8 and 3.7). What is drawn is a dialogue,
or a pair that is compared: all its turns and annotations have the same weight.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from judgebook.sources.reading import Counts
from judgebook.study.schema import Problem, several, unordered
from judgebook.study.source_shared import JudgementOptions

#: column of an adapter's frames with the cell that the YAML names; not one of the file's
CELL = "_sampling"
#: what `schema.COUNTS` calls the cells of columns that look like sampling weights and that nothing in the YAML names
NOT_USED = "sampling weights"
#: leads the key of a dialogue's fact that came from such a column where nothing in the YAML uses it
UNUSED = "unused:"
#: what is said of drawing, of a probability, a weight, and a part of the population, in names without punctuation
_DRAW = r"(?:sampl(?:e[ds]?|ing)|select(?:ed|ion)?|incl(?:uded|usion)?|draw(?:n|ing)?)"
_CHANCE = r"(?:prob\w*?|p|pi|rate|frac\w*?|propensit(?:y|ies)(?:scores?)?)"
_WEIGHT = r"(?:weights?|wg?ts?)"
_PART = r"(?:strat(?:um|a)|groups?|types?|buckets?|queues?|pools?|sources?|reasons?)"
_SEEN = r"(?:flag(?:ged|s)?|escalated|reported)"
#: how files call columns that say how dialogues were drawn, without case and punctuation -> the key of the YAML
NAMES = {
    "inclusion_probability": re.compile(
        rf"{_DRAW}{_CHANCE}|{_CHANCE}(?:of|in|for|to|be|being)*{_DRAW}|propensit(?:y|ies)(?:scores?)?|pi"
    ),
    "weight": re.compile(
        rf"(?:{_DRAW}|survey|svy|design|post|ip|inv(?:erse)?{_CHANCE}?|population|raking|calibration|expansion)?{_WEIGHT}"
        rf"|{_WEIGHT}(?:of|for)?{_DRAW}|i?pw|expansionfactors?|inv(?:erse)?prob\w*"
    ),
    "stratum": re.compile(
        rf"(?:{_DRAW}|review)?(?:strat(?:um|a)|queues?)(?:names?|ids?)?|(?:{_DRAW}|review){_PART}"
        rf"|{_PART}(?:of|for)?(?:{_DRAW}|review)|(?:why|how){_DRAW}|{_DRAW}(?:from|by|as|because|via|for|how|why)"
        rf"|(?:was|is|auto|user)*{_SEEN}(?:by\w+|status|reason)?"
    ),
}
#: names that could mean something else
_UNSURE = re.compile(rf"{_WEIGHT}|i?pw|propensit\w*|pi|\w*{_SEEN}\w*|(?:samples?|incl|draw){_CHANCE}|postweights?")
#: names of columns that hold why a dialogue was chosen; strata are often as large in a file as in the population
_TELLING = re.compile(rf"(?!.*strat)\w*(?:{_DRAW}|review|{_SEEN})\w*")
#: names of what somebody did before dialogues were judged, or of what they were asked
_ASKED = re.compile(rf"\w*{_SEEN}")
#: more values than this are no strata
MOST_STRATA = 20
_EXPECTED = {
    "inclusion_probability": "a probability above 0 and at most 1",
    "weight": "a number above 0",
    "stratum": "a stratum",
}
_HINT = "each dialogue that was judged needs one"


def weighted(source: JudgementOptions, name: str, marks: pd.DataFrame) -> tuple[pd.DataFrame, list[Problem]]:
    """`marks` with `sampling_weight`, missing where the cell is wrong; and what is wrong.

    name : the file as the YAML calls it. marks : judgements with CELL, `file` and `where`.
    """
    if source.sampling is None:
        raise ValueError("sampling: expected a source with a key that gives sampling weights")
    key, column = source.sampling
    cells = marks[CELL]
    if key == "stratum":
        weight, problems = _of_strata(source, name, marks)
        bad = cells.isna()
    else:
        number = pd.to_numeric(cells, errors="coerce")
        bad = ~(np.isfinite(number) & (number > 0) & ((number <= 1) | (key == "weight")))
        weight, problems = number if key == "weight" else 1 / number.where(~bad), []

    def wrong(i: object) -> Problem:
        content = "nothing" if pd.isna(cells[i]) else repr(str(cells[i])[:60])
        return Problem(marks.at[i, "file"], marks.at[i, "where"], column, _EXPECTED[key], content, _HINT)

    problems += several(marks.index[bad], wrong)
    weight = weight.astype(float).where(~bad)
    return marks.assign(sampling_weight=weight), problems + _swapped(key, column, weight, name) + _differing(
        marks.assign(w=weight), column
    )


def _swapped(key: str, column: str, weight: pd.Series, name: str) -> list[Problem]:
    """A column called a probability that is taken for a weight, or the other way round, with values that fit both."""
    called = named(column)
    if not certain(column) or called == key or key == "stratum":
        return []
    if (weight > 1).any() if key == "weight" else weight.isna().all():
        return []
    hint = f"write `{called}: {column}`, or call the column otherwise"
    return [Problem(name, "", key, f"a column that is not called like `{called}`", repr(column), hint)]


def _drawn(marks: pd.DataFrame) -> pd.Series:
    """(judgements,) a number for each dialogue, or pair of dialogues whichever comes first."""
    keys = [marks["corpus"], marks["dialogue"].astype(object)]
    if "dialogue_b" in marks:
        both = unordered(marks)
        keys = [marks["corpus"], both["low"], both["high"]]
    return marks.groupby(keys, dropna=False, sort=False).ngroup()


def _differing(marks: pd.DataFrame, column: str) -> list[Problem]:
    """Problems of dialogues with two weights `w`."""
    first = marks["w"].groupby(_drawn(marks)).transform("first")
    odd = marks.index[marks["w"].notna() & ~np.isclose(marks["w"], first, rtol=1e-9)]
    expected = "the same in all rows of a dialogue, because whole dialogues are drawn"
    hint = "where turns were drawn, make each a dialogue of its own (`identify`)"
    return several(
        odd,
        lambda i: Problem(marks.at[i, "file"], marks.at[i, "where"], column, expected, repr(marks.at[i, CELL]), hint),
    )


def _of_strata(source: JudgementOptions, name: str, marks: pd.DataFrame) -> tuple[pd.Series, list[Problem]]:
    """Size of the stratum in the population over the number of its dialogues in the file."""
    by_system = any(isinstance(size, dict) for size in source.strata.values())
    if by_system and "dialogue_b" in marks and marks["dialogue_b"].notna().any():
        hint = "a pair has two systems: give the sizes of strata for all systems together"
        return pd.Series(np.nan, marks.index), [Problem(name, "", "strata", "no systems", "systems", hint)]
    sizes: Mapping = source.strata if by_system else {"": source.strata}
    system = marks["system"] if by_system else pd.Series("", marks.index)
    size = pd.Series(
        [sizes.get(s, {}).get(h) for s, h in zip(system, marks[CELL], strict=True)], marks.index, dtype=float
    )
    drawn = _drawn(marks).groupby([marks["corpus"], system, marks[CELL]]).transform("nunique")
    known = [h for of in sizes.values() for h in of]
    odd = marks.index[size.isna() & marks[CELL].notna() & ~pd.DataFrame({"s": system, "h": marks[CELL]}).duplicated()]

    def unknown(i: object) -> Problem:
        near = difflib.get_close_matches(str(marks.at[i, CELL]), known, n=1)
        of = f" of {system[i]}" if by_system else ""
        hint = f"did you mean {near[0]!r}?" if near else "`strata` gives the size of each stratum"
        return Problem(
            marks.at[i, "file"],
            marks.at[i, "where"],
            str(source.stratum),
            f"a stratum{of} in `strata`",
            repr(marks.at[i, CELL]),
            hint,
        )

    problems = [unknown(i) for i in odd]
    pairs = set(zip(system, marks[CELL], strict=True))
    for s, of in sizes.items():
        for h, n in of.items():
            in_stratum = (system == s) & (marks[CELL] == h)
            place = ".".join(p for p in ("strata", s, h) if p)
            if (s, h) not in pairs:
                hint = "a stratum without a dialogue cannot be estimated: remove it, and say so where results are used"
                problems.append(Problem(name, "", place, "dialogues of this stratum", "none", hint))
            elif n < drawn[in_stratum].max():
                count = f"{int(drawn[in_stratum].max())} in the file"
                hint = "`strata` gives the number in the population, of all systems together or of each"
                problems.append(Problem(name, "", place, f"at most {n} dialogues", count, hint))
    return size / drawn, problems


def completed(marks: pd.DataFrame, where: pd.DataFrame) -> list[Problem]:
    """Give judgements without a weight that of their dialogue in another source; problems where there is none.

    Where no judgement of a corpus has a weight, none is needed. marks is changed in place; `where` names places.
    """
    weight = pd.to_numeric(marks["sampling_weight"], errors="coerce")
    if weight.isna().all():
        return []
    weight = weight.fillna(weight.groupby(_drawn(marks)).transform("first"))
    marks["sampling_weight"] = weight
    some = weight.notna().groupby(marks["corpus"]).transform("any")
    hint = "each source of a corpus needs the key, or the same dialogues as one that has it"
    return several(
        marks.index[some & weight.isna()],
        lambda i: Problem(where.at[i, "file"], where.at[i, "where"], "sampling_weight", "a weight", "none", hint),
    )


def named(column: str) -> str | None:
    """Which key of the YAML a column is called like; None where it is called otherwise."""
    return next((key for key, name in NAMES.items() if name.fullmatch(_plain(column))), None)


def key_for(column: str, cells: pd.Series) -> str | None:
    """Which key of the YAML a column seems to be meant for: by its name, and because its cells fit; else None."""
    key = named(column)
    if key is None:
        return None
    held = cells.dropna().astype(str).str.strip()
    held = held[held != ""]
    if held.nunique() < 2:
        return None
    if key == "stratum":
        return key if held.nunique() <= MOST_STRATA else None
    number = pd.to_numeric(held, errors="coerce")
    fits = (number > 0) & ((number <= 1) | (key == "weight"))
    return key if fits.all() else None


def plain(column: str, cells: pd.Series) -> bool:
    """Whether a column that `key_for` knows leaves no doubt: it is called so, and has a value in every row."""
    sure = certain(column) and key_for(column, cells) is not None
    return sure and bool((cells.fillna("").astype(str).str.strip() != "").all())


def certain(column: str) -> bool:
    """Whether the name of a column means nothing else than a probability or weight of drawing."""
    return named(column) in ("inclusion_probability", "weight") and not _UNSURE.fullmatch(_plain(column))


def telling(column: str) -> bool:
    """Whether the name of a column says that dialogues were chosen by it, such as `selection_reason` or `flagged`."""
    return named(column) is not None and bool(_TELLING.fullmatch(_plain(column)))


def judged(column: str) -> bool:
    """Whether a column may as well hold judgements: `flagged` is what somebody did before, or what they were asked."""
    return bool(_ASKED.fullmatch(_plain(column)))


def facts(base: pd.DataFrame, unused: Mapping[str, pd.Series]) -> pd.DataFrame | None:
    """Columns that say how dialogues were drawn and that nothing uses, as facts about the dialogues.

    What they would change is worked out by the design check. base : our columns of the rows, with the index of cells.
    """
    known = [c for c in ("corpus", "dialogue") if c in base]
    parts = [
        base[known].assign(key=UNUSED + column, value=cells.reindex(base.index).astype(str).str.strip())
        for column, cells in unused.items()
        if key_for(column, cells)
    ]
    if not parts or "dialogue" not in base:
        return None
    rows = pd.concat(parts, ignore_index=True).drop_duplicates([*known, "key"])
    return rows[rows["dialogue"].notna() & (rows["value"] != "")].reset_index(drop=True)


def says(column: str, key: str) -> str:
    """What is to be done with a column that looks like how dialogues were drawn."""
    if key == "stratum":
        return (
            f"it looks like strata: if dialogues were drawn from each, write `stratum: {column}` and `strata` (sizes)"
        )
    what = "a sampling probability" if key == "inclusion_probability" else "a sampling weight"
    return f"it looks like {what}: if dialogues were drawn so, write `{key}: {column}`"


def not_used(unused: Mapping[str, Mapping[str, pd.Series]]) -> pd.DataFrame:
    """Counts (`schema.COUNTS`) of the cells of columns that look like how dialogues were drawn and are not used."""
    counts = Counts()
    for file, columns in unused.items():
        for column, cells in columns.items():
            if key := key_for(column, cells):
                n = int(cells.notna().sum())
                counts.add(file, NOT_USED, "read", n=n)
                counts.add(file, NOT_USED, "dropped", f"{column}: {says(column, key)}", n)
    return counts.frame()


def _plain(column: str) -> str:
    return re.sub(r"[\W_]+", "", column.rpartition(".")[2]).lower()
