"""Reaching the page from another computer: the ssh line for a jump host and a target, strictly checked, since it is
made to be pasted into a shell.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

from launch.errors import InputError

# Names that mean the same to sh, PowerShell and ssh_config: no blanks, quotes, $, %, no leading dash.
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})")
_SSH_PORT = 22
# A gateway's idle limit is commonly a minute or more; four lost answers (two minutes) end a dead tunnel with a word.
ALIVE_S, ALIVE_COUNT = 30, 4
ALIAS = "omni"


@dataclass(frozen=True)
class Login:
    """``user@host`` and its ssh port."""

    user: str
    host: str
    port: int = _SSH_PORT

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.user}@{host}" + (f":{self.port}" if self.port != _SSH_PORT else "")


def login(text: str) -> Login:
    """``user@host``, ``user@host:port`` or ``user@[v6]:port``. Raises ``InputError`` for anything else."""
    user, at, place = text.strip().partition("@")
    bracketed = re.fullmatch(r"\[([0-9A-Fa-f:.]+)\](?::(\d{1,5}))?", place)
    plain = re.fullmatch(r"([^:\[\]]+)(?::(\d{1,5}))?", place)
    found = bracketed or plain
    port = int(found[2] or _SSH_PORT) if found else 0
    good = at and found and _USER.fullmatch(user) and 0 < port < 65_536
    if not good or found is None or not (_v6(found[1]) if bracketed else _HOST.fullmatch(found[1])):
        raise InputError("login-unreadable", given=text)
    return Login(user, found[1], port)


@dataclass(frozen=True)
class Forward:
    """``ports``: forwarded from this computer's loopback to the target's, number for number."""

    target: Login
    jump: Login | None
    ports: tuple[int, ...]

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(f"http://127.0.0.1:{port}" for port in self.ports)

    @property
    def openssh(self) -> str:
        """One line for sh, zsh, and the Git Bash of Windows."""
        return " ".join(self._words("ssh"))

    @property
    def powershell(self) -> str:
        """The same for PowerShell, with Windows' own client by name: ``ssh`` may be an alias or Git's."""
        return " ".join(self._words("ssh.exe"))

    @property
    def config(self) -> str:
        """A block of ``~/.ssh/config``; then ``ssh -N omni`` is enough."""
        rows = [
            f"HostName {self.target.host}",
            f"User {self.target.user}",
            f"Port {self.target.port}",
            *([f"ProxyJump {self.jump}"] if self.jump else []),
            *(f"LocalForward 127.0.0.1:{port} 127.0.0.1:{port}" for port in self.ports),
            f"ServerAliveInterval {ALIVE_S}",
            f"ServerAliveCountMax {ALIVE_COUNT}",
            "ExitOnForwardFailure yes",
        ]
        return "\n".join([f"Host {ALIAS}", *(f"    {row}" for row in rows)])

    def _words(self, program: str) -> list[str]:
        # Nothing here needs a quote in any shell: `login` lets only such letters through; brackets would glob in zsh.
        jump = [] if self.jump is None else ["-J", f"'{self.jump}'" if "[" in str(self.jump) else str(self.jump)]
        return [
            program,
            "-N",
            *(word for port in self.ports for word in ("-L", f"127.0.0.1:{port}:127.0.0.1:{port}")),
            *("-o", f"ServerAliveInterval={ALIVE_S}", "-o", f"ServerAliveCountMax={ALIVE_COUNT}"),
            *("-o", "ExitOnForwardFailure=yes"),
            *jump,
            *(["-p", str(self.target.port)] if self.target.port != _SSH_PORT else []),
            f"{self.target.user}@{self.target.host}",
        ]


def forward(target: str, jump: str | None, ports: Sequence[int]) -> Forward:
    """The tunnel a user asked for. Raises ``InputError`` for a login that cannot be read."""
    return Forward(login(target), login(jump) if jump else None, tuple(dict.fromkeys(ports)))


def _v6(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).version == 6
    except ValueError:
        return False
