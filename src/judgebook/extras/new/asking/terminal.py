"""Questions about a first YAML: put to whoever sits at the terminal, accepted, or carried by the YAML."""

from __future__ import annotations

from collections.abc import Callable

from judgebook.extras.new.asking.doubts import Answer, Draft, Question, decides
from judgebook.extras.new.asking.edits import edited
from judgebook.extras.new.spelling import comment, quoted

#: questions at most; the YAML carries the others
_MOST = 6
#: unlike the answer assumed, which closes the question
_LATER = "decide later: as 1 for now, and the question stays open in the YAML"
_ASSUMED = "assumed:  # by --yes; delete a line that is right: the first page repeats it until then"
_KEY = "open_questions:  # change what is wrong, then delete the line: `check` and the first page repeat it until then"


def carried(out: Draft) -> str:
    """The YAML with its open questions below the title, and how the others were settled as comments."""
    head, title, *rest = out.text.splitlines()
    lines = [comment(f"{how}: {fact}") for fact, how in out.settled.items()]
    lines += [_ASSUMED] if out.assumed else []
    lines += [f"  {quoted(fact)}: {quoted(said, always=True)}" for fact, said in out.assumed.items()]
    lines += [_KEY] if out.questions else []
    for question in out.questions:
        lines.append(f"  {quoted(question.fact)}: {quoted(question.sentence, always=True)}")
        lines += ["  " + comment(f"or: {answer.says}") for answer in question.alternatives]
    return "\n".join([head, title, *lines, *rest]) + "\n"


def accept(out: Draft) -> None:
    """Settle all questions by the answers assumed; those that may change an answer are kept for the first page."""
    out.assumed = {q.fact: q.sentence for q in out.questions if decides(q.fact)}
    out.settled = {f"{q.fact}: {q.assumed}": "Accepted by --yes" for q in out.questions if q.fact not in out.assumed}
    out.questions = []


def settle(out: Draft, again: Callable[[dict[str, str]], Draft], ask: Callable[[str], str] = input) -> Draft:
    """Ask at most six questions; the draft with the answers, and the questions that stay open.

    again : the draft of the same file, given our columns and the file's. ask : shows a text and returns what is typed;
    where it raises EOFError, the rest stays open.
    """
    given: dict[str, str] = {}
    changes: list[Answer] = []
    settled: dict[str, str] = {}
    left: set[str] = set()
    for n in range(_MOST):
        question = next((q for q in out.questions if q.fact not in {*settled, *left}), None)
        if question is None:
            break
        try:
            answer = _asked(question, ask, f"question {n + 1}")
        except EOFError:
            break
        if answer is None:
            left.add(question.fact)
            continue
        settled[question.fact] = answer.says
        if answer.given:
            given |= answer.given
            out = again(given)
        changes.append(answer)
    for path, value in (change for answer in changes for change in answer.edits.items()):
        out.text = edited(out.text, path, value)
    out.questions = [q for q in out.questions if q.fact not in settled]
    out.settled = {f"{fact}: {says}": "Answered" for fact, says in settled.items()}
    return out


def _asked(question: Question, ask: Callable[[str], str], name: str) -> Answer | None:
    """The answer chosen; None where the question stays open. Enter takes the one assumed."""
    choices: list[Answer | None] = [
        Answer(question.assumed),
        *(a for a in question.alternatives if a.edits or a.given),
        None,
    ]
    lines = [f"{name}: {question.text}" + (f" ({question.evidence})" if question.evidence else "")]
    lines += [f"  {i}  {a.says if a else _LATER}" for i, a in enumerate(choices, 1)]
    by_hand = [a.says for a in question.alternatives if not (a.edits or a.given)]
    lines += [f"     (to write by hand: {says})" for says in by_hand]
    while True:
        typed = ask("\n".join([*lines, f"1 to {len(choices)}, Enter for 1: "])).strip() or "1"
        if typed.isascii() and typed.isdecimal() and 1 <= int(typed) <= len(choices):
            return choices[int(typed) - 1]
        lines = [f"expected a number from 1 to {len(choices)}, found {typed[:20]!r}"]
