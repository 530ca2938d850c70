"""Eight public data sets in the shapes people have: each goes in by `new` and few edits, or gets a clear answer.

What is read is held against counts made with `json` and `csv` alone, and against what was printed upstream.
"""

import csv
import json
from collections import Counter, defaultdict
from itertools import combinations

import krippendorff
import numpy as np
import pandas as pd
import pytest
from fixtures import yaml_studies as studies

from judgebook.extras.new import draft
from judgebook.sources import build
from judgebook.study import params
from judgebook.study.schema import DataError

pytestmark = pytest.mark.data


def tried(folder, data, *edits, most=3):
    """The study of the YAML that `new` makes; edits : (text, what is written instead), at most so many lines."""
    text = draft.new_yaml("tried", data)
    assert sum(new.count("\n") + 1 for _, new in edits) <= most
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return build.build(params.load(studies.write(folder, text, name="tried")))


def matrix(marks):
    """Scores by item and annotator."""
    return marks.pivot_table(index="dialogue", columns="annotator", values="score").to_numpy()


def test_llmfao(more_data, tmp_path):
    """Votes as they stand in the file: nothing is edited."""
    path = more_data / "llmfao" / "crowd-comparisons.csv"
    built = tried(tmp_path, path)
    marks = built.frames["annotations"]
    with path.open() as file:
        votes = list(csv.DictReader(file))
    assert len(marks) == len(votes) == 8931
    assert (marks["annotator"].nunique(), len(built.profile["systems"])) == (124, 59)
    pairs = marks[["dialogue", "dialogue_b"]].apply(frozenset, axis=1)
    assert pairs.nunique() == len({(v["prompt"], frozenset((v["left"], v["right"]))) for v in votes}) == 2139
    # by whom and for whom, whichever side a row shows first
    wins = Counter()
    for row in marks[marks["score"] != 0].itertuples():
        wins[row.system if row.score > 0 else row.system_b] += 1
    assert wins == Counter(v[v["winner"]] for v in votes if v["winner"] != "tie")
    assert (marks["score"] == 0).sum() == 3471


def test_pandalm(more_data, tmp_path):
    """Printed: majorities 105, 422, 472; Cohen's kappa .85, .88, .86."""
    path = more_data / "pandalm" / "testset-v1.json"
    marks = tried(tmp_path, path).frames["annotations"]
    assert len(marks) == 3 * 999
    records = json.loads(path.read_text())
    first = {(f"{r['idx']}_{r['cmp_key'].split('_')[0]}"): r for r in records}
    # a row may show a pair from its other side; what the file calls the first is turned back
    side = marks["dialogue"].isin(list(first)).map({True: 1, False: -1})
    choice = (marks["score"] * side).map({1: 1, 0: 0, -1: 2})
    wide = marks.assign(choice=choice).pivot_table(index="context", columns="annotator", values="choice")
    majority = Counter(Counter(row).most_common(1)[0][0] for row in wide.to_numpy())
    assert majority == {0: 105, 1: 422, 2: 472}
    kappas = [kappa(wide[a], wide[b]) for a, b in combinations(wide, 2)]
    assert np.round(kappas, 2).tolist() == [0.85, 0.88, 0.86]


def kappa(a, b):
    observed = (a == b).mean()
    chance = sum((a == v).mean() * (b == v).mean() for v in set(a) | set(b))
    return (observed - chance) / (1 - chance)


def test_alttest_ratings(more_data, tmp_path):
    """The file of the language models beside that of the people is read with it."""
    human, models = (more_data / "alttest" / "10k_prompts" / f"{who}_annotations.json" for who in ("human", "llm"))
    built = tried(tmp_path, human)
    for path, kind in ((human, "human"), (models, "llm")):
        marks = built.frames["annotations"]
        marks = marks[marks["annotator_kind"] == kind]
        written = json.loads(path.read_text())
        values = Counter(v for own in written.values() for v in own.values())
        assert marks["score"].value_counts().to_dict() == values
        assert marks.groupby("annotator").size().sort_values().tolist() == sorted(map(len, written.values()))
    assert built.profile["n_annotators"] == 13


def test_alttest_choices(more_data, tmp_path):
    """Keys such as `82__alpha__beta__1` name prompt, systems and turn."""
    path = more_data / "alttest" / "mtbench" / "human_annotations.json"
    marks = tried(tmp_path, path).frames["annotations"]
    marks = marks[marks["annotator_kind"] == "human"]
    written = [(key.split("__"), v) for own in json.loads(path.read_text()).values() for key, v in own.items()]
    wins = Counter(parts[1] if v == "model_a" else parts[2] for parts, v in written if v != "tie")
    found = Counter(r.system if r.score > 0 else r.system_b for r in marks[marks["score"] != 0].itertuples())
    assert found == wins
    assert len(marks) == len(written) == 246
    assert len(marks.drop_duplicates(["dialogue", "dialogue_b"])) == 120


@pytest.mark.evidence
def test_dices(more_data, tmp_path):
    """Printed: nominal alpha 0.14324966231784253 of 76 positions."""
    marks = tried(tmp_path, more_data / "dices" / "dices_990.json").frames["annotations"]
    assert len(marks) == 72_103
    assert not marks["annotator_known"].any()
    # the positions are those of people in a list: alpha needs the values of each item only
    counts = pd.crosstab(marks["dialogue"], marks["score"])
    found = krippendorff.alpha(value_counts=counts.to_numpy(), level_of_measurement="nominal")
    assert found == pytest.approx(0.14324966231784253, abs=1e-12)


def test_conture(more_data, tmp_path):
    """Turns are a second source, which `new` writes. Counted in the file: 328, 237, 501 of 1,066 turns."""
    path = more_data / "conture" / "data.json"
    built = tried(tmp_path, path)
    marks = built.frames["annotations"]
    on_turns = marks[marks["method"] == "turn_rating"]["score"].value_counts().sort_index()
    assert on_turns.tolist() == [328, 237, 501]
    written = json.loads(path.read_text())
    ratings = Counter((k, v) for d in written for r in d["dialog_ratings"] for k, v in r.items() if v != "N/A")
    whole = marks[marks["method"] == "dialogue_rating"]
    assert len(whole) == sum(ratings.values())
    assert whole[whole["label"] == "likeable"]["score"].value_counts().to_dict() == {
        v: n for (k, v), n in ratings.items() if k == "likeable"
    }
    per_dialogue = whole[whole["label"] == "coherent"].groupby("dialogue").size().value_counts().to_dict()
    assert per_dialogue == {3: 110, 2: 9}


def test_squality(more_data, tmp_path):
    """Means of item means in the file: bart 34.8 15.6 18.1, bart-dpr 45.4 24.3 27.9, human 94.1 88.8 91.3."""
    marks = tried(tmp_path, more_data / "squality" / "all-responses.jsonl").frames["annotations"]
    items = marks.groupby(["system", "label", "dialogue"])["score"].mean()
    means = items.reset_index().pivot_table(index="system", columns="label", values="score").round(1)
    shown = means[["correctness_rating", "selection_rating", "overall_rating"]]
    assert shown.loc["bart"].tolist() == [34.8, 15.6, 18.1]
    assert shown.loc["bart-dpr"].tolist() == [45.4, 24.3, 27.9]
    assert shown.loc["human"].tolist() == [94.1, 88.8, 91.3]
    assert marks["annotator"].nunique() == 4


def test_mturk_decoding(more_data, tmp_path):
    """Printed: pairs of workers who agree: grammar 92 of 125, coherence 75, interesting 64."""
    path = more_data / "mturk_decoding" / "Batch_3539631_batch_results.csv"
    built = tried(tmp_path, path)
    marks = built.frames["annotations"]
    agreed = {}
    for label, rows in marks.groupby("label"):
        agreed[label] = sum(len(set(g)) == 1 for _, g in rows.groupby("dialogue")["score"])
    assert agreed == {"grammar": 92, "coherence": 75, "interesting": 64}
    shares = defaultdict(list)
    for row in marks[marks["label"] == "grammar"].itertuples():
        shares[row.system.rsplit(".json", 1)[0]].append(row.score)
    printed = {"clustered/diverse_beam_search_bs100_dbs0.8": 0.833, "original/random_sampling_temp1.0": 0.3}
    assert {name: round(float(np.mean(shares[name])), 3) for name in printed} == printed


@pytest.mark.parametrize("name", ["CCPE", "MWOZ", "ReDial", "SGD"])
def test_uss_gets_a_clear_answer(more_data, name):
    with pytest.raises(DataError) as error:
        draft.new_yaml("tried", more_data / "uss" / f"{name}.txt")
    assert "blocks of lines divided by empty lines" in str(error.value)
    assert "header `dialogue,turn,system,annotator,label,score`" in str(error.value)
