"""Bundles: what is in them, what never is, and that others can read them."""

import hashlib
import json
import os
import zipfile
from pathlib import Path

import nbformat.v4 as nbf
import pandas as pd
import pytest
import yaml
from rocrate.rocrate import ROCrate

from judgebook.extras.bundle import contents, finished, writing
from judgebook.extras.bundle.contents import PREVIEW
from judgebook.extras.bundle.finished import BundleError
from judgebook.extras.bundle.metadata import METADATA
from judgebook.pipeline.manifest import Manifest
from judgebook.sources.ids import private, pseudonyms
from judgebook.sources.ids.naming import OWN_IDS
from judgebook.sources.ids.recorded import resolved
from judgebook.study import params

SAID = "My neighbour's dog is called 'Rex' & he bites, you know"
WORKER = "A1B2C3D4E5"
STUDY = """\
title: Study of our own
description: Chats of neighbours about dogs.
licence: CC BY 4.0
citation: Nobody (2026).
heds: {completed_by: {name: A. Nalyst, affiliation: An institute}}
sources:
  - {adapter: table, file: mine.csv, layout: wide, columns: {dialogue: id}, scores: "{label}_{annotator}"}
labels:
  fluency: {scale: [1, 5], level: ordinal, direction: 1}
groups:
  us: {annotators: [A1B2C3D4E5]}
"""
PAGE = (
    '<p>See <a href="files/03_iaa_alpha.csv">CSV</a>, <a href="files/03_iaa.csv">results</a>, <a href="paper.html"></a>'
)

TASKS = ["marks.csv:46", "marks.csv:A9B8C7D6"]

#: as the page of a notebook has what a cell tagged private shows
SHOWN = f'<!--private--><p id="x">They said: {SAID}</p><!--/private--><li class="level-4"><a href="#x">Rex</a></li>'


def cells():
    shown = nbf.new_output("stream", text=f"They said: {SAID}")
    hidden = nbf.new_code_cell("show(dialogues)", outputs=[shown], metadata={"tags": ["private"]})
    return [nbf.new_markdown_cell("# Do annotators agree?"), nbf.new_code_cell("1 + 1"), hidden]


@pytest.fixture
def out(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "out"))
    (tmp_path / "mine.yaml").write_text(STUDY)
    (tmp_path / "mine.csv").write_text("id,fluency_a\nd1,3\n")
    root = tmp_path / "out"
    home = root / "data" / "processed" / "mine"
    home.mkdir(parents=True)
    (home / "params.yaml").write_text(yaml.safe_dump(resolved(params.load(tmp_path / "mine.yaml")), sort_keys=False))
    (home / "profile.json").write_text(json.dumps({"study": "mine", "n_annotations": 1, "n_dialogues": 1}))
    pd.DataFrame({"dialogue": ["d1"], "reason": [None]}).to_parquet(home / "annotations.parquet")
    said = {"dialogue": ["d1"], "user_text": [SAID], "system_text": ["Oh no"], "reference": [None]}
    pd.DataFrame(said).to_parquet(home / "dialogues.parquet")
    pd.DataFrame({"text": [None]}).to_parquet(home / "dialogue_facts.parquet")
    own = pd.DataFrame([("person", "A0001", WORKER)], columns=["kind", "pseudonym", "own_id"])
    pseudonyms.write_own_ids(own, home / OWN_IDS)
    write(home / "notebooks" / "03_iaa.ipynb", json.dumps(nbf.new_notebook(cells=cells())))
    results = pd.DataFrame({"statistic": ["alpha"], "estimate": [0.25], "annotator": ["A0001"]})
    (home / "results").mkdir()
    results.to_parquet(home / "results" / "03_iaa.parquet")
    results.to_csv(home / "results" / "03_iaa.csv", index=False)
    write(root / "figures" / "mine" / "03_iaa_alpha.svg", "<svg><text>alpha</text></svg>")
    write(root / "tables" / "mine" / "03_iaa_alpha.csv", "Label,alpha\nFluency,0.25\n")
    for name in ("03_iaa.html", "index.html", "paper.html"):
        write(root / "reports" / "mine" / name, PAGE + (SHOWN if name[0] == "0" else ""))
    for name in ("03_iaa_alpha.csv", "03_iaa.csv"):
        write(root / "reports" / "mine" / "files" / name, "the same again\n")
    record(root)
    return root


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def record(root):
    home = "data/processed/mine"
    outputs = {
        "annotations": [f"{home}/{n}" for n in ("annotations.parquet", "dialogues.parquet", "profile.json")],
        "03_iaa": [
            *(f"{home}/{n}" for n in ("notebooks/03_iaa.ipynb", "results/03_iaa.parquet", "results/03_iaa.csv")),
            *("figures/mine/03_iaa_alpha.svg", "tables/mine/03_iaa_alpha.csv"),
        ],
        "page 03_iaa": ["reports/mine/03_iaa.html", *(f"reports/mine/files/03_iaa{n}.csv" for n in ("", "_alpha"))],
        "index": ["reports/mine/index.html"],
        "paper": ["reports/mine/paper.html"],
    }
    nodes = {
        name: {
            "hash": "0",
            "parts": {"raw file mine.csv": "ab" * 32, f"raw file by_{WORKER}.csv": "ef" * 32}
            if name == "annotations"
            else {"annotations.parquet": "cd" * 32},
            "outputs": {p: hashlib.sha256((root / p).read_bytes()).hexdigest() for p in paths},
            "seconds": 12.5,
            "finished": f"2026-11-22T10:0{number}:00+00:00",
        }
        for number, (name, paths) in enumerate(outputs.items())
    }
    about = {"format": 1, "study": "mine", "commit": "0123abc", "python": "3.11.7", "platform": "Linux"}
    manifest = about | {"packages": {"numpy": "2.3"}, "seeds": {}, "nodes": nodes}
    (root / home / "manifest.json").write_text(json.dumps(manifest))


def bundle(root, outdated=None, **how):
    assert writing.command("mine", Manifest("mine").data, outdated or {}, **how, say=lambda line: None) == 0
    return root / "bundles" / "mine.zip"


def files(path):
    with zipfile.ZipFile(path) as packed:
        return {i.filename: packed.read(i) for i in packed.infolist() if not i.is_dir()}


def test_a_bundle_holds_the_study(out):
    found = files(bundle(out))
    assert {name.partition("/")[0] for name in found if "/" in name} == set(contents.FOLDERS)
    assert json.loads(found["notebooks/03_iaa.ipynb"])["cells"][0]["source"] == "# Do annotators agree?"
    assert found["tables/03_iaa_alpha.csv"] == b"Label,alpha\nFluency,0.25\n"
    described = found["data/README.md"].decode()
    assert all(fact in described for fact in ("CC BY 4.0", "mine.csv", "ab" * 32))
    assert json.loads(found["software/packages.json"])["packages"] == {"numpy": "2.3"}


def test_what_is_private_is_not_in_it(out):
    found = files(bundle(out))
    assert SAID in (out / "data/processed/mine/notebooks/03_iaa.ipynb").read_text()  # there was something to leave out
    assert not any(name.endswith((OWN_IDS, "annotations.parquet", "dialogues.parquet")) for name in found)
    for name, content in found.items():
        for secret in (WORKER, "neighbour's", "Rex", str(out.parent), str(Path.home())):
            assert secret.encode() not in content, (name, secret)
    settings = yaml.safe_load(found["params/mine.yaml"])
    assert settings["groups"]["us"]["annotators"] == ["A0001"]
    assert settings["sources"][0]["file"] == "mine.csv"
    assert "| by\\_A0001.csv |" in found["data/README.md"].decode()


ESCAPED = {
    "tables/mine/03_iaa_alpha.csv": f'Label\n"{SAID}"\n',
    "reports/mine/03_iaa.html": "<p>My neighbour&#39;s dog is called <b>&#x27;Rex&#x27;</b> &amp; he bites, you know",
    "figures/mine/03_iaa_alpha.svg": f"<svg><text>{SAID.replace('&', '&amp;')}</text></svg>",
    "data/processed/mine/results/03_iaa.csv": f"annotator\n{WORKER}\n",
    "reports/mine/index.html": f"<p>By <i>{WORKER}</i></p>",
    "reports/mine/paper.html": f'<p>See <img src="x.png" alt="Ratings by {WORKER}">.</p>',
}


@pytest.mark.parametrize("path", ESCAPED)
def test_private_text_stops_it(out, path):
    (out / path).write_text(ESCAPED[path] + (SHOWN if path.endswith("03_iaa.html") else ""))
    record(out)
    with pytest.raises(BundleError, match="nothing was written") as refused:
        bundle(out)
    assert "Rex" not in str(refused.value)
    assert WORKER not in str(refused.value)
    assert not (out / "bundles").exists()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r"My neighbour's dog is called 'Rex' \& he bites, you know", True),
        ("My neighbour’s dog is called “Rex” & he\n bites,  you know?", True),
        ("My neighbour's dog is called 'Rex' & he bites, you knowingly", False),
        ("A1B2C3D4E5", True),
        ("A1B2C3D4E57", False),
        ("0.123456 and 123456789", True),
        ("0.1234567890123", False),
        ("Oh no", False),  # too short to be distinguished from other words
        ("student", False),
        ("by ann.lee@uni.example", True),
        ("Ann Lee, uni", False),
        ("46 rows: marks.csv 46", False),
        ("by A9B8C7D6", True),
    ],
)
def test_words_are_compared_not_marks(text, found):
    find = private.Finder([SAID, "Oh no"], [WORKER, "123456", "123456789", "student", "ann.lee@uni.example", *TASKS])
    assert (find("page.tex", text.encode()) is not None) == found


def test_files_of_a_private_cell_are_not_in_it(out):
    path = out / "data/processed/mine/notebooks/03_iaa.ipynb"
    about = {"image/png": {"name": "03_iaa_alpha", "alt": "alpha", "caption": "Alpha"}}
    shown = nbf.new_output("display_data", {"image/png": "AAAA"}, metadata=about)
    cell = nbf.new_code_cell("draw()", outputs=[shown], metadata={"tags": ["private"]})
    path.write_text(json.dumps(nbf.new_notebook(cells=[cells()[0], cell])))
    record(out)
    found = files(bundle(out))
    assert "results/03_iaa.csv" in found
    assert [name for name in found if "alpha" in name] == []


def test_a_page_that_does_not_tell_what_is_private_stops_it(out):
    (out / "reports/mine/03_iaa.html").write_text(PAGE)
    record(out)
    with pytest.raises(BundleError, match="does not say which of its parts are private"):
        bundle(out)


def test_a_changed_file_stops_it(out):
    (out / "tables/mine/03_iaa_alpha.csv").write_text("Label,alpha\nFluency,0.99\n")
    with pytest.raises(BundleError, match=r"tables/mine/03_iaa_alpha\.csv is not what the run wrote"):
        bundle(out)


def test_an_output_that_leads_elsewhere_is_left_out(out, capsys):
    """`data/processed/mine/annotations.parquet`, named as if it were a figure."""
    path = out / "data/processed/mine/manifest.json"
    kept = json.loads(path.read_text())
    away = "figures/mine/../../data/processed/mine/annotations.parquet"
    sha = kept["nodes"]["annotations"]["outputs"]["data/processed/mine/annotations.parquet"]
    kept["nodes"]["90_more"] = kept["nodes"]["03_iaa"] | {"outputs": {away: sha}}
    path.write_text(json.dumps(kept))
    assert not any("annotations" in name for name in files(bundle(out)))
    assert "90_more names" in capsys.readouterr().err


@pytest.mark.parametrize(
    "path", ["../evil", "/etc/evil", "figures/../../evil", "figures//evil", "a\\evil", "C:/evil", ""]
)
def test_a_part_has_a_place_in_the_bundle(path):
    with pytest.raises(BundleError, match="no place in a bundle"):
        finished.Part(path, b"", "")


def test_the_same_study_gives_the_same_bytes(out):
    first = bundle(out).read_bytes()
    for path in out.rglob("*"):
        os.utime(path, (1, 1))
    assert bundle(out).read_bytes() == first


def test_an_interrupted_bundle_leaves_what_was_there(out, monkeypatch):
    kept = bundle(out).read_bytes()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(writing.shutil, "copyfileobj", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bundle(out)
    assert {p.name: p.read_bytes() for p in (out / "bundles").iterdir()} == {"mine.zip": kept}


def test_only_a_bundle_is_replaced(out):
    packed = bundle(out)
    packed.write_bytes(b"somebody's own")
    with pytest.raises(BundleError, match=r"mine\.zip is not a bundle"):
        bundle(out)
    packed.unlink()
    packed.mkdir()
    with pytest.raises(BundleError, match=r"mine\.zip is not a bundle"):
        bundle(out)


def test_others_read_it(out, tmp_path):
    """By ro-crate-py: every file is described, and every link leads somewhere."""
    path = bundle(out, outdated={"03_iaa": "params.yaml changed"})
    with zipfile.ZipFile(path) as packed:
        packed.extractall(tmp_path / "crate")
    crate = ROCrate(tmp_path / "crate")
    listed = {e.id for e in crate.data_entities if "File" in (e.type if isinstance(e.type, list) else [e.type])}
    assert listed == set(files(path)) - {METADATA, PREVIEW}
    assert "params.yaml changed" in crate.dereference("notebooks/03_iaa.ipynb")["conditionsOfAccess"]
    for entity in crate.get_entities():
        for value in entity.properties().values():
            for link in value if isinstance(value, list) else [value]:
                if isinstance(link, dict) and not link["@id"].startswith("http"):
                    assert crate.dereference(link["@id"]) is not None, (entity.id, link)
