"""`run_all.py degrade`: the degraded control of Ji et al. 2022, made of dialogues at hand.

Workers who do not rate this system lower than the others paid no attention, or cannot tell good replies from bad ones
(section 3.2; notebook 10). Every reply of a control dialogue is a random reply of another dialogue, whose meaning is
distorted: a sequence of its words is replaced by one of as many words from a third dialogue (appendix A.1).

In the paper people chatted with the control. Recorded users do not react to the replies that are put in, so that these
dialogues are for people who rate what others said.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from judgebook.extras.annotate import pages
from judgebook.statistics.intervals import generator
from judgebook.study import store
from judgebook.study.params import ParamsError

#: most words of a response -> how many of them are replaced; of longer ones, a fifth
REPLACED = {3: 1, 5: 2, 8: 3, 15: 4, 29: 5}
ITEM = ["corpus", "dialogue"]
Words = list[str]


def n_replaced(n: int) -> int:
    """How many of the n words of a response are replaced (Ji et al. 2022, appendix A.1)."""
    return next((r for most, r in REPLACED.items() if n <= most), n // 5)


def distorted(words: Words, donors: Sequence[Words], rng: np.random.Generator) -> Words:
    """A response with a sequence of its words replaced by another one of a random donor.

    words : of the response, one or more. donors : the words of other dialogues. The first and the last of three or more
    words stay. Raises ValueError where no donor has another sequence of this length.
    """
    n, r = len(words), n_replaced(len(words))
    start = int(rng.integers(1, n - r) if n >= 3 else rng.integers(0, n - r + 1))
    for d in rng.permutation(len(donors)):
        for at in rng.permutation(max(len(donors[d]) - r + 1, 0)):
            new = donors[d][at : at + r]
            if new != words[start : start + r]:
                return [*words[:start], *new, *words[start + r :]]
    raise ValueError(f"expected another dialogue with {r} other words in a row, found none")


def degraded(frame: pd.DataFrame, pool: pd.DataFrame, system: str, rng: np.random.Generator) -> pd.DataFrame:
    """Dialogues with every reply replaced by a random one of another dialogue, distorted.

    Parameters
    ----------
    frame, pool : as `pages.dialogues`: what is degraded, and the dialogues whose replies and words take its place.
    system : id of the control, which the dialogues' ids begin with.

    Raises
    ------
    ValueError : the pool has fewer than three dialogues with replies, or too few words.
    """
    replies = [(tuple(key), reply.split()) for *key, reply in pool[[*ITEM, "system_text"]].itertuples(index=False)]
    replies = [(key, words) for key, words in replies if words]
    spoken: dict[tuple, Words] = {}
    for key, words in replies:
        spoken.setdefault(key, []).extend(words)
    if len(spoken) < 3:
        raise ValueError(f"expected at least 3 dialogues with replies to draw from, found {len(spoken)}")
    out = []
    for *key, reply in frame[[*ITEM, "system_text"]].itertuples(index=False):
        others = [i for i, (of, _) in enumerate(replies) if of != tuple(key)]
        of, words = replies[others[rng.integers(len(others))]]
        donors = [texts for other, texts in spoken.items() if other not in (of, tuple(key))]
        out.append(" ".join(distorted(words, donors, rng)) if reply.strip() else reply)
    return frame.assign(system=system, dialogue=f"{system}_" + frame["dialogue"].astype(str), system_text=out)


def command(file: Path, to: Path, *, n: int | None = None, system: str = "qc", seed: int = 1) -> int:
    """Write the dialogues of a file, and after them those of the control, as JSON Lines; returns the exit code.

    n : control dialogues, made of as many drawn from the file; default: as many as the systems have on average.

    Raises ParamsError for what cannot be done, and DataError for a file that contradicts itself.
    """
    if to.suffix != ".jsonl":
        raise ParamsError(f"--to {to}: expected a file that ends in .jsonl")
    frame = pages.dialogues(None, file)
    keys = frame[ITEM].drop_duplicates()
    n = max(round(len(keys) / frame["system"].nunique()), 1) if n is None else n
    if system in set(frame["system"].astype(str)):
        raise ParamsError(f"--system {system}: expected an id that no system of {file.name} has")
    if n > len(keys):
        raise ParamsError(f"--n {n}: expected at most the number of dialogues in {file.name}, {len(keys)}")
    rng = generator(seed, "degraded control")
    drawn = keys.iloc[np.sort(rng.choice(len(keys), n, replace=False))]
    try:
        control = degraded(frame.merge(drawn, on=ITEM), frame, system, rng)
    except ValueError as error:
        raise ParamsError(f"{file.name}: {error}; put more dialogues into it") from None
    every = pd.concat([frame, control], ignore_index=True)
    if every.duplicated([*ITEM, "turn"]).any():
        raise ParamsError(f"{file.name}: a dialogue is called as one of the control would be; choose another --system")
    text = every.dropna(axis=1, how="all").to_json(orient="records", lines=True, force_ascii=False)
    with store.atomic(to) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    systems = frame["system"].nunique()
    print(f"{to}: {len(keys):,} dialogues of {systems} systems and {n:,} of the control {system!r}; seed {seed}")
    print(f"In the YAML: `control_system: {system}`, and `unranked_systems: [{system}]`")
    return 0
