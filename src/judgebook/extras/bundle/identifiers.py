"""What tells who somebody is: in a text or a cell, addresses, numbers of telephones and ids of platforms of workers; of
people, a combination of attributes that few share.

Few who share it can be told apart by those who know them: age and country of a student in a course of twelve.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping

import pandas as pd

from judgebook.extras.bundle.finished import BundleError
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
#: people who must share a combination of attributes
FEWEST = 5
#: judgements of a label by which one can see that an annotator always answers the same, and annotators it needs
_ANSWERS, _PEOPLE = 3, 5
_DEMOGRAPHIC = re.compile(
    r"age|birth\w*|born|gender|sex|country|nation\w*|city|town|region|place|location|residence|zip\w*|post(?:al)?code"
    r"|ethnic\w*|race|religio\w*|education\w*|degree|school|university|occupation|profession|job|employ\w*|income|device"
    r"|browser|user_?agent|screen|os|platform|native\w*|mother_?tongue|first_?language|marital\w*|disab\w*|hand(?:edness)?"
    r"|alter|geschlecht|land|beruf|herkunft|muttersprache|edad|sexo|pais|sexe|pays"
)
Note = Callable[[str, str, int], None]
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


def demographic(name: str) -> bool:
    """Whether a name is that of an attribute of people: one of its words is."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return any(_DEMOGRAPHIC.fullmatch(word) for word in [text, *re.split(r"[\W_]+", text)])


def reviewed(frames: dict[str, pd.DataFrame], note: Note) -> tuple[dict[str, pd.DataFrame], dict[str, int]]:
    """Frames without facts that single people out, and places in the study (corpus, group) that few people share.

    note : is told what was done, where, and of how many people. Raises BundleError for labels that single people out:
    without them the report would be another.
    """
    marks = frames["annotations"]
    people = marks[(marks["annotator_kind"] == "human") & marks["annotator_known"]]
    _refuse_labels(people)
    if "dialogue_facts" in frames:
        facts = frames["dialogue_facts"]
        keys = [key for key in facts["key"].unique() if demographic(key)]
        if keys and (n := _alone(_of_people(facts[facts["key"].isin(keys)], frames, people))):
            for key in keys:
                note("dropped", f"dialogue_facts, key {key}", n)
            frames = frames | {"dialogue_facts": facts[~facts["key"].isin(keys)]}
            if frames["dialogue_facts"].empty:
                del frames["dialogue_facts"]
    where = people.drop_duplicates(["corpus", "group", "annotator"]).groupby(["corpus", "group"]).size()
    return frames, {f"{group} ({corpus})": int(n) for (corpus, group), n in where.items() if n < FEWEST}


def _alone(combinations: pd.Series) -> int:
    """Of how many people fewer than FEWEST share the combination. combinations : one per person."""
    return int((combinations.map(combinations.value_counts()) < FEWEST).sum())


def _of_people(facts: pd.DataFrame, frames: Mapping[str, pd.DataFrame], people: pd.DataFrame) -> pd.Series:
    """The values of facts as a combination per person: of who talked in the dialogue, or judged it."""
    met = people[["corpus", "dialogue", "annotator"]]
    talked = frames.get("dialogues", pd.DataFrame())
    if "interactor" in talked and talked["interactor"].notna().any():
        met = talked[["corpus", "dialogue", "interactor"]].dropna().rename(columns={"interactor": "annotator"})
    rows = facts.merge(met.drop_duplicates(), on=["corpus", "dialogue"])
    return rows.groupby("annotator").apply(_combination, "key", "value", include_groups=False).astype(object)


def _combination(rows: pd.DataFrame, what: str, value: str) -> frozenset:
    return frozenset(rows[[what, value]].astype(str).itertuples(index=False, name=None))


def _refuse_labels(people: pd.DataFrame) -> None:
    """Labels that ask annotators about themselves: by their name, or as everybody always answers the same."""
    by_label = people.groupby("label", sort=False)
    asked = {label: rows for label, rows in by_label if demographic(str(label)) or _constant(rows)}
    if not asked:
        return
    each = pd.concat(asked.values()).groupby("annotator")
    if n := _alone(each.apply(_combination, "label", "score", include_groups=False).astype(object)):
        names = ", ".join(map(str, asked))
        raise BundleError(
            f"labels {names}: expected answers about items, found what tells annotators apart: of {n} people fewer "
            f"than {FEWEST} share the combination. Nothing was written. Leave the labels out "
            f"(`drop: {{label: [{names}]}}`) and run the study again"
        )


def _constant(rows: pd.DataFrame) -> bool:
    """Whether each annotator gives a label one score, and not all give the same."""
    each = rows.groupby("annotator")["score"].agg(["nunique", "size", "first"])
    often = each[each["size"] >= _ANSWERS]
    return len(often) >= _PEOPLE and bool((each["nunique"] == 1).all()) and len(each["first"].unique()) > 1
