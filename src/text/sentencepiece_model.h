// The model file of SentencePiece.
#pragma once
#include <string>
#include <string_view>

#include "text/vocabulary.h"

namespace arion {

// Reads a ModelProto: pieces, scores, types and the normalization. BPE becomes a vocabulary of the
// model "llama", a unigram or
// character model one of "t5". Throws Error{bad_input}, which names `name`, for bytes that are no
// such message and for models of words.
Vocabulary read_sentencepiece_model(std::string_view bytes, const std::string& name);

}  // namespace arion
