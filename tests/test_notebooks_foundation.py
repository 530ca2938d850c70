"""Notebooks 00, 02 and 03 on small studies: what they store is what the functions say, and every case is told."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import studies

from helpers import agreement, collection, params, simulate, store
from helpers.params import ROOT
from helpers.sources import build

NAMES = ("00_build_annotations", "02_collection_stats", "03_iaa")
SIMULATED = """\
title: A small simulated study
simulated: true
label_set: abc_eval
sources: [{adapter: abc_eval, files: [data.json], parts: {dialogue_collection: stu_i, surge_evaluation: sur_x}}]
groups: {sur_x: {title: Surge workers}}
costs: {payments: {sur_x: {dialogue_likert: 0.60}}, published: {paper: finch2023, element: Table 10}}
simulate: {n_sessions: 16, n_interactors: 8}
bootstrap: {n_resamples: 200}
iaa: {first: 2}
"""


def ratings(n):
    """A wide table of `n` items, two labels and three annotators who agree more or less; one cell is missing."""
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 6, (n, 2))
    scores = np.clip(truth[:, :, None] + rng.integers(-1, 2, (n, 2, 3)), 1, 5).reshape(n, 6).astype(str)
    scores[4, 1] = "N/A"
    names = [f"{label}_a{i}" for label in ("fluency", "quality") for i in (1, 2, 3)]
    lines = [",".join(["id", *names]), *(",".join([f"d{i}", *row]) for i, row in enumerate(scores))]
    return "\n".join(lines) + "\n"


def run(name, study, **knobs):
    """Run the code of a notebook here, with the knobs set after its parameters cell."""
    cells = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    names = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
            if "parameters" in cell["metadata"].get("tags", []):
                names |= {"study": str(study), **knobs}
    assert not plt.get_fignums()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Both studies built, and all notebooks run on them: folders by study, and what was shown by study and notebook."""
    folder = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        shown = []
        patch.setenv("COMPENDIUM_OUT", str(folder))
        patch.setattr("IPython.display.display", lambda data, **k: shown.append(data))
        wide = studies.write(folder, studies.WIDE, "wide", my_csv=ratings(12))
        small = studies.write(folder, SIMULATED, "small")
        simulate.write(params.load(small), folder)
        said = {}
        for path in (wide, small):
            build.build(params.load(path), out=store.processed(path.stem))
            for name in NAMES:
                shown.clear()
                run(name, path, **({"people_resamples": 100} if name == "03_iaa" else {}))
                said[path.stem, name] = "\n".join(
                    d
                    if isinstance(d, str)
                    else d.get("text/markdown", d.get("text/plain", ""))
                    if isinstance(d, dict)
                    else d.data
                    for d in shown
                )
        yield folder / "data" / "processed", said


def results(world, study, name):
    return pd.read_parquet(world[0] / study / "scratch" / "results" / f"{name}.parquet")


def frame(world, study, name="annotations"):
    return pd.read_parquet(world[0] / study / f"{name}.parquet")


def test_twelve_rows_give_a_report_with_a_warning(world):
    _, said = world
    assert "fewer than 25 items for Dialogue rating (12 items)" in said["wide", "03_iaa"]
    assert "belong to the evaluation itself: 12 dialogues of 1 system, judged by 3 people." in said["wide", NAMES[0]]
    assert "The data do not say how long anything took" in said["wide", NAMES[1]]
    assert "There are no two systems" in said["wide", "03_iaa"]
    assert "imulated" not in "".join(said["wide", name] for name in NAMES)


def test_all_annotations_of_own_data_enter_and_the_first_two_where_the_yaml_says_so(world):
    for study, first in (("wide", None), ("small", 2)):
        marks = collection.evaluated(frame(world, study))
        labels = params.load(world[0].parents[1] / f"{study}.yaml").label_list()
        table = agreement.alpha_table(marks, labels, first=first, n_resamples=100)
        keys = ["group", "method", "label", "condition"]
        expected = table[table["statistic"] == "alpha"].set_index(keys)["estimate"]
        stored = results(world, study, "03_iaa")
        stored = stored[(stored["statistic"] == "alpha") & stored["condition"].isin(table["condition"])]
        found = stored.set_index(keys)["estimate"].reindex(expected.index)
        np.testing.assert_allclose(found.to_numpy(float), expected.to_numpy(float), atol=1e-12)
        assert expected.notna().sum() >= 2


def test_counts_and_card_are_stored(world):
    small = frame(world, "small")
    counted = results(world, "small", "02_collection_stats")
    here = counted[(counted["group"] == "sur_x") & (counted["method"] == "behavior")].set_index("condition")["estimate"]
    marks = small[(small["corpus"] == "main") & (small["group"] == "sur_x") & (small["method"] == "behavior")]
    assert here["kind=human;what=annotations"] == len(marks)
    assert here["kind=human;what=dialogues"] == 32
    card = results(world, "small", "00_build_annotations")
    kept = card[(card["statistic"] == "count") & (card["condition"] == "what=annotations kept")]
    assert kept["estimate"].tolist() == [len(small)]
    assert {"coverage", "score_share", "mean_count", "alpha"} <= set(card["statistic"])


def test_costs_follow_from_the_times_of_the_work_units(world):
    units = collection.evaluated(frame(world, "small", "work_units"))
    likert = units[(units["group"] == "sur_x") & (units["task"] == "dialogue_likert") & (units["part"] == "whole")]
    stored = results(world, "small", "02_collection_stats")
    cost = stored[(stored["group"] == "sur_x") & (stored["method"] == "dialogue_likert")].set_index("statistic")[
        "estimate"
    ]
    minutes = likert["seconds"].median() / 60
    assert cost["unit_minutes"] == pytest.approx(minutes)
    assert cost["estimated_cost"] == pytest.approx(minutes / 60 * 20 * 400)
    assert cost["own_cost"] == pytest.approx(240)


def test_simulated_data_are_called_so_everywhere(world):
    for name in NAMES:
        assert "Simulated data." in world[1]["small", name]
    assert "shows nothing about people" in world[1]["small", "02_collection_stats"]


def test_every_notebook_leaves_figures_and_tables_in_both_formats(world):
    for study in ("wide", "small"):
        scratch = world[0] / study / "scratch"
        for name in NAMES:
            assert list((scratch / "figures").glob(f"{name}_*.png"))
            csv = list((scratch / "tables").glob(f"{name}_*.csv"))
            assert csv
            assert all(path.with_suffix(".tex").is_file() for path in csv)


def test_nothing_shown_holds_an_id_of_the_platform(world):
    raw = json.loads((world[0].parents[1] / "data.json").read_text(encoding="utf-8"))
    ids = {u["worker_id"] for u in raw["surge_evaluation"]["work_units"].values()}
    assert len(ids) > 5
    shown = "".join(world[1].values())
    assert not [i for i in ids if i in shown]
