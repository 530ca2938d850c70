"""What nobody confirmed, on the first page."""

from judgebook.pipeline.rendering import few_of_a_kind


def test_many_questions_of_a_kind_are_one_line():
    ways = tuple((f"direction of x{i}", f"Is a high score of x{i} good or bad?") for i in range(4))
    scales = (("scale of x0", "Which scale was offered?"), ("scale of x1", "Which scale?"))
    system = ("system", "Which column names the system?")
    assert few_of_a_kind((system, *ways, *scales)) == (
        system,
        ("direction of 4 labels", "Is a high score of x0 good or bad? So for 3 more, which `check` lists."),
        *scales,
    )
    assert few_of_a_kind(()) == ()
