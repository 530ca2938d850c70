"""What annotators are told a label means."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from helpers.study import yaml_file
from helpers.study.params import Study
from helpers.study.source_shared import Strict


class _Set(Strict):
    source: str
    labels: dict[str, str]


class _Definitions(Strict):
    abc_eval: dict[str, _Set]


@cache
def _known() -> dict[str, _Set]:
    return yaml_file.read(Path(__file__).with_suffix(".yaml"), _Definitions).abc_eval


def definitions(study: Study, method: str) -> dict[str, str]:
    """Label -> what annotators are told: the study's words, else those of the paper that defines its label set."""
    return {**published(study, method)[0], **study.elicitation.definitions}


def published(study: Study, method: str) -> tuple[Mapping[str, str], str]:
    """Definitions that come with the study's label set, and where they are from; none for a set of its own."""
    if study.label_set != "abc_eval":
        return {}, ""
    known = _known()["behavior" if method == "behavior" else "dimensions"]
    return known.labels, known.source
