"""The form of a figure for phones: laid out anew where it can be read, and left out where it cannot."""

from contextlib import nullcontext
from itertools import pairwise

import pytest
from fixtures.boxes import findings

from judgebook.display import style
from judgebook.display.narrow import LEAST, WIDTH, narrow, texts_of


def bars(n=1, names=("Alpha", "Beta"), **kwargs):
    fig, axes = style.subplots(1, n, width=7, height=2, squeeze=False, **kwargs)
    for ax in axes.flat:
        ax.barh(range(len(names)), [0.4, 0.9])
        ax.set_yticks(range(len(names)), names)
        ax.set_xlabel("A label of an axis that is too long to be set in one line of a narrow figure")
    drawn = axes.flat[0].containers[0]
    style.legend_of(fig, [style.handle("a longer name of a series", "red", "o"), style.handle("another", "blue", "s")])
    fig.legend([drawn], ["bars"], loc="outside lower left")
    style.lay_out(fig, 120)
    return fig


def test_a_figure_of_one_column_is_laid_out_anew():
    fig = bars()
    assert narrow(fig, below=0.2)
    assert fig.get_figwidth() == WIDTH
    (ax,) = fig.axes
    assert ax.get_position().width * WIDTH >= LEAST
    assert ax.get_position().y0 * fig.get_figheight() > 0.2
    assert "\n" in ax.get_xlabel()
    assert findings(fig) == []


def test_panels_beside_each_other_come_to_stand_below_each_other_with_the_names_they_shared():
    fig = bars(3, sharey=True)
    assert narrow(fig)
    assert len({round(ax.get_position().x0, 3) for ax in fig.axes}) == 1
    places = [ax.get_position() for ax in fig.axes]
    assert all(below.y1 < above.y0 for above, below in pairwise(places))
    assert [[label.get_text() for label in ax.get_yticklabels()] for ax in fig.axes] == [["Alpha", "Beta"]] * 3
    assert findings(fig) == []


def test_the_stamp_of_simulated_data_covers_no_name_of_an_axis():
    """Wide and narrow; the narrow figure is three times as tall."""
    fig, axes = style.subplots(1, 3, width=7, height=1.5)
    for ax in axes:
        ax.plot([0, 1])
    fig.supxlabel("The name of an axis that three panels share, as long as a narrow figure", fontsize=8)
    style._stamp(fig)
    style.lay_out(fig, 120)
    assert fig._supxlabel.get_window_extent().y0 > fig.texts[-1].get_window_extent().y1
    assert narrow(fig, below=style.STRIP)
    assert fig._supxlabel.get_window_extent().y0 > fig.texts[-1].get_window_extent().y1


def test_a_figure_that_cannot_be_read_so_is_left_out():
    assert not narrow(bars(names=("Anamethatleavesnoroomforanybarbesideitandthatcannotbebroken", "B")))


@pytest.mark.parametrize("n", [1, 3])
def test_ticks_that_are_kept_give_the_same_places_and_boxes(n, monkeypatch):
    """Also where panels share their axes, and as the figure is resized and laid out anew."""
    found = []
    for keeping in (True, False):
        if not keeping:
            monkeypatch.setattr(style, "kept_ticks", nullcontext)
        fig = bars(n, sharex=True)
        for size in (7, 3.4):
            fig.set_size_inches(size, 2)
            fig.set_layout_engine("constrained")
            style.lay_out(fig, 100)
        fig.draw_without_rendering()
        found.append([text.get_window_extent().extents.tolist() for text in texts_of(fig)])
    assert found[0] == found[1]
