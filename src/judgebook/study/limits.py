"""Upper limits on a study's YAML and data, and why. Input beyond a limit is refused, with its location.

Limits are far above any study we know of: they are there to tell a mistake, or a file made to do harm, before it
fills the memory or stops the clock.
"""

from __future__ import annotations

#: bytes of a YAML; the longest that comes with the project has 8,549
YAML_BYTES = 2_000_000
#: lists and maps within each other; the models of `sections` nest to 7
YAML_DEPTH = 50
#: values, lists and maps of a YAML with every alias written out: nine lists of nine aliases each, nested, would be 387
#: million
YAML_VALUES = 100_000
#: characters of one text in a YAML; a BibTeX entry or a description has hundreds, a file of judgements is not a text
YAML_TEXT = 20_000
#: digits of a whole number in a YAML: all that fit into 63 bits, as numpy needs for seeds and counts
YAML_DIGITS = 18
#: characters of a title: it stands in the head of each page, the name of a BibTeX entry and the terminal
TITLE = 300
#: characters of the name of a study, a file or a notebook: file systems end at 255 bytes per part of a path
NAME = 200
#: characters of a path: Linux ends at 4,096 bytes, Windows at 260 characters unless told otherwise
PATH = 1_000
#: characters of what an error message quotes: a terminal's width or two
QUOTED = 200

#: ends of a scale: squares of differences of such numbers are exact in 64-bit floating point
SCALE_END = 1e6
#: counts in a YAML (resamples, permutations, picks, …) for which a section gives no limit of its own: a hundred times
#: what our notebooks use, and hours of computing
COUNT = 1_000_000
#: money and hours in a YAML: more than any study costs
AMOUNT = 1e9
#: processes at a time: no machine that people sit at has more processors, and each needs 200 MB
JOBS = 256

#: characters of a formula of metrics: its terms are as many levels of Python's parser and of ours
FORMULA = 500
#: items side by side in one row of a table: surveys have dozens
REPEATS = 1_000
#: columns of a table: Excel ends at 16,384, and each costs about a millisecond
COLUMNS = 16_384
#: columns with scores: a survey has dozens, and each name is compared with those of all labels
SCORE_COLUMNS = 2_000
#: characters of a cell that `new` takes for an id with a name in brackets: longer ones are texts, and with text of one
#: word the expression for such cells takes time that grows with the square of the length
COMBINED = 200
#: cells of a table that are not in the file but taken to be empty: more than a large table has
FILLED_CELLS = 20_000_000
#: bytes of memory and seconds of CPU time that a child process may use to read a small file of a foreign format, or to
#: match a regular expression; and bytes of a file for which it gets another second
CHILD_MEMORY = 500_000_000
CHILD_SECONDS = 8
CHILD_BYTES = 100_000
#: bytes that a packed file may become whatever its size, and times its size beyond: text is packed to a tenth or a
#: fiftieth, a file made to fill the memory to a thousandth
UNPACKED = 50_000_000
UNPACKED_TIMES = 100
#: objects and lists within each other in JSON: annotation tools nest to 12; Python's own limit is the stack
JSON_DEPTH = 100
#: keys of one object in JSON, each of which is looked at: dialogues by their ids are tens of thousands
JSON_KEYS = 200_000
#: values in lists of a Parquet file, which become objects of Python
LISTED = 2_000_000
#: characters of the name of a column: forms have the whole text that is judged in it, of up to 16,000
COLUMN = 50_000
#: characters of a cell that `new` looks at: an answer has hundreds, a dialogue thousands
GUESSED_TEXT = 20_000
#: rows of a table that `new` looks at: a million takes it a minute and a gigabyte
GUESSED_ROWS = 2_000_000
#: empty lines of a table: one between dialogues, not a file made of them
EMPTY_LINES = 1_000_000
#: bytes of a file that are read at a time
BLOCK = 1 << 24
#: digits of a number in JSON: the longest id (128 bits) has 39
JSON_DIGITS = 50
#: problems of one file that are listed before reading it stops; the message shows 20 kinds of them
PROBLEMS = 500

#: the largest 32-bit whole number, in which turns and places are stored
INT32 = 2**31 - 1

#: rows of a CSV of results with its head: Excel's. With more there is only the parquet, a fifteenth of the size
SHEET_ROWS = 1_048_576
