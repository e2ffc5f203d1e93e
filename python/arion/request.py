"""A request in progress."""

from __future__ import annotations

import ctypes
import itertools
import json
from collections.abc import Mapping
from typing import Any

from . import _library as c
from .engine import Engine
from .outputs import CompletionOutput, Delta, RequestOutput, join, read_event
from .tokenizer import Tokenizer

# Signals such as Ctrl-C are seen between two waits.
_WAIT_MS = 100
_ids = itertools.count()


class Request:
    """One prompt on its way to n answers. Used by one thread; `free` ends it early."""

    def __init__(
        self,
        engine: Engine,
        kind: int,
        body: Mapping[str, Any],
        tokenizer: Tokenizer,
        prompt: str | None,
    ) -> None:
        self._handle = ctypes.c_void_p()
        self._ended = 0  # answers
        data = json.dumps(body).encode()
        c.check(
            c.lib.arion_request_start(
                engine.pointer, kind, data, len(data), ctypes.byref(self._handle)
            )
        )
        self.id = str(next(_ids))
        self.prompt = prompt
        self.has_prompt_logprobs = body.get("prompt_logprobs") is not None
        logprobs = body.get("logprobs")  # a number or, in chats, a flag
        self._has_logprobs = logprobs is not None and logprobs is not False
        self._n = body.get("n", 1)
        self._tokenizer = tokenizer
        self.prompt_token_ids = self._read_prompt()

    def _read_prompt(self) -> list[int]:
        tokens, count = ctypes.POINTER(ctypes.c_int32)(), ctypes.c_size_t()
        c.check(
            c.lib.arion_request_prompt(self._handle, 0, ctypes.byref(tokens), ctypes.byref(count))
        )
        return tokens[: count.value]

    @property
    def has_ended(self) -> bool:
        return self._ended == self._n

    def next(self) -> Delta | None:
        """Waits for what comes next; None behind the end."""
        event = ctypes.POINTER(c.Event)()
        status = c.TIMED_OUT
        while self._handle and status == c.TIMED_OUT:
            status = c.check(
                c.lib.arion_request_next(self._handle, _WAIT_MS, ctypes.byref(event))
            )
        if not event:
            return None
        delta = read_event(event.contents, self._tokenizer.spell, self._has_logprobs)
        self._ended += delta.output.finished()
        return delta

    def to_output(self, delta: Delta, outputs: list[CompletionOutput]) -> RequestOutput:
        """`outputs` as those of a request whose last news are `delta`."""
        return RequestOutput(
            request_id=self.id,
            prompt=self.prompt,
            prompt_token_ids=self.prompt_token_ids,
            prompt_logprobs=[None, *delta.prompt_logprobs] if self.has_prompt_logprobs else None,
            outputs=outputs,
            finished=self.has_ended,
            num_cached_tokens=delta.cached_tokens,
            seed=delta.seed,
        )

    def finish(self) -> RequestOutput:
        """Waits for all answers."""
        outputs = [CompletionOutput(index=i) for i in range(self._n)]
        first = last = None  # events of the answer 0
        while (delta := self.next()) is not None:
            join(outputs[delta.output.index], delta.output)
            if delta.output.index == 0:
                first, last = first or delta, delta
        whole = Delta(last.output, first.prompt_logprobs, last.cached_tokens, last.seed)
        return self.to_output(whole, outputs)

    def free(self) -> None:
        c.lib.arion_request_free(self._handle)
        self._handle = ctypes.c_void_p()

    def __del__(self) -> None:
        self.free()
