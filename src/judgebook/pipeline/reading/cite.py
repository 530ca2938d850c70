"""How a report is cited: as text and as BibTeX, with the data it is about, and under which licences it is."""

from __future__ import annotations

import re

from judgebook import __version__, project
from judgebook.report.html import Cite
from judgebook.study.params import Study
from judgebook.study.yaml_file import parse

#: of the text and figures of reports, and of the code that notebooks show
TEXT, CODE = "CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/)", "GPL-3.0-or-later"


def cite(study: Study, date: str) -> Cite:
    """Of the report of a study. date : of its newest notebook, ISO 8601."""
    authors, url = list(study.authors), study.report_url or address()
    what = f"Human evaluation report, made with judgebook {__version__}"
    who = f"{'; '.join(authors)}. " if authors else ""
    dated = f"{what}, {date}" if date else what
    text = f"{who}{study.title}{f' ({date[:4]})' if date else ''}. {dated}.{f' {url}' if url else ''}"
    fields = {
        "title": "{" + _tex(study.title) + "}",
        "author": " and ".join(_tex(name) for name in authors),
        "year": date[:4],
        "note": _tex(dated),
        "url": url,
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    key = re.sub(r"\W", "", study.key) + date[:4]
    bibtex = "\n".join([f"@misc{{{key},", *lines, "}"])
    licences = (("Text and figures", TEXT), ("Code", CODE), ("Data", study.licence or "not stated"))
    return Cite(text, bibtex, study.citation, licences)


def address() -> str:
    """Where the project is published; empty where that is not known."""
    path = project.ROOT / "CITATION.cff"
    return str(parse(path.read_text(encoding="utf-8"))[0].get("repository-code", "")) if path.is_file() else ""


def _tex(text: str) -> str:
    """Plain text as the value of a field of BibTeX."""
    return re.sub(r"([&%$#_])", r"\\\1", re.sub(r"[{}\\]", "", text))
