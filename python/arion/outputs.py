"""What comes back: answers, whole or as they grow."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from . import _library as c


@dataclasses.dataclass
class Logprob:
    """Of one token, under the model."""

    logprob: float
    rank: int | None = None  # 1 is the most probable token
    decoded_token: str | None = None


@dataclasses.dataclass
class CompletionOutput:
    """One answer to a prompt; in a stream, what is new of it."""

    index: int
    text: str = ""
    token_ids: list[int] = dataclasses.field(default_factory=list)
    cumulative_logprob: float | None = None
    logprobs: list[dict[int, Logprob]] | None = None
    finish_reason: str | None = None  # stop, length or abort; None: more will come
    stop_reason: int | str | None = None  # the stop token or string that ended it

    def finished(self) -> bool:
        return self.finish_reason is not None


@dataclasses.dataclass
class RequestOutput:
    """The n answers to one prompt; in a stream, what is new of one of them."""

    request_id: str
    prompt: str | None
    prompt_token_ids: list[int]
    prompt_logprobs: list[dict[int, Logprob] | None] | None
    outputs: list[CompletionOutput]
    finished: bool
    num_cached_tokens: int | None = None  # of the prompt, found in the cache of prefixes
    seed: int | None = None  # asked for or drawn; with it the answers come again


_FINISH_REASONS = {
    c.FINISH_NONE: None,
    c.FINISH_STOP: "stop",
    c.FINISH_LENGTH: "length",
    c.FINISH_CANCELLED: "abort",
}


@dataclasses.dataclass
class Delta:
    """An event of the library, copied."""

    output: CompletionOutput
    prompt_logprobs: list[dict[int, Logprob]]
    cached_tokens: int
    seed: int


def read_event(event: c.Event, spell: Callable[[int], str], has_logprobs: bool) -> Delta:
    """`spell` gives the text of a token. Raises for an answer that failed."""
    if event.finish == c.FINISH_ERROR:
        raise c.ArionError(c.text_at(event.error, event.error_len))
    output = CompletionOutput(
        index=event.choice,
        text=c.text_at(event.text, event.text_len),
        token_ids=event.tokens[: event.token_count],
        finish_reason=_FINISH_REASONS[event.finish],
    )
    if has_logprobs:
        entries = event.logprobs[: event.logprob_count]
        output.logprobs = _read_logprobs(entries, spell)
        output.cumulative_logprob = sum(entry.chosen.logprob for entry in entries)
    if event.stop_string:
        output.stop_reason = c.text_at(event.stop_string, event.stop_string_len)
    elif event.stop_token >= 0:
        output.stop_reason = event.stop_token
    prompt_logprobs = _read_logprobs(event.prompt_logprobs[: event.prompt_logprob_count], spell)
    return Delta(output, prompt_logprobs, event.cached_tokens, event.seed)


def _read_logprobs(
    entries: Iterable[c.Logprobs], spell: Callable[[int], str]
) -> list[dict[int, Logprob]]:
    """The token itself, then its rivals."""
    out = []
    for entry in entries:
        token = entry.chosen.token
        found = {token: Logprob(entry.chosen.logprob, entry.rank, spell(token))}
        for rank, rival in enumerate(entry.top[: entry.top_count], 1):
            found.setdefault(rival.token, Logprob(rival.logprob, rank, spell(rival.token)))
        out.append(found)
    return out


def join(whole: CompletionOutput, new: CompletionOutput) -> None:
    """`whole` grows by `new`."""
    whole.text += new.text
    whole.token_ids += new.token_ids
    if new.logprobs is not None:
        whole.logprobs = (whole.logprobs or []) + new.logprobs
        whole.cumulative_logprob = (whole.cumulative_logprob or 0.0) + new.cumulative_logprob
    whole.finish_reason, whole.stop_reason = new.finish_reason, new.stop_reason
