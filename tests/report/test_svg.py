"""Drawings inside a page: what matplotlib draws stays, what could run or lead elsewhere goes."""

import base64
import io
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from fixtures.html_pages import Elements
from fontTools.ttLib import TTFont
from hypothesis import given
from hypothesis import strategies as st

from judgebook.report import svg

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 72 36">'


def inline(inside, prefix="f1-"):
    return str(svg.inline(f"{HEAD}{inside}</svg>", prefix=prefix, alt='a "b"').markup)


@pytest.fixture(scope="module")
def drawn():
    fig, ax = plt.subplots(figsize=(3.5, 2))
    ax.plot([0, 1], [0, 1], marker="o")
    ax.bar([0, 1], [1, 2], hatch="//")
    ax.imshow([[0, 1], [1, 0]], extent=(0, 1, 0, 1))
    ax.set_title("Ünïcode & <b>", weight="bold")
    file = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        fig.savefig(file, format="svg")
    plt.close(fig)
    return file.getvalue()


def test_a_drawing_of_matplotlib_keeps_its_shapes_and_its_text(drawn):
    made = svg.inline(drawn, prefix="f3-", alt="a line")
    before, after = Elements(drawn), Elements(str(made.markup))
    for tag in ("path", "use", "image", "pattern", "text"):
        assert len(after.of(tag)) == len(before.of(tag)) > 0, tag
    assert after.of("svg")[0] | {"class": ""} == {
        "class": "", "role": "img", "aria-label": "a line", "viewbox": "0 0 252 144", "width": "420"
    }  # fmt: skip
    assert not after.of("style")  # it would hold for the whole page
    assert "Ünïcode & <b>" in after.text
    assert len(made.markup) < 0.8 * len(drawn)


def test_references_stay_within_their_own_drawing(drawn):
    texts = [str(svg.inline(drawn, prefix=p, alt="x").markup) for p in ("f1-", "f2-")]
    ids = [re.findall(r' id="([^"]+)"', t) for t in texts]
    asked = [set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', t)) for t in texts]
    assert not set(ids[0]) & set(ids[1])
    for own, links in zip(ids, asked, strict=True):
        assert {a or b for a, b in links} == set(own)
        assert len(own) == len(set(own))


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        '<g onclick="alert(1)"><path d="M0 0"/></g>',
        "<style>* { background: url(https://x.org) }</style>",
        '<use href="https://x.org/a.svg#b"/>',
        '<image href="https://x.org/a.png"/>',
        '<image xlink:href="data:image/svg+xml;base64,AAAA"/>',
        '<a href="javascript:alert(1)"><path d="M0 0"/></a>',
        '<foreignObject><iframe src="https://x.org"/></foreignObject>',
        '<path style="fill: url(https://x.org)" d="M0 0"/>',
        '<path style="fill: u\\72l(https://x.org)" d="M0 0"/>',
        '<path fill="url( \'https://x.org\')" d="M0 0"/>',
        '<path style="position: fixed; behavior: url(https://x.org)" d="M0 0"/>',
        '<animate attributeName="href" to="javascript:alert(1)"/>',
        '<set attributeName="onload" to="alert(1)"/>',
        '<h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script>',
    ],
)
def test_what_could_run_or_lead_elsewhere_goes(inside):
    left = inline(inside).partition(">")[2]
    assert not re.search(r"alert|x\.org|javascript|position|svg\+xml|on\w+=", left)


def test_text_from_data_shows_as_text():
    made = inline("<text>&lt;script&gt;alert(1)&lt;/script&gt;</text><g><title>&lt;img src=x&gt;</title><path/></g>")
    assert {tag for tag, _ in Elements(made).found} == {"svg", "text", "g", "title", "path"}


def test_values_under_the_pointer_stay_but_the_name_of_the_file_goes():
    tips = '<g fill="none" pointer-events="all"><rect x="1" y="2" width="3" height="4"><title>A: 3</title></rect></g>'
    made = inline(f"<title>03_iaa_alpha</title>{tips}")
    assert "03_iaa_alpha" not in made
    assert '<g fill="none" pointer-events="all"><rect' in made
    assert "<title>A: 3</title>" in made


ENTITY = f'<!DOCTYPE svg [<!ENTITY a "b">]>{HEAD}<text>&a;</text></svg>'


@pytest.mark.parametrize("text", ["", "<svg", HEAD, "<svg/>", ENTITY])
def test_what_is_no_drawing_gives_none(text):
    assert svg.inline(text, prefix="", alt="") is None


@given(st.text(alphabet=st.sampled_from(list("0123456789.- eMLz")), max_size=30))
def test_short_numbers_are_the_same_to_a_hundredth(text):
    def numbers(value):
        return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", value)]

    assert numbers(svg._short(text)) == pytest.approx(numbers(text), abs=0.0051)


def test_a_font_holds_the_characters_of_a_page():
    face = svg.face(frozenset("Aé−"), bold=True)
    data = re.search(r"base64,([\w+/=]+)\)", face)[1]
    font = TTFont(io.BytesIO(base64.b64decode(data)))
    assert set(font.getBestCmap()) == {ord(c) for c in "Aé−"}
    assert "font-weight: bold" in face
