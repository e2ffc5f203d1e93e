"""The handle of a loaded model."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from typing import Any

from . import _library as c


class Engine:
    """Thread-safe, but for `close`."""

    def __init__(
        self,
        model: str,
        options: c.EngineOptions,
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        self._pointer = ctypes.c_void_p()
        raised: list[BaseException] = []

        # Also where Ctrl-C is seen while a model is loaded.
        @c.Progress
        def on_progress(_: int, done: int, total: int) -> int:
            try:
                if progress is not None:
                    progress(done, total)
                return 0
            except BaseException as error:  # raised again below
                raised.append(error)
                return 1

        options.size = ctypes.sizeof(options)
        options.progress = on_progress
        status = c.lib.arion_engine_open(
            model.encode(), ctypes.byref(options), ctypes.byref(self._pointer)
        )
        if raised:
            raise raised[0]
        c.check(status)
        self.info: dict[str, Any] = json.loads(
            c.call_for_text(c.lib.arion_engine_info, self.pointer)
        )

    @property
    def pointer(self) -> ctypes.c_void_p:
        if not self._pointer:
            raise c.InvalidRequestError("the LLM is closed")
        return self._pointer

    def stats(self) -> dict[str, int]:
        return json.loads(c.call_for_text(c.lib.arion_engine_stats, self.pointer))

    def close(self) -> None:
        pointer, self._pointer = self._pointer, ctypes.c_void_p()
        c.lib.arion_engine_close(pointer)

    def __del__(self) -> None:
        self.close()
