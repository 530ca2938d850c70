"""Options side by side of which the best was chosen, or the best and the worst."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pandas as pd

from judgebook.extras.new import roles
from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import Guess
from judgebook.extras.new.shapes import items
from judgebook.extras.new.spelling import quoted
from judgebook.extras.new.words import is_prose, label_id

_OPTION = re.compile(r"(.*?[^0-9])([0-9]{1,2})|(.*[ _.-])([a-zA-Z])|(.*[a-z])([A-Z])")
_BEST = re.compile(
    r"(?<![a-z])(best|most|winner|top|first|preferred|preference|favou?rite|choice|chosen|selected)(?![a-z])", re.I
)
_WORST = re.compile(r"(?<![a-z])(worst|least|loser|last)(?![a-z])", re.I)
_MOST = 26


@dataclass(frozen=True)
class Options:
    """What each row shows side by side, and which of it was chosen.

    base : what the names of its columns begin with. places : what these end in. picks : column that names one of them
    -> 1 for the best, -1 for the worst. sure : whether names say which.
    """

    base: str
    places: list[str]
    picks: dict[str, int]
    sure: bool

    @property
    def options(self) -> list[str]:
        return [self.base + p for p in self.places]

    @property
    def columns(self) -> list[str]:
        return [*self.options, *self.picks]

    def read(self, out: Guess, cells: pd.DataFrame) -> None:
        """Say in `out` how the table is read."""
        name = "{i}" if all(p.isdecimal() for p in self.places) else "{option}"
        items.of_options(out, cells, self.options, "{value}")
        out.columns["system"] = "{value}"
        out.scores, out.score_columns = self.base + name, self.columns
        out.why["scores"] = "what was shown, side by side"
        (best,), worst = ([c for c, way in self.picks.items() if way == w] for w in (1, -1))
        out.one_label = _label(best, bool(worst)) if self.sure else "best_worst"
        out.more = [f"chosen: {_listed(self.picks)}", items.alternative("high")]
        out.labels[out.one_label] = (out.one_label, -1 if worst else 0, 1, True)
        out.ways[out.one_label] = 1
        if not self.sure:
            turned = {c: -way for c, way in self.picks.items()}
            other = Answer(f"{worst[0]!r}", {"sources.*.chosen": turned})
            out.ask("winner", f"Which names the best, {best!r} or {worst[0]!r}?", f"{best!r}", other)
        _texts(out, cells, self.places, name)


def _listed(picks: dict[str, int]) -> str:
    return f"{{{', '.join(f'{quoted(c)}: {w}' for c, w in picks.items())}}}"


def find(cells: pd.DataFrame) -> Options | None:
    """Three or more options in a row, and columns that say which of them was chosen."""
    for base, places in _families(cells).items():
        options = [base + p for p in places]
        others = [c for c in cells if c not in options]
        ways = {c: way for c in others if (way := _way(c)) and _names_one(cells, c, options, places)}
        named = [*ways.values()].count
        if not ways or (len(ways) == 1 and named(-1)):  # by what they hold: two that never name the same
            held = [c for c in others if _names_one(cells, c, options, [])]
            if len(held) == 2 and (cells[held[0]].str.strip() != cells[held[1]].str.strip()).all():
                worst = next(iter(ways), held[1])
                picks = {c: -1 if c == worst else 1 for c in held}
                if len(set(picks.values())) == 2:
                    return Options(base, places, picks, bool(ways))
        if named(1) == 1 and named(-1) < 2:
            return Options(base, places, ways, sure=True)
    return None


def _families(cells: pd.DataFrame) -> dict[str, list[str]]:
    """Three or more columns that differ in a number or a letter and hold names -> these, by what they begin with.

    Columns that name systems come first.
    """
    families: dict[str, list[str]] = {}
    for column in cells:
        if match := _OPTION.fullmatch(column):
            base, place = [part for part in match.groups() if part is not None]
            families.setdefault(base, []).append(place)
    fits = {b: p for b, p in families.items() if 3 <= len(p) <= _MOST and _holds_options(cells, [b + x for x in p])}
    fits = {b: p for b, p in fits.items() if not any(c.startswith(b) and c[len(b) :] not in p for c in cells)}
    return dict(sorted(fits.items(), key=lambda f: roles.role_of(f[0].rstrip("_ .-")) != "system"))


def _holds_options(cells: pd.DataFrame, columns: list[str]) -> bool:
    """Whether columns hold texts, each row different ones."""
    held = cells[columns].apply(lambda c: c.str.strip()).replace("", None)
    if held.apply(pd.to_numeric, errors="coerce").notna().any(axis=None):
        return False
    distinct = held.nunique(axis=1)
    return bool((distinct == held.notna().sum(axis=1)).all() and distinct.gt(1).all())


def _way(column: str) -> int | None:
    """1 for a column of what was best by its name, -1 for one of what was worst; None for any other."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", column)
    return -1 if _WORST.search(name) else 1 if _BEST.search(name) else None


def _names_one(cells: pd.DataFrame, column: str, options: list[str], places: list[str]) -> bool:
    """Whether each cell names an option of its row: by what it is, its place, its letter or its column."""
    held = cells[column].str.strip()
    given = held != ""
    letters = [chr(64 + int(p)) if p.isdecimal() and int(p) <= _MOST else p for p in places]
    by_place = held.isin({*places, *letters, *map(str.lower, letters), *map(str.upper, letters), *options})
    by_name = pd.concat([cells[o].str.strip() == held for o in options], axis=1).any(axis=1)
    return bool(given.any() and (by_place | by_name)[given].all())


def _label(best: str, worst: bool) -> str:
    """The label that a column of the best is about: `coherence` of `Answer.best_coherence`."""
    rest = re.sub(r"^[a-z]+(?:best|most)$|^(?:Answer|Input|OUTPUT)[.:]", "", _BEST.sub("", best)).strip(" _.:-")
    return label_id(rest) if rest else "best_worst" if worst else label_id(best.rpartition(".")[2])


def _texts(out: Guess, cells: pd.DataFrame, places: list[str], name: str) -> None:
    """What each option said, where columns with the same places hold texts."""
    bases = {c[: -len(p)] for p in places for c in cells if c.endswith(p) and is_prose(cells[c])}
    for base in bases:
        if all(base + p in cells and base + p not in out.score_columns for p in places):
            out.columns["system_text"] = base + name
            out.score_columns += [base + p for p in places]
            return


def opposites(out: Guess, numeric: dict[str, pd.Series]) -> None:
    """Leave out a column of the worse of two that says in every row the opposite of one of the better."""
    for worst in [c for c in numeric if _way(c) == -1]:
        for best in [c for c in numeric if _way(c) == 1]:
            both = numeric[best].notna() & numeric[worst].notna()
            if both.any() and set(numeric[best][both]) <= {-1, 0, 1}:
                same = int((numeric[best] == numeric[worst])[both & (numeric[best] != 0)].sum())
                if same:
                    text = f"Which is wrong, {best!r} or {worst!r}, which name the same side in {same} rows?"
                    out.ask("label of the worse", text, "neither", Answer("one: remove its label"))
                elif (numeric[best] == -numeric[worst])[both].all() and numeric[worst][~both].isna().all():
                    out.unused[worst] = f"the other side of {best!r} in every row: the same judgement"
                    del numeric[worst]
                break
