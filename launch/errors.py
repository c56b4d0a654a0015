"""The one error tree.

::

    OmniError                    everything a user may be told; carries a key of deploy/faults.yaml
    ├── MediaError               an upload cannot become what the model takes
    ├── InputError               something is missing or out of range before anything is sent
    ├── ServerError              the server refused, broke off, or is not there
    │   ├── ServerGone           no connection, or it was lost
    │   ├── ServerRefused        it answered with an error (limit, model id, context, ...)
    │   └── ServerSilent         a time-out of ours: first event, or between events
    ├── RehearsalError           the CPU engine or its weights
    └── LaunchError              starting, watching or stopping a server

A key names one entry of the fault catalogue (``launch/faults.py``), where its cause and its cure stand in Chinese and English.
``facts`` are the values that its sentences may use (``{limit}``, ``{sent}``, ...). Raw words of a server stay in ``detail``: they are
for the folded raw events, never for a headline.
"""

from __future__ import annotations


class OmniError(Exception):
    """A failure with a cause and a cure. ``key``: id in deploy/faults.yaml; ``facts``: values for its sentences."""

    def __init__(self, key: str, *, detail: str = "", **facts: object) -> None:
        self.key = key
        self.detail = detail
        self.facts = facts
        super().__init__(f"{key}: {detail}" if detail else key)


class MediaError(OmniError):
    """An upload cannot become what the model takes."""


class InputError(OmniError):
    """Something is missing or out of range before anything is sent."""


class ServerError(OmniError):
    """The server refused, broke off, or is not there. ``server``: its address, where whoever talks to it has said so."""

    server: str = ""


class ServerGone(ServerError):
    """No connection, or it was lost."""


class ServerRefused(ServerError):
    """The server answered with an error."""


class ServerSilent(ServerError):
    """A time-out of ours ran out."""


class RehearsalError(OmniError):
    """The rehearsal engine or its weights."""


class LaunchError(OmniError):
    """Starting, watching or stopping a server."""
