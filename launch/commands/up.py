"""``up``: decide a start, show it, and hand it to the supervisor."""

from __future__ import annotations

from argparse import BooleanOptionalAction, Namespace

from launch import redact
from launch.command import INIT_TIMEOUT_S, PORT, SERVED_NAME, STAGE_TIMEOUT_S, Plan, Request, plan
from launch.command_line import CommandParser, whole
from launch.here import Here
from launch.output import launch_line


def options(parser: CommandParser) -> None:
    parser.add_argument("--layout", metavar="L|FILE.yaml", required=True)
    parser.add_argument("--model", metavar="DIR")
    parser.add_argument("--cards", metavar="4,5")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", default=PORT, type=whole(1, 65535))
    parser.add_argument("--served-model-name", metavar="NAME", default=SERVED_NAME)
    parser.add_argument("--api-key-file", metavar="FILE")
    parser.add_argument("--stage-init-timeout", metavar="S", default=STAGE_TIMEOUT_S, type=whole(1))
    parser.add_argument("--init-timeout", metavar="S", default=INIT_TIMEOUT_S, type=whole(1))
    parser.add_argument("--set", metavar="KEY=VALUE", dest="sets", action="append", default=[])
    parser.add_argument("--images", metavar="N", type=whole(1))
    parser.add_argument("--media-path", metavar="DIR")
    parser.add_argument("--interleave", action="store_true")
    parser.add_argument("--vllm", metavar="PATH")
    parser.add_argument("--env", metavar="K=V", action="append", default=[])
    parser.add_argument("--wait", action=BooleanOptionalAction, default=True)
    parser.add_argument("--dry-run", action="store_true")


def run(args: Namespace, here: Here) -> int:
    request = Request(
        layout=args.layout,
        model=args.model,
        cards=args.cards,
        host=args.host,
        port=args.port,
        served_model_name=args.served_model_name,
        api_key_file=args.api_key_file,
        stage_init_timeout=args.stage_init_timeout,
        init_timeout=args.init_timeout,
        sets=tuple(args.sets),
        images=args.images,
        media_path=args.media_path,
        interleave=args.interleave,
        vllm=args.vllm,
        env=tuple(args.env),
        extra=here.extra,
    )
    start = plan(request, here, dry=args.dry_run)
    show(start, here)
    if args.dry_run or start.blocked:
        here.out.json(document(start, here))
        return int(start.blocked)
    from launch import supervise

    return supervise.start(start, here, wait=args.wait)


def show(start: Plan, here: Here) -> None:
    """Print what will run: findings, the overlay with what it changes, the environment, the command line."""
    out = here.out
    out.findings(start.findings)
    if start.overlay is not None:
        out.say("up.overlay", file=start.deploy_file, base=start.overlay.base)
        for line in start.overlay.text.splitlines():
            out.line("    " + line)
        out.table(
            (), [(change.path, f"{change.before} → {change.after}") for change in start.overlay.changes], indent="  "
        )
    for script in start.environment.sourced:
        out.say("up.sourced", script=script)
    out.say("up.environment")
    out.table((), sorted(redact.environment(start.environment.changes).items()), indent="    ")
    out.say("up.command")
    out.line("    " + start.shell_line())


def document(start: Plan, here: Here) -> dict[str, object]:
    """The plan for ``--json`` (docs/launch-json.md), without secrets."""
    overlay = start.overlay
    return {
        "layout": start.layout,
        "version": start.installed.version,
        "line": start.installed.line.name,
        "url": start.url,
        "deploy_file": start.deploy_file,
        "overlay": overlay and {"base": overlay.base, "text": overlay.text, "changes": overlay.changes},
        "command": redact.command(start.command),
        "environment": redact.environment(start.environment.changes),
        "sourced": start.environment.sourced,
        "shell": start.shell_line(),
        "cards": start.cards,
        "findings": here.out.told(start.findings),
        "blocked": start.blocked,
    }


def again(request: Request) -> str:
    """The ``up`` that makes the same start, as one line to copy. The values of ``--env`` that look secret are
    masked.
    """
    words: list[object] = ["up", "--layout", request.layout]
    for option, value, usual in (
        ("--model", request.model, None),
        ("--cards", request.cards, None),
        ("--host", request.host, "127.0.0.1"),
        ("--port", request.port, PORT),
        ("--served-model-name", request.served_model_name, SERVED_NAME),
        ("--api-key-file", request.api_key_file, None),
        ("--stage-init-timeout", request.stage_init_timeout, STAGE_TIMEOUT_S),
        ("--init-timeout", request.init_timeout, INIT_TIMEOUT_S),
        ("--images", request.images, None),
        ("--media-path", request.media_path, None),
        ("--vllm", request.vllm, None),
    ):
        words += [option, value] if value != usual and value is not None else []
    for text in request.sets:
        words += ["--set", text]
    for pair in request.env:
        name, _, value = pair.partition("=")
        words += ["--env", f"{name}={redact.environment({name: value})[name]}"]
    words += ["--interleave"] if request.interleave else []
    words += ["--", *redact.command(request.extra)] if request.extra else []
    return launch_line(*words)
