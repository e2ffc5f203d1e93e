"""Reads and writes GGUF models of the architectures llama, qwen2, qwen3 and gemma3 as transformers models in full
precision. The oracle of the model tests: weights are dequantised by the gguf package, the mathematics is transformers'."""
import re

import gguf
import numpy as np
import torch
import transformers

# GGUF name -> transformers name; None where the architecture has no such tensor.
COMMON = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm", "attn_norm": "input_layernorm",
}
NORMS = {"default": {"ffn_norm": "post_attention_layernorm"},
         "gemma3": {"post_attention_norm": "post_attention_layernorm", "ffn_norm": "pre_feedforward_layernorm",
                    "post_ffw_norm": "post_feedforward_layernorm"}}
TOP = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight",
       "output.weight": "lm_head.weight"}
ARCHITECTURES = {"llama": ("LlamaConfig", "LlamaForCausalLM"), "qwen2": ("Qwen2Config", "Qwen2ForCausalLM"),
                 "qwen3": ("Qwen3Config", "Qwen3ForCausalLM"), "gemma3": ("Gemma3TextConfig", "Gemma3ForCausalLM")}


def versions():
    return {p.__name__: getattr(p, "__version__", None) or "0.19" for p in (torch, transformers, np)} | {
        "gguf": __import__("importlib.metadata", fromlist=["version"]).version("gguf")}


def hf_name(arch, name):
    """The transformers name of GGUF tensor `name`."""
    if name in TOP:
        return TOP[name]
    block, part, kind = re.fullmatch(r"blk\.(\d+)\.(\w+)\.(weight|bias)", name).groups()
    return f"model.layers.{block}.{(COMMON | NORMS.get(arch, NORMS['default']))[part]}.{kind}"


def interleave_heads(rows, heads):
    """Rotate-half row order to adjacent pairs, as files of architecture llama store q and k."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(rows.shape)


def separate_heads(rows, heads):
    """The inverse of interleave_heads."""
    return rows.reshape(heads, rows.shape[0] // heads // 2, 2, -1).swapaxes(1, 2).reshape(rows.shape)


def make_config(arch, get, tied, qk_bias):
    """A transformers configuration from GGUF metadata; get(key, default) reads `<arch>.key`."""
    unknown = get("rope.scaling.type", "none")
    if unknown != "none":
        raise SystemExit(f"rope scaling '{unknown}' is not supported by this oracle")
    heads, hidden, layers = get("attention.head_count"), get("embedding_length"), get("block_count")
    settings = dict(
        vocab_size=get("vocab_size"), hidden_size=hidden, num_hidden_layers=layers,
        intermediate_size=get("feed_forward_length"), num_attention_heads=heads,
        num_key_value_heads=get("attention.head_count_kv", heads), head_dim=get("attention.key_length", hidden // heads),
        rms_norm_eps=get("attention.layer_norm_rms_epsilon"), max_position_embeddings=get("context_length"),
        tie_word_embeddings=tied, attn_implementation="eager", bos_token_id=None, eos_token_id=None, pad_token_id=None)
    base = get("rope.freq_base", 10000.0)
    rope = {"rope_type": "default", "rope_theta": base}
    if arch == "gemma3":
        period = get("attention.sliding_window_pattern", 6)
        local = {"rope_type": "default", "rope_theta": get("rope.freq_base_swa", 10000.0)}
        settings |= dict(
            sliding_window=get("attention.sliding_window"), query_pre_attn_scalar=settings["head_dim"],
            layer_types=["full_attention" if (i + 1) % period == 0 else "sliding_attention" for i in range(layers)],
            rope_parameters={"full_attention": rope, "sliding_attention": local}, hidden_activation="gelu_pytorch_tanh")
    else:
        settings["rope_parameters"] = rope
        if arch == "llama":
            settings["attention_bias"] = qk_bias
    return getattr(transformers, ARCHITECTURES[arch][0])(**settings)


def load(path, dtype=torch.float32):
    """The model in a GGUF file, weights dequantised exactly, and its metadata reader."""
    reader = gguf.GGUFReader(path)
    fields = {key: field.contents() for key, field in reader.fields.items() if not key.startswith("tokenizer.ggml.to")}
    arch = fields["general.architecture"]
    if arch not in ARCHITECTURES:
        raise SystemExit(f"architecture '{arch}' is not supported by this oracle")
    tensors = {t.name: t for t in reader.tensors}
    rows = int(tensors["token_embd.weight"].shape[1])

    def get(key, default=None):
        value = rows if key == "vocab_size" else fields.get(f"{arch}.{key}", default)
        if value is None:
            raise SystemExit(f"{path}: {arch}.{key} is missing")
        return value

    config = make_config(arch, get, "output.weight" not in tensors, "blk.0.attn_q.bias" in tensors)
    state, types = {}, {}
    for name, tensor in tensors.items():
        # Exact in float32: every format's values have at most 24 significant bits or are rounded so by definition.
        values = torch.from_numpy(gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32, copy=True))
        values = values.reshape(*reversed([int(n) for n in tensor.shape]))
        if arch == "llama" and re.search(r"attn_[qk]\.", name):
            heads = config.num_attention_heads if "attn_q" in name else config.num_key_value_heads
            values = separate_heads(values, heads)
        values = values.to(dtype)
        if arch == "gemma3" and "norm" in name:
            values = values - 1  # transformers multiplies by 1 + weight
        state[hf_name(arch, name)] = values
        types[hf_name(arch, name)] = tensor.tensor_type.name
    with torch.device("meta"):
        model = getattr(transformers, ARCHITECTURES[arch][1])(config)
    # Buffers (RoPE frequencies, embedding scale) are computed, not stored: make them on a real device.
    model = model.to_empty(device="cpu")
    fresh = getattr(transformers, ARCHITECTURES[arch][1])(small_twin(config))
    computed = dict(fresh.named_buffers())
    for name, buffer in model.named_buffers():
        buffer.data = computed[name].clone().to(buffer.dtype)
    if config.tie_word_embeddings:
        state["lm_head.weight"] = state["model.embed_tokens.weight"]
    model.load_state_dict(state, strict=True, assign=True)
    model.oracle_types = types
    return model.to(dtype).eval(), fields


def small_twin(config):
    """The same configuration with a tiny vocabulary: quick to initialise, with equal computed buffers."""
    twin = type(config)(**config.to_dict())
    twin.vocab_size = 8
    return twin


def save(model, path, arch, metadata, tokens):
    """Writes `model` as a float32 GGUF file. metadata: <arch>.KEY values; tokens: the pieces of an SPM vocabulary."""
    config = model.config
    writer = gguf.GGUFWriter(path, arch)
    for key, value in metadata.items():
        add = {int: writer.add_uint32, float: writer.add_float32}[type(value)]
        add(f"{arch}.{key}", value)
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    kinds += [gguf.TokenType.NORMAL] * (len(tokens) - 3)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([-float(i) for i in range(len(tokens))])
    writer.add_token_types(kinds)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    names = list(TOP) + [f"blk.{i}.{part}.{kind}" for i in range(config.num_hidden_layers)
                         for part in COMMON | NORMS.get(arch, NORMS["default"]) for kind in ("weight", "bias")]
    state = model.state_dict()
    if config.tie_word_embeddings:
        del state["lm_head.weight"]
    for name in names:
        values = state.pop(hf_name(arch, name), None)
        if values is None:
            continue
        values = values.to(torch.float32).numpy()
        if arch == "llama" and re.search(r"attn_[qk]\.", name):
            values = interleave_heads(values, config.num_attention_heads if "attn_q" in name else config.num_key_value_heads)
        if arch == "gemma3" and "norm" in name:
            values = values + np.float32(1)
        writer.add_tensor(name, np.ascontiguousarray(values))
    assert not state, f"not written: {sorted(state)}"
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
