"""What a bundle holds: the outputs of a finished study by kind, its data described, its parameters and software.

Only files that the manifest names are taken, so nothing private in the same folder comes along.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Any

import yaml

from judgebook import __version__
from judgebook.display.text import Phrases
from judgebook.extras.bundle import metadata
from judgebook.extras.bundle.finished import (
    BundleError,
    Finished,
    Part,
    json_bytes,
    plain_name,
    raw_files,
    refuse_changed,
)
from judgebook.extras.bundle.judgements import Deed, Shared
from judgebook.report import html
from judgebook.report.blocks import PRIVATE, Block, blocks
from judgebook.sources import registry
from judgebook.sources.ids import private
from judgebook.sources.ids.naming import OWN_IDS, Names
from judgebook.sources.instead.shared import FOLDER
from judgebook.study import params, store, yaml_file

_PHRASES = Phrases(__package__)
PREVIEW, README = "ro-crate-preview.html", "README.md"
PARAMS, PROFILE, PACKAGES = "params/{study}.yaml", "data/profile.json", "software/packages.json"
#: folders of a bundle, in the order of its list of contents, and what they hold
FOLDERS = {
    "report": "Pages to read, starting with index.html; texts, tables and figures for a paper in paper/",
    "notebooks": "Notebooks as executed",
    "results": "All numbers: one row per estimate, as Parquet and CSV",
    "figures": "Figures",
    "tables": "Tables as CSV and LaTeX",
    "params": "The settings of the run, defaults included",
    "data": "Description of the data and their sources, and judgements where they are shared",
    "software": "Versions of the software, and the lock to install them",
}


def parts(of: Finished, shared: Shared | None = None) -> list[Part]:
    """The files of a bundle, without its metadata, in order of path. shared : judgements that go with it.

    Raises BundleError where a file is missing or is not what the run wrote.
    """
    made = list(_outputs(of))
    written = [
        Part(PARAMS.format(study=of.key), _params(of, shared), "Settings of the run"),
        *_data(of, shared),
        Part(
            metadata.LOCK, (params.ROOT / "requirements.lock").read_bytes(), "Versions and hashes to install, for pip"
        ),
        Part(PACKAGES, json_bytes(_installed(of)), "Versions installed when the study was run"),
        *(shared.parts() if shared else ()),
    ]
    out = sorted([*made, *written], key=lambda part: part.path)
    readme = _readme(of, out, shared)
    page = html.text_page(html.Page(of.study.title, of.study.simulated, PREVIEW), of.study.title, readme)
    # the link to the report's first page: this page lies above it
    page = page.replace('href="index.html"', 'href="report/index.html"')
    out += [Part(README, readme.encode(), "Overview of the bundle"), Part(PREVIEW, page.encode(), "The same as HTML")]
    return sorted(out, key=lambda part: part.path)


def told(deed: Deed) -> str:
    """What was done before judgements were shared, in a sentence."""
    return _PHRASES.say("deed", deed=deed)


def refuse_private(of: Finished, parts: Iterable[Part], *, texts: bool = False) -> None:
    """Raises BundleError where a file holds text of a dialogue, or the id of a person. texts : the judgements may."""
    own = private.own_ids(of.folder)
    find, ids = private.Finder(private.texts(of.folder), own), private.Finder((), own)
    for part in parts:
        judged = part.path.startswith(FOLDER)
        if what := (ids if texts and judged else find)(part.path, part.content):
            mend = f"Tag the cell of the notebook that shows it `{PRIVATE}`, or remove it from the YAML"
            mend = "Call items by ids in the files, and run the study again" if judged else mend
            raise BundleError(f"{part.path} would contain {what}: nothing was written. {mend}")


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
            refuse_changed(path, sha, key)
            name = kinds[start] + path.removeprefix(start)
            (pages if name.startswith("report/") else placed.setdefault(name, [])).append((step, name, root / path))
    shown = {notebook: _shown(placed, notebook) for notebook in of.notebooks}
    every = [block for of_notebook in shown.values() for block in of_notebook]
    names = {block.name for block in every if block.private and block.name}
    placed = {name: of_notebook for name, of_notebook in placed.items() if _stem(name) not in names}
    captions = {block.name: " ".join((block.caption or block.text).split()) for block in every if block.name}
    for name, ((step, _, path),) in placed.items():
        content = _notebook(path) if path.suffix == ".ipynb" else path
        yield Part(name, content, captions.get(path.stem) or _about(name, step))
    where = {name.rpartition("/")[2]: name for name in placed}
    for step, name, path in pages:
        if name.startswith("report/files/") and (path.name in where or _stem(name) in names):
            continue
        hidden = sum(block.private for block in shown.get(path.stem, ()))
        content = _page(path, where, hidden) if path.suffix == ".html" else path
        yield Part(name, content, _about(name, step))


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
    return json_bytes(nb) if hidden else path


def _shown(placed: dict[str, list], notebook: str) -> list[Block]:
    """What an executed notebook shows."""
    for _, _, path in placed.get(f"notebooks/{notebook}.ipynb", ()):
        return list(blocks(json.loads(path.read_text(encoding="utf-8"))))
    return []


def _stem(name: str) -> str:
    """Name of the figure or table that a file is of."""
    return PurePath(name).stem


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


def _params(of: Finished, shared: Shared | None) -> bytes:
    """The settings, with names of files instead of places on this machine, pseudonyms instead of ids, and items by the
    names that shared judgements have."""
    tree = yaml.load((of.folder / "params.yaml").read_text(encoding="utf-8"), yaml_file.Loader)
    names = Names(private.own_ids(of.folder))

    def shown(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: shown(v) for k, v in value.items()}
        if isinstance(value, list):
            return [shown(v) for v in value]
        return names.within(plain_name(value)) if isinstance(value, str) else value

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: renamed(v) for k, v in value.items()}
        return [shared.renamed.get(v, v) if shared else v for v in value] if isinstance(value, list) else value

    for section in ("sources", "groups"):
        tree[section] = shown(tree.get(section))
    tree["scope"] = renamed(tree.get("scope"))
    return yaml.dump(tree, Dumper=yaml_file.Dumper, sort_keys=False, allow_unicode=True).encode()


def _data(of: Finished, shared: Shared | None) -> Iterator[Part]:
    """The data, described."""
    if of.study.across:
        return
    facts: dict[str, Any] = {
        "title": of.study.title,
        "simulated": of.study.simulated,
        "description": of.study.description.strip(),
        "n": metadata.counts(of),
        "licence": of.study.licence,
        "citation": of.study.citation,
        "raw": raw_files(of),
        "fetch": of.key if of.key in registry.studies() else "",
        "people": (of.folder / OWN_IDS).is_file(),
        "shared": shared,
    }
    yield Part(
        metadata.DESCRIPTION, (_PHRASES.say("data", **facts) + "\n").encode(), "Description and sources of the data"
    )
    path = of.folder / "profile.json"
    yield Part(PROFILE, path, "Systems, labels and groups, and how many of each")


def _installed(of: Finished) -> dict[str, Any]:
    names = ("commit", "python", "platform", "seeds", "packages")
    return {"judgebook": __version__, **{name: of.manifest.get(name) for name in names}}


def _readme(of: Finished, made: Iterable[Part], shared: Shared | None) -> str:
    paths = [part.path for part in made]
    facts = {
        "date": of.date,
        "licence": of.study.licence,
        "title": of.study.title,
        "study": of.key,
        "simulated": of.study.simulated,
        "description": of.study.description.strip(),
        "version": __version__,
        "commit": of.manifest.get("commit") or "",
        "folders": [(name, about, sum(p.startswith(f"{name}/") for p in paths)) for name, about in FOLDERS.items()],
        "outdated": of.outdated,
        "failed": of.failed,
        "described": metadata.DESCRIPTION in paths,
        "shared": shared,
    }
    return _PHRASES.say("readme", **facts) + "\n"
