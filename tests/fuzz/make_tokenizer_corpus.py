#!/usr/bin/env python3
"""Writes the seeds of the tokenizer fuzzers into corpus/tokenizer_json and corpus/sentencepiece_model. Needs nothing but
Python's own library."""
import base64, json, pathlib, struct

OUT = pathlib.Path(__file__).parent / "corpus"
BYTES = {f"<0x{b:02X}>": b + 8 for b in (0x0A, 0xC3, 0xB6)}
VOCAB = {"<unk>": 0, "<s>": 1, "</s>": 2, "H": 3, "e": 4, "l": 5, "o": 6, "\u2581": 7, **BYTES, "ll": 20, "##l": 21, "ell": 22}
added = lambda i, c, **f: {"id": i, "content": c, "special": True, **f}
charsmap = base64.b64encode(struct.pack("<I", 1024) + b"\0" * 1024 + b"a\0").decode()
PART = lambda t, **k: {"type": t, **k}
NORMALIZERS = [PART("NFC"), PART("NFKD"), PART("Lowercase"), PART("StripAccents"), PART("Nmt"), PART("ByteLevel"), PART("BertNormalizer"),
               PART("Strip", strip_left=True, strip_right=False), PART("Prepend", prepend="\u2581"),
               PART("Replace", pattern={"Regex": " {2,}"}, content=" "), PART("Precompiled", precompiled_charsmap=charsmap)]
PRE = [PART("BertPreTokenizer"), PART("ByteLevel", add_prefix_space=True, use_regex=True), PART("CharDelimiterSplit", delimiter="-"),
       PART("Digits", individual_digits=True), PART("FixedLength", length=3), PART("Metaspace", replacement="\u2581", prepend_scheme="first"),
       PART("Punctuation", behavior="Contiguous"), PART("UnicodeScripts"), PART("Whitespace"), PART("WhitespaceSplit"),
       PART("Split", pattern={"Regex": r"\p{L}+|\s+(?!\S)"}, behavior="MergedWithNext", invert=True)]
DECODERS = [PART("BPEDecoder", suffix="</w>"), PART("ByteFallback"), PART("ByteLevel"), PART("CTC"), PART("Fuse"), PART("WordPiece"),
            PART("Metaspace", replacement="\u2581"), PART("Replace", pattern={"String": "\u2581"}, content=" "), PART("Strip", content=" ", start=1, stop=0)]
MODELS = {
    "bpe": PART("BPE", vocab=VOCAB, merges=["l l", ["e", "ll"]], unk_token="<unk>", fuse_unk=True, byte_fallback=True),
    "unigram": PART("Unigram", vocab=[[t, -float(i)] for i, t in enumerate(VOCAB)], unk_id=0, byte_fallback=True),
    "wordpiece": PART("WordPiece", vocab=VOCAB, unk_token="<unk>"), "word_level": PART("WordLevel", vocab=VOCAB),
}
POST = PART("TemplateProcessing", single=[{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            special_tokens={"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}})


def tokenizer(model, normalizer=None, pre=None, decoder=None, post=POST):
    return json.dumps({"added_tokens": [added(1, "<s>", normalized=False, rstrip=True), added(30, "12", special=False, single_word=True)],
                       "normalizer": normalizer, "pre_tokenizer": pre, "post_processor": post, "decoder": decoder, "model": MODELS[model]})


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def field(number, value):
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def sentencepiece(model_type, charsmap=b""):
    kinds = {"<unk>": 2, "<s>": 3, "</s>": 3, "ell": 4, **dict.fromkeys(BYTES, 6)}
    pieces = b"".join(field(1, field(1, t.encode()) + field(2, -float(i)) + field(3, kinds.get(t, 1))) for i, t in enumerate(VOCAB))
    return pieces + field(2, field(3, model_type) + field(35, 1)) + field(3, field(2, charsmap) + field(3, 1) + field(4, 1))


def main():
    seeds = {"tokenizer_json": {}, "sentencepiece_model": {}}
    for name in MODELS:
        seeds["tokenizer_json"][name] = tokenizer(name).encode()
    for kind, parts in (("normalizer", NORMALIZERS), ("pre", PRE), ("decoder", DECODERS)):
        for part in parts:
            seeds["tokenizer_json"][f"{kind}_{part['type']}"] = tokenizer("bpe", **{kind: part}).encode()
    sequences = dict(normalizer=PART("Sequence", normalizers=NORMALIZERS), pre=PART("Sequence", pretokenizers=PRE),
                     decoder=PART("Sequence", decoders=DECODERS), post=PART("Sequence", processors=[POST, PART("ByteLevel")]))
    seeds["tokenizer_json"]["sequences"] = tokenizer("unigram", **sequences).encode()
    for name, model_type in (("unigram", 1), ("bpe", 2), ("word", 3), ("char", 4)):
        seeds["sentencepiece_model"][name] = sentencepiece(model_type, base64.b64decode(charsmap))
    for folder, files in seeds.items():
        (OUT / folder).mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (OUT / folder / name).write_bytes(data)


main()
