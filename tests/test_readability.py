"""The script that says how long pages take to read finds what is too much, and nothing else."""

from readability import read, sentences

LONG = " ".join(["Word"] * 36) + "."
ROW = "<tr><td>1</td><td>2</td></tr>"
PAGE = """<main><h1>Q</h1><div class="answer"><h2>What we see</h2>{answer}</div>
<h2>Full</h2><p>Krippendorff et al. 2004 say so. {said}</p><h2>Next</h2>{rest}</main>"""


def misses(tmp_path, *, answer="<p>Yes.</p>", said="", rest="<p>x</p>", name="03_iaa.html"):
    path = tmp_path / name
    path.write_text(PAGE.format(answer=answer, said=said, rest=rest), encoding="utf-8")
    return read(path).misses


def test_a_page_within_the_limits_has_no_misses(tmp_path):
    folded = f"<details><summary>More</summary><p>{'Word. ' * 130}</p></details>"
    assert misses(tmp_path, answer=f"<p>Yes.</p>{folded}") == []


def test_each_limit_is_looked_at(tmp_path):
    assert misses(tmp_path, answer=f"<p>{'Word. ' * 121}</p>") == ["123 words in sight"]
    assert misses(tmp_path, answer="<ul>" + "<li>a</li>" * 4 + "</ul>") == ["4 bullets in sight"]
    assert misses(tmp_path, said=LONG) == [f"36 words: {LONG}"]
    assert misses(tmp_path, rest='<details class="code"><p>x</p></details>') == ["empty section: Next"]
    head = "<thead><tr><th>a</th><th>b</th></tr></thead>"
    table = f"<table>{head}<tbody>{ROW * 13}</tbody></table>"
    assert len(misses(tmp_path, rest=table)) == 1
    assert misses(tmp_path, rest=f'<div class="table-box">{table}</div>') == []  # the script of the page folds it


def test_of_the_first_page_all_above_the_notebooks_counts(tmp_path):
    path = tmp_path / "index.html"
    path.write_text(f'<main><h1>S</h1><section class="asked"><p>{"Word. " * 350}</p></section></main>')
    assert read(path).misses == ["351 words in sight"]


def test_abbreviations_end_no_sentence():
    assert sentences("Finch et al. Say so. It does, e.g. Here.") == ["Finch et al. Say so.", "It does, e.g. Here."]
