"""Where an option comes from: the flag, else ``OMNI_<NAME>`` in the environment, else ``omni.yaml`` in the working
directory, else the default."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

FILE = "omni.yaml"


def layered(
    parser: argparse.ArgumentParser, argv: Sequence[str] | None, environ: Mapping[str, str], folder: Path
) -> argparse.Namespace:
    """Parse ``argv``, with the environment and the file below it. A value from any layer is checked like a flag; a bad one exits with 2."""
    low = _file(folder / FILE, parser)
    for action in parser._actions:  # argparse has no public way to list its options
        name = action.dest
        given = environ.get(f"OMNI_{name.upper()}", low.get(name))
        if name != "help" and given is not None:
            # argparse runs ``type`` over a default only when it is a string, and that is what we want here.
            action.default = given if isinstance(given, str) else str(given)
            if action.choices and action.default not in action.choices:
                parser.error(f"{name} = {given}: one of {', '.join(map(str, action.choices))}")
    return parser.parse_args(argv)


def _file(path: Path, parser: argparse.ArgumentParser) -> Mapping[str, object]:
    if not path.is_file():
        return {}
    import yaml  # not at the top: app.py must print its first line at once, and most folders hold no omni.yaml

    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except yaml.YAMLError as broken:
        parser.error(f"{path} is not YAML: {broken}")
    if not isinstance(values, dict):
        parser.error(f"{path} must hold `option: value` lines.")
    values = {str(name).replace("-", "_"): value for name, value in values.items()}
    known = {action.dest for action in parser._actions}
    # The launcher shares the file: its sections are mappings, options are plain values.
    if stray := sorted(name for name in set(values) - known if not isinstance(values[name], dict)):
        parser.error(f"{path} has an option nobody knows: {', '.join(stray)}")
    return {name: value for name, value in values.items() if name in known}
