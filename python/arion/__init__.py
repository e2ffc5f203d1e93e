"""Arion runs large language models on the CPU.

    from arion import LLM, SamplingParams

    with LLM("model.gguf") as llm:
        params = SamplingParams(temperature=0.8, max_tokens=50)
        for output in llm.generate(["Once upon a time", "The sky is"], params):
            print(output.prompt, output.outputs[0].text)

Names and meanings are vLLM's. Requests of all threads share the engine's steps.
"""

from ._library import ArionError, InvalidRequestError, OverloadedError, version
from .llm import LLM, Stream
from .outputs import CompletionOutput, Logprob, RequestOutput
from .sampling_params import SamplingParams
from .tokenizer import Tokenizer

__version__ = version()
__all__ = [
    "ArionError",
    "CompletionOutput",
    "InvalidRequestError",
    "LLM",
    "Logprob",
    "OverloadedError",
    "RequestOutput",
    "SamplingParams",
    "Stream",
    "Tokenizer",
]
