#!/usr/bin/env python3
"""Makes fuzz.json: strings, how each split cuts them, and the ids that vocabularies of the corpus give.

Oracle: the Hugging Face tokenizers package (Oniguruma regexes, merges). Only a 32-bit FNV-1a hash per string is kept;
the hash runs over 32-bit little-endian numbers: byte lengths of the words, or ids.
Usage: make_text.py CORPUS/data/tokenizers > fuzz.json      (needs tokenizers, gguf)"""
import json
import pathlib
import random
import struct
import sys

import gguf
import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
SPLITS = {
    "gpt2": [GPT2],
    "digits_gpt2": [r"\p{N}", GPT2],
    "llama3": [LLAMA3],
    "qwen2": [LLAMA3.replace("{1,3}", "")],
    "generic": [r"[\p{P}$+<=>^~|]+", GPT2, r"\p{N}+", r"[0-9][0-9][0-9]"],
}
# name -> file, split, ignore_merges
FAMILIES = {
    "gpt-2": ("ggml/ggml-vocab-gpt-2.gguf", "gpt2", False),
    "mpt": ("ggml/ggml-vocab-mpt.gguf", "gpt2", False),
    "gpt-neox": ("ggml/ggml-vocab-gpt-neox.gguf", "generic", False),
    "starcoder": ("ggml/ggml-vocab-starcoder.gguf", "digits_gpt2", False),
    "refact": ("ggml/ggml-vocab-refact.gguf", "digits_gpt2", False),
    "llama-bpe": ("llama3", "llama3", True),
    "qwen2": ("llama3", "qwen2", False),  # no Qwen vocabulary there: the split with Llama-3's merges
    "llama-spm": ("ggml/ggml-vocab-llama-spm.gguf", None, False),
    "phi-3": ("ggml/ggml-vocab-phi-3.gguf", None, False),
}
COUNT = 2000


def fnv(numbers: list[int]) -> int:
    value = 0x811C9DC5
    for byte in struct.pack(f"<{len(numbers)}I", *numbers):
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def random_string(rng: random.Random) -> str:
    words = ("the of and Hello world token I we they don't It's WE'LL you've naïve straße Ελλάδα Привет "
             "мир 你好 世界 こんにちは 안녕하세요 שלום مرحبا नमस्ते สวัสดี ﬁn Ωmega e\u0301cole int main() { return 0; } x86_64 "
             "http://a.b/c?d=e%20f foo_bar <|endoftext|> <s> </s> <|x|> [INST] <unk> <0x0A> 3.14159 1,000,000 "
             "'s 'S 't 'LL 'Re 've 'm 'd '\u017f 'l 'r ''s").split(" ")
    singles = ("0123456789", "٣४๕Ⅷ½²〇𝟘", ".,!?;:'\"()[]{}<>|=+-*/\\@#$%^&`~_", "。、「」…—–¡¿«»‹›", "😀🚀👩‍👩‍👧🇩🇪❤️",
               "\u00a0\u1680\u2003\u2028\u2029\u202f\u3000\u0085", "\u200b\u200d\ufeff\u00ad\u180e\u2060", "\u0300\u0301\u093e\u20dd\ufe0f",
               "\x00\x01\x07\x1b\x1c\x1d\x1e\x1f\x7f", "ªºǅʰⅣ€№™", "\u2581\ue000\ufffd\ufffe\U0010ffff\U000e0001\u0378")
    spaces = (" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", " \n", "\n ", "\t\t ", "\v", "\f", " \r", "        ")
    out = []
    for _ in range(rng.randint(1, 14)):
        kind = rng.random()
        if kind < 0.40:
            out.append(rng.choice(words))
        elif kind < 0.62:
            out.append(rng.choice(spaces))
        elif kind < 0.88:
            pool = rng.choice(singles)
            out.append("".join(rng.choice(pool) for _ in range(rng.randint(1, 4))))
        elif kind < 0.95:
            out.append("".join(rng.choice("abcdeABCDE") for _ in range(rng.randint(1, 9))))
        else:
            code = rng.choice((rng.randrange(0x80, 0xD800), rng.randrange(0xE000, 0x30000)))
            out.append(chr(code))
        if rng.random() < 0.3:
            out.append(" ")
    return "".join(out)


def split_rule(name: str) -> pre_tokenizers.Sequence:
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(r), "isolated") for r in SPLITS[name]])


def word_lengths(rule: pre_tokenizers.Sequence, text: str) -> list[int]:
    return [len(word.encode()) for word, _ in rule.pre_tokenize_str(text)]


def read_llama3(folder: pathlib.Path) -> tuple:
    vocab = json.loads((folder / "vocab.json").read_text())
    lines = (folder / "merges.txt").read_text().split("\n")
    return vocab, [tuple(m.split(" ")) for m in lines if m and not m.startswith("#version")], [], {}


def read_gguf(path: pathlib.Path) -> tuple:
    fields = gguf.GGUFReader(path).fields
    get = lambda key: fields[key].contents() if key in fields else []
    tokens, types = get("tokenizer.ggml.tokens"), get("tokenizer.ggml.token_type")
    merges = [tuple(m.split(" ", 1)) for m in get("tokenizer.ggml.merges")]
    added = [(t, y) for t, y in zip(tokens, types) if y in (2, 3, 4)]
    return {t: i for i, t in reversed(list(enumerate(tokens)))}, merges, added, dict(
        zip(tokens, get("tokenizer.ggml.scores")))


def sentencepiece_merges(vocab: dict, scores: dict, excluded: set) -> list:
    """All ways to join two tokens into one, best score first: what converters from SentencePiece do."""
    merges = []
    for token in vocab:
        for cut in range(1, len(token)):
            left, right = token[:cut], token[cut:]
            if token not in excluded and left in vocab and right in vocab and not {left, right} & excluded:
                merges.append((scores[token], vocab[left], vocab[right], left, right))
    merges.sort(key=lambda m: (-m[0], m[1], m[2]))
    return [(left, right) for *_, left, right in merges]


def make_oracle(source: tuple, split: str | None, ignore_merges: bool, has_space_prefix: bool = True) -> Tokenizer:
    vocab, merges, added, scores = source
    if split is None:
        excluded = {t for t, _ in added} | {f"<0x{b:02X}>" for b in range(256)}
        merges = sentencepiece_merges(vocab, scores, excluded)
        oracle = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
        prepend = [normalizers.Prepend("\u2581")] if has_space_prefix else []
        oracle.normalizer = normalizers.Sequence(prepend + [normalizers.Replace(" ", "\u2581")])
    else:
        oracle = Tokenizer(models.BPE(vocab, merges, ignore_merges=ignore_merges))
        byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        oracle.pre_tokenizer = pre_tokenizers.Sequence([split_rule(split), byte_level])
    for token, kind in added:
        oracle.add_tokens([AddedToken(token, normalized=False, special=kind != 4)])
    return oracle


def main() -> None:
    corpus = pathlib.Path(sys.argv[1])
    rng = random.Random(20260101)
    strings = [random_string(rng) for _ in range(COUNT)]
    golden = {
        "oracle": f"tokenizers {tokenizers.__version__}",
        "strings": strings,
        "splits": {name: [fnv(word_lengths(split_rule(name), s)) for s in strings] for name in SPLITS},
        "ids": {},
    }
    for name, (file, split, ignore_merges) in FAMILIES.items():
        path = corpus / file
        oracle = make_oracle(read_llama3(path) if path.is_dir() else read_gguf(path), split, ignore_merges)
        golden["ids"][name] = [fnv(oracle.encode(s, add_special_tokens=False).ids) for s in strings]
    json.dump(golden, sys.stdout, ensure_ascii=True, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
