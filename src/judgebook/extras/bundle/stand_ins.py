"""What stands in a bundle for texts that are not shared, so that what is counted in them comes out again.

A stand-in has as many lines as its text, and each line as many words (by white space), tokens (`summary.TOKEN`) and
characters as that of the text; where lines are the same, so are their stand-ins, and nowhere else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from judgebook.annotations.summary import TOKEN

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
