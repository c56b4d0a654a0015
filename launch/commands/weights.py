"""``weights``: the model's folder, from the hub that can be reached."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from launch.command import MODEL_PLACES
from launch.command_line import CommandParser
from launch.commands.walking import typed, walk
from launch.here import Here
from launch.server_python import find
from launch.server_setup import is_whole, weights_steps


def options(parser: CommandParser) -> None:
    parser.add_argument("--into", metavar="DIR", type=Path)
    parser.add_argument(
        "--source", metavar="modelscope|huggingface", choices=("modelscope", "huggingface"), default="modelscope"
    )
    parser.add_argument("--pip-index", metavar="URL")
    parser.add_argument("--vllm", metavar="PATH")
    parser.add_argument("--yes", action="store_true")


def run(args: Namespace, here: Here) -> int:
    program = find(args.vllm, here.environ, here.root)
    places = [here.under(place) for place in MODEL_PLACES]
    # The contest boxes share a copy; the last place is where the guide downloads to.
    found = next((place for place in places if is_whole(place)), places[-1])
    folder = args.into.expanduser().absolute() if args.into else found
    steps = weights_steps(program, folder, args.source, args.pip_index)
    given = typed(
        ("--into", args.into, None),
        ("--source", args.source, "modelscope"),
        ("--pip-index", args.pip_index, None),
        ("--vllm", args.vllm, None),
    )
    return walk("weights", steps, program, bool(args.yes), here, given, folder=str(folder))
