// Tokenizers in files other than tokenizer.json.
#pragma once
#include <string>
#include <string_view>

#include "text/pipeline/pipeline.h"
#include "text/pipeline/tokenizer_config.h"

namespace arion {

// All throw Error{bad_input}, which names `name` and what is wrong.

// Lines of base64 and rank. The file does not say how a text is split: that is known for
// vocabularies of OpenAI, Llama 3, Qwen and Kimi, recognised by their number of tokens.
PipelineParts read_tiktoken(std::string_view text, const std::string& name);

// tekken.json of Mistral. Adds BOS.
PipelineParts read_tekken(std::string_view json, const std::string& name);

// vocab.json and merges.txt of byte-level BPE; `config` says how a text is split by the class it
// names.
PipelineParts read_vocab_and_merges(std::string_view vocab_json, std::string_view merges,
                                    const TokenizerConfig& config, const std::string& name);

// vocab.txt of BERT, one token a line.
PipelineParts read_vocab_txt(std::string_view text, const TokenizerConfig& config,
                             const std::string& name);

}  // namespace arion
