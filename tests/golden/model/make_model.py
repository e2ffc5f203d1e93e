#!/usr/bin/env python3
"""Makes the reference outputs of models with transformers: logits, greedy answers, scored windows of a text, perplexity,
and the tiny models of this folder. Token ids come from files with ids separated by spaces or commas.

    make_model.py logits MODEL.gguf --tokens IDS --count 256 --out logits.npy
    make_model.py greedy MODEL.gguf --tokens PROMPT_IDS -n 200 --out greedy.json
    make_model.py windows MODEL.gguf --tokens IDS --windows 16 --out FOLDER
    make_model.py perplexity MODEL.gguf --tokens IDS --count 20000 --out perplexity.json
    make_model.py tiny

A window is BOS (if the model adds one) and N-1 (else N) tokens of the text; rows [N/2, N) are scored.
Needs torch 2.13.0, transformers 5.24.0, gguf 0.19.0, numpy 2.4.6: other versions may round differently.
"""
import argparse
import hashlib
import json
import pathlib
import re

import numpy as np
import torch

import gguf_model
import tiny_models

HERE = pathlib.Path(__file__).parent


def read_ids(path):
    return [int(word) for word in re.split(r"[\s,]+", pathlib.Path(path).read_text().strip())]


def bos_prefix(fields):
    """[BOS] or [], as the file says; files of SPM vocabularies that say nothing want one."""
    default = fields.get("tokenizer.ggml.model") == "llama"
    wanted = fields.get("tokenizer.ggml.add_bos_token", default)
    return [fields["tokenizer.ggml.bos_token_id"]] if wanted else []


def text_windows(ids, prefix, size, count=None):
    """Full windows only, in order."""
    step = size - len(prefix)
    found = [prefix + ids[i:i + step] for i in range(0, len(ids) - step + 1, step)]
    return found[:count]


@torch.no_grad()
def logits_of(model, ids):
    """float32 [len(ids), vocab]"""
    return model(torch.tensor([ids])).logits[0].to(torch.float32)


@torch.no_grad()
def greedy(model, ids, count):
    """Ids that follow greedily, and per id the difference of the two largest logits."""
    cache, tokens, gaps, step = None, [], [], torch.tensor([ids])
    for _ in range(count):
        output = model(step, cache=cache, use_cache=True)
        cache = output.cache
        top = output.logits[0, -1].topk(2)
        tokens.append(int(top.indices[0]))
        gaps.append(float(top.values[0] - top.values[1]))
        step = top.indices[:1].reshape(1, 1)
    return tokens, gaps


def window_loss(logits, ids):
    """Sum of -log p and number of the tokens predicted by rows [N/2, N-1)."""
    first = len(ids) // 2
    targets = torch.tensor(ids[first + 1:])
    rows = torch.log_softmax(logits[first:-1].double(), -1)
    return float(-rows.gather(1, targets[:, None]).sum()), len(targets)


def write_json(path, content):
    pathlib.Path(path).write_text(json.dumps(content, indent=1) + "\n")


def source(args):
    return {"model": pathlib.Path(args.model).name, "versions": gguf_model.versions(), "dtype": args.dtype,
            "sha256": hashlib.sha256(pathlib.Path(args.model).read_bytes()).hexdigest()}


def run(args, model, fields):
    prefix, ids = bos_prefix(fields), read_ids(args.tokens)
    if args.command == "logits":
        ids = (prefix + ids)[:args.count]
        np.save(args.out, logits_of(model, ids).numpy())
        write_json(pathlib.Path(args.out).with_suffix(".json"), source(args) | {"tokens": ids})
    elif args.command == "greedy":
        prompt = prefix + ids
        tokens, gaps = greedy(model, prompt, args.count)
        write_json(args.out, source(args) | {"prompt_tokens": prompt, "tokens": tokens, "gaps": gaps})
    elif args.command == "windows":
        out = pathlib.Path(args.out)
        out.mkdir(parents=True, exist_ok=True)
        windows = text_windows(ids, prefix, args.size, args.windows)
        for index, window in enumerate(windows):
            np.save(out / f"{index:04}.npy", logits_of(model, window)[args.size // 2:].numpy())
            (out / f"{index:04}.tokens").write_text(",".join(map(str, window)) + "\n")
        write_json(out / "index.json", source(args) | {"windows": len(windows), "size": args.size,
                                                       "first_scored": args.size // 2})
    elif args.command == "perplexity":
        total, count = 0.0, 0
        windows = text_windows(ids[:args.count], prefix, args.size)
        for window in windows:
            loss, scored = window_loss(logits_of(model, window), window)
            total, count = total + loss, count + scored
        result = source(args) | {"tokens": args.count, "windows": len(windows), "size": args.size, "scored": count,
                                 "perplexity": float(np.exp(total / count))}
        write_json(args.out, result)
        print(json.dumps(result))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("logits", "greedy", "windows", "perplexity"):
        command = commands.add_parser(name)
        command.add_argument("model")
        command.add_argument("--tokens", required=True, help="file of token ids, without BOS")
        command.add_argument("--count", "-n", type=int, default={"logits": 256, "greedy": 200}.get(name, 20000))
        command.add_argument("--size", type=int, default=512, help="tokens of a window")
        command.add_argument("--windows", type=int, default=16)
        command.add_argument("--dtype", choices=("float32", "float64"), default="float32")
        command.add_argument("--out", required=True)
    commands.add_parser("tiny")
    args = parser.parse_args()
    print("versions:", gguf_model.versions())
    if args.command == "tiny":
        tiny_models.write_all(HERE, greedy)
        return
    model, fields = gguf_model.load(args.model, getattr(torch, args.dtype))
    run(args, model, fields)


if __name__ == "__main__":
    main()
