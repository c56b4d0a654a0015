"""The frame of ``python -m launch``: finds the command, reads what all commands share, loads that one command, tells
failures.

``status`` must answer in about the time that importing typer takes, so nothing but the named command's module is
loaded.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from launch.errors import InputError, OmniError
from launch.here import Here
from launch.output import Output
from launch.texts import LANGUAGES, language

# Name -> module of launch.commands, in the order of the overview. A module called `set` would hide the builtin.
COMMANDS: Mapping[str, str] = {
    "layouts": "layouts",
    "doctor": "doctor",
    "container": "container",
    "install": "install",
    "weights": "weights",
    "up": "up",
    "status": "status",
    "logs": "logs",
    "down": "down",
    "restart": "restart",
    "health": "health",
    "set": "knobs",
    "lint": "lint",
    "explain": "explain",
    "forward": "forward",
    "job": "job",
}
GOOD, FINDING, USAGE, INTERRUPTED = 0, 1, 2, 130  # 130 = 128 + SIGINT, what a shell expects after Ctrl-C


def main(
    argv: Sequence[str],
    environ: Mapping[str, str],
    stream: TextIO | None = None,
    errors: TextIO | None = None,
    root: Path = Path("/"),
    folder: Path = Path(),
) -> int:
    """Run one command and return its exit code: 0 good, 1 a finding or a failure, 2 a line that cannot be
    understood.
    """
    words, extra = _split(argv)
    as_json, tongue, help_wanted, words, wrong = _shared(words, environ)
    printed: TextIO = stream or sys.stdout
    failures: TextIO = errors or sys.stderr
    colour = printed.isatty() and not environ.get("NO_COLOR")
    here = Here(Output(tongue, as_json, printed, failures, colour), environ, root, tuple(extra), folder)
    name = next((word for word in words if not word.startswith("-")), None)
    try:
        if wrong is not None:
            raise _misread(here.out.text("usage.language", given=wrong))
        if name is None:
            _overview(here.out)
            return GOOD if help_wanted else USAGE
        if name not in COMMANDS:
            raise _misread(here.out.text("usage.command", given=name) + _like(here.out, name, COMMANDS))
        words.remove(name)
        return _run(name, words, here, help_wanted)
    except KeyboardInterrupt:
        here.out.line()
        return INTERRUPTED
    except BrokenPipeError:  # the reader (`| head`) has gone: nothing more can be said, and nothing is wrong
        sys.stderr.close()
        return GOOD
    except OmniError as error:
        return _tell(here.out, error)


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is ours, and what stands after ``--`` and goes to the server as it is."""
    words = list(argv)
    cut = words.index("--") if "--" in words else len(words)
    return words[:cut], words[cut + 1 :]


def _shared(words: list[str], environ: Mapping[str, str]) -> tuple[bool, str, bool, list[str], str | None]:
    """Take ``--json``, ``--lang`` and ``--help`` out, wherever they stand: the language is needed before a command's
    help can be built. The last value is a language nobody here speaks, or None.
    """
    as_json, flag, help_wanted, rest = False, None, False, []
    remaining = iter(words)
    for word in remaining:
        if word == "--json":
            as_json = True
        elif word in ("--help", "-h"):
            help_wanted = True
        elif word == "--lang" or word.startswith("--lang="):
            flag = word.partition("=")[2] or next(remaining, "")
        else:
            rest.append(word)
    wrong = flag if flag is not None and flag not in LANGUAGES else None
    return as_json, language(environ, None if wrong is not None else flag), help_wanted, rest, wrong


def _run(name: str, words: list[str], here: Here, help_wanted: bool) -> int:
    from launch.command_line import CommandParser, page, parse

    module = importlib.import_module(f"launch.commands.{COMMANDS[name]}")
    parser = CommandParser(name, here.out)
    module.options(parser)
    if help_wanted:
        page(parser)
        return GOOD
    return module.run(parse(parser, words, here), here)


def _overview(out: Output) -> None:
    out.say("help.app")
    out.line()
    out.table((), [(name, out.text(f"help.{name}.about")) for name in COMMANDS], indent="  ")
    out.line()
    out.say("help.shared")
    out.json({"commands": {name: out.text(f"help.{name}.about") for name in COMMANDS}})


def _misread(message: str) -> InputError:
    return InputError("command-line", message=message, help="python -m launch --help")


def _like(out: Output, given: str, known: Mapping[str, object]) -> str:
    import difflib

    near = difflib.get_close_matches(given, known, n=1)
    return out.text("usage.like", near=near[0]) if near else ""


def _tell(out: Output, error: OmniError) -> int:
    """A failure in the user's language. What could not be understood exits with 2, everything else with 1."""
    from launch.faults import explain

    told = explain(error, out.tongue)
    out.complain(out.paint(told.cause, "fatal" if told.severity == "fatal" else "degraded"))
    out.complain("  " + out.text("findings.cure", cure=told.cure))
    if error.detail:
        out.complain("  " + out.paint(error.detail, "dim"))
    shape = {"id": told.id, "severity": told.severity, "cause": told.cause, "cure": told.cure, "detail": error.detail}
    out.json({"error": shape})
    return USAGE if isinstance(error, InputError) else FINDING
