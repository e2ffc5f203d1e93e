#!/usr/bin/env python3
"""What rounding activations to int8 costs: rounds the inputs of linear layers of a GGUF model in groups of 32 or 256
columns and prints the mean Kullback-Leibler divergence from the exact model over the scored half of text windows.

    activation_formats.py MODEL.gguf --tokens IDS --windows 8
"""
import argparse
import contextlib
import json

import torch

import gguf_model
import make_model

SUPERBLOCK_TYPES = {"Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"}


def round_groups(x, group):
    """x [..., K] rounded to int8 with one float32 scale per `group` columns; the last group may be short."""
    columns = x.shape[-1]
    padded = torch.nn.functional.pad(x, (0, -columns % group)).unflatten(-1, (-1, group))
    scale = padded.abs().amax(-1, keepdim=True) / 127
    codes = torch.where(scale > 0, padded / scale, 0).round().clamp(-127, 127)
    return (codes * scale).flatten(-2)[..., :columns]


@contextlib.contextmanager
def rounded(model, group_of):
    """Rounds the input of each linear layer; group_of(weight type, K) is its group size, or None for exact."""
    hooks = []
    for name, module in model.named_modules():
        if not isinstance(module, torch.nn.Linear):
            continue
        kind = model.oracle_types.get(name + ".weight") or model.oracle_types["model.embed_tokens.weight"]
        group = group_of(kind, module.in_features)
        if group:
            hooks.append(module.register_forward_pre_hook(lambda _, args, g=group: (round_groups(args[0], g),)))
    try:
        yield len(hooks)
    finally:
        for hook in hooks:
            hook.remove()


# Name -> group size of a linear layer with weights of `kind` and K columns.
VARIANTS = {
    "super-block types per 32": lambda kind, k: 32 if kind in SUPERBLOCK_TYPES else None,
    "super-block types per 256": lambda kind, k: 256 if kind in SUPERBLOCK_TYPES else None,
    "all per 32": lambda kind, k: 32,
    "all per 32, super-block types per 256": lambda kind, k: 256 if kind in SUPERBLOCK_TYPES else 32,
    "all per 256 where K % 256 == 0, else per 32": lambda kind, k: 256 if k % 256 == 0 else 32,
}


def compare(exact, got):
    """Per row of log-probabilities: divergence, and whether the first choice is kept."""
    divergence = (exact.exp() * (exact - got)).sum(-1)
    return divergence, exact.argmax(-1) == got.argmax(-1)


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--tokens", required=True)
    parser.add_argument("--windows", type=int, default=8)
    parser.add_argument("--size", type=int, default=512)
    args = parser.parse_args()
    model, fields = gguf_model.load(args.model)
    ids = make_model.read_ids(args.tokens)
    windows = make_model.text_windows(ids, make_model.bos_prefix(fields), args.size, args.windows)
    totals = {name: {"linears": 0, "divergence": [], "kept": []} for name in VARIANTS}
    for window in windows:
        first = args.size // 2
        exact = torch.log_softmax(make_model.logits_of(model, window)[first:], -1)
        for name, group_of in VARIANTS.items():
            with rounded(model, group_of) as linears:
                total = totals[name]
                total["linears"] = linears
                if not linears:
                    continue
                got = torch.log_softmax(make_model.logits_of(model, window)[first:], -1)
                divergence, kept = compare(exact, got)
                total["divergence"].append(divergence)
                total["kept"].append(kept)
        print(f"window of {len(window)} done", flush=True)
    for name, total in totals.items():
        if total["divergence"]:
            divergence, kept = torch.cat(total["divergence"]), torch.cat(total["kept"])
            print(json.dumps({"variant": name, "linears": total["linears"], "positions": len(divergence),
                              "mean_kl": float(divergence.mean()), "p99_kl": float(divergence.quantile(0.99)),
                              "max_kl": float(divergence.max()), "same_top1": float(kept.float().mean())}))


if __name__ == "__main__":
    main()
