"""`audit`: answers about a file or a frame, without a project."""

import re

import numpy as np
import pandas as pd
import pytest
import yaml

import judgebook as jb
from judgebook.extras.new.calls import frames
from judgebook.pipeline.audit import computing
from judgebook.pipeline.cli import main
from judgebook.study.results import where

SECONDS = 60
FILES = ("answers.json", "audit.html", "audit.md", "ratings.yaml")


def judgements(gap: float = 1.0) -> pd.DataFrame:
    """Three systems on 12 prompts, judged by six people; `new` is better than `mid` and `old` by `gap` and twice it."""
    rng, rows = np.random.default_rng(3), []
    for prompt in range(12):
        for k, bot in enumerate(("old", "mid", "new")):
            for who in range(6):
                score = int(np.clip(round(2 + gap * k + rng.normal(0, 0.6)), 1, 5))
                rows.append((f"prompt {prompt}", bot, f"rater {who}", score, int(rng.integers(1, 6))))
    return pd.DataFrame(rows, columns=["prompt", "bot", "who", "quality", "noise"])


@pytest.fixture(scope="module")
def called(tmp_path_factory):
    """What `audit ratings.csv` prints, and the folder it writes."""
    folder = tmp_path_factory.mktemp("called")
    judgements().drop(columns="noise").to_csv(folder / "ratings.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        lines: list[str] = []
        patch.setattr("builtins.print", lambda *args, sep=" ", **_: lines.append(sep.join(map(str, args))))
        code = main(["audit", "ratings.csv", "--yes"])
    return code, "\n".join(lines), folder


@pytest.fixture(scope="module")
def audited():
    return jb.audit(judgements(), item="prompt", annotator="who", system="bot", score="quality")


@pytest.mark.verify
def test_a_file_is_answered_in_a_folder_of_its_own(called):
    code, said, folder = called
    assert code == 0, said
    assert sorted(p.name for p in folder.iterdir()) == ["ratings.csv", "ratings_audit"]
    assert all((folder / "ratings_audit" / name).is_file() for name in FILES)
    assert re.search(r"Which system is best.*\n\s+new is best of 3 systems", said)


@pytest.mark.verify
def test_a_yaml_that_was_corrected_is_used(called, monkeypatch, capsys):
    _, _, folder = called
    monkeypatch.chdir(folder)
    path = folder / "ratings_audit" / "ratings.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("direction: 1", "direction: -1"), encoding="utf-8")
    assert main(["audit", "ratings.csv"]) == 0
    said = capsys.readouterr().out
    assert "using ratings_audit/ratings.yaml" in said
    assert "old is best of 3 systems" in said
    path.write_text(text, encoding="utf-8")


@pytest.mark.verify
def test_of_votes_it_says_what_has_changed_since_a_day(tmp_path, monkeypatch, capsys):
    """The column of times is read where it is asked for: `a` was the worst of three in October, and is the best."""
    monkeypatch.chdir(tmp_path)
    rng, names, n = np.random.default_rng(1), np.array(["a", "b", "c"]), 1200
    one, x = rng.integers(3, size=n), np.array([[-1.0, 0, 0], [1, 0, 0]])[np.arange(n) // 600].T
    other, at = (one + rng.integers(1, 3, size=n)) % 3, np.arange(n)
    won = rng.random(n) < 1 / (1 + np.exp(x[other, at] - x[one, at]))
    days = (pd.Timestamp("2026-10-02") + pd.to_timedelta(at // 20, "D")).astype(str)
    rows = {"prompt": at // 3, "model_a": names[one], "model_b": names[other], "voter": at % 40, "day": days}
    frame = pd.DataFrame(rows | {"winner": np.where(won, "model_a", "model_b")})
    frame.to_json("votes.jsonl", orient="records", lines=True)
    assert main(["audit", "votes.jsonl", "--yes", "--since", "2026-11-01"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Since 2026-11-01, 1 of 3 systems has changed by more than chance explains: a is stronger (" in said


def test_what_is_open_is_said_and_has_an_exit_code(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = judgements().rename(columns={"quality": "flurbiness"}).drop(columns="noise")
    frame.to_csv("open.csv", index=False)
    monkeypatch.setattr(computing, "_carried_out", lambda nodes, name, **_: ("failed", "not computed here"))
    assert main(["audit", "open.csv"]) == 1
    said = capsys.readouterr().out
    assert "Not confirmed: direction of flurbiness" in said
    assert "open: answer in open_audit/open.yaml, and call the same command again" in said
    assert "failed: not computed here" in said


@pytest.mark.verify
def test_a_frame_is_answered(audited):
    answers = audited.answers
    assert answers.loc["order", "answer"].startswith("new is best of 3 systems on Quality (over 99% sure). It is ")
    means = audited.frames["mean"]
    assert set(means["label"]) == {"quality"}, "columns that were not named are left out"
    of_bot = where(means, interval="dialogue and annotator").set_index("system")["estimate"]
    by_hand = judgements().groupby("bot")["quality"].mean()
    assert of_bot.to_dict() == pytest.approx(by_hand.to_dict())
    assert len(audited.frames["annotations"]) == len(judgements())
    assert yaml.safe_load(audited.yaml.read_text(encoding="utf-8"))["labels"]["quality"]["direction"] == 1
    assert "<script" not in audited._repr_html_()
    assert all((audited.folder / name).is_file() for name in FILES[:3]), "drawn when they are asked for"


def test_what_is_stated_of_a_label_is_not_asked(tmp_path):
    frame = judgements().assign(flurb=lambda f: f["quality"].clip(3, 5)).drop(columns=["quality", "noise"])
    frame.to_parquet(tmp_path / "stated.parquet")
    roles, facts = {"dialogue": "prompt", "annotator": "who", "system": "bot"}, {"direction": 1, "scale": (1, 5)}
    asked = frames.drafted(tmp_path / "stated.parquet", tmp_path, roles, {}, ())
    assert {q.fact for q in asked.questions} == {"direction of flurb", "scale of flurb"}
    out = frames.drafted(tmp_path / "stated.parquet", tmp_path, roles, {"flurb": facts}, ())
    assert not out.questions
    assert yaml.safe_load(out.text)["labels"] == {"flurb": {"direction": 1, "scale": [1, 5]}}
    with pytest.raises(jb.ParamsError, match="no scores of 'flub' in the data; did you mean 'flurb'"):
        frames.drafted(tmp_path / "stated.parquet", tmp_path, roles, {"flub": facts}, ())
