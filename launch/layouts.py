"""The card layouts: which stage runs on which card, in which session mode, with which limits, for the vLLM-Omni that
is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from launch.deploy_file import STAGES, DeployFile, open_file, resolve, stages
from launch.errors import InputError
from launch.versions import Installed

NAMES = ("1card", "2card", "3card", "8card", "duplex", "duplex-2card", "rehearsal")
# Live sessions the rehearsal engine admits when nobody says a number (its --max-sessions).
REHEARSED = 2
# What vLLM allows of a kind that a deploy file does not limit (vllm/config/multimodal.py).
UNLIMITED = 999


@dataclass(frozen=True)
class Placed:
    """A stage and its cards: logical numbers, counted inside the visible-devices variable where that is set."""

    stage: int
    name: str
    cards: tuple[int, ...]


@dataclass(frozen=True)
class Limits:
    """Per request: images, audios, videos. At once: ``sequences`` (requests the thinker takes) and ``sessions``
    (duplex; 0 in turn mode).
    """

    images: int
    audios: int
    videos: int
    sequences: int
    sessions: int


@dataclass(frozen=True)
class Layout:
    """``cards``: how many different cards its stages use. ``file``: the deploy file it stands on; None for the
    rehearsal engine. ``missing``: the packaged file that this installation lacks for it, or None when it can run.
    """

    name: str
    cards: int
    stages: tuple[Placed, ...]
    session_mode: str
    limits: Limits
    file: Path | None
    missing: str | None = None


def layout_file(name: str, here: Installed) -> Path:
    """Our overlay of a named layout, or the user's own file. Raises ``InputError`` for neither."""
    if name in NAMES and name != "rehearsal":
        return here.line.folder / f"{name}.yaml"
    path = Path(name).expanduser().absolute()
    if not path.is_file():
        raise InputError("layout-unknown", given=name, known=", ".join(NAMES))
    return path


def search_path(here: Installed) -> tuple[Path, ...]:
    """Where a named layout's base file is looked for: the installed package first."""
    return (here.deploy, here.line.folder) if here.deploy else (here.line.folder,)


def layout(name: str, here: Installed, platform: str | None = "npu") -> Layout:
    """One layout, its limits with the section of ``platform`` applied. Raises ``InputError`` for an unknown name or a
    broken file.
    """
    if name == "rehearsal":
        return Layout(name, 0, (), "duplex", Limits(UNLIMITED, UNLIMITED, UNLIMITED, 1, REHEARSED), None)
    file = open_file(layout_file(name, here), search_path(here))
    return _described(name, file, resolve(file, here.line), here, platform)


def table(here: Installed, platform: str | None = "npu") -> list[Layout]:
    """Every named layout, in order of need."""
    return [layout(name, here, platform) for name in NAMES]


def _described(
    name: str, file: DeployFile, resolved: Mapping[str, Any], here: Installed, platform: str | None
) -> Layout:
    by_id = stages(resolved, platform)
    placed = tuple(Placed(stage, STAGES[stage], tuple(cards(by_id[stage].get("devices")))) for stage in sorted(by_id))
    mode = str(resolved.get("session_mode", "turn"))
    limit = by_id.get(0, {}).get("limit_mm_per_prompt") or {}
    duplex = resolved.get("duplex_session") or {}
    return Layout(
        name=name,
        cards=len({card for stage in placed for card in stage.cards}),
        stages=placed,
        session_mode=mode,
        limits=Limits(
            *(_count(limit.get(kind)) for kind in ("image", "audio", "video")),
            sequences=by_id.get(0, {}).get("max_num_seqs") or 0,
            sessions=duplex.get("max_sessions", 1) if mode == "duplex" else 0,
        ),
        file=_base(file).path if file.path.parent == here.line.folder and _only_base(file) else file.path,
        missing=_missing(file, here),
    )


def cards(devices: Any) -> list[int]:
    """Card numbers of a ``devices`` value; words that are no numbers are left out (``lint`` names them)."""
    return [int(word) for word in str("" if devices is None else devices).replace(" ", "").split(",") if word.isdigit()]


def _count(limit: Any) -> int:
    """A limit as vLLM takes it: a number, or a mapping with ``count``."""
    value = limit.get("count") if isinstance(limit, dict) else limit
    return value if isinstance(value, int) else UNLIMITED


def _base(file: DeployFile) -> DeployFile:
    return file.base or file


def _only_base(file: DeployFile) -> bool:
    """Whether our overlay adds nothing to the packaged file."""
    return set(file.document.data) == {"base_config"}


def _missing(file: DeployFile, here: Installed) -> str | None:
    """A base that came from our own folder although a package is installed: that package does not ship it."""
    if here.deploy is None:
        return None
    strayed = [link.path for link in file.chain()[1:] if link.path.parent == here.line.folder]
    return strayed[0].name if strayed else None
