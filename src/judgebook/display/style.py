"""The style of all figures, and the one way a figure leaves a notebook."""

from __future__ import annotations

import base64
import io
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter
from matplotlib.transforms import Bbox, blended_transform_factory

from judgebook.display import by_hand, marks, options
from judgebook.display.layouts import kept_layouts, kept_ticks
from judgebook.display.names import COLORS, DisplayNames
from judgebook.study import store
from judgebook.study.sections.data import Figures

COLUMN, PAGE = 3.4, 7.0  # inches: a column and the full width of a two-column page
INK = "#222222"
#: inches below the axes of a simulated study's figures, where they say so
STRIP = 0.2
#: dots per inch of PNG files; the picture in a notebook has those of the YAML
FILE_DPI = 300
#: columns by which pages choose panels
FACETS = ("method", "label", "group", "corpus")
#: digits of the place of axes, as a share of the figure
PLACES = 6
#: dots per inch at which legends are measured: at 100, letters are narrower than at any other
LEGEND_DPI = 120
#: what a PDF needs of a font whose glyphs it names by number (ISO 32000-1, 9.9)
TRUETYPE = {"cvt ", "fpgm", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "prep"}
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.labelcolor": ".15",
    "text.color": ".15",
    "legend.title_fontsize": 9.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.8,
    "lines.solid_capstyle": "round",
    "patch.edgecolor": "w",
    "patch.force_edgecolor": True,
    "patch.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.major.size": 4.8,
    "ytick.major.size": 4.8,
    "xtick.minor.size": 3.2,
    "ytick.minor.size": 3.2,
    "xtick.minor.width": 0.8,
    "ytick.minor.width": 0.8,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "axes.prop_cycle": mpl.cycler(color=COLORS),
    "figure.constrained_layout.use": False,  # but where asked for: see `lay_out`
    # a $ in a label's title or a system's name is a dollar: what data say is never read as mathematics
    "text.parse_math": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.hashsalt": "helpers",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}


def set_style() -> None:
    """Use the project's style for every figure made from here on, whatever the user's own settings say."""
    mpl.rcdefaults()
    mpl.rcParams.update(STYLE)


set_style()  # entries of a legend are often made before the first figure: they would have another style than later ones


def subplots(rows: int = 1, cols: int = 1, *, width: float = PAGE, height: float = 3.0, **kwargs: Any) -> tuple:
    """`plt.subplots` in the project's style; `width` and `height` in inches."""
    set_style()
    return plt.subplots(rows, cols, figsize=(width, height), layout="constrained", **kwargs)


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
    options.apply(fig, run.study.figures)
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


def tips(
    ax: Axes,
    texts: Iterable[str],
    x: Iterable[float],
    y: Iterable[float],
    *,
    x_to: Iterable[float] | None = None,
    y_to: Iterable[float] | None = None,
    of: Iterable[str] = (),
) -> None:
    """Texts that the SVG tells where a pointer rests on a mark, e.g. "Blender2, Quality: 3.42 [3.21, 3.63], n = 100".

    texts, x, y : one of each for a mark, in data coordinates. x_to, y_to : the opposite corner where a mark is a bar, a
    cell or an interval. Marks that are missing or outside of the axes have none. of : display name of whose mark each
    is; a page shows all of one system together, in all panels, and finds the names on axes and in legends.
    """
    x, y = (np.asarray(list(v), float) for v in (x, y))
    x_to, y_to = (v if to is None else np.asarray(list(to), float) for v, to in ((x, x_to), (y, y_to)))
    marks.remember(ax, texts, np.stack([x, y], 1), np.stack([x_to, y_to], 1), of)


def panel(ax: Axes, rows: pd.DataFrame, names: DisplayNames) -> None:
    """Note which method, label, group and run a panel is about, by which a page chooses panels; nothing that differs
    within it. rows : what it shows, with any of method, label, group and corpus."""
    values = {column: set(rows[column].dropna()) for column in FACETS if column in rows}
    one = {column: next(iter(found)) for column, found in values.items() if len(found) == 1}
    if "label" in one and "method" not in one:
        del one["label"]
    marks.about(ax, {kind.capitalize(): names.name(kind, v, one.get("method")) for kind, v in one.items()})


def drawing(
    fig: Figure, suffix: str, *, name: str, alt: str, simulated: bool, dpi: float = 120, like: Figures = options.USUAL
) -> bytes:
    """A figure as `svg`, `png` or `pdf` without a file or a notebook that shows it; `save` otherwise. Closes it.

    like : what the YAML says of figures.
    """
    options.apply(fig, like)
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


def log_axis(ax: Axes) -> None:
    """A logarithmic x axis with plain numbers: texts are not parsed as formulas, which 2 × 10¹ is."""
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1, 0.4)))


def handle(name: str, color: str, marker: str, linewidth: float = 1.6, **kwargs: Any) -> mpl.lines.Line2D:
    """An entry of a legend: a line with a marker."""
    return mpl.lines.Line2D(
        [], [], color=color, marker=marker, markersize=4.5, linewidth=linewidth, label=name, **kwargs
    )


def legend_of(fig: Figure, handles: list, width: float | None = None) -> None:
    """One legend above the whole figure. width : in inches, by default that of the figure."""
    if handles:
        columns = legend_columns(handles, width or fig.get_figwidth())
        fig.legend(handles=handles, loc="outside upper left", ncols=columns)


def legend_columns(handles: Sequence[mpl.lines.Line2D], width: float) -> int:
    """As many columns of a legend, at most five, as fit into a width in inches."""
    texts, one, more = _legend_sizes(tuple(h.get_label() for h in handles))
    for columns in range(min(len(texts), 5), 1, -1):
        across = one + more * (columns - 1) + sum(part.max() for part in np.array_split(texts, columns))
        if across <= (width - 0.15) * LEGEND_DPI:  # space on both sides
            return columns
    return 1


@lru_cache(256)  # each figure asks up to five times, and others have the same legend
def _legend_sizes(labels: tuple[str, ...]) -> tuple[np.ndarray, float, float]:
    """Pixels of a legend's texts, of the rest of its first column, and of that of each further one."""
    set_style()
    trial = Figure(figsize=(PAGE, 1), dpi=LEGEND_DPI)
    made = trial.legend(handles=[mpl.lines.Line2D([], [], label=label) for label in labels])
    size = made.prop.get_size_in_points() * trial.dpi / 72
    texts = np.array([text.get_window_extent().width for text in made.get_texts()])
    one = made.get_window_extent().width - texts.max()
    return texts, one, (made.columnspacing + made.handlelength + made.handletextpad) * size


def legend(fig: Figure, names: DisplayNames, kind: str, keys: Sequence[str]) -> None:
    """One legend above the whole figure for groups, systems or methods."""
    legend_of(fig, [handle(names.name(kind, k), names.color(kind, k), names.marker(kind, k)) for k in keys])
