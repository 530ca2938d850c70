"""How the judgements of published files are read with pandas, one function for each shape."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from doors.public import content, csv, lines, plain, rows

_PREFERRED = {"left": 1, "right": -1, "tie": 0, "model_a": 1, "model_b": -1, "0": 0, "1": 1, "2": -1}


def excel(path: Path, sheet: str | int = 0) -> pd.DataFrame:
    return pd.read_excel(path, sheet_name=sheet, dtype=str, engine="calamine", keep_default_na=False)


def numbers_only(path: Path) -> pd.DataFrame:
    held = [
        (d["dialog_id"], "system", None, plain(k), v)
        for d in content(path)
        for r in d["dialog_ratings"]
        for k, v in r.items()
    ]
    return rows(r for r in held if isinstance(r[4], int))


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


def decoding(path: Path) -> pd.DataFrame:
    with path.open(newline="", encoding="utf-8") as file:
        f = pd.read_csv(
            file, dtype=str, keep_default_na=False, names=file.readline().strip().replace('"', "").split(",")
        )
    marks = []
    for _, r in f.iterrows():
        for ij in (f"{i}{j}" for i in range(1, 6) for j in range(1, 6)):
            for label in ("coherence", "grammar", "interesting"):
                marks.append((r.HITId + ij, r[f"Input.sysid{ij}"], r.WorkerId, label, r[f"Answer.{label}{ij}"]))
    return rows(marks)


def best_of_two(path: Path, answer: str, f: pd.DataFrame | None = None) -> pd.DataFrame:
    f = csv(path) if f is None else f
    won = f[f"Answer.best_{answer}"].str.upper().map({"A": 1, "B": -1})
    pairs = zip(
        f["Input.code"].str.split("#").str[0], f["Input.system1"], f["WorkerId"], won, f["Input.system2"], strict=True
    )
    held = rows(((i, a, w, f"best_{answer}", s, b) for i, a, w, s, b in pairs), pairs=True)
    return held[pd.to_numeric(held["score"]).notna()]


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


def sets_of(path: Path, text: str, columns: tuple[str, ...], system: str) -> pd.DataFrame:
    f = csv(path)
    held = [(str(i), system, None, plain(c), ";".join(sorted(x.strip() for x in r[c].split(",") if x)))
            for i, r in f.iterrows() for c in columns if r[c]]  # fmt: skip
    return pd.DataFrame(held, columns=["item", "system", "annotator", "label", "score"])


def tutors(path: Path) -> pd.DataFrame:
    return rows(
        (i, system, None, plain(label), answer)
        for i, one in enumerate(content(path))
        for system, held in one["anno_llm_responses"].items()
        for label, answer in held["annotation"].items()
    )


def sentences(path: Path) -> pd.DataFrame:
    return rows(
        (f"{i}/{k}", "system", r["worker_id"], "response", r["response"])
        for i, one in enumerate(lines(path))
        for k, sentence in enumerate(one["summary_sentences"])
        for r in sentence["responses"]
    )


def summaries(path: Path) -> pd.DataFrame:
    return rows(
        (one["seg_id"], one["SYS"], f"{who} {k}", label, score)
        for one in lines(path)
        for who in ("expert", "turker")
        if isinstance(one[f"{who}_annotations"], list)
        for k, held in enumerate(one[f"{who}_annotations"])
        for label, score in held.items()
    ).assign(annotator=None)


def experts(path: Path) -> pd.DataFrame:
    one = content(path)
    won = {"Answer A": 1, "Answer B": -1}
    held = ((r["q_id"], "answer1", str(r["annotator"]), "betteranswer", won[r["BetterAnswer"]], "answer2") for r in one)
    return rows(held, pairs=True)


def forms(path: Path) -> pd.DataFrame:
    f = pd.read_csv(path, dtype=str, keep_default_na=False, header=None, skiprows=1)
    f = f[f[0].str.match(r"\d+/\d+/\d+ ")]
    marks = []
    for i, r in f.iterrows():
        for k in range(36):
            block, model, label = k // 6, "ABC"[k % 6 // 2], ("quality", "diversity")[k % 2]
            marks.append((str(block), model, str(i), label, r[1 + k]))
    return rows(marks)
