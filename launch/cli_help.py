"""One command's help page, its options' lower layers (environment, ``omni.yaml``), and usage errors in words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from launch.errors import InputError
from launch.here import Here
from launch.output import Output


def page(out: Output, name: str, command: Any) -> None:
    """Print what ``command`` does and each of its options, in the user's language."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join(["python -m launch", name, *(_shape(p) for p in arguments), *(["[…]"] if options else [])])
    out.line(out.paint(usage, "strong"))
    out.say(f"help.{name}.about")
    out.line()
    rows = [(_shape(p), out.text(f"help.{name}.{p.name}") + _default(out, p)) for p in [*arguments, *options]]
    out.table((), [*rows, ("--json", out.text("help.json")), ("--lang zh|en", out.text("help.lang"))], indent="  ")
    out.json(
        {
            "command": name,
            "about": out.text(f"help.{name}.about"),
            "options": {_shape(p): out.text(f"help.{name}.{p.name}") for p in [*arguments, *options]},
        }
    )


def _shape(param: Any) -> str:
    """How an option is written: ``--cards CARDS``, ``--wait/--no-wait``, ``[FILE]``."""
    value = param.metavar or param.name.upper().replace("_", "-")
    many = " …" if param.multiple or param.nargs == -1 else ""
    if param.param_type_name == "argument":
        return (value if param.required else f"[{value}]") + many
    names = "/".join([*param.opts, *param.secondary_opts])
    return names if param.is_flag else f"{names} {value}{many}"


def _default(out: Output, param: Any) -> str:
    plain = isinstance(param.default, (str, int, float)) and not isinstance(param.default, bool) and param.default != ""
    return out.text("help.default", value=param.default) if plain else ""


def config(name: str, command: Any, here: Here) -> dict[str, Any]:
    """Values below the flags: ``OMNI_<COMMAND>_<OPTION>`` in the environment, else ``omni.yaml`` in the working
    directory, whose sections are named as the commands are. ``OMNI_VLLM`` counts for every command that asks for the
    server's program.
    """
    low = {str(key).replace("-", "_"): value for key, value in _section(Path("omni.yaml"), name).items()}
    values: dict[str, Any] = {}
    for param in command.params:
        given = here.environ.get(f"OMNI_{name}_{param.name}".upper(), low.get(param.name))
        if param.name == "vllm":
            given = given or here.environ.get("OMNI_VLLM")
        if given is not None:
            values[param.name] = given.split(",") if param.multiple and isinstance(given, str) else given
    return values


def _section(path: Path, name: str) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    import yaml

    from launch.fast_yaml import parse

    try:
        document = parse(path.read_text(encoding="utf-8")) or {}
    except yaml.YAMLError as broken:
        raise InputError("config-not-yaml", file=path, problem=" ".join(str(broken).split())) from broken
    section = document.get(name, {}) if isinstance(document, dict) else {}
    return section if isinstance(section, dict) else {}


def say_usage(out: Output, name: str, error: Any) -> InputError:
    """typer's complaint about a command line as one of ours."""
    kind = type(error).__name__
    param = getattr(error, "param", None)
    if kind == "NoSuchOption":
        message = out.text("usage.option", given=error.option_name)
        if error.possibilities:
            message += out.text("usage.like", near=error.possibilities[0])
    elif kind == "MissingParameter" and param is not None:
        message = out.text("usage.missing", wanted=_shape(param))
    elif kind == "BadParameter" and param is not None:
        message = out.text("usage.value", wanted=_shape(param), problem=error.message)
    else:
        message = error.format_message()
    return InputError("command-line", message=message, help=f"python -m launch {name} --help")
