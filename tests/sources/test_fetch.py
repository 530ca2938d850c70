"""Registry and fetching: against the manifest of the public data, a server on this machine, folders and archives."""

import csv
import hashlib
import io
import shutil
import socket
import tarfile
import threading
import time
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product

import pandas as pd
import pytest

from judgebook.sources import archives, fetch, registry
from judgebook.sources.registry import Entry, Upstream
from judgebook.study.params import ParamsError
from judgebook.study.schema import DataError


def silent(line: str) -> None:
    """Takes the lines of a fetch that the test does not look at."""


@pytest.fixture
def serve():
    """Starts servers on the loopback interface; returns their address."""
    servers = []

    def start(handler) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def made_up(monkeypatch, tmp_path_factory):
    """A registry of one study, with an original, a pseudonymised, an archived and a derived file."""
    original, upstream, copy = b"one\n", b"worker A1B2\n", b"worker W01\n"
    archive = _tar(tmp_path_factory.mktemp("made") / "x.tgz", {"inner/part.tsv": b"a\tb\n1"}).read_bytes()
    contents = {"data/o.txt": original, "data/p.txt": upstream, "x.tgz": archive, "u.json": b"[1]"}

    def source(path):
        return Upstream("some/where", "c" * 40, path, registry.git_blob(contents[path]))

    def sha(data):
        return hashlib.sha256(data).hexdigest()

    entries = (
        Entry("study", "o.txt", "original", (source("data/o.txt"),), "MIT", 4, sha(original)),
        Entry("study", "sub/p.txt", "pseudonymised", (source("data/p.txt"),), "none stated", 11, sha(copy)),
        Entry("study", "part.tsv", "original", (source("x.tgz"),), "MIT", 5, sha(b"a\tb\n1"), member="part.tsv"),
        Entry("study", "made.csv", "derived", (source("u.json"),), "MIT", convert="double"),
    )
    monkeypatch.setattr(registry, "entries", lambda key: entries)
    monkeypatch.setattr(registry, "citation", lambda key: "Somebody (2020).")
    monkeypatch.setitem(fetch.converters(), "double", lambda paths, folder: {"made.csv": _table(paths[0].read_text())})
    return entries, contents, copy


def _table(text):
    return pd.DataFrame({"text": [text, text]})


def test_git_blob_is_gits():
    # printf 'hello\n' | git hash-object --stdin
    assert registry.git_blob(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"


@pytest.mark.data
def test_registry_says_what_the_manifest_says(raw_data, more_data, atlas_data):
    """Every file of the manifest: size, checksum, upstream addresses, blob ids and licence."""
    rows = []
    for manifest in (raw_data / "MANIFEST.csv", raw_data / "MANIFEST_ADDED.csv"):  # not all that was added is used
        with manifest.open(encoding="utf-8", newline="") as file:
            rows += list(csv.DictReader(file))
    found = {(key, e.file): e for key in registry.studies() for e in registry.entries(key)}
    for row in (row for row in rows if (row["key"], row["file"]) in found):
        entry = found.pop((row["key"], row["file"]))
        assert (str(entry.size), entry.sha256, entry.licence) == (row["bytes"], row["sha256"], row["licence"])
        for upstream in entry.upstream:
            blob = f" blob {upstream.blob}" if upstream.blob else ""
            assert f"{upstream.repository} commit {upstream.commit} path {upstream.path}{blob}" in row["upstream"]
            assert entry.file == "groups.csv" or upstream.url in row["upstream"]
        assert len([u for u in entry.upstream if u.blob]) == row["upstream"].count(" blob ")
        kind = "derived" if "derived file" in row["transformations"] else row["transformations"].partition(" ")[0]
        assert entry.kind == {"none": "original", "member": "original", "derived": "derived"}.get(kind, "pseudonymised")
        assert bool(entry.member) == (kind == "member")
    # the others are further data, which have no manifest, or are not public
    rest = {(key, file) for key, file in found if not copies(raw_data.parent, ("data_more", "atlas"), key, file)}
    assert rest == {("abc_eval", "data.json"), ("finch2024", "data.json")}


def copies(folder, names, key, file):
    """Files of a study that stand in one of the folders of public data."""
    return [path for name in names for path in (folder / name / key / file, folder / name / file) if path.is_file()]


@pytest.mark.data
@pytest.mark.evidence
def test_every_public_copy_verifies(raw_data):
    for key in registry.studies():
        for entry in registry.entries(key):
            places = copies(raw_data.parent, (raw_data.name, "data_more", "atlas"), key, entry.file)
            assert places or not entry.sha256 or not (raw_data / key).is_dir()
            if entry.sha256 and places:
                data = places[0].read_bytes()
                assert entry.accepts(data)
                assert not entry.accepts(data + b" ")


def test_unknown_study_names_the_nearest():
    with pytest.raises(ParamsError, match="did you mean 'gpt_abceval'"):
        fetch.fetch("gpt_abcevl", say=silent)


def test_from_upstream_every_kind(made_up, monkeypatch, serve, tmp_path):
    """Files come as upstream has them, members out of their archive, derived files by their converter."""
    _, contents, _ = made_up
    site = tmp_path / "site"
    for path, data in contents.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_bytes(data)
    address = serve(partial(Quiet, directory=str(site)))
    monkeypatch.setattr(Upstream, "url", property(lambda self: f"{address}/{self.path}"))
    done = fetch.fetch("study", to=tmp_path / "raw", progress=False, say=silent)
    assert [f.how for f in done] == ["downloaded", "downloaded", "unpacked", "converted"]
    raw = tmp_path / "raw" / "study"
    assert (raw / "o.txt").read_bytes() == contents["data/o.txt"]
    assert (raw / "sub/p.txt").read_bytes() == contents["data/p.txt"]
    assert (raw / "part.tsv").read_bytes() == b"a\tb\n1"
    assert (raw / "made.csv").read_text() == "text\n[1]\n[1]\n"


def test_a_damaged_download_is_not_kept(made_up, monkeypatch, serve, tmp_path):
    entries, _, _ = made_up
    (tmp_path / "data").mkdir()
    (tmp_path / "data/o.txt").write_bytes(b"onf\n")
    address = serve(partial(Quiet, directory=str(tmp_path)))
    monkeypatch.setattr(Upstream, "url", property(lambda self: f"{address}/{self.path}"))
    with pytest.raises(DataError) as caught:
        fetch.fetch("study", to=tmp_path / "raw", progress=False, say=silent)
    first, *others = caught.value.problems
    assert entries[0].upstream[0].blob in first.expected
    assert registry.git_blob(b"onf\n") in first.found
    assert ["404" in p.found for p in others] == [True] * 3
    assert not [p for p in (tmp_path / "raw").rglob("*") if p.is_file()]


def test_where_nothing_listens_nobody_asks_again(made_up, monkeypatch, tmp_path):
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/copy"  # bound, and not listening
        monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("it waits to ask again"))
        with pytest.raises(DataError, match="found a server that refuses connections"):
            fetch.fetch("study", address, tmp_path, progress=False, say=silent)


class Drip(Quiet):
    """Sends a byte at a time, until the test is over."""

    over = threading.Event()

    def do_GET(self):
        try:
            self.send_response(200)
            self.end_headers()
            while not self.over.wait(0.01):
                self.wfile.write(b"x")
        except OSError:
            pass


class Endless(Quiet):
    """Sends as fast as it can, without end."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(bytes(65536))
        except OSError:
            pass


@pytest.mark.parametrize(
    ("server", "said"), [(Drip, "bytes in .* seconds: given up"), (Endless, "more than the 1000008 bytes")]
)
def test_a_server_without_end_is_left(made_up, monkeypatch, serve, tmp_path, server, said):
    """By the size that the registry knows, and by a rate that no usable connection falls below. It is asked once."""
    entries, _, _ = made_up
    Drip.over.clear()
    monkeypatch.setattr(fetch, "PATIENCE", 0.2)
    address = serve(server)
    monkeypatch.setattr(Upstream, "url", property(lambda self: f"{address}/{self.path}"))
    monkeypatch.setattr(registry, "entries", lambda key: entries[:1])
    with pytest.raises(DataError, match=said) as caught:
        fetch.fetch("study", to=tmp_path / "raw", progress=False, say=silent)
    assert len(caught.value.problems) == 1
    assert not [p for p in (tmp_path / "raw").rglob("*") if p.is_file()]
    Drip.over.set()  # connections that were left alone end
    for thread in [t for t in threading.enumerate() if t.name.endswith("(work)")]:
        thread.join(600)
        assert not thread.is_alive()


def test_a_copy_of_another_size_is_not_read(made_up, tmp_path):
    with (tmp_path / "o.txt").open("wb") as file:
        file.truncate(10**12)  # takes no space
    with pytest.raises(DataError, match=r"o\.txt.*at most 1000008 bytes.*1000000000000"):
        fetch.fetch("study", str(tmp_path), tmp_path / "raw", progress=False, say=silent)


@pytest.mark.parametrize("how", ["folder", "tgz", "address", "address of an archive"])
def test_from_a_copy(made_up, serve, tmp_path, how):
    """A copy laid out by study holds our own copies (by SHA-256) or upstream files (by blob id)."""
    _, contents, copy = made_up
    place = tmp_path / "copy" / "study"
    (place / "sub").mkdir(parents=True)
    (place / "o.txt").write_bytes(contents["data/o.txt"])
    (place / "sub/p.txt").write_bytes(copy)
    (place / "x.tgz").write_bytes(contents["x.tgz"])
    (place / "u.json").write_bytes(contents["u.json"])
    from_ = str(tmp_path / "copy")
    if how == "address of an archive":
        shutil.make_archive(str(tmp_path / "copy"), "zip", tmp_path, "copy")
    if how == "tgz":
        from_ = str(tmp_path / "copy.tgz")
        with tarfile.open(from_, "w:gz") as archive:
            archive.add(tmp_path / "copy", "copy")
    if how.startswith("address"):
        address = serve(partial(Quiet, directory=str(tmp_path)))
        from_ = f"{address}/copy" if how == "address" else f"{address}/copy.zip"
    done = fetch.fetch("study", from_, tmp_path / "raw", progress=False, say=silent)
    assert [f.how for f in done] == ["copied", "copied", "unpacked", "converted"]
    assert (tmp_path / "raw/study/sub/p.txt").read_bytes() == copy
    lines = []
    again = fetch.fetch("study", from_, tmp_path / "raw", progress=False, say=lines.append)
    assert [f.how for f in again] == [*["present"] * 3, "converted"]  # what is made has no checksum
    assert "No licence is stated" in " ".join(lines)


def test_from_nowhere(made_up, tmp_path):
    with pytest.raises(DataError, match="expected a folder, an archive or an address"):
        fetch.fetch("study", str(tmp_path / "nothing"), tmp_path, say=silent)


def _zip(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def _tar(path, members, link=None):
    with tarfile.open(path, "w:gz" if path.suffix == ".tgz" else "w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        if link:
            info = tarfile.TarInfo("link")
            info.type, info.linkname = tarfile.SYMTYPE, link
            archive.addfile(info)
    return path


@pytest.mark.parametrize("name", ["../out.txt", "/etc/out.txt", "a/../../out.txt", "..\\out.txt", "C:/out.txt"])
def test_unpacking_stays_in_its_folder(tmp_path, name):
    path = _zip(tmp_path / "bad.zip", {"good.txt": b"1", name: b"2"})
    with pytest.raises(DataError, match=r"bad\.zip.*leads out of it"):
        archives.unpack(path, tmp_path / "out" / "here")
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == ["bad.zip"]


def test_unpacking_is_bounded(tmp_path):
    many = _zip(tmp_path / "many.zip", {f"{i}.txt": b"" for i in range(6)})
    with pytest.raises(DataError, match="at most 5 members"):
        archives.unpack(many, tmp_path / "a", max_members=5)
    large = _zip(tmp_path / "large.zip", {"zeros": bytes(100_000)})
    with pytest.raises(DataError, match="at most 99999 bytes"):
        archives.unpack(large, tmp_path / "b", max_bytes=99_999)
    assert not (tmp_path / "b").exists()
    assert [p.name for p in archives.unpack(large, tmp_path / "c", max_bytes=100_000)] == ["zeros"]


def test_links_in_archives_are_passed_over(tmp_path):
    path = _tar(tmp_path / "links.tar", {"file": b"x"}, link="/etc/passwd")
    assert [p.name for p in archives.unpack(path, tmp_path / "out")] == ["file"]


def test_a_truncated_archive_is_named(tmp_path):
    path = _tar(tmp_path / "cut.tgz", {"file": bytes(range(250)) * 400})
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(DataError, match=r"cut\.tgz: expected a complete zip or tar archive"):
        archives.unpack(path, tmp_path / "out")


@pytest.mark.parametrize(("kind", "name"), [*product(("zip", "tar"), (".", "./.", "a\x1b[2Jb")), ("tar", "")])
def test_a_member_without_a_usable_name_is_refused(tmp_path, kind, name):
    path = (_zip if kind == "zip" else _tar)(tmp_path / f"bad.{kind}", {"good.txt": b"1", name: b"2"})
    with pytest.raises(DataError, match=f"bad.{kind}.*a member with a name"):
        archives.unpack(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
