"""`new` reads files that others published as they are meant: most without an edit, none wrongly in silence."""

import pytest

from doors import public, reading
from doors.public_files import FILES


@pytest.fixture(scope="session")
def folder(raw_data):
    """The folder of all data beside the project."""
    return raw_data.parent


@pytest.mark.evidence
@pytest.mark.parametrize("file", FILES, ids=lambda f: f.path.rpartition("/")[2])
def test_read_as_meant(file, folder, tmp_path):
    read = public.outcome(file, folder, tmp_path)
    assert read.outcome == file.becomes, read.differs or read.said[-500:]
    if read.outcome == reading.REFUSED:
        assert "`" in read.said, "a refusal says what to write"
