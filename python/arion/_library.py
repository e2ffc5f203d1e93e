"""libarion.so by ctypes: the declarations of arion/arion.h, and errors as exceptions."""

from __future__ import annotations

import ctypes
import os
import pathlib
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint64,
    c_void_p,
)

ABI_VERSION = 1

OK, FAILED, USAGE, BAD_INPUT, OVERLOADED = range(5)
TIMED_OUT, ENDED = 100, 101
COMPLETION, CHAT = 1, 2
NO_SPECIAL, PLAIN_TEXT, SHOW_CONTROL, CONTINUES = 1, 2, 4, 8
FINISH_NONE, FINISH_STOP, FINISH_LENGTH, FINISH_CANCELLED, FINISH_ERROR = range(5)


class ArionError(RuntimeError):
    """What the library refused, and why."""


class InvalidRequestError(ArionError, ValueError):
    """An option, request or file is wrong."""


class OverloadedError(ArionError):
    """Too much waits already; the same request may succeed later."""


Progress = CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64)


class EngineOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("threads", c_int32),
        ("context", c_int32),
        ("max_sequences", c_int32),
        ("step_tokens", c_int32),
        ("target_step_us", c_int64),
        ("forgets_prefixes", c_int32),
        ("max_queue", c_int32),
        ("max_queue_tokens", c_int64),
        ("isa", c_char_p),
        ("activations", c_char_p),
        ("kv", c_char_p),
        ("scheduling", c_char_p),
        ("name", c_char_p),
        ("progress", Progress),
        ("progress_data", c_void_p),
        ("decode_slowdown", c_double),
        ("compiled", c_char_p),
    ]


class TokenLogprob(Structure):
    _fields_ = [("token", c_int32), ("logprob", c_float)]


class Logprobs(Structure):
    _fields_ = [
        ("chosen", TokenLogprob),
        ("rank", c_int32),
        ("top", POINTER(TokenLogprob)),
        ("top_count", c_size_t),
    ]


class Event(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("choice", c_size_t),
        ("text", c_void_p),
        ("text_len", c_size_t),
        ("tokens", POINTER(c_int32)),
        ("token_count", c_size_t),
        ("logprobs", POINTER(Logprobs)),
        ("logprob_count", c_size_t),
        ("prompt_logprobs", POINTER(Logprobs)),
        ("prompt_logprob_count", c_size_t),
        ("seed", c_uint64),
        ("finish", c_int32),
        ("stop_token", c_int32),
        ("stop_string", c_void_p),
        ("stop_string_len", c_size_t),
        ("error", c_void_p),
        ("error_len", c_size_t),
        ("prompt_tokens", c_int64),
        ("cached_tokens", c_int64),
        ("completion_tokens", c_int64),
    ]


def _find_library() -> str:
    """The file that ARION_LIBRARY names, the one in this package, or the system's."""
    named = os.environ.get("ARION_LIBRARY")
    if named:
        return named
    packaged = pathlib.Path(__file__).with_name("libarion.so")
    return str(packaged) if packaged.exists() else f"libarion.so.{ABI_VERSION}"


_SIGNATURES = {
    "arion_abi_version": [],
    "arion_free": [c_void_p],
    "arion_engine_open": [c_char_p, POINTER(EngineOptions), POINTER(c_void_p)],
    "arion_engine_close": [c_void_p],
    "arion_engine_info": [c_void_p, POINTER(c_void_p), POINTER(c_size_t)],
    "arion_engine_stats": [c_void_p, POINTER(c_void_p), POINTER(c_size_t)],
    "arion_tokenize": [
        c_void_p,
        c_char_p,
        c_size_t,
        c_int,
        POINTER(c_void_p),
        POINTER(c_size_t),
    ],
    "arion_detokenize": [
        c_void_p,
        POINTER(c_int32),
        c_size_t,
        c_int,
        POINTER(c_void_p),
        POINTER(c_size_t),
    ],
    "arion_render_chat": [
        c_void_p,
        c_char_p,
        c_size_t,
        POINTER(c_void_p),
        POINTER(c_size_t),
        POINTER(c_void_p),
        POINTER(c_size_t),
    ],
    "arion_request_start": [c_void_p, c_int, c_char_p, c_size_t, POINTER(c_void_p)],
    "arion_request_next": [c_void_p, c_int64, POINTER(POINTER(Event))],
    "arion_request_prompt": [
        c_void_p,
        c_size_t,
        POINTER(POINTER(c_int32)),
        POINTER(c_size_t),
    ],
    "arion_request_size": [c_void_p, POINTER(c_size_t), POINTER(c_size_t)],
    "arion_request_cancel": [c_void_p],
    "arion_request_free": [c_void_p],
}


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(_find_library())
    for name, arguments in _SIGNATURES.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, c_int
    for name in ("arion_version", "arion_last_error"):
        getattr(library, name).restype = c_char_p
    built = library.arion_abi_version()
    if built != ABI_VERSION:
        raise ImportError(f"{library._name} has ABI version {built}, expected {ABI_VERSION}")
    return library


lib = _load()


def version() -> str:
    return lib.arion_version().decode()


def check(status: int) -> int:
    """The status, if it is no error."""
    if status in (OK, TIMED_OUT, ENDED):
        return status
    message = lib.arion_last_error().decode(errors="replace")
    kinds = {USAGE: InvalidRequestError, BAD_INPUT: InvalidRequestError, OVERLOADED: OverloadedError}
    raise kinds.get(status, ArionError)(message)


def text_at(address: int | None, size: int) -> str:
    return ctypes.string_at(address, size).decode() if size else ""


def take_text(address: c_void_p, size: c_size_t) -> str:
    """A text that the library handed out."""
    try:
        return text_at(address.value, size.value)
    finally:
        lib.arion_free(address)


def take_tokens(address: c_void_p, count: c_size_t) -> list[int]:
    try:
        return list(ctypes.cast(address, POINTER(c_int32))[: count.value])
    finally:
        lib.arion_free(address)


def call_for_text(function, *arguments) -> str:
    """Of a function whose last parameters are a text and its length."""
    address, size = c_void_p(), c_size_t()
    check(function(*arguments, byref(address), byref(size)))
    return take_text(address, size)


def call_for_tokens(function, *arguments) -> list[int]:
    address, count = c_void_p(), c_size_t()
    check(function(*arguments, byref(address), byref(count)))
    return take_tokens(address, count)
