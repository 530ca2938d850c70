"""Which licences let judgements be passed on in another form, by the words of a YAML."""

from __future__ import annotations

import re
from dataclasses import dataclass

from judgebook.extras.bundle.finished import BundleError

_CC = re.compile(
    r"CC[ -]?BY((?:[ -](?:NC|SA|ND))*)(?:[ -](\d\.\d))?(?: international)?|creative commons attribution(?: (\d\.\d))?",
    re.I,
)
#: how it may be written -> identifier of SPDX, address
_OTHERS = {
    r"CC[ -]?0(?:[ -]1\.0)?|public domain": ("CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
    r"MIT(?: licen[cs]e)?": ("MIT", "https://spdx.org/licenses/MIT.html"),
    r"Apache(?: licen[cs]e)?[ -,]*2(?:\.0)?": ("Apache-2.0", "https://www.apache.org/licenses/LICENSE-2.0"),
    r"BSD[ -]2(?:-clause)?": ("BSD-2-Clause", "https://spdx.org/licenses/BSD-2-Clause.html"),
    r"BSD[ -]3(?:-clause)?": ("BSD-3-Clause", "https://spdx.org/licenses/BSD-3-Clause.html"),
    r"GPL[ -]?v?3(?:\.0)?(?:-or-later|-only)?": ("GPL-3.0-only", "https://www.gnu.org/licenses/gpl-3.0.html"),
    r"ODC[ -]?BY(?:[ -]1\.0)?": ("ODC-By-1.0", "https://opendatacommons.org/licenses/by/1-0/"),
    r"ODbL(?:[ -]1\.0)?": ("ODbL-1.0", "https://opendatacommons.org/licenses/odbl/1-0/"),
    r"PDDL(?:[ -]1\.0)?": ("PDDL-1.0", "https://opendatacommons.org/licenses/pddl/1-0/"),
    r"(?:O-UDA|Open Use of Data Agreement)(?:[ -]v?1\.0)?": ("O-UDA-1.0", "https://spdx.org/licenses/O-UDA-1.0.html"),
    r"CDLA[ -]Permissive[ -]2\.0": ("CDLA-Permissive-2.0", "https://cdla.dev/permissive-2-0/"),
}
_REFUSED = re.compile(r"\b(?:none|not? stated|no licen[cs]e|unknown|all rights reserved|on request)\b", re.I)


@dataclass(frozen=True)
class Licence:
    """name : identifier of SPDX. url : where its text is. text : as the YAML has it."""

    name: str
    url: str
    text: str


def read(text: str) -> Licence | None:
    """The licence that a YAML names; None where it names none of ours, or says more than a name and a remark in
    parentheses."""
    if _REFUSED.search(text):
        return None
    parts = [re.sub(r"\s*\([^()]*\)\s*", " ", part).strip() for part in text.split(";")]
    for part in parts:
        if match := _CC.fullmatch(part):
            kind = "".join(f"-{word}" for word in re.findall(r"NC|SA|ND", (match[1] or "").upper()))
            version = match[2] or match[3] or "4.0"
            address = f"https://creativecommons.org/licenses/by{kind.lower()}/{version}/"
            return Licence(f"CC-BY{kind}-{version}", address, text)
        for pattern, (name, url) in _OTHERS.items():
            if re.fullmatch(pattern, part, re.IGNORECASE):
                return Licence(name, url, text)
    return None


def permitting(text: str) -> Licence:
    """The licence under which judgements go into a bundle. Raises BundleError that says what to write."""
    found = read(text)
    if found is not None and "-ND" not in found.name:
        return found
    if found is not None:
        why = f"`licence: {text}` does not permit data in another form (ND), which a bundle has"
    elif not text:
        why = "the YAML does not say under which licence the judgements are"
    else:
        why = f"`licence: {text}` does not say clearly that judgements may be passed on"
    raise BundleError(
        f"{why}: nothing was written. If they are yours, or their owner permits it, write the licence in the YAML, "
        "such as `licence: CC BY 4.0` or `licence: MIT`, remarks in parentheses, and run the study again; or leave out "
        "--with-judgements"
    )
