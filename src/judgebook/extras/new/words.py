"""How files call things: names of columns, answers in words, language models, aspects of quality."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pandas as pd
import yaml

from judgebook import codes
from judgebook.sources.nature import numbered

TEXT = {"user_text", "system_text", "reference"}
#: characters of a name, on average, at most
SHORT = 40
#: scales in use; the first that holds all scores is taken
SCALES = ((0, 1), (-1, 1), (1, 3), (1, 5), (0, 2), (0, 4), (1, 7), (1, 10), (0, 10), (-2, 2), (-3, 3), (0, 100))
RATERS = {"annotator", "annotation", "rater", "worker", "judge", "coder", "expert", "rating", "score", "answer"}
#: answers in words
_YES = "yes, y, true, correct, ja, oui, sí, 是, pass, passed, thumbs_up, thumbs up, up, like, upvote, 👍, ✓, ✔, ✅"
_NO = "no, n, false, incorrect, nein, non, 否, fail, failed, thumbs_down, thumbs down, down, dislike, downvote, 👎"
_NO += ", ✗, ✘, ❌"
ANSWERS = dict.fromkeys(_YES.split(", "), 1.0) | dict.fromkeys(_NO.split(", "), 0.0)
#: columns that stand for one person each
PERSON = re.compile(
    r"((?:student|expert|annotator|rater|worker|judge|coder|evaluator|crowd|human|person|participant|assessor|user)"
    r"[ _-]?)(?:[0-9]+|(?<=[ _-])[a-z]|(?-i:[A-Z]))",
    re.I,
)
#: names that stand for one system each
A_SYSTEM = re.compile(r"(?:system|model|(?:chat)?bot)[ _-]?[a-z0-9]|[a-z0-9]+[ _-]?(?:chat)?bot", re.I)
#: names of language models, as annotators or systems
_MODEL = re.compile(
    r"(^|[^a-z])(chat)?(gpt|claude|gemini|gemma|llama|alpaca|vicuna|mistral|mixtral|qwen|palm|bard|bart|bert|t5|flan|cohere"
    r"|command|deepseek|phi|falcon|bloom|opt|wizard|dolly|koala|prometheus|pandalm|llm|auto|davinci|turbo|grok|judgelm"
    r"|model|classifier|blender|dialogpt)($|[^a-z])|(gpt|llama|claude|gemini|mistral|qwen|llm)[0-9-]",
    re.I,
)
#: aspects of quality, as files name what was judged
ASPECT = re.compile(
    r"fluen|flüss|fluss|fluid|coher|kohär|kohar|relev|quality|qualit|calid|overall|engag|interest|inform|natur|consist"
    r"|gramm|help|harm|safe|empath|accura|correct|faith|complete|clarity|humor|specific|sensib|sense|understand|factual"
    r"|adequa|meaning|simplic|readab|genau|vertrau|sympath|concise|creativ|toxi|verständ|pertinen|cohér|nähe|流畅|相关|质量|likea|human|divers|trust|satisf|appropri|usab|ease",
    re.I,
)
#: answers in words that have an order, from the lowest to the highest; alternatives of a step by |
ORDERED = [
    [step.split("|") for step in words.split(", ")]
    for words in (
        "strongly disagree|completely disagree, disagree, somewhat disagree|slightly disagree, neutral|neither agree "
        "nor disagree|undecided|neither, somewhat agree|slightly agree, agree, strongly agree|completely agree",
        "terrible|very poor|very bad|awful, poor|bad, below average, fair|average|ok|okay|acceptable|medium|neutral, "
        "above average, good, very good, excellent|great|perfect",
        "never, rarely|seldom, sometimes|occasionally, often|frequently, always",
        "not at all|none, slightly|a little|a bit, somewhat|moderately|moderate, very|quite|a lot, extremely",
        "very dissatisfied, dissatisfied, neutral|neither satisfied nor dissatisfied, satisfied, very satisfied",
        "very low, low, medium|moderate|average, high, very high",
        "very unlikely, unlikely, neutral, likely, very likely",
        "no, partly|partially|somewhat|to some extent|maybe|unsure, yes",
    )
]


#: answers that have a place in an order at most
_STEPS = max(map(len, ORDERED))


def ranked(words: list[str]) -> list[str] | None:
    """Answers from the lowest to the highest; None where their order is not known."""
    if len(words) > _STEPS:
        return None
    for family in ORDERED:
        rank = {w: i for i, step in reversed([*enumerate(family)]) for w in words if w.lower() in step}
        if 1 < len(words) == len(rank) == len(set(rank.values())):
            return sorted(words, key=rank.__getitem__)
    return None


#: names of answers that choose between two
CHOICE = re.compile(r"choice|prefer|winner|better|chosen|vote", re.I)
#: names of what those who judged wrote
COMMENT = re.compile(r"comment|remark|rationale|justif|feedback|^notes?$|why|kommentar|begründ", re.I)


def looks_like_model(name: str) -> bool:
    return bool(_MODEL.search(name))


def is_prose(values: pd.Series) -> bool:
    held = codes.texts_of(values).stripped
    rows = sum(held.n.values())
    return 0 < rows <= sum(text.count(" ") * n for text, n in held.n.items()) and not numbered(held.distinct)


def are_names(values: pd.Series) -> bool:
    """Whether values may name who or what: no prose, or short and each several times, as first and last names."""
    if not is_prose(values):
        return True
    held = codes.texts_of(values).stripped.n
    rows = sum(held.values())
    return sum(len(text) * n for text, n in held.items()) / rows < SHORT and len(held) <= len(values) / 2


_RATING = re.compile(r'\[\{"(?:rating|number)": ?(-?[0-9]+(?:\.5)?)\}\]')
_WITH_NUMBER = re.compile(
    r"\(?([+-]?[0-9]+(?:[.,]5)?)\)? ?(?:|%|stars?|points?|/ ?[0-9]+|(?:out )?of [0-9]+|[-–—:=.)(].*)"
    r"|[^0-9]+ ?\((-?[0-9]+)\)",
    re.I,
)


def number_in(word: str) -> float | None:
    """The number in an answer such as `4 - Good`, `Good (4)`, `4/5`, ★★★★, or Label Studio's `[{"rating": 4}]`."""
    if set(word) <= {"★", "☆", "⭐", "*"}:
        return float(len(word) - word.count("☆"))
    match = _WITH_NUMBER.fullmatch(word) or _RATING.fullmatch(word)
    return float((match[1] or match[2]).replace(",", ".")) if match else None


def scale_text(low: float, high: float) -> str:
    """A scale as a YAML has it: with all digits of its ends, and `1.0e+20`, since `1e+20` is a text there."""
    ends = (int(n) if np.isfinite(n) and n % 1 == 0 and abs(n) < _WHOLE else float(n) for n in (low, high))
    return f"[{', '.join(yaml.safe_dump(n).split()[0] for n in ends)}]"


#: whole numbers from here on are written as others are
_WHOLE = 10**15
#: letters of an id beyond which a name is a question whose words are too many for one, and those that it is cut to
_QUESTION, _SHORTENED = 60, 40


def label_id(name: str) -> str:
    """An id for a label from its spelling; `fluency.label`, as MTurk's forms call it, is `fluency`.

    Of a long question, it is the one aspect of quality that it names, else its first words.
    """
    # a question without the ends of its scale
    name = re.sub(r" *\([^()]*=[^()]*\)$", "", name.removesuffix(".label").removeprefix("Answer."))
    ascii_ = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    id_ = re.sub(r"[^A-Za-z0-9]+", "_", ascii_).strip("_").lower() or "label"
    if len(id_) > _QUESTION:
        aspects = {word for word in id_.split("_") if ASPECT.match(word)}
        id_ = aspects.pop() if len(aspects) == 1 else id_[: id_.rfind("_", 0, _SHORTENED + 1)]
    return id_ if id_[0].isalpha() else f"label_{id_}"
