"""What the turn client says of a real server."""

from __future__ import annotations

import asyncio
import io
import zipfile
from dataclasses import replace

import httpx2
import numpy as np

from launch.faults import explain
from tests.real.conftest import Say, ask, figures
from tests.real.media import clip, picture, sound
from tests.ui.turn.asking import question
from ui.turn.client import ServerClient
from ui.turn.events import TextDelta
from ui.turn.parts import Message, Settings, Text, Voice
from ui.turn.record import zip_of
from ui.turn.request import Request, Wire
from ui.turn.turn import Turn
from ui.turn.turns import Turns


def right(turn: Turn) -> None:
    """An answer that ended well, with figures that can be true."""
    assert turn.state == "done", turn.error
    seen = turn.figures
    assert seen.e2e_ms is not None
    assert seen.ttft_ms is not None
    assert 0 < seen.ttft_ms <= seen.e2e_ms
    if turn.request.settings.speech:
        assert seen.ttfp_ms is not None
        assert seen.audio_s is not None
        assert seen.rtf is not None
        assert 0 < seen.ttfp_ms <= seen.e2e_ms
        assert 0 < seen.rtf * seen.audio_s * 1000 <= seen.e2e_ms
        assert np.abs(np.frombuffer(bytes(turn.pcm), "<i2").astype(int)).max() > 33


async def test_what_it_is(client: ServerClient, say: Say) -> None:
    state = await client.check()
    assert state.state == "ready", state.error
    assert state.model
    assert state.wire in ("0.26", "0.30")
    assert not state.rehearsal
    async with httpx2.AsyncClient(trust_env=False) as http:
        version = (await http.get(f"{client.base_url}/version")).json()["version"]
    say(f"{client.base_url} {state.model}, wire {state.wire}, vllm {version}, {state.round_trip_ms:.1f} ms")


async def test_text_alone_streams(client: ServerClient, say: Say) -> None:
    turn = await ask(client, question("Introduce yourself in one sentence.", speech=False, max_tokens=64))
    right(turn)
    deltas = [event for event in turn.events if isinstance(event, TextDelta)]
    assert len(deltas) > 1
    assert not turn.pcm
    say(f"{len(deltas)} pieces, {figures(turn)}")


async def test_text_and_speech(client: ServerClient, say: Say) -> None:
    turn = await ask(client, question("先打个招呼，再用一句话介绍你自己。", max_tokens=64, temperature=0.0, seed=1))
    right(turn)
    assert turn.text
    peak = np.abs(np.frombuffer(bytes(turn.pcm), "<i2").astype(int)).max() / 32768
    say(f"{figures(turn)} peak {peak:.3f} notices {[notice.key for notice in turn.notices]}")


async def test_the_voice_of_a_reference(client: ServerClient, say: Say) -> None:
    voice = Voice("zh", "模仿下面这段声音说话。", "用中文简短回答。", sound(3.0))
    turn = await ask(client, question("你好", voice=voice, max_tokens=32))
    right(turn)
    say(f"ref_audio {'sent' if 'ref_audio' in turn.body() else 'not sent'}, {figures(turn)}")


async def test_picture_in(client: ServerClient, say: Say) -> None:
    turn = await ask(client, question(picture(), "What is in the picture?", max_tokens=32))
    right(turn)
    say(figures(turn))


async def test_sound_in(client: ServerClient, say: Say) -> None:
    turn = await ask(client, question(sound(), "What do you hear?", max_tokens=32))
    right(turn)
    say(figures(turn))


async def test_clip_in_whole_or_refused_with_a_reason(client: ServerClient, say: Say) -> None:
    turn = await ask(client, question(clip(), "What happens?", speech=False, max_tokens=32))
    if turn.error is not None:
        assert turn.error.key not in ("server-internal", "stream-broken-midway"), turn.error
        say(f"refused: {turn.error}")
        return
    right(turn)
    say(figures(turn))


async def test_a_conversation_that_keeps_its_picture(client: ServerClient, say: Say) -> None:
    said = (
        Message("user", (picture(), Text("What colour is it?"))),
        Message("assistant", (Text("Red."),)),
        Message("user", (Text("Are you sure?"),)),
    )
    turn = await ask(client, Request(said, Settings(max_tokens=32)))
    right(turn)
    say(figures(turn))


async def test_two_at_once(client: ServerClient, say: Say) -> None:
    both = await asyncio.gather(*(ask(client, question(f"Count to {n}.", max_tokens=32)) for n in (3, 4)))
    for turn in both:
        right(turn)
    say(f"TTFP {[round(turn.figures.ttfp_ms or 0) for turn in both]} ms")


async def test_stop_in_mid_answer_and_the_server_lives_on(client: ServerClient, say: Say) -> None:
    turns = Turns(client, None)
    turn = turns.start(question("Tell me a long story.", max_tokens=512), "real")
    while not turn.pcm and turn.running:
        await turn.changed(turn.version, 120)
    began = client.clock()
    await turns.stop(turn.id, "real")
    took = (client.clock() - began) * 1000
    assert turn.state in ("stopped", "done"), turn.error
    await asyncio.sleep(7)  # the three looks after a stop
    assert turn.notices == []
    after = await ask(client, question("Still there?", max_tokens=16))
    await turns.close()
    right(after)
    say(f"{turn.state} in {took:.1f} ms with {turn.figures.audio_s} s of speech; afterwards {figures(after)}")


async def test_a_wrong_model_id(client: ServerClient, say: Say) -> None:
    class Misnamed(Request):
        def encoded(self, model: str, wire: Wire | None) -> bytes:
            return super().encoded(f"not-{model}", wire)

    turn = await ask(client, Misnamed(question().messages, Settings()))
    _refused(turn, "model-id-mismatch", say)


async def test_more_pictures_than_it_takes(client: ServerClient, say: Say) -> None:
    turn = await ask(client, question(*[picture(32)] * 65, "What?", speech=False, max_tokens=8))
    if turn.error is not None and turn.error.key == "prompt-too-long":
        say("its limit of pictures is above 65, its context is not")
        return
    _refused(turn, "too-many-media", say)
    assert turn.error is not None
    assert turn.error.facts["sent"] == 65


async def test_max_tokens_beyond_the_context(client: ServerClient, say: Say) -> None:
    turn = await ask(client, question(max_tokens=999_999))
    _refused(turn, "prompt-too-long", say)
    assert turn.error is not None
    assert isinstance(turn.error.facts["limit"], int)


async def test_a_setting_out_of_range(client: ServerClient, say: Say) -> None:
    turn = await ask(client, question(temperature=-3.0))
    _refused(turn, "bad-setting", say)


async def test_a_picture_that_is_none(client: ServerClient, say: Say) -> None:
    turn = await ask(client, question(replace(picture(), data=b"not a picture"), "What?"))
    _refused(turn, "media-undecodable", say)


async def test_the_zip_of_a_turn(client: ServerClient, say: Say) -> None:
    turn = await ask(client, question(picture(), "What is it?", max_tokens=16))
    right(turn)
    packed = zip_of(turn, client.base_url)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert archive.testzip() is None
        assert {"answer.wav", "image1.jpg", "request.sh", "figures.json"} <= set(archive.namelist())
    say(f"{len(packed)} bytes")


def _refused(turn: Turn, key: str, say: Say) -> None:
    assert (turn.state, turn.error and turn.error.key) == ("failed", key), turn.error
    assert turn.error is not None
    say(explain(turn.error, "en").cause)
