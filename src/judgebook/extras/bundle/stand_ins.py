"""What stands in a bundle for texts that are not shared, so that what is counted in them comes out again.

A stand-in has as many lines as its text, and each line as many words (by white space), tokens (`summary.TOKEN`) and
characters as that of the text; where lines are the same, so are their stand-ins, and nowhere else. What
is computed from texts and ids in another way is shared as such: scores by metrics, and which ids are spelt alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import pandas as pd

from judgebook.annotations.summary import TOKEN
from judgebook.extras.bundle.finished import Finished
from judgebook.questions.metrics import text_metrics
from judgebook.sources.ids import look_alikes
from judgebook.sources.ids.naming import OWN_IDS
from judgebook.study import escape

#: of which stand-ins are made. A line of one letter needs one of its own for each such line: more than an alphabet has
_LETTERS = [*"abcdefghijklmnopqrstuvwxyz", *map(chr, range(0x4E00, 0x9FA6))]


class StandIns:
    """Stand-ins for texts; a line has the same one wherever it occurs."""

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}
        #: words, tokens, characters, blanks -> how many lines have as many
        self._alike: dict[tuple[int, int, int, int], int] = defaultdict(int)

    def of(self, texts: Iterable[str]) -> dict[str, str]:
        """Text -> its stand-in. Ends of lines are those of Unix, in which texts may then no longer differ."""
        return {text: "".join(map(self._line, text.splitlines(keepends=True))) for text in texts}

    def _line(self, line: str) -> str:
        bare = line.splitlines()[0]
        if bare not in self._lines:
            words, tokens = bare.split(), len(TOKEN.findall(bare))
            characters = sum(map(len, words))
            size = (len(words), tokens, characters, len(bare) - characters)
            self._lines[bare] = _made(*size, self._alike[size])
            self._alike[size] += 1
        return self._lines[bare] + "\n" * (bare != line)


def _made(words: int, tokens: int, characters: int, blanks: int, number: int) -> str:
    """A line of this size: the words are letters, which write the number, and the other tokens full stops."""
    if not words:
        return " " * blanks
    stops = tokens - words
    letters = _written(number, characters - stops)
    first = len(letters) - words + 1
    return " ".join([letters[:first], *letters[first:]]) + "." * stops + " " * (blanks - words + 1)


def _written(number: int, length: int) -> str:
    """A number as so many letters, leading zeros included."""
    base, out = len(_LETTERS), []
    for _ in range(length):
        number, digit = divmod(number, base)
        out.append(_LETTERS[digit])
    return "".join(reversed(out))


def text_scores(of: Finished, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Scores of turns by the text metrics that notebook 09 computed: corpus, dialogue, turn, metric, score. Empty where
    it computed none."""
    path = of.folder / "cache" / "text_metrics.parquet"
    earlier = pd.read_parquet(path) if path.is_file() else pd.DataFrame({"metric": []})
    if earlier.empty or "dialogues" not in frames:
        return pd.DataFrame()
    metrics = [m for m in text_metrics.METRICS if m in set(earlier["metric"])]
    items = text_metrics.items(frames["dialogues"], frames["annotations"])
    return text_metrics.compute(items, metrics, earlier)[0]


def spellings(of: Finished, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Annotators and whom each is called like in the source, by pseudonyms: annotator, like. Like itself: nobody."""
    path, marks = of.folder / OWN_IDS, frames["annotations"]
    names = {a: a for a in marks.loc[marks["annotator_known"], "annotator"].unique()}
    if not path.is_file():
        return pd.DataFrame()
    own = escape.read_csv(path).query("kind == 'person'").set_index("pseudonym")["own_id"]
    names |= {a: own[a] for a in names if a in own.index}
    like = {a: ids[0] for ids in look_alikes.groups(names) for a in ids}
    people = [a for a in names if a in own.index or a in like]
    return pd.DataFrame({"annotator": people, "like": [like.get(a, a) for a in people]})
