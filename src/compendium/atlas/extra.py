"""`atlas`: the statistics of every public study, as committed in data/atlas; and the page on where results of a study
stand among them.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from compendium.atlas.standing import NAME, TITLE
from judgebook.pipeline.commands import options
from judgebook.plugins import Command, Extra, Page

if TYPE_CHECKING:
    from judgebook.pipeline.nodes import Node
    from judgebook.pipeline.pages import Pages
    from judgebook.study.params import Study


def _options(parser: argparse.ArgumentParser) -> None:
    about = "compute these only; the rows of other studies stay as committed"
    parser.add_argument("--study", dest="studies", nargs="+", default=[], metavar="NAME", help=about)
    lacking = "compute nothing; say what this study lacks to be part of the atlas (docs/adding_a_study.md)"
    parser.add_argument("--check", metavar="NAME", help=lacking)
    parser.add_argument("--out", metavar="DIR", help="write to DIR instead of data/atlas")
    parser.add_argument("--jobs", type=options.jobs, default=argparse.SUPPRESS, metavar="N", help="studies at a time")


def _atlas(args: argparse.Namespace) -> int:
    if args.check:
        from compendium.atlas import contributing

        return contributing.command(args.check)
    from compendium.atlas.writing import command
    from judgebook.pipeline.run import DEFAULT_JOBS

    return command(args.studies, args.out, args.jobs or DEFAULT_JOBS)


ATLAS = Command(
    name="atlas",
    title="compute the statistics of every public study in data/atlas",
    about="""\
For maintainers: read the raw files of every public study, compute what human evaluations are like (agreement,
components of variance, reliability, what survives clustering) and write data/atlas: studies.csv, labels.csv, values.csv
and README.md, which explains every column. Takes about ten minutes on two cores. Raw files are sought as in a run
($COMPENDIUM_RAW, data/raw); without those of some study nothing is computed, unless --study names others.

  python run_all.py atlas --study fed usr
  python run_all.py atlas --check my_study      what a study lacks to be part of it""",
    place=45,
    options=_options,
    run=_atlas,
    examples="  python run_all.py atlas --study fed usr             statistics of public studies, for data/atlas\n",
    contributors=True,
)


def _applies(study: Study) -> bool:
    from compendium.atlas.standing import words

    return not study.across and words.comparable(study)


def _node(pages: Pages, after: tuple[str, ...]) -> Node:
    from compendium.atlas.standing import node

    return node.node(pages, after)


def _problem(study: Study) -> str:
    from compendium.atlas.standing import words

    return words.problem(study)


EXTRA = Extra(commands=(ATLAS,), pages=(Page(NAME, TITLE, _applies, _node, _problem),))
