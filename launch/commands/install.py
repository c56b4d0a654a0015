"""``install``: the server's packages, as the deployment guide has them."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from launch.command_line import CommandParser
from launch.commands.walking import typed, walk
from launch.here import Here
from launch.server_python import find
from launch.server_setup import CHALLENGE, REPOSITORIES, install_steps


def options(parser: CommandParser) -> None:
    parser.add_argument("--branch", metavar="NAME", default=CHALLENGE)
    parser.add_argument("--git", metavar="|".join(REPOSITORIES), choices=tuple(REPOSITORIES), default="github")
    parser.add_argument("--pip-index", metavar="URL")
    parser.add_argument("--into", metavar="DIR", type=Path)
    parser.add_argument("--vllm", metavar="PATH")
    parser.add_argument("--yes", action="store_true")


def run(args: Namespace, here: Here) -> int:
    program = find(args.vllm, here.environ, here.root)
    folder = (args.into or here.folder / "vllm-omni").expanduser().absolute()
    steps = install_steps(program, folder, args.branch, args.git, args.pip_index)
    given = typed(
        ("--branch", args.branch, CHALLENGE),
        ("--git", args.git, "github"),
        ("--pip-index", args.pip_index, None),
        ("--into", args.into, None),
        ("--vllm", args.vllm, None),
    )
    return walk("install", steps, program, bool(args.yes), here, given)
