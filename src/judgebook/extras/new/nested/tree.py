"""Nested records as a tree: what stands at each place of all records taken together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from judgebook.sources.formats import scalar
from judgebook.sources.nature import plain

#: keys of leaves or lists are values where there are more
_MANY = 15
#: parts of a place that are no keys: any element of a list, any key of an object whose keys are values
LIST, MAP = "[]", "{}"
Place = tuple[str, ...]
#: keys of what a system said, as `nature.plain` writes them
REPLIES = {"text", "response", "reply", "output", "answer", "completion", "generation", "content", "systemtext"}


@dataclass
class Node:
    """What stands at one place of all records taken together."""

    keys: dict[str, Node] = field(default_factory=dict)
    items: Node | None = None
    values: list[str | None] = field(default_factory=list)
    n: int = 0

    def add(self, value: Any) -> None:
        self.n += 1
        if isinstance(value, dict):
            for key, inner in value.items():
                key = key if isinstance(key, str) else str(key)  # a JsonColumn stays one
                if key.strip():  # no path names an empty key
                    self.keys.setdefault(key, Node()).add(inner)
        elif isinstance(value, list):
            self.items = self.items or Node()
            for inner in value:
                self.items.add(inner)
        else:
            self.values.append(scalar(value))

    @property
    def kind(self) -> str:
        return "object" if self.keys else "list" if self.items else "leaf"

    def merged(self) -> Node:
        """What stands below any of the keys."""
        out = Node()
        for node in self.keys.values():
            out._take(node)
        return out

    def _take(self, other: Node) -> None:
        self.n += other.n
        self.values += other.values
        for key, node in other.keys.items():
            self.keys.setdefault(key, Node())._take(node)
        if other.items:
            self.items = self.items or Node()
            self.items._take(other.items)

    def is_map(self) -> bool:
        """Whether the keys of an object are values: many, or few above objects that are all alike.

        Objects are alike that have the same keys, or many that are themselves objects of keys that are values, as where
        each item has keys of the few people who judged it.
        """
        nodes = [node for node in self.keys.values() if node.keys or node.items or node.values]
        kinds = {node.kind for node in nodes}
        if len(nodes) < 2 or len(kinds) > 1:
            return False
        if kinds <= {"leaf", "list"}:
            inner = [node.items.keys for node in nodes if node.items]
            same = len(inner) == len(nodes) and all(keys and set(keys) == set(inner[0]) for keys in inner)
            return len(nodes) > _MANY or same  # lists of objects that are all alike
        every = set.union(*(set(node.keys) for node in nodes))
        sizes = [len(node.keys) for node in nodes]
        alike = sum(sizes) / len(sizes) >= 0.6 * len(every) or min(sizes) > _MANY
        return alike or (len(nodes) > _MANY and self.merged().is_map())


def collect(node: Node, at: Place, leaves: dict[Place, Node], maps: dict[Place, list[str]]) -> None:
    """Sort what stands below `at` into `leaves`, by place, and the keys that are values into `maps`."""
    if node.keys and node.is_map():
        maps[(*at, MAP)] = list(node.keys)
        collect(node.merged(), (*at, MAP), leaves, maps)
    else:
        replies = _replies(node)
        if replies.keys:  # models beside keys of the record itself
            maps[(*at, MAP)] = list(replies.keys)
            collect(replies.merged(), (*at, MAP), leaves, maps)
        for key, inner in node.keys.items():
            if key not in replies.keys:
                collect(inner, (*at, key), leaves, maps)
    if node.items:
        collect(node.items, (*at, LIST), leaves, maps)
    if node.values and not (node.keys or node.items):
        leaves[at] = node


def _replies(node: Node) -> Node:
    """Of an object, the keys of objects that are alike and hold a reply with something beside it: two or more."""
    inner = {key: one for key, one in node.keys.items() if len(one.keys) > 1 and REPLIES & {*map(plain, one.keys)}}
    alike = len(inner) > 1 and len({frozenset(one.keys) for one in inner.values()}) == 1
    return Node(keys=inner if alike else {})


def name_of(place: Place) -> str:
    """The last key of a place."""
    return next((part for part in reversed(place) if part not in (LIST, MAP)), "")


def without_label(place: Place) -> Place:
    """The place without the key of the label: judgements side by side have the same."""
    for i in range(len(place) - 1, -1, -1):
        if place[i] not in (LIST, MAP):
            return (*place[:i], *place[i + 1 :])
    return place
