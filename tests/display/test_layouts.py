"""Texts that are alike are laid out once while a figure is saved."""

from contextlib import nullcontext

import matplotlib.pyplot as plt
import pytest
from matplotlib.text import Text

from judgebook.display import saving, style
from judgebook.display.marks import texts_of
from judgebook.display.saving import kept_layouts


@pytest.fixture
def laid(monkeypatch):
    """The texts that Matplotlib lays out, one after the other."""
    out, lay_out = [], Text._get_layout

    def noting(text, renderer):
        out.append(text.get_text())
        return lay_out(text, renderer)

    monkeypatch.setattr(Text, "_get_layout", noting)
    return out


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


def bars(n=1, names=("Alpha", "Beta"), **kwargs):
    fig, axes = style.subplots(1, n, width=7, height=2, squeeze=False, **kwargs)
    for ax in axes.flat:
        ax.barh(range(len(names)), [0.4, 0.9])
        ax.set_yticks(range(len(names)), names)
        ax.set_xlabel("A label of an axis that is too long to be set in one line of a narrow figure")
    drawn = axes.flat[0].containers[0]
    style.legend_of(fig, [style.handle("a longer name of a series", "red", "o"), style.handle("another", "blue", "s")])
    fig.legend([drawn], ["bars"], loc="outside lower left")
    saving.lay_out(fig, 120)
    return fig


def test_the_stamp_of_simulated_data_covers_no_name_of_an_axis():
    fig, axes = style.subplots(1, 3, width=7, height=1.5)
    for ax in axes:
        ax.plot([0, 1])
    fig.supxlabel("The name of an axis that three panels share, in the size of letters that axes have", fontsize=8)
    saving._stamp(fig)
    saving.lay_out(fig, 120)
    assert fig._supxlabel.get_window_extent().y0 > fig.texts[-1].get_window_extent().y1


@pytest.mark.parametrize("n", [1, 3])
def test_ticks_that_are_kept_give_the_same_places_and_boxes(n, monkeypatch):
    """Also where panels share their axes, and as the figure is resized and laid out anew."""
    found = []
    for keeping in (True, False):
        if not keeping:
            monkeypatch.setattr(saving, "kept_ticks", nullcontext)
        fig = bars(n, sharex=True)
        for size in (7, 3.4):
            fig.set_size_inches(size, 2)
            fig.set_layout_engine("constrained")
            saving.lay_out(fig, 100)
        fig.draw_without_rendering()
        found.append([text.get_window_extent().extents.tolist() for text in texts_of(fig)])
    assert found[0] == found[1]
