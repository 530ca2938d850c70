"""What a study's YAML may say of analyses, section by section: strict models, with descriptions.

`params` reads a file into them. Nothing here imports pandas: the command line must start at once.
"""

from __future__ import annotations

from math import prod
from typing import Annotated, Literal

from pydantic import Field, model_validator

from judgebook.study import limits
from judgebook.study.labels import METHODS
from judgebook.study.sections.data import Amount, Difference, End, Identifier, MethodName, Section

#: metrics that can be computed from texts (`metrics.text_metrics` says how)
TEXT_METRICS = (
    *("bleu", "chrf", "rouge_l", "meteor_no_wordnet", "similarity_reference", "matching_reference"),
    *("similarity_last_turn", "length", "distinct_1", "distinct_2", "new_bigrams", "turns"),
)


class Iaa(Section):
    """Notebook 03: do annotators agree?"""

    first: int | None = Field(
        None, ge=2, le=limits.COUNT, description="annotations used per item, in source order; null: all"
    )
    min_items: int = Field(25, ge=2, le=limits.COUNT, description="warn if a label has fewer items")
    threshold: float = Field(
        0.667,
        gt=-1,
        lt=1,
        description="alpha above which the entire interval must lie for single judgements to be relied on; "
        "Krippendorff (2004) asks for 0.8, or 0.667 where tentative conclusions will do",
    )
    marks: list[Annotated[float, Field(gt=-1, lt=1)]] = Field(
        [], description="further values of alpha marked in the figure"
    )


class MixedModels(Section):
    """Notebooks 03 and 07: models with systems, annotators and dialogues as crossed effects."""

    labels: list[str] | None = Field(None, description="labels to model (each takes seconds); null: all")


class Scope(Section):
    """What a paper excluded from the study's data. Results on its scope are reported next to those on all data."""

    title: str = Field("the paper's scope", description="what results on it are called")
    exclude_dialogues: dict[MethodName, list[str]] = Field({}, description="method -> dialogues excluded")
    exclude_sessions: dict[MethodName, list[str]] = Field({}, description="method -> sessions excluded")
    fitted: list[MethodName] = Field([], description="methods whose list was found by searching for the printed values")
    note: str = Field("", description="shown with results on this scope")


class Costs(Section):
    """Notebook 02: what annotation costs."""

    currency: str = Field("USD", description="currency shown with costs")
    hourly_rate: float = Field(
        20.0, gt=0, le=limits.AMOUNT, description="hourly pay of annotators assumed in the estimate"
    )
    planned_dialogues: int = Field(
        400, ge=1, le=limits.COUNT, description="dialogues to be annotated; pairs are half as many"
    )
    payments: dict[Identifier, dict[Literal["collection", *METHODS], Amount | dict[str, Amount]]] = Field(
        {}, description="group -> method -> payment per work unit, the same for all of its tasks, or task -> payment"
    )
    final_labels: dict[MethodName, list[str]] = Field(
        {}, description="method -> labels kept in the end, whose cost is reported as well"
    )


class QualityControl(Section):
    """Notebook 10: quality control of workers by `control_system`, and whether results repeat."""

    labels: list[str] = Field([], description="labels on which the control must be rated lower; empty: all")
    alpha: float = Field(0.05, gt=0, lt=1, description="a worker passes with a p-value below this")
    thresholds: list[Annotated[float, Field(ge=0, le=1)]] = Field(
        [0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0], min_length=1, description="other values of alpha to try"
    )
    levels: list[Annotated[float, Field(gt=0, lt=1)]] = Field(
        [0.05, 0.1], min_length=1, description="significance levels of conclusions about two systems"
    )
    runs: list[str] = Field([], description="corpora in order, each compared with the first; empty: all, sorted")
    families: dict[Identifier, list[str]] = Field(
        {}, description="name -> systems of one architecture: the plain one, then the variant"
    )
    variant: str = Field("variant", description="what the second system of a family has and the first does not")
    payment: float | None = Field(None, gt=0, le=limits.AMOUNT, description="payment per work unit")
    currency: str = Field("USD", description="currency of `payment`")


class Quiz(Section):
    """A quiz that people pass before they may judge: comparisons in which one answer is clearly better."""

    corpus: Identifier = Field(description="corpus of the quiz; `extra_…` keeps it out of the evaluation")
    better: str = Field(description="the system whose answers are the better ones")
    tries: int = Field(2, ge=1, le=limits.COUNT, description="tries allowed; all choices of one must be right")


class Pilot(Section):
    """Notebook 01: pilots of systems and of annotation, screening of annotators."""

    label: str = Field("quality", description="the rating by which a system passes its pilot")
    least: End | None = Field(None, description="smallest mean that passes; null: the middle of the scale")
    deciding_dialogue: Annotated[int, Field(ge=1, le=limits.COUNT)] | Literal["all"] = Field(
        3, description="the training dialogue of a task that decides; all: the mistakes of all of them together"
    )
    mistakes_below: dict[str, Annotated[int, Field(ge=0, le=limits.COUNT)]] = Field(
        {}, description="task -> an annotator passes with fewer wrongly marked turns than this"
    )
    other_tasks_below: int = Field(3, ge=1, le=limits.COUNT, description="likewise for all other tasks")
    quiz: Quiz | None = Field(None, description="a quiz before the first judgement; null: none")


class Performance(Section):
    """Notebook 07: rates, means, comparisons and ranks of systems."""

    picks: int = Field(
        20, ge=2, le=limits.COUNT, description="random picks of one annotation per item, to show their effect"
    )
    overall: Literal["all"] | list[str] = Field(
        "all", description="labels whose standardised mean orders the systems, by method; all: those with a direction"
    )
    note: str = Field("", description="shown with printed numbers")


class Operating(Section):
    """Notebook 80: how tests and intervals behave where the truth is known."""

    n_runs: int = Field(2000, ge=100, le=100_000, description="simulated samples per value")
    runs_as_used: int = Field(
        200, ge=50, le=100_000, description="placebo worlds per value (at most n_runs); 2000 takes minutes"
    )
    n_resamples: int = Field(1000, ge=200, le=20_000, description="bootstrap resamples of each simulated sample")
    labels: int = Field(
        2, ge=1, le=limits.COUNT, description="labels per method whose intervals are simulated, rarest first"
    )
    conversations: list[Annotated[int, Field(ge=4, le=limits.COUNT)]] = Field(
        [8, 16, 32, 64, 100], min_length=1, description="conversations per system on the power curves"
    )
    items: list[Annotated[int, Field(ge=8, le=limits.COUNT)]] = Field(
        [12, 25], min_length=1, description="numbers of independent items, in addition to the study's own"
    )
    marks: list[Annotated[int, Field(ge=4, le=limits.COUNT)]] = Field(
        [10, 20, 30, 60], min_length=1, description="marks of the rarer value, for labels with two values"
    )
    dialogues: list[Annotated[int, Field(ge=8, le=limits.COUNT)]] = Field(
        [27], description="dialogues per sample, in addition to the study's own number"
    )
    ranks: list[Annotated[int, Field(ge=4, le=limits.COUNT)]] = Field(
        [13, 27, 58],
        description="dialogues per system in samples that are ranked, in addition to the study's own",
    )


#: groups, or named parts of groups
_People = Annotated[list[str], Field(min_length=1)]


class Variation(Section):
    """What an alternative to the study's choices changes in `importance`."""

    quality_label: str | None = Field(None, description="another label is predicted")
    quality_group: str | _People | None = Field(None, description="other people's ratings are predicted")
    quality_rating: Literal["one", "mean"] | None = Field(None, description="one rating or the mean of all")
    group: str | _People | None = Field(None, description="other people's judgements predict")
    predictor_value: Literal["one", "mean"] | None = Field(None, description="one annotator's or the mean of all")

    def changes(self) -> dict[str, object]:
        return self.model_dump(exclude_none=True)


class Importance(Section):
    """Notebooks 04 and 06: what is predicted, and whose judgements predict it."""

    target: str = Field("quality", description="label to be predicted, given by interactors to their own dialogues")
    quality_label: str | None = Field(
        None,
        description="where no interactor rated `target`: a label to be predicted instead, given by others",
    )
    quality_group: str | _People | None = Field(
        None,
        description="whose ratings and choices of `quality_label` are predicted: a group, a part of one "
        "(`groups.….parts`) or a list of these; null: `group` if it gave any, else the group with most labels "
        "that did. If named, it comes before interactors",
        examples=["students"],
    )
    quality_rating: Literal["one", "mean"] = Field(
        "one",
        description="what is predicted where several of `quality_group` judged a dialogue or pair: the rating of one "
        "of them, drawn at random, or the mean of all. Those whose ratings are predicted never predict them",
    )
    group: str | _People | None = Field(
        None,
        description="whose judgements predict it: a group, a part of one or a list of these; null: the group with "
        "most labels",
        examples=["crowd"],
    )
    predictor_value: Literal["one", "mean"] = Field(
        "one",
        description="what predicts where several people judged an item: the judgement of one, drawn at random, as in "
        "the paper, or the mean of all",
    )
    vary: dict[str, dict[str, Variation]] = Field(
        {},
        description="decisions that could have been made otherwise: decision -> option -> what it changes here; the "
        "option {} is the one made. Notebook 06 shows the fit for every combination",
        examples=[{"Ratings by": {"students": {}, "experts": {"quality_group": "experts"}}}],
    )
    draws: int = Field(
        20, ge=1, le=1000, description="random draws of annotators for which the fit is shown where options vary"
    )

    def settings(self) -> dict[str, object]:
        """What `validity.targets.find` is given."""
        given = self.model_dump(
            include={"group", "quality_label", "quality_group", "quality_rating", "predictor_value"}
        )
        return {"label": self.target, **given}

    @model_validator(mode="after")
    def _one_made(self) -> Importance:
        for decision, options in self.vary.items():
            if any(mark in name for name in (decision, *options) for mark in ("; ", ": ")):
                raise ValueError(f"vary.{decision}: expected names without '; ' and ': '")
            made = [name for name, option in options.items() if not option.changes()]
            if len(options) < 2 or len(made) != 1:
                raise ValueError(
                    f"vary.{decision}: expected two options or more, exactly one of them {{}} (the one made), found "
                    f"{len(options)}, {len(made)} of them {{}}"
                )
        if (n := prod(len(options) for options in self.vary.values())) > limits.COMBINATIONS:
            raise ValueError(f"vary: expected at most {limits.COMBINATIONS} combinations of options, found {n}")
        return self


class Published(Section):
    """A printed table whose rows are evaluator groups and whose columns are labels (see data/published)."""

    paper: str = Field(description="the paper: the first part of file names in data/published")
    element: str = Field(description="the table, as in the column `element` there")
    panels: dict[str, MethodName] = Field({}, description="panel of the table -> method")
    note: str = Field("", description="what is known about printed values that differ from ours; shown with them")


class Sensitivity(Section):
    """Notebook 05: do labels distinguish systems?"""

    n_dialogues: int = Field(
        32, ge=2, le=limits.COUNT, description="dialogues per system (pairs per pair of systems) in one draw"
    )
    n_draws: int = Field(1000, ge=1, le=100_000, description="draws; the first is the paper's single draw")
    within: Literal["session", "interactor"] = Field(
        "session", description="how dialogues without a counterpart in their session are permuted"
    )
    n_permutations: int = Field(10_000, ge=99, le=limits.COUNT, description="permutations of the primary test")
    margin: float = Field(
        0.2,
        gt=0,
        le=limits.AMOUNT,
        description="margin within which two systems count as equivalent, in standard deviations of dialogues",
    )
    null_runs: int = Field(
        200, ge=20, le=limits.COUNT, description="placebo comparisons per test, for its type I error rate"
    )
    null_permutations: int = Field(201, ge=99, le=limits.COUNT, description="permutations in each placebo comparison")
    power_sizes: list[Annotated[int, Field(ge=2, le=limits.COUNT)]] = Field(
        [8, 16, 32, 64, 100], min_length=1, description="dialogues per system for which power is shown"
    )
    published: Published | None = Field(None, description="the printed counts to compare with")


class Coverage(Section):
    """Notebook 06: what do labels explain jointly?"""

    exclude: list[str] = Field(["quality"], description="labels that are not used as predictors, as in the paper")
    beam: int = Field(100, ge=1, le=limits.COUNT, description="models kept at each step of the published search")
    n_halves: int = Field(100, ge=10, le=limits.COUNT, description="random halves of the people")
    n_folds: int = Field(10, ge=2, le=limits.COUNT, description="folds of people in cross-validation")
    n_repeats: int = Field(3, ge=1, le=limits.COUNT, description="repetitions of the random assignment to folds")
    n_permutations: int = Field(100, ge=10, le=limits.COUNT, description="shuffled targets")


class LabelSelection(Section):
    """Notebook 06: what a label must reach to be kept; null: the criterion is not applied."""

    min_alpha: float | None = Field(0.4, ge=-1, lt=1, description="agreement: smallest alpha of the group")
    excludes_zero: bool = Field(
        True, description="importance: the interval of r excludes 0, for dialogue or comparative quality"
    )
    min_pairs: int | None = Field(
        1,
        ge=1,
        le=limits.COUNT,
        description="sensitivity: pairs of systems with p < 0.05, Holm-adjusted within the label",
    )
    min_selected: float | None = Field(
        0.5, ge=0, le=1, description="distinctness: share of half-samples that select the label, for either target"
    )
    max_cost: float | None = Field(
        None, gt=0, le=limits.AMOUNT, description="cost: largest cost of one label per dialogue or pair"
    )


class GroupEffects(Section):
    """Notebook 08: does it matter who evaluates?"""

    margin: float = Field(
        0.2, gt=0, le=limits.AMOUNT, description="margin within which differences of effect sizes are negligible"
    )
    n_permutations: int = Field(2000, ge=99, le=1_000_000, description="permutations per test")
    n_picks: int = Field(1000, ge=100, le=100_000, description="random picks of one annotation per item")
    people_resamples: int = Field(1000, ge=100, le=100_000, description="resamples that include annotators")
    paper: str | None = Field(None, description="the paper whose printed tables are compared, with its own pick")
    source_order: list[str] = Field(
        [], description="groups whose dialogues are picked in source order, not in order of their ids"
    )
    objective: list[str] = Field(
        [], description="labels that are less a matter of taste: do groups differ less on these than on the others?"
    )


class Technique(Section):
    """One way of evaluating: its judgements, and the value of a conversation."""

    method: MethodName = Field(description="method of its judgements")
    title: str = Field("", description="name shown; default: that of the method")
    corpus: str | None = Field(None, description="only judgements of this corpus")
    facts: dict[str, str] = Field({}, description="only judgements of dialogues with these facts, e.g. n_exchanges: 5")
    turns: Annotated[list[Annotated[int, Field(ge=1, le=limits.INT32)]], Field(min_length=2, max_length=2)] | None = (
        Field(None, description="first and last turn used, counted from 1; null: all")
    )
    rename: dict[str, str] = Field({}, description="label -> label under which it is compared")
    rate: Literal["linear", "squared", "winner"] = Field(
        "linear", description="value of a conversation: share of marks, squared share, or the side with more marks"
    )
    timed: bool = Field(True, description="included in the hours that techniques need")
    onboarding_minutes: float = Field(
        0.0, ge=0, le=limits.AMOUNT, description="training of one annotator before the first judgement"
    )
    conversation_minutes: float = Field(
        0.0,
        ge=0,
        le=limits.AMOUNT,
        description="time to collect one conversation, where finished conversations are compared",
    )


class Mixture(Section):
    """Ratings of several techniques taken together."""

    techniques: Annotated[list[str], Field(min_length=2)] = Field(description="techniques of `compare`")
    weights: Annotated[list[Amount], Field(min_length=2)] = Field(description="relative share of each")
    title: str = Field("", description="name shown; default: the id")

    @model_validator(mode="after")
    def _as_many(self) -> Mixture:
        if len(self.weights) != len(self.techniques) or min(self.weights) < 0 or sum(self.weights) == 0:
            raise ValueError(f"weights: expected {len(self.techniques)}, 0 or more, not all 0, found {self.weights}")
        return self


class MessageChecks(Section):
    """Checks of what annotators typed: people whose messages fail are excluded."""

    first_turn: int = Field(1, ge=1, le=limits.COUNT, description="turn of the first typed message")
    min_words: float = Field(
        3, gt=0, le=limits.AMOUNT, description="people with fewer words per message on average fail"
    )
    greetings: list[str] = Field([], description="words that fail in the first message; empty: not checked")
    capitals: int = Field(
        2, ge=1, le=limits.COUNT, description="people with at least this many messages in capitals fail"
    )
    offensive: list[str] = Field([], description="words that fail in any message; empty: not checked")


class PrintedRates(Section):
    """Printed rates by system, and the printed effective win rates that should follow from them."""

    rates: str = Field(description="element with the rates, whose panels are systems")
    rate: str = Field(description="its column")
    wins: str = Field(description="element with the effective win rates, whose panels are pairs")
    win: str = Field(description="its column")


class Techniques(Section):
    """Notebook 11: comparing or rating, per turn or per dialogue?"""

    compare: dict[Identifier, Technique] = Field({}, description="the techniques; empty: the methods of shared labels")
    pairs: dict[Identifier, Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(
        {}, description="name -> two systems, the first expected to be better; empty: all pairs"
    )
    labels: list[str] = Field([], description="labels compared; empty: those shared by two techniques, or all")
    final_rating: list[str] = Field(
        [],
        description="labels of whole conversations to which marks of turns are related; empty: those that are also "
        "marked by turn, or else all",
        examples=[["overall"]],
    )
    combine: dict[Identifier, Mixture] = Field({}, description="ratings sampled from several techniques")
    average: dict[Identifier, Mixture] = Field(
        {}, description="techniques whose values (0 to 1) per conversation are averaged"
    )
    checks: MessageChecks | None = Field(None, description="checks of what annotators typed; null: none")
    left_open: float = Field(
        10,
        gt=1,
        le=limits.AMOUNT,
        description="work units that took more than this many times the median count as left open",
    )
    alpha: float = Field(0.05, gt=0, lt=0.5, description="significance level")
    power: float = Field(0.8, gt=0, lt=1, description="power for which hours are reported")
    sizes: list[Annotated[int, Field(ge=4, le=limits.COUNT)]] = Field(
        [4, 8, 16, 32, 64, 128, 256, 512],
        min_length=2,
        description="numbers of conversations for the power curve",
    )
    n_runs: int = Field(400, ge=100, le=100_000, description="simulated studies per power estimate")
    most_ratings: int = Field(400, ge=50, le=20_000, description="ratings after which testing stops")
    crossing_runs: int = Field(
        200, ge=50, le=10_000, description="random orders of ratings, each tested after every rating"
    )
    chunk_minutes: float = Field(
        45, gt=0, le=limits.AMOUNT, description="working time per part of the data, for variability"
    )
    paper: str | None = Field(None, description="the paper of `printed_rates`")
    printed_rates: PrintedRates | None = Field(None, description="printed rates from which others should follow")

    @model_validator(mode="after")
    def _known(self) -> Techniques:
        for name, mixture in {**self.combine, **self.average}.items():
            unknown = sorted(set(mixture.techniques) - set(self.compare))
            if unknown:
                raise ValueError(f"{name}: expected techniques of `compare`, found {unknown}")
        return self


class Moderation(Section):
    """Notebook 12: the role of each label (methods: `moderation` for one reply, any pairwise one for two)."""

    category: str = Field("category", description="label: -1 not acceptable, 0 in between, 1 acceptable")
    better: str = Field("better", description="label: which of two replies is better")
    unrelated: str = Field("unrelated", description="label: both replies are unrelated (recorded for the left one)")
    flagged: str = Field("flagged", description="label: the reply is toxic or encourages it")
    reference_system: str | None = Field("human", description="system whose replies are the reference for overlap")
    paper: str | None = Field(None, description="the paper whose printed tables are compared")


class Metrics(Section):
    """Notebook 09: which metrics agree with people?"""

    computed: list[Literal[TEXT_METRICS]] | None = Field(
        None, description="metrics computed from the texts; null: all; []: none"
    )
    corpora: list[str] = Field([], description="corpora analysed; empty: all")
    titles: dict[str, str] = Field({}, description="display names of metrics")
    n_resamples: int = Field(
        2000, ge=200, le=1_000_000, description="bootstrap resamples of correlations, with ranks recomputed in each"
    )
    paper: str | None = Field(None, description="the paper whose printed correlations over systems are shown")
    printed: list[str] = Field([], description="their places in the paper: element/panel/row/column")
    range_without: list[str] = Field(
        [], description="method:label pairs excluded from the lowest and highest agreement, as in the paper"
    )


class Judges(Section):
    """Notebook 13: could a model replace an annotator?"""

    cost: float = Field(
        0.15,
        ge=0,
        lt=1,
        description="alternative annotator test: margin granted to a model, which costs less",
    )
    min_items: int = Field(
        30, ge=5, le=limits.COUNT, description="alternative annotator test: items required per annotator"
    )
    margin: dict[str, Annotated[float, Field(gt=0)]] = Field(
        {},
        description="label (`*`: all others) -> largest change in a system's result that is harmless, in units of the "
        "label (shares of marked turns, points, win rates as shares): within it, a model may stand in; without one, "
        "nothing is decided",
        examples=[{"quality": 0.2, "*": 0.05}],
    )
    half_width: dict[str, Annotated[float, Field(gt=0)]] = Field(
        {},
        description="label (`*`: all others) -> target half-width of a system's interval, for which human labels are "
        "to be bought, in units of the label; default: that of the existing human labels",
        examples=[{"quality": 0.1}],
    )
    titles: dict[str, str] = Field(
        {}, description="model as in the data -> name shown", examples=[{"gpt_4o": "GPT-4o"}]
    )


class Planning(Section):
    """Notebook 14: how many dialogues, annotators and labels would the next study need?"""

    difference: dict[str, Difference | dict[str, Difference]] = Field(
        {},
        description="label -> difference between two systems worth finding, in units of the label (share of marked "
        "turns, points, share of won minus share of lost comparisons), or method -> label -> difference; without a "
        "method, a label that is both rated and compared means the ratings",
        examples=[{"quality": 0.5, "comparative": {"quality": 0.2}}],
    )
    effect: float = Field(
        0.5, gt=0, le=5, description="the same for labels not in `difference`, in standard deviations of dialogues"
    )
    power: float = Field(0.8, gt=0.5, lt=1, description="probability with which the difference is to be found")
    labels: list[str] | None = Field(None, description="labels to plan; null: all")
    family: int = Field(1, ge=1, le=limits.COUNT, description="labels tested in one family, which share the 5% level")
    systems: int | None = Field(
        None, ge=2, le=limits.COUNT, description="systems in the next study; null: as in this one"
    )
    dialogues: Annotated[list[Annotated[int, Field(ge=4, le=limits.COUNT)]], Field(min_length=2)] = Field(
        [10, 20, 40, 80, 160, 320], description="dialogues per system (pairs per pair of systems) that are considered"
    )
    per_dialogue: Annotated[list[Annotated[int, Field(ge=1, le=100)]], Field(min_length=1)] = Field(
        [1, 2, 3, 5], description="annotators per dialogue that are considered"
    )
    annotators: int | None = Field(
        None,
        ge=1,
        le=limits.COUNT,
        description="annotators in the next study, who share the work; null: as in this one",
    )
    paired: bool | None = Field(
        None, description="whether people talk to all systems in one session; null: as in this study"
    )
    minutes_per_dialogue: float | None = Field(
        None, ge=0, le=1e6, description="minutes of a conversation; null: the median of this study, 0 if unknown"
    )
    minutes_per_judgement: dict[MethodName, Annotated[float, Field(gt=0, le=1e6)]] = Field(
        {}, description="method -> minutes an annotator takes to judge a dialogue; default: the median of this study"
    )
    budget: float | None = Field(None, gt=0, description="money available, in the currency of `costs`")
    looks: int = Field(5, ge=1, le=50, description="equally spaced looks at the data, the last one included")
    n_runs: int = Field(
        200, ge=0, le=100_000, description="simulated studies per label, for power up to ten times as many; 0: none"
    )
    most_simulated: int = Field(1000, ge=4, le=limits.COUNT, description="larger studies are not simulated")
    n_worlds: int = Field(200, ge=0, le=10_000, description="draws for the intervals; 0: no intervals")

    @model_validator(mode="after")
    def _enough_people(self) -> Planning:
        if self.annotators is not None and self.annotators < min(self.per_dialogue):
            raise ValueError(
                f"per_dialogue: expected a number of annotators up to {self.annotators} (`annotators`), found "
                f"{self.per_dialogue}"
            )
        return self

    def worth_finding(self, method: str, label: str, *, rated_too: bool = False) -> float | None:
        """The difference that was stated for a label; None if none was. rated_too : whether the method compares and
        another rates the same label, for which a difference without a method is meant."""
        of_method = self.difference.get(method)
        if isinstance(of_method, dict) and label in of_method:
            return of_method[label]
        plain = self.difference.get(label)
        return plain if isinstance(plain, float) and not rated_too else None


class Annotators(Section):
    """Notebook 15: which annotators stand out?"""

    false_alarms: float = Field(
        0.05,
        gt=0,
        lt=1,
        description="probability that anyone in a group is flagged if all its annotators come from one population",
    )
    min_items: int = Field(
        100, ge=2, le=limits.COUNT, description="items judged more than once that consensus labels require"
    )
    n_draws: int = Field(
        400, ge=50, le=100_000, description="random sets of dialogues with which an annotator's answers are compared"
    )


class Fragility(Section):
    """Notebook 16: what does each conclusion depend on?"""

    most: int = Field(
        200,
        ge=1,
        le=10_000,
        description="conclusions per method that are examined; of more, half the clearest and half the most doubtful",
    )
    people: int = Field(
        30, ge=0, le=10_000, description="annotators left out in turn, those with the most judgements first"
    )
