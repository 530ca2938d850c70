"""What a column of a file seems to be: how files call what we need, and what values look like: ratings, an id, text, …

Nothing a run does depends on this: it helps to guess a first YAML, and to say why a column is not used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.sources.ids.personal import personal
from judgebook.sources.rows import numbers as number_texts

#: our column -> how files call it, most telling first; matched on the name without case and punctuation
NAMES = {
    ours: names.split()
    for ours, names in {
        "dialogue": "dialogueid dialogid dialogue dialog conversationid convoid convid conversation chatid chat "
        "dialoguea dialoga conversationa chata dialogue1 dialog1 instanceid sampleid itemid item sample exampleid id "
        "idx uid uuid questionid promptid inputhash",
        "annotator": "annotatorid annotatorname annotator workerid worker raterid rater judgeid judge coderid coder "
        "completedby prolificpid prolificid participantid participant "
        "evaluatorid evaluator expertid assessorid assessor responseid userid respondentid respondent subjectid "
        "username user emailaddress email",
        "system": "systemid system modelname modelid model bot chatbot agent systema modela bota system1 model1 bot1 "
        "systemx modelx systemleft modelleft left",
        "turn": "turnid turn turnindex utteranceid utteranceindex",
        "label": "label metric criterion dimension question aspect",
        "score": "score rating judgement judgment value answer annotation",
        "group": "evaluatorgroup annotatorgroup group",
        "corpus": "corpus dataset split round run",
        "session": "sessionid session",
        "work_unit": "hitid assignmentid taskid workunit",
        "seconds": "leadtime worktimeinseconds seconds duration timesec elapsedseconds",
        "user_text": "query usertext userprompt userturn prompt question userutterance user instruction input",
        "system_text": "response systemtext botturn reply output systemresponse answer",
        "reference": "reference goldresponse groundtruth",
        "dialogue_b": "dialogueb dialogb conversationb chatb dialogue2 dialog2",
        "system_b": "systemb modelb botb system2 model2 bot2 systemy modely systemright modelright right",
    }.items()
}
_DURATION = re.compile(
    r"(^|[^a-z])(lead ?time|duration|elapsed|seconds?|secs?|minutes?|latency|ms|millis|work ?time\w*|lifetime\w*"
    r"|time ?(spent|taken|in)\w*|response ?time)($|[^a-z])",
    re.I,
)
_WHEN = re.compile(
    r"(^|[^a-z])(date|datetime|timestamp|time|created|updated|submitted|started|ended|completed)|(_at|_on|Time|Date)$"
)
_ID = re.compile(
    r"(^|[^a-z])(id|ids|uid|uuid|guid|key|hash|idx|index|number|no|nr|row|rowid|ip|phone|e-?mail)($|[^a-z])"
    r"|(sent|item|doc|turn|dialogu?e?|conv|user|worker|sys|system|model|hit|task|session|resp|prompt|question|sample"
    r"|batch|context|instance)id[0-9]*$",
    re.I,
)
_IDS = re.compile(r"(?:[A-Za-z]+Id|[A-Z]+ID|id)[0-9]*$")
_COUNT = re.compile(
    r"^(n|num|no|number)_|(^|_)(count|slot|index|idx|order|rank|fold|age|year|page|position|progress|batch|votes)(s?$|_)|^#",
    re.I,
)
_RANKING = re.compile(r"[^<>,;]+([>≻][^<>,;]+)+|[^<>,;=]+(=[^<>,;=]+)+")
_WHERE = re.compile(r"(^|[^a-z])(start|begin|end|stop|offset)($|[^a-z])", re.I)
#: what platforms call what they say of people and units themselves
_PLATFORM = re.compile(
    r"_(trust|tainted|golden|missed|channel|country|region|city|ip|unit_state|trusted_judgments)|.*:confidence"
    r"|(GOLDEN|HINT):.*|((lifetime|last[0-9]+days?)[ _]?)?(approval|acceptance)[ _]?rate"
    r"|(worker|annotator|contributor|labell?er|participant)s?[ _.-]?(trust|reputation|approvals?|approval[ _]?rate)",
    re.I,
)
_DATE = re.compile(
    r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}([ T].*)?$|[A-Z][a-z]{2} [A-Z][a-z]{2} [0-9]{1,2} .*[0-9]{4}$"
)
#: words that stand for no answer; compared in lower case
NOTHING = {
    *(
        "n/a",
        "na",
        "n.a.",
        "nan",
        "null",
        "none",
        "-",
        "--",
        "?",
        "k.a.",
        "k. a.",
        "keine angabe",
        "missing",
        "skip",
        "skipped",
    ),
    *(
        "not applicable",
        "no answer",
        "prefer not to say",
        "#n/a",
        "undefined",
        "unknown",
        "i don't know",
        "don't know",
        "cannot judge",
    ),
}
_MAX_LEVELS = 15
#: different answers in words at most
FEW_WORDS = 8
#: seconds since 1970 of the years 2000 to 2040
_TIMES = (946_684_800, 2_208_988_800)
_CLOCK = re.compile("[0-9]:[0-9]")
_DIGIT, _DIGITS, _HUNDREDTHS = re.compile("[0-9]"), re.compile("[0-9]+"), re.compile(r"[.,][0-9]{2}")


@dataclass(frozen=True)
class Nature:
    """kind : empty, constant, platform, text, date, duration, counter, id, rating, slider, fraction, number, words or
    mixed.
    says : the same in words, with an example unless values may tell who somebody is."""

    kind: str
    says: str

    @property
    def judged(self) -> bool:
        """Whether people may have said it: ratings, or answers in words."""
        return self.kind in ("rating", "slider", "words")


@codes.once_per_column
def nature(name: str, values: pd.Series | codes.Texts) -> Nature:
    """What a column of text cells (missing or empty: no value) looks like."""
    seems = _nature(name, values)
    shows = ":" in seems.says and seems.kind != "ranking"
    return Nature(seems.kind, seems.says.partition(":")[0]) if shows and personal(name, values) else seems


def _nature(name: str, values: pd.Series | codes.Texts) -> Nature:
    code, distinct = codes.factorized(values)
    texts = [str(value).strip() for value in distinct]
    often, held = np.bincount(code[code >= 0], minlength=len(texts)), Counter[str]()
    for text, n in zip(texts, often.tolist(), strict=True):
        if text and n:
            held[text] += n
    seen = list(held)
    if not seen:
        return Nature("empty", "empty")
    shown = repr(seen[0][:30])
    if len(seen) == 1 and len(values) > 1:
        return Nature("constant", f"the same in every row: {shown}")
    if _PLATFORM.fullmatch(name):
        return Nature("platform", "of the platform itself")
    words = {text: n for text, n in held.items() if text.lower() not in NOTHING}
    numbers = dict(zip(words, number_texts.of(words), strict=True))
    # 1 - poor, 2, 3, 4 - good are numbers; 1 - fluency, 2 - relevance are not
    bare = not np.isnan(_numbers(text.replace(",", ".") for text in words)).all()
    if bare and np.isfinite([*numbers.values()]).all():
        every = np.array([*(numbers.get(text, np.nan) for text in texts), np.nan])[code]
        return _numeric(name, words, every[~np.isnan(every)])
    if _share(words, _RANKING.fullmatch) > 0.9:
        return Nature("ranking", f"rankings: {shown}; `adapter: records` reads them by `{name}:ranking.{{system}}`")
    if _share(words, _DATE.match) > 0.9 or (_WHEN.search(name) and _share(words, _CLOCK.search) > 0.9):
        return Nature("date", f"a date or time: {shown}")
    blanks = _mean(words, lambda text: text.count(" "))
    if blanks >= 3 or _mean(words, len) > 60:
        return Nature("text", "text")
    rows = held.total()
    if _ID.search(name) or _IDS.search(name) or len(seen) == rows > 1 or numbered(words):
        return Nature("id", "an id")
    if len(seen) <= FEW_WORDS and rows >= 2 * len(seen) and sum(map(bool, map(_DIGIT.search, seen))) < 0.5 * len(seen):
        return Nature("words", "answers in words: " + ", ".join(s[:20] for s in seen[:8]))
    none = [text for text, number in numbers.items() if np.isnan(number)]
    if sum(words[text] for text in none) < 0.5 * sum(words.values()):
        odd = ", ".join(repr(text[:30]) for text in none[:3])
        return Nature("mixed", f"numbers and words: {odd}")
    return Nature("text" if blanks >= 1 else "names", "names or text")


def _mean(words: Mapping[str, int], tell: Callable[[str], Any]) -> float:
    """The mean of a number (or of whether) over rows of texts, which say how often each is there; 0 of none."""
    return sum(tell(text) * n for text, n in words.items()) / max(1, sum(words.values()))


def _share(words: Mapping[str, int], fits: Callable[[str], Any]) -> float:
    return _mean(words, lambda text: fits(text) is not None)


def _numbers(texts: Iterable[str]) -> np.ndarray:
    """Texts as numbers; missing where one is none."""
    return np.asarray(pd.to_numeric(np.array([*texts], dtype=object), errors="coerce"), dtype=float)


def numbered(values: Iterable[str]) -> bool:
    """Whether short names differ in their numbers only, as in `dialogue 7`: ids, whatever else they say."""
    names = {value.strip() for value in values}
    few = len(names) > 2 and max(name.count(" ") for name in names) <= 1
    return few and len({_DIGITS.sub("0", name) for name in names}) == 1


def _numeric(name: str, words: Iterable[str], numbers: np.ndarray) -> Nature:
    whole = bool((numbers % 1 == 0).all())
    low, high, n = numbers.min(), numbers.max(), len(np.unique(numbers))
    span = f"{low:g} to {high:g}"
    if _DURATION.search(_spaced(name)):
        return Nature("duration", f"a duration: {span}")
    if whole and (_ID.search(_spaced(name)) or _IDS.search(name)):
        return Nature("id", "an id")
    if whole and n == len(numbers) > 5 and low + (n - 1) == high:
        return Nature("counter", f"a different number in every row: {span}")
    if _COUNT.search(name):
        said = "a counter by its name"
        said = "a rank by its name: `scores` could say rank_{system}" if "rank" in name.lower() else said
        return Nature("counter", f"{said}: {span}")
    if whole and _WHERE.search(_spaced(name)):
        return Nature("counter", f"a place in a text by its name: {span}")
    if not whole and low > _TIMES[0] and high < _TIMES[1]:
        return Nature("date", "times in seconds since 1970")
    if not whole and any(map(_HUNDREDTHS.search, words)):
        return Nature("fraction", f"fractions: {span}")
    steps = (numbers % 0.5 == 0).all()
    if n <= _MAX_LEVELS and steps and low >= -3 and high <= 100 and (high <= 10 or n > 2):
        return Nature("rating", f"numbers that look like ratings: {span}")
    if whole and low >= 0 and high <= 100 and (np.diff(numbers) < 0).any():
        return Nature("slider", f"whole numbers as from a slider: {span}")
    return Nature("number", f"numbers: {span}")


def _spaced(name: str) -> str:
    """A name with its words apart: WorkTimeInSeconds as Work Time In Seconds."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ")


def plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
