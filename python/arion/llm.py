"""The engine, as vLLM's LLM."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Union

from . import _library as c
from .engine import Engine
from .outputs import RequestOutput
from .request import Request
from .sampling_params import SamplingParams
from .tokenizer import Tokenizer

# A text, its tokens, or {"prompt": text} or {"prompt_token_ids": tokens}.
Prompt = Union[str, Sequence[int], Mapping[str, Any]]
Messages = Sequence[Mapping[str, Any]]


class LLM:
    """A loaded model that answers. May be used by several threads, whose requests share its steps;
    `close`, the end of a `with` block, cancels what is in flight.

    model: a GGUF file, a Hugging Face folder, or the name of a model that quickstart fetched
    threads: default: one per physical core
    max_model_len: tokens of prompt and answer; default: the model's, at most 32768
    max_num_seqs: answers at the same time, each with room for a context; default: 16
    max_num_batched_tokens: computed in one step at most; default: 512
    enable_prefix_caching: whether a beginning that was computed before is used again
    kv_cache_dtype: auto, f16, f32 or bf16
    activations: int8, bf16 or fp32; default: by the format of the weights
    isa: generic, avx2, avxvnni, avx512 or avx512bf16; default: the best
    scheduling_policy: fcfs, priority or fair
    max_num_queued_reqs: requests that may wait; default: any number
    max_num_queued_tokens: of their prompts together; default: any number
    max_decode_slowdown: how many times as long as without others' prompts answers in progress may
        wait for a token, at most 1000, or math.inf; default: 2.15, none with target_step_ms
    target_step_ms: milliseconds they may wait; default: no matter how long
    compiled: auto, off or a file of `arion compile`; default: ARION_COMPILED, else auto
    served_model_name: that requests may use; default: that of the file
    progress: called while the model is loaded with bytes done and in all
    """

    def __init__(
        self,
        model: str,
        *,
        threads: int = 0,
        max_model_len: int | None = None,
        max_num_seqs: int | None = None,
        max_num_batched_tokens: int | None = None,
        enable_prefix_caching: bool = True,
        kv_cache_dtype: str = "auto",
        activations: str | None = None,
        isa: str | None = None,
        scheduling_policy: str = "fcfs",
        max_num_queued_reqs: int | None = None,
        max_num_queued_tokens: int | None = None,
        max_decode_slowdown: float | None = None,
        target_step_ms: float | None = None,
        compiled: str | None = None,
        served_model_name: str | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        options = c.EngineOptions(
            threads=threads,
            context=max_model_len or 0,
            max_sequences=max_num_seqs or 0,
            step_tokens=max_num_batched_tokens or 0,
            forgets_prefixes=not enable_prefix_caching,
            kv=None if kv_cache_dtype == "auto" else kv_cache_dtype.encode(),
            activations=activations and activations.encode(),
            isa=isa and isa.encode(),
            scheduling=scheduling_policy.encode(),
            max_queue=max_num_queued_reqs or 0,
            max_queue_tokens=max_num_queued_tokens or 0,
            decode_slowdown=max_decode_slowdown or 0,
            target_step_us=round((target_step_ms or 0) * 1000),
            compiled=compiled and compiled.encode(),
            name=served_model_name and served_model_name.encode(),
        )
        self._engine = Engine(str(model), options, progress)
        self._tokenizer = Tokenizer(self._engine)
        for message in self.info["warnings"]:
            warnings.warn(message, stacklevel=2)

    def close(self) -> None:
        """Gives the model's memory back. Other threads must be done with it."""
        self._engine.close()

    def __enter__(self) -> LLM:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def info(self) -> dict[str, Any]:
        """Of the model: name, path, context_tokens, vocab, eos_token_ids, profile, threads, ..."""
        return self._engine.info

    def get_tokenizer(self) -> Tokenizer:
        return self._tokenizer

    def get_stats(self) -> dict[str, int]:
        """What the engine has done and is doing."""
        return self._engine.stats()

    def generate(
        self,
        prompts: Prompt | Sequence[Prompt],
        sampling_params: SamplingParams | Sequence[SamplingParams] | None = None,
        *,
        use_tqdm: bool = True,
    ) -> list[RequestOutput]:
        """Continues prompts as they are, all of them together, and waits for the answers in their
        order. `sampling_params`: one for all, or one each; default: as the model recommends.
        `use_tqdm`: a bar where tqdm is installed."""
        all_prompts = [prompts] if _is_prompt(prompts) else list(prompts)
        return self._answer(
            all_prompts, _for_each(sampling_params, len(all_prompts)), self._complete, use_tqdm
        )

    def chat(
        self,
        messages: Messages | Sequence[Messages],
        sampling_params: SamplingParams | Sequence[SamplingParams] | None = None,
        *,
        use_tqdm: bool = True,
        add_generation_prompt: bool = True,
        continue_final_message: bool = False,
        chat_template_kwargs: Mapping[str, Any] | None = None,
    ) -> list[RequestOutput]:
        """The same for conversations, which the model's template makes prompts of."""
        conversations = [messages] if _is_conversation(messages) else list(messages)
        options = _chat_options(add_generation_prompt, continue_final_message, chat_template_kwargs)
        return self._answer(
            conversations,
            _for_each(sampling_params, len(conversations)),
            lambda conversation, params: self._chat(conversation, params, options),
            use_tqdm,
        )

    def stream(
        self,
        prompt: Prompt | Messages,
        sampling_params: SamplingParams | None = None,
        *,
        add_generation_prompt: bool = True,
        continue_final_message: bool = False,
        chat_template_kwargs: Mapping[str, Any] | None = None,
    ) -> Stream:
        """Answers a prompt or a conversation bit by bit: an iterator of RequestOutput with what is
        new of one answer. Closing it cancels the rest."""
        if not _is_conversation(prompt):
            return Stream(self._complete(prompt, sampling_params))
        options = _chat_options(add_generation_prompt, continue_final_message, chat_template_kwargs)
        return Stream(self._chat(prompt, sampling_params, options))

    def _answer(
        self,
        tasks: Sequence[Any],
        params: Sequence[SamplingParams | None],
        start: Callable[[Any, SamplingParams | None], Request],
        use_tqdm: bool,
    ) -> list[RequestOutput]:
        requests: list[Request] = []
        try:
            for task, its_params in zip(tasks, params):
                requests.append(start(task, its_params))
            return [request.finish() for request in _with_bar(requests, use_tqdm)]
        finally:
            # Also those that an error or Ctrl-C has left in the middle.
            for request in requests:
                request.free()

    def _complete(self, prompt: Prompt, params: SamplingParams | None) -> Request:
        if isinstance(prompt, Mapping):
            given = prompt.get("prompt_token_ids", prompt.get("prompt"))
        else:
            given = prompt
        if given is None:
            raise c.InvalidRequestError("a prompt has neither prompt nor prompt_token_ids")
        text = given if isinstance(given, str) else None
        body = {"prompt": text if text is not None else [int(token) for token in given]}
        body.update(_fields(params, is_chat=False))
        return Request(self._engine, c.COMPLETION, body, self._tokenizer, text)

    def _chat(
        self, messages: Messages, params: SamplingParams | None, options: Mapping[str, Any]
    ) -> Request:
        body = {"messages": list(messages), **options, **_fields(params, is_chat=True)}
        request = Request(self._engine, c.CHAT, body, self._tokenizer, None)
        request.prompt = self._tokenizer.decode(request.prompt_token_ids)
        return request


class Stream(Iterator[RequestOutput]):
    """What LLM.stream gives. `close`, or the end of a `with` block, cancels the answer."""

    def __init__(self, request: Request) -> None:
        self._request = request

    def __next__(self) -> RequestOutput:
        try:
            delta = self._request.next()
        except BaseException:
            self.close()
            raise
        if delta is None:
            self.close()
            raise StopIteration
        return self._request.to_output(delta, [delta.output])

    def close(self) -> None:
        self._request.free()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_prompt(value: Any) -> bool:
    if isinstance(value, (str, Mapping)):
        return True
    return len(value) > 0 and all(isinstance(item, int) for item in value)


def _is_conversation(value: Any) -> bool:
    return (
        not isinstance(value, (str, Mapping))
        and len(value) > 0
        and isinstance(value[0], Mapping)
        and "role" in value[0]
    )


def _for_each(
    params: SamplingParams | Sequence[SamplingParams] | None, count: int
) -> Sequence[SamplingParams | None]:
    if params is None or isinstance(params, SamplingParams):
        return [params] * count
    if len(params) != count:
        raise ValueError(f"there are {count} prompts and {len(params)} sampling_params")
    return params


def _fields(params: SamplingParams | None, *, is_chat: bool) -> dict[str, Any]:
    # Without parameters sampling is as the model recommends, and only the length is vLLM's.
    return {"max_tokens": 16} if params is None else params.to_fields(is_chat=is_chat)


def _chat_options(
    add_generation_prompt: bool, continue_final_message: bool, kwargs: Mapping[str, Any] | None
) -> dict[str, Any]:
    options: dict[str, Any] = {
        "add_generation_prompt": add_generation_prompt,
        "continue_final_message": continue_final_message,
    }
    if kwargs:
        options["chat_template_kwargs"] = dict(kwargs)
    return options


def _with_bar(requests: Sequence[Request], use_tqdm: bool) -> Iterator[Request]:
    if not use_tqdm:
        return iter(requests)
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return iter(requests)
    return iter(tqdm(requests, desc="Processed prompts"))
