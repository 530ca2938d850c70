"""The command line: `python run_all.py --help`.

Exit codes: 0 done; 1 an analysis failed, the others ran; 2 error in the command, a YAML file or the data, nothing ran;
3 from `new` and `check`: it runs, but questions are open.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from judgebook import project, unchanged
from judgebook.errors import JudgebookError
from judgebook.pipeline import sweep
from judgebook.pipeline.commands.arguments import commands, parsed
from judgebook.pipeline.commands.core import COMMANDS
from judgebook.pipeline.run import DEFAULT_JOBS, FIRST, HOME, Options, checked_executor, first, list_all, run
from judgebook.pipeline.surroundings import streams, without_iri_grammar
from judgebook.plugins import UsageError
from judgebook.study import escape, params, store


def main(argv: list[str] | None = None) -> int:
    """Carry out a command line; returns the exit code."""
    streams()
    without_iri_grammar()
    argv = sys.argv[1:] if argv is None else argv
    # Jupyter's own lines are in colour
    with unchanged.recorded(), nullcontext() if argv[:1] == ["lab"] else escape.terminals():
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
    available = commands(argv, COMMANDS)
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
        code = _once(args.study, options)
        if not code and not options.dry:
            unchanged.keep(store.out_root())
        return code
    studies = params.names() if "all" in (args.study or []) else args.study or [s for part, _ in FIRST for s in part]
    return sweep.run(
        args.values, studies, lambda values: _once(args.study, replace(options, values=values)), dry=options.dry
    )


def _once(studies: list[str] | None, options: Options) -> int:
    return run(studies, options) if studies else first(options)
