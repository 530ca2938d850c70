"""The files of `reports/<study>/paper/` and the text of `paper.html`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from judgebook.display.latex import tex
from judgebook.display.text import Phrases
from judgebook.extras.paper import findings, found, heds, references
from judgebook.extras.paper.analysis import Material
from judgebook.study import escape, store

_PHRASES = Phrases(__package__)
#: notebooks whose tables and figures the LaTeX document shows first
_FIRST = ("07", "03", "05", "13", "08", "10", "09", "11", "04", "06", "12", "02", "00")
N_TABLES, N_FIGURES = 2, 2
#: lines of tables that leave room for text
_LINES = 24
#: tables that come before others of a notebook
_TABLES = ("overall", "alpha", "strengths", "ranks", "differences", "choices", "numbers", "leaderboard", "label_sets")


def write(
    m: Material,
    folder: Path,
    produced: Iterable[Path],
    headlines: Sequence[str],
    html: Sequence[str],
    captions: Mapping[str, str],
) -> str:
    """Write all files and return the text of the page, as Markdown.

    produced : figures and tables of the notebooks. headlines : stems of the figures that notebooks show first.
    html : tables of the notebooks, in order; in a Word document where pandoc is installed. captions : of figures, by
    stem.
    """
    prose = {"methods.md": findings.methods(m), "results.md": found.results(m)}
    entries = works(m, *prose.values())
    texts = prose | {"heds.md": references.readable(heds.markdown(m), entries)}
    texts["references.bib"] = "\n\n".join(entry.source for entry in entries.values()) + "\n"
    paths = sorted(produced)
    tables = chosen_tables([p for p in paths if p.suffix == ".tex"])
    figures = chosen_figures(paths, headlines)
    texts["report.tex"] = document(
        m, prose["methods.md"], prose["results.md"], tables, {p: captions.get(p.stem, "") for p in figures}
    )
    for path in (*tables, *figures):
        with store.atomic(folder / path.name) as temporary:
            shutil.copyfile(path, temporary)
    for name, text in texts.items():
        with store.atomic(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    made = [*texts, *(["tables.docx"] if word(html, folder / "tables.docx") else [])]
    return page(m, prose["methods.md"], prose["results.md"], entries, made)


def works(m: Material, *texts: str) -> dict[str, references.Entry]:
    """What texts cite, the data of the study, the report and HEDS, by key."""
    data, report = references.of_data(m.study), findings.report_entry(m)
    entries = {**references.known(), report.key: report} | ({data.key: data} if data else {})
    keys = [k for text in texts for k in references.cited(text)]
    return {
        key: entries[key] for key in dict.fromkeys([*keys, *([data.key] if data else []), report.key, "belz2024heds"])
    }


def page(m: Material, methods: str, results: str, entries: dict[str, references.Entry], made: Iterable[str]) -> str:
    """The page: texts with citations in words, references, datasheet, how to cite."""
    sheet, report = heds.datasheet(m), findings.report_entry(m)
    answered, n = sheet.counts
    facts = {
        "made": list(made),
        "methods": references.readable(methods, entries),
        "results": references.readable(results, entries),
        "references": [e.long for e in sorted(entries.values(), key=lambda e: e.short.lower()) if e.key != report.key],
        "bibtex": "\n\n".join(e.source for e in entries.values() if e.key != report.key),
        "report": report.source,
        "answered": answered,
        "n": n,
        "missing": sheet.missing,
        "date": m.made.date,
        "version": m.made.version,
        "data": m.made.data,
        "seeds": [f"{name} {seed}" for name, seed in m.study.seeds.model_dump().items()],
        "simulated": m.study.simulated,
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


def word(html: Sequence[str], path: Path) -> bool:
    """Write tables as a Word document by pandoc; whether it is installed and there are any."""
    if not html or not shutil.which("pandoc"):
        path.unlink(missing_ok=True)
        return False
    with store.atomic(path) as temporary:
        command = ["pandoc", "--from=html", "--to=docx", f"--output={temporary}"]
        body = "<!DOCTYPE html><title>Tables</title>\n" + "\n<p></p>\n".join(html)
        # the same tables give the same bytes
        subprocess.run(
            command, input=body.encode(), check=True, timeout=120, env=os.environ | {"SOURCE_DATE_EPOCH": "0"}
        )
    return True


def document(m: Material, methods: str, results: str, tables: Sequence[Path], figures: Mapping[Path, str]) -> str:
    r"""A LaTeX document of at most two pages: the texts, a few tables (`\input`) and figures with their captions."""
    figure = []
    if figures:
        width = rf"{0.98 / len(figures):.2f}\linewidth"
        sides = ("", "") if len(figures) == 1 else ("Left: ", "Right: ")
        text = " ".join(f"{side}{caption}" for side, caption in zip(sides, figures.values(), strict=False) if caption)
        figure = [
            r"\begin{figure}[!b]",
            r"  \centering",
            *(rf"  \includegraphics[width={width},height=0.2\textheight,keepaspectratio]{{{p.name}}}" for p in figures),
            rf"  \caption{{\footnotesize {tex(text)}}}",
            r"\end{figure}",
        ]
    return "\n".join(
        [
            "% pdflatex report, bibtex report, pdflatex report, pdflatex report",
            r"\documentclass[10pt,a4paper]{article}",
            r"\usepackage[utf8]{inputenc}",
            r"\usepackage[margin=1.5cm]{geometry}",
            r"\usepackage{array,booktabs,longtable,graphicx,multicol,natbib}",
            r"\renewcommand{\bibfont}{\tiny}",
            r"\setlength{\bibsep}{0pt}",
            r"\begin{document}",
            rf"\begin{{center}}\large {tex(m.study.title)}\\ \small {tex(m.made.date)}\end{{center}}",
            r"\footnotesize",
            *([r"\noindent\textbf{Simulated data.}"] if m.study.simulated else []),
            r"\section*{Methods}",
            to_tex(methods),
            *figure,
            r"\section*{Results}",
            to_tex(results),
            *(rf"\input{{{path.stem}}}" for path in tables),
            r"\begin{multicols}{2}",
            r"\bibliographystyle{plainnat}",
            r"\bibliography{references}",
            r"\end{multicols}",
            r"\end{document}",
            "",
        ]
    )


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
    return tex(escape.from_markdown(re.sub(r"(?<!\\)\*\*", "", text)))
