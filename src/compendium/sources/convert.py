"""From upstream files to the derived files some adapters read: for data whose derived copy has no public address.

Each converter takes the paths of upstream files and returns tables whose cells are text, as they stand in the CSV.
Ids of people are replaced by numbers; texts of dialogues are left out where ratings and scores come without them.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from judgebook.sources.fetch import Converter
from judgebook.sources.files import read_json, read_text
from judgebook.sources.records import slug
from judgebook.study.schema import DataError, Problem

_END = "<|endoftext|>"
_BLANK = re.compile(r"\s*")
_DSTC9 = (
    *("coherent", "error recovery", "consistent", "diverse", "topic depth", "likeable", "understanding", "flexible"),
    *("informative", "inquisitive", "human (overall)"),
)
_SPOT_MARKS = {"fluency": "fluencyValue", "sensible": "sensitivenessValue", "specific": "specificityValue"}


def _wrong(file: str, where: str, expected: str, content: Any) -> DataError:
    hint = "the upstream file may have changed: fetch the commit that the registry names"
    return DataError([Problem(file, where, "", expected, str(content)[:80], hint)])


def fed_metric_scores(turns: Path, dialogues: Path, ratings: Path) -> pd.DataFrame:
    """`fed_metric_scores.csv` from the two score files of DSincerity/FED_Replication and `fed_data.json`.

    The score files are pretty-printed JSON objects one after the other, in the order of their level in the ratings file
    (their own `idx` is not usable); every text is compared. Raises DataError where one differs.
    """
    records = read_json(ratings, ratings.name, list)
    rows = []
    for path, level in ((turns, "turn"), (dialogues, "dialog")):
        entries = list(_objects(read_text(path, path.name), path.name))
        places = [i for i, record in enumerate(records) if ("response" in record) == (level == "turn")]
        if len(entries) != len(places):
            raise _wrong(path.name, "", f"{len(places)} objects, one per {level} record", len(entries))
        for entry, i in zip(entries, places, strict=True):
            if _plain(entry["input"].split(_END)) != _heard(records[i]):
                raise _wrong(path.name, f"object for record {i}", "the text of that record", "another text")
            scores = {slug(name): repr(score) for name, score in entry["score"].items()}
            rows.append({"fed_index": i, "level": level, "system": records[i]["system"], **scores})
    return pd.DataFrame(rows).sort_values("fed_index", ignore_index=True).astype(str)


def _objects(text: str, name: str) -> Iterator[dict]:
    """JSON objects that stand one after the other."""
    decoder, at = json.JSONDecoder(), 0
    while (at := _BLANK.match(text, at).end()) < len(text):  # type: ignore[union-attr]  # it fits anywhere
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise _wrong(name, f"line {error.lineno}", "JSON objects one after the other", error.msg) from None
        yield value


def _plain(parts: Iterable[str]) -> list[str]:
    return [" ".join(part.split()) for part in parts if part.strip()]


def _heard(record: dict) -> list[str]:
    lines = [*record["context"].split("\n"), *([record["response"]] if "response" in record else [])]
    return _plain(line.partition(":")[2] for line in lines)


def dstc9_ratings(paths: list[Path]) -> pd.DataFrame:
    """`ratings.csv` of DSTC9 from the files `chatbot<n>.json` of ictnlp/DialoFlow (a system is the stem of its file).

    Records of one text are ratings of one dialogue: `dialogue` numbers the texts of a system, `slot` the records of a
    text. The flow score stands in one record of a text only and holds for all. A rating that is "N/A" becomes empty.
    """
    rows = []
    for path in paths:
        numbers: dict[str, int] = {}
        slots: dict[str, int] = {}
        records = read_json(path, path.name, list)
        flow = {r["context"]: r["flow"] for r in records if "flow" in r}
        for record in records:
            text = record["context"]
            slot = slots[text] = slots.get(text, -1) + 1
            said = [line.partition(":") for line in text.split("\n") if line.strip()]
            words = {s: sum(len(w.split()) for who, _, w in said if who == s) for s in ("User", "System")}
            ratings = {slug(k): _rating(record[k], path.name) for k in _DSTC9}
            rows.append(
                {
                    "system": path.stem,
                    "dialogue": numbers.setdefault(text, len(numbers)),
                    "slot": slot,
                    **ratings,
                    "flow_score": repr(flow[text]) if text in flow else "",
                    "n_utterances": len(said),
                    "n_user_words": words["User"],
                    "n_system_words": words["System"],
                }
            )
    return pd.DataFrame(rows).astype(str)


def _rating(value: Any, file: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is None or (isinstance(value, str) and value.strip().upper().startswith("N/A")):
        return ""
    raise _wrong(file, "", "a whole number or N/A", repr(value))


def spot_the_bot(dump: Path, domains: tuple[str, ...] = ("convai2", "dailydialog")) -> dict[str, pd.DataFrame]:
    """`annotations_<domain>.csv` by domain, from the database dump of jderiu/spot-the-bot-code.

    Collections `annotated-dialogues-full-<domain>` and `sampled-dialogues-full-<domain>` are joined on the chat. The
    cut is half the turn at which the annotator decided; the side with more points (person 2, unsure 1, bot 0) wins.
    People are numbered `S001`… by first appearance over the domains.
    """
    people: dict[str, str] = {}
    return {domain: _spot_domain(dump, domain, people) for domain in domains}


def _spot_domain(dump: Path, domain: str, people: dict[str, str]) -> pd.DataFrame:
    chats = {_id(chat["_id"]): chat for chat in _collection(dump, f"sampled-dialogues-full-{domain}.json")}
    rows = []
    for i, mark in enumerate(_collection(dump, f"annotated-dialogues-full-{domain}.json")):
        convo, sides = _id(mark["convo_id"]), [mark["entity0_annotation"], mark["entity1_annotation"]]
        if convo not in chats:
            raise _wrong(dump.name, f"{domain}, annotation {i}", "a chat of the sampled dialogues", convo)
        names = [chats[convo][f"system_type{s}"] for s in (0, 1)]
        points = [{True: 2, None: 1, False: 0}[side["is_human"]] for side in sides]
        answers = {f"is_human{s}": {2: "1", 1: "", 0: "0"}[points[s]] for s in (0, 1)}
        marks = {f"{ours}{s}": int(bool(sides[s][key])) for ours, key in _SPOT_MARKS.items() for s in (0, 1)}
        rows.append(
            {
                "domain": domain,
                "annotation": i,
                "convo_id": convo,
                "package_id": _id(mark["package_id"]),
                "annotator": people.setdefault(mark["user_name"], f"S{len(people) + 1:03d}"),
                "system0": names[0],
                "system1": names[1],
                "n_exchanges": _number(sides[0]["decision_turn"]) // 2,
                "n_utterances_in_convo": len(chats[convo]["convo"]),
                **answers,
                **marks,
                "winner": "tie" if points[0] == points[1] else names[points[1] > points[0]],
                "start_ms": _number(mark["start_time"]),
                "elapsed_ms": _number(mark["elapsed_time"]),
            }
        )
    return pd.DataFrame(rows).astype(str)


def _collection(dump: Path, name: str) -> list[dict]:
    """Documents of one collection: JSON lines, or one JSON list."""
    with zipfile.ZipFile(dump) as archive:
        members = [member for member in archive.namelist() if Path(member).name == name]
        if len(members) != 1:
            raise _wrong(dump.name, "", f"one member {name}", len(members))
        text = archive.read(members[0]).decode("utf-8")
    return (
        json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in text.split("\n") if line]
    )


def _id(value: Any) -> str:
    return value["$oid"] if isinstance(value, dict) else str(value)


def _number(value: Any) -> int:
    """A number, plain or as the database writes long ones: `{"$numberLong": "…"}`."""
    return int(next(iter(value.values())) if isinstance(value, dict) else value)


def xdial_english(path: Path) -> pd.DataFrame:
    """Context, response and mean rating of one file of e0397123/xDial-Eval, which also has them translated."""
    columns = ["english_ctx", "english_res", "ratings"]
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    if not set(columns) <= set(frame.columns):
        raise _wrong(path.name, "", f"the columns {', '.join(columns)}", ", ".join(frame.columns))
    return frame[columns]


def _fed(paths: list[Path], folder: Path) -> dict[str, pd.DataFrame]:
    ratings = folder / "fed_data.json"
    if not ratings.is_file():
        raise DataError([Problem("fed_metric_scores.csv", "", "", "fed_data.json to align it with", "no such file")])
    turns, dialogues = paths
    return {"fed_metric_scores.csv": fed_metric_scores(turns, dialogues, ratings)}


def _dstc9(paths: list[Path], folder: Path) -> dict[str, pd.DataFrame]:
    return {"ratings.csv": dstc9_ratings(paths)}


def _spot_the_bot(paths: list[Path], folder: Path) -> dict[str, pd.DataFrame]:
    return {f"annotations_{domain}.csv": frame for domain, frame in spot_the_bot(paths[0]).items()}


def _xdial_english(paths: list[Path], folder: Path) -> dict[str, pd.DataFrame]:
    names = (f"{name}.english.csv" for name in ("dailydialog-zhao", "persona-zhao", "dailydialog-gupta"))
    return dict.fromkeys(names, xdial_english(paths[0]))  # there is one upstream file for each


#: from upstream files (in the registry's order) and the study's folder to derived tables, by file name
CONVERTERS: dict[str, Converter] = {
    "fed_metric_scores": _fed,
    "dstc9_ratings": _dstc9,
    "spot_the_bot": _spot_the_bot,
    "xdial_english": _xdial_english,
}
