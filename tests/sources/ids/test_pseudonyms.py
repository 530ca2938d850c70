"""Numbers of people in a random order: nobody gets it from the files, and a study that is read again keeps it."""

import pandas as pd
from fixtures import yaml_studies as studies

from judgebook.sources import build
from judgebook.sources.ids.private import own_ids
from judgebook.study import params

IN_ORDER = studies.LONG.replace("  quality: {scale: [1, 5]}\n", "")
SHUFFLED = IN_ORDER + "pseudonyms: shuffled\n"
WORKERS = [f"w{i:02d}" for i in range(40)]
ROWS = [f"d{item},{'AB'[item % 2]},{who},fluency,{1 + item}" for who in WORKERS for item in range(3)]
CSV = "chat,bot,worker,what,rating\n" + "\n".join(ROWS) + "\n"


def numbers(built):
    own = built.own_ids[built.own_ids["kind"] == "person"]
    return dict(zip(own["own_id"], own["pseudonym"], strict=True))


def test_the_order_is_neither_that_of_the_files_nor_the_same_twice(tmp_path):
    in_order = numbers(studies.read(tmp_path, IN_ORDER, my_csv=CSV))
    first, second = (numbers(studies.read(tmp_path, SHUFFLED, my_csv=CSV)) for _ in range(2))
    assert set(first.values()) == set(in_order.values()) == {f"A{i:04d}" for i in range(1, 41)}
    assert len({tuple(sorted(n.items())) for n in (in_order, first, second)}) == 3  # by chance alike: 1 in 40!


def test_rows_and_tasks_follow_the_numbers_and_nothing_is_lost(tmp_path):
    built = studies.read(tmp_path, SHUFFLED, my_csv=CSV)
    marks, names = built.frames["annotations"], numbers(built)
    assert marks["annotator"].is_monotonic_increasing
    assert marks["source_row"].tolist() == list(range(120))
    read = {(names[who], f"d{item}", 1.0 + item) for who in WORKERS for item in range(3)}
    assert set(marks[["annotator", "dialogue", "score"]].itertuples(index=False, name=None)) == read


def test_a_study_that_is_read_again_keeps_its_numbers_and_new_people_change_all(tmp_path):
    study = params.load(studies.write(tmp_path, SHUFFLED, my_csv=CSV))
    first, second = (build.build(study, out=tmp_path / "out").frames["annotations"] for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
    before = own_ids(tmp_path / "out")
    (tmp_path / "my.csv").write_text(CSV + "d1,B,w99,fluency,3\n")
    build.build(study, out=tmp_path / "out")
    after = own_ids(tmp_path / "out")
    assert set(after) == {*before, "w99"}
    assert {who: after[who] for who in before} != before


def test_positions_and_models_keep_their_names(tmp_path):
    text = SHUFFLED.replace("    columns:", "    judges: {gpt-4: llm}\n    columns:")
    csv = CSV + "d1,B,gpt-4,fluency,3\n"
    marks = studies.read(tmp_path, text, my_csv=csv).frames["annotations"]
    assert marks.loc[marks["annotator_kind"] == "llm", "annotator"].tolist() == ["gpt-4"]
    assert marks["annotator"].iloc[-1] == "gpt-4"


def test_an_id_of_a_person_inside_that_of_a_dialogue_is_replaced_there_too(tmp_path):
    csv = "chat,bot,worker,what,rating\nworker7741-d1,A,worker7741,fluency,2\nd2,B,worker8852,fluency,3\n"
    built = studies.read(tmp_path, IN_ORDER, my_csv=csv)
    assert built.frames["annotations"]["dialogue"].tolist() == [f"{numbers(built)['worker7741']}-d1", "d2"]
