#!/usr/bin/env python3
"""Writes tiny random Hugging Face folders with their golden logits to hf/: config.json and safetensors files as
transformers saves them, some rewritten the way transformers 4 spelt them, sharded, or with fp8 weights in scaled blocks.

    hf_models.py
"""
import json
import pathlib
import shutil

import numpy as np
import safetensors.torch
import torch
import transformers
from transformers import (Gemma3ForCausalLM, Gemma3TextConfig, LlamaConfig, LlamaForCausalLM, Qwen2Config,
                          Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM)

from tiny_models import randomise

HERE = pathlib.Path(__file__).resolve().parent / "hf"
VOCAB, POSITIONS = 60, 160
COMMON = dict(vocab_size=VOCAB, max_position_embeddings=512, bos_token_id=None, eos_token_id=None, pad_token_id=None)


def models():
    """(folder, class, configuration, type of the weights)"""
    yield "llama", LlamaForCausalLM, LlamaConfig(
        **COMMON, hidden_size=32, num_hidden_layers=2, intermediate_size=48, num_attention_heads=4, num_key_value_heads=2,
        rope_parameters={"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0,
                         "high_freq_factor": 4.0, "original_max_position_embeddings": 64}), torch.float16
    yield "qwen2", Qwen2ForCausalLM, Qwen2Config(
        **COMMON, hidden_size=32, num_hidden_layers=3, intermediate_size=40, num_attention_heads=2, num_key_value_heads=1,
        use_sliding_window=True, sliding_window=24, max_window_layers=1,
        rope_parameters={"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0,
                         "original_max_position_embeddings": 128}), torch.float32
    yield "qwen3", Qwen3ForCausalLM, Qwen3Config(
        **COMMON, hidden_size=48, num_hidden_layers=2, intermediate_size=136, num_attention_heads=3, num_key_value_heads=1,
        head_dim=32, tie_word_embeddings=True), torch.bfloat16
    yield "gemma3", Gemma3ForCausalLM, Gemma3TextConfig(
        **COMMON, hidden_size=40, num_hidden_layers=4, intermediate_size=48, num_attention_heads=2, num_key_value_heads=1,
        head_dim=32, sliding_window=16, query_pre_attn_scalar=48,
        layer_types=["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"],
        rope_parameters={"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
                         "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}), torch.bfloat16


def edit(path, change):
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value, indent=1) + "\n")


def as_transformers_4(config):
    """The spelling of rotations and windows before version 5."""
    rope = config.pop("rope_parameters")
    full = rope["full_attention"]
    config |= {"rope_theta": full["rope_theta"], "rope_local_base_freq": rope["sliding_attention"]["rope_theta"],
               "rope_scaling": {"rope_type": full["rope_type"], "factor": full["factor"]}, "sliding_window_pattern": 3,
               "hidden_act": "gelu", "torch_dtype": config.pop("dtype"), "transformers_version": "4.50.0"}
    for key in ("layer_types", "_sliding_window_pattern"):
        config.pop(key, None)


def to_fp8(weight):
    """E4M3 codes, scales of blocks of 128 x 128, and what both stand for."""
    blocks = [-(-n // 128) for n in weight.shape]
    scales, codes = torch.zeros(blocks), torch.zeros(weight.shape, dtype=torch.float8_e4m3fn)
    for i in range(blocks[0]):
        for j in range(blocks[1]):
            part = (slice(128 * i, 128 * (i + 1)), slice(128 * j, 128 * (j + 1)))
            scales[i, j] = weight[part].abs().max() / 448
            codes[part] = (weight[part] / scales[i, j]).to(torch.float8_e4m3fn)
    grown = scales.repeat_interleave(128, 0)[:weight.shape[0]].repeat_interleave(128, 1)[:, :weight.shape[1]]
    return codes, scales, codes.to(torch.float32) * grown


def store_fp8(folder, model):
    """Replaces the matrices of all layers by fp8, in the file and in the model."""
    file = folder / "model.safetensors"
    tensors = safetensors.torch.load_file(file)
    for name, weight in model.named_parameters():
        if "_proj" not in name:
            continue
        tensors[name], tensors[name + "_scale_inv"], weight.data = to_fp8(weight.data)
    safetensors.torch.save_file(tensors, file, metadata={"format": "pt"})
    edit(folder / "config.json", lambda config: config.update(
        quantization_config={"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}))


def main():
    transformers.logging.set_verbosity_error()
    for seed, (name, kind, config, dtype) in enumerate(models()):
        config._attn_implementation = "eager"
        generator = torch.Generator().manual_seed(seed)
        model = kind(config).eval()
        randomise(model, generator)
        folder = HERE / name
        shutil.rmtree(folder, ignore_errors=True)
        model.to(dtype).save_pretrained(folder, max_shard_size="12KB" if name == "llama" else "5GB")
        # Read back, because a conversion in place also rounds the rotations.
        model = kind.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
        if name == "qwen3":
            store_fp8(folder, model)
        if name == "gemma3":
            edit(folder / "config.json", as_transformers_4)
        edit(folder / "generation_config.json",
             lambda generation: generation.update(do_sample=True, temperature=0.5, top_k=7, top_p=0.75))
        ids = torch.randint(0, VOCAB, (1, POSITIONS), generator=generator)
        with torch.no_grad():
            logits = model.to(torch.float64)(ids).logits[0].to(torch.float32).numpy()
        np.save(HERE / f"{name}.npy", logits)
        (HERE / f"{name}.json").write_text(json.dumps({"tokens": ids[0].tolist()}) + "\n")
        print(name, "largest logit", np.abs(logits).max())


if __name__ == "__main__":
    main()
