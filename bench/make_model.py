#!/usr/bin/env python3
"""Makes a model of the shape of a known one with random weights in BF16, for measurements of speed:

    bench/make_model.py 135m|0.5b|1b|7b OUT.gguf [--seed N]

Every tensor has the shape it has in SmolLM2-135M, Qwen2.5-0.5B, Llama-3.2-1B or Llama-2-7B; `arion quantize` makes the other
types of it. Weights are normal with deviation 0.02, gains of norms lie near 1. They are cut at random places out of one
slab of 2^24 numbers, so that the largest model takes seconds and little memory: parts of tensors repeat, which no speed
depends on. The vocabulary is SentencePiece's bytes and filler up to the model's size. Needs numpy and gguf.
"""
import argparse
import dataclasses
import pathlib

import gguf
import numpy as np

DEVIATION = 0.02
SLAB = 1 << 24


@dataclasses.dataclass(frozen=True)
class Shape:
    name: str
    arch: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int
    context: int
    rope_base: float
    epsilon: float
    is_tied: bool
    has_bias: bool = False  # of q, k and v


# Of the models' config.json; Llama-2 has a context of 4,096, twice that lets decoding be measured at this depth.
SHAPES = {
    "135m": Shape("SmolLM2-135M", "llama", 30, 576, 9, 3, 1536, 49152, 8192, 1e5, 1e-5, is_tied=True),
    "0.5b": Shape("Qwen2.5-0.5B", "qwen2", 24, 896, 14, 2, 4864, 151936, 32768, 1e6, 1e-6, is_tied=True, has_bias=True),
    "1b": Shape("Llama-3.2-1B", "llama", 16, 2048, 32, 8, 8192, 128256, 131072, 5e5, 1e-5, is_tied=True),
    "7b": Shape("Llama-2-7B", "llama", 32, 4096, 32, 32, 11008, 32000, 8192, 1e4, 1e-5, is_tied=False),
}


def tensors(shape):
    """(name, shape) of all tensors, as numpy orders axes: [out, in]."""
    kv = shape.hidden // shape.heads * shape.kv_heads
    yield "token_embd.weight", (shape.vocab, shape.hidden)
    for layer in range(shape.layers):
        block = f"blk.{layer}."
        yield block + "attn_norm.weight", (shape.hidden,)
        for name, rows in (("attn_q", shape.hidden), ("attn_k", kv), ("attn_v", kv)):
            yield f"{block}{name}.weight", (rows, shape.hidden)
            if shape.has_bias:
                yield f"{block}{name}.bias", (rows,)
        yield block + "attn_output.weight", (shape.hidden, shape.hidden)
        yield block + "ffn_norm.weight", (shape.hidden,)
        yield block + "ffn_gate.weight", (shape.ffn, shape.hidden)
        yield block + "ffn_up.weight", (shape.ffn, shape.hidden)
        yield block + "ffn_down.weight", (shape.hidden, shape.ffn)
    yield "output_norm.weight", (shape.hidden,)
    if not shape.is_tied:
        yield "output.weight", (shape.vocab, shape.hidden)


def add_vocabulary(writer, size):
    kinds = gguf.TokenType
    tokens = [("<unk>", kinds.UNKNOWN), ("<s>", kinds.CONTROL), ("</s>", kinds.CONTROL)]
    tokens += [(f"<0x{byte:02X}>", kinds.BYTE) for byte in range(256)]
    tokens += [(f"\u2581t{i}", kinds.NORMAL) for i in range(len(tokens), size)]
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text for text, _ in tokens])
    writer.add_token_scores([-float(i) for i in range(size)])
    writer.add_token_types([int(kind) for _, kind in tokens])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)


class Weights:
    """Random tensors, cut out of one slab."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.slab = self.random.standard_normal(SLAB, dtype=np.float32) * np.float32(DEVIATION)
        self.packed = gguf.quantize(self.slab, gguf.GGMLQuantizationType.BF16).view(np.uint16)

    def cut(self, slab, shape):
        out = np.empty(shape, slab.dtype)
        flat = out.reshape(-1)
        for start in range(0, flat.size, SLAB // 2):
            count = min(flat.size - start, SLAB // 2)
            offset = self.random.integers(SLAB // 2)
            flat[start:start + count] = slab[offset:offset + count]
        return out

    def matrix(self, shape):
        return self.cut(self.packed, shape)

    def vector(self, shape, mean):
        return self.cut(self.slab, shape) + np.float32(mean)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    shape = SHAPES[args.shape]

    writer = gguf.GGUFWriter(args.out, shape.arch)
    writer.add_name(f"{shape.name} with random weights")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_BF16)
    writer.add_block_count(shape.layers)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.hidden)
    writer.add_feed_forward_length(shape.ffn)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_rope_dimension_count(shape.hidden // shape.heads)
    writer.add_rope_freq_base(shape.rope_base)
    writer.add_layer_norm_rms_eps(shape.epsilon)
    writer.add_vocab_size(shape.vocab)
    add_vocabulary(writer, shape.vocab)
    for name, dims in tensors(shape):
        kind = gguf.GGMLQuantizationType.F32 if len(dims) == 1 else gguf.GGMLQuantizationType.BF16
        size = 4 if len(dims) == 1 else 2
        writer.add_tensor_info(name, dims, np.dtype(np.float32 if size == 4 else np.float16),
                               size * int(np.prod(dims)), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    weights = Weights(args.seed)
    for name, dims in tensors(shape):
        if len(dims) == 2:
            writer.write_tensor_data(weights.matrix(dims))
        else:
            writer.write_tensor_data(weights.vector(dims, mean=0 if name.endswith(".bias") else 1))
    writer.close()


if __name__ == "__main__":
    main()
