"""Figures as SVG inside a page: what a drawing consists of and nothing else, with ids that are unique on the page; and
the type that they are set in, with the characters that a page needs: text keeps its width on every machine.

A list says what is kept, because names in a figure come from data files.
"""

from __future__ import annotations

import base64
import importlib.util
import io
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from fontTools import subset
from fontTools.ttLib import TTFont
from markupsafe import Markup

from judgebook.study import escape

FAMILY = "DejaVu Sans"
#: tables a browser does without. It then takes kerning from `kern`, as matplotlib does: texts have the same width, and
#: are cut out in a quarter of the time
_UNUSED = ("FFTM", "GDEF", "GPOS", "GSUB", "MATH", "gasp")
_FILES = {False: "DejaVuSans.ttf", True: "DejaVuSans-Bold.ttf"}


@cache
def face(characters: frozenset[str], *, bold: bool = False) -> Markup:
    """CSS that declares the font with these characters, always the same for the same; empty where there are none."""
    if not characters:
        return Markup()
    options = subset.Options()
    options.hinting, options.name_IDs = False, []
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=sorted(map(ord, characters)))
    with TTFont(_folder() / _FILES[bold], recalcTimestamp=False) as font:
        for table in {*_UNUSED} & {*font.keys()}:
            del font[table]
        cutter.subset(font)
        font.flavor, out = "woff", io.BytesIO()
        font.save(out)
    data = base64.b64encode(out.getvalue()).decode()
    weight = "bold" if bold else "normal"
    return Markup(
        f'@font-face {{ font-family: "{FAMILY}"; font-weight: {weight}; src: url(data:font/woff;base64,{data}) }}\n'
    )


def _folder() -> Path:
    """Where matplotlib keeps its fonts; it need not be loaded for that."""
    spec = importlib.util.find_spec("matplotlib")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")
    return Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf"


_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_ELEMENTS = frozenset(
    """svg g defs clipPath pattern path rect circle ellipse line polyline polygon use image text tspan title""".split()  # noqa: SIM905
)
_NUMBERS = frozenset("d x y x1 y1 x2 y2 cx cy r rx ry width height points".split())  # noqa: SIM905
_ATTRIBUTES = _NUMBERS | frozenset(
    """id href style transform viewBox clip-path fill stroke opacity patternUnits patternContentUnits
    patternTransform preserveAspectRatio text-anchor pointer-events class
    data-method data-label data-group data-corpus""".split()  # noqa: SIM905
)
_STYLES = re.compile(
    r"fill|fill-opacity|fill-rule|stroke|stroke-(?:width|opacity|dasharray|dashoffset|linecap|linejoin|miterlimit)|opacity"
    r"|font|font-(?:size|weight|style)|text-anchor|image-rendering|white-space|dominant-baseline"
)
#: what rectangles over marks and groups of marks are, see `display.marks`
_CLASSES = re.compile(r"tips|frame|panel|names|s\d+")
_LOCAL = re.compile(r"url\(#([^()\s]+)\)")
_PICTURE = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=\s]+")
_BOLD = re.compile(r"\b(?:bold|[6-9]00)\b")
_POINTS_PER_INCH = 72
#: pixels of a page to an inch of a figure: one of full width takes 840
PER_INCH = 120


@dataclass(frozen=True)
class Drawing:
    """A figure to be put into a page. characters : of its text in regular and in bold type."""

    markup: Markup
    characters: tuple[frozenset[str], frozenset[str]]


def inline(text: str, *, prefix: str, alt: str) -> Drawing | None:
    """An SVG file as an element of a page; None where it cannot be read.

    prefix : goes before every id. alt : its accessible name.
    """
    text = re.sub(r"<!DOCTYPE[^>\[]*>", "", text, count=1)
    if "<!" in text.replace("<!--", ""):  # entities, which an XML parser would expand
        return None
    try:
        root = ElementTree.fromstring(text)
        width = float(root.get("viewBox", "").split()[2]) / _POINTS_PER_INCH * PER_INCH
    except (ElementTree.ParseError, IndexError, ValueError):
        return None
    writer = _Writer(prefix, set(re.findall(r"#([^()\s\"']+)", text)))
    inside = "".join(writer.element(child) for child in root if child.tag != f"{_SVG}title")
    about = Markup('<svg class="drawing" role="img" aria-label="{}" viewBox="{}" width="{}">')
    opening = about.format(alt, root.get("viewBox"), round(width))
    characters = frozenset(writer.regular), frozenset(writer.bold)
    return Drawing(opening + Markup(inside) + Markup("</svg>"), characters)


class _Writer:
    """Writes elements as HTML; `used` are the ids that anything may refer to, others are dropped."""

    def __init__(self, prefix: str, used: set[str]):
        self.prefix, self.used = prefix, used
        self.regular: set[str] = set()
        self.bold: set[str] = set()

    def element(self, node: ElementTree.Element, bold: bool = False) -> str:
        name = node.tag.removeprefix(_SVG) if isinstance(node.tag, str) else ""
        if name not in _ELEMENTS or name == node.tag:
            return ""
        bold = bold or bool(_BOLD.search(node.get("style", "")))
        attributes = "".join(self._attribute(name, *pair) for pair in node.items())
        if name in ("text", "tspan"):
            parts = [self._text(node.text, bold)]
            parts += [self.element(child, bold) + self._text(child.tail, bold) for child in node]
        else:
            parts = [escape.html((node.text or "").strip()), *(self.element(child, bold) for child in node)]
        inside = "".join(parts)
        if name in ("g", "defs") and not inside:
            return ""
        if name == "g" and not attributes and node.find(f"{_SVG}title") is None:
            return inside
        return f"<{name}{attributes}>{inside}</{name}>" if inside else f"<{name}{attributes}/>"

    def _text(self, text: str | None, bold: bool) -> str:
        (self.bold if bold else self.regular).update(text or "")
        return escape.html(text or "")

    def _attribute(self, element: str, name: str, value: str) -> str:
        name = name.removeprefix(_XLINK)
        kept = self._kept(element, name, value) if name in _ATTRIBUTES else ""
        return f' {name}="{escape.html(kept)}"' if kept else ""

    def _kept(self, element: str, name: str, value: str) -> str:
        if name == "class":
            return value if _CLASSES.fullmatch(value) else ""
        if name == "id":
            return self.prefix + value if value in self.used else ""
        if name == "href":
            if element == "image":
                return value if _PICTURE.fullmatch(value) else ""
            return f"#{self.prefix}{value[1:]}" if value.startswith("#") else ""
        if name == "style":
            pairs = (part.partition(":")[::2] for part in value.split(";"))
            kept = ((key.strip(), self._local(v.strip())) for key, v in pairs if _STYLES.fullmatch(key.strip()))
            return ";".join(f"{key}:{v}" for key, v in kept if v)
        if name == "transform" and re.fullmatch(
            r"rotate\(-?0(?: [-\d.]+)*\)", value
        ):  # matplotlib turns text by 0°, too
            return ""
        return _short(self._local(value)) if name in _NUMBERS else self._local(value)

    def _local(self, value: str) -> str:
        """A value whose references lead into the same drawing; empty where one leads out of it."""
        out = _LOCAL.sub(lambda m: f"url(#{self.prefix}{m[1]})", value)
        return "" if re.search(r"url\((?!#)|[\\@]|/\*", out, re.IGNORECASE) else out


def _short(numbers: str) -> str:
    """Coordinates to a hundredth of a point, which nobody sees, and half the size."""
    rounded = re.sub(r"-?\d+\.\d{3,}", lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), numbers)
    return re.sub(r" ?([A-Za-z]) ?", r"\1", " ".join(rounded.split()))
