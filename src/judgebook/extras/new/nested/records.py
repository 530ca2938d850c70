"""Guessing a YAML for nested data: where the scores stand, and what the keys and values around them mean.

The guess is a start that a person reads and corrects; no run depends on it.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pandas as pd

from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.nested.groups import (
    CONTAINER,
    NUMBERED,
    SCORE_KEYS,
    keys_of,
    label_at,
    may_be_score,
    same_but_group,
    surely_judged,
)
from judgebook.extras.new.nested.levels import PEOPLE, Levels
from judgebook.extras.new.nested.rows import summary
from judgebook.extras.new.nested.tree import LIST, MAP, Node, Place, collect, name_of, without_label
from judgebook.extras.new.one_label import of_most
from judgebook.extras.new.sides import coded
from judgebook.extras.new.spelling import Shape, declared, flow, quoted
from judgebook.extras.new.words import ASPECT, CHOICE, looks_like_model
from judgebook.sources.formats import Records
from judgebook.sources.in_words import counted
from judgebook.sources.nature import Nature, nature, plain
from judgebook.sources.rows.record_rows import Look
from judgebook.study import paths

#: a key that numbers records, and numbers from which that is plain
_NUMBER, _NUMBERS = Nature("counter", "a number of the record"), 4


def guess_records(read: Records, given: dict[str, str] | None = None) -> Shape | None:
    """What the records seem to hold; None where nothing looks like judgements.

    given : what somebody said, by the question.
    """
    answers = given or {}
    root = Node()
    for record in read.records:
        root.add(record)
    leaves: dict[Place, Node] = {}
    maps: dict[Place, list[str]] = {}
    collect(root, (), leaves, maps)
    natures = {place: nature(name_of(place), pd.Series(node.values, dtype=object)) for place, node in leaves.items()}
    natures |= _as_beside(leaves, natures)
    natures |= {p: _NUMBER for p, seems in natures.items() if seems.kind == "rating" and _counts(p, leaves[p].values)}
    groups: dict[Place, list[Place]] = {}
    for place, seems in natures.items():
        if place and may_be_score(place, seems, leaves, read):  # no path names a record that is itself a value
            groups.setdefault(without_label(place), []).append(place)
    groups = {g: many for g, many in groups.items() if sum(len(leaves[p].values) for p in many) > 1}
    lists = [p for many in groups.values() for p in many if p[-1] == LIST]
    for group, many in [*groups.items()] if lists else []:
        computed = {p: of for p in many if p[-1] != LIST and (of := summary(read, p, lists))}
        natures |= {p: Nature("fraction", f"computed of {name_of(of)}") for p, of in computed.items()}
        groups[group] = [p for p in many if p not in computed]
    derived = {p for many in groups.values() for p in _of_most(many, leaves)}
    groups = {g: kept for g, many in groups.items() if (kept := [p for p in many if p not in derived])}
    # answers counted by score, or people known by a number: which of the two, only a person can say
    of_number = [g for g, many in groups.items() if len(many) > 2 and all(p[-1].isdecimal() for p in many)]
    counted = [p for g in of_number for p in groups.pop(g)]
    for place in counted:
        natures[place] = Nature("counter", NUMBERED)
    if not groups:
        return None
    best = max(groups, key=lambda g: sum(len(leaves[p].values) for p in groups[g]) * (1 + (g[-1:] != (MAP,))))
    keys = keys_of(groups[best])
    beside = [g for g in groups if g != best and same_but_group(g, best) and keys_of(groups[g]) == keys]
    others = [g for g in groups if g != best and g not in beside]
    sure = [g for g in others if surely_judged(groups[g], natures, leaves)]
    writers = [_Writer(read, leaves, maps, natures, groups[g], len(groups[g]), answers) for g in sure]
    more = [writer.shape([], of_others=set(leaves)) for writer in writers]
    unsure = [*(p for g in others if g not in sure for p in groups[g]), *derived]
    in_groups = {p for many in groups.values() for p in many}
    above = groups[best][0][:-1]
    if above and CONTAINER.search(name_of(above)):  # what stands among scores may be one
        free = [p for p in natures if p[:-1] == above and p not in in_groups]
        unsure += [p for p in free if natures[p].judged or natures[p].kind == "constant"]
    scores = groups[best] + [p for g in beside for p in groups[g]]
    out = _Writer(read, leaves, maps, natures, scores, len(groups[best]), answers).shape(
        unsure, of_others={p for writer in writers for p in writer.used}
    )
    out.more = more
    return out


def _counts(place: Place, values: list[str | None]) -> bool:
    """Whether a key of each record numbers what the records are of, in the order of the file: 0, 0, 1, 1, 2, …"""
    if {LIST, MAP} & {*place} or not all(v and v.isdecimal() for v in values):
        return False
    steps = np.diff([int(v or 0) for v in values])
    return len({*values}) >= _NUMBERS and values[0] in ("0", "1") and bool(np.isin(steps, (0, 1)).all())


def _of_most(places: list[Place], leaves: dict[Place, Node]) -> list[Place]:
    """Of scores side by side, those that only say what most others say."""
    held = {p: [v or "" for v in leaves[p].values] for p in places}
    if len(held) < 4 or len({*map(len, held.values())}) > 1:
        return []
    called = {".".join(p): p for p in held}
    return [called[c] for c in of_most(pd.DataFrame({c: held[p] for c, p in called.items()}, dtype=str))]


def _as_beside(leaves: dict[Place, Node], natures: dict[Place, Nature]) -> dict[Place, Nature]:
    """Places of the levels of the ratings beside them, whatever their keys are called: `no_errors`, `Factoid`."""
    levels = {p: {v for v in leaves[p].values if v} for p, seems in natures.items() if p and seems.kind == "rating"}
    found = {}
    for place, seems in natures.items():
        held = [v for v in leaves[place].values if v]
        beside = [given for p, given in levels.items() if without_label(p) == without_label(place) and p != place]
        alike = seems.kind in ("id", "counter") and (
            set(held) in beside or (set(held) <= {"0", "1"} and {"0", "1"} in beside)
        )
        if place and alike and len(set(held)) > 1 and held != sorted(set(held)) * (len(held) // len(set(held))):
            found[place] = nature("c", pd.Series(held, dtype=object))
    return found


class _Writer(Levels):
    """Puts a guess about one group of scores into the words of the YAML."""

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
        each = self._each_key(place, columns) if "{label}" in path and label_column is None and not by_key else ""
        path = path.replace("{label}", f"{{{each or 'label'}}}")
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
        identify = self._identify(place, columns, bound)
        if "annotator" not in columns and "annotator" not in bound:
            out.source.append("annotators: positions")
        keep = {each: [p[label_at(p)] for p in self.scores]} if each else {}
        parts = {"columns": columns, "identify": identify, "constants": constants, "keep": keep}
        out.source += [f"{key}: {flow(part)}" for key, part in parts.items() if part]
        self._labels(place, label_column)
        if each:
            values = [v for p in self.scores for v in self.leaves[p].values]
            out.labels = {"score": declared(out, values, "score")}
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
        others = [p for p in others if p not in self.used]
        if others:
            listed = ", ".join(sorted({self._path(p, label=False) for p in others})[:8])
            how = Answer("judgements: add a source for each")
            out.ask("labels", f"What is at {listed}?", "no judgements", how)
        for other, seems in self.natures.items():
            if other not in self.used | of_others and other not in others:
                out.unused[self._path(other, label=False)] = seems
        return out

    def _each_key(self, place: Place, columns: dict[str, str]) -> str:
        """Whether the keys of scores side by side are people or systems, and not labels; asks where they name none."""
        keys = [p[label_at(p)] for p in self.scores]
        known = {*columns, *self.names.values()}
        free = [ours for ours in ("annotator", "system") if ours not in known]
        if len(keys) < 2 or not free or any(map(ASPECT.search, keys)) or set(map(plain, keys)) & SCORE_KEYS:
            return ""
        people = all(map(PEOPLE.match, keys)) and "annotator" in free
        models = all(map(looks_like_model, keys)) and "system" in free
        each = self.answers.get("each key", "annotator" if people else "system" if models else "label")
        says = {"label": "labels", "annotator": "people who judged", "system": "systems"}
        ways = [Answer(says[x], given={"each key": x}) for x in ("label", *free) if x != each]
        shown = ", ".join(keys[:6]) + ", …" * (len(keys) > 6)
        self.out.ask(f"{each}: keys", f"What are the keys {shown}?", says[each], *ways)
        self.several = self.several or each == "system"
        return "" if each == "label" else each

    def _ranked(self, place: Place) -> bool:
        """Whether each list holds every one of the same names once: a ranking."""
        values = self.leaves[place].values
        n = len(set(values))
        lists = [values[i : i + n] for i in range(0, len(values), n)]
        return place[-1] == LIST and len(lists) > 2 < n and all(len(set(one)) == n for one in lists)

    def _identify(self, place: Place, columns: dict[str, str], bound: set[str]) -> dict[str, list[str]]:
        """An id of the dialogue from all that a score's place has besides who judged what."""
        free = [
            f"{{{n}}}"
            for level, n in self.names.items()
            if n not in ("annotator", "turn", "dialogue", "system", "label") and not (self.people and n == "place")
        ]
        system = "{system}" if "system" in bound else columns.get("system")
        if "dialogue" in bound:
            key = next(v for v, n in self.names.items() if n == "dialogue")
            item = "{dialogue}" if key[-1] == MAP else "[dialogue]"
            return {"dialogue": [item, system], "context": [item]} if system and self.several else {}
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

    def _sides(self) -> bool:
        """Whether all answers say in words which side won; then `values` says so."""
        n = Counter(v for p in self.scores for v in self.leaves[p].values if v)
        coding = coded(n)
        if coding.unknown or coding.sure < 3 or not coding.sides:
            return False
        self.out.method = "comparative"
        self.out.source.append(f"values: {flow(dict(sorted(coding.sides.items())))}")
        return True

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
        elif place[-1] == MAP or label_at(place) < 0:
            self.out.labels = {"score": declared(self.out, self.leaves[place].values, "score")}
        else:
            held: dict[str, list[str | None]] = {}
            for p in self.scores:
                held.setdefault(p[label_at(p)], []).extend(self.leaves[p].values)
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
        self.out.labels = {label: flow({"categories": words, "level": "sets"})}
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
        if len(systems) != 2 or not self._sides():
            return
        names = ["part_" + "abcdefgh"[i] for i in range(len(seen))]
        names[systems[0]], names[systems[1]] = "system", "system_b"
        others = [f"{{{n}}}" for n in names if n not in ("system", "system_b")]
        self.out.source = [
            line.replace("{dialogue}", "{pair}") for line in self.out.source if not line.startswith("identify")
        ]
        ids = {"dialogue": [*others, "{system}"], "dialogue_b": [*others, "{system_b}"], "context": others}
        self.out.source += [
            'patterns: {"{pair}": "' + "__".join(f"{{{n}}}" for n in names) + '"}',
            f"identify: {flow(ids)}",
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
            self.out.source.append(f"judges: {flow(dict.fromkeys(models, 'llm'))}")
