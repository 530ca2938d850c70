"""Texts that are alike are laid out once while a figure is saved."""

import matplotlib.pyplot as plt
import pytest
from matplotlib.text import Text

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
