"""The weights: a whole folder, or a name at a hub that this machine may still reach."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from launch.command import MODEL_PLACES, is_hub_id, offline_flags
from launch.findings import Finding
from launch.here import Here
from launch.output import launch_line
from launch.server_setup import is_whole


def place(here: Here, given: str | None) -> Path | str:
    """The folder to look at, or the hub id that was given."""
    if given is not None:
        return given if is_hub_id(given) else Path(given).expanduser().absolute()
    places = [here.under(place) for place in MODEL_PLACES]
    return next((place for place in places if place.is_dir()), places[-1])


def find(model: Path | str, here: Here) -> Iterator[Finding]:
    if isinstance(model, str):
        flags = offline_flags(here.environ)
        facts = {"model": model, "flags": ", ".join(flags), "command": launch_line("weights")}
        yield Finding("hub-id-offline" if flags else "hub-id", facts)
    elif not is_whole(model):
        facts = {"folder": model, "command": launch_line("weights", "--into", model)}
        yield Finding("model-incomplete" if model.is_dir() else "model-absent", facts)
