"""The committed pages in `gallery/`: Markdown and PNG that GitHub shows to readers who install nothing.

They hold prose, figures and tables of aggregates only: no code, no plain output, nothing from cells tagged `private`,
and no dialogue text (verified against the data). `check` compares the numbers committed with them with a fresh run.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from compendium.gallery import kept, markdown
from compendium.gallery.markdown import alt, lighter, page, without_html
from compendium.published import elements, mapping, scoreboard
from compendium.published.consistency import checks
from judgebook import project
from judgebook.display.text import plain
from judgebook.errors import JudgebookError
from judgebook.pipeline import dag
from judgebook.report.blocks import PRIVATE, Block, blocks, first_sentences, section
from judgebook.sources.ids import private
from judgebook.study import params, store

#: studies that are run for one kind of analysis -> the notebooks that are run and shown
PARTS = {
    "usr": ("04", "06", "09"),
    "fed": ("04", "06", "09", "11"),
    "dstc9": ("04", "06", "09"),
    "engage": ("09",),
    "spot_the_bot": ("11",),
    "conture": ("11",),
    "lfqa_experts": ("11",),
    "llmfao": ("19",),
    "dices": ("12",),
    "xhate_stability": ("12",),
}
#: studies that run as a whole, and the notebooks that others show as well; `demo` shows what no real study can
WHOLE = ("scoreboard", "atlas", "abc_public", "finch2024", "ji2022", "gpt_abceval", "minp_forms", "demo")
ELSEWHERE = {
    "minp_forms": ("02", "14", "15"),
    "demo": ("00", "02", "03", "04", "05", "06", "08", "14", "15", "16", "17", "80"),
    "gpt_abceval": ("05", "08", "11", "14", "16", "80"),
    "abc_public": ("14", "15", "16"),
    "finch2024": ("80",),
    "ji2022": ("05", "14", "16"),
}
#: studies that are shown for what they say of evaluations at large -> what a reader finds there
AT_LARGE = {
    "atlas": "public studies side by side: how far people agree, and how many results stand when looked at again",
    "minp_forms": "a study whose conclusion was disputed, and what its answers support",
}
STUDIES = (*WHOLE, *PARTS)
FOLDER = params.ROOT / "gallery"
#: the page of the papers' tables, figures and procedures
PAPERS = "papers.md"
LIMIT = 7_000_000  # bytes, all studies together: a clone stays small


class GalleryError(JudgebookError, ValueError):
    """What would be published must not be, or does not exist."""


def write(studies: Iterable[str], folder: Path = FOLDER) -> int:
    """Rebuild the pages of `studies` from their last run, and the index of the gallery; returns the exit code."""
    store.sweep(folder)
    store.sweep(folder.parent, deep=False)  # the table of studies stands in the first page of the project, too
    try:
        for study in studies:
            _write_study(study, folder)
        _write_front(folder)
        size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
        if size > LIMIT:
            raise GalleryError(f"gallery: {size / 1e6:.1f} MB, at most {LIMIT / 1e6:.1f} are allowed: trim figures")
    except GalleryError as error:
        print(f"{project.program()}: {error}", file=sys.stderr)
        return 1
    print(f"gallery: {size / 1e6:.2f} MB in {folder.name}/")
    return 0


def _write_study(study: str, folder: Path) -> None:
    loaded, home = params.load(study), store.processed(study)
    if not (home / "manifest.json").is_file():
        return
    target = folder / study
    if kept.has(study):
        absent = kept.missing(target / kept.SCOREBOARD_CSV)
        if absent:
            raise GalleryError(f"gallery: {study} depends on results of {', '.join(absent)}: run these studies first")
    pages: dict[str, str] = {}
    images: dict[str, bytes] = {}
    rows = []
    for name, entry in dag.of(dag.load(), loaded).items():
        path = home / "notebooks" / f"{name}.ipynb"
        if not path.is_file() or not shown(study, name):
            continue
        visible = [b for b in blocks(json.loads(path.read_text(encoding="utf-8"))) if not b.private]
        images |= {f"{b.name}.png": lighter(base64.b64decode(b.png)) for b in visible if b.kind == "figure"}
        pages[f"{name}.md"] = page(visible, loaded.simulated and entry.of_study)
        rows.append((name, visible, _headline(visible, f"{name}_{entry.headline}")))
    preface, answered = (None, []) if study in PARTS else markdown.answers(study)
    answers, drawn = markdown.answered(preface, answered, list(pages), simulated=loaded.simulated)
    images |= {name: lighter(png) for name, png in drawn.items()}
    pages["README.md"] = _index(loaded, answers, rows)
    extra = {kept.NUMBERS_CSV: kept.sampled(kept.numbers(study, PARTS.get(study, ())))}
    if kept.has(study):
        cells, readme = kept.last_run(), folder.parent / kept.README
        extra[kept.SCOREBOARD_CSV] = kept.printed(cells)
        _put(readme, kept.with_badge(readme.read_text(encoding="utf-8"), cells).encode())
    elif not loaded.across:
        _refuse_dialogue_text(study, pages)
    for name, text in pages.items():
        _put(target / name, text.encode())
    for name, png in images.items():
        _put(target / name, png)
    for name, content in extra.items():
        _put(target / name, content)
    for path in target.iterdir():
        if path.name not in {*pages, *images, *extra}:
            path.unlink()


def shown(study: str, notebook: str) -> bool:
    """Whether the gallery has the page of a notebook."""
    number = notebook.partition("_")[0]
    return number in PARTS.get(study, (number,)) and number not in ELSEWHERE.get(study, ())


def runs(needed: Iterable[str], studies: Iterable[str]) -> dict[tuple[str, ...], list[str]]:
    """What is run for the gallery, in order: notebooks (none: all of them) -> studies.

    needed : `studies`, and those whose results the scoreboard reads. Of a study that is not shown as a whole, only what
    is shown or read is run.
    """
    studies = set(studies)
    out: dict[tuple[str, ...], list[str]] = {}
    read = mapping.sources() if any(map(kept.has, studies)) else []
    for study in needed:
        notebooks = {*PARTS.get(study, ()), *(name.partition("_")[0] for s, name in read if s == study)}
        only = tuple(sorted(notebooks)) if study in PARTS or study not in studies else ()
        out.setdefault(only, []).append(study)
    return {
        **{only: some for only, some in out.items() if only},
        **{only: some for only, some in out.items() if not only},
    }


def _headline(visible: Sequence[Block], name: str) -> Block | None:
    """The figure called `name` (a table may be, too), else the first figure."""
    drawn = [b for b in visible if b.kind == "figure"]
    return next((b for b in drawn if b.name == name), drawn[0] if drawn else None)


def _put(path: Path, content: bytes) -> None:
    with store.atomic(path) as temporary:
        temporary.write_bytes(content)


def _index(study: params.Study, answers: list[str], rows: list[tuple[str, list[Block], Block | None]]) -> str:
    parts = [f"# {plain(study.title)}"]
    if study.simulated:
        parts.append("> **Simulated data.** Nothing on these pages is about real people or systems.")
    parts += answers
    parts += ["## What was collected"] if answers else []
    parts.append(without_html(study.description.strip()))
    for name, visible, figure in rows:
        text = next((b.text for b in visible if b.kind == "prose" and b.text.lstrip().startswith("# ")), f"# {name}")
        title, _, rest = text.strip().partition("\n")
        parts.append(f"## [{name.split('_')[0]} {title.removeprefix('# ').strip()}]({name}.md)")
        parts.append(without_html(first_sentences(rest)))
        if figure:
            parts.append(f"![{alt(figure.text)}]({figure.name}.png)")
        parts.append(without_html(first_sentences(section(visible, "What we see"))))
    csv = f"[{kept.NUMBERS_CSV}]({kept.NUMBERS_CSV})"
    parts.append(f"The numbers behind these pages, at most {kept.MOST} per notebook: {csv}.")
    if kept.has(study.key):
        name = kept.SCOREBOARD_CSV
        parts.append(f"Every printed number, its verdict and the reason: [{name}]({name}).")
    return "\n\n".join(p for p in parts if p) + "\n"


def _write_front(folder: Path) -> None:
    """The index of the gallery: every study that has pages."""
    parts = [
        "# Gallery",
        "Reports to read without installing anything: answers, figures and tables. `python run_all.py` makes the full "
        "reports, with every row of every table; the code is in the [notebooks](../docs/notebooks.md).",
        "Each page opens with its finding. Brackets hold 95% intervals; SD is the standard deviation of scores. The "
        "[glossary](../docs/glossary.md) explains the other terms; [how the six answers are "
        "made](../docs/six_answers.md) says what each answer rests on.",
    ]
    present = [s for s in STUDIES if (folder / s / "README.md").is_file()]
    whole = [s for s in present if s not in PARTS and s not in AT_LARGE]
    across, studies = ([s for s in whole if params.load(s).across == wanted] for wanted in (True, False))
    parts += ["## Whole reports", markdown.table(folder, studies, "")]
    if single := [s for s in present if s in PARTS]:
        parts += ["## One kind of analysis each", "\n".join(_single(folder, s) for s in single)]
    if large := [s for s in present if s in AT_LARGE]:
        lines = [f"- [{plain(params.load(s).title)}]({s}/README.md): {AT_LARGE[s]}." for s in large]
        parts += ["## Evaluations at large", "\n".join(lines)]
    about = [f"- [{plain(params.load(s).title)}]({s}/README.md){_outcomes(folder / s)}" for s in across]
    if elements.REGISTRY.is_file():
        about.append(f"- [{elements.TITLE}]({PAPERS})")
        _put(folder / PAPERS, papers(folder).encode())
    if about:
        parts += ["## Across papers and studies", "\n".join(about)]
    _put(folder / "README.md", ("\n\n".join(parts) + "\n").encode())
    readme = folder.parent / kept.README
    if readme.is_file():
        table = markdown.table(folder, studies, f"{folder.name}/")
        _put(readme, markdown.between_markers(readme.read_text(encoding="utf-8"), table).encode())


def _outcomes(folder: Path) -> str:
    """What became of printed numbers, where a study says so: a line for the five papers, and one for other sources."""
    path = folder / kept.SCOREBOARD_CSV
    outcomes = scoreboard.outcomes(scoreboard.read(path)) if path.is_file() else []
    return "".join(f"\n  - {outcome}" for outcome in outcomes)


def _single(folder: Path, study: str) -> str:
    """A line on a study of which some notebooks are shown, by what they ask."""
    title, asks = plain(params.load(study).title), dag.load()
    found = sorted((folder / study).glob("[0-9][0-9]_*.md"))
    pages = " · ".join(f"[{asks[p.stem].asks}]({study}/{p.name})" for p in found if p.stem in asks)
    return f"- [{title}]({study}/README.md): {pages}"


def papers(folder: Path = FOLDER) -> str:
    """The page of the papers' tables, figures and procedures; only what is in the gallery is linked."""

    def link(study: str, notebook: str, section: str) -> str:
        address = f"../{study}/{notebook}.md" if study == elements.DOCS else f"{study}/{notebook}.md"
        return address + (f"#{section}" if section else "") if (folder / address).is_file() else ""

    return elements.page(elements.load(), {paper.paper: paper.title for paper in checks.load()[1]}, link)


def _refuse_dialogue_text(study: str, pages: dict[str, str]) -> None:
    find = private.Finder(private.texts(store.processed(study)))
    for name, text in pages.items():
        if find(name, text.encode()):
            raise GalleryError(f"gallery: {study}/{name} shows dialogue text: tag the cell `{PRIVATE}`")


def check(studies: Iterable[str], folder: Path = FOLDER) -> int:
    """Compare the committed numbers with those of the last run; returns the exit code."""
    differing = 0
    for study in studies:
        path, home = folder / study / kept.NUMBERS_CSV, store.processed(study)
        if not (home / "manifest.json").is_file():
            continue
        if not path.is_file():
            print(f"gallery: {study}: no {kept.NUMBERS_CSV}; run `{project.command()} gallery`", file=sys.stderr)
            differing += 1
            continue
        absent = kept.missing(path.parent / kept.SCOREBOARD_CSV)
        if absent:
            print(f"gallery: {study}: left out, as it depends on results of {', '.join(absent)}")
            continue
        lines = kept.compare(kept.read(path), kept.numbers(study, PARTS.get(study, ())))
        if (path.parent / kept.SCOREBOARD_CSV).is_file():
            committed = scoreboard.read(path.parent / kept.SCOREBOARD_CSV)
            lines += kept.differences(committed, kept.last_run())
        differing += len(lines)
        for line in lines[:20]:
            print(f"gallery: {study}: {line}", file=sys.stderr)
        if len(lines) > 20:
            print(f"gallery: {study}: … and {len(lines) - 20} more", file=sys.stderr)
        if not lines:
            print(f"gallery: {study}: every number as committed (relative tolerance {kept.TOLERANCE:g})")
    return 1 if differing else 0
