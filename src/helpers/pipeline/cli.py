"""The command line: `python run_all.py --help`.

Exit codes: 0 done; 1 an analysis failed, the others ran; 2 error in the command, a YAML file or the data, nothing ran.
"""

from __future__ import annotations

import argparse
import difflib
import importlib.util
import os
import signal
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from helpers.pipeline.manifest import Busy, Manifest, lock
from helpers.pipeline.notebook import NotebookError
from helpers.pipeline.run import DEFAULT_JOBS, FIRST, Options, first, list_all, outdated, run
from helpers.pipeline.scale import sweep
from helpers.pipeline.scale.cluster import HOME, ClusterError
from helpers.pipeline.scale.cluster import check as check_executor
from helpers.pipeline.surroundings import streams
from helpers.study import escape, limits, params, store
from helpers.study.params import ParamsError

EXAMPLES = """\
examples:
  python run_all.py                                   what comes with the project: ji2022, llmfao, demo; offline
  python run_all.py --study gpt_abceval               params/<name>.yaml, or the path of your own YAML file
  python run_all.py --study all                       every study whose data have been fetched
  python run_all.py --only iaa --jobs 2               one notebook, and what it needs
  python run_all.py --set bootstrap.n_resamples=2000  change a value of the YAML for this run
  python run_all.py --set seeds.bootstrap=1,2,3 bootstrap.n_resamples=500,2000
                                                      a sweep: all 6 combinations, each below sweeps/, one table
  python run_all.py --executor local:4                on four Dask workers (extra `cluster`; docs/cluster.md)
  python run_all.py --dry-run                         what would run, and why
  python run_all.py fetch ji2022 --from ../downloads  raw files of a public study
  python run_all.py new my_study --data my.csv        a first YAML for your own data
  python run_all.py check my_study                    is it valid, and what will each notebook do?
  python run_all.py compare study:run_1 study:run_2   were the results reproduced?
  python run_all.py bundle ji2022                     a finished study in one file, for an archive
  python run_all.py annotate my_study --tool potato   a project for an annotation tool
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
in random order for each annotator, some for several of them, sides of pairs swapped at random, systems hidden. The YAML
that reads the answers comes with it. A folder per method, below annotation/STUDY. See docs/annotate.md.

  python run_all.py annotate my_study --tool labelstudio --dialogues chats.csv --annotators 4 --overlap 50
  python run_all.py annotate demo --tool potato --method dialogue_likert --per-system 5""",
    "plan": """\
Plan the next study with this one as its pilot: the dialogues per system, annotators and costs needed to find a
difference, and boundaries for early looks at the data. Runs notebook 14; what the YAML and the data leave open can be
given here.

  python run_all.py plan --study finch2024 --difference quality=0.5 comparative.quality=0.2
  python run_all.py plan --study my_study --budget 2000 --power 0.9""",
    "lab": """\
Open the project in Jupyter Lab with a kernel that finds its code. Run the study once first: notebooks opened here read
its data, and write to data/processed/STUDY/scratch only.""",
    "schema": """\
For contributors: after a change to the YAML keys or the statistics, rebuild params/schema.json, docs/yaml.md
and docs/results.md.""",
}


class Wrong(ValueError):
    """The call cannot be carried out; the message says why and what to do."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="run_all.py",
        description="Run the notebooks of a study and write its report. Only what has changed runs again.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _run_options(parser)
    commands = parser.add_subparsers(title="other commands", dest="command", metavar="COMMAND")
    for options in (_data_options, _result_options, _plan_options, _annotate_options, _other_options):
        options(commands)
    for name, command in commands.choices.items():
        command.description, command.formatter_class = ABOUT[name], argparse.RawDescriptionHelpFormatter
    return parser


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
    plan.add_argument("--out", metavar="DIR", default=argparse.SUPPRESS, help="write below DIR")
    plan.add_argument("--jobs", type=_jobs, default=argparse.SUPPRESS, metavar="N", help="notebooks at a time")


def _annotate_options(commands: argparse._SubParsersAction) -> None:
    annotate = commands.add_parser("annotate", help="write a project for an annotation tool from a study's YAML")
    annotate.add_argument("study", help="name, or path of a YAML")
    annotate.add_argument("--tool", required=True, choices=("labelstudio", "potato"))
    annotate.add_argument("--dialogues", type=Path, metavar="FILE", help="a row per turn (default: the study's own)")
    annotate.add_argument("--method", action="append", metavar="METHOD", help="only this; may be given several times")
    annotate.add_argument("--labels", nargs="+", metavar="LABEL", help="only these labels")
    annotate.add_argument("--corpus", metavar="NAME", help="dialogues of this corpus (default: main, if there is one)")
    annotate.add_argument("--per-system", type=_count, metavar="N", help="number of dialogues drawn for each system")
    annotate.add_argument(
        "--annotators", type=_count, default=2, metavar="N", help="number of annotators who share them (2)"
    )
    annotate.add_argument("--each", type=_count, default=1, metavar="N", help="annotators per dialogue or pair (1)")
    agreement = "dialogues or pairs judged by one more annotator (a quarter, at least 25; with --each 2 or more: 0)"
    annotate.add_argument("--overlap", type=_count_or_none, metavar="N", help=agreement)
    annotate.add_argument("--seed", type=_count_or_none, default=1, metavar="N", help="seed of the random order (1)")
    annotate.add_argument("--out", metavar="DIR", default=argparse.SUPPRESS, help="write below DIR")


def _other_options(commands: argparse._SubParsersAction) -> None:
    lab = commands.add_parser("lab", help="open the project in Jupyter Lab; output goes to a scratch folder")
    lab.add_argument("--no-browser", action="store_true", help="print the address instead of opening a browser")
    lab.add_argument("--port", type=int, metavar="N", help="port of the server")
    lab.add_argument("--allow-root", action="store_true", help="run as root, for example in a container")
    commands.add_parser("schema", help="rebuild params/schema.json, docs/yaml.md and docs/results.md from the code")


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
    add("--out", metavar="DIR", help="write everything to DIR instead of the project")


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


def main(argv: list[str] | None = None) -> int:
    """Carry out a command line; returns the exit code."""
    streams()
    argv = sys.argv[1:] if argv is None else argv
    # Jupyter's own lines are in colour
    with nullcontext() if argv[:1] == ["lab"] else escape.terminals():
        return _main(argv)


def _main(argv: list[str]) -> int:
    try:
        try:
            return _carried_out(argv)
        finally:
            sys.stdout.flush()
    except (ParamsError, NotebookError, Busy, ClusterError, Wrong) as error:
        return _ended(2, str(error))
    except BrokenPipeError:  # whoever read what is printed, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13
    except store.Denied as error:  # a folder that cannot be written, a full disk
        return _ended(2, f"{error}; finished work is kept")
    except OSError as error:
        said = store.remedy(error) or f"{error.filename or 'output'}: {error.strerror or error}"
        return _ended(2, f"{said}; finished work is kept")
    except KeyboardInterrupt:
        return _ended(130, "interrupted; finished work is kept, and no file is incomplete")


def _ended(code: int, why: str) -> int:
    with suppress(OSError):
        print(f"run_all.py: {why}", file=sys.stderr, flush=True)
    return code


def _carried_out(argv: list[str]) -> int:
    parser = _parser()
    _refuse_unknown(parser, argv)
    args = parser.parse_args(argv)
    if args.command:
        _refuse_misplaced(parser, argv[: argv.index(args.command)], args.command)
    if args.out == "":
        raise Wrong("--out: expected a folder, found an empty name")
    if args.out:
        os.environ["COMPENDIUM_OUT"] = str(Path(args.out).resolve())
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # no terminal hangs up on Windows; `nohup` has it ignored
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _interrupt)
    command: Callable[[argparse.Namespace], int] = COMMANDS[args.command]
    return command(args)


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (commands,) = (a.choices for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return commands


def _refuse_unknown(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    """Raise Wrong for an option or command that does not exist, with what was meant: argparse blames the next word."""
    commands = _commands(parser)
    options = {o for p in (parser, *commands.values()) for o in p._option_string_actions}
    for name in (word.partition("=")[0] for word in argv if word.startswith("--") and word != "--"):
        if not any(o.startswith(name) for o in options):
            near = difflib.get_close_matches(name, options, n=1)
            raise Wrong(f"no option {name!r}; " + (f"did you mean {near[0]!r}?" if near else "see --help"))
    first = argv[0] if argv else "-"
    if not first.startswith("-") and first not in commands:
        near = difflib.get_close_matches(first, commands, n=1)
        study = first in params.names() or first.endswith((".yaml", ".yml"))
        meant = f"`--study {first}`" if study else repr(near[0]) if near else ""
        raise Wrong(
            f"no command {first!r}; " + (f"did you mean {meant}?" if meant else f"there are {', '.join(commands)}")
        )


def _refuse_misplaced(parser: argparse.ArgumentParser, before: list[str], command: str) -> None:
    """Raise Wrong for an option before a command that the command would not see: argparse takes it without a word."""
    seen = {a.dest for a in _commands(parser)[command]._actions if a.default is argparse.SUPPRESS}
    for name in (word.partition("=")[0] for word in before if word.startswith("--")):
        if not {a.dest for option, a in parser._option_string_actions.items() if option.startswith(name)} <= seen:
            raise Wrong(f"{name} has no effect before {command!r}; see `{command} --help`")


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _run(args: argparse.Namespace) -> int:
    if args.list:
        return list_all()
    if empty := [names for names in args.only if not names.replace(",", "").strip()]:
        raise Wrong(f"--only: expected notebooks (03_iaa, 03 or iaa), found {empty[0]!r}")
    only = [name for names in args.only for name in names.split(",") if name]
    options = Options(
        only=only,
        values=args.values,
        jobs=args.jobs or (DEFAULT_JOBS if args.executor == HOME else None),
        force=args.force,
        dry=args.dry_run,
        executor=check_executor(args.executor),
    )
    if not sweep.points(args.values):
        return _once(args.study, options)
    studies = params.names() if "all" in (args.study or []) else args.study or [s for part, _ in FIRST for s in part]
    return sweep.run(
        args.values, studies, lambda values: _once(args.study, replace(options, values=values)), dry=options.dry
    )


def _once(studies: list[str] | None, options: Options) -> int:
    return run(studies, options) if studies else first(options)


def _fetch(args: argparse.Namespace) -> int:
    from helpers.sources import fetch

    return fetch.command(args.key, args.source)


def _new(args: argparse.Namespace) -> int:
    from helpers.pipeline import check

    return check.new(args.name, Path(args.data))


def _check(args: argparse.Namespace) -> int:
    from helpers.pipeline import check

    return check.check(args.study, args.values)


def _gallery(args: argparse.Namespace) -> int:
    from helpers.pipeline.gallery import committed, scoreboard_page

    studies = args.studies or list(committed.STUDIES)
    needed = scoreboard_page.needed(studies)
    code = run(needed, Options(jobs=args.jobs or DEFAULT_JOBS), absent_ok=not args.studies or needed != studies)
    if code:
        return code
    return committed.check(studies) if args.check else committed.write(studies)


def _compare(args: argparse.Namespace) -> int:
    from helpers.comparison import page
    from helpers.comparison.sides import WrongSide

    try:
        return page.command(args.a, args.b, args.renamed)
    except WrongSide as error:
        raise Wrong(str(error)) from None


def _bundle(args: argparse.Namespace) -> int:
    from helpers.bundle import contents, writing

    given = Path(args.study)
    study = given.stem if given.suffix in (".yaml", ".yml") else given.name
    if not (store.processed(study) / "manifest.json").is_file():
        params.find(args.study)  # a misspelt name is told first
        raise Wrong(f"{study} has not been run; run `python run_all.py --study {args.study}` first")
    try:
        with lock(study):
            return writing.command(study, Manifest(study).data, outdated(study), folder=args.folder)
    except contents.BundleError as error:
        raise Wrong(str(error)) from None


def _plan(args: argparse.Namespace) -> int:
    from helpers.pipeline import plan

    given = {"budget": args.budget, "power": args.power, "differences": args.differences}
    return plan.command(args.study, **given, jobs=args.jobs or DEFAULT_JOBS)


def _annotate(args: argparse.Namespace) -> int:
    from helpers.elicitation import writing
    from helpers.study.schema import DataError  # here, as it imports pandas, which --help can do without

    try:
        return writing.command(
            args.study,
            args.tool,
            file=args.dialogues,
            methods=args.method,
            labels=args.labels,
            corpus=args.corpus,
            per_system=args.per_system,
            people=args.annotators,
            each=args.each,
            overlap=args.overlap,
            seed=args.seed,
        )
    except DataError as error:
        raise Wrong(str(error)) from None


def _lab(args: argparse.Namespace) -> int:
    if importlib.util.find_spec("jupyterlab") is None:
        raise Wrong('lab needs the extra `lab`, which is not installed: python -m pip install "jupyterlab>=4.4"')
    from helpers.pipeline import lab

    return lab.lab(browser=not args.no_browser, port=args.port, allow_root=args.allow_root)


def _schema(args: argparse.Namespace) -> int:
    for name, text in schema_files().items():
        with store.atomic(params.ROOT / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
        print(name)
    return 0


def schema_files() -> dict[str, str]:
    """The files that describe YAMLs and results, as the code says they should be: path in the project -> text."""
    import json

    from helpers.study import results_guide, yaml_guide

    return {
        "params/schema.json": json.dumps(params.json_schema(), indent=1, ensure_ascii=False) + "\n",
        "docs/yaml.md": yaml_guide.text(),
        "docs/results.md": results_guide.text(),
    }


COMMANDS: dict[str | None, Callable[[argparse.Namespace], int]] = {
    None: _run,
    "fetch": _fetch,
    "new": _new,
    "check": _check,
    "gallery": _gallery,
    "compare": _compare,
    "bundle": _bundle,
    "plan": _plan,
    "annotate": _annotate,
    "lab": _lab,
    "schema": _schema,
}
