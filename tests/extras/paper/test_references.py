"""BibTeX: what comes with the project, what a YAML gives, what texts cite."""

import re
import shutil
import subprocess

import pytest

from judgebook.extras.paper import references
from judgebook.study import params


def test_every_entry_is_complete_and_reads_as_a_line():
    for key, entry in references.known().items():
        assert {"title", "year"} <= set(entry.fields), key
        assert entry.authors, key
        assert entry.short == entry.short.strip()
        assert not re.search(r"[\\{}$]", entry.short + entry.long), key
        assert references.parse(entry.source) == {key: entry}


def test_bibtex_reads_what_we_write(tmp_path):
    if not shutil.which("bibtex"):
        pytest.skip("bibtex is not installed")
    entries = references.known()
    (tmp_path / "r.bib").write_text("\n".join(e.source for e in entries.values()), encoding="utf-8")
    cites = "\n".join(rf"\citation{{{key}}}" for key in entries)
    (tmp_path / "r.aux").write_text(f"\\relax\n{cites}\n\\bibstyle{{plain}}\n\\bibdata{{r}}\n")
    done = subprocess.run(["bibtex", "r"], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout
    assert "Warning--I didn't find" not in done.stdout
    assert (tmp_path / "r.bbl").read_text().count(r"\bibitem") == len(entries)


def test_authors_years_and_accents_are_read():
    text = r'@article{a, author = {B{\"u}hlmann, Peter and von D{\"a}niken, P.}, year = 2010, title = "An {A}" }'
    entry = references.parse(text)["a"]
    assert entry.short == "Bühlmann and von Däniken 2010"
    assert entry.fields["title"] == "An {A}"
    assert (
        references.parse("@misc{b, author={A, B and C, D and others}, year={1}, title={T}}")["b"].short == "A et al. 1"
    )


@pytest.mark.parametrize(
    "text", ["no entry", "@misc{a, title = {open", "@misc{a, }", "@misc{a, t={1}} @misc{a, t={2}}"]
)
def test_bibtex_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match="BibTeX"):
        references.parse(text)


def test_every_study_with_a_citation_has_an_entry_of_its_own():
    for name in params.names():
        study = params.load(name)
        if study.citation:
            assert references.of_data(study).key in references.known(), name


def test_a_citation_in_words_becomes_an_entry(tmp_path):
    study = params.load("ji2022").model_copy(update={"bibtex": "", "citation": "Müller & Co (2021). 100% of α."})
    entry = references.of_data(study)
    assert entry.fields["note"] == r"M\"{u}ller \& Co (2021). 100\% of $\alpha$."
    assert entry.fields["year"] == "2021"
    assert references.parse(entry.source)[entry.key].fields == entry.fields
    own = study.model_copy(update={"bibtex": "@misc{mine, title = {T}, year = {2020}}"})
    assert references.of_data(own).key == "mine"
    with pytest.raises(ValueError, match="expected an entry or one of"):
        references.of_data(study.model_copy(update={"bibtex": "nobody1999"}))


def test_citations_are_found_and_put_into_words():
    text = "By Holm [@holm1979], clustered [@bell2002; @cameron2011], [not cited]."
    assert references.cited(text) == ["holm1979", "bell2002", "cameron2011"]
    assert references.readable(text, references.known()) == (
        "By Holm (Holm 1979), clustered (Bell and McCaffrey 2002; Cameron et al. 2011), [not cited]."
    )
    assert references.split(text)[1::2] == [["holm1979"], ["bell2002", "cameron2011"]]
