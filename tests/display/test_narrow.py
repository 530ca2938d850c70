"""The form of a figure for phones: laid out anew where it can be read, and left out where it cannot."""

import pytest
from fixtures.boxes import findings

from judgebook.display import style
from judgebook.display.narrow import LEAST, WIDTH, narrow


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
    assert [t.get_text() for legend in fig.legends for t in legend.get_texts()] == [
        "a longer name of a series", "another", "bars",
    ]  # fmt: skip
    assert "\n" in ax.get_xlabel()
    assert findings(fig) == []


@pytest.mark.parametrize("options", [{"n": 2}, {"names": ("A name that leaves no room for any bar beside it", "B")}])
def test_a_figure_that_cannot_be_read_so_is_left_out(options):
    assert not narrow(bars(**options))


def test_a_figure_that_is_narrow_anyway_needs_no_other_form():
    fig, ax = style.subplots(width=style.COLUMN, height=2)
    ax.plot([0, 1])
    assert not narrow(fig)
