"""Facts of a first YAML that are defaults or nearly tied with others, as questions; and the YAML that carries them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from judgebook.sources.nature import Nature

#: beginnings of facts, those first that would change results most
_FIRST = (
    *("system", "annotator", "item", "repeats", "spelling", "comparison", "winner", "judges", "label", "no answer"),
    *("direction", "level", "scale", "metric", "files"),
)


@dataclass(frozen=True)
class Answer:
    """Another answer than the one assumed.

    says : in words. edits : path in the YAML -> its value (None: removed; `edits.edited`). given : our column -> the
    file's, with which the file is looked at anew. Without either, only a person can write it.
    """

    says: str
    edits: dict[str, Any] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """A fact that only a person can confirm.

    fact : its key in `open_questions`, such as `system` or `scale of fluency`. text : the question. assumed : the
    answer that the YAML gives. evidence : why. Neither quotes what may tell who somebody is.
    """

    fact: str
    text: str
    assumed: str
    alternatives: tuple[Answer, ...] = ()
    evidence: str = ""

    @property
    def sentence(self) -> str:
        """The question with the answer assumed, as the YAML, `check` and the first page have it."""
        return f"{self.text} Assumed: {self.assumed}" + (f" ({self.evidence})." if self.evidence else ".")


def in_order(questions: Iterable[Question]) -> list[Question]:
    """Questions by how much their answers may change, one for each fact."""
    first = {q.fact: q for q in reversed(list(questions))}
    return sorted(reversed(first.values()), key=lambda q: _rank(q.fact))


def decides(fact: str) -> bool:
    """Whether the answer says what was judged, by whom and of what, on which every result rests."""
    return _rank(fact) < _FIRST.index("direction")


def _rank(fact: str) -> int:
    return next((i for i, kind in enumerate(_FIRST) if fact.startswith(kind)), len(_FIRST))


@dataclass
class Doubts:
    """What a guess is unsure of.

    warnings : notes on what is certain, for a comment. rivals : our column -> columns of the file that could be meant
    instead, as well as not. choices : our column -> these and all others that vary, as answers. observed : label -> its
    lowest and highest score, where the file does not say its scale. why : our column, or key -> the reason for the
    guess.
    """

    warnings: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    rivals: dict[str, list[str]] = field(default_factory=dict)
    choices: dict[str, list[Answer]] = field(default_factory=dict)
    observed: dict[str, tuple[float, float]] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)

    def ask(self, fact: str, text: str, assumed: str, *alternatives: Answer, evidence: str = "") -> None:
        self.questions.append(Question(fact, text, assumed, alternatives, evidence))

    def judged_by_models(self, n: int) -> None:
        """Ask whether `n` annotators that are called like language models are none."""
        people = Answer("people: delete `judges`", {"sources.*.judges": None})
        text = "Which annotators are language models?"
        self.ask("judges", text, f"the {n} that are called like one (`judges`)", people)

    def a_choice(self, names: list[str]) -> None:
        """Ask whether labels that are called so are choices between two."""
        how = Answer("yes: name both systems (docs/own_data.md, situation 6)")
        self.ask("comparison", f"{', '.join(names)}: a choice between two?", "no, ratings of one", how)

    def without(self, *facts: str) -> None:
        """Take questions back: facts, or beginnings of them that end in a space."""
        exact, begin = set(facts), tuple(f for f in facts if f[-1] == " ")
        self.questions = [q for q in self.questions if not (q.fact in exact or q.fact.startswith(begin))]


@dataclass
class Draft(Doubts):
    """A first YAML. text : without its questions. settled : fact -> how it was answered, for a comment. assumed : fact
    -> what was taken for granted and may change an answer, for the first page."""

    text: str = ""
    settled: dict[str, str] = field(default_factory=dict)
    assumed: dict[str, str] = field(default_factory=dict)

    def take(self, *found: Doubts) -> list[str]:
        """Take over what guesses are unsure of; their notes are returned."""
        for one in found:
            self.questions += one.questions
            self.rivals |= one.rivals
            self.choices |= one.choices
            self.observed |= one.observed
            self.why |= one.why
        return [warning for one in found for warning in one.warnings]

    def unused(self, places: dict[str, Nature]) -> None:
        """Places that nothing reads may hold what nothing names."""
        free = [place for place, kind in places.items() if kind.kind in ("id", "names", "words")]
        self.rivals |= {"": free[:8]} if free else {}
