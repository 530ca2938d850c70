"""What a study's YAML may say of data, people and report, section by section: strict models, with descriptions.

`params` reads a file into them. Nothing here imports pandas: the command line must start at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from judgebook.study import limits
from judgebook.study.labels import METHODS, Judged, Level

#: what is shown with methods in figures and tables of effort (`display.names`), and is none
NO_METHODS = ("collection", "together")


def _one_of(*more: str) -> Callable[[str, ValidationInfo], str]:
    """A check that a name is a method of the study, or one of `more`. `params.load` says what the study declares."""

    def check(value: str, info: ValidationInfo) -> str:
        names = [*more, *METHODS.built_in, *(info.context or {}).get("methods", ())]
        if value not in names:
            raise ValueError(f"expected one of {', '.join(names)}, found {value!r}")
        return value

    return check


def _names(*more: str) -> WithJsonSchema:
    """What an editor suggests: the methods that every study has; a study may declare others."""
    return WithJsonSchema({"type": "string", "anyOf": [{"enum": [*more, *METHODS.built_in]}, {"type": "string"}]})


#: a method of the study
MethodName = Annotated[str, AfterValidator(_one_of()), _names()]
#: what people are paid for: judgements by a method, or conversations
PaidFor = Annotated[str, AfterValidator(_one_of("collection")), _names("collection")]
#: money, hours or a weight
Amount = Annotated[float, Field(ge=0, le=limits.AMOUNT)]
#: an end of a scale
End = Annotated[float, Field(ge=-limits.SCALE_END, le=limits.SCALE_END)]
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.\-]{0,63}$")]


class Section(BaseModel):
    # most are parts of `Study`, which is built when a YAML is read; building each by itself would take longer than that
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)


class MethodSpec(Section):
    """A method of the study's own."""

    title: str | None = Field(
        None, min_length=1, max_length=limits.TITLE, description="name shown in figures; default: the id in words"
    )
    unit: Judged = Field(description="what one judgement is about: a turn, a dialogue, or a pair of dialogues")


class LabelSpec(Section):
    """A label declared in the YAML. `method` may be left out where the study has one."""

    id: str | None = Field(None, description="the label's id where the key differs (one label under two methods)")
    scale: Annotated[list[End], Field(min_length=2, max_length=2)] | None = Field(
        None,
        description="smallest and largest score; default with `categories`: from 0, or from 1 where they are ordered",
    )
    categories: list[Annotated[str, Field(min_length=1)]] = Field(
        [],
        description="answers in words: without order, or, with `level: ordinal`, from the lowest to the highest",
    )
    level: Level | None = Field(
        None,
        description="level of measurement used for agreement; default: ordinal, with `categories` nominal; sets: "
        "several of the `categories` may be given, and are compared by MASI distance",
    )
    method: MethodName | None = Field(None, description="how it is asked for; default: the study's `method`")
    title: str | None = Field(None, max_length=limits.TITLE, description="name shown in figures")
    integer: bool = Field(True, description="whole numbers only")
    direction: Literal[-1, 0, 1] | None = Field(
        None,
        description="1: a high score is good, -1: bad, 0: neither; absent: not known, and the label enters no overall "
        "mean, rank or headline. Needless for answers without order, and for comparisons called preference, better, "
        "winner, quality, overall or the like, where the side that was chosen is the better one",
        examples=[1],
    )
    task: str = Field("", description="labels elicited in one work unit share a task")
    about: str | None = Field(
        None,
        description="what the label is about, in a word of the atlas (data/atlas/README.md), by which its results are "
        "compared with those of public studies; default: its id, where that is one of them",
        examples=["relevance"],
    )

    @field_validator("scale")
    @classmethod
    def _ascending(cls, value: list[float] | None) -> list[float] | None:
        if value is not None and value[0] >= value[1]:
            raise ValueError(f"expected [smallest, largest], found {value}")
        return value

    @model_validator(mode="after")
    def _scaled(self) -> LabelSpec:
        n = len(self.categories)
        if not n and self.scale is None:
            raise ValueError("expected `scale: [smallest, largest]`, or `categories` where answers are words")
        if n == 1 or len(set(self.categories)) < n:
            raise ValueError(f"categories: expected two or more, each once, found {self.categories}")
        if self.level == "sets" and not 2 <= n <= 20:
            raise ValueError(f"categories: expected 2 to 20 with `level: sets`, found {n}")
        if self.level == "sets" and self.scale is not None:
            raise ValueError("scale: expected none with `level: sets`")
        if n and self.scale is not None and self.scale[1] - self.scale[0] != n - 1:
            raise ValueError(f"scale: expected as many steps as `categories` ({n}), found {self.scale}")
        return self

    @property
    def measurement(self) -> str:
        return self.level or ("nominal" if self.categories else "ordinal")

    @property
    def ends(self) -> tuple[float, float]:
        if self.scale is not None:
            return self.scale[0], self.scale[1]
        if self.measurement == "sets":
            return 1, 2 ** len(self.categories) - 1
        low = 0 if self.measurement == "nominal" else 1
        return low, low + len(self.categories) - 1


class Group(Section):
    """An evaluator group: who belongs to it, by the ids the source uses (pseudonyms only)."""

    title: str = Field("", max_length=limits.TITLE, description="name shown; default: the id")
    annotators: list[str] = Field([], description="ids of its members, where the data do not give the group")
    parts: dict[Identifier, list[str]] = Field(
        {},
        description="named parts of the group -> ids of their members, where `importance` tells them apart",
        examples=[{"students": ["w1", "w2"], "experts": ["w3"]}],
    )
    note: str = Field("", description="shown with results of this group")
    fitted: list[MethodName] = Field(
        [], description="methods whose printed agreement was used to find the members and therefore confirms nothing"
    )

    @model_validator(mode="after")
    def _members(self) -> Group:
        for name, ids in self.parts.items():
            if self.annotators and (unknown := sorted(set(ids) - set(self.annotators))):
                raise ValueError(f"parts.{name}: expected ids of `annotators`, found {unknown[0]!r}")
        return self


class Filter(Section):
    """A rule that leaves out ratings because they are far from the others of their item."""

    rule: Literal["deviation"] = Field(description="deviation: by the distance from the others")
    labels: list[str] = Field([], description="labels it applies to; empty: all")
    center: Literal["median", "mean"] = Field(
        "median",
        description="distances are from the median, in units of their median times 1.4826 (Leys et al. 2013), or from "
        "the mean, in units of their mean",
    )
    most: float = Field(1.0, gt=0, le=100, description="largest distance, in these units, at which a rating stays")


#: what one judgement may be said to depend on, from the smallest
Unit = Literal["turn", "dialogue", "session", "context"]


class Bootstrap(Section):
    """Intervals of all notebooks."""

    n_resamples: int = Field(10_000, ge=100, le=1_000_000, description="bootstrap resamples")
    confidence: float = Field(0.95, gt=0.5, lt=1.0, description="confidence level of intervals")
    unit: Unit | None = Field(
        None,
        description="what intervals of alpha (notebook 03) and of rates, means and shares of comparisons (07) "
        "resample; must be known for every judgement. Other intervals, and ranks, have their own units. null: the "
        "dialogue or the pair; in 07 the session or context, where a system has several dialogues in one",
        examples=["session"],
    )


class Inference(Section):
    """Whom statements are about: the first page, notebook 07 and the texts for papers."""

    annotators: Literal["auto", "sample", "fixed"] = Field(
        "auto",
        description="sample: other annotators like these; fixed: these annotators only; auto: in fitted models "
        "(order of systems, differences) a sample from two known annotators on; of single rates and means where "
        "annotators who judged several systems amount to five with equal loads, or more",
    )


class Seeds(Section):
    """Seeds of random numbers: the same seed gives the same result."""

    simulate: int = Field(20231, ge=0, description="the simulated study")
    pick: int = Field(123, ge=0, description="random pick of one of several annotations per item")
    downsample: int = Field(7, ge=0, description="dialogues used by a down-sampled test")
    permute: int = Field(
        1, ge=0, description="permutation tests, random halves and folds, repeated picks, simulated samples"
    )
    bootstrap: int = Field(1, ge=0, description="intervals and what is derived from them: widths, verdicts")


class Figures(Section):
    """Figures of all notebooks."""

    formats: list[Literal["png", "svg", "pdf"]] = Field(
        ["svg"],
        description="formats of the files in figures/: pages show svg, png has 300 dpi, pdf is for print; the headline "
        "figure of a notebook is always there as pdf, too",
        examples=[["svg", "pdf", "png"]],
    )
    dpi: int = Field(150, ge=50, le=600, description="resolution of the PNG in notebooks and the gallery")


class TrainingItem(Section):
    """What annotators judge first, with the answers they should give. Their judgements of it are no data."""

    dialogue: str = Field(description="the dialogue; of a comparison the one shown as A")
    dialogue_b: str | None = Field(None, description="of a comparison, the dialogue shown as B")
    turn: int | None = Field(None, ge=0, description="the turn to judge, where turns are judged; counted from 0")
    answers: dict[str, str | float] = Field(
        {}, description="label -> the intended answer", examples=[{"irrelevant": "Yes"}]
    )
    why: str = Field("", description="the reason for it")


class Elicitation(Section):
    """`run_all.py annotate`: what annotators are told. See [annotate.md](annotate.md)."""

    instructions: str = Field("", description="shown above each item")
    definitions: dict[str, str] = Field(
        {},
        description="label -> what it means, in words for annotators; labels of `label_set` have those of its paper",
        examples=[{"fluency": "The response reads as if written by a native speaker."}],
    )
    wordings: Literal["ji2022", "smith2022"] | None = Field(
        None,
        description="ask as this paper does: the seven statements of Ji et al. 2022 (Figure 1), or the questions of "
        "Smith et al. 2022 (3.1) on `preference`, `humanness` and `interestingness`; `definitions` come first",
    )
    training: list[TrainingItem] = Field(
        [],
        description="judged first, by everybody; answers to them count as attempts, not as data, and "
        "notebook 01 compares them with the intended answers; see below for the keys",
    )


class Scope(Section):
    """What a paper excluded from the study's data. Results on its scope are reported next to those on all data."""

    title: str = Field("the paper's scope", description="what results on it are called")
    exclude_dialogues: dict[MethodName, list[str]] = Field({}, description="method -> dialogues excluded")
    exclude_sessions: dict[MethodName, list[str]] = Field({}, description="method -> sessions excluded")
    fitted: list[MethodName] = Field([], description="methods whose list was found by searching for the printed values")
    note: str = Field("", description="shown with results on this scope")


class Simulate(Section):
    """The simulated study. Factors of 1 give the effects of `src/compendium/simulation/design.yaml`."""

    n_sessions: int = Field(200, ge=12, le=600, description="sessions: two dialogues with two systems each; even")
    n_interactors: int = Field(
        46, ge=2, le=1000, description="people who talk with the systems; at most 9 sessions each"
    )
    n_surge: int = Field(32, ge=8, le=1000, description="external annotators of the main group (sur_x)")
    n_students: int = Field(8, ge=2, le=1000, description="external student annotators (stu_x)")
    n_developers: int = Field(3, ge=2, le=1000, description="developer annotators (dev_x)")
    system_differences: float = Field(1.0, ge=0, le=3, description="factor; 0: all systems are equal")
    quality_relations: float = Field(1.0, ge=0, le=1.3, description="factor; 0: no label other than quality matters")
    agreement: float = Field(1.0, gt=0, le=20, description="factor on the signal-to-noise odds")
    interactor_share: float = Field(0.15, ge=0, lt=1, description="share of variance between interactors")
    annotator_share: float = Field(0.10, ge=0, le=0.4, description="share of noise due to the annotator's severity")
    lean_share: float = Field(
        0.10, ge=0, le=0.3, description="share of noise common to an annotator's marks on a dialogue"
    )
    halo_share: float = Field(
        0.30, ge=0, le=0.6, description="share of noise common to all labels of a dialogue rating (halo)"
    )
    parts_size: float = Field(
        1.0, gt=0, le=20, description="factor on the sizes of the compared techniques and of moderation"
    )

    @model_validator(mode="after")
    def _feasible(self) -> Simulate:
        if self.n_sessions % 2:
            raise ValueError(f"n_sessions: expected an even number, found {self.n_sessions}")
        n = self.n_sessions
        if not n / 9 <= self.n_interactors <= n:
            raise ValueError(
                f"n_interactors: expected 1 to 9 sessions each, found {self.n_interactors} for {n} sessions"
            )
        if 60 * self.n_surge < 2.5 * n:
            least = -(-5 * n // 120)
            raise ValueError(
                f"n_surge: expected at least {least} for {n} sessions (at most 60 dialogues each), found {self.n_surge}"
            )
        return self


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
