"""The files of `reports/<study>/paper/` and the text of `paper.html`."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from judgebook.display.text import Phrases, plain
from judgebook.extras.paper import findings, found, heds, latex, pairs, references, tables
from judgebook.extras.paper.analysis import Material
from judgebook.study import store

_PHRASES = Phrases(__package__)
#: notebooks whose tables and figures the LaTeX document shows first
_FIRST = ("07", "03", "05", "13", "08", "10", "09", "11", "04", "06", "12", "02", "00")
N_TABLES, N_FIGURES = 2, 2
#: sentences on pairs that the page has room for; the file has all
MOST = 1000
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
    parts = Parts(findings.methods(m), found.results(m), tables.results(m), pairs.sentences(m))
    prose = {"methods.md": findings.joined(parts.methods), "results.md": parts.markdown()}
    entries = works(m, *prose.values())
    texts = prose | {"heds.md": references.readable(heds.markdown(m), entries)}
    if parts.pairs:
        texts["pairs.md"] = "\n".join(_every_pair(parts.pairs))
    texts["references.bib"] = "\n\n".join(entry.source for entry in entries.values()) + "\n"
    own = {table.name: table.tex for of_passage in parts.tables.values() for table in of_passage}
    texts |= {f"{name}.tex": tex_ for name, tex_ in own.items()}
    paths = sorted(produced)
    chosen = chosen_tables([p for p in paths if p.suffix == ".tex"], most=N_TABLES - len(own))
    figures = chosen_figures(paths, headlines)
    shown = latex.Shown({**own, **{p.stem: p.read_text(encoding="utf-8") for p in chosen}},
                        {p.name: captions.get(p.stem, "") for p in figures})  # fmt: skip
    for name, columns in latex.TEMPLATES.items():
        texts[name] = latex.document(m, parts.methods, parts.results, shown, columns=columns)
    for path in (*folder.glob("table_*.tex"), *folder.glob("[0-9][0-9]_*")):  # of an earlier run
        path.unlink()
    for path in (*chosen, *figures):
        with store.atomic(folder / path.name) as temporary:
            shutil.copyfile(path, temporary)
    for name, text in texts.items():
        with store.atomic(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    offered = [name for name in texts if name.removesuffix(".tex") not in own]
    made = [*offered, *(["tables.docx"] if word(html, folder / "tables.docx") else [])]
    return page(m, parts, entries, made)


@dataclass(frozen=True)
class Parts:
    """What there is to paste: passages by name (Markdown with citations), tables by passage, sentences on pairs."""

    methods: Mapping[str, str]
    results: Mapping[str, str]
    tables: Mapping[str, list[tables.Rendered]]
    pairs: list[pairs.OnLabel]

    def markdown(self) -> str:
        """Results with their tables."""
        blocks = [[text, *(t.markdown for t in self.tables.get(name, ()))] for name, text in self.results.items()]
        return "\n\n".join(block.strip() for part in blocks for block in part) + "\n"


def _every_pair(labels: Iterable[pairs.OnLabel]) -> Iterator[str]:
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

    def blocks(passages: Mapping[str, str]) -> list[dict]:
        return [
            {"text": references.readable(text, entries).split("\n\n"), "tables": parts.tables.get(name, [])}
            for name, text in passages.items()
        ]

    n_pairs = sum(len(on.sentences) for on in parts.pairs)
    facts = {
        "made": list(made),
        "methods": blocks(parts.methods),
        "results": blocks(parts.results),
        "pairs": [(e, list(of)) for e, of in groupby(parts.pairs, attrgetter("evaluation"))] if n_pairs <= MOST else [],
        "n_pairs": n_pairs,
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


def chosen_tables(paths: Iterable[Path], most: int = N_TABLES) -> list[Path]:
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
    return list(out.values())[: max(0, most)]


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
