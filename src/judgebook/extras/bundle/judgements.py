"""The judgements of a study as they may be passed on: without what tells who somebody is. What was done for that.

The words of the YAML on its licence say whether that is allowed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from judgebook import project
from judgebook.annotations.summary import TOKEN
from judgebook.extras.bundle import identifiers
from judgebook.extras.bundle.finished import BundleError, Finished, Part, json_bytes, refuse_changed
from judgebook.extras.bundle.identifiers import masked
from judgebook.questions.metrics import text_metrics
from judgebook.sources.ids import look_alikes, private
from judgebook.sources.ids.naming import OWN_IDS, TEXTS, Names
from judgebook.sources.instead.shared import ABOUT, FOLDER, SCORES, SPELLINGS
from judgebook.study import escape, schema

#: what it is in a row, by frame: for lists of contents
ROWS = {
    "annotations": "Judgements, one in a row: item, system, annotator, label, score",
    "dialogues": "Dialogues, or their turns, one in a row",
    "metric_scores": "Scores of automatic metrics",
    "screening": "Attempts at training dialogues",
    "work_units": "Tasks as they were handed in, with their times",
    "dialogue_facts": "What is known of dialogues",
    "counts": "What was read, kept and left out",
    SCORES: "Scores of turns by metrics that were computed from their texts",
    SPELLINGS: "Annotators whose ids in the source are spelt alike, by pseudonyms",
}
#: of which stand-ins are made. A line of one letter needs one of its own for each such line: more than an alphabet has
_LETTERS = [*"abcdefghijklmnopqrstuvwxyz", *map(chr, range(0x4E00, 0x9FA6))]
#: columns of ids that get running numbers where one of them holds the id of a platform
_ITEMS = {"dialogue": ("dialogue", "dialogue_b"), "session": ("session",), "context": ("context",)}
#: columns in which such an id cannot be replaced: the report has these names
_NAMES = ("corpus", "group", "system", "system_b", "label", "task", "metric", "part", "file", "reason")


@dataclass(frozen=True)
class Deed:
    """Something done before judgements were passed on. kind : a sentence of `text.md.j2`. column : `frame.column`, or
    the key of a fact. n : how many values; kinds : what was found in them -> how often."""

    kind: str
    column: str
    n: int
    kinds: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Shared:
    """frames : those of the schema that have rows. renamed : item as the study calls it -> as the bundle does.
    few : places in the study (corpus and group) -> people, where these are few."""

    frames: dict[str, pd.DataFrame]
    licence: Licence
    texts: bool
    texts_left_out: int
    ids_left_out: int
    deeds: list[Deed]
    few: dict[str, int]
    renamed: dict[str, str]

    def parts(self) -> Iterator[Part]:
        """The files of a bundle."""
        about = {
            "licence": self.licence.name,
            "texts_left_out": self.texts_left_out,
            "ids_left_out": self.ids_left_out,
            "done": [{"what": d.kind, "where": d.column, "n": d.n, "of": d.kinds} for d in self.deeds],
        }
        yield Part(f"{FOLDER}/{ABOUT}", json_bytes(about), "What was left out or made coarser before sharing")
        for name, frame in self.frames.items():
            yield Part(f"{FOLDER}/{name}.csv", escape.csv(frame).encode(), ROWS[name])


def share(of: Finished, *, texts: bool) -> Shared:
    """The judgements of a finished study, looked through for what tells who somebody is.

    texts : dialogues and reasons, too, with ids and addresses masked.
    Raises BundleError where no licence permits it, or where what tells cannot be taken out without changing the report.
    """
    licence = permitting(of.study.licence)
    own = private.own_ids(of.folder)
    if any(name[:1] == "A" for name in own.values()) and of.study.pseudonyms != "shuffled":
        raise BundleError(
            "people are numbered in the order of the files, which may be that of names or ids: nothing was written. "
            f"Run `{project.command()} --study {of.key} --set pseudonyms=shuffled` (or write `pseudonyms: shuffled` in "
            "the YAML), then bundle again"
        )
    for name, sha in of.steps.get("annotations", {}).get("outputs", {}).items():
        refuse_changed(name, sha, of.key)
    frames = {name: _read(of.folder / f"{name}.parquet") for name in schema.FRAMES}
    marks = frames["annotations"]
    if not own and not _embedded(of) and marks.loc[marks["annotator_kind"] == "human", "annotator_known"].any():
        raise BundleError(
            f"{OWN_IDS} of the run is missing: without it, ids of people are not found in what is shared; nothing was "
            f"written. Run `{project.command()} --study {of.key} --force` again"
        )
    frames = {name: frame for name, frame in frames.items() if len(frame)}
    _refuse_names(frames)
    deeds: list[Deed] = []
    left_out = 0
    if texts:
        frames = _masked(frames, Names(own), deeds)
    else:
        left_out = sum(int(frames[n][c].notna().sum()) for n, c in _columns(frames, TEXTS))
        frames = _stood_in(frames) | {SCORES: _text_scores(of, frames)}
    frames = {n: f for n, f in (frames | {SPELLINGS: _spellings(of, frames)}).items() if len(f)}
    frames = _days(frames, deeds)
    frames, renamed = _numbered(frames, deeds)
    frames = _facts(frames, deeds)
    frames, few = identifiers.reviewed(frames, lambda kind, column, n: deeds.append(Deed(kind, column, n)))
    frames = {name: frame.dropna(axis=1, how="all") for name, frame in frames.items()}
    return Shared(frames, licence, texts, left_out, len(own), deeds, few, renamed)


def _embedded(of: Finished) -> bool:
    """Whether the data come with the project, which never had own ids."""
    return any(part.startswith("embedded ") for part in of.steps.get("annotations", {}).get("parts", {}))


def _read(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path).drop(columns="study", errors="ignore") if path.is_file() else pd.DataFrame()


def _columns(frames: Mapping[str, pd.DataFrame], columns: Mapping[str, list[str]]) -> list[tuple[str, str]]:
    return [(name, c) for name, of_frame in columns.items() if name in frames for c in of_frame if c in frames[name]]


def _found(values: pd.Series) -> Counter[str]:
    """Kinds of what tells who somebody is, in the different values of a column."""
    kinds: Counter[str] = Counter()
    for value in values.dropna().astype(str).unique():
        kinds += masked(value)[1]
    return kinds


def _refuse_names(frames: Mapping[str, pd.DataFrame]) -> None:
    for name, frame in frames.items():
        for column in (c for c in _NAMES if c in frame and c not in TEXTS.get(name, [])):
            if kinds := _found(frame[column]):
                what = ", ".join(f"{kind} ({n})" for kind, n in kinds.items())
                raise BundleError(
                    f"{FOLDER}/{name}.csv, column {column}: expected names that tell nobody, found {what}: nothing was "
                    "written. Rename them (`spelling:`, or the name of the file), and run the study again"
                )


def _masked(frames: dict[str, pd.DataFrame], own: Names, deeds: list[Deed]) -> dict[str, pd.DataFrame]:
    out = dict(frames)
    for name, column in _columns(frames, TEXTS):
        cleared = {text: masked(text, own) for text in frames[name][column].dropna().unique()}
        kinds = sum((k for _, k in cleared.values()), Counter[str]())
        if kinds:
            changed = {text: new for text, (new, found) in cleared.items() if found}
            out[name] = out[name].assign(**{column: out[name][column].map(lambda t, c=changed: c.get(t, t))})
            deeds.append(Deed("masked", f"{name}.{column}", len(changed), dict(kinds)))
    return out


def _stood_in(frames: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Frames with a stand-in for each text."""
    out, made = dict(frames), StandIns()
    for name, column in _columns(frames, TEXTS):
        new = made.of(frames[name][column].dropna().unique())
        out[name] = out[name].assign(**{column: frames[name][column].map(new)})
    return out


def _days(frames: dict[str, pd.DataFrame], deeds: list[Deed]) -> dict[str, pd.DataFrame]:
    """Times as days. Their order within a day stays, as that of microseconds after midnight: what is computed from the
    order of judgements can be computed again."""
    timed = [name for name, frame in frames.items() if "completed_at" in frame and frame["completed_at"].notna().any()]
    if not timed:
        return frames
    times = pd.Series(pd.concat([frames[name]["completed_at"] for name in timed]).dropna().unique())
    day = times.dt.normalize()
    coarse = day + pd.to_timedelta(times.groupby(day).rank(method="dense") - 1, unit="us")
    new = dict(zip(times, coarse.astype("datetime64[us]"), strict=True))
    deeds.append(Deed("days", "completed_at", len(times)))
    return frames | {n: frames[n].assign(completed_at=frames[n]["completed_at"].map(new)) for n in timed}


def _numbered(frames: dict[str, pd.DataFrame], deeds: list[Deed]) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """Frames with running numbers for items, where the name of one holds the id of a platform.

    Numbers are in the order of the names: ties between systems are broken by sums, whose last digit depends on it.
    """
    renamed: dict[str, str] = {}
    for kind, columns in _ITEMS.items():
        values = pd.concat([f[c] for f in frames.values() for c in columns if c in f]).dropna().unique()
        kinds = _found(pd.Series(values, dtype=object))
        if kinds:
            new = {value: f"{kind[0].upper()}{i:05d}" for i, value in enumerate(sorted(values), start=1)}
            frames = {n: f.assign(**{c: f[c].map(new) for c in columns if c in f}) for n, f in frames.items()}
            deeds.append(Deed("numbered", kind, len(new), dict(kinds)))
            renamed |= new
    return frames, renamed


def _facts(frames: dict[str, pd.DataFrame], deeds: list[Deed]) -> dict[str, pd.DataFrame]:
    """Facts of dialogues, with running numbers for values that hold ids."""
    if "dialogue_facts" not in frames:
        return frames
    facts = frames["dialogue_facts"]
    values = facts["value"].astype(object)
    for key, rows in facts.groupby("key", sort=False):
        if kinds := _found(rows["value"]):
            new = {value: f"{key}-{i}" for i, value in enumerate(rows["value"].unique(), start=1)}
            values.loc[rows.index] = rows["value"].map(new)
            deeds.append(Deed("numbered", f"dialogue_facts.value, key {key}", len(new), dict(kinds)))
    return frames | {"dialogue_facts": facts.assign(value=values)}


class StandIns:
    """Stand-ins for texts that are not shared, so that what is counted in them comes out again.

    A stand-in has as many lines as its text, and each line as many words (by white space), tokens (`summary.TOKEN`) and
    characters as that of the text; where lines are the same, so are their stand-ins, and nowhere else.
    """

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


def _text_scores(of: Finished, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Scores of turns by the text metrics that notebook 09 computed: corpus, dialogue, turn, metric, score. Empty where
    it computed none."""
    path = of.folder / "cache" / "text_metrics.parquet"
    earlier = pd.read_parquet(path) if path.is_file() else pd.DataFrame({"metric": []})
    if earlier.empty or "dialogues" not in frames:
        return pd.DataFrame()
    metrics = [m for m in text_metrics.METRICS if m in set(earlier["metric"])]
    items = text_metrics.items(frames["dialogues"], frames["annotations"])
    return text_metrics.compute(items, metrics, earlier)[0]


def _spellings(of: Finished, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
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


_CC = re.compile(
    r"CC[ -]?BY((?:[ -](?:NC|SA|ND))*)(?:[ -](\d\.\d))?(?: international)?|creative commons attribution(?: (\d\.\d))?",
    re.I,
)
#: how it may be written -> identifier of SPDX, address
_OTHERS = {
    r"CC[ -]?0(?:[ -]1\.0)?|public domain": ("CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
    r"MIT(?: licen[cs]e)?": ("MIT", "https://spdx.org/licenses/MIT.html"),
    r"Apache(?: licen[cs]e)?[ -,]*2(?:\.0)?": ("Apache-2.0", "https://www.apache.org/licenses/LICENSE-2.0"),
    r"BSD[ -]2(?:-clause)?": ("BSD-2-Clause", "https://spdx.org/licenses/BSD-2-Clause.html"),
    r"BSD[ -]3(?:-clause)?": ("BSD-3-Clause", "https://spdx.org/licenses/BSD-3-Clause.html"),
    r"GPL[ -]?v?3(?:\.0)?(?:-or-later|-only)?": ("GPL-3.0-only", "https://www.gnu.org/licenses/gpl-3.0.html"),
    r"ODC[ -]?BY(?:[ -]1\.0)?": ("ODC-By-1.0", "https://opendatacommons.org/licenses/by/1-0/"),
    r"ODbL(?:[ -]1\.0)?": ("ODbL-1.0", "https://opendatacommons.org/licenses/odbl/1-0/"),
    r"PDDL(?:[ -]1\.0)?": ("PDDL-1.0", "https://opendatacommons.org/licenses/pddl/1-0/"),
    r"(?:O-UDA|Open Use of Data Agreement)(?:[ -]v?1\.0)?": ("O-UDA-1.0", "https://spdx.org/licenses/O-UDA-1.0.html"),
    r"CDLA[ -]Permissive[ -]2\.0": ("CDLA-Permissive-2.0", "https://cdla.dev/permissive-2-0/"),
}
_REFUSED = re.compile(r"\b(?:none|not? stated|no licen[cs]e|unknown|all rights reserved|on request)\b", re.I)


@dataclass(frozen=True)
class Licence:
    """name : identifier of SPDX. url : where its text is. text : as the YAML has it."""

    name: str
    url: str
    text: str


def read(text: str) -> Licence | None:
    """The licence that a YAML names; None where it names none of ours, or says more than a name and a remark in
    parentheses."""
    if _REFUSED.search(text):
        return None
    parts = [re.sub(r"\s*\([^()]*\)\s*", " ", part).strip() for part in text.split(";")]
    for part in parts:
        if match := _CC.fullmatch(part):
            kind = "".join(f"-{word}" for word in re.findall(r"NC|SA|ND", (match[1] or "").upper()))
            version = match[2] or match[3] or "4.0"
            address = f"https://creativecommons.org/licenses/by{kind.lower()}/{version}/"
            return Licence(f"CC-BY{kind}-{version}", address, text)
        for pattern, (name, url) in _OTHERS.items():
            if re.fullmatch(pattern, part, re.IGNORECASE):
                return Licence(name, url, text)
    return None


def permitting(text: str) -> Licence:
    """The licence under which judgements go into a bundle. Raises BundleError that says what to write."""
    found = read(text)
    if found is not None and "-ND" not in found.name:
        return found
    if found is not None:
        why = f"`licence: {text}` does not permit data in another form (ND), which a bundle has"
    elif not text:
        why = "the YAML does not say under which licence the judgements are"
    else:
        why = f"`licence: {text}` does not say clearly that judgements may be passed on"
    raise BundleError(
        f"{why}: nothing was written. If they are yours, or their owner permits it, write the licence in the YAML, "
        "such as `licence: CC BY 4.0` or `licence: MIT`, remarks in parentheses, and run the study again; or leave out "
        "--with-judgements"
    )
