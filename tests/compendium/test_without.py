"""The library works without the compendium; then it does not offer what that adds."""

import subprocess
import sys

import pytest
from fixtures.library_alone import place

SECONDS = 60
ROWS = "dialogue,annotator,system,fluency\n" + "".join(
    f"d{i},{who},{'xyz'[i % 3]},{1 + (i * k) % 5}\n" for i in range(24) for k, who in enumerate("abc", start=2)
)


@pytest.fixture(scope="module")
def judgebook(tmp_path_factory):
    """The command, called in a folder of its own."""
    environment, folder = place(tmp_path_factory.mktemp("site"), "paper"), tmp_path_factory.mktemp("anywhere")
    (folder / "my.csv").write_text(ROWS, encoding="utf-8")

    def call(*arguments, code=0):
        command = [sys.executable, "-m", "judgebook", *arguments]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    assert subprocess.run([sys.executable, "-c", "import compendium"], env=environment, cwd=folder).returncode
    call.folder = folder
    return call


def test_notebooks_and_commands_that_the_compendium_adds_are_not_offered(judgebook):
    said = judgebook("--list")
    assert "80_operating_characteristics" in said
    assert "adapter: expected one of abc_eval, behaviors, records, table, transcripts, found 'ji2022'" in said
    assert not {"90_scoreboard", "91_consistency_audit", "92_human_evaluations"} & {*said.split()}
    assert "unknown command 'atlas'" in judgebook("atlas", code=2)


@pytest.mark.verify
def test_a_file_is_audited(judgebook):
    assert "Which system is best, and how certain is that?" in (said := judgebook("audit", "my.csv", "--yes"))
    assert "failed" not in said
    assert list(judgebook.folder.glob("**/results/03_iaa.parquet"))


@pytest.mark.evidence
def test_every_notebook_of_a_study_runs_and_compares_nothing_with_the_paper(judgebook, raw_data):
    (raw := judgebook.folder / "data" / "raw").mkdir(parents=True)
    (raw / "finch2024").symlink_to(raw_data / "finch2024")
    judgebook("--study", "finch2024", "--only", "03", "--jobs", "1", "--set", "figures.formats=[svg]")
    page = (judgebook.folder / "reports" / "finch2024" / "03_iaa.html").read_text("utf-8")
    assert "as printed and in this study" not in page
