"""The committed pages: aggregates only, nothing hostile, small, and their numbers hold."""

import re

import numpy as np
import pandas as pd
import pytest
from fixtures.project_copy import ROOT

from compendium.gallery import committed as gallery
from compendium.gallery import kept
from judgebook.report.blocks import Block
from judgebook.study import escape, params, store


def test_a_page_with_text_of_a_dialogue_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    home = store.processed("tiny")
    home.mkdir(parents=True)
    said = "I went to the seaside 7 times"
    texts = {"dialogue": ["d1"], "user_text": [None], "system_text": [said], "reference": [None]}
    pd.DataFrame(texts).to_parquet(home / "dialogues.parquet")
    pd.DataFrame({"text": [None]}).to_parquet(home / "dialogue_facts.parquet")
    gallery._refuse_dialogue_text("tiny", {"01_counts.md": "All is well."})
    with pytest.raises(gallery.GalleryError, match=r"tiny/01_counts\.md shows dialogue text: tag the cell `private`"):
        gallery._refuse_dialogue_text("tiny", {"01_counts.md": f"Bot says: {said}"})


def test_hostile_prose_shows_as_text_and_plain_output_not_at_all():
    prose = Block("prose", "a < b, <script>alert(1)</script> <!-- --> and <https://x.org>")
    plain = Block("text", "stdout"), Block("error", "trace"), Block("code", "x = 1")
    page = gallery.page((prose, *plain), simulated=False)
    assert "a < b" in page
    assert not re.search(r"<[a-zA-Z!/]|stdout|trace|x = 1", page)


def numbers(*values):
    frame = pd.DataFrame({c: "" for c in [*kept._IDENTITY, *kept.NUMBERS]}, index=range(len(values)))
    frame["statistic"] = [f"s{i}" for i in range(len(values))]
    frame["estimate"] = [f"{v:.6g}" if np.isfinite(v) else "" for v in values]
    return frame


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ([1.0], [1.00001], []),
        ([1.0], [1.0001], ["s0: estimate is 1.0001, the gallery says 1"]),
        ([0.0], [1e-5], ["s0: estimate is 1e-05, the gallery says 0"]),
        ([np.nan], [1.0], ["s0: estimate is 1, the gallery says missing"]),
        ([1.0], [np.nan], ["s0: estimate is missing, the gallery says 1"]),
        ([1.0, 2.0], [1.0], ["s1: no longer computed"]),
        ([1.0], [1.0, 2.0], ["s1: not in the gallery"]),
    ],
)
def test_compare_names_every_difference(before, after, lines):
    assert kept.compare(numbers(*before), numbers(*after)) == lines


def test_the_committed_gallery_is_small_and_safe():
    """What stands in gallery/ now: no markup, no address of a machine, no more than the limit."""
    files = [p for p in (ROOT / "gallery").rglob("*") if p.is_file()]
    assert sum(p.stat().st_size for p in files) <= gallery.LIMIT
    for path in files:
        if path.suffix == ".md":
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"<(?!br>|/?details>|/?summary>)[a-zA-Z!/]", text), path
            assert not re.search(r"(?<![\w.])/(?:home|root|work|tmp|Users)/", text), path
            for image in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text):
                assert (path.parent / image).is_file(), (path, image)
            assert "![](" not in text, path


def test_a_sample_is_the_same_in_every_run_and_bounded():
    many = numbers(*range(1000)).assign(notebook="01_a")
    few = numbers(1.0, 2.0).assign(notebook="02_b")
    chosen = kept.sample(pd.concat([many, few], ignore_index=True))
    assert chosen["notebook"].value_counts().to_dict() == {"01_a": kept.MOST, "02_b": 2}
    again = kept.sample(pd.concat([few, many.sample(frac=1, random_state=1)], ignore_index=True))
    assert set(again["statistic"]) == set(chosen["statistic"])
    assert kept.compare(chosen, pd.concat([many, few], ignore_index=True)) == []


def test_what_is_committed_is_read_as_it_was(tmp_path):
    """Notebooks by their number, and no column that is empty in all rows: a third less to keep."""
    rows = numbers(1.0, np.nan, 3.0).assign(notebook="03_iaa", p_value=["", "0.5", ""])
    (tmp_path / kept.NUMBERS_CSV).write_bytes(kept.sampled(rows))
    assert (tmp_path / kept.NUMBERS_CSV).read_text().splitlines()[0] == "notebook,statistic,estimate,p_value"
    assert (tmp_path / kept.NUMBERS_CSV).read_text().splitlines()[2] == "03,s1,,0.5"
    assert kept.compare(kept.read(tmp_path / kept.NUMBERS_CSV), rows) == []


def test_a_title_is_text_in_the_gallery():
    study = params.load("demo").model_copy(update={"title": "[x](http://e.example) <img src=x> # *a*"})
    first = gallery._index(study, [], []).splitlines()[0]
    assert "://" not in first
    assert "<img" not in first
    assert escape.from_markdown(first) == f"# {study.title}"
