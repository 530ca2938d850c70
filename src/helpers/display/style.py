"""The style of all figures, and the one way a figure leaves a notebook."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Sequence

import matplotlib as mpl
import matplotlib.pyplot as plt
import seaborn as sns
from matplotlib.figure import Figure

from helpers.display.names import COLORS, DisplayNames
from helpers.study import store

COLUMN, PAGE = 3.4, 7.0  # inches: a column and the full width of a two-column page
INK = "#222222"
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
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "axes.prop_cycle": mpl.cycler(color=COLORS),
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.hashsalt": "helpers",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}


def set_style() -> None:
    """Use the project's style for every figure made from here on, whatever the user's own settings say."""
    mpl.rcdefaults()
    sns.set_theme(context="paper", style="ticks", palette=COLORS, rc=STYLE)


def subplots(rows: int = 1, cols: int = 1, *, width: float = PAGE, height: float = 3.0, **kwargs) -> tuple:
    """`plt.subplots` in the project's style; `width` and `height` in inches."""
    set_style()
    return plt.subplots(rows, cols, figsize=(width, height), layout="constrained", **kwargs)


def save(fig: Figure, name: str, *, alt: str, run: store.Run, caption: str = "") -> None:
    """Write a figure to `run.figures/<notebook>_<name>.png`, show it with its alt text and caption, and close it.

    The only way a figure leaves a notebook. svg and pdf are written beside it where `figures.formats` of the YAML
    names them. A simulated study's figures say so. The same figure gives the same bytes: no dates, fixed salt.

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
    metadata = {
        "png": {"Title": stem, "Description": alt, "Software": None},
        "svg": {"Title": stem, "Description": alt, "Date": None},
        "pdf": {"Title": stem, "Subject": alt, "CreationDate": None},
    }
    with mpl.rc_context(STYLE):
        _lay_out(fig, settings.dpi)
        for suffix in sorted({"png", *settings.formats}):
            with store.atomic(run.figures / f"{stem}.{suffix}") as path:
                fig.savefig(path, format=suffix, dpi=settings.dpi, metadata=metadata[suffix])
    plt.close(fig)
    _display((run.figures / f"{stem}.png").read_bytes(), alt, stem, caption)


def png(fig: Figure, *, simulated: bool, dpi: float = 160) -> bytes:
    """A figure as a picture, without a file; closed afterwards. simulated : whether it says so."""
    if simulated:
        _stamp(fig)
    out = io.BytesIO()
    with mpl.rc_context(STYLE):
        _lay_out(fig, dpi)
        fig.savefig(out, format="png", dpi=dpi, metadata={"Software": None})
    plt.close(fig)
    return out.getvalue()


def _lay_out(fig: Figure, dpi: float) -> None:
    """Place axes and legends for good; `savefig` would draw the whole figure once more for it, in each format."""
    engine = fig.get_layout_engine()
    if engine is not None:
        fig.set_dpi(dpi)
        engine.execute(fig)
        fig.set_layout_engine("none")


def _stamp(fig: Figure) -> None:
    """Say 'Simulated data' in a strip of its own below the axes, so that it covers nothing."""
    height = fig.get_figheight()
    strip = 0.2
    fig.set_figheight(height + strip)
    engine = fig.get_layout_engine()
    if engine is not None and "rect" in engine.get():
        engine.set(rect=(0, strip / (height + strip), 1, height / (height + strip)))
    box = {"boxstyle": "round,pad=0.25", "facecolor": "#FFF3E6", "edgecolor": "#D55E00", "linewidth": 0.8}
    place = {"ha": "right", "va": "bottom", "transform": fig.transFigure}
    y = 0.05 / (height + strip)
    fig.text(0.99, y, "Simulated data", color="#A84300", fontsize=8, fontweight="bold", bbox=box, **place)


def _display(png: bytes, alt: str, name: str, caption: str) -> None:
    from IPython.display import display

    data = {"image/png": base64.b64encode(png).decode("ascii"), "text/plain": alt}
    display(data, metadata={"image/png": {"alt": alt, "name": name, "caption": caption}}, raw=True)


def handle(name: str, color: str, marker: str, linewidth: float = 1.6, **kwargs) -> mpl.lines.Line2D:
    """An entry of a legend: a line with a marker."""
    return mpl.lines.Line2D(
        [], [], color=color, marker=marker, markersize=4.5, linewidth=linewidth, label=name, **kwargs
    )


def legend_of(fig: Figure, handles: list) -> None:
    """One legend above the whole figure."""
    if handles:
        fig.legend(handles=handles, loc="outside upper left", ncols=legend_columns(handles, fig.get_figwidth()))


def legend_columns(handles: Sequence[mpl.lines.Line2D], width: float) -> int:
    """As many columns of a legend, at most five, as fit into a width in inches."""
    set_style()
    trial = Figure(figsize=(width, 1))
    for columns in range(min(len(handles), 5), 1, -1):
        made = trial.legend(handles=handles, ncols=columns)
        if made.get_window_extent().width <= trial.bbox.width:
            return columns
        made.remove()
    return 1


def legend(fig: Figure, names: DisplayNames, kind: str, keys: Sequence[str]) -> None:
    """One legend above the whole figure for groups, systems or methods."""
    legend_of(fig, [handle(names.name(kind, k), names.color(kind, k), names.marker(kind, k)) for k in keys])
