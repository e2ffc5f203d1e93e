"""How answers are chosen."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

_UNLIMITED = 2**31 - 1


@dataclasses.dataclass
class SamplingParams:
    """The fields of vLLM's SamplingParams with its defaults, then those of Arion alone, which are off
    unless they are given. Ranges not checked here are checked when a request starts."""

    n: int = 1
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    stop: str | Sequence[str] | None = None
    stop_token_ids: Sequence[int] | None = None
    bad_words: Sequence[str] | None = None
    include_stop_str_in_output: bool = False
    ignore_eos: bool = False
    max_tokens: int | None = 16  # None: up to the end of the context
    min_tokens: int = 0
    logprobs: int | None = None
    prompt_logprobs: int | None = None
    skip_special_tokens: bool = True
    truncate_prompt_tokens: int | None = None
    logit_bias: Mapping[int, float] | None = None
    # Further fields of a request as `arion serve` takes them.
    extra_args: Mapping[str, Any] | None = None

    typical_p: float | None = None
    top_n_sigma: float | None = None
    top_h: float | None = None
    epsilon_cutoff: float | None = None
    eta_cutoff: float | None = None
    dynatemp_range: float | None = None
    dynatemp_exponent: float | None = None
    xtc_probability: float | None = None
    xtc_threshold: float | None = None
    mirostat: int | None = None
    mirostat_tau: float | None = None
    mirostat_eta: float | None = None
    adaptive_target: float | None = None
    adaptive_decay: float | None = None
    dry_multiplier: float | None = None
    dry_base: float | None = None
    dry_allowed_length: int | None = None
    dry_penalty_last_n: int | None = None
    dry_sequence_breakers: Sequence[str] | None = None
    repeat_last_n: int | None = None
    samplers: Sequence[str] | None = None

    def __post_init__(self) -> None:
        self._check(self.n >= 1, "n", "1 or more")
        self._check(self.temperature >= 0, "temperature", "0 or more")
        self._check(0 < self.top_p <= 1, "top_p", "more than 0 and at most 1")
        self._check(self.top_k >= -1, "top_k", "-1 or 0 for all tokens, or 1 or more")
        self._check(0 <= self.min_p <= 1, "min_p", "0 to 1")
        self._check(self.max_tokens is None or self.max_tokens >= 1, "max_tokens", "1 or more")
        self._check(
            0 <= self.min_tokens <= (self.max_tokens or _UNLIMITED),
            "min_tokens",
            "0 to max_tokens",
        )
        for name in ("logprobs", "prompt_logprobs"):
            value = getattr(self, name)
            self._check(value is None or value >= 0, name, "0 or more")
        stops = [self.stop] if isinstance(self.stop, str) else self.stop
        self._check(stops is None or all(stops), "stop", "strings that are not empty")
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            self._check(
                not isinstance(value, float) or math.isfinite(value), field.name, "a finite number"
            )

    def _check(self, is_right: bool, name: str, expected: str) -> None:
        if not is_right:
            raise ValueError(f"{name} is {getattr(self, name)!r}, expected {expected}")

    def to_fields(self, *, is_chat: bool) -> dict[str, Any]:
        """The fields of a request's body."""
        fields = {
            field.name: value
            for field in dataclasses.fields(self)
            if (value := getattr(self, field.name)) is not None and field.name != "extra_args"
        }
        fields.setdefault("max_tokens", _UNLIMITED)
        if self.logit_bias is not None:
            fields["logit_bias"] = {str(token): bias for token, bias in self.logit_bias.items()}
        for name, value in fields.items():
            if isinstance(value, Sequence) and not isinstance(value, str):
                fields[name] = list(value)
        if is_chat and self.logprobs is not None:
            fields.update(logprobs=True, top_logprobs=self.logprobs)
        fields.update(self.extra_args or {})
        return fields
