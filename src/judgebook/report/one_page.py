"""A report on one sheet of paper, A4 or Letter: the study, who was counted, the answers, and the first figure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from markupsafe import Markup

from judgebook.report import svg
from judgebook.report.html import Page, rendered, typefaces
from judgebook.report.prose import markdown, words

#: sizes of type in points, tried in turn; what does not fit in the smallest is cut by nothing but the sheet
SIZES = (11.0, 10.5, 10.0, 9.5, 9.0, 8.5, 8.0, 7.5, 7.0, 6.5, 6.0)
#: points between the margins: width of A4, the narrower, and height of Letter, the lower; the figure takes FIGURE of it
WIDTH, HEIGHT, FIGURE = 527.0, 700.0, 0.42
#: in parts of the size of type: a character, the height of a line, what stands between two blocks
_CHARACTER, _LINE, _GAP = 0.54, 1.38, 0.75


@dataclass(frozen=True)
class OnePage:
    """All text is Markdown, but for questions, `caption` and `foot`. preface : who was counted (a table), and for whom
    the answers hold. before : what to know before them, a line each. answers : question and answer. drawing, alt,
    caption : the figure of the first answer; empty where there is none. foot : what made the report, and when."""

    description: str
    preface: tuple[str, str]
    before: tuple[str, ...]
    answers: tuple[tuple[str, str], ...]
    drawing: str = ""
    alt: str = ""
    caption: str = ""
    foot: str = ""


def page(about: Page, sheet: OnePage) -> str:
    """The page. It needs no script."""
    drawn = svg.inline(sheet.drawing, prefix="one-", alt=sheet.alt) if sheet.drawing else None
    shown = {"sheet": sheet, "drawn": drawn.markup if drawn else Markup(), "size": size(about, sheet, bool(drawn))}
    return rendered("summary.html.j2", about, "On one page", fonts=typefaces([drawn] if drawn else []), **shown)


def size(about: Page, sheet: OnePage, drawn: bool) -> float:
    """The largest size of type, in points, in which all fits on the sheet."""
    return next((one for one in SIZES if _height(about, sheet, one, drawn) <= HEIGHT), SIZES[-1])


def _height(about: Page, sheet: OnePage, one: float, drawn: bool) -> float:
    """Points that the sheet takes in a size of type."""
    (_, first), *others = sheet.answers or (("", ""),)
    beside = _lines([first], WIDTH * (1 - FIGURE if drawn else 1), one) + 1.4
    figure = (_aspect(sheet.drawing) * WIDTH * FIGURE / one / _LINE if drawn else 0) + _lines(
        [sheet.caption], WIDTH * FIGURE, 0.85 * one
    )
    rows = [max(_lines([a], 0.48 * WIDTH, one) + 1.4 for _, a in pair) for pair in _pairs(others)]
    lines = _lines([sheet.description, sheet.preface[1], *sheet.before], WIDTH, one) + max(beside, figure) + sum(rows)
    lines += 1.15 * sheet.preface[0].count("\n") + 2 * _lines([about.study_title], WIDTH, 1.7 * one)
    blocks = 5 + len(rows) + about.simulated
    return one * (_LINE * (lines + 3) + _GAP * blocks)


def _pairs(answers: list[tuple[str, str]]) -> Iterable[list[tuple[str, str]]]:
    return (answers[i : i + 2] for i in range(0, len(answers), 2))


def _lines(texts: Iterable[str], width: float, one: float) -> int:
    """Lines that paragraphs of Markdown take; items of a list are lines of their own."""
    lines = (words(markdown(line)) for text in texts for line in text.splitlines() if line.strip())
    return sum(ceil(len(line) * _CHARACTER * one / width) for line in lines)


def _aspect(drawing: str) -> float:
    """Height of a drawing in parts of its width."""
    box = drawing.partition('viewBox="')[2].partition('"')[0].split()
    return float(box[3]) / float(box[2]) if len(box) == 4 else 1.0
