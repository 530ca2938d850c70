"""Whether a high score of a label is good or bad, as far as its name, its question or its answers say it plainly.

A wrong direction turns the order of systems round, a doubt costs a line in the YAML: what speaks both ways is a doubt.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from judgebook.study.labels import PREFERENCES

#: beginnings of words for what is wrong with a reply, in English, German, French and Spanish
_BAD = re.compile(
    r"(?:abus|aggress|annoy|antisocial|awkward|bad(?:ly)?$|bland|boring|bored|confus|contradi[ck]|creepy|danger|decept"
    r"|deceiv|defect|disturb|dull|err(?:o|eu)|evasi|fabricat|fail|false|falsch|fault|faux|fehler|flaw|frustrat|garbl"
    r"|gibberish|glitch|hallucin|halluzin|harm(?:s|ful\w*)?$|hate|illogic|insult|intrus|irrelevan|irritat|langweil|lies?$"
    r"|manipulat|misinform|mislead|misspel|mistak|nonsens|offen[cs]|omission|omit|plagiar|poor|profan|racis|redundan|repeat"
    r"|repetit|repetid|robotic|rude|sexis|spam|stereotyp|superflu|sycophan|toxi|typos?$|unhoflich|uninterpretabl"
    r"|unsubstantiat|unsupported|vague|violat|widerspr|worse$|worst$|wrong)"
)
#: beginnings of words for what is right with it
_GOOD = re.compile(
    r"(?:accura|adequa|angemessen|appropri|attentive|better$|best$|calidad|clarity|clear|cohere|compell|complete|comprehens"
    r"|concis|consist|convincing|correct|creativ|credib|divers|easy?$|ease$|empath|engag|enjoy|entertain|excellent|factual"
    r"|fair(?:ness)?$|faithful|flexib|fluen|fluid|flussig|friendly|fun(?:ny)?$|good(?:ness)?$|grammatical|great$|grounded"
    r"|harmless|helpful|hilfreich|honest|humanlike|humanness|humor|humour|informativ|inquisitive|insight|interest|koharen"
    r"|korrekt|likab|likea|logical|meaningful|natur(?:al|el|lich)|nice$|overall$|pertinen|plausib|pleasant|polite|prefer"
    r"|qualit|readab|relevan|reliab|safe$|satisf|sensib|specific|thorough|truthful|trustworth|understand|usab|useful|utiles?$"
    r"|valid(?:ity)?$|verstandlich|winner$)"
)
#: with one of these before it, a good quality is lacking: plainly bad
_PREFIX = re.compile(r"(?:un|in|im|ir|il|dis|mis|non)(?=\w{3})")
#: words that turn the meaning round, or may: with them nothing is plain
_TURNS = re.compile(
    r"not|no|non|never|without|free|freedom|less|fewer|low(?:er)?|anti|neither|nor|too|n_?t|nicht|kein\w*|ohne|frei|pas|sans"
    r"|sin|\w+less|\w+frei|(?:abs[et]|acknowledg|address|admit|apolog|avoid|break|correcti|corrects|corrected|correcting"
    r"|damag|deal|declin|decreas|degrad|detect|deviat|difficult|distan|drop|effort|escap|explain|fix|flag|hand[l]|hard|identif"
    r"|invert|lack|los[ts]|miss(?:ing|ed)|mitigat|need|notic|prevent|recogni|recover|reduc|refus|rejec|remov|resist|resol"
    r"|revers|robust|solv|spot|stop|warn)\w*|gap|burden|check|confidence|cost|sure|certain|time|rank\w*|place|position"
)
#: what a number of a bad thing is often called although more of it is good: `toxicity_score`
_SCORE = re.compile(r"scores?|ratings?|rate|level|grade|evaluation|assessment")
#: nouns for faults: the quality before one of these is what it is in
_FAULT = re.compile(r"(?:error|mistake|issue|problem|violation|fault|flaw|defect)s?")
_TOPIC = re.compile(r"(?:factual|grammatical|logical|specific)(?:ly)?|\w+(?:y|ce|ness)")
#: two words that together are plain
_PAIRS = {("off", "topic"): "irrelevant", ("hors", "sujet"): "irrelevant", ("human", "like"): "humanlike"}
#: answers that say how much of the label there is, from little to much
_LITTLE = re.compile(
    r"(?:never|not at all|no|none?|rarely|(?:strongly |completely )?disagree|(?:very )?low|false|nein|non|nie)"
)
_MUCH = re.compile(
    r"(?:always|very(?: much)?|extremely|completely|totally|(?:very )?often|(?:strongly |completely )?agree|a lot|yes"
    r"|many|(?:very )?high|fully|definitely|true|ja|oui|si|immer)"
)
_PASSED = re.compile(r"pass(?:ed)?|👍|(?:very )?satisfied|(?:very )?good|excellent|perfect|great")
_FAILED = re.compile(r"fail(?:ed)?|👎|(?:very )?dissatisfied|(?:very )?(?:bad|poor)|awful|terrible")
_ANCHOR = re.compile(r"(?<![\w.])(\d{1,3})\s*[=:(–-]?\s*([^\W\d_][^\d(),;.:=…/]*)")


def direction(name: str, answers: Sequence[str] = (), *, compared: bool = False) -> int | None:
    """1 where a high score is good, -1 where it is bad, None where that is in doubt.

    Parameters
    ----------
    name : str
        Of the label, or the question that was asked; a question may say what the ends of its scale mean, as in
        `Were the replies rude? (1 = never, 5 = always)`.
    answers : sequence of str
        From the lowest score to the highest, where they are words.
    compared : bool
        Whether the score says which of two was chosen.
    """
    text = _plain(name)
    if compared and text in PREFERENCES:
        return 1
    asked, anchors = _anchors(text)
    ends = (
        [_plain(answers[0]).replace("_", " "), _plain(answers[-1]).replace("_", " ")] if len(answers) > 1 else anchors
    )
    what = _what(asked)
    if not ends:
        return what
    low, high = ends
    if _PASSED.fullmatch(high) and not _PASSED.fullmatch(low):
        return 1
    if _PASSED.fullmatch(low) or _FAILED.fullmatch(high):
        return -1
    amount = {(True, False): 1, (False, True): -1}.get((bool(_MUCH.fullmatch(high)), bool(_MUCH.fullmatch(low))))
    if amount and (_LITTLE.fullmatch(low) or _LITTLE.fullmatch(high)):
        return amount * what if what else None
    signs = _what(high), _what(low)
    return signs[0] if signs[0] and signs[0] != signs[1] else None


def _plain(text: str) -> str:
    """Lower case, without accents, words split at capitals and joined by _."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).lower()
    return re.sub(r"[\s_-]+", "_", text.replace("n't", " not")).strip("_")


def _anchors(text: str) -> tuple[str, list[str]]:
    """A question without what it says of the ends of its scale, and that, from the lowest number to the highest."""
    matches = list(_ANCHOR.finditer(text.replace("_", " ")))
    if len(matches) == 1 and int(matches[0][1]) < 2 and _LITTLE.fullmatch(matches[0][2].strip()):
        return text[: matches[0].start()], []  # `(1 = not at all)` says how little, not of what
    if len(matches) < 2:
        return text, []
    ends = sorted((int(m[1]), m[2].strip()) for m in matches)
    return text[: matches[0].start()], [ends[0][1], ends[-1][1]]


def _what(text: str) -> int | None:
    """Whether what a text names is good (1) or bad (-1); None where it names neither, or both."""
    words = [w for w in re.split(r"[\W_]+", text) if w]
    words = [_PAIRS.get(pair, pair[0]) for pair in zip(words, [*words[1:], ""], strict=False)]
    if words[:2] in (["lack", "of"], ["lacks", "of"]):
        return -1 if {_of_word(w) for w in words[2:]} == {1} else None
    if any(_TURNS.fullmatch(w) for w in words):
        return None
    faults = [bool(_FAULT.fullmatch(w)) for w in words]
    topics = [bool(_TOPIC.fullmatch(w)) for w in words]
    signs = [-1 if fault else _of_word(w) for w, fault in zip(words, faults, strict=True)]
    if any(word.startswith(("issue", "problem")) for word in words[:-1]):
        return None
    if -1 in signs:  # `factually wrong`, and `consistency errors`, but not `harmful or helpful`
        named = [topic and (faults[-1] or word.endswith("ly")) for word, topic in zip(words, topics, strict=True)]
        signs = [0 if name and sign > 0 else sign for name, sign in zip(named, signs, strict=True)]
        signs += [1] if any(_SCORE.fullmatch(w) for w in words) else []
    distinct = {sign for sign in signs if sign}
    return distinct.pop() if len(distinct) == 1 else None


def _of_word(word: str) -> int:
    prefix = _PREFIX.match(word)
    if prefix and _GOOD.match(word[prefix.end() :]):
        return -1
    if prefix and _BAD.match(word[prefix.end() :]):
        return 0  # `unbiased` is good, but who knows of others
    return -1 if _BAD.match(word) else int(bool(_GOOD.match(word)))
