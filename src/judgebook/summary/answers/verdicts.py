"""What an answer comes to, as codes that other programs may rely on: a code keeps its meaning, and none is removed
without a new version of `answers.json`."""

from __future__ import annotations

from enum import StrEnum

from markupsafe import Markup


class Verdict(StrEnum):
    """A code with what it means, in words."""

    meaning: str

    def __new__(cls, code: str, meaning: str = "") -> Verdict:
        member = str.__new__(cls, code)
        member._value_, member.meaning = code, meaning
        return member


_NOT_RUN = ("not_run", "the notebook that answers was not run: `reason` has the command")
_NO_ANSWER = ("no_answer", "the data cannot answer, or the notebook failed: see `reason`")


class Order(Verdict):
    """Which system is best."""

    FIRST = "first", "a system ranks first, with simultaneous confidence in all ranks"
    ONE_ANNOTATOR = "one_annotator", "so it does, but one annotator made most of the judgements"
    OPEN = "open", "a system leads, but others may be best"
    NO_INTERVAL = "no_interval", "a system leads, but the uncertainty cannot be estimated"
    ONE_SYSTEM = "one_system", "there is only one system"
    NO_DIRECTION = "no_direction", "no label says what is better: see `reason`"
    NOT_RUN = _NOT_RUN
    NO_ANSWER = _NO_ANSWER


class Margin(Verdict):
    """How a system compares with the first one on a label, by the margin that the study states."""

    BETTER = "better", "it is shown to be better"
    EQUIVALENT = "equivalent", "the difference is shown to be smaller than the margin, either way"
    SLIGHTLY_WORSE = "slightly_worse", "it is shown to be worse, but by less than the margin"
    NOT_WORSE = "not_worse", "it is shown not to be worse by the margin or more (non-inferior)"
    WORSE = "worse", "it is shown to be worse, and not shown to be so by less than the margin"
    OPEN = "open", "none of these is shown"
    FEW = "few", "too few data for a test"

    @property
    def holds(self) -> bool:
        """Whether the system is shown not to be worse by the margin or more."""
        return self in (Margin.BETTER, Margin.EQUIVALENT, Margin.SLIGHTLY_WORSE, Margin.NOT_WORSE)


class Labels(Verdict):
    """Whether single judgements can be trusted."""

    RELIABLE = "reliable", "the interval of alpha lies above the threshold on every label"
    PARTLY = "partly", "so it does on some labels"
    NOT_SHOWN = "not_shown", "so it does on no label"
    DOUBTFUL = "doubtful", "the interval of alpha lies below the threshold on every label"
    UNDEFINED = "undefined", "alpha is undefined on every label: all annotations have the same value"
    JUDGED_ONCE = "judged_once", "no item was judged twice"
    NOT_RUN = _NOT_RUN
    NO_ANSWER = _NO_ANSWER


class Replication(Verdict):
    """Whether the order of systems was found again in another run."""

    REPLICATED = "replicated", "the interval of r lies above 0 overall and on every label"
    PARTLY = "partly", "it does overall, but not on every label"
    NOT_SHOWN = "not_shown", "it does not overall"


class Judges(Verdict):
    """Whether other people would have judged otherwise."""

    MATTERS = "matters", "annotators account for a tenth of the variance or more on some label"
    LITTLE = "little", "on every label the interval of their share ends below a tenth"
    OPEN = "open", "their share is below a tenth on every label, but may be larger"
    FEW = "few", "too few annotators, or too unequal shares of the work"
    UNKNOWN = "unknown", "the data do not identify the annotators"
    FIXED = "fixed", "the study is about these annotators only"
    CANNOT = "cannot", "no label could be analysed: see `reason`"
    NOT_RUN = _NOT_RUN
    NO_ANSWER = _NO_ANSWER


class Models(Verdict):
    """Whether a model as judge decides otherwise than people."""

    NONE = "none", "no model judged"
    MATTERS = "matters", "on some label a model agrees with people less than people with one another"
    NOT_SHOWN = "not_shown", "no label shows that"
    ONE_LABEL = "one_label", "models are compared with one human label per item, so not with how people agree"
    NOT_RUN = _NOT_RUN
    NO_ANSWER = _NO_ANSWER


class Sample(Verdict):
    """Whether there were enough data to decide comparisons of two systems on a label."""

    ENOUGH = "enough", "every comparison is decided: a difference or equivalence is shown"
    MOST = "most", "more than half are"
    HALF = "half", "half are"
    MINORITY = "minority", "fewer than half are"
    NOT_ENOUGH = "not_enough", "none is"
    NOT_RUN = _NOT_RUN
    NO_ANSWER = _NO_ANSWER


class Cost(Verdict):
    """What is known of the cost."""

    PAID = "paid", "what was paid is known, for all work or (`all_paid` is false) for part of it"
    TIMED = "timed", "the hours of work are known, not what was paid"
    UNKNOWN = "unknown", "neither is known: see `reason`"
    NOT_RUN = _NOT_RUN


class Next(Verdict):
    """What to do next: the first step."""

    RECORD = "record", "record who judged"
    RECRUIT = "recruit", "recruit annotators: too few to speak of others"
    TWICE = "twice", "have items judged twice"
    SEPARATE = "separate", "collect what separates the first two systems"
    COLLECT = "collect", "collect more dialogues: most comparisons are open"
    DEFINE = "define", "define doubtful labels more sharply, or train annotators"
    MORE = "more", "recruit annotators: others would often order systems otherwise"
    OVERLAP = "overlap", "have more items judged twice; where all were, more items, by more annotators"
    TIME = "time", "record how long judgements take"
    REPORT = "report", "nothing: report the results"
    UNKNOWN = "unknown", "nothing was found, but parts were not computed"


class Other(Verdict):
    """Of an answer that a notebook of another project gives."""

    STATED = "stated", "see `sentence`, which has all that is said"


#: key of an answer -> its codes
OF_ANSWER: dict[str, type[Verdict]] = {
    "order": Order,
    "labels": Labels,
    "judges": Judges,
    "sample": Sample,
    "cost": Cost,
    "next": Next,
}


def not_run(reason: str) -> bool:
    """Whether a notebook has no results only because nobody ran it: the reason is its command, or there is none."""
    return isinstance(reason, Markup) or not reason
