"""Tiny random models, one per architecture, as float32 GGUF files with their golden logits. Their sizes are chosen to be
awkward: hidden sizes that are no multiple of 32, head sizes that are not hidden / heads, a window shorter than a tile."""
import json

import numpy as np
import torch
import transformers

import gguf_model

POSITIONS = 160  # more than two key tiles of 64
PIECES = ["<unk>", "<s>", "</s>", "\u2581"] + [chr(c) for c in (*range(97, 123), *range(65, 91), *range(48, 56))]

# Metadata of each file, without the architecture's prefix.
SHAPES = {
    "llama": {"embedding_length": 64, "block_count": 2, "feed_forward_length": 72, "attention.head_count": 4,
              "attention.head_count_kv": 2, "rope.freq_base": 10000.0},
    "qwen2": {"embedding_length": 64, "block_count": 2, "feed_forward_length": 72, "attention.head_count": 4,
              "attention.head_count_kv": 1, "rope.freq_base": 1000000.0},
    "qwen3": {"embedding_length": 48, "block_count": 2, "feed_forward_length": 80, "attention.head_count": 3,
              "attention.head_count_kv": 1, "attention.key_length": 32, "attention.value_length": 32,
              "rope.freq_base": 1000000.0},
    "gemma3": {"embedding_length": 40, "block_count": 4, "feed_forward_length": 48, "attention.head_count": 2,
               "attention.head_count_kv": 1, "attention.key_length": 32, "attention.value_length": 32,
               "attention.sliding_window": 16, "attention.sliding_window_pattern": 3, "rope.freq_base": 1000000.0},
}
TIED = {"llama": False, "qwen2": False, "qwen3": True, "gemma3": True}


def randomise(model, generator):
    """Weights that keep activations near 1, so that every part of the model shows in the logits."""
    for name, weight in model.named_parameters():
        noise = torch.randn(weight.shape, generator=generator, dtype=torch.float32)
        if "norm" in name:
            centre = 0.0 if model.config.model_type.startswith("gemma3") else 1.0
            noise = centre + 0.2 * noise
        elif weight.ndim == 2 and "embed" not in name:
            noise = 1.5 * noise / weight.shape[1] ** 0.5
        elif weight.ndim == 2 and model.config.tie_word_embeddings:
            noise = 0.15 * noise  # larger, and a token's own embedding would decide its logits
        elif weight.ndim == 1:
            noise = 0.3 * noise
        weight.data = noise
    model.tie_weights()


def write_all(folder, greedy):
    for seed, (arch, shape) in enumerate(SHAPES.items()):
        metadata = {"context_length": 512, "attention.layer_norm_rms_epsilon": 1e-5} | shape
        values = metadata | {"vocab_size": len(PIECES)}
        config = gguf_model.make_config(arch, lambda key, default=None: values.get(key, default), TIED[arch], False)
        generator = torch.Generator().manual_seed(seed)
        original = getattr(transformers, gguf_model.ARCHITECTURES[arch][1])(config).eval()
        randomise(original, generator)
        path = folder / f"{arch}.gguf"
        gguf_model.save(original, path, arch, metadata, PIECES)

        # In float64: the golden values are those of the mathematics, not of one order of sums.
        model, _ = gguf_model.load(path, torch.float64)
        ids = [1] + torch.randint(3, len(PIECES), (POSITIONS - 1,), generator=generator).tolist()
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0]
            direct = original(torch.tensor([ids])).logits[0]
        # What was written and read back is the model that was made.
        assert (logits - direct).abs().max() < 1e-3, arch
        tokens, gaps = greedy(model, ids[:20], 40)
        np.save(folder / f"{arch}.npy", logits.to(torch.float32).numpy())
        (folder / f"{arch}.json").write_text(json.dumps(
            {"architecture": arch, "versions": gguf_model.versions(), "tokens": ids, "logits": f"{arch}.npy",
             "max_abs_logit": float(logits.abs().max()), "prompt_tokens": ids[:20], "greedy": tokens,
             "greedy_gaps": [round(gap, 6) for gap in gaps]}) + "\n")
        print(arch, path.stat().st_size, "bytes, largest logit", float(logits.abs().max()))
