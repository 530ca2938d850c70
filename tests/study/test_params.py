"""The YAML of a study: inheritance, strictness, and errors that name file, line and key."""

import re

import pytest
import yaml
from fixtures import yaml_studies as studies

from judgebook.study import params
from judgebook.study.params import ParamsError, parse_set

SOUND = """\
title: Sound
method: dialogue_rating
sources:
  - {adapter: behaviors, file: marks.json}
labels:
  fluency: {scale: [1, 5]}
"""


def load(folder, text, **options):
    return params.load(studies.write(folder, text), **options)


def error(folder, text, **options):
    with pytest.raises(ParamsError) as caught:
        load(folder, text, **options)
    return str(caught.value)


def test_a_study_inherits_the_defaults(tmp_path):
    study = load(tmp_path, SOUND + "bootstrap: {n_resamples: 500}\n")
    defaults = yaml.safe_load((params.ROOT / "params" / "defaults.yaml").read_text(encoding="utf-8"))
    assert (study.bootstrap.n_resamples, study.bootstrap.confidence) == (500, defaults["bootstrap"]["confidence"])
    assert study.section("seeds").model_dump() == defaults["seeds"]
    assert study.key == "mine"


def test_numbers_are_read_as_people_write_them(tmp_path):
    values = parse_set(["a=12:30:00", "b=010", "c=1.0e+3", "d=-0.5", "e=7", "f=2020-01-31", "g=1_000", "h=.5"])
    numbers = {"c": 1000.0, "d": -0.5, "e": 7, "g": 1000, "h": 0.5}
    assert values == {"a": "12:30:00", "b": "010", "f": "2020-01-31"} | numbers


def test_every_study_in_params_is_sound():
    assert {"gpt_abceval", "finch2024", "engage", "holistic", "convai2_wild", "abc_eval"} <= set(params.names())
    for name in params.names():
        study = params.load(name)
        assert study.title
        assert study.label_list() or study.across


def test_overrides_win_over_yaml_and_defaults(tmp_path):
    study = load(tmp_path, SOUND, overrides=parse_set(["bootstrap.n_resamples=2000", "seeds.bootstrap=5"]))
    assert (study.bootstrap.n_resamples, study.seeds.bootstrap, study.seeds.pick) == (2000, 5, 123)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (SOUND + "bootstrp: {n_resamples: 500}\n", 7, ["'bootstrp'", "unknown key", "did you mean 'bootstrap'?"]),
        (SOUND + "bootstrap:\n  n_resamples: many\n", 8, ["'bootstrap.n_resamples'", "a whole number", "found 'many'"]),
        (SOUND + "bootstrap: {n_resamples: 5}\n", 7, ["expected at least 100", "found 5"]),
        (SOUND.replace("scale: [1, 5]", "scale: [5, 1]"), 6, ["labels.fluency.scale", "[smallest, largest]"]),
        (SOUND.replace("fluency:", '"flu\\nency":'), 6, ["labels.flu\\nency"]),
        (SOUND + "extra: {a: {1: x}}\n", 7, ["'extra.a'", 'expected keys that are text, found 1: write "1"']),
        (SOUND + "extra: {a: [.nan]}\n", 7, ["'extra.a'", "expected a finite number, found nan"]),
        (SOUND.replace("title: Sound", "title: yes"), 1, ["string", "found true", "put text in quotes"]),
        (SOUND + "title: Again\n", 7, ["key 'title' is given twice (first on line 1)"]),
        (SOUND + "figures: {dpi: 150\n", 8, ["not valid YAML"]),
        ("- a\n- b\n", None, ["expected `key: value` lines, found a list"]),
        (
            SOUND + "groups:\n  a: {annotators: [x, y]}\n  b: {annotators: [y]}\n",
            8,
            ["'groups.a.annotators': expected 'y' in one group, found it in ['a', 'b']"],
        ),
        (SOUND + "? [a, b]\n: 1\n", 7, ["a key must be plain text"]),
        (SOUND + "margin: -1\n", 7, ["'margin': expected a number above 0, or of a rate one such as 5%, found -1"]),
        (SOUND + "margin: {dialogue_rating: {fluensy: 0.5}}\n", 7, ["margin.dialogue_rating.fluensy", "'fluency'?"]),
        (SOUND + "margin: 5%\n", 7, ["expected points of the scale, as means of fluency are no rates, found 5%"]),
    ],
)
def test_mistakes_are_named(tmp_path, text, line, words):
    message = error(tmp_path, text)
    assert "mine.yaml" in message
    if line is not None:
        assert f"line {line}" in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("margin", "sizes"),
    [
        ("0.5", (0.5, 0.5, 0.5, 0.5)),
        ("{fluency: 0.5, rude: 5%}", (0.5, 0.05, None, None)),
        ("{quality: 0.2, comparative: {quality: 10%}}", (None, None, 0.2, 0.1)),
    ],
)
def test_the_smallest_difference_that_matters_is_that_of_a_label_in_its_units(tmp_path, margin, sizes):
    labels = """  rude: {scale: [0, 1]}
  quality: {scale: [1, 5]}
  preferred: {id: quality, method: comparative, scale: [-1, 1]}
  kind: {categories: [a, b, c]}
"""
    study = load(tmp_path, f"{SOUND}{labels}margin: {margin}\n")
    keys = [("dialogue_rating", x) for x in ("fluency", "rude", "quality")] + [("comparative", "quality")]
    assert study.margins == {key: size for key, size in zip(keys, sizes, strict=True) if size}


def test_all_mistakes_are_told_at_once(tmp_path):
    message = error(tmp_path, SOUND + "bootstrap: {n_resamples: 5}\nseeds: {pick: -1}\nfigurs: {}\n")
    assert [int(n) for n in re.findall(r"line (\d+)", message)] == [7, 8, 9]


def test_a_wrong_override_is_told_as_such(tmp_path):
    message = error(tmp_path, SOUND, overrides=parse_set(["bootstrap.n_resamples=few"]))
    assert message.startswith("--set: 'bootstrap.n_resamples'")


@pytest.mark.parametrize("item", ["bootstrap", "a..b=1", "a b=1", "1a=2", "=3", "a.b\nc=1"])
def test_set_needs_known_words(item):
    with pytest.raises(ParamsError, match=r"--set: expected section\.key=value"):
        parse_set([item])


def test_set_values_are_yaml():
    assert parse_set(["a.b=1", "a.c=[x, y]", "d=no"]) == {"a": {"b": 1, "c": ["x", "y"]}, "d": False}
    with pytest.raises(ParamsError, match="not a YAML value"):
        parse_set(["a=[1"])


def test_other_encodings_are_refused(tmp_path):
    path = studies.write(tmp_path, SOUND)
    path.write_bytes(SOUND.replace("Sound", "Söund").encode("latin-1"))
    with pytest.raises(ParamsError, match="expected UTF-8 text"):
        params.load(path)


def test_files_and_names_that_are_not_there(tmp_path):
    with pytest.raises(ParamsError, match="did you mean 'finch2024'"):
        params.load("finch2023")
    with pytest.raises(ParamsError, match=r"none\.yaml: no such file"):
        params.load(tmp_path / "none.yaml")
    path = studies.write(tmp_path, SOUND, name="my-study")
    with pytest.raises(ParamsError, match="expected letters, digits and _, found 'my-study'"):
        params.load(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("columns: {dialogue: id}", "columns: {dialog: id}"), ["columns.dialog", "'dialogue'"]),
        (('"{label}_{annotator}"', '"{label}_{rater}"'), ["found {rater}"]),
        (("file: my.csv", 'file: "{period}.csv"'), ["expected the name of one file", "`adapter: records` reads"]),
        (("layout: wide", "layout: long"), ["a long table needs `columns: {label: …, score: …}`"]),
        (('["", "N/A"]', '["", no]'), ["string", "found false"]),
    ],
)
def test_mistakes_in_a_table_are_named(tmp_path, change, words):
    message = error(tmp_path, studies.WIDE.replace(*change))
    assert "mine.yaml, line 3" in message
    for word in words:
        assert word in message
