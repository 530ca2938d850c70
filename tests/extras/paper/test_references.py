"""BibTeX: what comes with the project, what a YAML gives, what texts cite."""

import json
import re

import pytest
from fixtures import yaml_studies as studies

from judgebook.extras.paper import references
from judgebook.pipeline import run
from judgebook.study import params


def test_authors_years_and_accents_are_read():
    text = r'@article{a, author = {B{\"u}hlmann, Peter and von D{\"a}niken, P.}, year = 2010, title = "An {A}" }'
    entry = references.parse(text)["a"]
    assert entry.short == "Bühlmann and von Däniken 2010"
    assert entry.fields["title"] == "An {A}"
    others = references.parse("@misc{b, author={A, B and C, D and others}, year={1}, title={T}}")["b"]
    assert others.short == "A et al. 1"


@pytest.mark.parametrize("text", ["no entry", "@misc{a, title = {open", "@misc{a, t={1}} @misc{a, t={2}}"])
def test_bibtex_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match="BibTeX"):
        references.parse(text)


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
    signs = study.model_copy(update={"bibtex": r"@misc{mine, title = {A & B \& 5% of {\"o}}, url = {x#y}}"})
    assert references.of_data(signs).fields == {"title": r"A \& B \& 5\% of {\"o}", "url": "x#y"}
    assert r"A \& B \& 5\% of" in references.of_data(signs).source


@pytest.mark.parametrize(
    ("bibtex", "said"),
    [
        ("@", "bibtex: expected a BibTeX entry such as"),
        ("@misc{a, title = {T}} @misc{b, title = {T}}", "bibtex: expected one entry, found 2: a, b"),
        (r"@misc{a, title = {\input{/etc/passwd}}}", r"found the command \input: write it without"),
        ("@misc{a, title = {^^5cinput{x}}}", "found ^^: write it without"),
    ],
)
def test_what_a_yaml_cites_is_checked_before_anything_runs(tmp_path, monkeypatch, bibtex, said):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "out"))
    path = studies.write(tmp_path, f"bibtex: {json.dumps(bibtex)}\n{studies.LONG}", my_csv=studies.LONG_CSV)
    with pytest.raises(params.ParamsError, match=re.escape(said)):
        run.run([str(path)], run.Options(only=["02"]))
    assert not (tmp_path / "out" / "reports").exists()


def test_citations_are_found_and_put_into_words():
    text = "By Davidson [@davidson1970], clustered [@bell2002; @cameron2011], [not cited]."
    assert references.cited(text) == ["davidson1970", "bell2002", "cameron2011"]
    assert references.readable(text, references.known()) == (
        "By Davidson (Davidson 1970), clustered (Bell and McCaffrey 2002; Cameron et al. 2011), [not cited]."
    )
    assert references.split(text)[1::2] == [["davidson1970"], ["bell2002", "cameron2011"]]
