// Reading of the parts of tokenizer.json, one file each.
#pragma once
#include <optional>

#include "text/pipeline/json_reader.h"
#include "text/pipeline/pipeline.h"

namespace arion {

// How many parts a tokenizer may be made of. Sequences count too, which bounds their nesting.
class PartBudget {
 public:
  void take(const JsonObject& part);

 private:
  int left_ = 64;
};

[[noreturn]] void fail_part(const JsonObject& part, std::string_view type,
                            std::string_view supported);

// {"String": ..} or {"Regex": ..}, or a plain string, which is a literal.
std::unique_ptr<const Pattern> read_pattern(const JsonObject& part);
// What a replacement puts in; bounded, because every match grows the text by it.
std::string read_content(const JsonObject& part);
// A string of one character.
std::string read_char(const JsonObject& part, std::string_view key);

NormalizerPtr read_normalizer(const JsonObject& part, PartBudget& budget);
DecoderPtr read_decoder(const JsonObject& part, PartBudget& budget);

struct PreTokenizerPart {
  PieceCutterPtr cutter;
  // Set if the whole is: split as WordSplitter does by these, then spell bytes as characters.
  std::optional<std::vector<std::string>> byte_level_regexes;
};
PreTokenizerPart read_pre_tokenizer(const JsonObject& part, PartBudget& budget);

PostProcessor read_post_processor(const JsonObject& part, PartBudget& budget);

// The vocabulary and the model. `byte_level_regexes`: see above.
void read_model(const JsonObject& part,
                const std::optional<std::vector<std::string>>& byte_level_regexes,
                PipelineParts& parts);

}  // namespace arion
