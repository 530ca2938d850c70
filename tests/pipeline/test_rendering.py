"""Files beside the pages of a report."""

import os

from judgebook.pipeline import page_jobs


def test_pictures_are_on_disk_once_and_tables_are_copied(tmp_path, monkeypatch):
    figure, table, folder = tmp_path / "03_a.svg", tmp_path / "03_a.csv", tmp_path / "files"
    for path in (figure, table):
        path.write_text("x")
    for _ in range(2):  # a page that is rendered again
        for path in (figure, table):
            page_jobs._put(path, folder / path.name)
    assert (folder / figure.name).samefile(figure)
    assert not (folder / table.name).samefile(table)
    assert (folder / table.name).read_text() == "x"
    assert len(list(folder.iterdir())) == 2

    def refused(*args):
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", refused)
    page_jobs._put(figure, folder / "again.svg")
    assert not (folder / "again.svg").samefile(figure)
    assert (folder / "again.svg").read_text() == "x"
