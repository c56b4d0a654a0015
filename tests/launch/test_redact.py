"""Secrets stay out of what is shown, and what is no secret stays in."""

import pytest

from launch import redact


def test_the_environment_is_masked_by_name() -> None:
    shown = redact.environment(
        {
            "HF_TOKEN": "hf_abc",
            "MY_API_KEY": "k",
            "A_SECRET_B": "s",
            "PATH": "/bin",
            "TOKENIZERS_PARALLELISM": "false",
            "http_proxy": "http://me:pw1@proxy:3128",
        }
    )
    assert shown == {
        "HF_TOKEN": "***",
        "MY_API_KEY": "***",
        "A_SECRET_B": "***",
        "PATH": "/bin",
        "TOKENIZERS_PARALLELISM": "false",
        "http_proxy": "http://me:***@proxy:3128",
    }


def test_a_command_line_is_masked_by_option() -> None:
    shown = redact.command(["vllm", "--api-key", "abc", "--hf-token=xyz", "--max-tokens", "5", "--api-key-file", "f"])
    assert shown == ["vllm", "--api-key", "***", "--hf-token=***", "--max-tokens", "5", "--api-key-file", "f"]
    assert redact.command(["--tokenizer", "t", "--port", "1"]) == ["--tokenizer", "t", "--port", "1"]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("args: {'api_key': ['sk-secret'], 'port': 8091}", "args: {'api_key': ['***'], 'port': 8091}"),
        ("Authorization: Bearer sk-abcdef", "Authorization: Bearer ***"),
        ("GET /x?token=abcdef HTTP/1.1", "GET /x?token=*** HTTP/1.1"),
        ("max_tokens=999999 cannot be greater than 4096", "max_tokens=999999 cannot be greater than 4096"),
        ("'api_key': None", "'api_key': None"),
        ("GPU KV cache size: 65,536 tokens", "GPU KV cache size: 65,536 tokens"),
    ],
)
def test_a_line_of_a_log(line: str, shown: str) -> None:
    assert redact.text(line) == shown
