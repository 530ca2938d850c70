"""Questions of `new`: which are asked, what answers change, who answers, exit codes; nothing tells who somebody is."""

import sys

import pytest
import yaml

from judgebook.extras.new import draft, writing
from judgebook.extras.new.asking import terminal
from judgebook.extras.new.asking.edits import edited
from judgebook.sources import build, in_words
from judgebook.study import params

HEAD = "dialogue,system,annotator,fluency,tone"
ROWS = [f"d{i // 6},{'ab'[i // 3 % 2]},w{i % 3},{1 + i % 5},{1 + i * 7 % 5}" for i in range(36)]


def save(folder, head=HEAD, rows=ROWS):
    path = folder / "my.csv"
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


def asking(answers):
    shown, typed = [], iter(answers)

    def ask(text):
        shown.append(text)
        answer = next(typed, None)
        if answer is None:
            raise EOFError
        return answer

    return ask, shown


def written(folder, data, **how):
    out = draft.drafted("mine", data, folder)
    code = writing._written(folder / "mine.yaml", out, lambda given: draft.drafted("mine", data, folder, given), **how)
    return code, (folder / "mine.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    ("typed", "direction", "is_open"),
    [(["x", "3"], -1, False), ([""], None, False), (["5"], None, True), ([], None, True)],
)
def test_an_answer_changes_the_yaml_and_closes_the_question(tmp_path, typed, direction, is_open):
    """Enter takes what is assumed; the last choice, to decide later, and no answer leave it open."""
    ask, shown = asking(typed)
    out = terminal.settle(draft.drafted("mine", save(tmp_path), tmp_path), lambda given: None, ask)
    data = yaml.safe_load(terminal.carried(out))
    assert data["labels"]["tone"].get("direction") == direction
    assert list(data.get("open_questions", [])) == ["direction of tone"] * is_open
    assert "  1  not known, so it enters no headline\n" in shown[0]
    assert len(shown) == max(1, len(typed))


def test_another_column_is_looked_at_anew(tmp_path):
    """Two columns are named for the system and tell the rows of an item apart; which it is changes what an item is."""
    rows = [f"c{i // 4},m{i // 2 % 2},e{(i // 2 + i // 4) % 2},p{i % 2},{1 + i % 5}" for i in range(40)]
    data = save(tmp_path, "conversation,model,engine,rater,fluency", rows)
    first = draft.drafted("mine", data, tmp_path)
    assert [q.fact for q in first.questions] == ["system"]
    out = terminal.settle(first, lambda given: draft.drafted("mine", data, tmp_path, given), asking(["2"])[0])
    text = terminal.carried(out)
    (source,) = yaml.safe_load(text)["sources"]
    assert source["columns"]["system"] == "engine"
    assert source["identify"] == {"dialogue": ["conversation", "engine"]}
    assert "system: engine  # as answered" in text
    assert "# Answered: system: the column 'engine'" in text
    assert "open_questions" not in text


def test_exit_codes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    assert written(tmp_path, save(tmp_path), yes=False)[0] == 3
    assert "direction of tone: Is a high score of tone good or bad?" in capsys.readouterr().out
    code, text = written(tmp_path, save(tmp_path), yes=True)
    assert (code, "open_questions" in text) == (0, False)
    assert "# Accepted by --yes: direction of tone: not known" in text
    assert written(tmp_path, save(tmp_path, HEAD.replace("tone", "relevance")), yes=False)[0] == 0
    twice = [*ROWS, *ROWS]
    assert written(tmp_path, save(tmp_path, rows=twice), yes=True)[0] == 2


AGAIN = [*ROWS[:2], ROWS[4].replace(",5,", ",1,")]


def test_a_judgement_again_waits_for_an_answer(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    data = save(tmp_path, HEAD.replace("tone", "relevance"), [*ROWS, *AGAIN])
    code, text = written(tmp_path, data, yes=False)
    assert code == 3
    question = yaml.safe_load(text)["open_questions"]["repeats"]
    assert question.endswith("Assumed: none: the data cannot be read until it is said (6 judgements of 78 again).")
    assert "# or: the last in the file: `repeats: last`" in text
    assert "complete it by hand" in capsys.readouterr().out
    out = terminal.settle(draft.drafted("mine", data, tmp_path), lambda given: None, asking(["2"])[0])
    (source,) = yaml.safe_load(terminal.carried(out))["sources"]
    assert source["repeats"] == "last"


def test_the_last_by_time_is_proposed(tmp_path):
    rows = [*ROWS, *AGAIN]
    times = [(f"2024-05-0{1 + (i < len(AGAIN))} 10:{i:02d}:00", f"2024-05-01 09:{i:02d}:00") for i in range(len(rows))]
    timed = [f"{row},{','.join(t)}" for row, t in zip(rows, times, strict=True)]
    data = save(tmp_path, HEAD.replace("tone", "relevance") + ",submitted_at,started_at", timed)
    out = draft.drafted("mine", data, tmp_path)
    (source,) = yaml.safe_load(out.text)["sources"]
    assert (source["columns"]["completed_at"], source["repeats"]) == ("submitted_at", "last")
    (question,) = [q for q in out.questions if q.fact == "repeats"]
    assert question.evidence == "6 judgements of 78 again: 5 with the same score, 1 with another"
    (tmp_path / "mine.yaml").write_text(terminal.carried(out), encoding="utf-8")
    assert len(build.build(params.load(tmp_path / "mine.yaml")).frames["annotations"]) == 72


def test_spellings_of_one_name_are_asked_and_merged(tmp_path):
    rows = [r.replace(",a,", ",A,") if i % 4 == 0 else r.replace("w1", "W-1") for i, r in enumerate(ROWS)]
    data = save(tmp_path, HEAD.replace("tone", "relevance"), rows)
    first = draft.drafted("mine", data, tmp_path)
    (question,) = first.questions
    assert question.fact == "spelling"
    assert question.text == "Are these one: 'a', 'A'; ids of 2 annotators?"
    assert "`spelling: {system: {a: [A]}}`" in question.alternatives[0].says
    assert "W-1" not in terminal.carried(first)
    out = terminal.settle(first, lambda given: None, asking(["2"])[0])
    (tmp_path / "mine.yaml").write_text(terminal.carried(out), encoding="utf-8")
    marks = build.build(params.load(tmp_path / "mine.yaml")).frames["annotations"]
    assert (set(marks["system"]), marks["annotator"].nunique(), len(marks)) == ({"a", "b"}, 3, 72)


def test_edits_leave_the_rest_as_it_is():
    text = "a:  # why\n  - {x: 1, y: [2]}\n  - z: 3  # because\nb: {}\nlast:\n  one: {k: 1}\n"
    assert edited(text, "a.*.y", None) == text.replace(", y: [2]", "")
    assert edited(text, "a.*.z", 4) == text.replace("y: [2]}", "y: [2], z: 4}").replace("z: 3", "z: 4")
    assert edited(text, "last.one.d", -1) == text.replace("{k: 1}", "{k: 1, d: -1}")
    assert edited(text, "last.one", None) == text.replace("  one: {k: 1}\n", "")
    assert edited("a:\n  b:\n    c: 1\n    # why\n  d: 2\n", "a.b", None) == "a:\n  d: 2\n"
    assert edited(text, "nothing.here", 1) == text
    assert edited(text, "b.c", "yes") == text.replace("b: {}", 'b: {c: "yes"}')


#: column -> a value that tells who somebody is, for person n
PLANTED = {
    "E-mail": "person{n}@example.org",
    "Full Name": "Petra Mustermann{n}",
    "IP": "192.0.2.{n}",
    "Phone": "+49 30 90182{n}",
    "Address": "Langer Weg 1{n}",
    "Worker ID": "AXQ77130{n}",
    "Contact": "someone{n}@example.net",
    "Initials": "PQX{n}",
}


@pytest.mark.parametrize("alike", [False, True])
def test_nothing_tells_who_somebody_is(tmp_path, monkeypatch, capsys, alike):
    """alike : one person wrote all rows, so that values are the same in each."""
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    people = [1] if alike else [1, 2, 3]
    rows = [
        ",".join([f"d{i}", *(v.format(n=n) for v in PLANTED.values()), str(1 + (i + n) % 5)])
        for i in range(12)
        for n in people
    ]
    data = save(tmp_path, ",".join(["dialogue", *PLANTED, "fluency"]), rows)
    _, text = written(tmp_path, data, yes=False)
    study = params.load(tmp_path / "mine.yaml")
    said = text + capsys.readouterr().out + "\n".join(in_words.describe(study, build.build(study)))
    for value in PLANTED.values():
        for n in people:
            assert value.format(n=n) not in said
