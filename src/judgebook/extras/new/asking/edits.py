"""Changes of a YAML that leave its comments and its order as they are."""

from __future__ import annotations

from typing import Any

import yaml

from judgebook.extras.new.spelling import flow, quoted


def edited(text: str, path: str, value: Any) -> str:
    """The YAML with the value at a path, such as `labels.fluency.direction` or `sources.*.judges`.

    `*` is each element of a list or value of a map. None removes the key. Where the map above it does not exist, and
    in lists of other things than maps, nothing is changed.
    """
    *above, key = path.split(".")
    whole = yaml.compose(text, yaml.SafeLoader)
    maps = [whole] if whole else []
    for part in above:
        maps = [one for node in maps for one in _below(node, part)]
    for node in sorted((n for n in maps if isinstance(n, yaml.MappingNode)), key=lambda n: -n.start_mark.index):
        text = _with(text, node, key, value)
    return text


def _below(node: yaml.Node, part: str) -> list[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        return list(node.value) if part == "*" else []
    return [v for k, v in node.value if part in ("*", k.value)] if isinstance(node, yaml.MappingNode) else []


def _with(text: str, node: yaml.MappingNode, key: str, value: Any) -> str:
    """`value` None: without the key."""
    pairs: list[tuple[yaml.Node, yaml.Node]] = node.value
    at = next((i for i, (k, _) in enumerate(pairs) if k.value == key), None)
    if at is None and value is None:
        return text
    if value is None and at is not None:
        return _without(text, node, at)
    if at is not None:
        start, end = pairs[at][1].start_mark.index, pairs[at][1].end_mark.index
        return text[:start] + flow(value) + ("\n" if text[start:end].endswith("\n") else "") + text[end:]
    said = f"{quoted(key)}: {flow(value)}"
    if node.flow_style:
        end = node.end_mark.index - 1
        return text[:end] + (", " if pairs else "") + said + text[end:]
    end = text.find("\n", pairs[0][1].end_mark.index - 1)
    return text[:end] + "\n" + " " * pairs[0][0].start_mark.column + said + text[end:]


def _without(text: str, node: yaml.MappingNode, at: int) -> str:
    pairs = node.value
    start, end = pairs[at][0].start_mark.index, pairs[at][1].end_mark.index
    if node.flow_style:
        if at + 1 < len(pairs):
            end = pairs[at + 1][0].start_mark.index
        elif at:
            start = pairs[at - 1][1].end_mark.index
        return text[:start] + text[end:]
    start = text.rfind("\n", 0, start) + 1
    # a value ends where the next key begins
    end = (
        text.rfind("\n", 0, pairs[at + 1][0].start_mark.index) + 1 if pairs[at + 1 :] else text.find("\n", end - 1) + 1
    )
    return text[:start] + text[end or len(text) :]
