"""`gate`: does a study meet what is required of it?"""

from __future__ import annotations

import argparse

from judgebook.plugins import Command, Extra


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="name of a study, or path of its YAML")
    about = "a requirement; several are possible (default: those of the YAML's `gate`)"
    parser.add_argument(
        "--require", dest="required", nargs="+", action="extend", default=[], metavar="TEXT", help=about
    )
    parser.add_argument("--looks", choices=["once", "anytime"], default="once", help="anytime: decide again and again")
    change = "change the YAML for this decision"
    parser.add_argument(
        "--set", dest="values", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help=change
    )
    parser.add_argument("--out", metavar="DIR", default=argparse.SUPPRESS, help="keep the results in DIR")


def _gate(args: argparse.Namespace) -> int:
    from judgebook.extras.gate.command import command

    return command(args.study, args.required, args.values, anytime=args.looks == "anytime")


GATE = Command(
    name="gate",
    title="does a study meet what is required of it? An exit code for CI",
    about="""\
Decide requirements from the study's intervals, for the annotators that its first page names. Met means that the whole
interval lies on the right side, not met that it lies on the wrong one; else it cannot be told.

  NEW better than OLD [on LABEL] [by D]      D in points of the label's scale, or in %% of cases
  NEW not worse than OLD [on LABEL] [by D]   without D: the YAML's `margin`, the smallest difference that matters
  NEW equal to OLD [on LABEL] [within D]
  agreement on LABEL at least X              Krippendorff's alpha
  reliability on LABEL at least X            of the order of system means

A difference on a label is decided by its own interval, of means without a model. Without `on LABEL`, where several
labels say which system is better, the overall answer of the first page decides: the mean of all these labels, each in
standard deviations of items, by the interval that holds for all pairs of systems at once. D is then in these standard
deviations (of comparisons, share won minus share lost), and must be given for "not worse" and "equal".

Each decision is for a single look at the data. Where gate runs again as judgements accumulate, --looks anytime
takes wider intervals, which hold at all looks together, for these annotators; judgements need a `period` or times.

exit codes: 0 all are met; 1 one is not met; 3 one cannot be told; 2 error in a requirement, the YAML or the data

  python run_all.py gate weekly --require 'new not worse than old by 0.2'""",
    place=25,
    options=_options,
    run=_gate,
    examples="  python run_all.py gate weekly --require 'new not worse than old by 0.2'   an exit code\n",
)

EXTRA = Extra(commands=(GATE,))
