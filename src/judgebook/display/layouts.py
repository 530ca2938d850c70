"""Layouts of texts, each computed once while a figure is saved: where a line of text stands in its own box depends on
the text, its style and what it is drawn with, not on where in the figure it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from matplotlib.text import Text


@contextmanager
def kept_layouts() -> Iterator[None]:
    """Within, texts that are alike are laid out once for each renderer; Matplotlib does so for each text each time that
    it is measured or drawn, which took a quarter of the time of a figure."""
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
    """All that the layout of a text depends on. The renderer itself is among it: it lives as long as what was measured
    with it is kept."""
    return (
        *(renderer, text.get_figure(root=True).dpi, text.get_text(), hash(text.get_fontproperties())),
        *(text.get_rotation(), text.get_rotation_mode(), text._linespacing, text._get_multialignment()),
        *(text.get_ha(), text.get_va(), text.get_usetex(), text.get_parse_math()),
    )
