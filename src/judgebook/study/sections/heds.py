"""What a study's YAML may say for the Human Evaluation Datasheet (HEDS 3.0, Belz and Thomson 2024)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from judgebook.study.sections.data import Section


class HedsContact(Section):
    """A person named in the datasheet."""

    name: str = Field("", description="name")
    affiliation: str = Field("", description="affiliation")
    email: str = Field("", description="email address")


class HedsCriterion(Section):
    """Section 4 of the datasheet, for one label."""

    quality: Literal["correctness", "goodness", "feature"] | None = Field(None, description="HEDS 4.1.1")
    aspect: Literal["form", "content", "both"] | None = Field(None, description="HEDS 4.1.2: of the output")
    reference: Literal["own right", "input", "external"] | None = Field(
        None, description="HEDS 4.1.3: what outputs are assessed against"
    )
    judgement: Literal["objective", "subjective"] | None = Field(None, description="HEDS 4.2.1")
    purpose: Literal["intrinsic", "extrinsic"] | None = Field(None, description="HEDS 4.2.3")
    name: str = Field("", description="HEDS 4.3.1.1: name shown to evaluators")
    standard_name: str = Field("", description="HEDS 4.3.1.2: name in a standardised set such as QCET")
    definition: str = Field("", description="HEDS 4.3.2: as given to evaluators")
    presented: str = Field("", description="HEDS 4.3.5: how the scale is presented, e.g. radio buttons, slider")
    task: str = Field("", description="HEDS 4.3.6: what evaluators do where there is no scale")
    question: str = Field("", description="HEDS 4.3.7: the question or prompt, verbatim")
    elicitation: str = Field("", description="HEDS 4.3.8: form of response, e.g. (dis)agreement, rating, ranking")
    repeated: str = Field("", description="HEDS 4.3.12.1: how agreement of annotators with themselves was measured")
    repeated_score: str = Field("", description="HEDS 4.3.12.2: its value")


class Heds(Section):
    """What the data do not say of the experiment, for the Human Evaluation Datasheet (HEDS 3.0, Belz and Thomson
    2024) of `paper.html`; numbers are its questions."""

    reference: str = Field("", description="1.1.1: main reference; default: `citation`")
    experiment: str = Field("", description="1.1.2: which experiment; default: title and description")
    resources: str = Field("", description="1.2: where data, outputs and forms can be found")
    completed_by: HedsContact = Field(HedsContact(), description="1.3.1: who completes the datasheet")
    contact: HedsContact = Field(HedsContact(), description="1.3.2: contact author")
    input: str = Field("", description="2.1: type of input of the systems")
    output: str = Field("", description="2.2: type of output; default: what was judged")
    task: str = Field("", description="2.3: task of the systems")
    input_language: str = Field("", description="2.4: languages of the input")
    output_language: str = Field("", description="2.5: languages of the output")
    selection: str = Field("", description="3.1.2: how the outputs that were judged were selected")
    power_method: str = Field("", description="3.1.3.1: power analysis made before the experiment")
    power: str = Field("", description="3.1.3.2: its result")
    power_code: str = Field("", description="3.1.3.3: where its code can be found")
    expertise: str = Field("", description="3.2.2.1: whether evaluators are experts in the domain")
    payment: str = Field("", description="3.2.2.2: payment; default: payments of `costs` and `quality_control`")
    known_to_authors: str = Field("", description="3.2.2.3: whether evaluators were known to the authors")
    authors_among: str = Field("", description="3.2.2.4: whether authors were among the evaluators")
    recruitment: str = Field("", description="3.2.3: how evaluators were recruited")
    training: str = Field("", description="3.2.4: training and practice")
    characteristics: str = Field("", description="3.2.5: other characteristics of evaluators")
    preregistered: str = Field("", description="3.3.1: preregistration, with a link")
    medium: str = Field("", description="3.3.2: platform or medium of responses")
    quality_assurance: str = Field("", description="3.3.3.1: types of quality assurance")
    quality_assurance_methods: str = Field("", description="3.3.3.2: its methods")
    interface: str = Field("", description="3.3.4.1: where the form or interface can be seen")
    shown: str = Field("", description="3.3.4.2: what evaluators see while they judge")
    freedom: str = Field("", description="3.3.5: when and how quickly evaluators judge")
    questions: str = Field("", description="3.3.6: whether evaluators can ask questions or comment")
    conditions: str = Field("", description="3.3.7: where evaluators judge")
    conditions_vary: str = Field("", description="3.3.8: how conditions vary, unless evaluators choose the place")
    criteria: dict[str, HedsCriterion] = Field({}, description="4: label -> what is known of it as a quality criterion")
    ethics: str = Field("", description="5.1: ethics committee that approved the experiment")
    personal_data: str = Field("", description="5.2: personal data in outputs or responses")
    special_categories: str = Field("", description="5.3: special categories of personal data")
    impact: str = Field("", description="5.4: impact assessments")
