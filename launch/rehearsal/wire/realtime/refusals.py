"""What a session refuses, in the server's codes and words (protocol §4.12; captured in reference/wire and wire30)."""

from __future__ import annotations

_TYPES = {
    **dict.fromkeys(("resource_exhausted", "duplex_session_busy"), "rate_limit_error"),
    **dict.fromkeys(("internal_error", "runtime_append_failed", "response_error", "engine_error"), "server_error"),
}


class Refusal(Exception):
    """An ``error`` event. ``fatal``: the connection ends after it, as it does for every refusal of the handshake."""

    def __init__(self, code: str, message: str, *, fatal: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fatal = fatal

    def event(self) -> dict[str, object]:
        """As the Realtime projection says it."""
        kind = _TYPES.get(self.code, "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "code": self.code, "message": self.message}}

    def flat(self) -> dict[str, object]:
        """As 0.26's native dialect says it (§4.11)."""
        retryable = {"retryable": True} if self.code == "resource_exhausted" else {}
        return {"type": "error", "code": self.code, "error": self.message, **retryable}
