#!/usr/bin/env python3
"""Makes a source for quantisation of a model that is only to be had in Q4_1:

    bench/spread_weights.py MODEL.Q4_1.gguf OUT-bf16.gguf

Every weight is moved to a random place in the interval that was rounded to it. A file that is only decoded would lie on
the grid of Q4_1, which some formats happen to hit and others to miss. Needs numpy and gguf.
"""
import sys

import gguf
import numpy as np


def main():
    source, out = sys.argv[1:3]
    reader = gguf.GGUFReader(source)
    random = np.random.default_rng(0)
    writer = gguf.GGUFWriter(out, reader.fields["general.architecture"].contents())
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type"):
            continue
        kind = field.types[0]
        writer.add_key_value(name, field.contents(), kind, field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None)
    for tensor in reader.tensors:
        values = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        if tensor.tensor_type == gguf.GGMLQuantizationType.Q4_1:
            blocks = np.asarray(tensor.data).reshape(-1, 20)
            steps = blocks[:, :2].copy().view(np.float16).astype(np.float32)
            noise = random.uniform(-0.5, 0.5, (blocks.shape[0], 32)).astype(np.float32)
            values = values + (steps * noise).reshape(values.shape)
        if values.ndim == 1:
            writer.add_tensor(tensor.name, values)
        else:
            packed = gguf.quantize(values, gguf.GGMLQuantizationType.BF16)
            writer.add_tensor(tensor.name, packed, raw_dtype=gguf.GGMLQuantizationType.BF16)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
