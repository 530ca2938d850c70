"""Walking through records by paths: from nested JSON, or rows of a table, to one row per score."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from judgebook.sources import json_text
from judgebook.sources.adapters.options.records import prefixes
from judgebook.sources.formats import Records, scalar
from judgebook.sources.json_text import kind
from judgebook.sources.rows import advice
from judgebook.study import limits, paths
from judgebook.study.paths import ALONE, Step
from judgebook.study.schema import DataError, Problem

_SHOWN = 60
#: digits of a position in a list
_DIGITS = 9
Env = dict[str, Any]


class Walk:
    """Takes values out of the records of one file, and collects what is wrong.

    known : name -> the only texts it may stand for (the labels). Where a path binds a name, the env holds it; where it
    goes through a list, the env holds the position under `@` and the path to the list. taken : columns that no
    placeholder means. empty : what the last list of a path stands for where it is empty. labelled : paths of lists
    whose elements say which label they are of: an empty one is of none.
    """

    def __init__(
        self,
        file: str,
        known: dict[str, Iterable[str]],
        taken: Iterable[str] = (),
        empty: str | None = None,
        labelled: Iterable[str] = (),
    ):
        self.file, self.known, self.taken, self.empty = file, known, set(taken), empty
        self.labelled = set(labelled)
        self.problems: list[Problem] = []
        #: places where nothing was marked, which is the answer `empty`
        self.nothing: set[str] = set()
        self._matchers: dict[tuple, paths.Matcher] = {}
        self._told: set[str] = set()
        #: keys that a name stands for, by the path to them: above what the path expects, and above anything else, with
        #: the place and what was expected
        self._objects: set[tuple[str, str]] = set()
        self._others: dict[tuple[str, str], tuple[str, str]] = {}
        self._pairs: dict[int, tuple[list[Step], list[tuple[str, Step]]]] = {}

    def report(self, where: str, path: str, expected: str, content: str, hint: str = "") -> None:
        hint = hint or "correct it in the file, or the path in the YAML"
        self.problems.append(Problem(self.file, where, path, expected, content[:_SHOWN], hint))
        if len(self.problems) >= limits.PROBLEMS:
            raise DataError(self.problems)

    def each(self, record: Any, steps: list[Step], where: str, env: Env) -> Iterator[tuple[Any, str, Env]]:
        """Every value that a path leads to: (value, where it stands, what its names stand for)."""
        if len(steps) == 1 and steps[0].kind == "key" and "{" not in steps[0].text and isinstance(record, dict):
            key = steps[0].text  # as below, for the most records that there are
            if key in record:
                yield record[key], _place(where, [key]), env
            return
        yield from self._each(record, steps, prefixes(steps), 0, [], where, env)

    def _each(
        self, node: Any, steps: list[Step], at: list[str], i: int, place: list[str], where: str, env: Env
    ) -> Iterator[tuple[Any, str, Env]]:
        if i == len(steps):
            yield node, _place(where, place), env
            return
        step = steps[i]
        if node is None or node == "" or node != node:  # JSON of Python writes NaN for nothing
            if node == "" and step.kind in ("split", "json") and self.empty is not None:  # nothing was marked
                yield self._nothing(_place(where, place)), _place(where, place), env
            return
        if step.kind == "list":
            if not isinstance(node, list) and i and ALONE.fullmatch(steps[i - 1].text):
                self._beside(at[i - 1], place, where, "a list")
                return
            if not isinstance(node, list):
                self.report(_place(where, place), at[i], "a list", kind(node), "leave out [] where there is none")
                return
            if i:
                self._objects.add((at[i - 1], place[-1] if place else ""))
            last = not any(s.iterates for s in steps[i + 1 :])
            if not node and last and self.empty is not None and at[i] not in self.labelled:
                yield self._nothing(_place(where, place)), _place(where, place), env
            chosen = range(len(node)) if step.index is None else [step.index] if step.index < len(node) else []
            for k in chosen:
                more = {} if step.index is not None else {f"@{at[i]}": k} | ({step.name: str(k)} if step.name else {})
                if step.name and env.get(step.name, str(k)) != str(k):
                    continue
                yield from self._each(node[k], steps, at, i + 1, [*place, f"[{k}]"], where, env | more)
        elif step.kind == "key":
            if not isinstance(node, dict | list) and i and ALONE.fullmatch(steps[i - 1].text):
                self._beside(at[i - 1], place, where, "an object with keys")
                return
            if not isinstance(node, dict):
                hint = "write [] where the path goes through a list" if isinstance(node, list) else ""
                self.report(_place(where, place), at[i], "an object with keys", kind(node), hint)
                return
            if i:
                self._objects.add((at[i - 1], place[-1] if place else ""))
            for key, more in self._keys(node, step.text, env):
                yield from self._each(node[key], steps, at, i + 1, [*place, key], where, env | more)
        else:
            value = self._opened(node, step, _place(where, place), at[i])
            yield from self._each(value, steps, at, i + 1, place, where, env)

    def _nothing(self, place: str) -> str | None:
        self.nothing.add(place)
        return self.empty

    def mixed(self) -> None:
        """Report keys that a name stands for and that hold an object (or a list) in some records, and something else in
        others.

        A key that holds none in any record is beside those that the name means.
        """
        for path, key in [k for k in self._others if k in self._objects]:
            where, expected = self._others[path, key]
            self.report(where, path, f"{expected}, as in other records", "none")

    def _beside(self, path: str, place: list[str], where: str, expected: str) -> None:
        """Note a key that the name at the end of a path may not mean: it does not hold what the path goes on with."""
        self._others.setdefault((path, place[-1]), (_place(where, place), expected))

    def _keys(self, node: dict, text: str, env: Env) -> Iterator[tuple[str, Env]]:
        """Keys that a key of a path means, and what its names stand for there."""
        names = paths.placeholders(text)
        if not names:
            if text in node:
                yield text, {}
            return
        bound = {n: [env[n]] for n in names if n in env}
        match = self._matchers.get((text, *(env.get(n) for n in names)))
        if match is None:
            match = paths.Matcher(text, {**self.known, **bound})
            self._matchers[text, *(env.get(n) for n in names)] = match
        for key in (k for k in node if k not in self.taken):
            parts = match(key)
            if parts:
                yield key, parts
            elif key in match.ambiguous and key not in self._told:
                self._told.add(key)
                first, second = match.ambiguous[key]
                both = f"{first} and {second}"
                self.problems.append(
                    Problem(
                        self.file,
                        "",
                        text,
                        "a key that fits in one way",
                        f"{key!r}: {both}",
                        "make the pattern more exact",
                    )
                )

    def _opened(self, node: Any, step: Step, where: str, path: str) -> Any:
        """The content of a cell: the parts of a list written in it, its JSON, the ranks of a ranking, or how many."""
        if step.kind == "count":
            if isinstance(node, dict | list):
                return len(node)
            self.report(where, path, "a list", kind(node), "`:count` is for lists")
            return None
        if step.kind == "nth":
            if (listed := json_text.listed(node)) is None:
                self.report(where, path, "a list", kind(node), "`:nth` is for cells such as ['a', 'b']")
            return {str(i): value for i, value in enumerate(listed or [], 1)}
        if step.kind == "ranking":
            return self._ranks(node, step.text, where, path)
        text = scalar(node) if not isinstance(node, dict | list) else None
        if text is None:
            self.report(where, path, "a cell with text", kind(node), f"`:{step.kind}` is for text that holds values")
            return None
        if step.kind == "split":
            divider = step.text.replace("\\n", "\n").replace("\\t", "\t")
            return [part.strip() for part in text.split(divider)]
        try:
            return json_text.parse(text, self.file, where)
        except json.JSONDecodeError as error:
            single = "in single quotes, which JSON does not know: write double ones" if "'" in text else error.msg
            self.report(where, path, "JSON", f"{text!r}", single)
        except DataError as error:
            self.problems += error.problems
        return None

    def _ranks(self, node: Any, divider: str, where: str, path: str) -> dict[str, float] | None:
        """What a ranking puts in order -> its rank from 1; what is tied shares the mean of its ranks."""
        steps = node if isinstance(node, list) else (scalar(node) or "").split(divider)
        groups = [
            [(scalar(x) or "").strip() for x in (s if isinstance(s, list) else re.split("[=~≈]", scalar(s) or ""))]
            for s in steps
        ]
        names = [name for group in groups for name in group]
        odd = [x for x in names if not x or (not isinstance(node, list) and set(x) & set("<>,;|"))]
        if odd or len(set(names)) < len(names) or len(names) < 2:
            ranking = f"{node!r}"
            hint = "`:ranking(,)` names another divider; write each name once, from best to worst"
            self.report(where, path, f"a ranking such as B {divider} A = C", ranking, hint)
            return None
        ranks, before = dict[str, float](), 0
        for group in groups:
            ranks |= dict.fromkeys(group, before + (len(group) + 1) / 2)
            before += len(group)
        return ranks

    def value(self, record: Any, steps: list[Step], where: str, env: Env, path: str) -> tuple[str | None, bool]:
        """The one value that a path leads to from a score (as text), and whether its place exists."""
        node = record
        for prefix, step in self._prefixed(steps):
            if node is None:
                return None, True
            if step.kind == "list":
                k = step.index if step.index is not None else env.get(f"@{prefix}", env.get(step.name or ""))
                if not isinstance(node, list) or k is None:
                    return None, False
                if not (str(k).isascii() and str(k).isdecimal() and len(str(k)) <= _DIGITS):
                    hint = (
                        f"[{step.name}] selects an element by position: use a name that is a list position in `scores`"
                    )
                    self.report(where, path, "a position in the list: 0, 1, …", repr(k), hint)
                    return None, True
                if not int(k) < len(node):
                    return None, False
                node = node[int(k)]
            elif step.kind == "key":
                key = paths.fill(step.text, env) if "{" in step.text else step.text
                if not isinstance(node, dict) or key not in node:
                    return None, False
                node = node[key]
            else:
                node = self._opened(node, step, where, prefix)
        if isinstance(node, dict | list):
            hint = "write the path on to what is in it, e.g. [0] for the first of a list"
            self.report(where, path, "text or a number", kind(node), hint)
            return None, True
        return scalar(node), True

    def _prefixed(self, steps: list[Step]) -> list[tuple[str, Step]]:
        key = id(steps)
        if key not in self._pairs:
            self._pairs[key] = steps, list(zip(prefixes(steps), steps, strict=True))
        return self._pairs[key][1]

    def missed(self, records: Records, steps: list[Step], path: str, place: str) -> Problem | None:
        """What is wrong with a path that leads nowhere in any record: where it ends, and what there is instead.

        Nothing is where it leads to a value in the first record.
        """
        node, at = (records.records[0] if records.records else None), list[str]()
        for step in steps:
            if step.kind == "list" and isinstance(node, list) and node:
                node = node[step.index or 0] if (step.index or 0) < len(node) else None
            elif step.kind == "key" and isinstance(node, dict):
                first = next(iter(self._keys(node, step.text, {})), None)
                if first is None:
                    return self._no_key(node, step, path, at, place)
                node = node[first[0]]
            elif step.kind in ("json", "split", "ranking", "nth") and isinstance(node, str):
                node = self._opened(node, step, "", path)
            else:
                end = f"{kind(node)} at {_path(at)}" if at else "no records" if node is None else kind(node)
                goes_on = f"{end}, where the path goes on with {step}" if at else end
                return Problem(self.file, "", path, "values at this path", goes_on, f"`{place}` in the YAML names it")
            at.append(str(step))
        return None

    def _no_key(self, node: dict, step: Step, path: str, at: list[str], place: str) -> Problem:
        keys = [k for k in node if k]
        names = [n for n in paths.placeholders(step.text) if n in self.known]
        near = difflib.get_close_matches(step.text, keys, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"`{place}` in the YAML names it"
        if names == ["label"]:
            ways, _ = advice.spelt(keys, list(self.known["label"]))
            labels = ", ".join(self.known["label"]) or "none"
            ways.append(
                f"declared are {labels}: declare others under `labels`, or say how they are spelt in `label_names`"
            )
            hint = "; ".join(ways)
        shown = ", ".join(keys)[:200] or "no keys"
        inside = f" in {_path(at)}" if at else ""
        return Problem(self.file, "", path, f"a key {step.text!r}{inside}", shown, hint)


class Look(Walk):
    """A walk along a path that is only tried: where it does not fit, nothing is found and nothing is wrong."""

    def __init__(self, empty: str | None = None) -> None:
        super().__init__("", {}, empty=empty)

    def report(self, where: str, path: str, expected: str, content: str, hint: str = "") -> None:
        """Nobody is told."""


def _path(at: list[str]) -> str:
    return ".".join(at).replace(".[", "[")


def _place(where: str, place: list[str]) -> str:
    return ", ".join(p for p in (where, short(*place)) if p)


def short(*place: str) -> str:
    """A place within a record, for messages."""
    return ".".join(key[:_SHOWN] for key in place).replace(".[", "[")


#: a place in records: keys, and [] for every element of a list
Place = tuple[str, ...]


def leaves(
    records: Records, *, most: int | None = None, wanted: Callable[[Place], bool] = lambda place: True
) -> dict[Place, list[str | None]]:
    """Every place of a value in all records, or in the first `most`, with its values: what there is to use.

    wanted : of these places, those to give.
    """
    out: dict[Place, list[str | None]] = {}
    of: dict[Place, list[Any] | None] = {}
    for record in records.records[:most]:
        stack: list[tuple[Place, Any]] = [((), record)]
        while stack:
            place, node = stack.pop()
            if isinstance(node, dict):
                stack += [((*place, str(key)), value) for key, value in reversed(node.items())]
            elif isinstance(node, list):
                stack += [((*place, "[]"), value) for value in reversed(node)]
            else:
                if place not in of:
                    of[place] = out.setdefault(place, []) if wanted(place) else None
                values = of[place]
                if values is not None:
                    values.append(scalar(node))
    return out


def unused(
    records: Records, used: list[list[Step]], known: Mapping[str, Iterable[str]] | None = None
) -> dict[str, list[str | None]]:
    """Places to which no path leads, with their values; keys for which a path has a name under that name.

    known : name -> the only texts it may stand for.
    """
    plain = [[_key(s, known) for s in steps if s.kind in ("key", "list")] for steps in used]
    out: dict[str, list[str | None]] = {}

    def left(place: Place) -> bool:
        return not any(len(steps) == len(place) and _shared(steps, place) == len(place) for steps in plain)

    for place, values in leaves(records, wanted=left).items():
        alike = max(plain, key=lambda steps: _shared(steps, place), default=[])
        n = _shared(alike, place)
        # only declared labels are labels: other keys at the same level keep their names
        shown = [
            text if ALONE.fullmatch(text) and text != "{label}" else key
            for (text, _), key in zip(alike[:n], place[:n], strict=True)
        ]
        out.setdefault(".".join([*shown, *place[n:]]), []).extend(values)
    return out


def of_each(records: Records, names: Sequence[str]) -> dict[str, list[str | None]]:
    """Of the places that are called so and are in no list, the value in each record; None where it has none."""
    places = leaves(records, wanted=lambda place: "[]" not in place and ".".join(place) in names)
    return {".".join(place): [_at(record, place) for record in records.records] for place in places}


def _at(record: Any, place: Place) -> str | None:
    for key in place:
        record = record.get(key) if isinstance(record, dict) else None
    return None if isinstance(record, dict | list) else scalar(record)


def _key(step: Step, known: Mapping[str, Iterable[str]] | None) -> tuple[str, re.Pattern[str] | None]:
    if step.kind == "list":
        return "[]", None
    return step.text, paths.pattern(step.text, known) if paths.placeholders(step.text) else None


def _shared(steps: list[tuple[str, re.Pattern[str] | None]], place: Place) -> int:
    """How many steps lead to the place."""
    n = 0
    for (text, fits), key in zip(steps, place, strict=False):
        if not (fits.fullmatch(key) if fits else text == key):
            break
        n += 1
    return n
