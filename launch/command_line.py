"""One command's line: parsed by argparse, its lower layers, its help page and its complaints in the user's language.

argparse, because typer brings pydantic as soon as a command has one option, and ``status`` must answer sooner than
that loads.
"""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from launch.errors import InputError
from launch.here import Here
from launch.output import Output

# argparse's own words, and ours for them.
_COMPLAINTS = (
    (re.compile(r"the following arguments are required: (?P<wanted>.+)"), "usage.missing"),
    (
        re.compile(r"argument (?P<wanted>\S+).*: expected (?:one argument|at least one argument|\d+ arguments?)"),
        "usage.no_value",
    ),
    (re.compile(r"argument (?P<wanted>\S+).*: invalid (?:\w+ value|choice): (?P<given>'[^']*')"), "usage.value"),
    (re.compile(r"argument (?P<wanted>\S+?)(?:/\S+)?: (?P<given>.+)"), "usage.value"),
)


class CommandParser(argparse.ArgumentParser):
    """A parser that raises ``InputError`` instead of ending the process, and has no abbreviations that a later option
    could break.
    """

    def __init__(self, name: str, out: Output) -> None:
        super().__init__(prog=f"python -m launch {name}", add_help=False, allow_abbrev=False)
        self.name, self.out = name, out

    def error(self, message: str) -> NoReturn:
        for pattern, key in _COMPLAINTS:
            found = pattern.match(message)
            if found:
                raise self.refused(self.out.text(key, **found.groupdict()))
        raise self.refused(message)

    def refused(self, message: str) -> InputError:
        return InputError("command-line", message=message, help=f"{self.prog} --help")

    def options(self) -> list[argparse.Action]:
        """Every argument and option, in the order of the command's file."""
        return list(self._actions)  # argparse has no public way to list them


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """An option's type: a whole number within bounds."""

    def convert(text: str) -> int:
        number = int(text)
        if number < least or (most is not None and number > most):
            raise argparse.ArgumentTypeError(f"{number} (≥ {least}{'' if most is None else f', ≤ {most}'})")
        return number

    return convert


def parse(parser: CommandParser, words: Sequence[str], here: Here) -> argparse.Namespace:
    """The options of ``words``; those not given come from ``OMNI_<COMMAND>_<OPTION>`` in the environment, else from
    ``omni.yaml`` in the working directory, whose sections are named as the commands are. ``OMNI_VLLM`` counts for
    every command that asks for the server's program. Raises ``InputError`` for what cannot be understood.
    """
    low = _layers(parser, here)
    parser.set_defaults(**low)
    for action in parser.options():
        action.required = action.required and action.dest not in low
    args, unknown = parser.parse_known_intermixed_args(list(words))
    if unknown:
        known = [name for action in parser.options() for name in action.option_strings]
        near = difflib.get_close_matches(unknown[0], known, n=1)
        like = parser.out.text("usage.like", near=near[0]) if near else ""
        key = "usage.option" if unknown[0].startswith("-") else "usage.surplus"
        raise parser.refused(parser.out.text(key, given=unknown[0]) + like)
    return args


def _layers(parser: CommandParser, here: Here) -> dict[str, Any]:
    environ = here.environ
    low = {str(key).replace("-", "_"): value for key, value in _section(here.folder / "omni.yaml", parser.name).items()}
    values: dict[str, Any] = {}
    for action in parser.options():
        name = action.dest
        given = environ.get(f"OMNI_{parser.name}_{name}".upper(), low.get(name))
        if name == "vllm":
            given = given or environ.get("OMNI_VLLM")
        if given is None:
            continue
        if action.nargs == 0:  # a switch
            values[name] = str(given).lower() in ("1", "true", "yes")
        elif isinstance(action.default, list) or action.nargs in ("*", "+"):
            values[name] = given.split(",") if isinstance(given, str) else [str(item) for item in given]
        else:
            values[name] = str(given)  # argparse runs the option's type over it, as over a flag
    return values


def _section(path: Path, name: str) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    import yaml

    from launch.fast_yaml import parse as parse_yaml

    try:
        document = parse_yaml(path.read_text(encoding="utf-8")) or {}
    except yaml.YAMLError as broken:
        raise InputError("config-not-yaml", file=path, problem=" ".join(str(broken).split())) from broken
    section = document.get(name, {}) if isinstance(document, dict) else {}
    return section if isinstance(section, dict) else {}


def page(parser: CommandParser) -> None:
    """Print what the command does and each of its options."""
    out, name = parser.out, parser.name
    actions = sorted(parser.options(), key=lambda action: bool(action.option_strings))
    arguments = [_shape(action) for action in actions if not action.option_strings]
    about = {_shape(action): out.text(f"help.{name}.{action.dest}") for action in actions}
    usual = {_shape(action): _default(out, action) for action in actions}
    out.line(
        out.paint(" ".join([parser.prog, *arguments, *(["[…]"] if len(about) > len(arguments) else [])]), "strong")
    )
    out.say(f"help.{name}.about")
    out.line()
    rows = [(shape, words + usual[shape]) for shape, words in about.items()]
    out.table((), [*rows, ("--json", out.text("help.json")), ("--lang zh|en", out.text("help.lang"))], indent="  ")
    out.json({"command": name, "about": out.text(f"help.{name}.about"), "options": about})


def _shape(action: argparse.Action) -> str:
    """How an option is written: ``--cards 4,5``, ``--wait/--no-wait``, ``[FILE]``."""
    value = action.metavar if isinstance(action.metavar, str) else action.dest.upper().replace("_", "-")
    many = " …" if action.nargs in ("*", "+") or isinstance(action.default, list) else ""
    if not action.option_strings:
        return (f"[{value}]" if action.nargs in ("?", "*") else value) + many
    names = "/".join(action.option_strings)
    return names if action.nargs == 0 else f"{names} {value}{many}"


def _default(out: Output, action: argparse.Action) -> str:
    plain = (
        isinstance(action.default, (str, int, float)) and not isinstance(action.default, bool) and action.default != ""
    )
    return out.text("help.default", value=action.default) if plain else ""
