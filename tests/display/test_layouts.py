"""Texts that are alike are laid out once while a figure is saved, and the figure is the same as without."""

from contextlib import nullcontext

import matplotlib.pyplot as plt
import pytest
from matplotlib.text import Text

from judgebook.display import style
from judgebook.display.layouts import kept_layouts


@pytest.fixture
def laid(monkeypatch):
    """The texts that Matplotlib lays out, one after the other."""
    out, lay_out = [], Text._get_layout

    def noting(text, renderer):
        out.append(text.get_text())
        return lay_out(text, renderer)

    monkeypatch.setattr(Text, "_get_layout", noting)
    return out


def _file(suffix):
    fig, axes = style.subplots(1, 2, width=5)
    for ax in axes:
        ax.set(title="one\nof two lines", xlabel="the same", ylabel="turned", xlim=(0, 1), ylim=(0, 1))
        ax.text(0.5, 0.5, "wrapped where the figure ends, which is not far from here", wrap=True)
        ax.tick_params(axis="x", rotation=40)
    style.legend_of(fig, [style.handle("the same", "k", "o"), style.handle("other", "k", "o")])
    return style.drawing(fig, suffix, name="figure", alt="A figure.", simulated=False)


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_a_figure_is_the_same_and_its_texts_are_laid_out_once_for_each_renderer(suffix, laid, monkeypatch):
    _file(suffix)  # what is measured once for all figures is measured
    laid.clear()
    kept = _file(suffix)
    n = laid.count("the same")
    laid.clear()
    monkeypatch.setattr(style, "kept_layouts", nullcontext)
    assert _file(suffix) == kept
    assert 0 < n <= 3 * 2  # on an axis and in the legend; for the layout, and for the file
    assert laid.count("the same") > 2 * n


def test_a_text_that_has_changed_is_laid_out_anew(laid):
    changes = [("text", "another\n$text$"), ("fontsize", 20), ("rotation", 70), ("rotation_mode", "anchor")]
    changes += [("ha", "right"), ("ma", "left"), ("va", "top"), ("linespacing", 3), ("fontweight", "bold")]
    changes += [("parse_math", True), ("text", "short"), ("color", "red")]

    def measured():
        fig = plt.figure()
        text = fig.text(0.5, 0.5, "a text", parse_math=False)
        for name, value in changes:
            getattr(text, f"set_{name}")(value)
            yield text.get_window_extent().extents.tolist()
        fig.set_dpi(50)
        yield text.get_window_extent().extents.tolist()
        yield text.get_window_extent().extents.tolist()
        plt.close(fig)

    usual = list(measured())
    assert len(laid) == len(changes) + 2
    laid.clear()
    with kept_layouts():
        assert list(measured()) == usual
    assert len(laid) == len(changes)  # neither for a colour nor for the second time at 50 dpi
    list(measured())
    assert len(laid) == 2 * len(changes) + 2  # afterwards nothing is kept
