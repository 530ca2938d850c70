"""`init`: a project of one's own."""

from __future__ import annotations

import argparse
from pathlib import Path

from judgebook.plugins import Command, Extra


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="folder to make; it must be new, or empty")


def _init(args: argparse.Namespace) -> int:
    from judgebook.extras.init.writing import init

    return init(args.folder)


INIT = Command(
    name="init",
    title="make a project of one's own: data, a study, a notebook, and a workflow for CI",
    about="""\
Make a folder for studies of your own: params/ with the YAML of a small study, data/ with its simulated judgements,
notebooks/ with a notebook of your own, a README, a .gitignore, and a workflow for CI. It runs as it is. See
docs/own_project.md.

  python run_all.py init my_project""",
    place=12,
    options=_options,
    run=_init,
    examples="  python run_all.py init my_project                   a folder for studies and notebooks of your own\n",
)

EXTRA = Extra(commands=(INIT,))
