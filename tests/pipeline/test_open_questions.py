"""What nobody confirmed, on the first page and on its summary."""

from PIL import Image

from judgebook.pipeline import first_page
from judgebook.pipeline.first_page import few_of_a_kind
from judgebook.pipeline.page_jobs import IndexJob, Shared
from judgebook.report.html import Answered, Before, Cite
from judgebook.summary.answers.verdicts import Order
from judgebook.summary.findings import PageAnswer, Preface

WAYS = tuple((f"direction of x{i}", f"Is a high score of `x{i}` good or bad?") for i in range(4))
SYSTEM = ("system", "Which column names the system: `bot` or `model`?")


def test_many_questions_of_a_kind_are_one_line():
    scales = (("scale of x0", "Which scale was offered?"), ("scale of x1", "Which scale?"))
    assert few_of_a_kind((SYSTEM, *WAYS, *scales)) == (
        SYSTEM,
        ("direction of 4 labels", "Is a high score of `x0` good or bad? So for 3 more, which `check` lists."),
        *scales,
    )


def test_the_summary_and_its_picture_count_them_in_a_line(tmp_path):
    cite = Cite("A report.", "", "", ())
    asked, line = (SYSTEM, *WAYS), "5 open questions: system and direction of 4 labels."
    job = IndexJob(Shared("S", False, ()), "s", "", asked, {}, (), (), cite, tmp_path / "index.html")
    answer = PageAnswer("order", Order.FIRST, "**A leads.**")
    before, preface = Before((), "", unconfirmed=few_of_a_kind(asked)), Preface("", "", "**For whom.** All.")
    first_page.summarise(job, [answer], [Answered("order", "Best?", "**A leads.**")], before, preface)
    assert line.partition(":")[2] in (tmp_path / "summary.html").read_text(encoding="utf-8")
    with Image.open(tmp_path / "summary.png") as picture:
        assert line in picture.info["Description"]
