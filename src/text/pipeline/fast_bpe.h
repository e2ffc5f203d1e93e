// Byte-level BPE of tokenizer.json by the class that GGUF files use.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "text/pipeline/pipeline.h"

namespace arion {

// Sets the vocabulary and the model of `parts`. `byte_level_regexes`: the pre-tokenizer is
// WordSplitter by these, then bytes are spelled as characters; where the model allows it,
// `fast_model` does all the work.
void set_bpe_model(const std::vector<std::string>& tokens, const MergeList& merges,
                   WordBpeOptions options,
                   const std::optional<std::vector<std::string>>& byte_level_regexes,
                   PipelineParts& parts);

// Sets pre-tokenizer, model and decoder of byte-level BPE: a text is split by `regexes` one after
// the other, words become bytes in GPT-2's spelling, which tokens and merges use.
void set_byte_level_bpe(const std::vector<std::string>& tokens, const MergeList& merges,
                        const std::vector<std::string>& regexes, bool ignores_merges,
                        PipelineParts& parts);

}  // namespace arion
