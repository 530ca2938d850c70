"""A small study with sessions, made for tests: who talked to which systems, and what annotators said."""

import numpy as np
import pandas as pd

from helpers.schema import ANNOTATIONS, conform

SYSTEMS = ("a", "b", "c", "d")
BEHAVIORS = ("ignore", "redundant")


def annotate(rng, n_interactors=12, per_interactor=3, n_turns=5, doubled=0.4, effect=0.0):
    """Annotations of external annotators (group `ext`) and of the interactors themselves (group `own`), one corpus.

    Each session holds two dialogues with two systems drawn at random. Quality rises with the system's place times
    `effect`. Behaviours are marked on turns; ratings of quality are per dialogue; comparisons per session.
    """
    rows, talked = [], {}
    for s in range(n_interactors * per_interactor):
        pair = rng.choice(len(SYSTEMS), 2, replace=False)
        names = [f"({s},{i})_{SYSTEMS[i]}" for i in pair]
        quality = [effect * i + rng.normal() + 0.5 * (s % n_interactors % 3) for i in pair]
        who = f"I{s % n_interactors:02d}"
        talked |= dict.fromkeys(names, who)
        judges = [("ext", f"E{k}") for k in rng.choice(6, 1 + (rng.random() < doubled), replace=False)] + [("own", who)]
        for group, judge in judges:
            work = f"U{s}{judge}"
            base = {"group": group, "annotator": judge, "work_unit": work, "session": str(s)}
            seen = [q + rng.normal(scale=0.5) for q in quality]
            for i, name, q in zip(pair, names, seen, strict=True):
                one = base | {"system": SYSTEMS[i], "dialogue": name}
                rating = float(np.clip(round(3 + q), 1, 5))
                rows.append(one | {"method": "dialogue_likert", "label": "quality", "score": rating})
                for label in BEHAVIORS if group == "ext" else ():
                    marks = rng.random(n_turns) < 1 / (1 + np.exp(q + (label == "redundant")))
                    rows += [
                        one | {"method": "behavior", "label": label, "turn": t, "score": float(m)}
                        for t, m in enumerate(marks)
                    ]
            turned = int(group == "ext" and s % 2)
            left, right = (1, 0) if turned else (0, 1)
            rows.append(
                base
                | {"system": SYSTEMS[pair[left]], "dialogue": names[left]}
                | {"system_b": SYSTEMS[pair[right]], "dialogue_b": names[right]}
                | {"method": "comparative", "label": "quality"}
                | {"score": float(np.sign(round(seen[left] - seen[right])))}
            )
    frame = pd.DataFrame(rows).assign(source_row=range(len(rows)))
    constant = {"study": "test", "corpus": "main", "annotator_known": True, "annotator_kind": "human"}
    return conform(frame, ANNOTATIONS, **constant), pd.Series(talked, name="interactor")
