"""The whole start, decided before anything runs: deploy file, command line, environment, and what stands against it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from launch import deploy, redact
from launch.cards import VISIBLE, card_list, platform, visible
from launch.environment import ServerEnvironment, build
from launch.errors import InputError
from launch.findings import Finding
from launch.flags import check_flags
from launch.here import Here
from launch.knobs import setting
from launch.layouts import Layout, layout
from launch.lint.check import lint_overlay
from launch.output import launch_line
from launch.server_python import find
from launch.versions import Installed, installed

ROOT = Path(__file__).resolve().parent.parent
PORT = 8091  # the guide's
SERVED_NAME = "openbmb/MiniCPM-o-4_5"  # the guide's; bench, demo and curl lines all name it
# Where the contest boxes mount the weights, and where the guide downloads them to.
MODEL_PLACES = ("/workspace/shared_assets/models/OpenBMB/MiniCPM-o-4_5", "/workspace/MiniCPM-o-4_5")
STAGE_TIMEOUT_S = 1200  # a stage with weights on a network disk and cold graph capture takes minutes (npu.md §6)
INIT_TIMEOUT_S = 1800  # three stages on one card start one after another


@dataclass(frozen=True)
class Request:
    """What the user asked of ``up``; enough to start the same way again. ``api_key_file`` is a path, never a key."""

    layout: str
    model: str | None = None
    cards: str | None = None
    host: str = "127.0.0.1"
    port: int = PORT
    served_model_name: str = SERVED_NAME
    api_key_file: str | None = None
    stage_init_timeout: int = STAGE_TIMEOUT_S
    init_timeout: int = INIT_TIMEOUT_S
    sets: tuple[str, ...] = ()
    images: int | None = None
    media_path: str | None = None
    interleave: bool = False
    vllm: str | None = None
    env: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """A start, ready to run. ``command``: the program and its arguments, without secrets. ``overlay``: to be written
    to ``deploy_file`` first; both None for the rehearsal engine. ``folder``: the working directory. ``findings``: a
    fatal one must stop the start.
    """

    request: Request
    layout: Layout
    installed: Installed
    command: tuple[str, ...]
    environment: ServerEnvironment
    overlay: deploy.Overlay | None
    deploy_file: Path | None
    folder: Path
    cards: tuple[str, ...] | None
    findings: tuple[Finding, ...]

    @property
    def url(self) -> str:
        """Where this machine reaches the server."""
        host = "127.0.0.1" if self.request.host in ("0.0.0.0", "::", "") else self.request.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.request.port}"

    @property
    def blocked(self) -> bool:
        return any(finding.tell("en").severity == "fatal" for finding in self.findings)

    def shell_line(self) -> str:
        """The start as one line for a shell, secrets left out: what a person would have typed."""
        sources = [f"source {shlex.quote(str(script))}" for script in self.environment.sourced]
        key_file = self.request.api_key_file
        words = []
        for name, value in self.environment.changes.items():
            if name == "VLLM_API_KEY" and key_file:
                words.append(f'{name}="$(cat {shlex.quote(str(Path(key_file).expanduser()))})"')
            else:
                shown = redact.environment({name: value})[name]
                words.append(f'{name}="{shown}"' if f"${name}" in shown else f"{name}={shlex.quote(shown)}")
        return " && ".join([*sources, " ".join(["env", *words, shlex.join(redact.command(self.command))])])


def plan(request: Request, here: Here, *, dry: bool = False) -> Plan:
    """Decide a start. Nothing is written or run, save the toolkit's environment scripts. ``dry``: what only this
    machine lacks (the program, the weights) is told but does not stand against it.

    Raises ``InputError`` for what cannot be understood, ``LaunchError`` when the environment cannot be made.
    """
    kind = platform(here.environ, here.root)
    cards = card_list(request.cards) if request.cards else visible(here.environ, kind)
    if request.layout == "rehearsal":
        return _rehearsal(request, here)
    program = find(request.vllm, here.environ, here.root)
    found = installed(program)
    model, offline = _model(request, here)
    settings = [setting(text, found.line) for text in request.sets]
    overlay = deploy.build(request.layout, found, settings, request.images)
    path = here.state_dir() / "deploy" / overlay.name
    findings = [
        *lint_overlay(overlay, found, kind, cards),
        *check_flags(request.extra, here.environ, found.line, request.host, request.api_key_file),
        *(
            []
            if program
            else [Finding("vllm-not-found", {"given": request.vllm or "vllm"}, severity="degraded" if dry else None)]
        ),
        *(
            []
            if Path(model).is_dir() or not offline
            else [Finding("model-not-here", {"model": model}, severity="degraded" if dry else None)]
        ),
        *([] if offline else _hub(model, {**here.environ, **_given(request.env)})),
    ]
    # Video-MME's users give the server a media folder; for everybody else 64 images are plenty. Notes are for `lint`.
    findings = [
        finding
        for finding in findings
        if finding.severity != "harmless" and (finding.id != "images-too-few" or request.media_path is not None)
    ]
    variable = VISIBLE[kind or "npu"]
    return Plan(
        request=request,
        layout=layout(request.layout, found, kind or "npu"),
        installed=found,
        command=_command(request, str(program.path) if program else "vllm", model, path),
        environment=build(
            here.environ,
            {**_settings(request, offline), **({variable: ",".join(cards)} if request.cards and cards else {})},
            request.env,
            program=program.path if program else None,
            root=here.root,
        ),
        overlay=overlay,
        deploy_file=path,
        folder=here.state_dir(),
        cards=tuple(cards) if cards is not None else None,
        findings=tuple(findings),
    )


def _command(request: Request, program: str, model: str, deploy_file: Path) -> tuple[str, ...]:
    return (
        *(program, "serve", model, "--omni"),
        *("--served-model-name", request.served_model_name),
        "--trust-remote-code",
        *("--deploy-config", str(deploy_file)),
        *("--stage-init-timeout", str(request.stage_init_timeout), "--init-timeout", str(request.init_timeout)),
        *("--host", request.host, "--port", str(request.port)),
        *(("--allowed-local-media-path", str(_folder(request.media_path))) if request.media_path else ()),
        *(("--interleave-mm-strings",) if request.interleave else ()),
        *request.extra,
    )


def _settings(request: Request, offline: bool) -> Mapping[str, str]:
    return {
        "VLLM_WORKER_MULTIPROC_METHOD": "spawn",  # forked stages cannot use an NPU
        "VLLM_LOGGING_COLOR": "0",  # vllm-omni colours even a file
        # --stage-init-timeout does not lengthen a stage's own loading in 0.26; this does (protocol §6.1).
        "VLLM_ENGINE_READY_TIMEOUT_S": str(request.stage_init_timeout),
        **({"HF_HUB_OFFLINE": "1"} if offline else {}),  # else a box without internet waits for huggingface.co
        **(
            {"VLLM_API_KEY": read_key(request.api_key_file)} if request.api_key_file else {}
        ),  # not on the command line, where `ps` shows it
    }


def _model(request: Request, here: Here) -> tuple[str, bool]:
    """The weights' folder and True, or a hub id and False."""
    given = request.model or next((place for place in MODEL_PLACES if here.under(place).is_dir()), None)
    if given is None:
        raise InputError("model-needed", places=", ".join(MODEL_PLACES))
    path = Path(given).expanduser()
    return (given, False) if is_hub_id(given) else (str(path.absolute()), True)


def _hub(model: str, environ: Mapping[str, str]) -> list[Finding]:
    """A name at a hub is fetched by the server itself, which the offline flags forbid."""
    flags = offline_flags(environ)
    facts = {"model": model, "flags": ", ".join(flags), "command": launch_line("weights")}
    return [Finding("hub-id-offline", facts)] if flags else []


def _given(words: Sequence[str]) -> dict[str, str]:
    """``K=V`` words as variables."""
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def offline_flags(environ: Mapping[str, str]) -> list[str]:
    """The variables that keep the hub's client off the network, as huggingface_hub reads them."""
    names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    return [name for name in names if environ.get(name, "").lower() in ("1", "on", "yes", "true")]


def is_hub_id(model: str) -> bool:
    """Whether a model is a name at a hub (``openbmb/MiniCPM-o-4_5``) and no path of this machine."""
    path = Path(model).expanduser()
    return model.count("/") == 1 and not model.startswith((".", "/", "~")) and not path.exists()


def _folder(text: str) -> Path:
    path = Path(text).expanduser().absolute()
    if not path.is_dir():
        raise InputError("media-path-missing", folder=path)
    return path


def read_key(file: str) -> str:
    try:
        words = Path(file).expanduser().read_text(encoding="ascii").split()
    except OSError as missing:
        raise InputError("file-not-found", file=file, reason=missing.strerror or "") from missing
    except UnicodeDecodeError:
        words = []
    if len(words) != 1:  # it becomes a line of every client's request
        raise InputError("key-file-empty", file=file)
    return words[0]


def _rehearsal(request: Request, here: Here) -> Plan:
    """The CPU engine, in our own Python and from our own folder."""
    found = installed(None)
    environment = build(here.environ, {}, request.env, root=here.root, source=lambda _scripts, environ: environ)
    where = ("--host", request.host, "--port", str(request.port))
    return Plan(
        request=request,
        layout=layout("rehearsal", found),
        installed=found,
        command=(sys.executable, "-m", "launch.rehearsal", *where, *request.extra),
        environment=environment,
        overlay=None,
        deploy_file=None,
        folder=ROOT,
        cards=None,
        findings=(),
    )
