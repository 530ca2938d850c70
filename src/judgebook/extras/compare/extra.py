"""`compare`: were results reproduced?"""

from __future__ import annotations

import argparse

from judgebook.plugins import Command, Extra


def _options(parser: argparse.ArgumentParser) -> None:
    side = "a study, or a folder of results; STUDY:CORPUS for a part of one"
    parser.add_argument("a", metavar="A", help=side)
    parser.add_argument("b", metavar="B", help="as for A")
    renames = "name of a system or label in B, and its name in A"
    parser.add_argument(
        "--map", dest="renamed", nargs="+", action="extend", default=[], metavar="OLD=NEW", help=renames
    )
    called = "what A and B are called on the page (default: the titles of their YAMLs)"
    parser.add_argument("--titles", nargs=2, metavar=("A", "B"), help=called)
    parser.add_argument("--out", metavar="DIR", default=argparse.SUPPRESS, help="read results from, and write to, DIR")


def _compare(args: argparse.Namespace) -> int:
    from judgebook.extras.compare import page

    return page.command(args.a, args.b, args.renamed, tuple(args.titles) if args.titles else None)


COMPARE = Command(
    name="compare",
    title="compare two runs or studies: were the results reproduced?",
    about="""\
Compare the systems of two runs or studies, label by label: correlation, order, contradictions and CV*, in the terminal
and as a page. Both must have been run before.

  python run_all.py compare ji2022:free_run1 ji2022:free_run2
  python run_all.py compare mine mine_again --map old_bot=new_bot""",
    place=50,
    options=_options,
    run=_compare,
    examples="  python run_all.py compare study:run_1 study:run_2   were the results reproduced?\n",
)

EXTRA = Extra(commands=(COMPARE,))
