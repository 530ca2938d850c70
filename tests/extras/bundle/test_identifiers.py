"""What tells who somebody is: 100 planted ids are all found, and next to nothing else."""

import random
import string

import pytest

from judgebook.extras.bundle.identifiers import masked
from judgebook.sources import build
from judgebook.sources.ids import naming
from judgebook.study import params

PEOPLE = ["Ann Lee", "worker-17b", "Yan Kowalczyk", "rater_0042x", "Zoë Özil"]
OWN = naming.Names({name: f"A{i:04d}" for i, name in enumerate(PEOPLE, start=1)})
PLATFORMS = ("facebook", "twitter", "instagram", "reddit", "github")
SENTENCES = [
    "I liked the reply, {}.",
    "contact: {}",
    "{} wrote this",
    "It said ({}) and then went on",
    "my answer\n{}\nwas lost, please pay",
]


def _of(random_, letters, n):
    return "".join(random_.choices(letters, k=n))


def _forms(r):
    """Made-up ids: five of each of twenty forms. No two runs of the test differ."""
    upper, hexa, digits = string.ascii_uppercase + string.digits, "0123456789abcdef", string.digits
    name = ["ann", "bo.li", "c_d", "dora-e", "f99"]
    return {
        "MTurk": [f"A{n}{_of(r, upper, 11)}" for n in range(1, 6)],
        "MTurk, short": [f"A{_of(r, upper, 10)}{n}" for n in range(1, 6)],
        "MTurk, lower case": [f"a{n}{n}{n}{_of(r, upper, 10).lower()}" for n in range(1, 6)],
        "HIT": [f"3{n}{_of(r, upper, 28)}" for n in range(1, 6)],
        "Prolific": [f"5{n}f{_of(r, hexa, 21)}" for n in range(1, 6)],
        "hash": [f"{n}e{_of(r, hexa, 30)}" for n in range(1, 6)],
        "UUID": ["-".join(_of(r, hexa, n) for n in (8, 4, 4, 4, 12)) for _ in range(5)],
        "ORCID": ["-".join(_of(r, digits, 4) for _ in range(3)) + f"-{_of(r, digits, 3)}X" for _ in range(5)],
        "mail": [f"{n}@mail.example.org" for n in name],
        "mail, in words": [f"{n} (at) example (dot) com" for n in name],
        "mail, spelt": [f"{n} at example dot com" for n in name],
        "mail, tagged": [f"{n}+study@uni-x.example.de" for n in name],
        "telephone, abroad": [f"+{n}9 30 {_of(r, digits, 4)} {_of(r, digits, 4)}" for n in range(1, 6)],
        "telephone, USA": [f"({n}55) {n}12-{_of(r, digits, 4)}" for n in range(2, 7)],
        "telephone, at home": [f"0{n}0 7946 0{_of(r, digits, 3)}" for n in range(1, 6)],
        "telephone, in pairs": [f"0{n} {r.randint(10, 99)} {r.randint(10, 99)} 5{n} 78" for n in range(1, 6)],
        "IP": [f"192.{n}.{r.randint(0, 255)}.{r.randint(0, 255)}" for n in range(5)],
        "profile": [f"https://www.{site}.com/{n}_1990" for site, n in zip(PLATFORMS, "abcde", strict=True)],
        "handle": [f"@{n}_1990" for n in ("ann", "bo", "cd", "dora", "fay")],
        "name": PEOPLE,
    }  # fmt: skip


FORMS = _forms(random.Random(1))


@pytest.mark.parametrize("form", FORMS)
def test_a_planted_id_is_found_wherever_it_stands(form):
    for id_ in FORMS[form]:
        for sentence in SENTENCES:
            text, kinds = masked(sentence.format(id_), OWN)
            assert kinds.total() == 1, (sentence, text, kinds)
            assert text == sentence.format(naming.MASK)


@pytest.mark.parametrize(
    "text",
    [
        "It was founded on 01/02/2003, and 12.5 of 100 people like it: 3.14159265358979.",
        "Call me Ishmael; I am 25 and live at home since 2019-2021.",
        "ABRACADABRA! AAAAAAAAAAAAAH, Antidisestablishment",
        "Version 1.2.3, at 10:30:15, ratio 16:9, chapter 4:5:6",
        "The sum 1234567890123 is large, and 0 100 200 300 are steps",
        "x.com is a platform; t.co and me.com are addresses",
        "1000000 dollars, 2,345,678 votes, 10-12-14 games",
    ],
)
def test_ordinary_text_is_left_alone(text):
    assert masked(text, OWN) == (text, {})


@pytest.mark.data
@pytest.mark.parametrize("study", ["fed", "usr", "grade", "engage", "dstc10_dev", "gpt_abceval", "holistic", "dstc7"])
def test_false_alarms_are_rare_in_public_texts(raw_data, monkeypatch, study):
    """The texts hold no ids: what is found are numbers of telephones that a system made up."""
    monkeypatch.setenv("COMPENDIUM_RAW", str(raw_data))
    frames = build.build(params.load(study)).frames
    texts = {t for name, columns in naming.TEXTS.items() for c in columns for t in frames[name][c].dropna()}
    assert len(texts) > 300
    alarms = [text for text in texts if masked(text)[1]]
    assert len(alarms) <= 0.01 * len(texts), alarms[:5]
