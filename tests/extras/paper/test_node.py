"""When the page for authors is made again."""

import json

from judgebook.extras.paper import node
from judgebook.pipeline import dag, nodes, worker
from judgebook.pipeline.cache import Cache
from judgebook.pipeline.pages import Pages
from judgebook.study import params


def test_the_page_for_authors_depends_on_notebooks_as_executed(tmp_path, monkeypatch):
    """A caption, or what is private, may change where no figure and no number does."""
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    entries = {"03_iaa": dag.load()["03_iaa"]}
    of = nodes.StudyNodes(worker.Spec("demo", "demo"), params.load("demo"), entries, Cache(None), dag.NOTEBOOKS)
    of.manifest.nodes["03_iaa"] = {"outputs": {}, "finished": "2026-11-23"}
    executed, found = of.executed("03_iaa"), []
    executed.parent.mkdir(parents=True)
    for tags in ([], ["private"], []):
        executed.write_text(json.dumps({"cells": [{"metadata": {"tags": tags}}]}))
        found.append(node.parts(Pages(of, lambda name: ("done", "")))["results"])
    assert found[0] == found[2] != found[1]
