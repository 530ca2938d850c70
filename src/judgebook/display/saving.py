"""A figure leaves a notebook, or becomes a file of a page.

Layouts of texts and ticks with the boxes of their labels are computed once while a figure is saved, by Matplotlib each
time they are asked for.
"""

from __future__ import annotations

import base64
import io
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox, blended_transform_factory

from judgebook.display import by_hand, marks
from judgebook.display.style import STYLE
from judgebook.study import store


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


#: inches below the axes of a simulated study's figures, where they say so
STRIP = 0.2
#: dots per inch of PNG files; the picture in a notebook has those of the YAML
FILE_DPI = 300
#: digits of the place of axes, as a share of the figure
PLACES = 6
#: what a PDF needs of a font whose glyphs it names by number (ISO 32000-1, 9.9)
TRUETYPE = {"cvt ", "fpgm", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "prep"}


def save(
    fig: Figure,
    name: str,
    *,
    alt: str,
    run: store.Run,
    caption: str = "",
    title: str = "",
    subtitle: str = "",
    of: Mapping[str, str] | None = None,
) -> None:
    """Write a figure to `run.figures/<notebook>_<name>.*`, show it with its alt text and caption, and close it.

    The only way a figure leaves a notebook. Files, by `figures.formats` of the YAML: svg (text stays text, values of
    `tips` as titles), pdf (fonts embedded; of the headline always, for a paper) and png at 300 dpi. The notebook of a
    run holds the SVG; where there is none, where PNG is asked for, and by hand, a lighter PNG at `figures.dpi`. A
    simulated study's figures say so. The same figure gives the same bytes: no dates, fixed salt.
    title, subtitle, of : as of `views.Plot`.

    Raises ValueError when `alt` is empty or `name` is not made of lower-case letters, digits and `_`.
    """
    if not alt.strip():
        raise ValueError(f"figure {name!r}: expected alt text that says what the figure shows, found none")
    if not re.fullmatch(r"[a-z0-9_]+", name):
        raise ValueError(f"figure name: expected lower-case letters, digits and _, found {name!r}")
    alt = " ".join(alt.split())
    if run.simulated:
        _stamp(fig)
    settings, stem = run.study.figures, f"{run.notebook}_{name}"
    with mpl.rc_context(STYLE), kept_layouts():
        lay_out(fig, settings.dpi)
        png = None
        if run.run_id and "svg" in settings.formats and "png" not in settings.formats:
            with kept_ticks():
                fig.draw_without_rendering()
        else:
            png = _drawn(fig, "png", settings.dpi, stem, alt)
        formats = {*settings.formats, *(["pdf"] if name == run.headline else [])}
        # the SVG first: it tells where names are as the last picture at this resolution has them
        files = {f"{stem}.{f}": _drawn(fig, f, FILE_DPI, stem, alt) for f in sorted(formats, key="svg".__ne__)}
    for name_, content in files.items():
        with store.atomic(run.figures / name_) as path:
            path.write_bytes(content)
    plt.close(fig)
    more: dict[str, Any] = {k: v for k, v in (("title", title), ("subtitle", subtitle), ("of", dict(of or {}))) if v}
    about = {"alt": alt, "name": stem, "caption": caption, **more}
    if png is not None:
        _display("image/png", base64.b64encode(png).decode("ascii"), about)
    else:
        _display("image/svg+xml", files[f"{stem}.svg"].decode("utf-8"), about)
    if not run.run_id:
        by_hand.say_below(stem, title, caption)


def _drawn(fig: Figure, suffix: str, dpi: float, stem: str, alt: str) -> bytes:
    """A figure as a file of one format; an SVG of one that was just drawn at its own resolution (`marks.names`)."""
    metadata = {
        "png": {"Title": stem, "Description": alt, "Software": None},
        "svg": {"Description": alt, "Date": None},  # a title of the whole would hide those of its parts
        "pdf": {"Title": stem, "Subject": alt, "CreationDate": None},
    }
    file, named = io.BytesIO(), marks.names(fig) if suffix == "svg" else []
    marks.marked_panels(fig)
    with kept_ticks(), _cutting_less() if suffix == "pdf" else nullcontext():
        fig.savefig(file, format=suffix, dpi=dpi, metadata=metadata[suffix])
    return marks.with_tips(fig, file.getvalue(), named) if suffix == "svg" else file.getvalue()


@contextmanager
def _cutting_less() -> Iterator[None]:
    """Fonts are read with `TRUETYPE` alone: to cut all of their tables took half of the time of a PDF. Nothing is
    reported, whatever a library of metrics has asked for: the page would show it."""
    from fontTools import subset  # by which matplotlib cuts them

    load, logger = subset.load_font, logging.getLogger("fontTools")
    level = logger.level
    logger.setLevel(logging.WARNING)

    def light(*args: Any, **kwargs: Any) -> Any:
        font = load(*args, **kwargs)
        for table in set(font.reader.keys()) - TRUETYPE:
            del font[table]
        return font

    subset.load_font = light
    try:
        yield
    finally:
        subset.load_font = load
        logger.setLevel(level)


def drawing(fig: Figure, suffix: str, *, name: str, alt: str, simulated: bool, dpi: float = 120) -> bytes:
    """A figure as `svg`, `png` or `pdf` without a file or a notebook that shows it; `save` otherwise. Closes it."""
    if simulated:
        _stamp(fig)
    with mpl.rc_context(STYLE), kept_layouts():
        lay_out(fig, dpi)
        if suffix == "svg":
            fig.draw_without_rendering()
        content = _drawn(fig, suffix, dpi, name, alt)
    plt.close(fig)
    return content


def lay_out(fig: Figure, dpi: float | None = None) -> None:
    """Place axes and legends for good; `savefig` would draw the whole figure once more for it, in each format.

    Places are rounded: their last digits depend on where in memory the solver keeps what it solves, and would make
    files of the same figure differ.
    """
    engine = fig.get_layout_engine()
    if engine is None:
        return
    fig.set_dpi(dpi or fig.dpi)
    with kept_ticks():
        engine.execute(fig)
    if fig._supxlabel is not None:  # which a layout puts at the very bottom, whatever is kept free there
        x, y = fig._supxlabel.get_position()
        fig._supxlabel.set_position((x, y + engine.get()["rect"][1]))
    fig.set_layout_engine(None)
    for part in fig.subfigs:
        part.bbox_relative.set_points(np.round(part.bbox_relative.get_points(), PLACES))
    for ax in fig.axes:
        kept = ax.get_in_layout()
        ax.set_position(Bbox(np.round(ax.get_position(original=True).get_points(), PLACES)))
        ax.set_in_layout(kept)  # which a position that is set ends


def _stamp(fig: Figure) -> None:
    """Say 'Simulated data' in a strip of its own below the axes, so that it covers nothing."""
    height = fig.get_figheight()
    fig.set_figheight(height + STRIP)
    engine = fig.get_layout_engine()
    if engine is not None and "rect" in engine.get():
        engine.set(rect=(0, STRIP / (height + STRIP), 1, height / (height + STRIP)))
    box = {"boxstyle": "round,pad=0.25", "facecolor": "#FFF3E6", "edgecolor": "#D55E00", "linewidth": 0.8}
    inches_up = blended_transform_factory(fig.transFigure, fig.dpi_scale_trans)  # whatever the height becomes
    place = {"ha": "right", "va": "bottom", "transform": inches_up}
    fig.text(0.99, 0.05, "Simulated data", color="#A84300", fontsize=8, fontweight="bold", bbox=box, **place)


def _display(mime: str, picture: str, about: dict[str, Any]) -> None:
    from IPython.display import display

    display({mime: picture, "text/plain": about["alt"]}, metadata={mime: about}, raw=True)
