"""`new`: a first YAML for a file of data."""

from __future__ import annotations

import argparse
from pathlib import Path

from judgebook.plugins import Command, Extra


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="name of the study: letters, digits and _")
    files = "CSV, TSV, Excel, Parquet, JSON or JSON Lines; with transcripts, both files, or their folder"
    parser.add_argument("--data", required=True, nargs="+", metavar="FILE", help=files)
    parser.add_argument("--yes", action="store_true", help="accept what is assumed instead of asking")


def _new(args: argparse.Namespace) -> int:
    from judgebook.extras.new.writing import new

    return new(args.name, [Path(path) for path in args.data], yes=args.yes)


NEW = Command(
    name="new",
    title="write a first YAML for a data file of your own",
    about="""\
Inspect a data file and write params/NAME.yaml: labels, scales, annotators and systems as guessed, with the reason for
each guess. In a terminal, at most six questions are asked about what is in doubt; those that stay open are in the YAML,
and `check` and the report repeat them. Correct what is wrong, then `check NAME`, then `--study NAME`. See
docs/own_data.md.

exit codes: 0 the YAML runs; 3 it runs, but questions are open; 2 it cannot run yet, or the file could not be read

  python run_all.py new my_study --data my.csv
  python run_all.py new my_study --data ratings.csv transcripts.csv""",
    place=20,
    options=_options,
    run=_new,
    examples="  python run_all.py new my_study --data my.csv        a first YAML for your own data\n",
)

EXTRA = Extra(commands=(NEW,))
