"""Figures: what leaves a notebook is stamped, described, reproducible and legible."""

import base64
import io
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.transforms import Bbox
from PIL import Image

from judgebook.display import marks, saving, style
from judgebook.display import plots as plotting
from judgebook.display.names import BAD, GOOD, NEUTRAL, OPEN, PALETTES, DisplayNames, display_names
from judgebook.report import blocks
from judgebook.study.labels import LABEL_SETS
from judgebook.study.sections.data import Figures


def make_run(folder, simulated=False, formats=("png",)):
    study = SimpleNamespace(figures=Figures(formats=list(formats), dpi=100))
    about = {"notebook": "03_iaa", "run_id": "x", "headline": "alpha"}
    return SimpleNamespace(study=study, simulated=simulated, figures=folder, **about)


@pytest.fixture
def shown(monkeypatch):
    """What was displayed, as (data, metadata)."""
    out = []
    monkeypatch.setattr("IPython.display.display", lambda data, **k: out.append((data, k["metadata"])))
    return out


@pytest.fixture
def abc():
    labels = {(label.method, label.id): label for label in LABEL_SETS["abc_eval"]}
    methods = {m: m for m in ("behavior", "turn_likert", "dialogue_likert", "comparative")}
    return DisplayNames(labels, {"method": methods, "group": {"b": "Group B", "a": "Group A"}, "system": {}})


def line_figure():
    fig, ax = style.subplots(height=2)
    ax.plot([0, 1], [0, 1])
    return fig


def results(rows):
    columns = ["method", "label", "group", "estimate", "ci_low", "ci_high", "ci_kind"]
    return pd.DataFrame(rows, columns=columns)


THREE = [
    ("behavior", "ignore", "a", 0.57, 0.5, 0.64, "bca"),
    ("behavior", "antisocial", "a", 1.0, 0.2, 1.0, "exact_bound"),
    ("behavior", "uninterpretable", "a", 0.3, np.nan, np.nan, "not_estimable"),
]


def texts(ax):
    return [t.get_text() for t in ax.texts]


def test_by_hand_titles_of_figures_are_marked_as_such(tmp_path, monkeypatch):
    """A title is Markdown, a caption is not."""
    out, run = [], make_run(tmp_path)
    run.run_id = None
    monkeypatch.setattr("IPython.display.display", lambda data, **_: out.append(data))
    saving.save(line_figure(), "f", alt="x", title=r"Of a\_b, 1 is below", caption="Points: a_b.", run=run)
    assert out[-1].data == r"**Figure 1. Of a\_b, 1 is below.** Points: a\_b."


def test_a_saved_figure_carries_name_and_alt_text_in_file_and_display(tmp_path, shown):
    """The file has 300 dpi, the notebook the dpi of the YAML."""
    saving.save(line_figure(), "f", alt="A rising\n line, α.", caption="Points.", run=make_run(tmp_path))
    with Image.open(tmp_path / "03_iaa_f.png") as image:
        assert image.text == {"Title": "03_iaa_f", "Description": "A rising line, α."}
        assert image.size == (2100, 600)
    ((data, metadata),) = shown
    assert metadata == {"image/png": {"alt": "A rising line, α.", "name": "03_iaa_f", "caption": "Points."}}
    assert data["text/plain"] == "A rising line, α."
    assert Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).size == (700, 200)
    assert not plt.get_fignums()


def test_the_same_figure_gives_the_same_bytes_in_every_format_asked_for(tmp_path, shown):
    """And the headline of a notebook has a PDF whatever is asked for."""
    for folder in ("a", "b"):
        saving.save(line_figure(), "f", alt="Line", run=make_run(tmp_path / folder, formats=("svg", "pdf", "png")))
    for suffix in ("png", "svg", "pdf"):
        first, second = (tmp_path / folder / f"03_iaa_f.{suffix}" for folder in ("a", "b"))
        assert first.read_bytes() == second.read_bytes(), suffix
    for name in ("alpha", "other"):
        saving.save(line_figure(), name, alt="Line", run=make_run(tmp_path / "c"))
    assert {p.name for p in (tmp_path / "c").iterdir()} == {"03_iaa_alpha.png", "03_iaa_other.png", "03_iaa_alpha.pdf"}


@pytest.mark.parametrize(("name", "alt"), [("alpha", "  "), ("Alpha", "x"), ("../alpha", "x"), ("", "x")])
def test_a_figure_without_alt_text_or_with_an_odd_name_is_refused(tmp_path, shown, name, alt):
    with pytest.raises(ValueError, match="expected"):
        saving.save(line_figure(), name, alt=alt, run=make_run(tmp_path))
    assert not shown
    assert not list(tmp_path.iterdir())


def two_parts():
    """A figure of two subfigures, with a bar of colours."""
    style.set_style()
    fig = plt.figure(figsize=(5, 3), layout="constrained")
    for part in fig.subfigures(1, 2):
        for ax in part.subplots(2, 1):
            drawn = ax.imshow(np.eye(3), aspect="auto")
        part.colorbar(drawn, ax=ax)
    return fig


def test_the_last_digits_of_the_layout_change_no_byte(tmp_path, shown, monkeypatch):
    """They depend on where in memory the solver keeps its variables."""
    plain, n = ConstrainedLayoutEngine.execute, 0

    def shaken(self, fig):
        nonlocal n
        plain(self, fig)
        n += 1
        moves = np.random.default_rng(n).normal(scale=1e-14, size=(100, 2, 2))
        for move, ax in zip(moves, fig.axes, strict=False):
            ax._set_position(Bbox(ax.get_position(original=True).get_points() + move))
        for move, part in zip(moves[::-1], fig.subfigs, strict=False):
            part.bbox_relative.set_points(part.bbox_relative.get_points() + move)

    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", shaken)
    for folder in ("a", "b"):
        saving.save(two_parts(), "f", alt="Line", run=make_run(tmp_path / folder, formats=("svg", "pdf", "png")))
    written = [{p.name: p.read_bytes() for p in (tmp_path / folder).iterdir()} for folder in ("a", "b")]
    assert n >= 2
    assert written[0] == written[1]


def test_the_notebook_of_a_run_holds_the_svg(tmp_path, shown):
    folder = tmp_path / "figures" / "s"
    saving.save(line_figure(), "f", alt="A [line]", caption="Points.", run=make_run(folder, formats=["svg"]))
    ((data, metadata),) = shown
    svg = (folder / "03_iaa_f.svg").read_text("utf-8")
    assert data == {"image/svg+xml": svg, "text/plain": "A [line]"}
    (block,) = blocks._data(data, metadata, ())
    assert (block.kind, block.text, block.caption, block.png) == ("figure", "A [line]", "Points.", "")


def boxes_of(folder):
    """Title -> (left, top, right, bottom) of the rectangles that `style.tips` puts into an SVG."""
    root = ElementTree.parse(folder / "03_iaa_f.svg").getroot()
    places = {}
    for rect in root.findall("{*}g[@class='tips']/{*}rect"):
        x, y, width, height = (float(rect.get(k)) for k in ("x", "y", "width", "height"))
        places[rect[0].text] = (x, y, x + width, y + height)
    return places


def test_the_svg_tells_the_value_where_the_mark_is(tmp_path, shown):
    fig, ax = style.subplots(width=style.COLUMN, height=2)  # has no form for phones
    ax.set(xlim=(0, 10), ylim=(0, 10))
    style.tips(ax, ["a < b", "none", "outside", "line"], [5, np.nan, 20, 2], [5, 5, 5, 8], x_to=[5, 5, 20, 4])
    saving.save(fig, "f", alt="Points", run=make_run(tmp_path, formats=("svg",)))
    places = boxes_of(tmp_path)
    assert set(places) == {"a < b", "line"}
    left, top, right, bottom = places["a < b"]
    x, y = ax.transData.transform((5, 5)) * 72 / fig.dpi
    assert ((left + right) / 2, (top + bottom) / 2) == pytest.approx((x, 2 * 72 - y), abs=0.1)
    assert right - left == pytest.approx(marks.TARGET, abs=0.1)
    ends = ax.transData.transform([(2, 8), (4, 8)])[:, 0] * 72 / fig.dpi
    assert (places["line"][0], places["line"][2]) == pytest.approx(tuple(ends), abs=0.1)


def test_marks_of_one_system_have_one_class_in_all_panels_and_so_have_its_names(tmp_path, shown):
    """Names come from data: classes are numbers, and a name that looks like markup is text."""
    fig, axes = style.subplots(1, 2, width=style.COLUMN, height=2)
    names = ['A" onload="x', "<b>B</b>"]
    for ax in axes:
        ax.set(xlim=(0, 10), ylim=(0, 10), yticks=[2, 5], yticklabels=names)
        style.tips(ax, [f"{name}: 1" for name in names], [5, 5], [2, 5], of=names)
    style.legend_of(fig, [style.handle(name, "red", "o") for name in names])
    saving.save(fig, "f", alt="Points", run=make_run(tmp_path, formats=("svg",)))
    root = ElementTree.parse(tmp_path / "03_iaa_f.svg").getroot()
    found = [
        (rect.get("class"), *(title.text for title in rect)) for rect in root.findall("{*}g[@class='tips']/{*}rect")
    ]
    frames = [("frame",)] * 2
    told = [("s0", f"{names[0]}: 1"), ("s1", f"{names[1]}: 1")] * 2
    assert sorted(found) == sorted([*frames, *told, *[("s0", names[0]), ("s1", names[1])] * 3])


def test_texts_stay_texts_and_no_id_is_given_that_nothing_refers_to(tmp_path, shown):
    saving.save(line_figure(), "f", alt="Line", run=make_run(tmp_path, formats=("svg",)))
    svg = (tmp_path / "03_iaa_f.svg").read_text()
    assert re.search(r"<text[^>]*>0\.2</text>", svg)
    referred = set(re.findall(r"#([\w-]+)[)\"]", svg))
    assert set(re.findall(r' id="([^"]+)"', svg)) <= referred


def test_marks_of_shared_plots_tell_value_interval_and_n(abc, tmp_path, shown):
    rows = results(THREE).assign(n=[100, 50, 3])
    saving.save(plotting.forest_figure(rows, abc), "f", alt="Forest", run=make_run(tmp_path, formats=("svg",)))
    assert "Ignore, behavior, Group A: 0.57 [0.50, 0.64], n = 100" in boxes_of(tmp_path)
    assert "Uninterpretable, behavior, Group A: 0.30, n = 3" in boxes_of(tmp_path)
    fig, axes = style.subplots(1, 2)
    plotting.heatmap(pd.DataFrame([[0.5, np.nan]], index=["a"], columns=["b", "c"]), axes[0])
    plotting.stacked(pd.DataFrame([[0.25, 0.75]], index=["x"], columns=["no", "yes"]), axes[1])
    saving.save(fig, "f", alt="Cells", run=make_run(tmp_path, formats=("svg",)))
    assert set(boxes_of(tmp_path)) == {"a, b: 0.50", "x, no: 25.0%", "x, yes: 75.0%"}


def test_simulated_data_is_said_on_the_figure_below_the_axes(tmp_path, shown):
    fig = line_figure()
    saving.save(fig, "f", alt="Line", run=make_run(tmp_path, simulated=True))
    (stamp,) = fig.texts
    assert stamp.get_text() == "Simulated data"
    renderer = FigureCanvasAgg(fig).get_renderer()
    assert stamp.get_window_extent(renderer).y1 < fig.axes[0].get_tightbbox(renderer).y0
    real = line_figure()
    saving.save(real, "f", alt="Line", run=make_run(tmp_path))
    assert not real.texts


def test_forest_orders_labels_as_the_registry_does_and_writes_values_beside(abc):
    """Bounds and what could not be estimated are hollow."""
    _, ax = style.subplots()
    plotting.forest(results(THREE), ax, abc, reference=())
    assert [t.get_text() for t in ax.get_yticklabels()] == ["Uninterpretable", "Antisocial", "Ignore"]
    assert texts(ax) == ["behavior", "0.30 (no interval)", "1.00 [0.20, 1.00]", "0.57 [0.50, 0.64]"]
    assert ax.yaxis_inverted()
    marks = [line for line in ax.lines if line.get_marker() == "o"]
    white = [mpl.colors.to_hex(line.get_markerfacecolor()) == "#ffffff" for line in marks]
    assert white == [True, True, False]
    bars = [line for line in ax.lines if line.get_marker() == "None"]
    assert [line.get_linestyle() for line in bars] == ["--", "-"]


def test_heatmap_writes_and_hatches_cells_and_stacked_parts_follow_each_other():
    _, (ax, other) = style.subplots(1, 2)
    plotting.heatmap(pd.DataFrame([[0.5, np.nan, -0.001]], index=["a"], columns=list("bcd")), ax, decimals=2)
    assert texts(ax) == ["0.50", "0.00"]
    (behind,) = [p for p in ax.patches if p.get_hatch()]
    assert (behind.get_width(), behind.get_height()) == (3, 1)
    plotting.stacked(pd.DataFrame([[0.05, 0.95]], index=["a"], columns=["no", "yes"]), other)
    assert [(p.get_x(), p.get_width()) for p in other.patches] == [(0.0, 0.05), (0.05, 0.95)]
    assert texts(other) == ["95"]  # what is small is not written in


def test_display_names_put_what_the_yaml_names_first_and_the_rest_sorted():
    study = SimpleNamespace(
        systems={"s2": "Two"},
        corpora={"run_1": "First run"},
        groups={"g": SimpleNamespace(title="")},
        label_list=lambda: LABEL_SETS["abc_eval"],
        own_methods=[],
        bootstrap=SimpleNamespace(confidence=0.9),
        figures=Figures(),
    )
    frame = pd.DataFrame({"system": ["s9", "s1", "s2"], "group": ["g", "h", None], "system_b": ["s3", None, "s1"]})
    made = display_names(study, frame, metric={"bleu": "BLEU"})
    assert list(made.titles["system"].items()) == [("s2", "Two"), ("s1", "s1"), ("s3", "s3"), ("s9", "s9")]
    assert list(made.titles["group"]) == ["g", "h"]
    assert made.ci == "90% CI"
    assert made.name("metric", "bleu") == "BLEU"
    assert [made.name("corpus", c) for c in ("run_1", "run_2")] == ["First run", "Run 2"]
    assert [made.name("label", i, "behavior") for i in ("ignore", "unheard_of")] == ["Ignore", "unheard_of"]
    assert list(made.sort(frame[["system"]])["system"]) == ["s2", "s1", "s9"]
    columns = ["method", "label", "group"]
    rows = [("dialogue_likert", "quality", "g"), ("behavior", "unheard_of", "g"), ("behavior", "ignore", None)]
    rows += [("behavior", "ignore", "h"), ("behavior", "ignore", "g"), ("behavior", "ignore", "g")]
    ordered = made.sort(pd.DataFrame(rows, columns=columns, index=[9, 9, 5, 4, 3, 2]).assign(row=range(6)))
    assert list(ordered["row"]) == [4, 5, 3, 2, 1, 0]
    assert list(ordered.index) == [3, 2, 4, 5, 9, 9]
    assert list(made.sort(pd.DataFrame(columns=columns))) == columns


def test_ids_become_names_in_front_and_constant_groups_are_left_out(abc):
    frame = pd.DataFrame({"n": [1, 2], "label": "ignore", "method": "behavior", "group": ["a", "b"], "corpus": "main"})
    found = abc.named(frame)
    assert list(found.itertuples(index=False, name=None)) == [
        ("Group A", "behavior", "Ignore", 1), ("Group B", "behavior", "Ignore", 2)
    ]  # fmt: skip
    assert list(abc.named(frame.iloc[:1])) == ["Method", "Label", "n"]
    assert list(abc.named(frame.assign(corpus=["x", "y"]))) == ["Corpus", "Group", "Method", "Label", "n"]


def _lab(rgb):
    """CIE L*a*b* (D65) of linear sRGB."""
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = np.clip(rgb, 0, None) @ matrix.T / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


# Machado, Oliveira and Fernandes 2009, Table 1, severity 1.0, on linear RGB.
DEFICIENCIES = {
    "none": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def distances(colors, deficiency="none"):
    """(n, n) distances in CIE L*a*b*."""
    srgb = np.array([mpl.colors.to_rgb(c) for c in colors])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    lab = _lab(linear @ np.array(DEFICIENCIES[deficiency]).T)
    return np.linalg.norm(lab[:, None] - lab[None], axis=-1)


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("kind", [*PALETTES])
def test_the_first_colours_of_a_kind_differ_for_every_kind_of_colour_vision(kind, deficiency):
    """A difference of 10 in L*a*b* is plain to see; about 2 is just noticeable."""
    distance = distances(PALETTES[kind][:5], deficiency)
    assert distance[np.triu_indices(5, 1)].min() > 10
    assert distances((GOOD, BAD, OPEN), deficiency)[np.triu_indices(3, 1)].min() > 10


def many(n):
    return DisplayNames({}, {"method": {}, "group": {}, "system": {f"s{i}": f"S{i}" for i in range(n)}})


def test_systems_keep_their_colours_in_another_order_and_are_neutral_beyond_the_palette():
    assert len({many(60).color("system", f"s{i}") for i in range(8)}) == 8
    assert {many(60).color("system", f"s{i}") for i in range(8, 60)} == {NEUTRAL[0]}
    names = many(5).in_order("system", ["s3", "s1"])
    assert list(names.titles["system"]) == ["s3", "s1", "s0", "s2", "s4"]
    for given in (names, names.in_order("system", ["s4"])):
        assert all(given.color("system", f"s{i}") == many(5).color("system", f"s{i}") for i in range(5))


def test_a_pair_has_one_order_and_its_difference_one_sign():
    names = many(3)
    assert names.pair("s2", "s0") == ("s0", "s2", -1)
    assert names.pair("s0", "s2") == ("s0", "s2", 1)
    assert names.pair_name("s2", "s1") == "S1 − S2"
    rows = pd.DataFrame(
        {"system": ["s1", "s1"], "system_b": ["s0", "s2"], "estimate": 1.0, "ci_low": -0.5, "ci_high": 3.0}
    )
    assert names.pairs(rows).to_numpy().tolist() == [["s0", "s1", -1.0, -3.0, 0.5], ["s1", "s2", 1.0, -0.5, 3.0]]
    assert rows["estimate"].tolist() == [1.0, 1.0]
