"""What can be required of a study, as it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from judgebook.plugins import UsageError

Kind = Literal["superior", "not_inferior", "equivalent", "agreement", "reliability"]

_NUMBER = r"(?P<size>\d+(?:\.\d+)?)\s*(?P<percent>%?)"
_FORMS: dict[Kind, re.Pattern[str]] = {
    "not_inferior": re.compile(rf"(?P<system>.+?) not worse than (?P<other>.+?) on (?P<label>.+?) by {_NUMBER}"),
    "superior": re.compile(rf"(?P<system>.+?) better than (?P<other>.+?) on (?P<label>.+?)(?: by {_NUMBER})?"),
    "equivalent": re.compile(rf"(?P<system>.+?) equal to (?P<other>.+?) on (?P<label>.+?) within {_NUMBER}"),
    "agreement": re.compile(rf"agreement on (?P<label>.+?) at least {_NUMBER}"),
    "reliability": re.compile(rf"reliability on (?P<label>.+?) at least {_NUMBER}"),
}
_EXAMPLES = (
    "'new better than old on quality', 'new not worse than old on quality by 0.2', 'new equal to old on quality within "
    "0.2', 'agreement on quality at least 0.667' or 'reliability on quality at least 0.8'"
)


@dataclass(frozen=True)
class Requirement:
    """size : a margin, or what an estimate must reach; in units of the label, percentages as shares."""

    text: str
    kind: Kind
    label: str
    size: float
    system: str = ""
    other: str = ""


def requirement(text: str) -> Requirement:
    """A requirement as it is written. Raises UsageError, with what can be written, for one that is not understood."""
    plain = " ".join(text.split())
    for kind, form in _FORMS.items():
        if match := form.fullmatch(plain):
            parts = match.groupdict()
            size = float(parts["size"] or 0) / (100 if parts["percent"] else 1)
            return Requirement(plain, kind, parts["label"], size, parts.get("system", ""), parts.get("other", ""))
    raise UsageError(f"requirement {text!r}: expected {_EXAMPLES}")
