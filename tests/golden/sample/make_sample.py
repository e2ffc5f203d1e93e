#!/usr/bin/env python3
"""Makes transformers.json: what the logits processors of transformers keep of rows without ties.

Logits are whole numbers to be divided by 64. Cases near a limit, where fp32 rounding may decide, are left out: the same
processor in fp64, and with its value changed by 1e-5, must keep the same tokens.
Usage: make_sample.py > transformers.json      (needs torch, transformers)"""
import json
import random

import torch
from transformers.generation import logits_process as lp

RANDOM = random.Random(5)
STAGES = {
    "temperature": (lp.TemperatureLogitsWarper, [0.6, 1.7]),
    "top_k": (lp.TopKLogitsWarper, [1, 7, 40]),
    "top_p": (lp.TopPLogitsWarper, [0.3, 0.9, 0.99]),
    "min_p": (lp.MinPLogitsWarper, [0.02, 0.2]),
    "typical_p": (lp.TypicalLogitsWarper, [0.2, 0.9]),
    "epsilon_cutoff": (lp.EpsilonLogitsWarper, [3e-4, 0.02]),
    "eta_cutoff": (lp.EtaLogitsWarper, [3e-4, 0.1]),
    "top_h": (lp.TopHLogitsWarper, [0.4, 0.8]),
}
# The order of GenerationMixin._get_logits_processor.
ORDER = ["temperature", "top_h", "top_k", "top_p", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff"]


def make_row(size):
    spread = RANDOM.choice([1, 2, 4])
    return RANDOM.sample(range(-300 * spread, 300 * spread), size)


def kept(row, stages, scale=1.0, dtype=torch.float32):
    scores = torch.tensor([row], dtype=dtype) / 64
    for name, value in stages:
        changed = value if name == "top_k" else value * scale
        scores = STAGES[name][0](changed)(None, scores)
    return torch.nonzero(torch.isfinite(scores[0])).flatten().tolist()


def cases(rows):
    for index, row in enumerate(rows):
        choices = [[(name, RANDOM.choice(values))] for name, (_, values) in STAGES.items()]
        some = [name for name in ORDER if RANDOM.random() < 0.5]
        choices.append([(name, RANDOM.choice(STAGES[name][1])) for name in some])
        for stages in choices:
            ids = kept(row, stages)
            same = all(kept(row, stages, s, d) == ids for s in (1 - 1e-5, 1.0, 1 + 1e-5)
                       for d in (torch.float32, torch.float64))
            if same:
                yield {"row": index, "stages": dict(stages), "kept": ids}


def repetition(rows):
    for index, row in enumerate(rows[:20]):
        tokens = [RANDOM.randrange(len(row)) for _ in range(12)]
        scores = torch.tensor([row], dtype=torch.float32) / 64
        scores = lp.RepetitionPenaltyLogitsProcessor(1.3)(torch.tensor([tokens]), scores)
        yield {"row": index, "tokens": tokens, "penalty": 1.3, "scores": scores[0].tolist()}


def guidance(rows):
    for index in range(0, 20, 2):
        size = min(len(rows[index]), len(rows[index + 1]))
        a, b = (torch.tensor(rows[i][:size], dtype=torch.float64).div(64).log_softmax(-1) for i in (index, index + 1))
        yield {"row": index, "negative": index + 1, "size": size, "scale": 1.5, "scores": (1.5 * (a - b) + b).tolist()}


rows = [make_row(RANDOM.choice([3, 20, 60, 150])) for _ in range(120)]
print(json.dumps({"rows": rows, "cases": list(cases(rows)), "repetition": list(repetition(rows)),
                  "guidance": list(guidance(rows))}, separators=(",", ":")).replace("},{", "},\n{"))
