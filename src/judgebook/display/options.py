"""What a study's YAML says of the look of all figures (`figures:`): their width, type and colours."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from judgebook.display.names import BAD
from judgebook.display.style import legend_columns, legend_of
from judgebook.display.texts import texts_of
from judgebook.study.sections.data import Figures

USUAL = Figures()
#: the weights of red, green and blue in the lightness of a grey (ITU-R BT.601)
_LIGHT = (0.299, 0.587, 0.114)
#: strokes over what is bad, which would be as dark as what is good
_HATCH = "////"
#: letters in an inch
LETTERS = 12


def apply(fig: Figure, wanted: Figures) -> None:
    """Give a figure that is not yet laid out the width, size of type and colours of a study, in place.

    Larger type makes a figure taller in proportion, so that rows keep their room.
    """
    wide, tall = wanted.width / USUAL.width, wanted.font_size / USUAL.font_size
    if (wide, tall) != (1, 1):
        for text in dict.fromkeys(texts_of(fig)):
            text.set_fontsize(text.get_fontsize() * tall)
        for ax in fig.axes:
            for axis in (ax.xaxis, ax.yaxis):
                size = axis.get_tick_params().get("labelsize", mpl.rcParams["xtick.labelsize"])
                axis.set_tick_params(labelsize=size * tall)
        width = fig.get_figwidth() * wide
        fig.set_size_inches(width, fig.get_figheight() * tall)
        _legends_anew(fig, width / tall, tall)
    if wanted.greyscale:
        _grey(fig)


def _legends_anew(fig: Figure, width: float, scale: float = 1.0) -> int:
    """One legend above the figure, in as many columns as fit into a width in inches, in place of those it has; by how
    many lines it is taller. scale : of its type."""
    handles = [h for legend in fig.legends for h in legend.legend_handles]
    if not handles:
        return 0
    before = max(-(-len(legend.get_texts()) // max(legend._ncols, 1)) for legend in fig.legends)
    longest = int(width * LETTERS / scale) - 6  # letters, beside what is drawn
    for legend in list(fig.legends):
        for drawn, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            drawn.set_label(fill(text.get_text(), longest))  # a bar in a legend has lost its label
        legend.remove()
    legend_of(fig, handles, width=width)
    for text in fig.legends[0].get_texts():
        text.set_fontsize(text.get_fontsize() * scale)
    broken = sum(h.get_label().count("\n") for h in handles)
    return -(-len(handles) // max(legend_columns(handles, width), 1)) + broken - before


def _grey(fig: Figure) -> None:
    """Turn every colour into the grey of its lightness, and hatch areas that say that something is bad."""
    for artist in fig.findobj():
        if isinstance(artist, Patch) and mpl.colors.same_color(artist.get_facecolor()[:3], BAD):
            artist.set(hatch=_HATCH, edgecolor="white")
        if isinstance(artist, Patch | Collection):
            _turn(artist, "facecolor", "edgecolor")
        elif isinstance(artist, Line2D):
            _turn(artist, "color", "markerfacecolor", "markeredgecolor")
        elif isinstance(artist, Text):
            _turn(artist, "color")
        if isinstance(artist, Collection | AxesImage) and artist.get_array() is not None:
            artist.set_cmap(_grey_map(artist.get_cmap()))


def _turn(artist: Artist, *parts: str) -> None:
    for part in parts:
        color = mpl.artist.getp(artist, part)
        if isinstance(color, str) and color in ("none", "auto", "face"):
            continue
        artist.set(**{part: _shade(color)})


def _shade(color: Any) -> Any:
    """The grey, or greys, of one colour or an array of them; transparency stays."""
    rgba = mpl.colors.to_rgba_array(color)
    rgba[:, :3] = (rgba[:, :3] @ _LIGHT)[:, None]
    return rgba[0] if len(rgba) == 1 else rgba


def _grey_map(cmap: mpl.colors.Colormap) -> mpl.colors.Colormap:
    return mpl.colors.ListedColormap(_shade(cmap(range(cmap.N))), name=f"{cmap.name}_grey")
