"""The command line, `python run_all.py --help`: what it understands, and the messages for what it does not.

Exit codes: 0 done; 1 an analysis failed, the others ran; 2 error in the command, a YAML file or the data, nothing ran;
3 from `new` and `check`: it runs, but questions are open.
"""

from __future__ import annotations

import argparse
import difflib
import os
import signal
import sys
from collections.abc import Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from judgebook import __version__, plugins, project
from judgebook.errors import JudgebookError
from judgebook.pipeline import sweep
from judgebook.pipeline.commands import COMMANDS, options
from judgebook.pipeline.run import DEFAULT_JOBS, FIRST, HOME, Options, checked_executor, first, list_all, run
from judgebook.pipeline.surroundings import streams, without_iri_grammar
from judgebook.plugins import Command, UsageError
from judgebook.study import escape, params, store

#: in the general help, before examples of commands
RUNS = """\
examples:
  python run_all.py                                   your own studies, or what comes with the project; offline
  python run_all.py --study gpt_abceval               params/<name>.yaml, or the path of your own YAML file
  python run_all.py --study all                       every study whose data have been fetched
  python run_all.py --only iaa --jobs 2               one notebook, and what it needs
  python run_all.py --set bootstrap.n_resamples=2000  change a value of the YAML for this run
  python run_all.py --set seeds.bootstrap=1,2,3       a sweep: every combination of values, in folders under sweeps/
  python run_all.py --dry-run                         what would run, and why
"""
#: and after them
REMARKS = """\

In --set, commas without a following space separate values: key=1,2. A single value with commas: key=[1,2], key="a,b".

exit codes: 0 done; 1 an analysis failed (the others ran); 2 error in the command, a YAML file or the data (nothing ran)
3 from new and check: it runs, but questions on how the data are read are open
"""


def _parser(available: Iterable[Command]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=project.program(),
        description="Run the notebooks of a study and write its report. Only what has changed runs again.",
        epilog=project.in_words(RUNS + _examples(available) + REMARKS) + _pages(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _run_options(parser)
    commands = parser.add_subparsers(title="other commands", dest="command", metavar="COMMAND")
    for command in available:
        one = commands.add_parser(command.name, help=command.title, description=project.in_words(command.about))
        one.formatter_class = argparse.RawDescriptionHelpFormatter
        command.options(one)
    return parser


def _examples(available: Iterable[Command]) -> str:
    of_workers = [workers.examples for workers in plugins.workers()]
    return "".join(of_workers + [command.examples for command in sorted(available, key=lambda c: c.contributors)])


def _pages() -> str:
    """Where the pages are that messages and help name, for those who have no checkout."""
    return f"\nPages of docs/ are in {project.ROOT / 'docs'}\n" if project.INSTALLED else ""


def _run_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    values = "change the YAML; several values, KEY=A,B,C, run every combination"
    several = "which study, several times if need be (default: all of your own; in a checkout, those that come with it)"
    add("--study", action="append", metavar="NAME|PATH|all", help=several)
    notebooks = "only these notebooks (03_iaa, 03 or iaa) and what they need; may be given several times"
    add("--only", action="append", default=[], metavar="A,B", help=notebooks)
    options.add(parser, "--set", values)
    default = f"{DEFAULT_JOBS}; on a cluster, one per thread"
    options.add(parser, "--jobs", f"notebooks at a time ({default})", default=None)
    where = ", ".join([f"{HOME} (default)", *(workers.forms for workers in plugins.workers())])
    add("--executor", default=HOME, metavar="WHERE", help=f"{where} (docs/cluster.md)")
    add("--dry-run", action="store_true", help="show what would run, and why")
    add("--force", action="store_true", help="run even what is up to date")
    add("--list", action="store_true", help="list studies and notebooks")
    add("--version", action="version", version=f"judgebook {__version__}")
    options.add(parser, "--out", "write everything to DIR", default=None)


def commands(core: Iterable[Command]) -> dict[str, Command]:
    """Name -> command, in the order of the help: `core` and those of extras."""
    every = (*core, *(command for extra in plugins.here().values() for command in extra.commands))
    return {command.name: command for command in sorted(every, key=lambda command: command.place)}


def parsed(argv: list[str], available: Mapping[str, Command]) -> argparse.Namespace:
    """The options of a command line. Raises UsageError for what does not exist or has no effect; argparse exits."""
    parser = _parser(available.values())
    _refuse_unknown(parser, argv)
    args = parser.parse_args(argv)
    if args.command:
        _refuse_misplaced(parser, argv[: argv.index(args.command)], args.command)
    return args


def _parsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (parsers,) = (a.choices for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return parsers


def _refuse_unknown(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    """Raise UsageError for an unknown option or command, with what was meant: argparse blames the next word."""
    commands = _parsers(parser)
    options_ = {o for p in (parser, *commands.values()) for o in p._option_string_actions}
    for name in (word.partition("=")[0] for word in argv if word.startswith("--") and word != "--"):
        if not any(o.startswith(name) for o in options_):
            near = difflib.get_close_matches(name, options_, n=1)
            raise UsageError(f"unknown option {name!r}; " + (f"did you mean {near[0]!r}?" if near else "see --help"))
    first = argv[0] if argv else "-"
    if not first.startswith("-") and first not in commands:
        near = difflib.get_close_matches(first, commands, n=1)
        meant = f"`--study {first}`" if _names_a_study(first) else repr(near[0]) if near else ""
        if first in (removed := plugins.removed()):
            raise UsageError(f"{first!r} is an extra that was removed: there is no folder {plugins.FOLDER / first}")
        listed = f"commands are {', '.join(commands)}" + f"; removed extras: {', '.join(removed)}" * bool(removed)
        raise UsageError(f"unknown command {first!r}; " + (f"did you mean {meant}?" if meant else listed))
    if first not in commands:
        for option, one, other in zip(argv, argv[1:], argv[2:], strict=False):
            if option == "--study" and other not in commands and _names_a_study(other):
                raise UsageError(f"--study takes one study; did you mean `--study {one} --study {other}`?")


def _names_a_study(word: str) -> bool:
    return word in params.names() or word.endswith((".yaml", ".yml"))


def _refuse_misplaced(parser: argparse.ArgumentParser, before: list[str], command: str) -> None:
    """Raise UsageError for an option before a command that would not see it: argparse takes it without a word."""
    seen = {a.dest for a in _parsers(parser)[command]._actions if a.default is argparse.SUPPRESS}
    for name in (word.partition("=")[0] for word in before if word.startswith("--")):
        if not {a.dest for option, a in parser._option_string_actions.items() if option.startswith(name)} <= seen:
            raise UsageError(f"{name} has no effect before {command!r}; see `{command} --help`")


def main(argv: list[str] | None = None) -> int:
    """Carry out a command line; returns the exit code."""
    streams()
    without_iri_grammar()
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
    except store.DeniedError as error:  # a folder that cannot be written, a full disk
        return _ended(2, f"{error}; finished work is kept")
    except JudgebookError as error:
        return _ended(2, str(error))
    except BrokenPipeError:  # whoever read what is printed, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13
    except OSError as error:
        reason = store.remedy(error) or f"{error.filename or 'output'}: {error.strerror or error}"
        return _ended(2, f"{reason}; finished work is kept")
    except KeyboardInterrupt:
        return _ended(130, "interrupted; finished work is kept, and no file is incomplete")


def _ended(code: int, why: str) -> int:
    with suppress(OSError):
        print(f"{project.program()}: {why}", file=sys.stderr, flush=True)
    return code


def _carried_out(argv: list[str]) -> int:
    available = commands(COMMANDS)
    args = parsed(argv, available)
    if args.out == "":
        raise UsageError("--out: expected a folder, found an empty name")
    if args.out:
        os.environ["COMPENDIUM_OUT"] = str(Path(args.out).resolve())
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # no terminal hangs up on Windows; `nohup` has it ignored
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _interrupt)
    return available[args.command](args) if args.command else _run(args)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _run(args: argparse.Namespace) -> int:
    if args.list:
        return list_all()
    if empty := [names for names in args.only if not names.replace(",", "").strip()]:
        raise UsageError(f"--only: expected notebooks (03_iaa, 03 or iaa), found {empty[0]!r}")
    only = [name for names in args.only for name in names.split(",") if name]
    options = Options(
        only=only,
        values=args.values,
        jobs=args.jobs or (DEFAULT_JOBS if args.executor == HOME else None),
        force=args.force,
        dry=args.dry_run,
        executor=checked_executor(args.executor),
    )
    if not sweep.points(args.values):
        return _once(args.study, options)
    studies = params.names() if "all" in (args.study or []) else args.study or [s for part, _ in FIRST for s in part]
    return sweep.run(
        args.values, studies, lambda values: _once(args.study, replace(options, values=values)), dry=options.dry
    )


def _once(studies: list[str] | None, options: Options) -> int:
    return run(studies, options) if studies else first(options)
