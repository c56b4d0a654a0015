"""What ``/load`` and ``/metrics`` tell: requests, tokens and sound, under the server's names (protocol §1.2)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Tally:
    running: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    audio_frames: int = 0
    finished: Counter[str] = field(default_factory=Counter)

    def prometheus(self, model: str) -> str:
        """Prometheus text, version 0.0.4."""
        rows = [
            ("vllm_omni:num_requests_running", "gauge", {}, self.running),
            ("vllm_omni:prompt_tokens_total", "counter", {}, self.prompt_tokens),
            ("vllm_omni:generation_tokens_total", "counter", {}, self.answer_tokens),
            ("vllm_omni:audio_frames_total", "counter", {}, self.audio_frames),
        ]
        rows += [
            ("vllm_omni:requests_success_total", "counter", {"finished_reason": reason}, count)
            for reason, count in sorted(self.finished.items())
        ]
        lines, typed = [], set()
        for name, kind, labels, value in rows:
            if name not in typed:
                lines.append(f"# TYPE {name} {kind}")
                typed.add(name)
            told = ",".join(f'{key}="{text}"' for key, text in {**labels, "model_name": model}.items())
            lines.append(f"{name}{{{told}}} {float(value)}")
        return "\n".join(lines) + "\n"
