"""The files of `reports/<study>/paper/`, a LaTeX document among them, and the text of `paper.html`.

Methods are told from the data, the YAML and what was computed; results are the answers of the first page.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from judgebook.display.latex import tex, with_code
from judgebook.display.text import Phrases, plain
from judgebook.extras.paper import findings, heds, references
from judgebook.extras.paper.findings import Material
from judgebook.study import escape, store
from judgebook.summary.answers.document import AnyAnswer

_PHRASES = Phrases(__package__)
#: notebooks whose tables and figures the LaTeX document shows first
_FIRST = ("07", "03", "05", "13", "08", "10", "09", "11", "04", "06", "12", "02", "00")
N_TABLES, N_FIGURES = 2, 2
#: answers of the first page that are results; the others tell of costs and of what to do next
ANSWERS = ("order", "labels", "judges", "sample")
#: lines of tables that leave room for text
_LINES = 24
#: tables that come before others of a notebook
_TABLES = ("overall", "alpha", "strengths", "ranks", "differences", "choices", "numbers", "leaderboard")

_PREAMBLE = r"""% pdflatex report, bibtex report, pdflatex report, pdflatex report
\documentclass[10pt,a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage[margin=1.5cm]{geometry}
\usepackage{array,booktabs,longtable,graphicx,natbib}
\renewcommand{\bibfont}{\scriptsize}
\setlength{\bibsep}{0pt}
\setlength{\emergencystretch}{3em}"""


def write(
    m: Material,
    folder: Path,
    produced: Iterable[Path],
    headlines: Sequence[str],
    captions: Mapping[str, str],
    answers: Iterable[AnyAnswer],
) -> str:
    """Write all files and return the text of the page, as Markdown.

    produced : figures and tables of the notebooks. headlines : stems of the figures that notebooks show first.
    captions : of figures, by stem. answers : of the first page.
    """
    parts = Parts(findings.methods(m), results(answers), findings.on_pairs(m))
    prose = {"methods.md": findings.joined(parts.methods), "results.md": findings.joined(parts.results)}
    entries = works(m, *prose.values())
    texts = prose | {"heds.md": references.readable(heds.markdown(m), entries)}
    if parts.pairs:
        texts["pairs.md"] = "\n".join(_every_pair(parts.pairs))
    texts["references.bib"] = "\n\n".join(entry.source for entry in entries.values()) + "\n"
    paths = sorted(produced)
    chosen = chosen_tables([p for p in paths if p.suffix == ".tex"])
    figures = chosen_figures(paths, headlines)
    texts["report.tex"] = document(
        m, parts, [p.stem for p in chosen], {p.name: captions.get(p.stem, "") for p in figures}
    )
    for path in folder.glob("[0-9][0-9]_*"):  # of an earlier run
        path.unlink()
    for path in (*chosen, *figures):
        with store.atomic(folder / path.name) as temporary:
            shutil.copyfile(path, temporary)
    for name, text in texts.items():
        with store.atomic(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return page(m, parts, entries, texts)


@dataclass(frozen=True)
class Parts:
    """What there is to paste: passages by name (Markdown with citations), sentences on pairs."""

    methods: Mapping[str, str]
    results: Mapping[str, str]
    pairs: list[findings.OnLabel]


def results(answers: Iterable[AnyAnswer]) -> dict[str, str]:
    """The answers of the first page that are results, by key, in the order of the page; also those of notebooks."""
    told = [one for one in answers if (one.key in ANSWERS or one.key[:1].isdigit()) and one.verdict != "not_run"]
    return {one.key: _PHRASES.say("result", question=one.question, sentence=one.sentence) for one in told}


def _every_pair(labels: Iterable[findings.OnLabel]) -> Iterator[str]:
    for evaluation, of_evaluation in groupby(labels, attrgetter("evaluation")):
        yield f"# {plain(evaluation)}\n"
        for on in of_evaluation:
            yield from [f"## {plain(on.label)}\n", *(f"- {sentence}" for sentence in on.sentences), ""]


def works(m: Material, *texts: str) -> dict[str, references.Entry]:
    """What texts cite, the data of the study, the report and HEDS, by key."""
    data, report = references.of_data(m.study), findings.report_entry(m)
    entries = {**references.known(), report.key: report} | ({data.key: data} if data else {})
    keys = [k for text in texts for k in references.cited(text)]
    return {
        key: entries[key] for key in dict.fromkeys([*keys, *([data.key] if data else []), report.key, "belz2024heds"])
    }


def page(m: Material, parts: Parts, entries: dict[str, references.Entry], made: Iterable[str]) -> str:
    """The page: texts with citations in words, references, datasheet, how to cite."""
    sheet, report = heds.datasheet(m), findings.report_entry(m)

    def paragraphs(passages: Mapping[str, str]) -> list[str]:
        return [p for text in passages.values() for p in references.readable(text, entries).split("\n\n")]

    facts = {
        "made": list(made),
        "methods": paragraphs(parts.methods),
        "results": paragraphs(parts.results),
        "n_pairs": sum(len(on.sentences) for on in parts.pairs),
        "references": [e.long for e in sorted(entries.values(), key=lambda e: e.short.lower()) if e.key != report.key],
        "bibtex": "\n\n".join(e.source for e in entries.values() if e.key != report.key),
        "report": report.source,
        "sheet": sheet,
        "date": m.made.date,
        "version": m.made.version,
        "data": m.made.data,
        "seeds": [f"{name} {seed}" for name, seed in m.seeds.items()],
    }
    return _PHRASES.say("page", **facts) + "\n"


def chosen_tables(paths: Iterable[Path]) -> list[Path]:
    """The first tables of one part that fit together, by the order of notebooks; at most one of a notebook, none of
    printed numbers."""
    out: dict[str, Path] = {}
    room = _LINES
    for path in sorted(paths, key=_place):
        text = path.read_text(encoding="utf-8")
        one = r"\begin{longtable}" not in text and text.count(r"\begin{tabular}{@") == 1
        lines, number = text.count(r"\\"), _number(path)
        if one and lines <= room and number in _FIRST and number not in out and not path.stem.endswith("_beside"):
            out[number] = path
            room -= lines
    return list(out.values())[:N_TABLES]


def chosen_figures(paths: Iterable[Path], headlines: Sequence[str]) -> list[Path]:
    """The headline figures of the first notebooks, as PDF where there is one."""
    by_stem: dict[str, Path] = {}
    for path in paths:
        if path.suffix == ".pdf" or (path.suffix == ".png" and path.stem not in by_stem):
            by_stem[path.stem] = path
    first = [by_stem[stem] for stem in headlines if stem in by_stem and stem[:2] in _FIRST]
    return sorted(first, key=_place)[:N_FIGURES]


def _number(path: Path) -> str:
    return path.name[:2]


def _place(path: Path) -> tuple[int, int, str]:
    number, name = _number(path), next((n for n in _TABLES if path.stem.endswith(f"_{n}")), "")
    first = _FIRST.index(number) if number in _FIRST else len(_FIRST)
    return first, _TABLES.index(name) if name else len(_TABLES), path.name


def document(m: Material, parts: Parts, tables: Sequence[str], figures: Mapping[str, str]) -> str:
    """The LaTeX document: the texts, a few tables and figures. tables : stems of files. figures : file -> caption."""
    title = rf"\begin{{center}}\large {tex(m.study.title)}\\ \small {tex(m.made.date)}\end{{center}}"
    lines = [
        _PREAMBLE,
        r"\begin{document}",
        title,
        *([r"\noindent\textbf{Simulated data.}"] if m.study.simulated else []),
        r"\section*{Methods}",
        to_tex("\n\n".join(parts.methods.values())),
        r"\section*{Results}",
        to_tex("\n\n".join(parts.results.values())),
        *(rf"\input{{{stem}}}" for stem in tables),
        *(line for file, caption in figures.items() for line in _figure(file, caption)),
        r"\bibliographystyle{plainnat}",
        r"\bibliography{references}",
        r"\end{document}",
        "",
    ]
    return "\n".join(lines)


def _figure(file: str, caption: str) -> Iterator[str]:
    """A figure by itself at the size it was drawn in, so that its letters have 7 points or more; smaller only where it
    would not fit the page."""
    yield r"\begin{figure}[tp]"
    yield r"  \centering"
    yield r"  \setlength{\dimen0}{0.86\textheight}"
    yield rf"  \setbox0=\hbox{{\includegraphics{{{file}}}}}"
    yield r"  \ifdim\wd0>\textwidth \def\fitted{width=\textwidth,height=\dimen0,keepaspectratio}\else"
    yield r"  \ifdim\ht0>\dimen0 \def\fitted{height=\dimen0}\else \def\fitted{scale=1}\fi\fi"
    yield rf"  \expandafter\includegraphics\expandafter[\fitted]{{{file}}}"
    yield rf"  \caption{{{with_code(caption)}}}"
    yield r"\end{figure}"


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
