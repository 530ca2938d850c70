"""Guessing a YAML for nested data: where the scores stand, and what the keys and values around them mean.

The guess is a start that a person reads and corrects; no run depends on it.
"""

from __future__ import annotations

import re

import pandas as pd

from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.roles import NAMING, role_of
from judgebook.extras.new.spelling import JsonColumn, Shape, declared, key_of_path, quoted
from judgebook.extras.new.tree import LIST, MAP, REPLIES, Node, Place, collect, name_of, without_label
from judgebook.extras.new.words import ANSWERS, ASPECT, CHOICE, SIDES, is_prose, looks_like_model
from judgebook.sources.formats import Records
from judgebook.sources.in_words import counted
from judgebook.sources.nature import NAMES, Nature, nature, plain
from judgebook.sources.rows.record_rows import Look
from judgebook.study import paths
from judgebook.study.source_shared import OURS

_TURNS = re.compile(r"turns?$|utterances?$|messages?$|^log$|^dialog(ue)?$|^conversation$|exchanges$", re.I)
_PEOPLE = re.compile(
    r"(author|ann|annotator|rater|worker|user|expert|human|person|coder|judge|[awrhp])[_ -]?[0-9]+$", re.I
)
_CODE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{20,}$|A[0-9A-Z]{10,}$", re.I)
#: keys of what was said to be judged, where the key beside it holds the judgement
_LABEL_KEYS = {"label", "metric", "criterion", "dimension", "question", "aspect", "name", "fromname"}
_SCORE_KEYS = {"score", "rating", "value", "answer", "judgement", "judgment", "annotation", "label", "vote", "choice"}
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
#: names of ids that do not say of what
_IDS = {"id", "idx", "uid", "uuid"}
#: so many systems at most are taken for such by their names alone
_SYSTEMS = 60
#: keys that say how judgements are kept, not what was judged
_CONTAINER = re.compile(
    r"scores?$|annotations?$|ratings?$|labels?$|values?$|individual|responses?$|answers?$|votes?$", re.I
)

#: keys whose values are judgements, whatever they are called
_JUDGED = re.compile(r"(annotation|rating|judge?ment|evaluation|score)s?", re.I)


def guess_records(read: Records) -> Shape | None:
    """What the records seem to hold; None where nothing looks like judgements."""
    root = Node()
    for record in read.records:
        root.add(record)
    leaves: dict[Place, Node] = {}
    maps: dict[Place, list[str]] = {}
    collect(root, (), leaves, maps)
    natures = {place: nature(name_of(place), pd.Series(node.values, dtype=object)) for place, node in leaves.items()}
    groups: dict[Place, list[Place]] = {}
    for place, seems in natures.items():
        if place and _may_be_score(place, seems, leaves):  # no path names a record that is itself a value
            groups.setdefault(without_label(place), []).append(place)
    groups = {g: many for g, many in groups.items() if sum(len(leaves[p].values) for p in many) > 1}
    # answers counted by score, or people known by a number: which of the two, only a person can say
    of_number = [g for g, many in groups.items() if len(many) > 2 and all(p[-1].isdecimal() for p in many)]
    counted = [p for g in of_number for p in groups.pop(g)]
    for place in counted:
        natures[place] = Nature("counter", NUMBERED)
    if not groups:
        return None
    best = max(groups, key=lambda g: sum(len(leaves[p].values) for p in groups[g]) * (1 + (g[-1:] != (MAP,))))
    beside = [g for g in groups if g != best and _same_but_group(g, best) and _keys(groups[g]) == _keys(groups[best])]
    others = [g for g in groups if g != best and g not in beside]
    sure = [g for g in others if _surely(groups[g], natures, leaves)]
    writers = [_Writer(read, leaves, maps, natures, groups[g], len(groups[g])) for g in sure]
    more = [writer.shape([], of_others=set(leaves)) for writer in writers]
    unsure = [p for g in others if g not in sure for p in groups[g]]
    scores = groups[best] + [p for g in beside for p in groups[g]]
    out = _Writer(read, leaves, maps, natures, scores, len(groups[best])).shape(
        unsure, of_others={p for writer in writers for p in writer.used}
    )
    out.more = more
    return out


def _surely(places: list[Place], natures: dict[Place, Nature], leaves: dict[Place, Node]) -> bool:
    """Whether a group of scores is one beyond doubt: ratings or yes and no, below the name of a quality."""

    def plainly_rated(place: Place) -> bool:
        return natures[place].kind == "rating" or {str(v).lower() for v in leaves[place].values if v} <= set(ANSWERS)

    return all(plainly_rated(p) and ASPECT.search(name_of(p)) for p in places)


def _keys(places: list[Place]) -> set[str]:
    return {name_of(p) for p in places}


def _same_but_group(one: Place, other: Place) -> bool:
    """Whether places differ in one key only, which says who judged: `expert_ratings` and `crowd_ratings`."""
    differing = [pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
    if len(one) != len(other) or len(differing) != 1:
        return False
    ends = {key.rpartition("_")[2] for key in differing[0]}
    return len(ends) == 1 and all("_" in key for key in differing[0]) and bool(_CONTAINER.fullmatch(ends.pop()))


#: why numbers below keys that are numbers are not used
NUMBERED = (
    "numbers below keys that are numbers: write {annotator} for the keys where they are people, or {score} with "
    '`count: "{value}"` where the values say how many people gave this score'
)


def _may_be_score(place: Place, seems: Nature, leaves: dict[Place, Node]) -> bool:
    name = plain(name_of(place))
    words = {str(v).strip().lower() for v in leaves[place].values if v}
    if name in {*_NO_SCORES, *NAMES["annotator"], *NAMES["turn"]}:
        return False
    if re.search(r"cancel|skipped|draft|submitted|^was|^(is)?(completed|finished)$", name):  # states of a task
        return False
    if words and words <= set(ANSWERS) and len(words) > 1:
        return True
    judged = bool(_JUDGED.fullmatch(place[-2] if len(place) > 1 else ""))
    short = all(len(str(v)) < (60 if judged else 30) for v in leaves[place].values if v)
    if not seems.judged:
        # one answer for all is still a judgement where its key says so
        return seems.kind == "constant" and short and name in _SCORE_KEYS - {"label", "value"}
    if seems.kind == "words":
        inside = judged or place[-1] in (LIST, MAP)
        siblings = [p for p in leaves if without_label(p) == without_label(place)]
        return (
            short
            and (inside or name in _SCORE_KEYS or any(s in name for s in ("rating", "prefer", "winner", "score")))
            and len(siblings) < 12
        )
    return True


def _label_at(place: Place) -> int:
    """Where the key of the label is: the last, or the one above where the last only says that there are scores."""
    keys = [i for i, part in enumerate(place) if part not in (LIST, MAP)]
    beside = len(keys) > 1 and place[-1] == LIST and keys[-2] == keys[-1] - 1
    if beside and _CONTAINER.search(place[keys[-1]]) and not _CONTAINER.search(place[keys[-2]]):
        return keys[-2]
    return keys[-1] if keys else -1


class _Writer:
    """Puts a guess about one group of scores into the words of the YAML."""

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

    def shape(self, others: list[Place], of_others: set[Place]) -> Shape:
        """The source of these scores.

        others : places of what may be judgements, too. of_others : those that other sources read.
        """
        place = self.scores[0]
        label_column = self.label_column = self._label_beside(place)
        self._name_levels(place)
        columns = self._columns(place, label_column)
        by_key = "label" in self.names.values()
        path = self._path(place, label=label_column is None and place[-1] != MAP and not by_key)
        for key in self.of_groups:  # `{group}_ratings` reads those of all
            path = path.replace(key, "{group}_" + key.rpartition("_")[2], 1)
        out = self.out
        out.source = [f"scores: {quoted(path)}"]
        bound = set(re.findall(r"[{\[]([a-z_]+)[}\]]", path))
        constants = {}
        if label_column is not None:
            columns["label"] = self._path(label_column, label=False)
        elif "label" not in bound:
            constants["label"] = "score"
        identify = self._compared(columns) or self._identify(place, columns, bound)
        if "annotator" not in columns and "annotator" not in bound:
            out.source.append("annotators: positions")
        out.source += (
            ["columns: {" + ", ".join(f"{k}: {quoted(v)}" for k, v in columns.items()) + "}"] if columns else []
        )
        parts = [f"{k}: [{', '.join(map(quoted, v))}]" for k, v in identify.items()]
        out.source += [f"identify: {{{', '.join(parts)}}}"] if parts else []
        out.source += [f"constants: {{{', '.join(f'{k}: {v}' for k, v in constants.items())}}}"] if constants else []
        self._labels(place, label_column)
        self._sets(place, path)
        self._judges(bound)
        self._pairs()
        if out.method == "comparative":
            out.labels = dict.fromkeys(out.labels, "{scale: [-1, 1]}")
            out.without("level ")
        elif "turn" in bound or "turn" in columns:
            out.method = "turn_rating"
        choices = [name for name in out.labels if CHOICE.search(name) and out.method != "comparative"]
        if choices:
            out.a_choice(choices)
        if len(self.scores) == 1 and self.natures[place].kind == "words" and self._ranked(place):
            rank = self._path(place[:-1], label=False) + ":ranking.{system}"
            how = Answer(f"rankings: `scores` is {rank!r}")
            out.ask("comparison", "What are the lists, which hold the same names each?", "several answers", how)
        if others:
            listed = ", ".join(sorted({self._path(p, label=False) for p in others})[:8])
            how = Answer("judgements: add a source for each")
            out.ask("labels", f"What is at {listed}?", "no judgements", how)
        for other, seems in self.natures.items():
            if other not in self.used | of_others and other not in others:
                out.unused[self._path(other, label=False)] = seems
        return out

    def _ranked(self, place: Place) -> bool:
        """Whether each list holds every one of the same names once: a ranking."""
        values = self.leaves[place].values
        n = len(set(values))
        lists = [values[i : i + n] for i in range(0, len(values), n)]
        return place[-1] == LIST and len(lists) > 2 < n and all(len(set(one)) == n for one in lists)

    def _label_beside(self, place: Place) -> Place | None:
        """The key beside the score that says what was judged."""
        base = place[:-1] if place[-1] not in (LIST, MAP) else place[:-2]
        if plain(name_of(place)) not in _SCORE_KEYS:
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
            models = sum(map(looks_like_model, keys)) > len(keys) / 3 and len(keys) <= _SYSTEMS
            people = sum(bool(_PEOPLE.match(k) or _CODE.match(k)) for k in keys) > len(keys) / 2
            deeper = any(part == LIST for part in below)
            aspects = sum(bool(ASPECT.search(k)) for k in keys) > len(keys) / 2
            if (
                (aspects or _CONTAINER.search(name_of(level[:-1])))
                and plain(name_of(place)) in _SCORE_KEYS
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
        if free and not people:
            self.names[free.pop()] = "annotator"
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
        return len(below) == 1 and below[0] not in (LIST, MAP) and bool(_CONTAINER.search(name_of(level[:-1])))

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
        return any(plain(name_of(p)) in wanted or role_of(name_of(p)) == ours for p in inside if not self._is_text(p))

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
        several = [p for p in wanted if self.natures[p].kind in NAMING and len(set(self.leaves[p].values)) > 1]
        return [p for p in several if not self._is_text(p)]

    def _may_be(self, place: Place, *, text: bool) -> bool:
        some = text and self.natures[place].kind == "names" and any(" " in v for v in self.leaves[place].values if v)
        return some or self._is_text(place) == text

    def _is_text(self, place: Place) -> bool:
        """Whether values are sentences, or what was said in a turn: nearly each another."""
        values = [v for v in self.leaves[place].values if v]
        return is_prose(pd.Series(values or [""], dtype=object)) or self._spoken(place) is not None

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

    def _identify(self, place: Place, columns: dict[str, str], bound: set[str]) -> dict[str, list[str]]:
        """An id of the dialogue from all that a score's place has besides who judged what."""
        free = [
            f"{{{n}}}"
            for level, n in self.names.items()
            if n not in ("annotator", "turn", "dialogue", "system", "label")
        ]
        system = "{system}" if "system" in bound else columns.get("system")
        if "dialogue" in bound:
            return {}
        single = self.read.single and "dialogue" not in columns
        if "annotator" not in {*columns, *bound} and self._repeated(columns.get("dialogue")):
            columns["dialogue"] = "{row}"
        base = ([columns.pop("dialogue")] if "dialogue" in columns else [] if single else self._some_id(place)) + free
        if system is not None and (free or "system" in bound or self._several(base, system)):
            return {"dialogue": [*base, system], "context": base} if base else {"dialogue": [system]}
        if len(base) == 1 and not free:
            columns["dialogue"] = base[0]
            return {}
        return {"dialogue": base} if base else {}

    def _repeated(self, path: str | None) -> bool:
        """Whether a few records have the id of another, which says it is no id of what was judged."""
        place = next((p for p in self.leaves if self._path(p, label=False) == path and not {LIST, MAP} & set(p)), ())
        ids = self.leaves[place].values if place else []
        again = len(ids) - len(set(ids))
        if not 0 < again < 0.1 * len(ids):
            return False
        evidence = f"{again} records repeat an id in {path}"
        self.out.ask("item", "What is one item?", "each record", Answer(f"what {path} names"), evidence=evidence)
        return True

    def _compared(self, columns: dict[str, str]) -> dict[str, list[str]]:
        """Both sides of a comparison, where the values say in words which won."""
        words = {v for p in self.scores for v in self.leaves[p].values if v}
        if not {"system", "system_b", "dialogue"} <= set(columns) or not all(w.lower() in SIDES for w in words):
            return {}
        self.out.method = "comparative"
        self.out.source.append("values: {" + ", ".join(f"{quoted(w)}: {SIDES[w.lower()]}" for w in sorted(words)) + "}")
        shown = columns.pop("dialogue")
        columns["context"] = shown
        return {"dialogue": [shown, columns["system"]], "dialogue_b": [shown, columns["system_b"]]}

    def _several(self, base: list[str], system: str) -> bool:
        """Whether one id stands for responses of several systems."""
        at = {self._path(p, label=False): p for p in self.leaves}
        below = at[system].count(LIST) + at[system].count(MAP) if system in at else 0
        if below > sum(at[b].count(LIST) + at[b].count(MAP) for b in base[:1] if b in at):
            return True
        if not (base and base[0] in at and system in at):
            return False
        pairs = set(zip(self.leaves[at[base[0]]].values, self.leaves[at[system]].values, strict=False))
        return len(pairs) > len({one for one, _ in pairs})

    def _some_id(self, place: Place) -> list[str]:
        """Any id that is one for each record, else its number."""
        for other in self._reachable(place):
            ids = self.leaves[other].values
            if (
                self.natures[other].kind in ("id", "counter")
                and LIST not in other
                and MAP not in other
                and len(set(ids)) == len(ids) > 1
                and other not in self.used
            ):
                self.used.add(other)
                return [self._path(other, label=False)]
        return ["{row}"]

    def _path(self, place: Place, *, label: bool) -> str:
        """A place as a path; the last key as {label} where judgements stand side by side."""
        last = _label_at(place)
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

    def _labels(self, place: Place, label_column: Place | None) -> None:
        if label_column is not None:
            names = list(dict.fromkeys(v for v in self.leaves[label_column].values if v))
            scores, beside = [v for p in self.scores for v in self.leaves[p].values], self.leaves[label_column].values
            # where not each score has its label beside it, all have one scale
            each = dict.fromkeys(names, scores)
            if len(beside) == len(scores):
                each = {name: [s for b, s in zip(beside, scores, strict=True) if b == name] for name in names}
            self.out.labels = {name: declared(self.out, values, name) for name, values in each.items()}
        elif "label" in self.names.values():
            level = next(v for v, n in self.names.items() if n == "label")
            spec = declared(self.out, self.leaves[place].values, name_of(place))
            self.out.labels = dict.fromkeys(self.maps[level], spec)
        elif place[-1] == MAP or _label_at(place) < 0:
            self.out.labels = {"score": declared(self.out, self.leaves[place].values, "score")}
        else:
            held: dict[str, list[str | None]] = {}
            for p in self.scores:
                held.setdefault(p[_label_at(p)], []).extend(self.leaves[p].values)
            self.out.labels = {key: declared(self.out, values, key) for key, values in held.items()}

    def _sets(self, place: Place, path: str) -> None:
        """Answers in a list that no name stands for are several of one person; an empty list is the answer `none`."""
        words = sorted({v for v in self.leaves[place].values if v})
        if place[-1] != LIST or place in self.names or self.natures[place].kind != "words":
            return
        steps = paths.parse(path.replace(":json", "").replace("{label}", name_of(place)), table=False)
        walk = Look("none")
        none = sum(value == "none" for record in self.read.records for value, _, _ in walk.each(record, steps, "", {}))
        words += ["none"] if none and "none" not in words else []
        if none:
            what = counted(none, "empty list")
            how = Answer("no judgement: delete `empty`", {"sources.*.empty": None})
            self.out.ask(
                f"no answer in {name_of(place)}", f"What are {what} of {name_of(place)!r}?", "nothing applies", how
            )
        self.out.source += ["empty: none"] if none else []
        label = name_of(place)
        self.out.labels = {label: f"{{categories: [{', '.join(map(quoted, words))}], level: sets}}"}
        self.out.warnings = [w for w in self.out.warnings if "level: ordinal" not in w]

    def _pairs(self) -> None:
        """Keys made of several parts, of which two are systems: `82__alpha__beta__1`."""
        level = next((v for v, n in self.names.items() if n == "dialogue" and v[-1] == MAP), None)
        keys = self.maps.get(level, []) if level else []
        parts = [key.split("__") for key in keys]
        if len({len(p) for p in parts}) != 1 or len(parts[0]) < 3:
            return
        seen = [set(column) for column in zip(*parts, strict=True)]
        systems = [i for i, s in enumerate(seen) if sum(map(looks_like_model, s)) > len(s) / 3]
        words = [v for p in self.scores for v in self.leaves[p].values if v]
        if len(systems) != 2 or not all(w.lower() in SIDES for w in words):
            return
        names = ["part_" + "abcdefgh"[i] for i in range(len(seen))]
        names[systems[0]], names[systems[1]] = "system", "system_b"
        others = [f"{{{n}}}" for n in names if n not in ("system", "system_b")]
        self.out.method = "comparative"
        self.out.source = [
            line.replace("{dialogue}", "{pair}") for line in self.out.source if not line.startswith("identify")
        ]
        ids = {s: ", ".join(quoted(o) for o in [*others, f"{{{s}}}"]) for s in ("system", "system_b")}
        self.out.source += [
            'patterns: {"{pair}": "' + "__".join(f"{{{n}}}" for n in names) + '"}',
            f"identify: {{dialogue: [{ids['system']}], dialogue_b: [{ids['system_b']}], "
            f"context: [{', '.join(map(quoted, others))}]}}",
            "values: {" + ", ".join(f"{quoted(w)}: {SIDES[w.lower()]}" for w in sorted(set(words))) + "}",
        ]
        self.out.labels = dict.fromkeys(self.out.labels, "{scale: [-1, 1]}")
        self.out.without("level ")
        self.out.warnings.append("comparisons: +1 means that the first system won; `values` maps words to scores")

    def _judges(self, bound: set[str]) -> None:
        level = next((v for v, n in self.names.items() if n == "annotator" and v[-1] == MAP), None)
        keys = self.maps.get(level, []) if level else []
        models = [key for key in keys if looks_like_model(key)]
        if models and len(models) == len(keys):
            self.out.source.append('judges: {"*": llm}  # all of them look like language models')
        elif models:
            self.out.source.append(f"judges: {{{', '.join(f'{quoted(m)}: llm' for m in models)}}}")
