"""What an upload may not make the app do: open other files, connect anywhere, believe a name."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest
from PIL import Image as Pillow

from launch.errors import MediaError
from tests.ui.media.clips import write_clip
from ui.media import audio, image, video
from ui.media.container import opened
from ui.media.kind import kind_of

HLS = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{target}\n#EXT-X-ENDLIST\n"
DASH = (
    '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011" type="static">'
    '<Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1"><BaseURL>{target}</BaseURL>'
    '<SegmentBase indexRange="0-1"/></Representation></AdaptationSet></Period></MPD>'
)
SDP = "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio {port} RTP/AVP 0\n"
LISTS = {
    "hls": HLS,
    "dash": DASH,
    "concat": "ffconcat version 1.0\nfile '{target}'\n",
    "sdp": SDP,
    "m3u": "#EXTM3U\n{target}\n",
    "svg": '<svg xmlns="http://www.w3.org/2000/svg"><image href="{target}"/></svg>',
}


@pytest.fixture
def listener():
    """A loopback port and the list of connections made to it."""
    calls: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    connection, address = server.accept()
                except OSError:
                    return
                calls.append(address)
                connection.close()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1], calls
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


@pytest.mark.parametrize("suffix", ["mp4", "m3u8", "jpg"])
@pytest.mark.parametrize("name", LISTS)
def test_a_list_of_other_files_is_not_followed(name: str, suffix: str, listener, tmp_path: Path) -> None:
    port, calls = listener
    write_clip(tmp_path / "secret.mp4", seconds=1)
    for target in (
        f"http://127.0.0.1:{port}/a.ts",
        f"tcp://127.0.0.1:{port}",
        str(tmp_path / "secret.mp4"),
        "secret.mp4",
    ):
        upload = tmp_path / f"upload.{suffix}"
        upload.write_text(LISTS[name].format(target=target, port=port))
        for prepare in (video.interleaved, video.original, audio.prepare, image.prepare):
            with pytest.raises(MediaError) as refusal:
                prepare(upload)
            assert refusal.value.key == "media-unsupported-format"
        with pytest.raises(MediaError):
            kind_of(upload)
    assert calls == []


@pytest.mark.parametrize("name", ["clip.txt", "clip", "clip.mp3", "clip.jpg", "..mp4", "😀.bin"])
def test_a_name_changes_nothing(name: str, tmp_path: Path) -> None:
    write_clip(tmp_path / "clip.mp4", seconds=1)
    path = (tmp_path / "clip.mp4").rename(tmp_path / name)
    assert kind_of(path) == "video"
    with opened(path) as container:
        assert container.format.name.startswith("mov")


def test_a_gif_is_a_clip_when_it_lasts(tmp_path: Path) -> None:
    write_clip(tmp_path / "long.gif", seconds=3, codec="gif")
    write_clip(tmp_path / "short.gif", seconds=1, codec="gif")
    assert (kind_of(tmp_path / "long.gif"), kind_of(tmp_path / "short.gif")) == ("video", "image")


def test_a_picture_in_the_boxes_of_other_kinds(tmp_path: Path) -> None:
    Pillow.new("RGB", (40, 30)).save(tmp_path / "still.png")
    for prepare, key in ((video.interleaved, "video"), (video.original, "video"), (audio.prepare, "audio")):
        with pytest.raises(MediaError) as refusal:
            prepare(tmp_path / "still.png")
        assert refusal.value.key == f"media-no-{key}-stream"
