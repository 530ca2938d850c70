"""docs/plan.md: its YAML reads what `plan` writes, and the next study's estimates use these probabilities."""

import re

import numpy as np
import pandas as pd
import pytest
from fixtures import yaml_studies as studies

from judgebook.pipeline import plan
from judgebook.questions.judges.assisted import sums
from judgebook.questions.judges.prediction_powered import estimate, explained
from judgebook.questions.planning.judged import Judged
from judgebook.questions.planning.next_items import NEXT, next_items
from judgebook.statistics.intervals import Sampling
from judgebook.study import params, store

PAGE = (params.ROOT / "docs" / "plan.md").read_text(encoding="utf-8")
SAMPLING = Sampling(100, 0.95, 1)


def block(name):
    return re.search(rf"```\w+ {re.escape(name)}\n(.*?)```", PAGE, re.DOTALL).group(1)


def ratings(seed=1, n=300):
    """What people and the model say of n dialogues, two people each; the model is right on low scores only."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3.2, 0.9, n)
    model = quality + np.where(quality < 3, 0.1, 0.9) * rng.normal(size=n)
    base = pd.DataFrame({"chat": [f"d{i}" for i in range(n)], "bot": np.resize(["a", "b"], n)})
    people = [
        base.assign(worker=f"w{k}", fluency=np.clip(np.round(quality + rng.normal(0, 0.5, n)), 1, 5)) for k in range(2)
    ]
    return pd.concat(people), base.assign(worker="gpt", fluency=np.clip(np.round(model), 1, 5), w=1)


def built(folder, people, model, drawn):
    """The study of the page's YAML."""
    store.write_frame(drawn, folder / "14_planning_next_items.csv", raw=True)
    files = {"people_csv": people.to_csv(index=False), "model_csv": model.to_csv(index=False)}
    study = studies.read(folder, block("params/next.yaml"), **files)
    labels = params.load(folder / "mine.yaml").label_list()
    return study.frames["annotations"], labels


def test_what_is_drawn_is_read_as_sampling_weights(tmp_path):
    people, model = ratings()
    some = people["chat"].isin(people["chat"].iloc[:60])
    everything = pd.DataFrame({"dialogue": model["chat"], "inclusion_probability": 1.0})
    annotations, labels = built(tmp_path, people[some], model, everything)
    ((key, data),) = sums(annotations, labels)
    pilot = Judged(
        key["method"], key["label"], key["metric"], data, 2.0, explained(data, SAMPLING.stream("x"), SAMPLING)
    )
    drawn = next_items([pilot], 40, uniform=0.5, seed=1)
    annotations, labels = built(tmp_path, people[people["chat"].isin(drawn["dialogue"])], model, drawn)
    ((_, data),) = sums(annotations, labels)
    assert data.weight is None
    assert data.labelled.sum() == len(drawn) == 60 + 80
    p = drawn.set_index("dialogue")["inclusion_probability"]
    assert data.chosen[data.labelled] == pytest.approx(1 / p[data.name[data.labelled]].to_numpy())
    assert p[drawn.set_index("dialogue")["people"] == NEXT].nunique() > 2
    # the weighted mean of people, by hand
    value = people.groupby("chat")["fluency"].mean()
    for i, system in enumerate("ab"):
        of = drawn[drawn["system"] == system]
        mean = np.average(value[of["dialogue"]], weights=1 / of["inclusion_probability"])
        assert estimate(data)[0].values[i] == pytest.approx(mean)


def test_the_list_is_written_beside_the_tables_and_an_old_one_is_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    drawn = pd.DataFrame({"dialogue": ["x"], "system": ["a"], "people": [NEXT], "inclusion_probability": [0.5]})
    stored = store.processed("s") / "results" / "14_planning.next_items.parquet"
    stored.parent.mkdir(parents=True)
    store.write_frame(drawn, stored)
    path = plan.next_items("s")
    pd.testing.assert_frame_equal(pd.read_csv(path), drawn)
    store.write_frame(drawn.iloc[:0], stored)
    assert plan.next_items("s") is None
    assert not path.exists()
