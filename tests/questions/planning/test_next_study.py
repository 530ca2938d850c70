"""docs/plan.md: its YAML reads what `plan` writes, and the next study's estimates use these probabilities."""

import re

import numpy as np
import pandas as pd
import pytest
from fixtures import yaml_studies as studies

from judgebook.pipeline import cli, plan
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


def test_the_list_shown_on_the_page_is_read(tmp_path):
    from io import StringIO

    people, model = ratings(n=10)
    drawn = pd.read_csv(StringIO(block("14_planning_next_items.csv")))
    people = people[people["chat"].isin(drawn["dialogue"])].drop(columns="bot").merge(
        drawn.rename(columns={"dialogue": "chat", "system": "bot"})[["chat", "bot"]]
    )  # fmt: skip
    model["bot"] = model["chat"].map(drawn.set_index("dialogue")["system"]).fillna(model["bot"])
    annotations, _ = built(tmp_path, people, model, drawn)
    human = annotations[annotations["annotator_kind"] == "human"]
    assert dict(zip(human["dialogue"], human["sampling_weight"], strict=True)) == {"d5": 4, "d8": 2, "d1": 1, "d2": 1}


def test_the_keys_of_the_page_are_those_of_the_yaml(tmp_path):
    keys = re.search(r"```yaml\n(costs:.*?)```", PAGE, re.DOTALL).group(1)
    path = studies.write(tmp_path, block("params/next.yaml") + keys)
    study = params.load(path)
    assert study.costs.model_judgement == {"gpt": 0.02}
    assert study.planning.budget == 200
    assert study.planning.minutes_per_dialogue == 0


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


@pytest.mark.evidence
def test_plan_prints_the_split_and_writes_the_list(tmp_path, monkeypatch, capsys):
    """As on the page: the study as the pilot, of whose dialogues people judged a fifth."""
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)  # the handler would outlive the test
    people, model = ratings(n=500)
    join, weights = (rf"    {key}: .*\n" for key in ("join", "(?:inclusion_probability|weight)"))
    yaml = re.sub(weights, "", re.sub(join, "", block("params/next.yaml"))) + re.search(
        r"```yaml\n(costs:.*?)```", PAGE, re.DOTALL
    ).group(1).replace("budget: 200", "budget: 200, n_runs: 0, n_worlds: 0")
    some = people["chat"].isin(people["chat"].iloc[:100])
    files = {"people_csv": people[some].to_csv(index=False), "model_csv": model.to_csv(index=False)}
    path = studies.write(tmp_path, yaml + "figures: {formats: [svg]}\n", name="pilot", **files)
    assert cli.main(["plan", "--study", str(path), "--out", str(tmp_path), "--jobs", "1"]) == 0
    said = capsys.readouterr().out
    n = int(re.search(r"Within 200 USD: (\d+) dialogues per system by", said).group(1))
    drawn = pd.read_csv(tmp_path / "tables" / "pilot" / "14_planning_next_items.csv")
    assert "14_planning_next_items.csv" in said
    assert drawn.groupby(["people", "system"]).size().to_dict() == {
        ("judged", "a"): 50, ("judged", "b"): 50, (NEXT, "a"): n, (NEXT, "b"): n
    }  # fmt: skip
    assert list(drawn.columns) == ["dialogue", "system", "people", "inclusion_probability"]
