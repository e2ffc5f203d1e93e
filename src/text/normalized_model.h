// A token model behind the normalization of SentencePiece.
#pragma once
#include <memory>
#include <utility>

#include "text/spm_normalizer.h"
#include "text/token_model.h"

namespace arion {

class NormalizedModel final : public TokenModel {
 public:
  NormalizedModel(SpmNormalizer normalizer, std::unique_ptr<const TokenModel> model)
      : normalizer_(std::move(normalizer)), model_(std::move(model)) {}

  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    const std::string normalized = normalizer_.apply(text);
    if (!normalized.empty()) model_->encode(normalized, ids);
  }
  std::string_view bytes(int32_t id) const override { return model_->bytes(id); }

 private:
  SpmNormalizer normalizer_;
  std::unique_ptr<const TokenModel> model_;
};

}  // namespace arion
