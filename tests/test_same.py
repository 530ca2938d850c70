"""What `make same` says has moved: in folders that look like those of runs."""

import shutil

import pytest
import same

from judgebook.study import store
from judgebook.study.results import collect, fold

ROWS = [
    {"statistic": "mean", "label": "fluency", "system": "a", "estimate": 3.5, "ci_low": 3.0, "ci_high": 4.0},
    {"statistic": "mean", "label": "fluency", "system": "b", "estimate": 2.5, "ci_low": 2.0, "ci_high": 3.0},
    {"statistic": "alpha", "label": "fluency", "measurement": "ordinal", "estimate": 0.5},
]
NAME = "data/processed/tiny/results/07_bot_performance.csv"


def written(folder, rows):
    store.write_frame(fold(collect(rows), study="tiny", notebook="07_bot_performance"), folder / NAME)
    for name in ("figures/tiny/07_bars.svg", "figures/tiny/07_bars.png", "tables/tiny/07_means.tex"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("drawn")
    return folder


@pytest.fixture
def before(tmp_path):
    return written(tmp_path / "before", ROWS)


@pytest.fixture
def after(before, tmp_path):
    return shutil.copytree(before, tmp_path / "after")


def test_the_same_files_have_not_moved(before, after):
    assert not list(same.moved(before, after))
    assert len(same.digests(after)) == 3  # a PNG is drawn like its SVG
    rows = same._rows(before / NAME)
    assert list(same.statistics_moved(rows, rows[::-1])) == ["the same rows in another order"]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            [ROWS[0] | {"estimate": 3.25}, ROWS[1] | {"ci_high": 3.001}, ROWS[2]],
            ["  mean: 2 rows changed, in estimate, ci_high, by up to 0.25 (estimate)"],
        ),
        ([*ROWS[1:], ROWS[2] | {"measurement": "interval"}], ["  mean: 1 rows gone", "  alpha: 1 rows new"]),
    ],
)
def test_changed_numbers_are_found_with_their_statistic(before, after, rows, told):
    written(after, rows)
    assert list(same.moved(before, after)) == [NAME, *told]


def test_figures_and_tables_that_differ_are_named(before, after):
    kept = same.digests(before)
    (after / "figures/tiny/07_bars.svg").write_text("drawn otherwise")
    (after / "tables/tiny/07_means.tex").rename(after / "tables/tiny/07_more.tex")
    told = ["figures/tiny/07_bars.svg", "tables/tiny/07_means.tex: gone", "tables/tiny/07_more.tex: new"]
    assert list(same.moved(before, after)) == told
    shutil.rmtree(before / "tables")
    assert list(same.moved(before, after, kept)) == told  # digests of a commit stand for its files


def test_only_named_notebooks_are_compared(before, after):
    assert same.chosen(["07", "iaa,02"]) == ["02_collection_stats", "03_iaa", "07_bot_performance"]
    (after / "figures/tiny/07_bars.svg").write_text("drawn otherwise")
    assert not list(same.moved(before, after, notebooks=["03_iaa"]))
    assert list(same.moved(before, after, notebooks=["07_bot_performance"])) == ["figures/tiny/07_bars.svg"]
