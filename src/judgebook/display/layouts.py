"""What is computed once while a figure is saved, and by Matplotlib each time it is asked for: layouts of texts (where a
line of text stands in its own box depends on the text, its style and the kind of what it is drawn with, not on where in
the figure it is), and ticks with the boxes of their labels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from matplotlib.axis import Axis
from matplotlib.text import Text


@contextmanager
def kept_layouts() -> Iterator[None]:
    """Within, texts that are alike are laid out once for each kind of renderer; Matplotlib does so for each text each
    time that it is measured or drawn, which took a quarter of the time of a figure."""
    lay_out, kept = Text._get_layout, dict[tuple[Any, ...], Any]()

    def once(text: Text, renderer: Any) -> Any:
        if text.get_wrap():  # depends on where it is
            return lay_out(text, renderer)
        how = _depends(text, renderer)
        if how not in kept:
            kept[how] = lay_out(text, renderer)
        return kept[how]

    Text._get_layout = once
    try:
        yield
    finally:
        Text._get_layout = lay_out


def _depends(text: Text, renderer: Any) -> tuple[Any, ...]:
    """All that the layout of a text depends on; of the renderer, its kind (of one that mixes two, that of the one
    within) and resolution."""
    return (
        *(type(renderer), type(getattr(renderer, "_renderer", None)), getattr(renderer, "dpi", None)),
        *(text.get_figure(root=True).dpi, text.get_text(), hash(text.get_fontproperties())),
        *(text.get_rotation(), text.get_rotation_mode(), text._linespacing, text._get_multialignment()),
        *(text.get_ha(), text.get_va(), text.get_usetex(), text.get_parse_math()),
    )


@contextmanager
def kept_ticks() -> Iterator[None]:
    """Within, where nothing about axes changes but their places, limits and resolution, ticks are updated and their
    labels measured once for each; Matplotlib does so five times to place or draw axes once, which took a quarter of the
    time of a figure."""
    update, measure = Axis._update_ticks, Axis._get_ticklabel_bboxes
    kept, boxes = dict[Axis, tuple[Any, ...]](), dict[Axis, tuple[Any, ...]]()

    def updated(axis: Axis) -> Any:
        part = getattr(axis.get_major_locator().axis, "axes", axis.axes)  # the first of those that share an axis
        places = (axes.bbox.extents.tobytes() for axes in (part, axis.axes))
        how = axis.get_figure(root=True).dpi, tuple(axis.get_view_interval()), *places
        if axis not in kept or kept[axis][0] != how:
            kept[axis] = how, update(axis)
        return kept[axis][1]

    def measured(axis: Axis, ticks: Any, renderer: Any) -> Any:
        how, known = kept.get(axis, (None, None))
        if known is not ticks:
            return measure(axis, ticks, renderer)
        if axis not in boxes or boxes[axis][:2] != (how, renderer):
            boxes[axis] = how, renderer, measure(axis, ticks, renderer)
        return boxes[axis][2]

    Axis._update_ticks, Axis._get_ticklabel_bboxes = updated, measured
    try:
        yield
    finally:
        Axis._update_ticks, Axis._get_ticklabel_bboxes = update, measure
