"""`margin`: the smallest difference between two systems that matters, which a study may state."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from judgebook.study.labels import METHODS, Label

#: in units of the label, or percentage points of a rate
Margin: TypeAlias = Annotated[float, Field(gt=0)] | Annotated[str, Field(pattern=r"^\d+(\.\d+)?%$")]


def _in_a_sentence(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    """Of a union, the one thing that is wrong instead of what each of its types lacks."""
    try:
        return read(value)
    except ValidationError as error:
        wrong = min(error.errors(), key=lambda e: -len(str(e["loc"])))["input"]
        raise ValueError(f"expected a number above 0, or of a rate one such as 5%, found {wrong!r}") from None


#: for all labels; or label -> margin, or method -> label -> margin
Margins = Annotated[Margin | dict[str, Margin | dict[str, Margin]], WrapValidator(_in_a_sentence)]
Key: TypeAlias = tuple[str, str]


def share(label: Label) -> bool:
    """Whether differences between systems on a label are shares, as rates and wins minus losses are."""
    return label.binary or METHODS[label.method].unit == "pair"


def widest(label: Label) -> float:
    """The largest difference that there can be between two systems."""
    return label.scale[1] if METHODS[label.method].unit == "pair" else label.scale[1] - label.scale[0]


def told(size: float, label: Label) -> str:
    """A margin in words."""
    return f"{100 * size:g} percentage points" if share(label) else f"{size:g} points"


def by_label(margins: Margins, labels: Sequence[Label]) -> dict[Key, float]:
    """(method, label) -> margin in units of the label, percentage points as shares; of labels without one nothing.

    A label without a method that is both rated and compared means the ratings.

    Raises ValueError for a label that the study does not have, percentage points where means are no shares, and a
    margin as wide as the scale.
    """
    ordered = {(label.method, label.id): label for label in labels if not label.unordered}
    if not isinstance(margins, dict):
        return {key: _size("margin", margins, label) for key, label in ordered.items()}
    out: dict[Key, float] = {}
    for place, meant, value in _stated(margins, ordered):
        out |= {key: _size(place, value, ordered[key]) for key in meant if key not in out}
    return out


def _stated(margins: Mapping[str, Margin | dict[str, Margin]], labels: Mapping[Key, Label]) -> Iterator[
    tuple[str, list[Key], Margin]
]:  # fmt: skip
    """Place in the YAML, labels that are meant, margin; those with a method first."""
    for method, of_method in margins.items():
        for label, value in of_method.items() if isinstance(of_method, dict) else ():
            place = f"margin.{method}.{label}"
            yield place, _known(place, label, [key for key in labels if key[0] == method]), value
    for label, stated in margins.items():
        if not isinstance(stated, dict):
            meant = _known(f"margin.{label}", label, list(labels))
            rated = [key for key in meant if METHODS[key[0]].unit != "pair"]
            yield f"margin.{label}", rated or meant, stated


def _known(place: str, label: str, keys: Sequence[Key]) -> list[Key]:
    if meant := [key for key in keys if key[1] == label]:
        return meant
    there = sorted({key[1] for key in keys})
    near = difflib.get_close_matches(label, there, 1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(there)}" if there else ""
    raise ValueError(f"{place}: expected a label of the study whose answers have an order, found {label!r}{hint}")


def _size(place: str, value: Margin, label: Label) -> float:
    if isinstance(value, str) and not share(label):
        raise ValueError(f"{place}: expected points of the scale, as means of {label.id} are no rates, found {value}")
    size = float(value.removesuffix("%")) / 100 if isinstance(value, str) else value
    if not 0 < size < widest(label):
        raise ValueError(
            f"{place}: expected more than 0 and less than the scale of {label.id} is wide, {widest(label):g}, "
            f"found {value}"
        )
    return size
