"""Public files as they are, shuffled, without names and with names in other languages: `public.csv` says what they hold
and what is read of each today, which may only get better."""

import csv
from fnmatch import fnmatch
from pathlib import Path

import pytest

from doors import public_structure as public
from doors import reading
from judgebook.extras.new.asking.terminal import carried, settle
from judgebook.extras.new.draft import drafted
from judgebook.extras.new.words import label_id
from judgebook.sources import build
from judgebook.study import params
from judgebook.study.schema import DataError

#: a question is open, but none of its first three answers is right
BADLY = "asked badly"
OUTCOMES = [reading.RIGHT, reading.ASKED, BADLY, reading.REFUSED, reading.WRONG, reading.CRASHED]
FILES = [*csv.DictReader((Path(__file__).parent / "public.csv").read_text(encoding="utf-8").splitlines())]
_ABOUT = dict(
    zip(
        public.FACTS,
        [reading.ABOUT[f] for f in ("scores by system", "annotators", "items", "labels", *3 * ["who judged what"])],
        strict=True,
    )
)
_ALL = tuple({begin for facts in reading.ABOUT.values() for begin in facts})


def tried(data, file, optional, answers):
    """What differs of what is read with answers to questions, what was drafted, and what was said."""

    def ask(prompt):
        text = prompt.partition("\n")[0].partition(": ")[2]
        return next((str(n) for t, n in answers.items() if text.startswith(t)), "")

    draft = None
    try:
        draft = drafted("door", data, data.parent)
        if answers:
            draft = settle(draft, lambda given: drafted("door", data, data.parent, given), ask)
        path = data.parent / "door.yaml"
        path.write_text(carried(draft), encoding="utf-8")
        read = reading.judgements(build.build(params.load(path)))
    except (DataError, params.ParamsError) as error:
        return [reading.CRASHED if "this is a bug" in str(error) else reading.REFUSED], draft, str(error)
    except Exception as error:
        return [reading.CRASHED], draft, f"{type(error).__name__}: {error}"
    seen = public.facts(r for r in read if not optional(r.label))
    differs = [f for f in public.FACTS if file[f] and seen[f] not in file[f].split("|")]
    return differs, draft, "; ".join(f"{f}: expected {file[f]}, read {seen[f]}" for f in differs)


def _badness(differs):
    return 9 if differs and differs[0] in OUTCOMES else len(differs)


def outcome(data, file, optional, *, search):
    """What becomes of a file, and what was said with Enter. search : whether to look for answers that mend it among the
    first three of each question, the one that helps most first; else those of open questions count as wrong."""
    differs, draft, said = tried(data, file, optional, {})
    asked = draft and any(q.fact.startswith(_ABOUT.get(f, _ALL)) for f in differs for q in draft.questions)
    answers, left = {}, differs
    while search and left and draft and len(answers) < 2:
        open_ = [q for q in draft.questions if q.fact.startswith(_ALL) and q.text not in answers]
        ways = [{**answers, q.text: n} for q in open_[:4] for n in (2, 3)[: len(q.alternatives)]]
        found = min(((tried(data, file, optional, w), w) for w in ways), key=lambda x: _badness(x[0][0]), default=None)
        if found is None or _badness(found[0][0]) >= _badness(left):
            break
        (left, draft, _), answers = found
    if not left:
        return (reading.ASKED if answers else reading.RIGHT), f"{said} {answers or ''}"
    if _badness(differs) == 9:
        return differs[0], said
    return (BADLY if asked else reading.WRONG), said


def read(file, which, folder, place, *, search):
    """`outcome` of a version of a file below `folder`."""
    path = folder / file["path"]
    text, end, names = public.version(path, file["by"], which)
    data = place / ((path.stem if which in public.VERSIONS[:2] else "data") + end)
    data.write_text(text, encoding="utf-8")
    read, also = public.content(path, file["by"]), [a for a in file["also"].split("; ") if a]
    columns = read[0] if isinstance(read, tuple) else also
    more = [label_id(names.get(c, c)) for c in columns if any(fnmatch(c, pattern) for pattern in also)]
    # a label may be called as its columns begin or end
    may = {x for c in more for x in (c, c.rstrip("0123456789_"), *c.rpartition("_")[::2], c.partition("_")[2])}
    return outcome(data, file, may.__contains__, search=search)


@pytest.mark.evidence
@pytest.mark.parametrize("file", FILES, ids=lambda file: file["path"].rpartition("/")[2])
def test_read_no_worse_than_recorded(file, raw_data, tmp_path):
    worse = {}
    for which in public.VERSIONS:
        (place := tmp_path / which).mkdir()
        found, said = read(file, which, raw_data.parent, place, search=file[which] == reading.ASKED)
        if OUTCOMES.index(found) > OUTCOMES.index(file[which]):
            worse[which] = (found, said)
    assert worse == {}
