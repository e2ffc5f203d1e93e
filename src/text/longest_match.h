// The tokenizer of RWKV World: the longest token at each place.
#pragma once
#include <optional>

#include "text/special_matcher.h"
#include "text/token_model.h"
#include "text/token_table.h"
#include "text/vocabulary.h"

namespace arion {

// Tokens are byte strings. Where none matches, which the vocabularies in use avoid by having all
// bytes, the unknown token stands for all bytes up to the next match.
class LongestMatch final : public TokenModel {
 public:
  explicit LongestMatch(const Vocabulary& vocabulary);

  void encode(std::string_view text, std::vector<int32_t>& ids) const override;
  std::string_view bytes(int32_t id) const override { return bytes_[id]; }

 private:
  TokenBytes bytes_;
  std::optional<SpecialMatcher> matcher_;
  std::optional<int32_t> unknown_;
};

}  // namespace arion
