"""The same request by hand: bash with curl, PowerShell, Python. Media stand beside as files: the text stays short."""

from __future__ import annotations

import base64
import json
import pprint
from collections.abc import Mapping
from typing import Any

_SUFFIX = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "audio/wav": "wav", "video/mp4": "mp4"}
# What the OpenAI SDK knows by name; everything else must go through its ``extra_body``, which it merges into the root.
_SDK_FIELDS = {"model", "messages", "modalities", "max_tokens", "temperature", "seed", "stream", "stream_options"}


class MediaFile(str):
    """A data URL whose bytes were put aside in a file. As text: ``data:<mime>;base64,<<name>>``; as Python: a call."""

    __slots__ = ("mime", "name")
    mime: str
    name: str

    def __new__(cls, mime: str, name: str) -> MediaFile:
        self = super().__new__(cls, f"data:{mime};base64,<<{name}>>")
        self.mime = mime
        self.name = name
        return self

    def __repr__(self) -> str:
        return f"data_url({self.mime!r}, {self.name!r})"


class Shelf:
    """Media put aside, by file name: image1.jpg, image2.png, audio1.wav. The same bytes stand there once."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self._counts: dict[str, int] = {}

    def put(self, mime: str, data: bytes) -> MediaFile:
        """A place for ``data``; what stands in the body for it."""
        for name, known in self.files.items():  # the voice's reference stands twice in a body; one file is enough
            if known == data:
                return MediaFile(mime, name)
        stem = mime.partition("/")[0]
        self._counts[stem] = self._counts.get(stem, 0) + 1
        name = f"{stem}{self._counts[stem]}.{_SUFFIX.get(mime, 'bin')}"
        self.files[name] = data
        return MediaFile(mime, name)


def put_media_aside(body: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """``body`` with each medium replaced by a ``MediaFile``, and the bytes by file name.

    Of a body whose media stand aside already (``Request.short``) only the names are given.
    """
    shelf = Shelf()

    def aside(url: str) -> MediaFile:
        if isinstance(url, MediaFile):
            shelf.files.setdefault(url.name, b"")
            return url
        mime, _, data = url.removeprefix("data:").partition(";base64,")
        return shelf.put(mime, base64.b64decode(data))

    def part(one: dict[str, Any]) -> dict[str, Any]:
        kind = one["type"]
        return one if kind == "text" else {"type": kind, kind: {"url": aside(one[kind]["url"])}}

    short = dict(body)
    short["messages"] = [
        message
        if isinstance(message["content"], str)
        else message | {"content": [part(one) for one in message["content"]]}
        for message in body["messages"]
    ]
    if "ref_audio" in body:
        short["ref_audio"] = aside(body["ref_audio"])
    return short, shelf.files


def as_curl(body: Mapping[str, Any], base_url: str, *, key: bool = False) -> str:
    """The request for bash, sent from a here-document: one argument may hold 128 KiB only, a picture is larger.

    ``key``: the server wants one; it is read from ``$OPENAI_API_KEY`` and never written out.
    """
    short, files = put_media_aside(body)
    text = json.dumps(short, ensure_ascii=False, indent=2)
    for special in ("\\", "$", "`"):  # what bash still reads in an unquoted here-document; the backslash first
        text = text.replace(special, "\\" + special)
    for name in files:
        text = text.replace(f';base64,<<{name}>>"', f";base64,$(base64 < {name} | tr -d '\\n')\"")
    header = ' -H "Authorization: Bearer $OPENAI_API_KEY"' if key else ""
    return (
        f"curl -N --noproxy '*' {base_url.rstrip('/')}/v1/chat/completions \\\n"
        f'  -H "Content-Type: application/json"{header} \\\n'
        f"  --data-binary @- <<JSON\n{text}\nJSON\n"
    )


def as_powershell(body: Mapping[str, Any], base_url: str, *, key: bool = False) -> str:
    """The request for Windows PowerShell, by way of a file: it eats the quotes of JSON given on the command line.

    Letters outside ASCII are written as ``\\uXXXX``: a script without a byte order mark is read in the local code page.
    """
    short, files = put_media_aside(body)
    lines = ["$here = (Get-Location).Path", "$body = @'", json.dumps(short, indent=2), "'@"]
    lines += [
        f"$body = $body.Replace(';base64,<<{name}>>\"', ';base64,' + "
        f'[Convert]::ToBase64String([IO.File]::ReadAllBytes("$here\\{name}")) + \'"\')'
        for name in files
    ]
    header = ' -H "Authorization: Bearer $env:OPENAI_API_KEY"' if key else ""
    lines += [
        '[IO.File]::WriteAllText("$here\\body.json", $body)',
        f"curl.exe -N --noproxy '*' {base_url.rstrip('/')}/v1/chat/completions "
        f'-H "Content-Type: application/json"{header} --data-binary "@body.json"',
    ]
    return "\n".join(lines) + "\n"


def as_python(body: Mapping[str, Any], base_url: str) -> str:
    """The request as a program on the OpenAI SDK; it prints the text and writes the speech to ``answer.wav``."""
    short, files = put_media_aside(body)
    named = {name: value for name, value in short.items() if name in _SDK_FIELDS}
    if extra := {name: value for name, value in short.items() if name not in _SDK_FIELDS}:
        named["extra_body"] = extra
    arguments = "".join(
        f"    {name}={_indented(pprint.pformat(value, width=100, sort_dicts=False))},\n"
        for name, value in named.items()
    )
    return _PROGRAM.format(
        base_url=f"{base_url.rstrip('/')}/v1",
        arguments=arguments,
        media=_DATA_URL if files else "",
        path="from pathlib import Path\n" if files else "",
    )


def _indented(code: str) -> str:
    return code.replace("\n", "\n    ")


_DATA_URL = """

def data_url(mime, name):
    return f"data:{mime};base64,{base64.b64encode(Path(name).read_bytes()).decode()}"

"""

# Each audio chunk of the server is a whole WAV file; ``wave`` takes them apart, so that one file comes out.
_PROGRAM = """\
# pip install "openai>=3.50,<4"
import base64
import io
import os
import wave
{path}
from openai import DefaultHttpxClient, OpenAI
{media}
client = OpenAI(
    base_url={base_url!r},
    api_key=os.environ.get("OPENAI_API_KEY", "none"),
    http_client=DefaultHttpxClient(trust_env=False),  # a proxy from the environment would break loopback
)
stream = client.chat.completions.create(
{arguments})
speech = b""
for chunk in stream:
    for choice in chunk.choices:
        content = choice.delta.content or ""
        if getattr(chunk, "modality", "text") != "audio":
            print(content, end="", flush=True)
        elif content:
            with wave.open(io.BytesIO(base64.b64decode(content))) as part:
                speech += part.readframes(part.getnframes())
print()
if speech:
    with wave.open("answer.wav", "wb") as answer:
        answer.setparams((1, 2, 24000, 0, "NONE", "not compressed"))
        answer.writeframes(speech)
"""
