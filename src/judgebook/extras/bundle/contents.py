"""What a bundle holds: the outputs of a finished study by kind, its data described, its parameters and software.

Only files that the manifest names are taken, so nothing private in the same folder comes along.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PureWindowsPath
from typing import Any

import yaml

from judgebook import __version__, project
from judgebook.display.text import Phrases
from judgebook.errors import JudgebookError
from judgebook.report import html
from judgebook.report.blocks import PRIVATE, Block, blocks
from judgebook.sources import registry
from judgebook.sources.ids import private
from judgebook.sources.ids.naming import OWN_IDS, Names
from judgebook.study import params, store, yaml_file
from judgebook.study.params import Study

_PHRASES = Phrases(__package__)
METADATA, PREVIEW, README = "ro-crate-metadata.json", "ro-crate-preview.html", "README.md"
PARAMS, LOCK, PACKAGES = "params/{study}.yaml", "software/requirements.lock", "software/packages.json"
DESCRIPTION, PROFILE = "data/README.md", "data/profile.json"
#: folders of a bundle, in the order of its list of contents, and what they hold
FOLDERS = {
    "report": "Pages to read, starting with index.html; texts, tables and figures for a paper in paper/",
    "notebooks": "Notebooks as executed",
    "results": "All numbers: one row per estimate, as Parquet and CSV",
    "figures": "Figures as PDF, PNG and SVG",
    "tables": "Tables as CSV and LaTeX",
    "params": "The settings of the run, defaults included",
    "data": "Description of the data and their sources; the data themselves are not included",
    "software": "Versions of the software, and the lock from which they can be installed",
}


class BundleError(JudgebookError, ValueError):
    """The study cannot be bundled as it is; the message says why and what to do."""


@dataclass(frozen=True)
class Part:
    """A file of a bundle. path : in it. content : the file to copy, or bytes. about : what it is, in a line. made_by :
    the step of the pipeline that wrote it; empty for what is written for the bundle."""

    path: str
    content: Path | bytes
    about: str
    made_by: str = ""

    def __post_init__(self) -> None:
        down = posixpath.normpath(self.path) == self.path and not self.path.startswith(("/", ".."))
        if not down or "\\" in self.path or PureWindowsPath(self.path).drive:
            raise BundleError(f"{self.path!r} is no place in a bundle: run the study again")

    @property
    def size(self) -> int:
        return self.content.stat().st_size if isinstance(self.content, Path) else len(self.content)


@dataclass(frozen=True)
class RawFile:
    """A file that the data were read from. url : empty where there is no public address. licence : of the file."""

    name: str
    sha256: str
    url: str = ""
    licence: str = ""
    size: int | None = None


@dataclass(frozen=True)
class Finished:
    """A study that was run. manifest : what the pipeline stored of it. outdated : notebook of an earlier run -> what
    has changed since."""

    study: Study
    folder: Path
    manifest: dict[str, Any]
    outdated: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return self.study.key

    @property
    def steps(self) -> dict[str, dict]:
        return self.manifest["nodes"]

    @property
    def notebooks(self) -> list[str]:
        return sorted(name for name in self.steps if name[:1].isdigit())

    @property
    def date(self) -> str:
        """Day of the newest notebook."""
        return max(self.steps[name]["finished"][:10] for name in self.notebooks)


def finished(study: str, manifest: dict[str, Any], outdated: dict[str, str]) -> Finished:
    """The study as its last run left it. Raises BundleError where no notebook of it was run."""
    folder = store.processed(study)
    if not any(name[:1].isdigit() for name in manifest.get("nodes", ())):
        run = f"{project.command()} --study {study}"
        raise BundleError(f"{study}: none of its notebooks has been run; run `{run}` first")
    return Finished(params.load(folder / "params.yaml", key=study), folder, manifest, outdated)


def parts(of: Finished) -> list[Part]:
    """The files of a bundle, without its metadata, in order of path.

    Raises BundleError where a file is missing or is not what the run wrote.
    """
    made = list(_outputs(of))
    written = [
        Part(PARAMS.format(study=of.key), _params(of), "Settings of the run"),
        *_data(of),
        Part(LOCK, (params.ROOT / "requirements.lock").read_bytes(), "Versions and hashes to install, for pip"),
        Part(PACKAGES, _json(_software(of)), "Versions installed when the study was run"),
    ]
    out = sorted([*made, *written], key=lambda part: part.path)
    readme = _readme(of, out)
    page = html.text_page(html.Page(of.study.title, of.study.simulated, PREVIEW), of.study.title, readme)
    # the link to the report's first page: this page lies above it
    page = page.replace('href="index.html"', 'href="report/index.html"')
    out += [Part(README, readme.encode(), "Overview of the bundle"), Part(PREVIEW, page.encode(), "The same as HTML")]
    return sorted(out, key=lambda part: part.path)


def refuse_private(of: Finished, parts: Iterable[Part]) -> None:
    """Raises BundleError where a file holds text of a dialogue, or the id of a person."""
    find = private.Finder(private.texts(of.folder), private.own_ids(of.folder))
    for part in parts:
        if what := find(part.path, part.content):
            raise BundleError(
                f"{part.path} would contain {what}: nothing was written. Tag the cell of the notebook that shows it "
                f"`{PRIVATE}`, or remove it from the YAML"
            )


def _outputs(of: Finished) -> Iterator[Part]:
    """What the run wrote, for readers: figures, tables and results once, to which the pages link."""
    root, key = store.out_root(), of.key
    kinds = {
        f"data/processed/{key}/notebooks/": "notebooks/",
        f"data/processed/{key}/results/": "results/",
        f"figures/{key}/": "figures/",
        f"tables/{key}/": "tables/",
        f"reports/{key}/": "report/",
        "reports/": "results/",  # replication.csv of the scoreboard
    }
    placed: dict[str, list[tuple[str, str, Path]]] = {}
    pages: list[tuple[str, str, Path]] = []
    for step, node in of.steps.items():
        for path, sha in node["outputs"].items():
            start = next((s for s in kinds if path.startswith(s)), None)
            if start is None:  # frames: they hold texts and judgements
                continue
            _check(root / path, path, sha, key)
            name = kinds[start] + path.removeprefix(start)
            (pages if name.startswith("report/") else placed.setdefault(name, [])).append((step, name, root / path))
    shown = {notebook: _shown(placed, notebook) for notebook in of.notebooks}
    every = [block for of_notebook in shown.values() for block in of_notebook]
    names = {block.name for block in every if block.private and block.name}
    placed = {name: of_notebook for name, of_notebook in placed.items() if _stem(name) not in names}
    captions = {block.name: " ".join((block.caption or block.text).split()) for block in every if block.name}
    for name, ((step, _, path),) in placed.items():
        content = _notebook(path) if path.suffix == ".ipynb" else path
        yield Part(name, content, captions.get(path.stem) or _about(name, step), step)
    where = {name.rpartition("/")[2]: name for name in placed}
    for step, name, path in pages:
        if name.startswith("report/files/") and (path.name in where or _stem(name) in names):
            continue
        hidden = sum(block.private for block in shown.get(path.stem, ()))
        content = _page(path, where, hidden) if path.suffix == ".html" else path
        yield Part(name, content, _about(name, step), step)


def _check(path: Path, name: str, sha: str, study: str) -> None:
    try:
        with path.open("rb") as file:
            same = hashlib.file_digest(file, "sha256").hexdigest() == sha
    except OSError:
        same = False
    if not same:
        raise BundleError(f"{name} is not what the run wrote; run `{project.command()} --study {study}` again")


def _about(name: str, step: str) -> str:
    folder, _, file = name.partition("/")
    kind = {"notebooks": "Executed notebook", "results": "Results of notebook", "figures": "Figure of notebook"}
    kind |= {"tables": "Table of notebook", "report": "Page of the report:"}
    return f"{kind[folder]} {step if folder not in ('report', 'notebooks') else Path(file).stem}"


def _notebook(path: Path) -> bytes | Path:
    """A notebook without what cells tagged private show."""
    nb = json.loads(path.read_text(encoding="utf-8"))
    hidden = [cell for cell in nb["cells"] if PRIVATE in cell["metadata"].get("tags", ())]
    for cell in hidden:
        if cell["cell_type"] == "code":
            cell["outputs"] = []
        else:
            cell["source"] = ""
    return _json(nb) if hidden else path


def _shown(placed: dict[str, list], notebook: str) -> list[Block]:
    """What an executed notebook shows."""
    for _, _, path in placed.get(f"notebooks/{notebook}.ipynb", ()):
        return list(blocks(json.loads(path.read_text(encoding="utf-8"))))
    return []


def _stem(name: str) -> str:
    """Name of the figure or table that a file is of."""
    return PurePath(name).stem.removesuffix(html.NARROW)


def _page(path: Path, where: dict[str, str], hidden: int) -> bytes:
    """A page without what is private, whose links to figures, tables and results lead to where the bundle has them.

    Raises BundleError where the page does not tell each of the `hidden` blocks of its notebook.
    """

    def link(match: re.Match[str]) -> str:
        return f'"../{where[match[1]]}"' if match[1] in where else match[0]

    page, n = html.without_private(path.read_text(encoding="utf-8"))
    if n < hidden:
        raise BundleError(f"{path.name} does not say which of its parts are private: run the study again")
    return re.sub(r'"files/([^"/]+)"', link, page).encode()


def _params(of: Finished) -> bytes:
    """The settings, with names of files instead of places on this machine, and pseudonyms instead of ids."""
    tree = yaml.load((of.folder / "params.yaml").read_text(encoding="utf-8"), yaml_file.Loader)
    names = Names(private.own_ids(of.folder))

    def shown(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: shown(v) for k, v in value.items()}
        if isinstance(value, list):
            return [shown(v) for v in value]
        return names.within(_name(value)) if isinstance(value, str) else value

    for section in ("sources", "groups"):
        tree[section] = shown(tree.get(section))
    return yaml.dump(tree, Dumper=yaml_file.Dumper, sort_keys=False, allow_unicode=True).encode()


def _name(path: str) -> str:
    """The last component of an absolute path; other text as it is."""
    absolute = PurePath(path).is_absolute() or PureWindowsPath(path).is_absolute()
    return PureWindowsPath(path).name if absolute else path


def raw_files(of: Finished) -> list[RawFile]:
    """The files that the data were read from, with their digests, and where the public ones come from."""
    registered = {e.file: e for e in registry.entries(of.key)} if of.key in registry.studies() else {}
    names, out = Names(private.own_ids(of.folder)), []
    for part, sha in of.steps.get("annotations", {}).get("parts", {}).items():
        for kind in ("raw file ", "embedded "):
            if not part.startswith(kind) or sha is None:
                continue
            name = _name(part.removeprefix(kind))
            entry = registered.get(name)
            if entry:
                out.append(RawFile(name, sha, entry.upstream[0].url, entry.licence, entry.size))
                continue
            shown = f"data/embedded/{of.key}/{name}" if kind == "embedded " else names.within(name)
            out.append(RawFile(shown, sha, "", of.study.licence))
    return out


def _data(of: Finished) -> Iterator[Part]:
    """The data, described."""
    if of.study.across:
        return
    path = of.folder / "profile.json"
    profile = json.loads(path.read_text(encoding="utf-8"))
    facts = {
        "title": of.study.title,
        "simulated": of.study.simulated,
        "description": of.study.description.strip(),
        "n": {k.removeprefix("n_"): v for k, v in profile.items() if k.startswith("n_")},
        "licence": of.study.licence,
        "citation": of.study.citation,
        "raw": raw_files(of),
        "fetch": of.key if of.key in registry.studies() else "",
        "people": (of.folder / OWN_IDS).is_file(),
    }
    yield Part(DESCRIPTION, (_PHRASES.say("data", **facts) + "\n").encode(), "Description and sources of the data")
    yield Part(PROFILE, path, "Systems, labels and groups, and how many of each", "annotations")


def _software(of: Finished) -> dict[str, Any]:
    names = ("commit", "python", "platform", "seeds", "packages")
    return {"compendium": __version__, **{name: of.manifest.get(name) for name in names}}


def _readme(of: Finished, made: Iterable[Part]) -> str:
    paths = [part.path for part in made]
    facts = {
        "title": of.study.title,
        "study": of.key,
        "simulated": of.study.simulated,
        "description": of.study.description.strip(),
        "date": of.date,
        "version": __version__,
        "commit": of.manifest.get("commit") or "",
        "folders": [(name, about, sum(p.startswith(f"{name}/") for p in paths)) for name, about in FOLDERS.items()],
        "outdated": of.outdated,
        "licence": of.study.licence,
        "described": DESCRIPTION in paths,
    }
    return _PHRASES.say("readme", **facts) + "\n"


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
