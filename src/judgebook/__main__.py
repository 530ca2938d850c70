"""The command line: `judgebook`, `python -m judgebook`, and in a checkout `python run_all.py`."""

import gc
import os
import sys


def _read_names_as_utf8() -> None:
    """Start again in UTF-8 mode where the locale has only ASCII: names of files could not be read."""
    if sys.getfilesystemencoding() != "utf-8" and not sys.flags.utf8_mode:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def main() -> int:
    """Carry out the command line of this process; returns the exit code."""
    _read_names_as_utf8()
    from judgebook import project

    project.called(sys.argv[0])
    from judgebook.pipeline.cli import main as carried_out

    # what was imported stays, and frames free their memory without it: by default, it takes a fifteenth of an audit
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    code = carried_out()
    gc.freeze()  # else Python looks through all that was imported once more before it ends, which takes half a second
    return code


if __name__ == "__main__":
    sys.exit(main())
