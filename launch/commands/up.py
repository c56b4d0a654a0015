"""``up``: decide a start, show it, and hand it to the supervisor."""

from __future__ import annotations

from typing import Annotated

import typer

from launch import redact
from launch.command import INIT_TIMEOUT_S, PORT, SERVED_NAME, STAGE_TIMEOUT_S, Plan, Request, plan
from launch.errors import InputError
from launch.here import Here
from launch.output import launch_line


def run(
    ctx: typer.Context,
    layout: Annotated[str | None, typer.Option(metavar="L|FILE.yaml")] = None,
    model: Annotated[str | None, typer.Option(metavar="DIR")] = None,
    cards: Annotated[str | None, typer.Option(metavar="4,5")] = None,
    host: str = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = PORT,
    served_model_name: Annotated[str, typer.Option(metavar="NAME")] = SERVED_NAME,
    api_key_file: Annotated[str | None, typer.Option(metavar="FILE")] = None,
    stage_init_timeout: Annotated[int, typer.Option(min=1, metavar="S")] = STAGE_TIMEOUT_S,
    init_timeout: Annotated[int, typer.Option(min=1, metavar="S")] = INIT_TIMEOUT_S,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE")] = None,
    images: Annotated[int | None, typer.Option(min=1, metavar="N")] = None,
    media_path: Annotated[str | None, typer.Option(metavar="DIR")] = None,
    interleave: Annotated[bool, typer.Option("--interleave")] = False,
    vllm: Annotated[str | None, typer.Option(metavar="PATH")] = None,
    env: Annotated[list[str] | None, typer.Option(metavar="K=V")] = None,
    wait: bool = True,
    dry_run: Annotated[bool, typer.Option("--dry-run")] = False,
) -> int:
    here: Here = ctx.obj
    if layout is None:
        raise InputError("layout-needed")
    request = Request(
        layout=layout,
        model=model,
        cards=cards,
        host=host,
        port=port,
        served_model_name=served_model_name,
        api_key_file=api_key_file,
        stage_init_timeout=stage_init_timeout,
        init_timeout=init_timeout,
        sets=tuple(set_ or ()),
        images=images,
        media_path=media_path,
        interleave=interleave,
        vllm=vllm,
        env=tuple(env or ()),
        extra=here.extra,
    )
    start = plan(request, here, dry=dry_run)
    show(start, here)
    if dry_run or start.blocked:
        here.out.json(document(start, here))
        return int(start.blocked)
    from launch import supervise

    return supervise.start(start, here, wait=wait)


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
