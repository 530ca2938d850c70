"""What a bundle says of its data: one description, from which the overview, RO-Crate and Croissant are made."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from judgebook.display.text import Phrases
from judgebook.extras.bundle import licences
from judgebook.extras.bundle.finished import Finished, raw_files
from judgebook.extras.bundle.judgements import Shared
from judgebook.extras.bundle.parts import Part
from judgebook.sources import registry
from judgebook.sources.ids.naming import OWN_IDS

_PHRASES = Phrases(__package__)
DESCRIPTION, PROFILE = "data/README.md", "data/profile.json"


@dataclass(frozen=True)
class Described:
    """name : title of the study. licence : of the data, as the YAML has it; empty where it says nothing. url : of that
    licence, empty where it names none that we know. creator, affiliation : who completed the datasheet; may be empty.
    counts : what is counted -> how many."""

    name: str
    description: str
    licence: str
    url: str
    creator: str
    affiliation: str
    citation: str
    date: str
    counts: dict[str, int] = field(default_factory=dict)


def described(of: Finished) -> Described:
    """What the YAML and the data of a finished study say of it."""
    study, licence = of.study, licences.read(of.study.licence)
    path = of.folder / "profile.json"
    profile = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return Described(
        study.title,
        " ".join((study.description or study.title).split()),
        study.licence,
        licence.url if licence else "",
        study.heds.completed_by.name,
        study.heds.completed_by.affiliation,
        study.citation,
        of.date,
        {k.removeprefix("n_").replace("_", " "): v for k, v in profile.items() if k.startswith("n_")},
    )


def parts(of: Finished, shared: Shared | None) -> Iterator[Part]:
    """The data, described for people and machines."""
    if of.study.across:
        return
    about = described(of)
    facts: dict[str, Any] = {
        "title": about.name,
        "simulated": of.study.simulated,
        "description": of.study.description.strip(),
        "n": about.counts,
        "licence": about.licence,
        "citation": about.citation,
        "raw": raw_files(of),
        "fetch": of.key if of.key in registry.studies() else "",
        "people": (of.folder / OWN_IDS).is_file(),
        "shared": shared,
    }
    yield Part(DESCRIPTION, (_PHRASES.say("data", **facts) + "\n").encode(), "Description and sources of the data")
    path = of.folder / "profile.json"
    yield Part(PROFILE, path, "Systems, labels and groups, and how many of each")
