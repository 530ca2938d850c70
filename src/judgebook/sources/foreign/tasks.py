"""What is done in a child process (`child.run`): reading workbooks and Parquet, and matching regular expressions.

It is run as a script, in which only what a task needs is imported; of this project, nothing.
"""

from __future__ import annotations

import os
import pickle
import re
import sys
from contextlib import suppress
from typing import Any, NamedTuple

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]


class Refusal(NamedTuple):
    """What a file holds that it should not, as parts of a Problem: what a task returns in place of a result."""

    where: str
    expected: str
    content: str
    hint: str = ""


def workbook(path: str, sheet: str | None, unpacked: int) -> tuple[list[str], dict[str, list[list[Any]]]] | Refusal:
    """The names of all sheets, and the rows of one, of which each has as many cells as the widest; of all sheets, if
    `sheet` is None.

    An empty cell is "", an error its name, such as #DIV/0!. unpacked : bytes that the file may unpack to.
    """
    import zipfile

    import python_calamine

    zipped = zipfile.ZipFile(path) if zipfile.is_zipfile(path) else None
    if zipped is not None and sum(m.file_size for m in zipped.infolist()) > unpacked:
        hint = "if this is correct, save the sheet as CSV"
        return Refusal("", f"at most {unpacked:,} bytes when unpacked", "more", hint)
    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
    except Exception:
        if refusal := _other(path, zipped):
            return refusal
        raise
    parts = _parts(zipped, book.sheet_names) if zipped is not None else {}
    rows = {}
    for name in (n for n in book.sheet_names if sheet in (None, n)):
        rows[name] = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
        if name in parts and (refusal := _fill_in_errors(zipped, parts[name], name, rows[name])):
            return refusal
    return book.sheet_names, rows


#: what is in the archive of a workbook, and how its file ends
_MEMBERS = {"xl/workbook.xml": ".xlsx", "xl/workbook.bin": ".xlsb", "content.xml": ".ods"}
_OLE = b"\xd0\xcf\x11\xe0"


def _other(path: str, zipped: Any) -> Refusal | None:
    """What a file is that is no workbook of the kind that its name says; None if that cannot be told."""
    with open(path, "rb") as file:
        content = file.read(1 << 16)
    ends = next((end for member, end in _MEMBERS.items() if zipped is not None and member in zipped.namelist()), "")
    if content.startswith(_OLE):
        if "EncryptedPackage".encode("utf-16-le") in content:
            return Refusal("", "a workbook", "an encrypted one", "save it without a password")
        ends = ".xls"
    if ends and not path.lower().endswith(ends):
        return Refusal("", "a workbook of the kind that its name says", ends, f"name the file {ends}")
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = content.decode("utf-16" if wide else "utf-8", "replace").strip("\ufeff \r\n\t")
    if ends or zipped is not None or not text or not "".join(text.split()).isprintable():
        return None
    if text.startswith("<"):
        hint = "open it in a spreadsheet, and save it as .xlsx or as CSV (UTF-8)"
        return Refusal("", "a workbook", "XML" if text.startswith("<?xml") else "HTML, a web page", hint)
    ends, divider = (".tsv", "tabs") if "\t" in text.partition("\n")[0] else (".csv", "commas or semicolons")
    return Refusal("", "a workbook", "text", f"if its cells are divided by {divider}, name the file {ends}")


#: what a sheet with formulas or errors has in it
_SUSPECTS = rb"<(?:[^<>/\s]+:)?f[\s>/]|\bt\s*=\s*[\"']e|\bformula\s*=|[\"']error[\"']"


def _fill_in_errors(file: Any, part: str, sheet: str, rows: list[list[Any]]) -> Refusal | None:
    """Write errors into the cells that are empty for them; returns what is to be said of formulas without a value.

    part : the file in the archive that has the sheet
    """
    content, ods = file.read(part), part == _ODS
    if not re.search(_SUSPECTS, content):
        return None
    open_cells = []
    for row, column, formula, kind, value in _ods_cells(content, sheet) if ods else _xml_cells(content):
        if kind in ("e", "error") and row <= len(rows) and column <= len(rows[row - 1]):
            rows[row - 1][column - 1] = value
        elif formula and not value and kind not in ("str", "string"):  # a text may be empty
            open_cells.append(f"{_letters(column)}{row}")
    if not open_cells:
        return None
    more = f" and {len(open_cells) - 3:,} more" if len(open_cells) > 3 else ""
    where = f"sheet {sheet}, cell {', '.join(open_cells[:3])}{more}"
    hint = "open it in a spreadsheet and save it again, which computes them; or write values in place of formulas"
    return Refusal(where, "a value", "a formula without one", hint)


#: the file in an .ods that has its sheets
_ODS = "content.xml"


def _parts(file: Any, sheets: list[str]) -> dict[str, str]:
    """The file in the archive that has each sheet, by its name; none in other formats than .xlsx and .ods."""
    import posixpath
    from xml.etree import ElementTree

    members = set(file.namelist())
    if _ODS in members:
        return dict.fromkeys(sheets, _ODS)
    try:
        book = ElementTree.fromstring(file.read("xl/workbook.xml"))
        links = ElementTree.fromstring(file.read("xl/_rels/workbook.xml.rels"))
    except KeyError:
        return {}
    targets = {link.get("Id"): posixpath.normpath(posixpath.join("/xl", link.get("Target", ""))) for link in links}
    parts = {}
    for element in (one for one in book.iter() if _plain(one.tag) == "sheet"):
        ids = [value for key, value in element.items() if _plain(key) == "id"]
        part = targets.get(ids[0] if ids else None, "").lstrip("/")
        if part in members:
            parts[element.get("name", "")] = part
    return parts


def _plain(tag: str) -> str:
    return tag.rpartition("}")[2]


def _xml_cells(content: bytes) -> Any:
    """(row, column, whether it has a formula, type, value) of each cell, both counted from 1."""
    import io
    from xml.etree import ElementTree

    row = column = 0
    for event, element in ElementTree.iterparse(io.BytesIO(content), ("start", "end")):
        tag = _plain(element.tag)
        if tag == "row":
            if event == "start":
                row, column = int(element.get("r", row + 1)), 0
            else:
                element.clear()
        elif tag == "c" and event == "end":
            place = re.fullmatch(r"([A-Za-z]+)[0-9]+", element.get("r", ""))
            column = _number(place[1]) if place else column + 1
            parts = {_plain(part.tag): part for part in element}
            value = parts["v"].text if "v" in parts else ""
            yield row, column, "f" in parts, element.get("t", ""), value or ""


def _ods_cells(content: bytes, sheet: str) -> Any:
    """The same of an .ods, of its cells that have a formula or hold an error."""
    import io
    from xml.etree import ElementTree

    row = column = 0
    table = None
    for event, element in ElementTree.iterparse(io.BytesIO(content), ("start", "end")):
        tag, attributes = _plain(element.tag), {_plain(key): value for key, value in element.items()}
        if tag == "table" and event == "start":
            row, table = 0, attributes.get("name")
        elif tag == "table-row" and event == "start":
            row, column = row + 1, 0
        elif tag == "table-row":
            row += int(attributes.get("number-rows-repeated", 1)) - 1
            element.clear()
        elif tag in ("table-cell", "covered-table-cell") and event == "end":
            column += 1
            kinds = {value for key, value in element.items() if _plain(key) == "value-type"}  # LibreOffice writes two
            kind = "error" if "error" in kinds else min(kinds, default="")
            if table == sheet and ("formula" in attributes or kind == "error"):
                yield row, column, True, kind, "".join(element.itertext())
            column += int(attributes.get("number-columns-repeated", 1)) - 1


def _number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - 64
    return number


def _letters(number: int) -> str:
    out = ""
    while number:
        number, last = divmod(number - 1, 26)
        out = chr(65 + last) + out
    return out


def parquet(path: str, columns: int, listed: int) -> bytes | Refusal:
    """The table as a stream of Arrow's, with every value written out. columns, listed : as many as there may be."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        if file.metadata.num_columns > columns:
            return Refusal("", f"at most {columns:,} columns", f"{file.metadata.num_columns:,}")
        lists = [i for i in range(len(file.schema)) if file.schema.column(i).max_repetition_level]
        groups = [file.metadata.row_group(i) for i in range(file.num_row_groups if lists else 0)]
        if (n := sum(group.column(i).num_values for group in groups for i in lists)) > listed:
            return Refusal("", f"at most {listed:,} values in lists", f"{n:,}", "write one value a row")
    table = pq.read_table(path, use_threads=False)
    for i, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(field.type.value_type))
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue().to_pybytes()


def matches(expression: str, texts: list[str]) -> list[dict[str, str | None] | None]:
    """What the groups of an expression stand for in each text; None for a text that it does not fit from end to end."""
    match = re.compile(expression, re.DOTALL).fullmatch
    return [found.groupdict() if (found := match(text)) else None for text in texts]


def contains(expression: str, texts: list[str]) -> list[bool]:
    """Whether an expression is in each text."""
    search = re.compile(expression).search
    return [search(text) is not None for text in texts]


TASKS = {task.__name__: task for task in (workbook, parquet, matches, contains)}
#: imported before memory is limited: what they reserve is not the file's
_NEEDS = {"workbook": "python_calamine", "parquet": "pyarrow.parquet"}


def _limit(memory: int, seconds: int) -> None:
    if resource is None:
        return
    # no such file but on Linux
    with suppress(OSError, ValueError, IndexError), open("/proc/self/statm", encoding="ascii") as file:
        memory += int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        with suppress(OSError, ValueError):  # not to be had on this system
            resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def main() -> None:
    """Answer the request that standard input holds on standard output."""
    task, arguments, memory, seconds = pickle.load(sys.stdin.buffer)
    out = sys.stdout.buffer
    sys.stdout = sys.stderr
    try:
        if task in _NEEDS:
            __import__(_NEEDS[task])
        _limit(memory, seconds)
        result = TASKS[task](**arguments)
        refused = isinstance(result, Refusal)
        text = pickle.dumps(("refused", tuple(result)) if refused else ("done", result))
    except MemoryError:
        text = pickle.dumps(("memory", ""))
    except BaseException as error:  # libraries raise all kinds, those in Rust some that are no Exception
        lines = str(error).splitlines()
        text = pickle.dumps(("failed", lines[0] if lines else type(error).__name__))
    out.write(text)
    out.flush()


if __name__ == "__main__":
    main()
