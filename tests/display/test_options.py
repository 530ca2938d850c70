"""`figures:` of the YAML: width, type, palette and greys of all figures, seen in what is drawn."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fixtures.boxes import findings

from judgebook.display import plots, saving, style
from judgebook.display.names import BAD, GOOD, GREYS, SYSTEM_PALETTES, DisplayNames, display_names
from judgebook.study.sections.data import Figures

SYSTEMS = {f"s{i}": f"S{i}" for i in range(4)}


def figure():
    fig, (left, right) = style.subplots(1, 2, width=7, height=2.4)
    left.barh([0, 1], [0.4, 0.9], color=[GOOD, BAD])
    left.set_yticks([0, 1], ["Alpha", "Beta"])
    left.set_xlabel("Share")
    frame = pd.DataFrame([[0.1, 0.9], [0.5, 0.3]], index=["a", "b"], columns=["c", "d"])
    plots.heatmap(frame, right, cmap="RdBu", label="Value")
    style.legend_of(fig, [style.handle("one", "#D55E00", "o"), style.handle("two", "#0072B2", "s")])
    return fig


def drawn(**wanted):
    fig = figure()
    saving.apply(fig, Figures(**wanted))
    saving.lay_out(fig, 120)
    return fig


def test_without_wishes_a_figure_stays_as_it_is():
    before, fig = figure(), drawn()
    assert fig.get_size_inches().tolist() == before.get_size_inches().tolist()
    assert fig.axes[0].xaxis.label.get_fontsize() == before.axes[0].xaxis.label.get_fontsize()


@pytest.mark.parametrize("wanted", [{"width": 5.5}, {"width": 9, "font_size": 10}], ids=str)
def test_width_and_type_are_as_wanted_and_nothing_overlaps(wanted):
    fig = drawn(**wanted)
    assert fig.get_figwidth() == wanted.get("width", 7)
    ratio = wanted.get("font_size", 8) / 8
    plain = figure()
    labels = [fig_.axes[0].xaxis.label.get_fontsize() for fig_ in (fig, plain)]
    assert labels[0] == pytest.approx(ratio * labels[1])
    assert fig.legends[0].get_texts()[0].get_fontsize() == pytest.approx(
        ratio * plain.legends[0].get_texts()[0].get_fontsize()
    )
    assert findings(fig) == []


def test_greys_are_grey_everywhere_and_what_is_bad_is_hatched():
    fig = drawn(greyscale=True)
    fig.canvas.draw()
    pixels = np.asarray(fig.canvas.buffer_rgba())[..., :3].astype(int)
    assert np.abs(pixels - pixels[..., :1]).max() <= 1
    good, bad = fig.axes[0].patches
    assert (good.get_hatch(), bad.get_hatch()) == (None, "////")


@pytest.mark.parametrize(
    ("wanted", "colors"),
    [({"greyscale": True}, GREYS), *(({"palette": name}, colors) for name, colors in SYSTEM_PALETTES.items())],
)
def test_systems_have_the_colours_that_are_wanted(wanted, colors):
    assert [names(**wanted).color("system", s) for s in SYSTEMS] == list(colors[:4])


def names(**wanted) -> DisplayNames:
    study = SimpleNamespace(own_methods=[], corpora={}, groups={}, systems=SYSTEMS, label_list=list)
    study.figures, study.bootstrap = Figures(**wanted), SimpleNamespace(confidence=0.95)
    return display_names(study)
