"""How the judgements of published files are read with pandas, one function for each shape."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from doors.public import content, csv, lines, plain, rows

_PREFERRED = {"left": 1, "right": -1, "tie": 0, "model_a": 1, "model_b": -1, "0": 0, "1": 1, "2": -1}


def votes(path: Path) -> pd.DataFrame:
    f = csv(path)
    pairs = zip(f.prompt, f.left, f.worker, f.winner.map(_PREFERRED), f.right, strict=True)
    return rows(((p, a, w, "winner", s, b) for p, a, w, s, b in pairs), pairs=True)


def squality(path: Path) -> pd.DataFrame:
    marks = []
    for p, passage in enumerate(lines(path)):
        for q, question in passage["questions"].items():
            for system in ("bart", "bart-dpr", "human"):
                for review in question[system]["reviews"]:
                    scored = {k: v for k, v in review.items() if k.endswith(("-rating", "-rank"))}
                    marks += [(f"{p}/{q}", system, review["worker_id"], plain(k), v) for k, v in scored.items()]
    return rows(marks)


def side_by_side(path: Path, base: str) -> pd.DataFrame:
    f = csv(path)
    parts = [
        f[["mr_id", f"sys{i}", "_worker_id", f"{base}{i}"]].set_axis(["item", "system", "annotator", "score"], axis=1)
        for i in range(1, 6)
    ]
    held = pd.concat(parts).assign(label=base)
    return held[held["score"] != ""].assign(score=lambda x: x["score"].astype(float))


def spans(path: Path, label: str, of: str) -> pd.DataFrame:
    f = csv(path)
    f = f[f[of] != "NULL"]
    return rows(zip(f.bbcid, f.system, f.worker_id, [label] * len(f), f[of], strict=True))


def abuse(path: Path) -> pd.DataFrame:
    f = csv(path)
    steps = f[[f"is_abuse.{n}" for n in (1, 0, -1, -2, -3)]].astype(int)
    item = f[["conv_id", "prev_agent", "prev_user", "agent", "user"]].agg("|".join, axis=1)
    return rows(zip(item, f.bot, f.annotator_id, ["is_abuse"] * len(f), steps.idxmax(axis=1).str[9:], strict=True))


def experts(path: Path) -> pd.DataFrame:
    one = content(path)
    won = {"Answer A": 1, "Answer B": -1}
    held = ((r["q_id"], "answer1", str(r["annotator"]), "betteranswer", won[r["BetterAnswer"]], "answer2") for r in one)
    return rows(held, pairs=True)
