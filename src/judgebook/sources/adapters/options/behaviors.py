"""What a YAML may say of behaviour marks by people and models."""

from __future__ import annotations

from typing import Literal

from judgebook.study.source_shared import File, SourceModel


class Behaviors(SourceModel):
    """Behaviour marks of people, a language model and classifiers (GPT-ABCEval)."""

    adapter: Literal["behaviors"]
    file: File


SOURCE = Behaviors
