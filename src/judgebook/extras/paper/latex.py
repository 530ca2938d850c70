r"""The study as LaTeX documents, in one column and in two: the texts, a few tables and figures with their captions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from judgebook.display.latex import tex, with_code
from judgebook.extras.paper import references
from judgebook.extras.paper.analysis import Material
from judgebook.study import escape

#: file -> its columns
TEMPLATES = {"report.tex": 1, "report_twocolumn.tex": 2}
_PREAMBLE = r"""% pdflatex {name}, bibtex {name}, pdflatex {name}, pdflatex {name}
\documentclass[10pt,a4paper{option}]{{article}}
\usepackage[utf8]{{inputenc}}
\usepackage[margin=1.5cm]{{geometry}}
\usepackage{{array,booktabs,longtable,graphicx,natbib}}
\renewcommand{{\bibfont}}{{\scriptsize}}
\setlength{{\bibsep}}{{0pt}}
\setlength{{\emergencystretch}}{{3em}}"""
#: tables and figures take both columns
_BOTH = r"""\makeatletter
\expandafter\let\expandafter\table\csname table*\endcsname
\expandafter\let\expandafter\endtable\csname endtable*\endcsname
\makeatother"""


@dataclass(frozen=True)
class Shown:
    """tables : stems of files. figures : file -> caption."""

    tables: Sequence[str]
    figures: Mapping[str, str]


def document(m: Material, methods: Mapping[str, str], results: Mapping[str, str], shown: Shown, *, columns: int) -> str:
    """A document in one or two columns."""
    name = next(file for file, n in TEMPLATES.items() if n == columns).removesuffix(".tex")
    title = rf"\begin{{center}}\large {tex(m.study.title)}\\ \small {tex(m.made.date)}\end{{center}}"
    two = columns == 2
    lines = [
        _PREAMBLE.format(name=name, option=",twocolumn" if two else ""),
        *([_BOTH] if two else []),
        r"\begin{document}",
        rf"\twocolumn[{{{title}}}]" if two else title,
        *([r"\noindent\textbf{Simulated data.}"] if m.study.simulated else []),
        r"\section*{Methods}",
        to_tex("\n\n".join(methods.values())),
        r"\section*{Results}",
        to_tex("\n\n".join(results.values())),
        *(rf"\input{{{stem}}}" for stem in shown.tables),
        *(line for file, caption in shown.figures.items() for line in _figure(file, caption, two=two)),
        r"\bibliographystyle{plainnat}",
        r"\bibliography{references}",
        r"\end{document}",
        "",
    ]
    return "\n".join(lines)


def _figure(file: str, caption: str, *, two: bool) -> Iterator[str]:
    """A figure by itself at the size it was drawn in, so that its letters have 7 points or more; smaller only where it
    would not fit the page."""
    environment = "figure*" if two else "figure"
    yield rf"\begin{{{environment}}}[tp]"
    yield r"  \centering"
    yield r"  \setlength{\dimen0}{0.86\textheight}"
    yield rf"  \setbox0=\hbox{{\includegraphics{{{file}}}}}"
    yield r"  \ifdim\wd0>\textwidth \def\fitted{width=\textwidth,height=\dimen0,keepaspectratio}\else"
    yield r"  \ifdim\ht0>\dimen0 \def\fitted{height=\dimen0}\else \def\fitted{scale=1}\fi\fi"
    yield rf"  \expandafter\includegraphics\expandafter[\fitted]{{{file}}}"
    yield rf"  \caption{{{with_code(caption)}}}"
    yield rf"\end{{{environment}}}"


def to_tex(markdown: str) -> str:
    """Paragraphs of our Markdown (bold, citations, escapes) as LaTeX."""
    return "\n\n".join(_paragraph(p) for p in markdown.strip().split("\n\n"))


def _paragraph(text: str) -> str:
    lead = re.match(r"\*\*([^*]+)\*\*\s*", text)
    out = [rf"\paragraph{{{_plain(lead[1])}}} "] if lead else []
    for piece in references.split(text[lead.end() :] if lead else text):
        if isinstance(piece, list):
            out[-1] = out[-1].rstrip()
            out.append(rf"~\citep{{{','.join(piece)}}}")
        elif piece:
            after = " " * bool(piece.strip() and piece[-1:].isspace())
            out.append(" " * piece[:1].isspace() + _plain(piece) + after)
    return "".join(out).strip()


def _plain(text: str) -> str:
    """Text without Markdown's escapes and marks, escaped for LaTeX."""
    return tex(escape.unmarked(text))
