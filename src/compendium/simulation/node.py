"""The node that simulates a study; the process that plans a run imports nothing heavy here."""

from __future__ import annotations

from judgebook.pipeline.nodes import Node, Parts, StudyNodes
from judgebook.pipeline.worker import Spec, timed
from judgebook.sources.ids import recorded
from judgebook.sources.instead import shared
from judgebook.study import params, store

#: papers to whose printed tables two parts are calibrated
CALIBRATED = ("smith2022", "dstc10")


def nodes(of: StudyNodes) -> list[Node]:
    """It, unless judgements that were shared stand in for what it makes."""
    if shared.files(of.study):
        return []
    made = [store.raw(of.key) / name for name in [*recorded.raw_names(of.study), "truth.json"]]

    def parts() -> Parts:
        folder = params.ROOT / "data" / "published"
        printed = sorted(path for paper in CALIBRATED for path in folder.glob(f"{paper}_*.csv"))
        read = {path.name: of.cache.file(path) for path in printed}
        return of.yaml("simulate", "seeds.simulate", "sources") | read | of.code("compendium.simulation.study")

    def written() -> list:
        return [path for path in made if path.is_file()]

    return [Node(of.key, "simulate", (), parts, written, simulate, lambda: of.spec)]


@timed
def simulate(spec: Spec) -> str:
    """Write the raw files of a simulated study."""
    from compendium.simulation import study as simulation

    study = spec.load()
    simulation.write(study, store.raw(study.key))
    return ""
