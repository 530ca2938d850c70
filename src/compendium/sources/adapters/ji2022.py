"""Live chats rated on sliders by the person who chatted (Ji et al. 2022, Achieving reliable human assessment, ACL).

Two kinds of file make a run. MTurk result files (CSV) have one row per assignment: one worker chats with six systems,
one of them a deliberately degraded control, and rates each chat. Their scores are as typed, so that a high *robotic*
or *repetitive* is bad. The authors' JSON files, split by their quality control, repeat the chats and alone say
which systems had a persona; they are joined on assignment and position, and must agree with the CSV.
"""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from compendium.sources.adapters import ji2022_chat as chat
from compendium.sources.adapters.options.ji2022 import Ji2022, Ji2022Run
from judgebook.sources import json_text
from judgebook.sources.files import read_csv, read_json
from judgebook.sources.reading import Counts, OpenFile, Reading
from judgebook.sources.records import Checked
from judgebook.study.schema import DataError, Problem

_COLUMNS = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "WorkTimeInSeconds", "Answer.taskAnswers"]
_CHATS = 6
_FRAMES = {
    "annotations": "annotator work_unit seconds system dialogue session label score file where",
    "dialogues": "dialogue system session turn order_shown user_text system_text interactor",
    "work_units": "work_unit annotator task part n_dialogues seconds",
    "dialogue_facts": "dialogue turn key value text",
}
_TOPICS = {
    "topic_opinion": ("topic_opinion", "topic"),
    "topic_change_opinion": ("topic_chatbot_opinion", "topic_change_opinion"),
}


def read(source: Ji2022, open_file: OpenFile) -> Reading:
    """One annotation per chat and criterion (`continuous`, 0 to 100); each run is a corpus.

    - Scores of the criteria in `reverse` are stored as 100 − x, so that high is good everywhere; counted as mended.
    - The system is the model of the JSON files in lower case (`a`, `a_p` with persona, …), or `control`; without JSON
      files it is the model type of the CSV.
    - A chat is a dialogue `<run>-<assignment>-<position>`; an assignment is a work unit, whose seconds cover all six.
    - An assignment without answers is no dialogue but stays a work unit: the paper counts its worker and its time.
    - Facts of a chat: `hit`, `hit_status`, `payment`, `released_pass` and `fitted_pass` (yes or no), which concern the
      whole assignment; `topic_opinion` and `topic_change_opinion` by round, with the topic, or who changed it, as text.
    - Some workers type their id, an e-mail address or a phone number into the chat: these are taken out and counted.
    """
    counts = Counts()
    runs = [_Run(corpus, run, source, counts) for corpus, run in source.runs.items()]
    for run in runs:
        run.read(open_file)
    frames = {
        name: pd.concat(
            [pd.DataFrame(run.rows[name], columns=columns.split()).assign(corpus=run.corpus) for run in runs],
            ignore_index=True,
        )
        for name, columns in _FRAMES.items()
    }
    frames["annotations"]["method"] = "continuous"
    return Reading(**frames, counts=counts, problems=[problem for run in runs for problem in run.problems])


class _Run:
    """The assignments of one run, and what was found in them."""

    def __init__(self, corpus: str, run: Ji2022Run, source: Ji2022, counts: Counts):
        self.corpus, self.run, self.source, self.counts = corpus, run, source, counts
        self.rows: dict[str, list[tuple]] = {name: [] for name in _FRAMES}
        self.problems: list[Problem] = []
        self._released: dict[str, tuple[dict, bool]] = {}
        self._hits: dict[str, str] = {}
        self._types: dict[str, str] = {}
        self._mask = chat.Mask(())
        self._n = 0
        self._places: dict[str, str] = {}

    def read(self, open_file: OpenFile) -> None:
        for names, passed in ((self.run.passed, True), (self.run.failed, False)):
            for name in names:
                self._read_released(name, passed, open_file)
        tables = {name: read_csv(open_file(name), name, columns=_COLUMNS) for name in self.run.files}
        self._mask = chat.Mask({id_ for table in tables.values() for id_ in table["WorkerId"]})
        for name, table in tables.items():
            checked, before = Checked(name), self._mask.n
            for n, cells in table.iterrows():
                self._assignment(cells, f"row {n}", checked)
            self.problems += checked.problems
            self._count(
                name,
                "texts",
                "mended",
                "a worker's id, e-mail address or phone number taken out",
                self._mask.n - before,
            )
        self._check_seen([id_ for table in tables.values() for id_ in table["AssignmentId"]])

    def _read_released(self, name: str, passed: bool, open_file: OpenFile) -> None:
        checked = Checked(name)
        for i, record in enumerate(read_json(open_file(name), name, list)):
            assignment = checked.get(record, "AssignmentId", str, f"record {i}")
            chats = checked.get(record, "data", list, f"record {i}")
            if assignment is not None and chats is not None:
                self._released[assignment] = (record, passed)
        self.problems += checked.problems

    def _check_seen(self, seen: list[str]) -> None:
        for key in ("fitted_passed", "fitted_failed"):
            for place in sorted(set(getattr(self.run, key)) - set(range(len(seen)))):
                expected = f"positions of assignments in the CSV files, 0 to {len(seen) - 1}"
                self.problems.append(Problem(f"runs.{self.corpus}", "", key, expected, str(place)))
        absent = set(self._released) - set(seen)
        if absent:
            name, others = (self.run.passed + self.run.failed)[0], f"{len(absent)} others"
            self.problems.append(Problem(name, "", "AssignmentId", "assignments of the CSV files", others))

    def _count(self, file: str, what: str, action: str, reason: str = "", n: int = 1) -> None:
        self.counts.add(file, what, action, reason, n, corpus=self.corpus)

    def _assignment(self, cells: pd.Series, where: str, checked: Checked) -> None:
        place = self._n
        session = f"{self.corpus}-{place:03d}"
        self._n += 1
        if not self._identified(cells, where, checked):
            return
        answers = _answers(cells["Answer.taskAnswers"])
        if answers is None:
            content = cells["Answer.taskAnswers"]
            checked.report(where, "Answer.taskAnswers", "a JSON list with one object", content)
            return
        self._count(checked.file, "assignments", "read")
        done = any(f"task{i}" in answers for i in range(_CHATS))
        n_chats = _CHATS if done else 0
        unit = (cells["AssignmentId"], cells["WorkerId"], "hit", "whole", n_chats, cells["WorkTimeInSeconds"])
        self.rows["work_units"].append(unit)
        if not done:
            self._count(checked.file, "assignments", "dropped", "no answers; kept as a work unit")
            return
        self._count(checked.file, "assignments", "kept")
        facts = self._facts_of(cells, place)
        for i in range(_CHATS):
            self._chat(cells, answers, i, session, facts, f"{where}, chat {i}", checked)

    def _identified(self, cells: pd.Series, where: str, checked: Checked) -> bool:
        """Whether a row says who did which assignment, one not yet read; reports what is wrong."""
        empty = [key for key in ("AssignmentId", "WorkerId") if not cells[key].strip()]
        for key in empty:
            checked.report(where, key, "a value", "nothing", "fill it in, or delete the row")
        if empty:
            return False
        first = self._places.setdefault(cells["AssignmentId"].strip(), f"{checked.file}, {where}")
        if first != f"{checked.file}, {where}":
            repeat, hint = f"a repeat of {first}", "delete one of the rows"
            checked.report(where, "AssignmentId", "each assignment once", repeat, hint)
            return False
        return True

    def _facts_of(self, cells: pd.Series, place: int) -> dict[str, str]:
        """What is known of an assignment and said of each of its chats. place : its number in the run."""
        assignment = cells["AssignmentId"]
        hit = self._hits.setdefault(cells["HITId"], f"h{len(self._hits):03d}")
        facts = {"hit": hit, "hit_status": cells["AssignmentStatus"]}
        if paid := cells.get("Reward", "").strip().removeprefix("$"):
            facts["payment"] = paid
        if assignment in self._released:
            released = fitted = self._released[assignment][1]
            fitted = (fitted or place in self.run.fitted_passed) and place not in self.run.fitted_failed
            facts["released_pass"] = "yes" if released else "no"
            if self.run.fitted_passed or self.run.fitted_failed:
                facts["fitted_pass"] = "yes" if fitted else "no"
        return facts

    def _chat(
        self, cells: pd.Series, answers: dict, i: int, session: str, facts: dict, where: str, checked: Checked
    ) -> None:
        parsed = self._parsed(answers, i, where, checked)
        system = self._system(cells, i, *parsed, where, checked) if parsed else None
        if parsed is None or system is None:
            return
        _, good, turns = parsed
        dialogue, who = f"{session}-{i}", cells["WorkerId"]
        mark = (who, cells["AssignmentId"], cells["WorkTimeInSeconds"], system, dialogue, session)
        self.rows["annotations"] += [(*mark, label, score, checked.file, where) for label, score in good.items()]
        for turn, (user, said) in enumerate(turns):
            texts = (self._mask(user), self._mask(said))
            self.rows["dialogues"].append((dialogue, system, session, turn, i, *texts, who))
        self.rows["dialogue_facts"] += [(dialogue, None, key, value, None) for key, value in facts.items()]
        self._topics(answers, i, dialogue, where, checked)
        self.counts.add_kept(checked.file, self.corpus, dialogues=1, annotations=len(good))
        mended = len(good.keys() & set(self.source.reverse))
        self._count(checked.file, "annotations", "mended", "reversed to 100 - x, so that high is good", mended)

    def _parsed(self, answers: dict, i: int, where: str, checked: Checked) -> tuple[str, dict, list] | None:
        """(model type, scores so that high is good, turns) of a chat; None, and reported, where one cannot be read."""
        task, typed, text = (checked.get(answers, f"{key}{i}", str, where) for key in ("task", "score", "dialogue"))
        if None in (task, typed, text):
            return None
        criteria = self.source.criteria
        scores, turns = chat.scores(typed, len(criteria)), chat.turns(text)
        if scores is None:
            checked.report(where, f"score{i}", f"{len(criteria)} whole numbers, each followed by #", typed)
        if turns is None:
            checked.report(where, f"dialogue{i}", "`u: …###b: …###`", text)
        if scores is None or turns is None:
            return None
        good = {c: 100 - x if c in self.source.reverse else x for c, x in zip(criteria, scores, strict=True)}
        return task, good, turns

    def _system(
        self, cells: pd.Series, i: int, task: str, good: dict, turns: list, where: str, checked: Checked
    ) -> str | None:
        """The system of a chat; reports a chat that the JSON files lack or give differently."""
        if not self._released:
            return task
        record, _ = self._released.get(cells["AssignmentId"], ({}, False))
        entries = record.get("data", [])
        entry = entries[i] if i < len(entries) and isinstance(entries[i], dict) else {}
        model = entry.get("model")
        replies = entry.get("dialogue", [])
        replies = [r for r in replies if isinstance(r, dict)] if isinstance(replies, list) else []
        said = [(str(r.get("user")).strip(), str(r.get("bot")).strip()) for r in replies]
        same = record.get("WorkerId") == cells["WorkerId"] and entry.get("raw scores") == good and said == turns
        if not isinstance(model, str) or not same:
            expected = "the same worker, scores and text in the JSON files (joined on assignment and position)"
            checked.report(where, "", expected, "another chat" if entry else "none")
            return None
        kind = self._types.setdefault(model.removesuffix("_p"), task)
        if kind != task:
            checked.report(where, f"task{i}", f"{kind}, which is model {model} elsewhere in the JSON files", task)
            return None
        return self.source.control if task == self.source.control else model.lower()

    def _topics(self, answers: dict, i: int, dialogue: str, where: str, checked: Checked) -> None:
        for key, (opinions, about) in _TOPICS.items():
            values, texts = (chat.rounds(str(answers.get(f"{name}{i}") or "")) for name in (opinions, about))
            if [n for n, _ in values] != [n for n, _ in texts]:
                checked.report(where, f"{opinions}{i}", f"the rounds of {about}{i}", str(answers.get(f"{opinions}{i}")))
                continue
            for (n, value), (_, text) in zip(values, texts, strict=True):
                self.rows["dialogue_facts"].append((dialogue, n, key, value, self._mask(text)))


def _answers(text: str) -> dict[str, Any] | None:
    """The one object of `Answer.taskAnswers`; None when it is not that."""
    try:
        value = json_text.parse(text, "", "a cell")
    except (json.JSONDecodeError, DataError):
        return None
    return value[0] if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) else None
