"""Which places of nested data hold scores, and which of these belong together."""

from __future__ import annotations

import re

from judgebook.extras.new.nested.rows import levels_of, nodes, value_at
from judgebook.extras.new.nested.tree import LIST, MAP, Node, Place, name_of, without_label
from judgebook.extras.new.roles import role_of
from judgebook.extras.new.words import ANSWERS, ASPECT
from judgebook.sources.formats import Records
from judgebook.sources.nature import NAMES, Nature, plain

#: keys that hold a judgement, whatever was judged
SCORE_KEYS = {"score", "rating", "value", "answer", "judgement", "judgment", "annotation", "label", "vote", "choice"}
_NO_SCORES = {
    "role",
    "speaker",
    "type",
    "system",
    "model",
    "bot",
    "status",
    "lang",
    "language",
    "split",
    "source",
    "group",
}
#: keys that say how judgements are kept, not what was judged
CONTAINER = re.compile(
    r"scores?$|annotations?$|ratings?$|labels?$|values?$|individual|responses?$|answers?$|votes?$", re.I
)

#: keys whose values are judgements, whatever they are called
_JUDGED = re.compile(r"(annotation|rating|judge?ment|evaluation|score)s?", re.I)


def surely_judged(places: list[Place], natures: dict[Place, Nature], leaves: dict[Place, Node]) -> bool:
    """Whether a group of scores is one beyond doubt: ratings or yes and no, below the name of a quality."""

    def plainly_rated(place: Place) -> bool:
        return natures[place].kind == "rating" or {str(v).lower() for v in leaves[place].values if v} <= set(ANSWERS)

    return all(plainly_rated(p) and ASPECT.search(name_of(p)) for p in places)


def keys_of(places: list[Place]) -> set[str]:
    return {name_of(p) for p in places}


def same_but_group(one: Place, other: Place) -> bool:
    """Whether places differ in one key only, which says who judged: `expert_ratings` and `crowd_ratings`."""
    differing = [pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
    if len(one) != len(other) or len(differing) != 1:
        return False
    ends = {key.rpartition("_")[2] for key in differing[0]}
    return len(ends) == 1 and all("_" in key for key in differing[0]) and bool(CONTAINER.fullmatch(ends.pop()))


#: why numbers below keys that are numbers are not used
NUMBERED = (
    "numbers below keys that are numbers: write {annotator} for the keys where they are people, or {score} with "
    '`count: "{value}"` where the values say how many people gave this score'
)


def people_of(place: Place, leaves: dict[Place, Node], read: Records) -> Place | None:
    """The list that names who judged, element by element beside a list of scores or further out."""

    def fits(other: Place) -> bool:
        *_, level = [(), *levels_of(other[:-1])]
        if other[:-2] != place[: len(other) - 2] or role_of(name_of(other).removesuffix("s")) != "annotator":
            return False
        pairs = [(value_at(held[level], other[len(level) : -1]), scores) for _, held, scores in nodes(read, place[:-1])]
        return all(isinstance(people, list) and len(people) == len(scores) for people, scores in pairs if scores)

    lists = [p for p in leaves if p[-1:] == (LIST,) and len(p) > 1 and p != place] if place[-1:] == (LIST,) else []
    return next(filter(fits, lists), None)


def may_be_score(place: Place, seems: Nature, leaves: dict[Place, Node], read: Records) -> bool:
    name = plain(name_of(place))
    if place[-1:] == (LIST,) and role_of(name.removesuffix("s")) == "annotator" and seems.kind != "rating":
        return not any(people_of(other, leaves, read) == place for other in leaves)
    words = {str(v).strip().lower() for v in leaves[place].values if v}
    if name in {*_NO_SCORES, *NAMES["annotator"], *NAMES["turn"]}:
        return False
    # below `ratings`, a key is what was judged, or who judged, even if they are called Ann
    if role_of(name_of(place)) in ("annotator", "system") and not CONTAINER.search(name_of(place[:-1])):
        return False
    # states of a task; a question has blanks
    if re.search(r"cancel|skipped|draft|submitted|^was|^(is)?(completed|finished)$", name) and " " not in place[-1]:
        return False
    if words and words <= set(ANSWERS) and len(words) > 1:
        return True
    judged = bool(_JUDGED.fullmatch(place[-2] if len(place) > 1 else ""))
    short = all(len(str(v)) < (60 if judged else 30) for v in leaves[place].values if v)
    if not seems.judged:
        # one answer for all is still a judgement where its key says so
        return seems.kind == "constant" and short and name in SCORE_KEYS - {"label", "value"}
    if seems.kind == "words":
        inside = judged or place[-1] in (LIST, MAP)
        siblings = [p for p in leaves if without_label(p) == without_label(place)]
        return (
            short
            and (inside or name in SCORE_KEYS or any(s in name for s in ("rating", "prefer", "winner", "score")))
            and len(siblings) < 12
        )
    return True


def label_at(place: Place) -> int:
    """Where the key of the label is: the last, or the one above where the last only says that there are scores."""
    keys = [i for i, part in enumerate(place) if part not in (LIST, MAP)]
    beside = len(keys) > 1 and place[-1] == LIST and keys[-2] == keys[-1] - 1
    if beside and CONTAINER.search(place[keys[-1]]) and not CONTAINER.search(place[keys[-2]]):
        return keys[-2]
    return keys[-1] if keys else -1
