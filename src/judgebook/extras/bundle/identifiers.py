"""What in a text or a cell tells who somebody is: addresses, numbers of telephones, and ids of platforms of workers."""

from __future__ import annotations

import re
from collections import Counter

from judgebook.sources.ids import naming

_ALONE, _END = r"(?<![\w@/.-])", r"(?![\w-])"
#: kind -> its forms. What ids of platforms look like is not documented by these; the forms are those of published data
_KINDS = {
    "id of a worker (MTurk)": (r"A(?=[A-Z]*\d)[0-9A-Z]{11,14}", r"a(?=(?:[a-z]*\d){3})[0-9a-z]{11,14}"),
    "id of a task (MTurk)": (r"3(?=\d*[A-Z])[0-9A-Z]{27,30}", r"3(?=\d*[a-z])(?=(?:[a-z]*\d){3})[0-9a-z]{27,30}"),
    "id in hexadecimal digits (Prolific, hashes)": (
        r"(?=\d*[a-fA-F])(?=[a-fA-F]*\d)(?:[0-9a-fA-F]{24}|[0-9a-fA-F]{32,128})",
    ),
    "UUID": (r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",),
    "ORCID": (r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]",),
    "social security number": (r"\d{3}-\d{2}-\d{4}",),
    "IBAN": (r"[A-Z]{2}\d{2}(?: ?[0-9A-Z]{4}){3,7}(?: ?[0-9A-Z]{1,3})?",),
}
#: an IP address: four numbers up to 255; of the newer kind, eight groups, or fewer and `::`
_BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_IP = (
    rf"(?<![\w.])(?:{_BYTE}\.){{3}}{_BYTE}(?![\w.]\d|\w)"
    r"|(?<![\w:])(?:[0-9a-fA-F]{1,4}:){3,7}:?(?:[0-9a-fA-F]{1,4}:?){1,4}(?![\w:])"
)
_PROFILE = (
    r"(?:https?://)?(?:www\.|m\.|[a-z]{2}\.)?(?:twitter|x|facebook|instagram|linkedin|tiktok|reddit|github|t|snapchat)"
    r"\.(?:com|me)/(?:in/|u/|user/|add/|@)?[\w.-]{2,}\w"
)
_HANDLE = r"(?<![\w@./])@[A-Za-z_][\w.]{2,29}\b(?!\.\w)"
#: with a lead of 0, 00 or + and digits in groups; what is a date, a time or a decimal has fewer digits or other marks
_PHONE = (
    r"(?<![\w.,/-])(?:(?:\+|00)\d{1,3}[ ()./-]{0,3}|(?:\(0\d{1,4}\) ?|0\d{1,4}[ /.-]))"
    r"\d(?:[ ()./-]{0,2}\d){6,11}(?!\w|[.,/-]\d)"
)
_PATTERNS = {
    **{kind: "|".join(f"{_ALONE}{form}{_END}" for form in forms) for kind, forms in _KINDS.items()},
    "IP address": _IP,
    "profile on a platform": _PROFILE,
    "name on a platform": _HANDLE,
    "telephone number": _PHONE,
}
_ANY = re.compile("|".join(f"(?P<k{i}>{pattern})" for i, pattern in enumerate(_PATTERNS.values())))
_NAMES = list(_PATTERNS)
_HINT = re.compile(r"[\d@/]|\bat\b|\(at\)|\[at\]", re.IGNORECASE)


def masked(text: str, own: naming.Names | None = None) -> tuple[str, Counter[str]]:
    """A text with `naming.MASK` for all that tells who somebody is, and how many of each kind were taken out.

    own : ids and names of people of the study, which are looked for, too.
    """
    kinds: Counter[str] = Counter()
    if own is not None:
        text, n = own.texts(text, every=True)
        kinds["id or name of a person of the study"] += n
    if _HINT.search(text):
        # before addresses are taken out: what belongs to one is no name on a platform
        text, n = naming.addresses(text)
        kinds["e-mail address or telephone number"] += n

        def taken(match: re.Match[str]) -> str:
            kinds[_NAMES[int((match.lastgroup or "k0")[1:])]] += 1
            return naming.MASK

        text = _ANY.sub(taken, text)
    return text, +kinds
