"""`lab`: the project in Jupyter Lab."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from judgebook.plugins import Command, Extra, UsageError


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-browser", action="store_true", help="print the address instead of opening a browser")
    parser.add_argument("--port", type=int, metavar="N", help="port of the server")
    parser.add_argument("--allow-root", action="store_true", help="run as root, for example in a container")


def _lab(args: argparse.Namespace) -> int:
    if find_spec("jupyterlab") is None:
        raise UsageError('lab needs the extra `lab`, which is not installed: python -m pip install "jupyterlab>=4.4"')
    from judgebook.extras.lab import jupyter

    return jupyter.lab(browser=not args.no_browser, port=args.port, allow_root=args.allow_root)


LAB = Command(
    name="lab",
    title="open the project in Jupyter Lab; output goes to a scratch folder",
    about="""\
Open the project in Jupyter Lab with a kernel that finds its code. Run the study once first: notebooks opened here read
its data, and write to data/processed/STUDY/scratch only.""",
    place=100,
    options=_options,
    run=_lab,
    examples="  python run_all.py lab                               the notebooks in Jupyter Lab, to try things out\n",
)

EXTRA = Extra(commands=(LAB,))
