"""The style of all figures, and the one way a figure leaves a notebook."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary, ref

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter
from matplotlib.transforms import Bbox

from judgebook.display.names import COLORS, DisplayNames
from judgebook.display.narrow import narrow
from judgebook.study import escape, store

COLUMN, PAGE = 3.4, 7.0  # inches: a column and the full width of a two-column page
INK = "#222222"
#: inches below the axes of a simulated study's figures, where they say so
STRIP = 0.2
#: dots per inch of PNG files; the picture in a notebook has those of the YAML
FILE_DPI = 300
#: digits of the place of axes, as a share of the figure
PLACES = 6
#: what a pointer must hit to be told a value, in points: small marks get a larger place
TARGET = 7.0
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
    fig: Figure, name: str, *, alt: str, run: store.Run, caption: str = "", of: Mapping[str, str] | None = None
) -> None:
    """Write a figure to `run.figures/<notebook>_<name>.*`, show it with its alt text and caption, and close it.

    The only way a figure leaves a notebook. Files, by `figures.formats` of the YAML: svg (text stays text, values of
    `tips` as titles), pdf (fonts embedded) and png at 300 dpi; `<stem>_narrow.svg` for phones, where the figure can be
    read so (`narrow`). The notebook holds a lighter PNG at `figures.dpi`. A simulated study's figures say so. The same
    figure gives the same bytes: no dates, fixed salt. of : as of `views.Plot`.

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
    with mpl.rc_context(STYLE):
        lay_out(fig, settings.dpi)
        shown = _drawn(fig, "png", settings.dpi, stem, alt)
        files = {f"{stem}.{f}": _drawn(fig, f, FILE_DPI, stem, alt) for f in sorted(settings.formats)}
        if "svg" in settings.formats and narrow(fig, below=STRIP if run.simulated else 0):
            files[f"{stem}_narrow.svg"] = _drawn(fig, "svg", FILE_DPI, stem, alt)
    for name_, content in files.items():
        with store.atomic(run.figures / name_) as path:
            path.write_bytes(content)
    plt.close(fig)
    _display(shown, alt, stem, caption, of or {})


def _drawn(fig: Figure, suffix: str, dpi: float, stem: str, alt: str) -> bytes:
    """A figure as a file of one format."""
    metadata = {
        "png": {"Title": stem, "Description": alt, "Software": None},
        "svg": {"Description": alt, "Date": None},  # a title of the whole would hide those of its parts
        "pdf": {"Title": stem, "Subject": alt, "CreationDate": None},
    }
    file = io.BytesIO()
    with _cutting_less() if suffix == "pdf" else nullcontext():
        fig.savefig(file, format=suffix, dpi=dpi, metadata=metadata[suffix])
    return _with_tips(fig, file.getvalue()) if suffix == "svg" else file.getvalue()


@contextmanager
def _cutting_less() -> Iterator[None]:
    """Fonts are read with `TRUETYPE` alone: to cut all of their tables took half of the time of a PDF."""
    from fontTools import subset  # by which matplotlib cuts them

    load = subset.load_font

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


#: figure -> what `tips` was told of its axes, which are not held: they would hold their figure, for good
_TIPS: WeakKeyDictionary[Figure, list[tuple]] = WeakKeyDictionary()


def tips(
    ax: Axes,
    texts: Iterable[str],
    x: Iterable[float],
    y: Iterable[float],
    *,
    x_to: Iterable[float] | None = None,
    y_to: Iterable[float] | None = None,
) -> None:
    """Texts that the SVG tells where a pointer rests on a mark, e.g. "Blender2, Quality: 3.42 [3.21, 3.63], n = 100".

    texts, x, y : one of each for a mark, in data coordinates. x_to, y_to : the opposite corner where a mark is a bar, a
    cell or an interval. Marks that are missing or outside of the axes have none.
    """
    x, y = (np.asarray(list(v), float) for v in (x, y))
    x_to, y_to = (v if to is None else np.asarray(list(to), float) for v, to in ((x, x_to), (y, y_to)))
    figure = ax.get_figure(root=True)
    _TIPS.setdefault(figure, []).append((ref(ax), list(texts), np.stack([x, y], 1), np.stack([x_to, y_to], 1)))


def _with_tips(fig: Figure, svg: bytes) -> bytes:
    """The SVG with a titled, invisible rectangle over each mark that `tips` names, and without ids nobody refers to.

    Rectangles of their own, since a backend leaves out or merges marks as it likes, and a point is hard to hit.
    """
    text = svg.decode("utf-8")
    used = set(re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", text))
    used = {name for pair in used for name in pair if name}
    text = re.sub(r' id="([^"]+)"', lambda m: m[0] if m[1] in used else "", text)
    boxes = [box for ax, *texts in _TIPS.get(fig, ()) if ax() for box in _boxes(fig, ax(), *texts)]
    if boxes:
        group = '<g class="tips" fill="none" stroke="none" pointer-events="all">\n'
        text = text.replace("</svg>", group + "\n".join(boxes) + "\n</g>\n</svg>")
    return text.encode("utf-8")


def _boxes(fig: Figure, ax: Axes, texts: list[str], near: np.ndarray, far: np.ndarray) -> Iterable[str]:
    points = 72 / fig.dpi
    height, frame = 72 * fig.get_figheight(), ax.bbox.extents * points
    with np.errstate(invalid="ignore"):
        ends = np.stack([ax.transData.transform(corner) * points for corner in (near, far)])
    low, high = ends.min(axis=0), ends.max(axis=0)
    inside = (high >= frame[:2] - 1).all(axis=1) & (low <= frame[2:] + 1).all(axis=1)
    low, high = np.clip(low, frame[:2], frame[2:]), np.clip(high, frame[:2], frame[2:])
    short = np.clip(TARGET - (high - low), 0, None) / 2
    low, high = low - short, high + short
    for i in np.flatnonzero(inside):
        (x, y), (width, tall) = (low[i, 0], height - high[i, 1]), high[i] - low[i]
        place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{tall:.1f}"'
        yield f"<rect {place}><title>{escape.html(texts[i])}</title></rect>"


def drawing(fig: Figure, suffix: str, *, name: str, alt: str, simulated: bool, dpi: float = 120) -> bytes:
    """A figure as `svg`, `png` or `pdf` without a file or a notebook that shows it; `save` otherwise. Closes it."""
    if simulated:
        _stamp(fig)
    with mpl.rc_context(STYLE):
        lay_out(fig, dpi)
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
    engine.execute(fig)
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
    place = {"ha": "right", "va": "bottom", "transform": fig.transFigure}
    y = 0.05 / (height + STRIP)
    fig.text(0.99, y, "Simulated data", color="#A84300", fontsize=8, fontweight="bold", bbox=box, **place)


def _display(png: bytes, alt: str, name: str, caption: str, of: Mapping[str, str]) -> None:
    from IPython.display import display

    data = {"image/png": base64.b64encode(png).decode("ascii"), "text/plain": alt}
    about = {"alt": alt, "name": name, "caption": caption} | ({"of": dict(of)} if of else {})
    display(data, metadata={"image/png": about}, raw=True)


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
