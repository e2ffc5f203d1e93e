// A pipeline and the configuration beside it made into a tokenizer.
#pragma once
#include "text/pipeline/pipeline.h"
#include "text/pipeline/tokenizer_config.h"
#include "text/pipeline/tokenizer_json.h"
#include "text/tokenizer.h"

namespace arion {

// Adds the configured tokens, with their flags; those that end or start a text become control
// tokens, so that no user can write them. Where the configuration says whether BOS and EOS are
// added, it overrides the post-processor. `new_ids`: for configured tokens that the vocabulary does
// not have.
Tokenizer make_tokenizer(PipelineParts parts, const TokenizerConfig& config,
                         NewIds new_ids = NewIds::next);

}  // namespace arion
