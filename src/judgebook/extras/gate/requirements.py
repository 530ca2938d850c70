"""What can be required of a study, as it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from judgebook.plugins import UsageError

Kind = Literal["superior", "not_inferior", "equivalent", "agreement", "reliability"]

_NUMBER = r"(?P<size>(?:\d+(?:\.\d+)?|\.\d+))\s*(?P<percent>%?)"
_OTHER = r"(?P<other>.+?)(?: on (?P<label>.+?))?"
_FORMS: dict[Kind, re.Pattern[str]] = {
    "not_inferior": re.compile(rf"(?P<system>.+?) not worse than {_OTHER}(?: by {_NUMBER})?"),
    "superior": re.compile(rf"(?P<system>.+?) better than {_OTHER}(?: by {_NUMBER})?"),
    "equivalent": re.compile(rf"(?P<system>.+?) equal to {_OTHER}(?: within {_NUMBER})?"),
    "agreement": re.compile(rf"agreement on (?P<label>.+?) at least {_NUMBER}"),
    "reliability": re.compile(rf"reliability on (?P<label>.+?) at least {_NUMBER}"),
}
_EXAMPLES = (
    "'new better than old on quality', 'new not worse than old on quality by 0.2', 'new equal to old on quality within "
    "0.2' (each also without 'on quality'), 'agreement on quality at least 0.667' or 'reliability on quality at least "
    "0.8'"
)


@dataclass(frozen=True)
class Requirement:
    """label : empty for the overall answer, or the only label. size : a margin, or what an estimate must reach; in
    units of the label, percentages (`percent`) as shares; None: the margin that the study states."""

    text: str
    kind: Kind
    label: str
    size: float | None
    system: str = ""
    other: str = ""
    percent: bool = False

    @property
    def compares(self) -> bool:
        """Whether it is about two systems, and not about a label's agreement or reliability."""
        return self.kind not in ("agreement", "reliability")

    @property
    def bound(self) -> float:
        """`size`, once it is certain. Raises ValueError before."""
        if self.size is None:
            raise ValueError(f"requirement {self.text!r}: expected a margin, found none")
        return self.size


def requirement(text: str) -> Requirement:
    """A requirement as it is written. Raises UsageError, with what can be written, for one that is not understood."""
    plain = " ".join(text.split())
    for kind, form in _FORMS.items():
        if match := form.fullmatch(plain):
            parts = match.groupdict()
            stated = parts["size"] or ("0" if kind == "superior" else None)
            percent = bool(parts["percent"])
            size = None if stated is None else float(stated) / (100 if percent else 1)
            sides = parts.get("system", ""), parts.get("other", "")
            found = Requirement(plain, kind, parts["label"] or "", size, *sides, percent)
            if not found.compares and size is not None and size >= 1:
                raise UsageError(f"requirement {text!r}: expected less than 1, the most it can be, found {size:g}")
            return found
    raise UsageError(f"requirement {text!r}: expected {_EXAMPLES}")
