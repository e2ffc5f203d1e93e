// The order of the parts: added tokens, normalizer, added tokens again, pre-tokenizer, model.
#include "text/pipeline/pipeline.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace arion {

Pipeline::Pipeline(PipelineParts parts)
    : parts_(std::move(parts)),
      added_tokens_(std::move(parts_.added_tokens), parts_.normalizer.get()),
      size_(parts_.vocabulary->tokens.size()) {
  for (const AddedToken& token : added_tokens_.tokens()) size_ = std::max(size_, token.id + 1);
  check_post_processor();
}

void Pipeline::check_post_processor() const {
  for (const Template& step : parts_.post_processor) {
    for (const Template::Part& part : step.parts) {
      for (const int32_t id : part.ids) {
        if (id < size_) continue;
        fail(ErrorCode::bad_input, "post_processor has the id {}, but there are only {} tokens", id,
             size_);
      }
    }
  }
}

std::vector<int32_t> Pipeline::encode(std::string_view text,
                                      std::span<const TextRange> control_ranges) const {
  const bool is_all_control = control_ranges.size() == 1 && control_ranges[0].begin == 0 &&
                              control_ranges[0].end >= text.size();
  std::vector<int32_t> ids;
  for (const auto& [begin, end, id] : added_tokens_.cut_raw(text, control_ranges)) {
    if (id) {
      ids.push_back(*id);
    } else {
      encode_text(text.substr(begin, end - begin), begin == 0, is_all_control, ids);
    }
  }
  return ids;
}

void Pipeline::encode_text(std::string_view text, bool starts_text, bool finds_special,
                           std::vector<int32_t>& ids) const {
  std::string normalized;
  if (parts_.normalizer) {
    normalized = text;
    starts_text &= parts_.normalizer->apply(normalized);
    text = normalized;
  }
  for (const auto& [begin, end, id] : added_tokens_.cut_normalized(text, finds_special)) {
    if (id) {
      ids.push_back(*id);
    } else {
      encode_words(text.substr(begin, end - begin), starts_text && begin == 0, ids);
    }
  }
}

void Pipeline::encode_words(std::string_view text, bool starts_text,
                            std::vector<int32_t>& ids) const {
  if (parts_.fast_model) return parts_.fast_model->encode(text, ids);
  Pieces pieces = {std::string(text), {{0, text.size(), starts_text}}};
  if (parts_.pre_tokenizer) parts_.pre_tokenizer->apply(pieces);
  parts_.model->encode(pieces, ids);
}

std::vector<int32_t> Pipeline::add_special(std::vector<int32_t> ids) const {
  return apply(parts_.post_processor, std::move(ids));
}

std::string Pipeline::decode(std::span<const int32_t> ids, bool shows_control) const {
  std::vector<std::string> tokens;
  for (const int32_t id : ids) {
    if (!shows_control && is_special(id)) continue;
    const std::string_view shown = added_tokens_.shown(id);
    const std::string_view token = shown.empty() ? spelling(id) : shown;
    if (!token.empty()) tokens.emplace_back(token);
  }
  if (parts_.decoder) parts_.decoder->apply(tokens);
  std::string text;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0 && !parts_.decoder) text += ' ';
    text += tokens[i];
  }
  return text;
}

std::string Pipeline::decode_inside(int32_t id) const {
  const std::string_view shown = added_tokens_.shown(id);
  std::string token(shown.empty() ? spelling(id) : shown);
  if (parts_.decoder) {
    parts_.decoder->apply_inside(token, false);
  } else {
    token.insert(0, " ");
  }
  return token;
}

bool Pipeline::strips_first_space() const {
  return !parts_.decoder || parts_.decoder->strips_first_space();
}

std::string_view Pipeline::spelling(int32_t id) const {
  if (const AddedToken* token = added_tokens_.find(id)) return token->content;
  if (id < 0 || id >= parts_.vocabulary->tokens.size()) return {};
  return parts_.vocabulary->tokens[id];
}

TokenType Pipeline::type(int32_t id) const {
  if (is_special(id)) return TokenType::control;
  return added_tokens_.find(id) != nullptr ? TokenType::user_defined : TokenType::normal;
}

}  // namespace arion
