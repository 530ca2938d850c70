"""What the keys and lists around scores mean: labels, systems, people, items, turns; and what is said of each there."""

from __future__ import annotations

import re

import pandas as pd

from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.nested.groups import CONTAINER, SCORE_KEYS, label_at, people_of
from judgebook.extras.new.nested.tree import LIST, MAP, REPLIES, Node, Place, name_of
from judgebook.extras.new.roles import MOST_SYSTEMS, NAMING, role_of
from judgebook.extras.new.spelling import JsonColumn, Shape, key_of_path
from judgebook.extras.new.words import ASPECT, are_names, is_prose, looks_like_model
from judgebook.sources.formats import Records
from judgebook.sources.nature import NAMES, Nature, plain
from judgebook.study.source_shared import OURS

_TURNS = re.compile(r"turns?$|utterances?$|messages?$|^log$|^dialog(ue)?$|^conversation$|exchanges$", re.I)
_PEOPLE = re.compile(
    r"(author|ann|annotator|rater|worker|user|expert|human|person|coder|judge|[awrhp])[_ -]?[0-9]+$", re.I
)
_CODE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{20,}$|A[0-9A-Z]{10,}$", re.I)
#: keys of what was said to be judged, where the key beside it holds the judgement
_LABEL_KEYS = {"label", "metric", "criterion", "dimension", "question", "aspect", "name", "fromname"}
#: names of ids that do not say of what
_IDS = {"id", "idx", "uid", "uuid"}


class Levels:
    """The places around one group of scores, and what each of them is called."""

    def __init__(
        self,
        read: Records,
        leaves: dict[Place, Node],
        maps: dict[Place, list[str]],
        natures: dict[Place, Nature],
        scores: list[Place],
        n_first: int,
    ):
        """scores : those of the first group of people (`n_first`), and of others beside it."""
        self.read, self.leaves, self.maps, self.natures, self.scores = read, leaves, maps, natures, scores
        # the key of this group, which the places of others do not have
        self.of_groups = {
            k for p in scores[n_first:] for k in set(scores[0]) - set(p) if "_" in k and k != scores[0][-1]
        }
        self.out = Shape(in_json_column=isinstance(scores[0][0], JsonColumn))
        self.names: dict[Place, str] = {}
        self.used: set[Place] = set(scores)
        self.label_column: Place | None = None
        self.people = people_of(scores[0], leaves)

    def _label_beside(self, place: Place) -> Place | None:
        """The key beside the score that says what was judged."""
        base = place[:-1] if place[-1] not in (LIST, MAP) else place[:-2]
        if plain(name_of(place)) not in SCORE_KEYS:
            return None
        for depth in (base, base[:-1]):
            for other in self.leaves:
                held = self.leaves[other].values
                if (
                    other[:-1] == depth
                    and plain(name_of(other)) in _LABEL_KEYS
                    and other != place
                    and 1 <= len(set(held)) <= 60
                ):
                    self.used.add(other)
                    return other
        return None

    def _name_levels(self, place: Place) -> None:
        """Names for keys that are values, and for places in lists."""
        levels = [place[: i + 1] for i, part in enumerate(place) if part in (LIST, MAP)]
        taken: set[str] = set()
        people_at, item_at = self._crossed([v for v in levels if v[-1] == MAP], place)
        for level in (v for v in levels if v[-1] == MAP):
            keys, below = self.maps[level], place[len(level) :]
            models = sum(map(looks_like_model, keys)) > len(keys) / 3 and len(keys) <= MOST_SYSTEMS
            people = sum(bool(_PEOPLE.match(k) or _CODE.match(k)) for k in keys) > len(keys) / 2
            deeper = any(part == LIST for part in below)
            aspects = sum(bool(ASPECT.search(k)) for k in keys) > len(keys) / 2
            if (
                (aspects or CONTAINER.search(name_of(level[:-1])))
                and plain(name_of(place)) in SCORE_KEYS
                and len(below) == 1
                and not self._says(level)
            ):
                name = "label"
            elif ((models and self._has_text(level)) or self._says(level)) and "system" not in taken:
                name = "system"  # what it said stands beside what was said of it
            elif (people or (models and not deeper)) and "annotator" not in taken:
                name = "annotator"
            elif models and "system" not in taken:
                name = "system"
            elif level == item_at:
                name = "dialogue"
            elif level == people_at:
                name = "annotator"
                systems = Answer("systems: write {system} in `scores`")
                text = f"What are the {len(keys)} keys below {name_of(level[:-1]) or 'the whole'!r}?"
                self.out.ask("annotator", text, "people who judged", systems)
            elif not below and "dialogue" not in taken:
                name = "dialogue"
            elif self._has_text(level) and "system" not in taken:
                name = "system"
            elif not below or all(p == MAP for p in below) or self._holds_people(level, below):
                name = "annotator" if "annotator" not in taken else f"key_{len(taken)}"
            else:
                name = (
                    re.sub(r"[^a-z_]", "_", name_of(level[:-1]).lower()).rstrip("s").strip("_") or f"key_{len(taken)}"
                )
            name = name if name not in taken else f"key_{len(taken)}"
            taken.add(name)
            self.names[level] = name
        self._name_lists([v for v in levels if v[-1] == LIST and len(v) > 1], taken)

    def _name_lists(self, lists: list[Place], taken: set[str]) -> None:
        """Names for places in lists that say what or who: turns, people without a name, parts of the item."""
        held = self.label_column[:-1] if self.label_column else None
        free = []
        for level in lists:
            if _TURNS.search(name_of(level)) and "turn" not in taken:
                self.names[level] = "turn"
                taken.add("turn")
            elif level != held and not self._named_in(level, "annotator") and not self._named_in(level, "system"):
                free.append(level)
        # the last list without a name in it holds judgements of one thing, unless people are known elsewhere
        people = "annotator" in taken or any(self._named_in(level, "annotator") for level in [*lists, ()])
        if free and self.people:
            self.names[free.pop()] = self.names[self.people] = "place"
        elif free and not people:
            level = free.pop()
            self.names[level] = "annotator"
            if isinstance(level[-2], JsonColumn):
                text = f"Whose are the numbers of a list, as in {name_of(level)!r}?"
                often = Answer("occasions or parts of one person: `[part]` for `[annotator]`, and in `identify`")
                self.out.ask("annotator", text, "several people's, one each, by their place", often)
        for level in free:
            if level == self.scores[0]:
                continue  # several answers of one person
            name = re.sub(r"[^a-z_]", "_", name_of(level).lower()).rstrip("s").strip("_") or "part"
            self.names[level] = name if name not in taken | set(OURS) else f"{name}_place"
            taken.add(self.names[level])

    def _crossed(self, levels: list[Place], place: Place) -> tuple[Place | None, Place | None]:
        """Keys of people and of what they judged, where one stands right below the other and both come several times.

        What is numbered was judged; where both are or neither is, the fewer keys are the people's.
        """
        n = len(self.leaves[place].values)
        below = len(levels) == 2 and levels[1] == (*levels[0], MAP) and LIST not in place
        if not below or n < 2 * max(len(self.maps[v]) for v in levels):
            return None, None
        numbered = [v for v in levels if all(re.fullmatch(r"\D*\d+", key) for key in self.maps[v])]
        few, many = sorted(levels, key=lambda v: len(self.maps[v]))
        item = numbered[0] if len(numbered) == 1 else many
        if len(numbered) != 1 and len(self.maps[few]) == len(self.maps[many]):
            return None, None
        return (few if item == many else many), item

    def _holds_people(self, level: Place, below: Place) -> bool:
        """Whether keys below `ratings` or the like, each with its labels, are those of people."""
        return len(below) == 1 and below[0] not in (LIST, MAP) and bool(CONTAINER.search(name_of(level[:-1])))

    def _has_text(self, level: Place) -> bool:
        return any(p[:-1] == level and self.natures[p].kind == "text" for p in self.leaves)

    def _says(self, level: Place) -> bool:
        """Whether a reply stands below each of the keys."""
        texts = {plain(p[-1]) for p in self.leaves if p[:-1] == level and self.natures[p].kind == "text"}
        return bool(texts & REPLIES)

    def _named_in(self, level: Place, ours: str) -> bool:
        """Whether an element of a list (or a record) says itself who judged, or of which system it is."""
        wanted = set(NAMES[ours])
        inside = [p for p in self.leaves if p[: len(level)] == level and not {LIST, MAP} & set(p[len(level) :])]
        return any(plain(name_of(p)) in wanted or role_of(name_of(p)) == ours for p in inside if self._are_names(p))

    def _reachable(self, place: Place) -> list[Place]:
        """Values of which there is one for a score: they go through no other list or keys than the score."""
        levels = {place[: i + 1] for i, part in enumerate(place) if part in (LIST, MAP)}
        return [
            other
            for other in self.leaves
            if all(other[: i + 1] in levels for i, part in enumerate(other) if part in (LIST, MAP))
        ]

    def _columns(self, place: Place, label_column: Place | None) -> dict[str, str]:
        taken = set(self.names.values())
        near = [p for p in self._reachable(place) if p not in self.used and p != label_column]
        out: dict[str, str] = {}
        if self.people and self.people in self.names:
            out["annotator"] = self._path(self.people, label=False)
            self.used.add(self.people)
            taken.add("annotator")
        for ours in NAMES:
            fits = self._named(ours, near) if ours not in ("label", "score", *taken) else []
            fits = [p for p in fits if self._path(p, label=False) not in out.values()]
            if fits:
                best = self._nearest(ours, fits)
                out[ours] = self._path(best, label=False)
                self.used.add(best)
        return out

    def _named(self, ours: str, near: list[Place]) -> list[Place]:
        """Places whose keys say that they hold this: by their usual names, in this order, else by their words."""
        texts = ours in ("user_text", "system_text", "reference")
        for name in NAMES[ours]:
            named = [p for p in near if plain(name_of(p)) == name and self._may_be(p, text=texts)]
            if ours == "dialogue" and name in _IDS:
                named = [p for p in named if self._of_record(p)]
            if named or (named := [p for p in near if plain(name_of(p)) == name and ours == "seconds"]):
                return named
        if texts:
            return [p for p in near if _TURNS.search(name_of(p[:-1])) and self._spoken(p) == ours]
        wanted = [p for p in near if ours in ("annotator", "system", "dialogue") and role_of(name_of(p)) == ours]
        kinds = NAMING if ours == "dialogue" else (*NAMING, "rating")  # people and systems may be numbered
        several = [p for p in wanted if self.natures[p].kind in kinds and len(set(self.leaves[p].values)) > 1]
        return [p for p in several if self._are_names(p)]

    def _may_be(self, place: Place, *, text: bool) -> bool:
        some = text and self.natures[place].kind == "names" and any(" " in v for v in self.leaves[place].values if v)
        return some or self._is_text(place) == text

    def _is_text(self, place: Place) -> bool:
        """Whether values are sentences, or what was said in a turn: nearly each another."""
        values = [v for v in self.leaves[place].values if v]
        return is_prose(pd.Series(values or [""], dtype=object)) or self._spoken(place) is not None

    def _are_names(self, place: Place) -> bool:
        values = [v for v in self.leaves[place].values if v]
        return are_names(pd.Series(values or [""], dtype=object)) and self._spoken(place) is None

    def _spoken(self, place: Place) -> str | None:
        """Whose words a turn holds below the name of a side, where they are not the side's own name."""
        values = [v for v in self.leaves[place].values if v]
        names = len(set(values)) <= max(1, len(values) / 2) and not any(" " in v for v in values)
        if names or LIST not in place or not _TURNS.search(name_of(place[:-1])):
            return None
        side = plain(name_of(place))
        if side in ("user", "human"):
            return "user_text"
        return "system_text" if role_of(side) == "system" else None

    def _nearest(self, ours: str, places: list[Place]) -> Place:
        """Of several places with a name: people stand near the score, dialogues further out, systems have few names."""
        if ours == "system":
            return min(places, key=lambda p: len(set(self.leaves[p].values)))
        return max(places, key=len) if ours != "dialogue" else min(places, key=len)

    def _of_record(self, place: Place) -> bool:
        """Whether an id is that of a record, and not of something that the record names (`target.id`)."""
        ids = self.leaves[place].values
        inside = len(place) > 1 and place[-2] not in (LIST, MAP)
        return not inside or len(set(ids)) == len(ids) == len(self.read.records)

    def _path(self, place: Place, *, label: bool) -> str:
        """A place as a path; the last key as {label} where judgements stand side by side."""
        last = label_at(place)
        out = []
        for i, part in enumerate(place):
            name = self.names.get(place[: i + 1])
            if part == LIST:
                out.append(f"[{name}]" if name else "[]")
            elif part == MAP:
                out.append(f"{{{name or 'key'}}}")
            elif i == last and label:
                out.append("{label}:json" if isinstance(part, JsonColumn) else "{label}")
            else:
                out.append(key_of_path(part))
        return ".".join(out)
