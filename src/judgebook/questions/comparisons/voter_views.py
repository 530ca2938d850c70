"""What notebook 19 shows and says of voters; `text.md.j2` puts it into words."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose, Table
from judgebook.questions.comparisons.views import who_votes
from judgebook.questions.comparisons.voter_results import ADDED, EVERYBODY, LEAST, LEFT_OUT, REST, TURNED
from judgebook.questions.comparisons.voters import DOUBTFUL
from judgebook.questions.performance.fitted import CELL
from judgebook.study.results import ResultRows, Results, where

_PHRASES = Phrases(__package__)
#: boards of which it is told how few votes would change their first place
_SHOWN = 6


def voters(results: Results, names: DisplayNames) -> Iterator[Prose | Table]:
    """Who is doubtful, in words and by name, and the board without them."""
    shares, boards = results["votes_doubtful"], []
    for row, name in zip(shares.to_dict("records"), who_votes(shares, names), strict=True):
        kinds = _of(results["voters_doubtful"], row)
        kinds = kinds.sort_values("estimate", ascending=False, kind="stable")
        of = [{"kind": k, "n": int(n)} for k, n in zip(kinds["kind"], kinds["estimate"], strict=True)]
        one = {"who": name, "share": row["estimate"], "n": int(row["n_annotators"]), "kinds": of}
        one |= {"found": sum(k["n"] for k in of), "before": None}
        places = _of(results["voter_place"], row).pivot_table(index="system", columns="board", values="estimate")
        if len(places):
            before, after = (names.name("system", places[board].idxmin()) for board in (EVERYBODY, REST))
            moved = (places[EVERYBODY] - places[REST]).abs()
            one |= {"before": before, "after": after, "moved": int((moved > 0).sum()), "most": int(moved.max())}
            one["systems"] = len(places)
        boards.append(one)
    bursts = results["voter_burst"][["annotator", "estimate"]].rename(columns={"estimate": "seconds"})
    yield Prose(_PHRASES.say("doubtful", boards=boards, chance=DOUBTFUL, bursts=bursts.to_dict("records"), least=LEAST))
    rows = results["voter_doubt"]
    if len(rows):
        out = names.named(rows[[*CELL, "annotator", "kind"]]).rename(columns={"annotator": "Voter", "kind": "Pattern"})
        about = [names.name("system", s) if isinstance(s, str) else None for s in rows["system"]]
        out["About"] = [
            f"{f} {s}" if s else b for f, s, b in zip(rows["favour"], about, rows["annotator_b"], strict=True)
        ]
        out["Chance, %"], out["n"] = (100 * rows["estimate"]).to_numpy(), rows["n"].to_numpy()
        caption = "Doubtful voters: the pattern of their votes, the system or voter that it is about, the chance that"
        caption += " at least half of their votes follow it, and how many votes they cast."
        yield Table(out, "doubtful_voters", caption, {"Chance, %": 0}, {"About": "Of no system or voter."}, folded=True)


def needed(results: Results, names: DisplayNames) -> Iterator[Prose]:
    """What would change the first place."""
    rows, boards = results["votes_needed"], []
    first = rows[rows["what"] == ADDED]
    for row, name in zip(first.to_dict("records"), who_votes(first, names), strict=True):
        of = _of(rows, row).set_index("what")
        one: dict[str, Any] = {"who": name, "first": names.name("system", row["system"]), "n": int(row["n"])}
        for key, what in (("added", ADDED), ("turned", TURNED), ("left_out", LEFT_OUT)):
            known = what in of.index and pd.notna(of.at[what, "estimate"])
            one |= {key: int(of.at[what, "estimate"]) if known else None}
            one |= {f"by_{key}": names.name("system", of.at[what, "system_b"]) if known and key != "left_out" else None}
        one["decisive"] = [*_of(results["decisive_voter"], row)["annotator"]]
        boards.append(one)
    easiest = sorted(boards, key=lambda b: inf if b["added"] is None else b["added"])[:_SHOWN]
    yield Prose(_PHRASES.say("needed", boards=[b for b in boards if b in easiest], every=len(boards)))


def _of(rows: ResultRows, row: dict[str, Any]) -> ResultRows:
    return where(rows, **{k: row[k] for k in CELL})
