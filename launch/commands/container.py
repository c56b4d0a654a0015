"""``container``: the docker commands of the deployment guide for these cards and ports."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from launch.card_memory import read
from launch.cards import card_list
from launch.command import PORT
from launch.command_line import CommandParser, whole
from launch.container import MIRROR, ORIGIN, Series, container, signs_of_container
from launch.errors import InputError
from launch.findings import Finding, exit_code
from launch.here import Here
from launch.npu import NpuTable
from launch.versions import lines

_CARDS = 4  # the guide's example


def options(parser: CommandParser) -> None:
    parser.add_argument("--cards", metavar="4|4,5")
    parser.add_argument("--a2", action="store_true")
    parser.add_argument("--a3", action="store_true")
    parser.add_argument("--port", metavar="N", type=whole(1, 65_535), action="append", default=[])


def run(args: Namespace, here: Here) -> int:
    if args.a2 and args.a3:
        raise InputError("generation-twice")
    out, table = here.out, read(here.environ)
    series: Series = "A2" if args.a2 else "A3" if args.a3 or table is None or table.series == "A3" else "A2"
    tag = next(line.images[series.lower()] for line in lines() if line.images)
    box = container(series, tag, _cards(args.cards, table), [int(port) for port in args.port] or [PORT], here.root)
    signs = signs_of_container(here.root)
    findings = [Finding("inside-container", {"signs": ", ".join(signs)})] if signs else []
    if table is not None and table.series != series:
        findings.append(Finding("generation-other", {"asked": series, "found": table.series}))
    out.findings(findings)
    for key, words in (("pull", box.pull), ("run", box.run)):
        out.say(f"container.{key}", series=series)
        out.line("  " + words)
    out.say("container.origin", mirror=MIRROR, origin=ORIGIN)
    out.say("container.inside")
    out.json({**asdict(box), "pull": box.pull, "run": box.run, "signs": signs, "findings": out.told(findings)})
    return exit_code(findings)


def _cards(given: str | None, table: NpuTable | None) -> list[int]:
    """A lone number counts cards, as the guide does; a list names them. Without either: what npu-smi shows, at most
    four.
    """
    seen = [die.card for die in table.dies] if table else []
    if given is None:
        return seen[:_CARDS] or list(range(_CARDS))
    words = [int(word) for word in card_list(given)]
    if "," in given:
        return words
    if words[0] == 0:
        raise InputError("cards-unreadable", given=given)
    return seen[: words[0]] if len(seen) >= words[0] else list(range(words[0]))
