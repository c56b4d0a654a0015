"""Everything that crosses the HTTP wire, as pydantic models (protocol §2, §3).

Answers are dumped with ``exclude_unset``: the server writes a key only where it set it, and some of those are null, so
what is passed to a constructor here is what is sent. The order of the fields is the order of the keys on the wire.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class ChatMessage(BaseModel):
    model_config = ConfigDict(extra="allow")
    role: str
    content: str | list[dict[str, Any] | str] | None = None


class StreamOptions(BaseModel):
    model_config = ConfigDict(extra="allow")
    include_usage: bool | None = False
    continuous_usage_stats: bool | None = False


class ChatRequest(BaseModel):
    """Unknown keys are kept and ignored, never refused (``extra="allow"``), among them ``max_completion_tokens``,
    ``repetition_penalty``, ``n`` and what stands in a literal ``extra_body``. ``Any``: fields which the server checks
    by hand, in words of its own."""

    model_config = ConfigDict(extra="allow")
    model: str | None = None
    messages: list[ChatMessage]
    modalities: Any = None
    audio: Any = None
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    request_id: str | None = None
    ref_audio: Any = None
    extra_body: Any = None


class Usage(BaseModel):
    prompt_tokens: int
    total_tokens: int
    completion_tokens: int
    prompt_tokens_details: None = None
    completion_tokens_details: None = None


class AudioMetadata(BaseModel):
    format: str
    sample_rate_hz: int
    frame_count: int
    channels: int


class Delta(BaseModel):
    role: str | None = None
    content: str | None = None


class ChunkChoice(BaseModel):
    index: int
    delta: Delta
    logprobs: None = None
    finish_reason: str | None = None
    stop_reason: None = None
    token_ids: None = None
    audio_metadata: AudioMetadata | None = None


class Chunk(BaseModel):
    id: str
    object: str
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: Usage | None = None
    prompt_token_ids: None = None
    prompt_text: None = None
    metrics: dict[str, Any] | None = None
    modality: str | None = None


class SpokenAudio(BaseModel):
    id: str
    data: str
    expires_at: int
    transcript: str


class AnswerMessage(BaseModel):
    role: str
    content: str | None
    refusal: None
    annotations: None
    audio: SpokenAudio | None
    function_call: None
    reasoning: None


class Choice(BaseModel):
    index: int
    message: AnswerMessage
    logprobs: None
    finish_reason: str
    stop_reason: None
    token_ids: None
    routed_experts: None
    audio_metadata: AudioMetadata | None = None


class Completion(BaseModel):
    id: str
    object: str
    created: int
    model: str
    choices: list[Choice]
    service_tier: None
    system_fingerprint: None
    usage: Usage
    prompt_logprobs: None
    prompt_token_ids: None
    prompt_text: None
    kv_transfer_params: None
    ec_transfer_params: None
    metrics: None


class ErrorInfo(BaseModel):
    message: str
    type: str
    param: str | None
    code: int


class ErrorBody(BaseModel):
    error: ErrorInfo


class ModelPermission(BaseModel):
    id: str
    object: str = "model_permission"
    created: int
    allow_create_engine: bool = False
    allow_sampling: bool = True
    allow_logprobs: bool = True
    allow_search_indices: bool = False
    allow_view: bool = True
    allow_fine_tuning: bool = False
    organization: str = "*"
    group: str | None = None
    is_blocking: bool = False


class ModelCard(BaseModel):
    id: str
    object: str = "model"
    created: int
    owned_by: str
    root: str
    parent: str | None = None
    max_model_len: int
    permission: list[ModelPermission]


class ModelList(BaseModel):
    object: str = "list"
    data: list[ModelCard]
