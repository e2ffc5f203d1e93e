"""The model's tokenizer, by the names of transformers."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping, Sequence
from typing import Any

from . import _library as c
from .engine import Engine


class Tokenizer:
    """Belongs to an LLM and may be used by any thread until that is closed."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._spellings: dict[int, str] = {}

    def __len__(self) -> int:
        return self._engine.info["vocab"]

    @property
    def bos_token_id(self) -> int | None:
        return self._engine.info["bos_token_id"]

    @property
    def eos_token_ids(self) -> list[int]:
        """All tokens that end an answer."""
        return self._engine.info["eos_token_ids"]

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        data = text.encode()
        flags = 0 if add_special_tokens else c.NO_SPECIAL
        return c.call_for_tokens(c.lib.arion_tokenize, self._engine.pointer, data, len(data), flags)

    def decode(self, token_ids: int | Sequence[int], skip_special_tokens: bool = False) -> str:
        ids = [token_ids] if isinstance(token_ids, int) else list(token_ids)
        return self._decode(ids, 0 if skip_special_tokens else c.SHOW_CONTROL)

    def apply_chat_template(
        self,
        conversation: Sequence[Mapping[str, Any]],
        *,
        add_generation_prompt: bool = False,
        continue_final_message: bool = False,
        tokenize: bool = True,
        **template_kwargs: Any,
    ) -> str | list[int]:
        """The prompt that the chat template makes of messages: its tokens, or its text."""
        body = {
            "messages": list(conversation),
            "add_generation_prompt": add_generation_prompt,
            "continue_final_message": continue_final_message,
            "chat_template_kwargs": template_kwargs,
        }
        data = json.dumps(body).encode()
        function = c.lib.arion_render_chat
        handle = self._engine.pointer
        if tokenize:
            return c.call_for_tokens(function, handle, data, len(data), None, None)
        text, size = ctypes.c_void_p(), ctypes.c_size_t()
        c.check(
            function(handle, data, len(data), ctypes.byref(text), ctypes.byref(size), None, None)
        )
        return c.take_text(text, size)

    def spell(self, token_id: int) -> str:
        """The text of a token by itself."""
        found = self._spellings.get(token_id)
        if found is None:
            found = self._decode([token_id], c.SHOW_CONTROL | c.CONTINUES)
            self._spellings[token_id] = found
        return found

    def _decode(self, ids: list[int], flags: int) -> str:
        array = (ctypes.c_int32 * max(1, len(ids)))(*ids)
        return c.call_for_text(c.lib.arion_detokenize, self._engine.pointer, array, len(ids), flags)
