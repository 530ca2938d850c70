"""`answers.json`: the answers of a study's first page, for other programs. docs/answers.schema.json is its schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, ValidationError

from judgebook import project
from judgebook.annotations.population import Population
from judgebook.errors import JudgebookError
from judgebook.study import store
from judgebook.summary.answers import verdicts
from judgebook.summary.answers.facts import (
    AgreementFacts,
    CostFacts,
    JudgesFacts,
    NextFacts,
    OrderFacts,
    ReplicationFacts,
    SampleFacts,
)
from judgebook.summary.answers.parts import Estimate, Model, Source, Stage

NAME = "answers.json"


class AnswersError(JudgebookError, ValueError):
    """`answers.json` is not as this version writes it."""


class Flaw(Model):
    """A finding on the design (notebook 17) that concerns an answer, in plain text."""

    code: str
    what: str
    change: str = Field(description="what becomes of the results")
    todo: str = Field(description="what to do")
    where: str = Field(description="evaluation; empty where there is one only")
    price: float = Field(description="standard errors that it is worth; 10 where the design cannot answer")


class Answer(Model):
    """What all answers have."""

    key: str
    question: str
    sentence: str = Field(description="the answer in words, as plain text")
    reason: str = Field(description="why there is no better answer; empty where nothing is missing")
    population: Population | None = Field(description="of whom it speaks; null where it does not speak of annotators")
    estimate: Estimate | None = Field(description="the number that the answer turns on; null where there is none")
    evidence: list[Source] = Field(description="the rows of results that it rests on")
    page: str = Field(description="address of the evidence, relative to this file; empty where there is none")
    design_findings: list[Flaw]
    open_questions: list[str] = Field(description="what nobody has confirmed yet: keys of `open_questions`")
    this_run: bool = Field(description="whether it rests on settings and data of this run alone")
    earlier: list[str] = Field(description="notebooks with results of an earlier run, with other settings or data")


class OrderAnswer(Answer):
    key: Literal["order"]
    verdict: verdicts.Order
    facts: OrderFacts | None


class LabelsAnswer(Answer):
    key: Literal["labels"]
    verdict: verdicts.Labels
    facts: AgreementFacts | ReplicationFacts = Field(discriminator="of")


class JudgesAnswer(Answer):
    key: Literal["judges"]
    verdict: verdicts.Judges
    facts: JudgesFacts


class SampleAnswer(Answer):
    key: Literal["sample"]
    verdict: verdicts.Sample
    facts: SampleFacts | None


class CostAnswer(Answer):
    key: Literal["cost"]
    verdict: verdicts.Cost
    facts: CostFacts


class NextAnswer(Answer):
    key: Literal["next"]
    verdict: verdicts.Next
    facts: NextFacts


class OtherAnswer(Answer):
    """Of a notebook with a question of its own, which `key` names; its numbers are in the sentence only."""

    key: str = Field(pattern=r"^\d\d_")
    verdict: verdicts.Other
    facts: None = None


#: key -> model; keys of notebooks have OtherAnswer
MODELS: dict[str, type[Answer]] = {
    "order": OrderAnswer,
    "labels": LabelsAnswer,
    "judges": JudgesAnswer,
    "sample": SampleAnswer,
    "cost": CostAnswer,
    "next": NextAnswer,
}


def _key(answer: Any) -> str:
    key = answer.get("key") if isinstance(answer, dict) else answer.key
    return key if key in MODELS else "other"


AnyAnswer = Annotated[
    Annotated[OrderAnswer, Tag("order")]
    | Annotated[LabelsAnswer, Tag("labels")]
    | Annotated[JudgesAnswer, Tag("judges")]
    | Annotated[SampleAnswer, Tag("sample")]
    | Annotated[CostAnswer, Tag("cost")]
    | Annotated[NextAnswer, Tag("next")]
    | Annotated[OtherAnswer, Tag("other")],
    Discriminator(_key),
]


class Answers(Model):
    """The answers of a study's first page."""

    version: Literal[1] = Field(
        1, description="of this format: another one where a field or a code is removed or changes its meaning"
    )
    study: str
    title: str
    simulated: bool
    made: dict[str, str] = Field(description="command, seeds, date, version and data of the run")
    main: Population | None = Field(description="of whom answers speak, unless they say otherwise")
    counted: list[Stage] = Field(description="people, dialogues and judgements from the data to the first answer")
    runs: int = Field(description="corpora that people judged")
    open_questions: dict[str, str] = Field(description="how the data are read, where nobody has confirmed it")
    answers: list[AnyAnswer] = Field(description="empty: the study has no judgements of its own")

    def __getitem__(self, key: str) -> AnyAnswer:
        """The answer with this key. Raises KeyError with the keys there are."""
        by_key = {answer.key: answer for answer in self.answers}
        if key not in by_key:
            raise KeyError(f"no answer {key!r}; there are {', '.join(by_key) or 'none'}")
        return by_key[key]

    def text(self) -> str:
        """The file."""
        return self.model_dump_json(indent=1) + "\n"


def path(study: str) -> Path:
    return store.out_root() / "reports" / study / NAME


def read_answers(study: str) -> Answers:
    """The answers of a study's first page, as the last run left them. docs/answers.schema.json describes them.

    Raises
    ------
    AbsentError, a FileNotFoundError : the study was not run.
    AnswersError, a ValueError : the file is not as this version of the project writes it.

    Examples
    --------
    After `judgebook --study mine`:

    >>> import judgebook as jb
    >>> answers = jb.read_answers("mine")
    >>> [answer.key for answer in answers.answers]
    ['order', 'labels', 'judges', 'sample', 'cost', 'next']
    >>> answers["order"].question  # `verdict` is its answer as a code, `sentence` in words
    'Which system is best, and how certain is that?'
    """
    file = path(study)
    if not file.is_file():
        raise store.AbsentError(f"{file} is not there; run {project.made_by(study)}")
    try:
        return Answers.model_validate_json(file.read_text(encoding="utf-8"))
    except ValidationError as error:
        first = error.errors()[0]
        place, again = ".".join(map(str, first["loc"])), project.made_by(study)
        raise AnswersError(f"{file}: {place}: {first['msg']} ({error.error_count()} in all); run {again}") from error
