// The field numbers are those of sentencepiece_model.proto.
#include "text/sentencepiece_model.h"

#include "base/error.h"
#include "text/protobuf.h"

namespace arion {
namespace {

using Field = ProtobufReader::Field;

// TrainerSpec.model_type.
enum class ModelType : uint64_t { unigram = 1, bpe = 2, word = 3, character = 4 };

struct TrainerSpec {
  uint64_t model_type = 1;
  int64_t unknown = 0, bos = 1, eos = 2, padding = -1;
  bool has_byte_fallback = false;
  bool has_space_as_suffix = false;
};

void read_piece(std::string_view message, Vocabulary& vocabulary) {
  std::string piece;
  float score = 0;
  uint64_t type = 1;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == 1) piece = field->bytes;
    if (field->number == 2) score = field->as_float();
    if (field->number == 3) type = field->value;
  }
  if (type < 1 || type > 6) {
    fail(ErrorCode::bad_input, "piece {} has the type {}, expected 1 to 6",
         vocabulary.tokens.size(), type);
  }
  vocabulary.tokens.push_back(std::move(piece));
  vocabulary.scores.push_back(score);
  vocabulary.types.push_back(static_cast<TokenType>(type));
}

// Ids are int32, which a varint extends to 64 bits.
int64_t as_id(const Field& field) {
  return static_cast<int32_t>(static_cast<uint32_t>(field.value));
}

TrainerSpec read_trainer_spec(std::string_view message) {
  TrainerSpec spec;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    switch (field->number) {
      case 3:
        spec.model_type = field->value;
        break;
      case 24:
        spec.has_space_as_suffix = field->value != 0;
        break;
      case 35:
        spec.has_byte_fallback = field->value != 0;
        break;
      case 40:
        spec.unknown = as_id(*field);
        break;
      case 41:
        spec.bos = as_id(*field);
        break;
      case 42:
        spec.eos = as_id(*field);
        break;
      case 43:
        spec.padding = as_id(*field);
        break;
      default:
        break;
    }
  }
  return spec;
}

void read_normalizer_spec(std::string_view message, Vocabulary& vocabulary) {
  // The defaults of the schema.
  vocabulary.add_space_prefix = true;
  vocabulary.remove_extra_whitespaces = true;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == 2) vocabulary.precompiled_charsmap = field->bytes;
    if (field->number == 3) vocabulary.add_space_prefix = field->value != 0;
    if (field->number == 4) vocabulary.remove_extra_whitespaces = field->value != 0;
    if (field->number == 5 && field->value == 0) {
      fail(ErrorCode::bad_input, "models that keep spaces as they are are not supported");
    }
  }
}

void set_special(const TrainerSpec& spec, Vocabulary& vocabulary) {
  const auto set = [&](std::optional<int32_t>& id, int64_t value) {
    if (value >= 0 && static_cast<size_t>(value) < vocabulary.tokens.size()) {
      id = static_cast<int32_t>(value);
    }
  };
  set(vocabulary.special.unknown, spec.unknown);
  set(vocabulary.special.bos, spec.bos);
  set(vocabulary.special.eos, spec.eos);
  set(vocabulary.special.padding, spec.padding);
  // The type counts, not the number, which may be left at its default.
  for (size_t id = 0; id < vocabulary.types.size(); ++id) {
    if (vocabulary.types[id] == TokenType::unknown) {
      vocabulary.special.unknown = static_cast<int32_t>(id);
    }
  }
}

Vocabulary read_model(std::string_view bytes) {
  Vocabulary vocabulary;
  TrainerSpec spec;
  read_normalizer_spec({}, vocabulary);
  ProtobufReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->kind != Field::Kind::bytes) continue;
    if (field->number == 1) read_piece(field->bytes, vocabulary);
    if (field->number == 2) spec = read_trainer_spec(field->bytes);
    if (field->number == 3) read_normalizer_spec(field->bytes, vocabulary);
  }
  if (vocabulary.tokens.empty()) fail(ErrorCode::bad_input, "there are no pieces");
  if (spec.has_space_as_suffix) {
    fail(ErrorCode::bad_input, "models with spaces behind words are not supported");
  }
  switch (static_cast<ModelType>(spec.model_type)) {
    case ModelType::unigram:
    case ModelType::character:  // every piece is one character, so there is one cut
      vocabulary.model = "t5";
      break;
    case ModelType::bpe:
      vocabulary.model = "llama";
      break;
    default:
      fail(ErrorCode::bad_input,
           "the model type is {}, supported are 1 (unigram), 2 (BPE) and 4 (characters)",
           spec.model_type);
  }
  set_special(spec, vocabulary);
  vocabulary.add_bos = false;
  vocabulary.add_eos = false;
  return vocabulary;
}

}  // namespace

Vocabulary read_sentencepiece_model(std::string_view bytes, const std::string& name) {
  try {
    return read_model(bytes);
  } catch (const Error& error) {
    throw Error(error.code(), name + ": SentencePiece model: " + error.what());
  }
}

}  // namespace arion
