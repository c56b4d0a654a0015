"""The port-forward guide, and the test of a forwarded address."""

import shlex
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from launch.forward import Login, login
from tests.launch.console import launch
from tests.launch.running import free_port
from tests.running import running_app


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("root@10.0.0.8", Login("root", "10.0.0.8")),
        ("me@j.example.com:2222", Login("me", "j.example.com", 2222)),
        ("me@[fe80::1]:2222", Login("me", "fe80::1", 2222)),
    ],
)
def test_a_login(given: str, read: Login) -> None:
    assert login(given) == read


@pytest.mark.parametrize(
    "given",
    [
        " ",
        "root",
        "root@",
        "@host",
        "root@host:0",
        "root@host:65536",
        "root@host:22:22",
        "root@host;reboot",
        "root@$(reboot)",
        "root@ho st",
        "root@host\nProxyCommand sh",
        "-oProxyCommand=sh@host",
        "root@-oProxyCommand=sh",
        "ro'ot@host",
        "root@%h",
        "root@[not:v6]",
        "root@[10.0.0.8]",
    ],
)
@pytest.mark.parametrize("option", ["--target", "--jump"])
def test_what_could_harm_a_shell_is_refused(given: str, option: str, tmp_path: Path) -> None:
    other = ["--target=root@host"] if option == "--jump" else []
    told = launch("forward", f"{option}={given}", *other, "--json", root=tmp_path)
    assert told.code == 2
    assert told.json["error"]["id"] == "login-unreadable"


def test_openssh_reads_the_line_and_the_block_as_the_same_tunnel(tmp_path: Path) -> None:
    words = ("--jump", "me@j.example.com:2222", "--target", "root@10.0.0.8:2200", "--port", "7862", "--port", "8091")
    told = launch("forward", *words, "--json", root=tmp_path).json
    assert told["urls"] == ["http://127.0.0.1:7862", "http://127.0.0.1:8091"]
    line = shlex.split(told["openssh"])
    assert line[:4] == ["ssh", "-N", "-L", "127.0.0.1:7862:127.0.0.1:7862"]
    assert line[line.index("-J") + 1] == "me@j.example.com:2222"
    assert line[-3:] == ["-p", "2200", "root@10.0.0.8"]
    assert told["powershell"] == told["openssh"].replace("ssh ", "ssh.exe ", 1)
    try:
        asked = subprocess.run(["ssh", "-G", "-F", "/dev/null", *line[1:]], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        return  # no ssh on this machine to ask
    (tmp_path / "config").write_text(told["config"] + "\n")
    block = subprocess.run(["ssh", "-G", "-F", tmp_path / "config", "omni"], capture_output=True, text=True, check=True)
    keys = ("hostname ", "user ", "port ", "proxyjump ", "localforward ", "serveralive", "exitonforwardfailure ")
    kept = [[row for row in text.splitlines() if row.startswith(keys)] for text in (asked.stdout, block.stdout)]
    assert sorted(kept[0]) == sorted(kept[1])
    assert len(kept[0]) >= 8


@pytest.mark.parametrize(("tongue", "words"), [("en", "microphone"), ("zh", "麦克风")])
def test_the_guide_in_words(tongue: str, words: str, tmp_path: Path) -> None:
    shown = launch("forward", "--target", "root@box", "--lang", tongue, root=tmp_path)
    assert shown.code == 0
    assert words in shown.text
    assert "python -m launch forward --check http://127.0.0.1:7862" in shown.text
    assert "/proxy/7862/" in shown.text


def test_the_page_itself_passes_in_every_part(tmp_path: Path) -> None:
    with running_app() as app:
        told = launch("forward", "--check", app.url, "--json", root=tmp_path)
    assert told.code == 0, told.text
    assert [told.json[part] for part in ("page", "stream", "socket")] == ["good"] * 3


class _Gateway(BaseHTTPRequestHandler):
    """A web gateway: pages pass, the rest is "Unsupported"."""

    protocol_version = "HTTP/1.1"
    page = b"<script>window.gradio_config = {}</script>"

    def do_GET(self) -> None:
        home = self.path == "/"
        self.send_response(200 if home else 501)
        body = self.page if home else b"Unsupported"
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


class _Other(_Gateway):
    page = b"<form>log in</form>"


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def test_a_gateway_that_breaks_streams_and_sockets(tmp_path: Path) -> None:
    with serving(_Gateway) as url:
        told = launch("forward", "--check", url + "/", "--json", root=tmp_path)
    assert told.code == 1
    assert [told.json[part] for part in ("page", "stream", "socket")] == ["good", "broken", "broken"]
    assert {row["id"] for row in told.json["findings"]} == {"forward-no-stream", "forward-no-socket"}
    assert all("501" in row["what"] for row in told.json["findings"])


def test_another_page_and_none(tmp_path: Path) -> None:
    with serving(_Other) as url:
        told = launch("forward", "--check", url, "--json", root=tmp_path)
    assert (told.code, told.json["findings"][0]["id"], told.json["socket"]) == (1, "forward-other-page", "not-asked")
    told = launch("forward", "--check", f"http://127.0.0.1:{free_port()}", "--json", root=tmp_path)
    assert (told.code, told.json["findings"][0]["id"]) == (1, "forward-no-page")
    told = launch("forward", "--check", "127.0.0.1:7862", "--json", root=tmp_path)
    assert (told.code, told.json["findings"][0]["id"]) == (1, "forward-address")
