"""LaTeX of tables: whatever the data hold, it compiles and fits the page."""

import re
import shutil
import subprocess
import unicodedata

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgebook.display import latex

HOSTILE = [
    r"100% of $x_1 & #2 {a} ~b ^c \input{/etc/passwd} \\",
    "α β Γ Ω ϵ ς λ ≥ ≤ ≠ − – — × → ² “quoted” ‘q’ „low“ \"straight\" `tick` it's",
    "Ångström, Łódź, naïve, Đorđe, señor, Žižek, Ğ, œuvre, ß, í, ĵ, ø, Ṡ",
    "中文 😀 עברית \u200b\u202e x\u0301\u0302",
    "[starts with a bracket]",
    "*starred",
    "--- a -- b <c> |d| <<e>> ?`f",
    "",
]  # fmt: skip


def compiled(folder, body: str) -> str:
    """The log of pdflatex on a document with `body`; fails where it does not compile."""
    if not shutil.which("pdflatex"):
        pytest.skip("pdflatex is not installed")
    head = r"\documentclass{article}\usepackage[margin=2.5cm,a4paper]{geometry}\usepackage{array,booktabs,longtable}"
    (folder / "t.tex").write_text(rf"{head}\begin{{document}}{body}\end{{document}}", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "t.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=600)
    assert done.returncode == 0, done.stdout[-2000:]
    return (folder / "t.log").read_text(errors="replace")


def overfull(log: str) -> list[float]:
    return [float(x) for x in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]


@given(st.text(max_size=30))
def test_escaped_text_is_plain_ascii(text):
    assert latex.tex(text).isascii()


def test_letters_of_the_greek_and_latin_alphabets_have_commands():
    assert latex.tex("α Α Ω ο λ Λ ς") == r"$\alpha$ A $\Omega$ o $\lambda$ $\Lambda$ $\varsigma$"
    assert latex.tex("é ñ ö Ç š ı í") == r"\'{e} \~{n} \"{o} \c{C} \v{s} \i{} \'{\i}"
    assert latex.tex("中") == "[U+4E2D]"
    assert latex.tex("−0.5 ≥ 2") == r"$-$0.5 $\geq$ 2"
    assert "[U+" not in latex.tex("".join(c for c in map(chr, range(0x391, 0x3CA)) if unicodedata.name(c, "")))


def test_captions_and_notes_show_code_as_code_and_cells_do_not(tmp_path):
    text = latex.table(pd.DataFrame({"a": ["`x`"]}), "Of `a_b`. See `c`.", "t", ["No `d`."], [False])
    assert r"\caption{Of \texttt{a\_b}.}" in text
    assert [text.count(rf"\texttt{{{code}}}") for code in ("c", "d", "x")] == [1, 1, 0]
    compiled(tmp_path, text)


def test_hostile_names_compile(tmp_path):
    frame = pd.DataFrame({HOSTILE[0]: HOSTILE, "[b]": HOSTILE[::-1], "*": ["1"] * len(HOSTILE)})
    text = latex.table(frame, HOSTILE[0], "x_1", HOSTILE, [False, False, True])
    compiled(tmp_path, text)


@pytest.mark.verify
@pytest.mark.parametrize(("rows", "columns"), [(3, 12), (120, 60)])
def test_tables_of_any_size_compile_and_fit(tmp_path, rows, columns):
    labels = [f"Emotion understanding {i}" for i in range(rows)]
    frame = pd.DataFrame({"Group": ["Students, external"] * rows, "Label": labels})
    frame = frame.assign(**{f"BlenderBot system number {j}": ["−0.46 [−1.40, 0.51]"] * rows for j in range(columns)})
    text = latex.table(frame, "Means by system.", "t", [], [False, False, *[True] * columns])
    assert not [o for o in overfull(compiled(tmp_path, text)) if o > 3]
    assert text.count("BlenderBot") in (columns, 2 * columns)  # a longtable repeats its head
