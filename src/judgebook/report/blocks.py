"""What an executed notebook shows, as a list of blocks that pages are made from, in the order of a page.

A notebook computes before it answers; a page answers first. Nothing is rendered and nothing made harmless here: blocks
may carry text from data files.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from judgebook.study import params

#: the terms that pages explain
GLOSSARY = params.ROOT / "docs" / "glossary.md"
#: parameters that say nothing to a reader
HIDDEN = ("run_id",)
#: the heading of a notebook's answer, and that of what its first cell says below the question
ANSWER, METHODS = "What we see", "Methods"
#: the tag of cells whose outputs stay on this machine: pages show them, bundles and the gallery do not
PRIVATE = "private"
#: tag of a text without a heading that is left out where the code below it shows nothing, as sections are
OPTIONAL = "optional"
#: rules with which pandas shows a frame in a notebook; cells cannot hold them
_PANDAS = re.compile(r"<style scoped>\s*\.dataframe .*?</style>\s*", re.DOTALL)
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
#: a full stop that is not that of an abbreviation, and what closes bold or italics after it
SENTENCE_END = re.compile(r"(?<!\bet al)(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)[.!?][*_]*(?=\s)")
#: `Points:`, `Large marks:`
_MARKS = re.compile(r"^(?:\w+ )?(?:bars|cells|lines|marks|points): ", re.IGNORECASE)
_ITEM = re.compile(r"^[-*] +", re.MULTILINE)


@dataclass(frozen=True)
class Knob:
    """A name in a parameters cell. type and default are source text; help is the comment behind it."""

    name: str
    type: str
    default: str
    help: str


def parameters(source: str) -> list[Knob]:
    """Names a parameters cell declares: `name: type = default  # help`, one a line.

    Raises SyntaxError for anything else but a docstring.
    """
    lines, out = source.splitlines(), []
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
            last = lines[(statement.end_lineno or statement.lineno) - 1].encode()
            _, _, help_ = last[statement.end_col_offset :].decode().partition("#")  # ast counts bytes
            type_, default = ast.unparse(statement.annotation), ast.unparse(statement.value)
            out.append(Knob(statement.target.id, type_, default, help_.strip()))
        elif not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            line = lines[statement.lineno - 1].strip()
            raise SyntaxError(f"the parameters cell holds `name: type = default` only, found `{line}`")
    return out


@dataclass(frozen=True)
class Block:
    """kind : prose, code, parameters, figure, table, text or error.

    text : Markdown (prose), source (code), alt text (figure), caption (table), plain text (text, error).
    caption, subtitle : of a figure, plain text; title : what it shows, in Markdown, or empty. number : of a figure or a
    table with a caption, on its page; 0 for others.
    html, markdown : a table in both. png : a figure, base64. name : stem of the files of a figure or table.
    rows : name, value and meaning of each parameter. output : whether a cell made it, rather than its author.
    folded : of a table, whether it is shown on request only. of : what a figure or table is about, by the
    heading of a column, e.g. Label.
    """

    kind: str
    text: str = ""
    html: str = ""
    markdown: str = ""
    png: str = ""
    name: str = ""
    caption: str = ""
    title: str = ""
    subtitle: str = ""
    number: int = 0
    rows: tuple[tuple[str, str, str], ...] = ()
    output: bool = False
    tags: tuple[str, ...] = field(default=())
    folded: bool = False
    of: tuple[tuple[str, str], ...] = ()

    @property
    def private(self) -> bool:
        """Whether the block is not to leave this machine: of a cell tagged so, all but its code."""
        return PRIVATE in self.tags and (self.output or self.kind == "prose")

    @property
    def subject(self) -> str:
        """What a figure is listed as where it has no title: the first sentence of its caption, without the kind of
        marks it may begin with."""
        opening = _MARKS.sub("", first_sentences(self.caption, 120))
        return opening[:1].upper() + opening[1:]


@dataclass(frozen=True)
class Parts:
    """A page: title and question, the answer, everything else in the notebook's order, the parameters."""

    head: list[Block]
    answer: list[Block]
    rest: list[Block]
    parameters: list[Block]


def blocks(nb: Any) -> list[Block]:
    """The blocks of a notebook (a dict in nbformat 4) in the order of its page; see `parts`."""
    divided = parts(nb)
    return [*divided.head, *divided.answer, *divided.rest, *divided.parameters]


def parts(nb: Any) -> Parts:
    """The blocks of a notebook by their place on its page, with figures and tables numbered in that order.

    A section with nothing in it is left out, with its code. What the first cell says below its first paragraph, the
    question, gets a heading of its own.
    """
    blocks_ = list(_with_content(list(_blocks(nb["cells"]))))
    knobs = [b for b in blocks_ if b.kind == "parameters"]
    figures = {b.name for b in blocks_ if b.kind == "figure" and b.name}
    blocks_ = [replace(b, folded=True) if b.kind == "table" and b.name in figures else b for b in blocks_]
    head, rest = _split_head([b for b in blocks_ if b.kind != "parameters"])
    answer, rest = _split_answer(rest)
    count: Counter[str] = Counter()
    head, answer, rest = ([_numbered(b, count) for b in part] for part in (head, answer, rest))
    return Parts(head, answer, rest, knobs)


def _split_head(blocks_: list[Block]) -> tuple[list[Block], list[Block]]:
    """Title and question, and the others with the methods at their head."""
    first = blocks_[0] if blocks_ else None
    if first is None or first.kind != "prose" or not first.text.lstrip().startswith("# "):
        return [], blocks_
    title, question, more = [*re.split(r"\n\s*\n", first.text.strip(), maxsplit=2), "", ""][:3]
    methods = [replace(first, text=f"## {METHODS}\n\n{more}")] if more else []
    return [replace(first, text=f"{title}\n\n{question}".strip())], [*methods, *blocks_[1:]]


def _split_answer(blocks_: list[Block]) -> tuple[list[Block], list[Block]]:
    """The section that answers, and the others."""

    def heading(block: Block) -> str:
        return match[1] if block.kind == "prose" and (match := re.match(r"\s*##? (.+)", block.text)) else ""

    start = next((i for i, b in enumerate(blocks_) if heading(b).startswith(ANSWER)), len(blocks_))
    end = next((i for i, b in enumerate(blocks_) if i > start and heading(b)), len(blocks_))
    return blocks_[start:end], blocks_[:start] + blocks_[end:]


def _numbered(block: Block, count: Counter[str]) -> Block:
    if block.kind == "figure" or "<caption>" in block.html:
        count[block.kind] += 1
        return replace(block, number=count[block.kind])
    return block


def _with_content(blocks_: list[Block]) -> Iterator[Block]:
    """The blocks without empty sections and their code."""
    left_out = False
    for i, block in enumerate(blocks_):
        if block.kind == "prose" and not block.output:
            left_out = _empty_section(block, blocks_[i + 1 :])
        if not left_out:
            yield block


def _empty_section(block: Block, after: list[Block]) -> bool:
    """Whether a block begins a section whose code shows nothing, or is a bare heading above nothing, or a text tagged
    `optional`. A text with a heading and no code is a section of its own."""
    below = list(takewhile(lambda b: b.output or b.kind != "prose", after))
    heading, _, text = block.text.strip().partition("\n")
    optional = OPTIONAL in block.tags or (heading.startswith("##") and (bool(below) or not text))
    return optional and all(b.kind == "code" for b in below)


def _blocks(cells: list[Any]) -> Iterator[Block]:
    injected = _assigned(next((_source(c) for c in cells if "injected-parameters" in _tags(c)), ""))
    for cell in cells:
        source, tags = _source(cell), _tags(cell)
        if cell["cell_type"] == "markdown":
            yield Block("prose", source, tags=tags)
        elif cell["cell_type"] == "code" and "parameters" in tags:
            knobs = [k for k in parameters(source) if k.name not in HIDDEN]
            rows = tuple((k.name, injected.get(k.name, k.default), k.help) for k in knobs)
            yield Block("parameters", source, rows=rows, tags=tags)
        elif cell["cell_type"] == "code" and "injected-parameters" not in tags:
            if source.strip():
                yield Block("code", source, tags=tags)
            for output in cell.get("outputs", []):
                yield from _output(output, tags)


def _source(cell: Any) -> str:
    return "".join(cell["source"])


def _tags(cell: Any) -> tuple[str, ...]:
    return tuple(cell.get("metadata", {}).get("tags", []))


def _output(output: Any, tags: tuple[str, ...]) -> Iterator[Block]:
    kind = output["output_type"]
    if kind == "stream":
        yield Block("text", _ANSI.sub("", "".join(output["text"])), name=output["name"], output=True, tags=tags)
    elif kind == "error":
        lines = "\n".join(output.get("traceback", [])) or f"{output['ename']}: {output['evalue']}"
        yield Block("error", _ANSI.sub("", lines), output=True, tags=tags)
    else:
        yield from _data(output["data"], output.get("metadata", {}), tags)


def _data(data: Any, metadata: Any, tags: tuple[str, ...]) -> Iterator[Block]:
    text = {mime: "".join(value) for mime, value in data.items() if isinstance(value, str | list)}
    if "image/png" in text or "image/svg+xml" in metadata:
        about = metadata.get("image/svg+xml", metadata.get("image/png", {}))
        png = re.sub(r"\s", "", text.get("image/png", ""))  # none where the page takes the file
        yield Block(
            "figure",
            about.get("alt", ""),
            png=png,
            name=about.get("name", ""),
            **{part: about.get(part, "") for part in ("caption", "title", "subtitle")},
            output=True,
            tags=tags,
            of=_of(about),
        )
    elif "text/html" in text:
        about = metadata.get("table", {})
        html, markdown = _PANDAS.sub("", text["text/html"]), text.get("text/markdown", "")
        caption, name, folded = about.get("caption", ""), about.get("name", ""), bool(about.get("folded"))
        block = Block("table", caption, html=html, markdown=markdown, name=name, output=True, tags=tags)
        yield replace(block, folded=folded, of=_of(about))
    elif "text/markdown" in text:
        yield Block("prose", text["text/markdown"], output=True, tags=tags)
    elif "text/plain" in text:
        yield Block("text", _ANSI.sub("", text["text/plain"]), output=True, tags=tags)


def _of(about: Any) -> tuple[tuple[str, str], ...]:
    return tuple((str(k), str(v)) for k, v in about.get("of", {}).items() if str(k).isalpha())


def _assigned(source: str) -> dict[str, str]:
    """Names and literal values of an injected cell, values as source text."""
    out: dict[str, str] = {}
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            out[statement.targets[0].id] = ast.unparse(statement.value)
    return out


def section(blocks_: list[Block], heading: str) -> str:
    """The Markdown below the heading that contains `heading`, up to the next heading; empty where there is none."""
    lines: list[str] = []
    inside = False
    for block in blocks_:
        for line in block.text.splitlines() if block.kind == "prose" else []:
            if line.startswith("#"):
                if inside:
                    return "\n".join(lines).strip()
                inside = heading.lower() in line.lower()
            elif inside:
                lines.append(line)
        if lines and lines[-1]:
            lines.append("")
    return "\n".join(lines).strip()


def beginning(text: str, n: int) -> tuple[str, str]:
    """The first n sentences of a text, and the rest."""
    ends = [m.end() for m in SENTENCE_END.finditer(f"{text.strip()} ")]
    at = ends[n - 1] if len(ends) > n else len(text)
    return text[:at].strip(), text[at:].strip()


def first_sentences(markdown: str, limit: int = 360) -> str:
    """The first paragraph of a text, and the list it leads to, as running text.

    Where that is longer than `limit`, the whole list is left out, with the sentence that leads to it, if a sentence
    stands before it: half a list would be about some groups only. What is still too long is cut at the end of a
    sentence.
    """
    parts = [p.strip() for p in markdown.split("\n\n") if p.strip()]
    n = 2 if len(parts) > 1 and not _ITEM.match(parts[0]) and _ITEM.match(parts[1]) else 1
    text = " ".join(_running(p) for p in parts[:n])
    if len(text) > limit and n > 1 and (ends := [m.end() for m in SENTENCE_END.finditer(_running(parts[0]) + " ")]):
        text = _running(parts[0])[: ends[-1]]
    if len(text) <= limit:
        return text
    cut = max((m.end() for m in SENTENCE_END.finditer(text[:limit])), default=0)
    return text[:cut] if cut else text[:limit].rsplit(" ", 1)[0] + " …"


def _running(paragraph: str) -> str:
    """A paragraph without line breaks; each item of a list in it ends like a sentence."""
    lead, *items = (" ".join(part.split()) for part in _ITEM.split(paragraph))
    ended = [item if item[-1:] in ".!?:;" else f"{item}." for item in items]
    return " ".join(filter(None, [lead, *ended]))
