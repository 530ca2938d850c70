"""Human evaluation of chat systems: annotations in, a defensible evaluation report out.

The command line makes the report; see `judgebook --help`, in a checkout `python run_all.py --help`:

    judgebook new mine --data my.csv     a first YAML for data of your own
    judgebook check mine                 is it right, and what will each notebook do?
    judgebook --study mine               notebooks, results, figures, tables and pages

In a notebook, a frame of judgements is enough:

    import judgebook as jb

    roles = {"item": "prompt", "annotator": "rater", "system": "model", "score": "helpful"}
    jb.audit(frame, **roles)                        # an Audit: six answers about the judgements
    jb.agreement(frame, **roles)                    # an Analysis: do annotators agree?
    jb.rank(frame, **roles)                         # which system is best?
    jb.plan(frame, **roles)                         # how many dialogues does the next study need?
    jb.fit(frame, system=…, score=…)                # a FittedModel: levels, contrasts, components, P(best)
    jb.compare(june, july)                          # ComparedStudies: are the results of one reproduced in the other?

What is listed here besides reads what a run left, and what a YAML and its data amount to:

    import judgebook as jb

    study = jb.open_study("mine")        # as its last run left it
    study.statistics                     # what the notebooks stored
    study.results("mean")                # one row per estimate, with its interval
    study.scores                         # one row per judgement
    jb.read_answers("mine")              # the answers of its first page, as data

    jb.own_notebook("20_mine", study, run_id)  # begins a page of one's own: docs/own_project.md

    jb.study_names()                     # YAMLs in params/, and public studies that come with the package
    yaml = jb.load_study("mine", {"bootstrap": {"n_resamples": 500}})
    data = jb.build(yaml)                # its files read and checked: no run is needed
    data.frames["annotations"]           # docs/results.md describes frames and rows of results

ParamsError names line and key of a wrong YAML, DataError file, row and column of wrong data, FitError the column
of a frame; every error of the package's own is a JudgebookError. A study that was not run is a FileNotFoundError.
Folders are those of the command line: the current one (in a checkout, the checkout), for output $COMPENDIUM_OUT
where it is set.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgebook.errors import JudgebookError
    from judgebook.extras.compare.calling import ComparedStudies, compare
    from judgebook.extras.new.auditing import audit
    from judgebook.extras.new.calls.analyses import agreement, plan, rank
    from judgebook.model.calling import FitError, FittedModel, fit
    from judgebook.pipeline.audit.result import Analysis, Audit
    from judgebook.sources.build import Built, build
    from judgebook.study.own_notebook import own_notebook
    from judgebook.study.params import ParamsError
    from judgebook.study.params import load as load_study
    from judgebook.study.params import names as study_names
    from judgebook.study.schema import DataError
    from judgebook.study.stored import StoredStudy, open_study
    from judgebook.summary.answers.document import read_answers

__version__ = "0.2.0"
__all__ = [
    "Analysis",
    "Audit",
    "Built",
    "ComparedStudies",
    "DataError",
    "FitError",
    "FittedModel",
    "JudgebookError",
    "ParamsError",
    "StoredStudy",
    "agreement",
    "audit",
    "build",
    "compare",
    "fit",
    "load_study",
    "open_study",
    "own_notebook",
    "plan",
    "rank",
    "read_answers",
    "study_names",
]
#: public name -> module, and its name there. Imported when first used: notebooks must not depend on all of them
_HOMES = {
    "Analysis": ("judgebook.pipeline.audit.result", "Analysis"),
    "Audit": ("judgebook.pipeline.audit.result", "Audit"),
    "Built": ("judgebook.sources.build", "Built"),
    "ComparedStudies": ("judgebook.extras.compare.calling", "ComparedStudies"),
    "DataError": ("judgebook.study.schema", "DataError"),
    "FitError": ("judgebook.model.calling", "FitError"),
    "FittedModel": ("judgebook.model.calling", "FittedModel"),
    "JudgebookError": ("judgebook.errors", "JudgebookError"),
    "ParamsError": ("judgebook.study.params", "ParamsError"),
    "StoredStudy": ("judgebook.study.stored", "StoredStudy"),
    "agreement": ("judgebook.extras.new.calls.analyses", "agreement"),
    "audit": ("judgebook.extras.new.auditing", "audit"),
    "build": ("judgebook.sources.build", "build"),
    "compare": ("judgebook.extras.compare.calling", "compare"),
    "fit": ("judgebook.model.calling", "fit"),
    "load_study": ("judgebook.study.params", "load"),
    "open_study": ("judgebook.study.stored", "open_study"),
    "own_notebook": ("judgebook.study.own_notebook", "own_notebook"),
    "plan": ("judgebook.extras.new.calls.analyses", "plan"),
    "rank": ("judgebook.extras.new.calls.analyses", "rank"),
    "read_answers": ("judgebook.summary.answers.document", "read_answers"),
    "study_names": ("judgebook.study.params", "names"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, original = _HOMES[name]
    return getattr(import_module(module), original)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
