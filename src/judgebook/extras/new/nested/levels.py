"""What the keys and lists around scores mean: labels, systems, people, items, turns; and what is said of each there."""

from __future__ import annotations

import re
from collections import Counter

import pandas as pd

from judgebook.extras.new import readings
from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.nested.groups import CONTAINER, SCORE_KEYS, label_at, people_of
from judgebook.extras.new.nested.rows import flat, levels_of
from judgebook.extras.new.nested.tree import LIST, MAP, REPLIES, Node, Place, name_of
from judgebook.extras.new.readings import ROLES
from judgebook.extras.new.roles import MOST_SYSTEMS, role_of
from judgebook.extras.new.spelling import JsonColumn, Shape, key_of_path
from judgebook.extras.new.words import ASPECT, are_names, is_prose, looks_like_model
from judgebook.sources.formats import Records
from judgebook.sources.nature import NAMES, Nature, numbered, plain
from judgebook.study.source_shared import OURS

_TURNS = re.compile(r"turns?$|utterances?$|messages?$|^log$|^dialog(ue)?$|^conversation$|exchanges$", re.I)
PEOPLE = re.compile(
    r"(author|ann|annotator|rater|worker|user|expert|human|person|coder|judge|[awrhp])[_ -]?[0-9]+$", re.I
)
_CODE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{20,}$|A[0-9A-Z]{10,}$", re.I)
#: keys of what was said to be judged, where the key beside it holds the judgement
_LABEL_KEYS = {"label", "metric", "criterion", "dimension", "question", "aspect", "name", "fromname"}
#: names of ids that do not say of what
_IDS = {"id", "idx", "uid", "uuid"}


#: values that all differ are ids where they are so many
_KEYS = 5
#: of keys, so many for each item on average show that they cross items
_CROSSED = 1.2


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
        answers: dict[str, str],
    ):
        """scores : those of the first group of people (`n_first`), and of others beside it. answers : what somebody
        said, by the question."""
        self.read, self.leaves, self.maps, self.natures, self.scores = read, leaves, maps, natures, scores
        # the key of this group, which the places of others do not have
        self.of_groups = {
            k for p in scores[n_first:] for k in set(scores[0]) - set(p) if "_" in k and k != scores[0][-1]
        }
        self.out = Shape(in_json_column=isinstance(scores[0][0], JsonColumn))
        self.names: dict[Place, str] = {}
        self.used: set[Place] = set(scores)
        self.label_column: Place | None = None
        self.n_first = n_first
        self.answers = answers
        #: whether items have several systems
        self.several = False
        #: role -> the level, or the place of the values, that has it by how the scores would be read
        self.told: dict[str, Place] = {}
        self.people = people_of(scores[0], leaves, read)

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
        levels = levels_of(place)
        taken: set[str] = set()
        maps = [v for v in levels if v[-1] == MAP]
        for level in maps:
            name = self._by_its_keys(level, place)
            if name and name not in taken:
                self.names[level] = name
                taken.add(name)
        self._read(place)
        for level in (v for v in maps if v not in self.names):
            name = next((role for role, told in self.told.items() if told == level and role not in taken), "")
            if name in ("annotator", "system"):
                self._ask_whose(level, name)
            name = name or re.sub(r"[^a-z_]", "_", name_of(level[:-1]).lower()).rstrip("s").strip("_")
            self.names[level] = name if name and name not in taken | (set(OURS) - set(ROLES)) else f"key_{len(taken)}"
            taken.add(self.names[level])
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
            inside = {p: self.leaves[p].values for p in self._reachable(self.scores[0]) if p[: len(level)] == level}
            kinds = ("words", "names", "id", "counter", "number")
            ways = [
                Answer(f"the key {name_of(p)!r}: {len(set(held))} people", given={"annotator": ".".join(p)})
                for p, held in inside.items()
                if p not in self.scores and self.natures[p].kind in kinds and 1 < len(set(held)) < len(held)
            ]
            if ways:
                self.out.ask("annotator", "Who judged?", f"people by their place in {name_of(level)!r}", *ways)
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

    def _ask_whose(self, level: Place, role: str) -> None:
        says = {"annotator": "people who judged", "system": "systems"}
        below, other = self._above(level), "system" if role == "annotator" else "annotator"
        text = f"What are the {len(self.maps[level])} keys below {below!r}?"
        self.out.ask(role, text, says[role], Answer(says[other], given={f"keys below {below}": other}))

    def _by_its_keys(self, level: Place, place: Place) -> str:
        """What keys that are values say by what they are called or by what stands below them; "" where they do not."""
        keys, below = self.maps[level], place[len(level) :]
        aspects = sum(bool(ASPECT.search(k)) for k in keys) > len(keys) / 2
        scored = plain(name_of(place)).removesuffix("s") in SCORE_KEYS and below[1:] in ((), (LIST,)) and below
        if (aspects or CONTAINER.search(name_of(level[:-1]))) and scored and not self._says(level):
            return "label"
        models = sum(map(looks_like_model, keys)) > len(keys) / 3 and len(keys) <= MOST_SYSTEMS
        again = len(keys) <= MOST_SYSTEMS and (not self.read.single or len({*levels_of(place), place}) > 2)
        if (models and self._has_text(level)) or (again and self._says(level) and not self._named_in(level, "system")):
            return "system"  # its text is in the same record as the judgement of it
        if sum(bool(PEOPLE.match(k) or _CODE.match(k)) for k in keys) > len(keys) / 2:
            return "annotator"
        return ("system" if LIST in below else "annotator") if models else ""

    def _read(self, place: Place) -> None:
        """Tell roles of other keys and values by how the scores would be read with them."""
        near = [p for p in self._reachable(place) if p not in self.scores]
        scores = {p: p[label_at(p)] if label_at(p) >= 0 else "" for p in self.scores[: self.n_first]}
        cells = flat(self.read, scores, near)
        fixed = {name: level for level, name in self.names.items() if name in ROLES}
        for ours in (r for r in ROLES if r not in fixed):
            if fits := self._named(ours, [p for p in near if p not in fixed.values()]):
                fixed[ours] = self._nearest(ours, fits)
        fixed |= {r: p for p in near for r in ROLES if self.answers.get(r) == ".".join(p)}
        last = Counter(p[-1] for p in near)
        called = {p: f"{p[-1] if last[p[-1]] == 1 else '.'.join(p)} " for p in cells if isinstance(p, tuple)}
        places = {name: p for p, name in called.items()}
        single = [p for p in near if self._is_key(p)]
        ids = {called[p]: Nature("id", "each has another") for p in [*fixed.values(), *single] if p in called}
        turns = [called[p] for p in called if p[-1] == LIST and _TURNS.search(name_of(p))]
        table = readings.Table(cells.rename(columns=called), ["label", *turns])
        table.kinds |= ids
        keys = [called[v] for v in levels_of(place) if v[-1] == MAP and v not in self.names]
        free = [called[p] for p in near if p in called] + keys
        found = readings.read(table, {r: called[p] for r, p in fixed.items() if p in called}, free, "none")
        best = found[0]
        for role, what in (("system", "systems"), ("annotator", "people")):
            ways = readings.columns_for(table, role, found, free)
            free_places = {c: places[c] for c in ways if places[c] in near and role not in fixed}
            kinds = ("words", "names", "id", "counter")
            free_places = {c: p for c, p in free_places.items() if self.natures[p].kind in kinds}
            self.out.choices[role] = [
                Answer(f"the key {name_of(p)!r}: {table.levels[c]} {what}", given={role: ".".join(p)})
                for c, p in free_places.items()
            ]
        item: list[str] = [*best.item]
        told: dict[str, str | None] = {"system": best.system, "annotator": best.annotator}
        if not item and (left := [c for c in keys if c not in told.values()]):
            item = [max(left, key=lambda c: table.levels[c])]
        counted = [c for c in keys if numbered(self.maps[places[c]])]
        if len(item) == 1 and item[0] in keys and len(counted) == 1:  # what is numbered was judged
            told = {role: None if c in (*counted, *item) else c for role, c in told.items()}
            item = counted
        # keys that cross items may be those of people or systems
        for column in [c for c in keys if c not in item]:
            asked = self.answers.get(f"keys below {self._above(places[column])}")
            if asked or (told["annotator"] is None and not self._has_text(places[column])):
                told = {role: None if c == column else c for role, c in told.items()}
                crossed = bool(item) and table.each(column, item) > _CROSSED
                told |= {asked: column} if asked else {"annotator": column} if crossed else {}
        told["dialogue"] = item[0] if len(item) == 1 else None
        self.told = {role: places[c] for role, c in told.items() if c}
        system = told["system"]
        self.several = bool(system and item) and table.each(str(system), item) > _CROSSED

    def _is_key(self, place: Place) -> bool:
        """Whether each element of a list, or record, has a number or a short name of its own there."""
        values = self.leaves[place].values
        return len(set(values)) == len(values) >= _KEYS and not self._is_text(place)

    @staticmethod
    def _above(level: Place) -> str:
        return name_of(level[:-1]) or "the whole"

    def _has_text(self, level: Place) -> bool:
        return any(p[:-1] == level and self.natures[p].kind == "text" for p in self.leaves)

    def _says(self, level: Place) -> bool:
        """Whether a reply stands below each of the keys."""
        texts = {plain(p[-1]) for p in self.leaves if p[:-1] == level and self.natures[p].kind == "text"}
        return bool(texts & REPLIES)

    def _named_in(self, level: Place, ours: str) -> bool:
        """Whether an element of a list (or a record) says itself who judged, or of which system it is."""
        wanted = set(NAMES[ours])
        told = self.told.get(ours, ())
        if told[-1:] not in ((), (MAP,)) and levels_of(told)[-1:] == [level]:
            return True
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
            said = [p for p in near if self.answers.get(ours) == ".".join(p)]
            fits = said or (self._named(ours, near) if ours not in ("label", "score", *taken) else [])
            fits = [p for p in fits if self._path(p, label=False) not in out.values()]
            if fits:
                best = self._nearest(ours, fits)
                out[ours] = self._path(best, label=False)
                self.used.add(best)
        for ours, told in self.told.items():
            if ours not in {*out, *taken} and told in near and told not in self.used:
                out[ours] = self._path(told, label=False)
                self.used.add(told)
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
        return []

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
