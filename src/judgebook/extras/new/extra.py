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

exit codes: 0 the YAML runs; 3 questions are open (which of several judgements counts must be answered before it runs);
2 it cannot run yet, or the file could not be read

  python run_all.py new my_study --data my.csv
  python run_all.py new my_study --data ratings.csv transcripts.csv""",
    place=20,
    options=_options,
    run=_new,
    examples="  python run_all.py new my_study --data my.csv        a first YAML for your own data\n",
)


def _audit_options(parser: argparse.ArgumentParser) -> None:
    about = "files of data, or their folder, as `new` reads them; or the YAML of a study"
    parser.add_argument("data", type=Path, nargs="+", metavar="FILE", help=about)
    parser.add_argument("--yes", action="store_true", help="accept what is assumed instead of asking")
    parser.add_argument("--out", metavar="DIR", default=argparse.SUPPRESS, help="write to DIR (default: NAME_audit)")
    since = "of votes: what has changed since that day or period (the YAML's comparisons.since)"
    parser.add_argument("--since", metavar="DAY", help=since)
    change = "change the YAML for this audit"
    parser.add_argument(
        "--set", dest="values", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help=change
    )


def _audit(args: argparse.Namespace) -> int:
    from judgebook.extras.new.auditing import command

    return command(args.data, Path(args.out) if args.out else None, args.values, yes=args.yes, since=args.since)


AUDIT = Command(
    name="audit",
    title="answer what one asks first of a data file, without a project",
    about="""\
Look at a data file, ask about what is in doubt, and answer: which system is best, which labels can be trusted, does it
matter who judged, were the data enough, what did they cost, what next. Faults of the design come first. Answers are
printed, and written as audit.html and audit.md beside the YAML that describes the data: correct it where it is wrong,
and call the same command again.

exit codes: 0 answered; 1 an analysis failed, the others answer; 2 the file could not be read; 3 answered, but questions
about the data are open

  python run_all.py audit ratings.csv
  python run_all.py audit ratings_audit/ratings.yaml""",
    place=15,
    options=_audit_options,
    run=_audit,
    examples="  python run_all.py audit ratings.csv                 six answers about a file, without a project\n",
)

EXTRA = Extra(commands=(AUDIT, NEW))
