"""What the command line understands: options, commands, their help, and the messages for unknown ones."""

from __future__ import annotations

import argparse
import difflib
from pathlib import Path

from judgebook import project
from judgebook.errors import JudgebookError
from judgebook.pipeline.run import DEFAULT_JOBS
from judgebook.pipeline.scale.cluster import HOME
from judgebook.study import limits, params

EXAMPLES = """\
examples:
  python run_all.py                                   what comes with the project: ji2022, llmfao, demo; offline
  python run_all.py --study gpt_abceval               params/<name>.yaml, or the path of your own YAML file
  python run_all.py --study all                       every study whose data have been fetched
  python run_all.py --only iaa --jobs 2               one notebook, and what it needs
  python run_all.py --set bootstrap.n_resamples=2000  change a value of the YAML for this run
  python run_all.py --set seeds.bootstrap=1,2,3       a sweep: every combination of values, in folders under sweeps/
  python run_all.py --executor local:4                on four Dask workers (extra `cluster`; docs/cluster.md)
  python run_all.py --dry-run                         what would run, and why
  python run_all.py fetch ji2022 --from ../downloads  raw files of a public study
  python run_all.py new my_study --data my.csv        a first YAML for your own data
  python run_all.py check my_study                    is it valid, and what will each notebook do?
  python run_all.py compare study:run_1 study:run_2   were the results reproduced?
  python run_all.py bundle ji2022                     a finished study in one file, for an archive
  python run_all.py annotate my_study --tool potato   a project for an annotation tool
  python run_all.py degrade chats.csv --to all.jsonl  dialogues of a degraded control, to check annotators
  python run_all.py lab                               the notebooks in Jupyter Lab, to try things out
  python run_all.py gallery --check                   do the committed numbers still match?

In --set, commas without a following space separate values: key=1,2. A single value with commas: key=[1,2], key="a,b".

exit codes: 0 done; 1 an analysis failed (the others ran); 2 error in the command, a YAML file or the data (nothing ran)
"""

#: what `run_all.py COMMAND --help` says first
ABOUT = {
    "fetch": """\
Download the raw files of a public study to data/raw/STUDY, verify each of them, and state their licence.
Existing files are verified and kept. `fetch list` shows what can be fetched.

  python run_all.py fetch gpt_abceval
  python run_all.py fetch ji2022 --from ../downloads     files you already have: a folder, an archive or a URL""",
    "new": """\
Inspect a data file and write params/NAME.yaml: labels, scales, annotators and systems as guessed, with the reason for
each guess. Correct what is wrong, then `check NAME`, then `--study NAME`. See docs/own_data.md.

  python run_all.py new my_study --data my.csv""",
    "check": """\
Read the YAML and the data of a study without running anything. Reports errors (file, row, column), how the data were
understood, and what each notebook will do or why it is skipped.

  python run_all.py check my_study
  python run_all.py check ../elsewhere/other.yaml --set bootstrap.n_resamples=500""",
    "gallery": """\
For maintainers: run the studies of the gallery and rebuild gallery/, which GitHub shows to readers who install nothing.
With --check, nothing is written, and the exit code is 1 if a committed number differs from a fresh run.""",
    "compare": """\
Compare the systems of two runs or studies, label by label: correlation, order, contradictions and CV*, in the terminal
and as a page. Both must have been run before.

  python run_all.py compare ji2022:free_run1 ji2022:free_run2
  python run_all.py compare mine mine_again --map old_bot=new_bot""",
    "bundle": """\
Write bundles/STUDY.zip, for an archive or a supplement: report, executed notebooks, results, figures, tables, settings
and versions, each with a description and its provenance (RO-Crate 1.1). Data, texts of dialogues and ids of people are
never included. Run the study first.

  python run_all.py bundle ji2022""",
    "annotate": """\
Write a project for Label Studio or Potato from a study's YAML: labels, scales and definitions as questions, dialogues
in random order for each annotator, some for several annotators, sides of pairs swapped at random, systems hidden. The
YAML that reads the answers comes with it. Each method has its own folder in annotation/STUDY. See docs/annotate.md.

  python run_all.py annotate my_study --tool labelstudio --dialogues chats.csv --annotators 4 --overlap 50
  python run_all.py annotate demo --tool potato --method dialogue_likert --per-system 5""",
    "degrade": """\
Add a degraded control to dialogues, with which notebook 10 tests annotators (Ji et al. 2022, appendix A.1): every reply
is a random one of another dialogue, some of whose words are replaced by words of a third. The file has a row per turn,
as for `annotate`, which reads what is written. See docs/annotate.md.

  python run_all.py degrade chats.csv --to chats_with_control.jsonl --n 40
  python run_all.py degrade chats.csv --to chats_with_control.jsonl --pool training_set.jsonl --seed 2""",
    "plan": """\
Plan the next study with this one as its pilot: the dialogues per system, annotators and costs needed to find a
difference, and boundaries for early looks at the data. Runs notebook 14; anything that the YAML and the data do not
specify can be given here.

  python run_all.py plan --study finch2024 --difference quality=0.5 comparative.quality=0.2
  python run_all.py plan --study my_study --budget 2000 --power 0.9""",
    "lab": """\
Open the project in Jupyter Lab with a kernel that finds its code. Run the study once first: notebooks opened here read
its data, and write to data/processed/STUDY/scratch only.""",
    "schema": """\
For contributors: after a change to the YAML keys, the statistics or what a question declares, rebuild
params/schema.json, docs/yaml.md, docs/results.md and the lists of questions in README.md and CONTRIBUTING.md.""",
}


class UsageError(JudgebookError, ValueError):
    """The call cannot be carried out; the message says why and what to do."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=project.program(),
        description="Run the notebooks of a study and write its report. Only what has changed runs again.",
        epilog=project.in_words(EXAMPLES) + _pages(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _run_options(parser)
    commands = parser.add_subparsers(title="other commands", dest="command", metavar="COMMAND")
    for options in (_data_options, _result_options, _plan_options, _annotate_options, _degrade_options, _other_options):
        options(commands)
    for name, command in commands.choices.items():
        command.description, command.formatter_class = (
            project.in_words(ABOUT[name]),
            argparse.RawDescriptionHelpFormatter,
        )
    return parser


def _pages() -> str:
    """Where the pages are that messages and help name, for those who have no checkout."""
    return f"\nPages of docs/ are in {project.ROOT / 'docs'}\n" if project.INSTALLED else ""


def _data_options(commands: argparse._SubParsersAction) -> None:
    fetch = commands.add_parser("fetch", help="download and verify the raw files of a public study")
    fetch.add_argument("key", help="a study or file in the registry; `fetch list` shows all")
    fetch.add_argument("--from", dest="source", metavar="DIR_OR_URL", help="take the files from here instead")
    fetch.add_argument("--out", metavar="DIR", default=argparse.SUPPRESS, help="write to DIR")
    new = commands.add_parser("new", help="write a first YAML for a data file of your own")
    new.add_argument("name", help="name of the study: letters, digits and _")
    new.add_argument("--data", required=True, metavar="FILE", help="CSV, TSV, Excel, Parquet, JSON or JSON Lines")
    check = commands.add_parser("check", help="check YAML and data; say what each notebook will do")
    check.add_argument("study", help="name of a study, or path of a YAML file")
    change = "change the YAML for this check"
    check.add_argument("--set", dest="values", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help=change)


def _result_options(commands: argparse._SubParsersAction) -> None:
    gallery = commands.add_parser("gallery", help="rebuild the committed pages in gallery/")
    gallery.add_argument("--check", action="store_true", help="compare the committed numbers with a fresh run")
    gallery.add_argument("--study", dest="studies", nargs="+", metavar="NAME", help="only these studies")
    compare = commands.add_parser("compare", help="compare two runs or studies: were the results reproduced?")
    side = "a study, or a folder of results; STUDY:CORPUS for a part of one"
    compare.add_argument("a", metavar="A", help=side)
    compare.add_argument("b", metavar="B", help="as for A")
    renames = "name of a system or label in B, and its name in A"
    compare.add_argument(
        "--map", dest="renamed", nargs="+", action="extend", default=[], metavar="OLD=NEW", help=renames
    )
    bundle = commands.add_parser(
        "bundle", help="pack a finished study for an archive, as an RO-Crate without data and texts"
    )
    bundle.add_argument("study", help="a study that has been run")
    bundle.add_argument("--folder", action="store_true", help="write a folder instead of a zip file")
    below = "read results from, and write to, DIR"
    for command in (gallery, compare, bundle):
        command.add_argument("--out", metavar="DIR", default=argparse.SUPPRESS, help=below)
    gallery.add_argument("--jobs", type=_jobs, default=argparse.SUPPRESS, metavar="N", help="notebooks at a time")


def _plan_options(commands: argparse._SubParsersAction) -> None:
    plan = commands.add_parser("plan", help="plan the next study: dialogues, annotators and costs (notebook 14)")
    plan.add_argument("--study", required=True, metavar="NAME|PATH", help="the study that serves as the pilot")
    plan.add_argument("--budget", type=_amount, metavar="MONEY", help="what can be spent, in the currency of `costs`")
    plan.add_argument("--power", type=_share, metavar="P", help="probability of finding the difference (0.8)")
    worth = "a difference worth finding, in units of the label, or METHOD.LABEL=D; several are possible"
    plan.add_argument(
        "--difference", dest="differences", nargs="+", action="extend", default=[], metavar="LABEL=D", help=worth
    )
    plan.add_argument("--out", metavar="DIR", default=argparse.SUPPRESS, help="write under DIR")
    plan.add_argument("--jobs", type=_jobs, default=argparse.SUPPRESS, metavar="N", help="notebooks at a time")


def _annotate_options(commands: argparse._SubParsersAction) -> None:
    annotate = commands.add_parser("annotate", help="write a project for an annotation tool from a study's YAML")
    annotate.add_argument("study", help="name, or path of a YAML")
    annotate.add_argument("--tool", required=True, choices=("labelstudio", "potato"))
    annotate.add_argument(
        "--dialogues", type=Path, metavar="FILE", help="file with a row per turn (default: the study's)"
    )
    annotate.add_argument("--method", action="append", metavar="METHOD", help="only this; may be given several times")
    annotate.add_argument("--labels", nargs="+", metavar="LABEL", help="only these labels")
    annotate.add_argument("--corpus", metavar="NAME", help="dialogues of this corpus (default: main, if there is one)")
    annotate.add_argument("--per-system", type=_count, metavar="N", help="number of dialogues drawn for each system")
    annotate.add_argument(
        "--annotators", type=_count, default=2, metavar="N", help="number of annotators who share the dialogues (2)"
    )
    annotate.add_argument("--each", type=_count, default=1, metavar="N", help="annotators per dialogue or pair (1)")
    agreement = (
        "number of dialogues or pairs judged by one more annotator (a quarter, at least 25; 0 with --each 2 or more)"
    )
    annotate.add_argument("--overlap", type=_count_or_none, metavar="N", help=agreement)
    annotate.add_argument("--at-most", type=_count, metavar="N", help="dialogues or pairs that one annotator judges")
    annotate.add_argument("--seed", type=_count_or_none, default=1, metavar="N", help="seed of the random order (1)")
    annotate.add_argument("--out", metavar="DIR", default=argparse.SUPPRESS, help="write under DIR")


def _degrade_options(commands: argparse._SubParsersAction) -> None:
    degrade = commands.add_parser("degrade", help="add dialogues of a degraded control, to check annotators")
    degrade.add_argument("dialogues", type=Path, metavar="FILE", help="file with a row per turn")
    degrade.add_argument("--to", type=Path, required=True, metavar="FILE", help="what to write, .jsonl")
    degrade.add_argument("--n", type=_count, metavar="N", help="dialogues of the control (as many as of other systems)")
    degrade.add_argument(
        "--pool", type=Path, metavar="FILE", help="dialogues whose replies and words are used (default: the same)"
    )
    degrade.add_argument("--system", default="qc", metavar="NAME", help="id of the control (qc)")
    degrade.add_argument("--seed", type=_count_or_none, default=1, metavar="N", help="seed of what is drawn (1)")


def _other_options(commands: argparse._SubParsersAction) -> None:
    lab = commands.add_parser("lab", help="open the project in Jupyter Lab; output goes to a scratch folder")
    lab.add_argument("--no-browser", action="store_true", help="print the address instead of opening a browser")
    lab.add_argument("--port", type=int, metavar="N", help="port of the server")
    lab.add_argument("--allow-root", action="store_true", help="run as root, for example in a container")
    commands.add_parser("schema", help="rebuild the schema, guides and lists of questions from the code")


def _run_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    values = "change the YAML; several values, KEY=A,B,C, run every combination"
    several = "which study (default: those that come with the project); may be given several times"
    add("--study", action="append", metavar="NAME|PATH|all", help=several)
    notebooks = "only these notebooks (03_iaa, 03 or iaa) and what they need; may be given several times"
    add("--only", action="append", default=[], metavar="A,B", help=notebooks)
    add("--set", dest="values", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help=values)
    add("--jobs", type=_jobs, metavar="N", help=f"notebooks at a time ({DEFAULT_JOBS}; on a cluster, one per thread)")
    where = (
        "processes (default), local:N (N Dask workers here), dask:// or tcp://host:port, or encrypted tls://host:port"
    )
    add("--executor", default=HOME, metavar="WHERE", help=f"{where} (docs/cluster.md)")
    add("--dry-run", action="store_true", help="show what would run, and why")
    add("--force", action="store_true", help="run even what is up to date")
    add("--list", action="store_true", help="list studies and notebooks")
    add("--out", metavar="DIR", help="write everything to DIR")


def _jobs(text: str) -> int:
    digits = text if text.isascii() and text.isdigit() and len(text) <= len(str(limits.JOBS)) else "0"
    if not 1 <= int(digits) <= limits.JOBS:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to {limits.JOBS}, found {text[:40]!r}")
    return int(digits)


def _count(text: str) -> int:
    if not (value := _count_or_none(text)):
        raise argparse.ArgumentTypeError("expected a whole number above 0, found 0")
    return value


def _count_or_none(text: str) -> int:
    few = len(text) <= len(str(limits.COUNT))
    if not (few and text.isascii() and text.isdigit() and int(text) <= limits.COUNT):
        raise argparse.ArgumentTypeError(f"expected a whole number up to {limits.COUNT:,}, found {text[:40]!r}")
    return int(text)


def _amount(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= limits.AMOUNT:
        most = f" and up to {limits.AMOUNT:,.0f}" if value > limits.AMOUNT else ""
        raise argparse.ArgumentTypeError(f"expected a number above 0{most}, found {text[:40]!r}")
    return value


def _share(text: str) -> float:
    value = _amount(text)
    if not 0.5 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a number between 0.5 and 1, found {text!r}")
    return value


def parsed(argv: list[str]) -> argparse.Namespace:
    """The options of a command line. Raises UsageError for what does not exist or has no effect; argparse exits."""
    parser = _parser()
    _refuse_unknown(parser, argv)
    args = parser.parse_args(argv)
    if args.command:
        _refuse_misplaced(parser, argv[: argv.index(args.command)], args.command)
    return args


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (commands,) = (a.choices for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return commands


def _refuse_unknown(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    """Raise UsageError for an unknown option or command, with what was meant: argparse blames the next word."""
    commands = _commands(parser)
    options = {o for p in (parser, *commands.values()) for o in p._option_string_actions}
    for name in (word.partition("=")[0] for word in argv if word.startswith("--") and word != "--"):
        if not any(o.startswith(name) for o in options):
            near = difflib.get_close_matches(name, options, n=1)
            raise UsageError(f"unknown option {name!r}; " + (f"did you mean {near[0]!r}?" if near else "see --help"))
    first = argv[0] if argv else "-"
    if not first.startswith("-") and first not in commands:
        near = difflib.get_close_matches(first, commands, n=1)
        meant = f"`--study {first}`" if _names_a_study(first) else repr(near[0]) if near else ""
        raise UsageError(
            f"unknown command {first!r}; "
            + (f"did you mean {meant}?" if meant else f"commands are {', '.join(commands)}")
        )
    if first not in commands:
        for option, one, other in zip(argv, argv[1:], argv[2:], strict=False):
            if option == "--study" and other not in commands and _names_a_study(other):
                raise UsageError(f"--study takes one study; did you mean `--study {one} --study {other}`?")


def _names_a_study(word: str) -> bool:
    return word in params.names() or word.endswith((".yaml", ".yml"))


def _refuse_misplaced(parser: argparse.ArgumentParser, before: list[str], command: str) -> None:
    """Raise UsageError for an option before a command that would not see it: argparse takes it without a word."""
    seen = {a.dest for a in _commands(parser)[command]._actions if a.default is argparse.SUPPRESS}
    for name in (word.partition("=")[0] for word in before if word.startswith("--")):
        if not {a.dest for option, a in parser._option_string_actions.items() if option.startswith(name)} <= seen:
            raise UsageError(f"{name} has no effect before {command!r}; see `{command} --help`")
