"""What a study's YAML may say, section by section: strict models, each key with its description.

`params` reads a file into them. Nothing here imports pandas: the command line must start at once.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from helpers.labels import LEVELS, METHODS

MethodName = Literal[tuple(METHODS)]
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.\-]{0,63}$")]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class LabelSpec(Section):
    """A label declared in the YAML. `method` may be left out where the study has one."""

    id: str | None = Field(None, description="the label's id where the key must differ: one label under two methods")
    scale: Annotated[list[float], Field(min_length=2, max_length=2, description="smallest and largest score")]
    level: Literal[LEVELS] = Field("ordinal", description="measurement level used for agreement")
    method: str | None = Field(None, description=f"one of {', '.join(METHODS)}")
    title: str | None = Field(None, description="name shown in figures")
    integer: bool = Field(True, description="whole numbers only")
    direction: Literal[-1, 0, 1] = Field(1, description="1: a higher score is better, -1: worse, 0: neither")
    task: str = Field("", description="labels that one work unit asks for together share a task")

    @field_validator("scale")
    @classmethod
    def _ascending(cls, value: list[float]) -> list[float]:
        if value[0] >= value[1]:
            raise ValueError(f"expected [smallest, largest], found {value}")
        return value


class Group(Section):
    """An evaluator group: who belongs to it, by the ids the source uses (pseudonyms only)."""

    title: str = ""
    annotators: list[str] = []
    note: str = Field("", description="shown beside results of this group")
    fitted: list[MethodName] = Field(
        [], description="methods whose printed agreement was used to find the members: it confirms nothing"
    )


class Bootstrap(Section):
    n_resamples: int = Field(10_000, ge=100, le=1_000_000, description="bootstrap resamples")
    confidence: float = Field(0.95, gt=0.5, lt=1.0, description="confidence level of intervals")


class Seeds(Section):
    simulate: int = Field(20231, ge=0, description="the simulated study")
    pick: int = Field(123, ge=0, description="which of several annotations of an item is used")
    downsample: int = Field(7, ge=0, description="which dialogues a down-sampled test uses")
    permute: int = Field(
        1, ge=0, description="permutation tests, random halves and folds, picks to range over, simulated samples"
    )
    bootstrap: int = Field(
        1, ge=0, description="intervals only, and what is read off them: their widths, shares of first place, verdicts"
    )


class Figures(Section):
    formats: list[Literal["png", "svg", "pdf"]] = ["png"]
    dpi: int = Field(150, ge=50, le=600)


class Published(Section):
    """A printed table whose rows are evaluator groups and whose columns are labels (see data/published)."""

    paper: str
    element: str
    panels: dict[str, MethodName] = Field({}, description="panel of the table -> method")
    note: str = Field("", description="what is known about printed values that differ; shown beside")


class Iaa(Section):
    """Notebook 03."""

    first: int | None = Field(None, ge=2, description="use the first so many annotations of an item; null: all")
    min_items: int = Field(25, ge=2, description="warn below so many items")


class Scope(Section):
    """What a paper left out of the study's data. Results on its scope stand beside those on all data."""

    title: str = "the paper's scope"
    exclude_dialogues: dict[MethodName, list[str]] = Field({}, description="method -> dialogues left out")
    exclude_sessions: dict[MethodName, list[str]] = Field({}, description="method -> sessions left out")
    fitted: list[MethodName] = Field([], description="methods whose list was found by searching for the printed values")
    note: str = Field("", description="shown beside results on this scope")


class Costs(Section):
    """Notebook 02: what annotation costs."""

    currency: str = "USD"
    hourly_rate: float = Field(20.0, gt=0, description="what an hour of annotation is paid in the estimate")
    planned_dialogues: int = Field(400, ge=1, description="dialogues to be annotated; pairs are half as many")
    payments: dict[Identifier, dict[Literal["collection", *METHODS], float | dict[str, float]]] = Field(
        {}, description="group -> method -> payment of one work unit of each of its tasks, or task -> payment"
    )
    final_labels: dict[MethodName, list[str]] = Field(
        {}, description="method -> labels kept in the end, costed once more"
    )


class QualityControl(Section):
    """Notebook 10: quality control of workers by `control_system`, and whether results repeat."""

    labels: list[str] = Field([], description="labels whose ratings must be lower for the control; empty: all")
    alpha: float = Field(0.05, gt=0, lt=1, description="a worker passes with a p-value below this")
    thresholds: list[float] = Field(
        [0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0], min_length=1, description="other values of alpha to be tried"
    )
    levels: list[Annotated[float, Field(gt=0, lt=1)]] = Field(
        [0.05, 0.1], min_length=1, description="significance levels of conclusions about two systems"
    )
    runs: list[str] = Field([], description="corpora in order, each held against the first; empty: all, sorted")
    families: dict[Identifier, list[str]] = Field(
        {}, description="name -> systems of one architecture: the plain one, then the variant"
    )
    variant: str = Field("variant", description="what the second system of a family has and the first has not")
    payment: float | None = Field(None, gt=0, description="paid for one work unit")
    currency: str = "USD"


class Pilot(Section):
    """Notebook 01: pilots of systems and of annotation, screening of annotators."""

    label: str = Field("quality", description="the rating by which a system passes its pilot")
    least: float | None = Field(None, description="smallest mean that passes; null: the middle of the scale")
    deciding_dialogue: int = Field(3, ge=1, description="which training dialogue of a task decides")
    mistakes_below: dict[str, int] = Field(
        {}, description="task -> an annotator passes with fewer turns marked wrongly than this"
    )
    other_tasks_below: int = Field(3, ge=1, description="the same for tasks not named there")


class Performance(Section):
    """Notebook 07: rates, means, comparisons and ranks of systems."""

    all_annotations: bool = Field(
        False, description="use all annotations of an item; false: one picked at random, as the papers do"
    )
    picks: int = Field(20, ge=2, description="random picks of one annotation an item, to show what the pick changes")
    note: str = Field("", description="shown beside printed numbers")


class Operating(Section):
    """Notebook 80: how tests and intervals behave where the truth is known."""

    n_runs: int = Field(2000, ge=100, le=100_000, description="simulated samples behind every number")
    n_resamples: int = Field(1000, ge=200, le=20_000, description="bootstrap resamples of each simulated sample")
    labels: int = Field(2, ge=1, description="labels a method whose intervals are simulated, from rarest to commonest")
    conversations: list[Annotated[int, Field(ge=4)]] = Field(
        [8, 16, 32, 64, 100], min_length=1, description="conversations a system on the power curves"
    )
    items: list[Annotated[int, Field(ge=8)]] = Field(
        [12, 25], min_length=1, description="independent items, beside the study's own number"
    )
    marks: list[Annotated[int, Field(ge=4)]] = Field(
        [10, 20, 30, 60], min_length=1, description="marks of the rarer kind, for labels of two values"
    )
    dialogues: list[Annotated[int, Field(ge=8)]] = Field(
        [27], description="dialogues a sample, beside the study's own number"
    )


class Importance(Section):
    """Notebooks 04 and 06: what is predicted, and from whose judgements."""

    target: str = Field("quality", description="label that interactors gave their own dialogues, and that is predicted")
    group: str | None = Field(None, description="group whose judgements predict it; null: the one with most labels")


class Sensitivity(Section):
    """Notebook 05: do labels tell systems apart?"""

    n_dialogues: int = Field(32, ge=2, description="dialogues a system (pairs, a pair of systems) in one draw")
    n_draws: int = Field(1000, ge=1, le=100_000, description="draws; the first is the one draw of the paper")
    within: Literal["session", "interactor"] = Field(
        "session", description="how dialogues are exchanged that have no partner in their session"
    )
    n_permutations: int = Field(10_000, ge=99, description="permutations of the primary test")
    null_runs: int = Field(200, ge=20, description="comparisons within one system that show how often a test errs")
    null_permutations: int = Field(201, ge=99, description="permutations in each of them")
    power_sizes: list[Annotated[int, Field(ge=2)]] = Field(
        [8, 16, 32, 64, 100], min_length=1, description="dialogues a system for which power is shown"
    )
    power_draws: int = Field(200, ge=20, description="samples drawn for each")
    published: Published | None = Field(None, description="the printed counts to show beside")


class Coverage(Section):
    """Notebook 06: what do labels explain together?"""

    exclude: list[str] = Field(["quality"], description="labels that are no predictors, as in the paper")
    beam: int = Field(100, ge=1, description="models kept at each step of the published search")
    n_halves: int = Field(100, ge=10, description="random halves of the people")
    n_folds: int = Field(10, ge=2, description="folds of people in cross-validation")
    n_repeats: int = Field(3, ge=1, description="times they are dealt into folds anew")
    n_permutations: int = Field(100, ge=10, description="shuffled targets")


class LabelSelection(Section):
    """Notebook 06: what a label must reach to be kept; null: the criterion is not applied."""

    min_alpha: float | None = Field(0.4, ge=-1, lt=1, description="agreement: alpha of the group is at least this")
    excludes_zero: bool = Field(
        True, description="importance: the interval of r excludes 0, for dialogue or comparative quality"
    )
    min_pairs: int | None = Field(
        1, ge=1, description="sensitivity: pairs of systems told apart at .05, Holm-adjusted within the label"
    )
    min_selected: float | None = Field(
        0.5, ge=0, le=1, description="distinctness: share of half-samples that select the label, for either target"
    )
    max_cost: float | None = Field(None, gt=0, description="cost: estimated cost of one label of a dialogue or pair")


class GroupEffects(Section):
    """Notebook 08: does it matter who evaluates?"""

    margin: float = Field(0.2, gt=0, description="differences of effect sizes within it do not matter")
    n_permutations: int = Field(2000, ge=99, le=1_000_000, description="random arrangements of a permutation test")
    n_picks: int = Field(1000, ge=100, le=100_000, description="picks of one annotation an item to range over")
    people_resamples: int = Field(1000, ge=100, le=100_000, description="resamples where annotators are resampled, too")
    paper: str | None = Field(None, description="the paper whose printed tables are shown beside, by its own pick")
    source_order: list[str] = Field(
        [], description="groups whose dialogues that pick goes through in the order of the source, not of their ids"
    )


class Technique(Section):
    """One way of evaluating: which judgements belong to it, and what a conversation is worth."""

    method: MethodName
    title: str = ""
    corpus: str | None = Field(None, description="judgements of this corpus only")
    facts: dict[str, str] = Field({}, description="judgements of dialogues with these facts only, e.g. n_exchanges: 5")
    turns: Annotated[list[int], Field(min_length=2, max_length=2)] | None = Field(
        None, description="first and last turn used, counted from 1; null: all"
    )
    rename: dict[str, str] = Field({}, description="label -> the label it is compared as")
    rate: Literal["linear", "squared", "winner"] = Field(
        "linear", description="what a conversation is worth: share of its marks, squared share, or who has more of them"
    )
    timed: bool = Field(True, description="shown among the hours that techniques need")
    onboarding_minutes: float = Field(0.0, ge=0, description="training of one annotator before the first judgement")
    conversation_minutes: float = Field(
        0.0, ge=0, description="collecting one of the conversations that are compared once they are finished"
    )


class Mixture(Section):
    """Ratings of several techniques taken together."""

    techniques: Annotated[list[str], Field(min_length=2)]
    weights: Annotated[list[float], Field(min_length=2)] = Field(description="share of each, up to a factor")
    title: str = ""

    @model_validator(mode="after")
    def _as_many(self) -> Mixture:
        if len(self.weights) != len(self.techniques) or min(self.weights) < 0 or sum(self.weights) == 0:
            raise ValueError(f"weights: expected {len(self.techniques)}, 0 or more, not all 0, found {self.weights}")
        return self


class MessageChecks(Section):
    """What annotators typed: people whose messages fail a check are left out."""

    first_turn: int = Field(1, ge=1, description="turn of the first message that was typed")
    min_words: float = Field(3, gt=0, description="fewer words a message on average fail")
    greetings: list[str] = Field([], description="words that fail in the first message; empty: not checked")
    capitals: int = Field(2, ge=1, description="so many messages all in capitals fail")
    offensive: list[str] = Field([], description="words that fail in any message; empty: not checked")


class PrintedRates(Section):
    """Printed success rates by system, and the printed effective win rates that should follow from them."""

    rates: str = Field(description="element with the rates, panels being systems")
    rate: str = Field(description="its column")
    wins: str = Field(description="element with the effective win rates, panels being pairs")
    win: str = Field(description="its column")


class Techniques(Section):
    """Notebook 11: pairwise or single, by turn or by dialogue?"""

    compare: dict[Identifier, Technique] = Field({}, description="the techniques; empty: the methods of shared labels")
    pairs: dict[Identifier, Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(
        {}, description="name -> two systems, the first of which is expected to be better; empty: all pairs"
    )
    labels: list[str] = Field([], description="labels compared; empty: those that two techniques share, or all")
    combine: dict[Identifier, Mixture] = Field({}, description="ratings sampled from several techniques")
    average: dict[Identifier, Mixture] = Field(
        {}, description="values of one conversation under several techniques, each from 0 to 1, averaged"
    )
    checks: MessageChecks | None = Field(None, description="checks of what annotators typed; null: none")
    left_open: float = Field(10, gt=1, description="a work unit of more than so many median times was left open")
    alpha: float = Field(0.05, gt=0, lt=0.5, description="significance level")
    power: float = Field(0.8, gt=0, lt=1, description="hours are told for this power")
    sizes: list[Annotated[int, Field(ge=4)]] = Field(
        [4, 8, 16, 32, 64, 128, 256, 512], min_length=2, description="conversations at which power is found"
    )
    n_runs: int = Field(400, ge=100, le=100_000, description="simulated studies behind every power")
    most_ratings: int = Field(400, ge=50, le=20_000, description="ratings after which nobody goes on testing")
    crossing_runs: int = Field(200, ge=50, le=10_000, description="orders of ratings, each tested rating by rating")
    chunk_minutes: float = Field(45, gt=0, description="working time of one part of the data, for variability")
    paper: str | None = Field(None, description="the paper of `printed_rates`")
    printed_rates: PrintedRates | None = Field(None, description="printed rates of which others should follow")

    @model_validator(mode="after")
    def _known(self) -> Techniques:
        for name, mixture in {**self.combine, **self.average}.items():
            unknown = sorted(set(mixture.techniques) - set(self.compare))
            if unknown:
                raise ValueError(f"{name}: expected techniques of `compare`, found {unknown}")
        return self


class Moderation(Section):
    """Notebook 12: which label holds what (methods: `moderation` for one reply, any pairwise one for two)."""

    category: str = Field("category", description="label: -1 not acceptable, 0 in between, 1 acceptable")
    better: str = Field("better", description="label: which of two replies is better")
    unrelated: str = Field("unrelated", description="label: both replies are unrelated, on the left one")
    flagged: str = Field("flagged", description="label: the reply is toxic or encourages it")
    reference_system: str | None = Field("human", description="its replies are what overlap is measured against")
    paper: str | None = Field(None, description="the paper whose printed tables are shown beside")


class Metrics(Section):
    """Notebook 09: which metrics agree with people?"""

    computed: list[str] | None = Field(
        None, description="metrics computed from the texts (text_metrics.METRICS); null: all; []: none"
    )
    corpora: list[str] = Field([], description="corpora that are analysed; empty: all")
    titles: dict[str, str] = Field({}, description="display names of metrics")
    n_resamples: int = Field(
        2000, ge=200, le=1_000_000, description="bootstrap resamples of correlations, ranked anew in each"
    )
    range_without: list[str] = Field(
        [], description="method:label pairs left out of the lowest and highest agreement, as a paper does"
    )


class Judges(Section):
    """Notebook 13: can a model replace an annotator?"""

    cost: float = Field(
        0.15, ge=0, lt=1, description="alternative annotator test: what a model may be worse by, for it costs less"
    )
    min_items: int = Field(30, ge=5, description="the same: items an annotator must have")


class Simulate(Section):
    """The simulated study (`helpers.simulate`). Factors of 1 give the effects documented in `simulation.design`."""

    n_sessions: int = Field(200, ge=12, le=600, description="sessions: two dialogues with two systems each; even")
    n_interactors: int = Field(46, ge=2, description="people who talk to the systems; at most 9 sessions each")
    n_surge: int = Field(32, ge=8, description="external annotators of the main group (sur_x)")
    n_students: int = Field(8, ge=2, description="external student annotators (stu_x)")
    n_developers: int = Field(3, ge=2, description="developer annotators (dev_x)")
    system_differences: float = Field(1.0, ge=0, le=3, description="factor; 0: all systems are equal")
    quality_relations: float = Field(1.0, ge=0, le=1.3, description="factor; 0: no label but quality matters")
    agreement: float = Field(1.0, gt=0, le=20, description="factor on the odds of signal to noise")
    interactor_share: float = Field(0.15, ge=0, lt=1, description="variance of dialogues that lies between interactors")
    annotator_share: float = Field(0.10, ge=0, le=0.4, description="noise that is a lasting leaning of the annotator")
    lean_share: float = Field(0.10, ge=0, le=0.3, description="noise that is a leaning on one dialogue; turn labels")
    halo_share: float = Field(
        0.30, ge=0, le=0.6, description="the same for ratings of whole dialogues, over all labels"
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
