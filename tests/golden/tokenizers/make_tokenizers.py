#!/usr/bin/env python3
"""Makes small tokenizers of every family with the Hugging Face tokenizers package, and what it does with random strings.

FAMILY.json are tokenizer.json files; golden.json holds the strings and per family a 32-bit FNV-1a hash of the ids of every
GROUP strings, and of the characters that they decode to; components.json what single parts do to the strings. A number
that neither an id nor a character can be ends each string or word.
Usage: make_tokenizers.py      (needs tokenizers; make_text.py lies beside in ../text)"""
import base64
import collections
import json
import pathlib
import random
import sys

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "text"))
from make_text import GPT2, LLAMA3, fnv, random_string  # noqa: E402

COUNT = 2000
GROUP = 10
END = 0x110000
SPECIAL = ["<unk>", "<s>", "</s>"]


def training_text(rng: random.Random) -> list[str]:
    return [random_string(rng) for _ in range(6000)]


def finish(tokenizer: Tokenizer, bos: str = "<s>", eos: str = "</s>") -> Tokenizer:
    tokenizer.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in (bos, eos)])
    tokenizer.add_tokens([
        AddedToken("<|left|>", lstrip=True, normalized=False), AddedToken("<|right|>", rstrip=True, normalized=False),
        AddedToken("Hello", single_word=True, normalized=True), AddedToken("stra\u00dfe", normalized=True)])
    ids = [(t, tokenizer.token_to_id(t)) for t in (bos, eos)]
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{bos} $A {eos}", special_tokens=ids)
    return tokenizer


def byte_level(text: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(LLAMA3), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(text, trainers.BpeTrainer(
        vocab_size=700, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return finish(tokenizer)


def prefix_space(text: list[str]) -> Tokenizer:
    """As RoBERTa: a space in front of every piece, an unknown token, not all bytes."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(text[:200], trainers.BpeTrainer(vocab_size=500, special_tokens=SPECIAL))
    return finish(tokenizer)


def byte_fallback(text: list[str], metaspace: bool) -> Tokenizer:
    """As Llama 2, and as Mistral with Metaspace."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    tokenizer.train_from_iterator(text, trainers.BpeTrainer(
        vocab_size=800, limit_alphabet=100, special_tokens=SPECIAL + [f"<0x{b:02X}>" for b in range(256)]))
    if metaspace:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    else:
        tokenizer.pre_tokenizer = None
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.decoder = decoders.Sequence([
        decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return finish(tokenizer)


def end_of_word(text: list[str]) -> Tokenizer:
    """As CLIP: the last character of a word is another symbol; as XLM: unknown characters one by one."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>", continuing_subword_prefix=""))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.decoder = decoders.BPEDecoder()
    tokenizer.train_from_iterator(text, trainers.BpeTrainer(
        vocab_size=700, limit_alphabet=150, special_tokens=SPECIAL, end_of_word_suffix="</w>"))
    return finish(tokenizer)


def continuing(text: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", continuing_subword_prefix="##"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKD(), normalizers.StripAccents()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Punctuation("contiguous")])
    tokenizer.train_from_iterator(text, trainers.BpeTrainer(
        vocab_size=700, limit_alphabet=150, special_tokens=SPECIAL, continuing_subword_prefix="##"))
    return finish(tokenizer)


def wordpiece(text: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(text, trainers.WordPieceTrainer(
        vocab_size=800, limit_alphabet=150, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    return finish(tokenizer, "[CLS]", "[SEP]")


def charsmap() -> str:
    """The table of nmt_nfkc is 237 KB; this one has a few of its rules."""
    rules = {"\uff21": "A", "\u3000": " ", "\u00a0": " ", "\ufb01": "fi", "e\u0301": "\u00e9", "\u2026": "...", "\u0e33": "\u0e4d\u0e32",
             "\x01": "", "\r\n": " ", "\n": " ", "\t": " ", "\u00bd": "1/2", "\u2581": " "}
    return base64.b64encode(compile_charsmap(rules)).decode()


def compile_charsmap(rules: dict[str, str]) -> bytes:
    """A double-array trie as darts-clone lays it out, built without any cleverness."""
    pool, offsets = bytearray(), {}
    for key, value in rules.items():
        offsets[key] = len(pool)
        pool += value.encode() + b"\0"
    tree: dict = {}
    for key in rules:
        node = tree
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[0] = offsets[key]
    units: dict[int, int] = {0: 0}

    def place(at: int, node: dict) -> None:
        base = 1
        while any((base ^ byte) in units for byte in node) or (base ^ at) >= 1 << 21 or base == at:
            base += 1
        units[at] |= (base ^ at) << 10 | (1 << 8 if 0 in node else 0)
        for byte in node:
            units[base ^ byte] = byte if byte else node[0] | 1 << 31
        for byte, child in node.items():
            if byte:
                place(base ^ byte, child)

    place(0, tree)
    size = max(units) + 1
    array = b"".join((units.get(i, 0)).to_bytes(4, "little") for i in range(size + -size % 256))
    return len(array).to_bytes(4, "little") + array + bytes(pool)


def unigram(text: list[str], has_bytes: bool) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    extra = [f"<0x{b:02X}>" for b in range(256)] if has_bytes else []
    known = {c for c, _ in collections.Counter("".join(text)).most_common(250)}  # the others stay unknown
    text = ["".join(c for c in s if c in known) for s in text]
    tokenizer.train_from_iterator(text, trainers.UnigramTrainer(
        vocab_size=900, special_tokens=SPECIAL + extra, unk_token="<unk>"))
    source = json.loads(tokenizer.to_str())
    source["model"]["byte_fallback"] = has_bytes
    source["normalizer"] = {"type": "Sequence", "normalizers": [
        {"type": "Precompiled", "precompiled_charsmap": charsmap()}, *source["normalizer"]["normalizers"]]}
    tokenizer = Tokenizer.from_str(json.dumps(source))
    tokenizer.decoder = decoders.Metaspace()
    return finish(tokenizer)


def word_level(text: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.NFD(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(text, trainers.WordLevelTrainer(vocab_size=700, special_tokens=SPECIAL))
    return finish(tokenizer)


NORMALIZERS = {
    "NFC": normalizers.NFC(), "NFD": normalizers.NFD(), "NFKC": normalizers.NFKC(), "NFKD": normalizers.NFKD(),
    "Lowercase": normalizers.Lowercase(), "Strip": normalizers.Strip(), "StripLeft": normalizers.Strip(True, False),
    "StripAccents": normalizers.StripAccents(), "Nmt": normalizers.Nmt(), "ByteLevel": normalizers.ByteLevel(),
    "Bert": normalizers.BertNormalizer(), "BertCased": normalizers.BertNormalizer(lowercase=False),
    "BertPlain": normalizers.BertNormalizer(False, False, False, False),
    "Prepend": normalizers.Prepend("x"), "ReplaceString": normalizers.Replace("e", "(E)"),
    "ReplaceRegex": normalizers.Replace(Regex(r"[a-z]+"), "<w>"), "ReplaceSpaces": normalizers.Replace(Regex(r"\s{2,}"), " "),
    "Precompiled": normalizers.Precompiled(base64.b64decode(charsmap())),
}
PRE_TOKENIZERS = {
    "Bert": pre_tokenizers.BertPreTokenizer(), "ByteLevel": pre_tokenizers.ByteLevel(),
    "ByteLevelPlain": pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    "CharDelimiterSplit": pre_tokenizers.CharDelimiterSplit("e"), "Digits": pre_tokenizers.Digits(),
    "DigitsIndividual": pre_tokenizers.Digits(True), "FixedLength": pre_tokenizers.FixedLength(3),
    "Metaspace": pre_tokenizers.Metaspace(), "MetaspaceFirst": pre_tokenizers.Metaspace("_", "first", False),
    "MetaspaceNever": pre_tokenizers.Metaspace("_", "never"), "UnicodeScripts": pre_tokenizers.UnicodeScripts(),
    "Whitespace": pre_tokenizers.Whitespace(), "WhitespaceSplit": pre_tokenizers.WhitespaceSplit(),
    "SplitInverted": pre_tokenizers.Split(Regex(r"[a-z]+|[^a-z\s]+"), "removed", invert=True),
    "SplitEmpty": pre_tokenizers.Split(Regex(r"(?=[A-Z])"), "isolated"),
    "SplitEnd": pre_tokenizers.Split(Regex(r"\s+$|^\s+"), "isolated"),
    "SplitGpt2Previous": pre_tokenizers.Split(Regex(GPT2), "merged_with_previous"),
    **{f"Punctuation_{b}": pre_tokenizers.Punctuation(b)
       for b in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")},
    **{f"Split_{b}": pre_tokenizers.Split(" ", b)
       for b in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")},
}


def hashes(numbers: list[list[int]]) -> list[int]:
    return [fnv([n for s in numbers[i:i + GROUP] for n in (*s, END)]) for i in range(0, len(numbers), GROUP)]


def characters(text: str) -> list[int]:
    return [ord(c) for c in text]


def component_goldens(strings: list[str]) -> dict:
    strings = strings[:500]
    words = lambda rule, text: [n for word, _ in rule.pre_tokenize_str(text) for n in (*map(ord, word), END)]
    state = lambda part: json.loads(part.__getstate__())
    return {
        "normalizers": {
            name: {"part": state(p), "hashes": hashes([characters(p.normalize_str(s)) for s in strings])}
            for name, p in NORMALIZERS.items()},
        "pre_tokenizers": {name: {"part": state(p), "hashes": hashes([words(p, s) for s in strings])}
                           for name, p in PRE_TOKENIZERS.items()},
    }


def write(name: str, value: dict) -> None:
    (HERE / name).write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def main() -> None:
    rng = random.Random(20260202)
    text = training_text(rng)
    families = {
        "byte_level": byte_level(text), "prefix_space": prefix_space(text), "byte_fallback": byte_fallback(text, False),
        "metaspace": byte_fallback(text, True), "end_of_word": end_of_word(text), "continuing": continuing(text),
        "wordpiece": wordpiece(text), "unigram": unigram(text, False), "unigram_bytes": unigram(text, True),
        "word_level": word_level(text),
    }
    extra = (" <|left|>", "<|right|> ", "Hello", " Hello ", "<s>", "[SEP]", "stra\u00dfe", "STRASSE")
    strings = [random_string(rng) + (rng.choice(extra) + random_string(rng) if i % 3 == 0 else "") for i in range(COUNT)]
    golden = {"oracle": f"tokenizers {tokenizers.__version__}", "strings": strings, "families": {}}
    for name, tokenizer in families.items():
        tokenizer.save(str(HERE / f"{name}.json"), pretty=False)
        ids = [tokenizer.encode(s).ids for s in strings]
        golden["families"][name] = {
            "ids": hashes(ids), "texts": hashes([characters(tokenizer.decode(i)) for i in ids])}
    write("golden.json", golden)
    write("components.json", component_goldens(strings))


if __name__ == "__main__":
    main()
