"""Parts of captions: plain text, for readers who see the figure alone."""

from __future__ import annotations

from collections.abc import Iterable

from judgebook.display.text import counted, number


def sample(sizes: Iterable[float], unit: str = "") -> str:
    """`n = 108 dialogues`, `n = 38 to 108`; empty where no size is known."""
    return counted(sizes, unit).strip()


def intervals(ci: str, over: str, sizes: Iterable[float] = (), *, lines: str = "Lines") -> str:
    """`Lines: 95% CI over dialogues, n = 38 to 108.` ci : what intervals are called, `names.ci`."""
    n = sample(sizes)
    return f"{lines}: {ci} over {over}{', ' if n else ''}{n}."


def chosen(shown: int, total: int, which: str) -> str:
    """`Shown are the 20 of 60 systems with the highest means; the stored results contain all.`; empty where nothing is
    left out."""
    said = f"Shown are the {number(shown)} of {number(total)} {which}; the stored results contain all."
    return said if shown < total else ""


def joined(*sentences: str) -> str:
    """Sentences with a space between them, without those that are empty."""
    return " ".join(s for s in sentences if s)
