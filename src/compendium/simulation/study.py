"""A simulated study with known truth, in the project format of the ABC-Eval platform.

`project` makes the whole file, `write` stores it where the adapter of that format finds it, `simulation.truth` gives
the population values that results are compared with.

Dialogues have a latent quality, the sum of an interactor's and a dialogue's effect, and for each label a trait that is
related to quality or, for some labels, not at all. Systems shift the labels' rates and ratings; some pairs of systems
are exactly equal on some labels. Annotators see true values with error, a lasting leaning of their own and a leaning on
the dialogue at hand. The model is defined in `simulation.model`, its numbers and their sources in `design.yaml`.

What the model leaves out: labels of one task do not exclude each other (the platform asks empathetic, neither, lack of
empathy as one question); nothing changes in the course of a dialogue or of the weeks; annotators differ in leaning and
speed, not in skill, within a group. The texts are meaningless.

To add another technique, give it a part (`simulation.parts.ProjectPart`) made from the same `Chats`. Two parts do not
fit the platform's format and are tables of their own, written where the YAML names them as sources: the techniques of
Smith et al. 2022 (`simulation.techniques`) and the moderation of Zhang et al. 2022 (`simulation.moderation`). Their
corpora are named `extra_…`, so that the notebooks about the evaluation itself leave them out.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from compendium.simulation import design, evaluations, moderation, people, techniques
from compendium.simulation.parts import turn_texts, worker
from compendium.simulation.people import draw_chats
from compendium.simulation.truth import truth
from judgebook.study import store
from judgebook.study.params import ParamsError, Study
from judgebook.study.sections.data import Simulate

FILE, TRUTH_FILE = "data.json", "truth.json"
#: further files -> the modules that make them
_TABLES = {techniques.FILE: techniques, moderation.FILE: moderation}


def project(spec: Simulate, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    """The simulated project and what is true in it.

    spec : sizes and effect factors. rng : each part draws from a child of its own, so that the size of one part does
    not move another. Returns (project, truth): the layout of an ABC-Eval project file, and `simulation.truth` with the
    number of scores that a reader must drop (`unfilled_worker_scores`).
    """
    names = ("sessions", "chats", "texts", "collection", "screening", "onboarding", "sur_x", "stu_x", "dev_x",
             "pilots", "bots", "gold", "extra")  # fmt: skip
    streams = dict(zip(names, rng.spawn(len(names)), strict=True))
    sessions = people.sessions(spec.n_sessions, spec.n_interactors, streams["sessions"])
    dialogues = draw_chats(spec, sessions, streams["chats"])
    texts = turn_texts(dialogues.n_turns, streams["texts"])
    crews = {w: [worker(w, i) for i in range(f.workers)] for w, f in design.WORKFORCES.items()}
    crews["pilot"] = [evaluations.pilot_worker(a) for _, block in design.PILOT_ROUNDS[2].blocks for a in block]
    tried = {w: people.screen(w, streams["screening"]) for w in crews}
    passed = evaluations.passers(tried["surge"], crews["surge"])
    parts = {
        g: evaluations.external(spec, g, dialogues, texts, passed if g == "sur_x" else None, streams[g])
        for g in ("sur_x", "stu_x", "dev_x")
    }
    dropped = evaluations.add_unfilled(parts["sur_x"], dialogues, spec, streams["extra"])
    trained = {w: evaluations.onboarding(w, tried[w], crews[w], streams["onboarding"]).json() for w in crews}
    gold = {w: evaluations.gold_units(spec, w, crews[w], streams["gold"]).json() for w in design.GOLD}
    nothing: dict[str, Any] = {"dialogues": {}, "work_units": {}}
    out = {
        "annotation_pilots": [p.json() for p in evaluations.annotation_pilots(spec, streams["pilots"])],
        "annotation_pilots_onboarding": [nothing, nothing, trained["pilot"]],
        "bot_pilots": [p.json() for p in evaluations.bot_pilots(spec, streams["bots"])],
        "extra_unused": evaluations.leftovers(spec, crews["surge"], streams["extra"]).json(),
        "dialogue_collection": evaluations.collection(spec, dialogues, texts, streams["collection"]).json(),
        "student_evaluation": parts["stu_x"].json(),
        "student_onboarding": trained["student"],
        "student_gold_units": gold["student"],
        "mturk_evaluation": evaluations.trial(spec, crews["mturk"], streams["extra"]).json(),
        "mturk_onboarding": trained["mturk"],
        "mturk_gold_units": gold["mturk"],
        "surge_evaluation": parts["sur_x"].json(),
        "surge_onboarding": trained["surge"],
        "surge_gold_units": gold["surge"],
        "expert_evaluation": parts["dev_x"].json(),
    }
    return out, truth(spec) | {"unfilled_worker_scores": dropped}


def write(study: Study, folder: Path) -> list[Path]:
    """Generate the study by its `simulate` section and seed; write `data.json` and `truth.json` into `folder`.

    The tables of the other parts are written where the study's sources name them, each from a stream of its own. Each
    file appears whole or not at all. Returns their paths. Raises ParamsError where the YAML has no such section.
    """
    if study.simulate is None:
        raise ParamsError(f"{study.key}: expected a `simulate` section in the YAML, found none")
    made, true = project(study.simulate, np.random.default_rng(study.seeds.simulate))
    true |= {"seed": study.seeds.simulate}
    named = {name for source in study.sources for name in source.names()}
    wanted = [name for name in _TABLES if name in named]
    for name in wanted:
        rng = np.random.default_rng([study.seeds.simulate, 1 + list(_TABLES).index(name)])
        store.write_frame(_TABLES[name].table(study.simulate, rng), folder / name, raw=True)
    for name, content, indent in ((TRUTH_FILE, true, 1), (FILE, made, None)):
        with store.atomic(folder / name) as temporary:
            text = json.dumps(
                content, ensure_ascii=False, indent=indent, separators=(",", ":") if indent is None else None
            )
            temporary.write_text(text + "\n", encoding="utf-8")
    return [folder / name for name in (FILE, TRUTH_FILE, *wanted)]
