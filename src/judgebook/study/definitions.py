"""What annotators are told a label means: the words of the study, else those of a paper."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pydantic import Field, RootModel

from judgebook.study import yaml_file
from judgebook.study.labels import METHODS
from judgebook.study.params import Study
from judgebook.study.yaml_file import Strict


class _Set(Strict):
    """What a paper says of labels of these methods, and of all methods that judge such units. ends : label -> what the
    smallest and the largest score are called. forced : of a comparison, whether one side had to be chosen."""

    source: str
    units: list[str] = Field([])
    methods: list[str] = Field([])
    labels: dict[str, str]
    ends: dict[str, list[str]] = Field({})
    forced: bool = False


class _Papers(RootModel[dict[str, list[_Set]]]):
    pass


@cache
def _known() -> dict[str, list[_Set]]:
    return yaml_file.read(Path(__file__).with_suffix(".yaml"), _Papers).root


def definitions(study: Study, method: str) -> dict[str, str]:
    """Label -> what annotators are told: the study's words, else those of the paper whose wordings or label set it
    has."""
    papers = (part.labels for part in _published(study, method))
    return {**{label: text for labels in papers for label, text in labels.items()}, **study.elicitation.definitions}


def meanings(study: Study) -> dict[str, str]:
    """Title of each label that has a definition -> the definition; by method where methods have different ones."""
    told: dict[str, dict[str, str]] = {}
    for label in study.label_list():
        if text := definitions(study, label.method).get(label.id):
            told.setdefault(label.title, {})[METHODS[label.method].title] = text
    return {
        title: next(iter(texts.values()))
        if len(set(texts.values())) == 1
        else " ".join(f"{method}: {text}" for method, text in texts.items())
        for title, texts in told.items()
    }


def ends(study: Study, method: str) -> dict[str, tuple[str, str]]:
    """Label -> what the paper in whose words the study asks calls the smallest and the largest score."""
    named = {label: (low, high) for part in _published(study, method) for label, (low, high) in part.ends.items()}
    return {label: both for label, both in named.items() if label not in study.elicitation.definitions}


def forced(study: Study, method: str) -> set[str]:
    """Labels of comparisons for which one side has to be chosen, as in the paper in whose words the study asks."""
    labels = {label for part in _published(study, method) if part.forced for label in part.labels}
    return labels - set(study.elicitation.definitions)


def source_of(study: Study, method: str) -> str:
    """Where the words that the YAML does not give are from; empty where there are none."""
    return "; ".join(part.source for part in _published(study, method))


def _published(study: Study, method: str) -> list[_Set]:
    papers = [paper for paper in (study.label_set, study.elicitation.wordings) if paper]
    return [part for paper in papers for part in _known().get(paper, []) if _applies(part, method)]


def _applies(part: _Set, method: str) -> bool:
    return method in part.methods or METHODS[method].unit in part.units
