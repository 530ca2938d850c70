"""The project as a whole: its layers, its dependencies, and what README and environment say of them."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import yaml
from packaging.pylock import Pylock
from packaging.requirements import Requirement
from packaging.version import Version

import judgebook
from judgebook.pipeline.closure import imported
from judgebook.study import questions

ROOT = Path(__file__).resolve().parents[1]
#: the packages of the design, each used for what it does best
DESIGN = (
    *("jupyterlab", "papermill", "pandas", "statsmodels", "scipy", "seaborn", "matplotlib", "pingouin"),
    *("krippendorff", "nbconvert"),
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BASE = {r.name.lower(): r for r in map(Requirement, PROJECT["dependencies"])}
EXTRAS = {
    name: {r.name.lower(): r for r in map(Requirement, many)} for name, many in PROJECT["optional-dependencies"].items()
}
DECLARED = BASE | {name: r for many in EXTRAS.values() for name, r in many.items()}
#: distribution -> what it is called in imports, where that differs
MODULES = {"crowd-kit": "crowdkit", "fonttools": "fontTools", "ipython": "IPython", "pillow": "PIL", "pyyaml": "yaml"}


def locked(name: str = "requirements.lock") -> dict[str, Version]:
    """Package -> version of the lock; the newest where it differs by platform."""
    text = (ROOT / name).read_text(encoding="utf-8")
    out: dict[str, Version] = {}
    for name, version in re.findall(r"^([a-z0-9._-]+)==([^\s;]+)", text, re.MULTILINE):
        out[name] = max(out.get(name, Version("0")), Version(version))
    return out


def test_imports_run_one_way():
    """The contracts of import-linter in pyproject.toml."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as main; main()"]
    config = ["--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    done = subprocess.run([*command, *config], cwd=ROOT / "src", capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout


def test_questions_use_those_they_declare_and_never_in_a_circle():
    uses = {}
    for folder, many in questions.folders().items():
        files = sorted((ROOT / "src").joinpath(*folder.split(".")).glob("*.py"))
        assert files
        found = [imported(p.read_text(encoding="utf-8")) for p in files]
        others = {name.split(".")[2] for names in found for name in names if name.startswith("judgebook.questions.")}
        own = folder.rpartition(".")[2]
        uses[own] = others - {own}
        assert uses[own] == {other for question in many for other in question.uses}, folder
    tuple(TopologicalSorter(uses).static_order())  # raises CycleError


@cache
def packages() -> set[str]:
    """What our code and notebooks import, but for itself and the standard library."""
    imported = set()
    code = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")]
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    for text in code:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    return imported - sys.stdlib_module_names - {"helpers", "judgebook", "compendium"}


def test_every_import_is_declared_and_every_dependency_imported():
    """What other packages happen to bring may go with any of their versions."""
    assert set(DESIGN) <= packages()
    modules = {name: MODULES.get(name, name.replace("-", "_")) for name in DECLARED}
    assert packages() - set(modules.values()) == set()
    ours = {name for name in DECLARED if name not in {**EXTRAS["test"], **EXTRAS["dev"]}}
    assert {name for name in ours if modules[name] not in packages()} == set()


def test_environment_pyproject_and_lock_agree():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    listed = {r.name: r for r in (Requirement(d) for d in environment if isinstance(d, str) and d != "pip")}
    assert str(listed.pop("python").specifier) == str(Requirement(f"python{PROJECT['requires-python']}").specifier)
    assert set(listed) == set(DESIGN)
    versions = locked()
    for name, requirement in listed.items():
        assert requirement.specifier == DECLARED[name].specifier, name
    for name, requirement in BASE.items():
        assert versions[name] in requirement.specifier, name


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-test.lock"])
def test_the_lock_names_no_index_and_hashes_everything(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text
    for block in re.split(r"\n(?=[a-z0-9])", text)[1:]:
        assert "--hash=sha256:" in block, block.splitlines()[0]


def test_pylock_holds_the_same_and_names_no_registry():
    text = (ROOT / "pylock.toml").read_text(encoding="utf-8")
    assert "://" not in text
    lock = Pylock.from_dict(tomllib.loads(text))
    lock.validate()
    found = {(package.name, package.version) for package in lock.packages}
    listed = re.findall(r"^([a-z0-9._-]+)==([^\s;]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert found == {(name, Version(version)) for name, version in listed}
    for package in lock.packages:
        files = [*(package.wheels or []), *([package.sdist] if package.sdist else [])]
        assert files, package.name
        assert all(file.path.startswith("wheels/") and file.hashes["sha256"] for file in files), package.name


def test_descriptions_of_the_project_agree():
    """Those for citing, for archives and for catalogues; fields of the owner are left out (docs/development.md)."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    meta, zenodo = (json.loads((ROOT / n).read_text(encoding="utf-8")) for n in ("codemeta.json", ".zenodo.json"))
    versions = [judgebook.__version__, citation["version"], meta["version"], meta["softwareVersion"], zenodo["version"]]
    assert set(versions) == {PROJECT["version"]}
    assert citation["title"] == zenodo["title"] == meta["alternateName"]
    assert (meta["name"], meta["description"]) == (PROJECT["name"], PROJECT["description"])
    assert citation["abstract"].startswith(PROJECT["description"])
    assert zenodo["description"].startswith(f"<p>{PROJECT['description']}")
    assert citation["license"] == zenodo["license"] == meta["license"].rpartition("/")[2] == PROJECT["license"]
    assert citation["keywords"] == meta["keywords"] == zenodo["keywords"]


def test_the_workflow_pins_actions_and_runs_what_users_run():
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {}
    assert all(job["permissions"] == {"contents": "read"} for job in workflow["jobs"].values())
    used = re.findall(r"uses: (\S+)(.*)", text)
    assert used
    for action, comment in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r"  # v\d+\.\d+\.\d+", comment), action
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"run: make (\w+)", text):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    # on Windows, without make: the same tests
    assert f"python.exe {re.search(r'^TESTS := (.*)', makefile, re.MULTILINE)[1]}" in text
    listed = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    newest = int(re.search(r"<3\.(\d+)", PROJECT["requires-python"])[1]) - 1
    assert listed == [f"3.{minor}" for minor in range(11, newest + 1)]


def test_links_between_pages_lead_somewhere():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    for path in [*pages, *ROOT.glob("docs/*.md"), *ROOT.glob("docs/decisions/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", path.read_text(encoding="utf-8")):
            assert target.startswith("http") or (path.parent / target).exists(), (path, target)
