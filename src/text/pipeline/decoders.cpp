// One class per decoder; most look at one token at a time.
#include "text/pipeline/decoders.h"

#include <algorithm>
#include <utility>

#include "text/growth.h"
#include "text/token_spelling.h"
#include "text/vocabulary.h"

namespace arion {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  std::string out;
  size_t at = 0;
  for (size_t found = text.find(from); found != std::string::npos; found = text.find(from, at)) {
    out.append(text, at, found - at);
    out += to;
    at = found + from.size();
  }
  if (at == 0) return;
  out.append(text, at);
  check_growth(text.size(), out.size());
  text = std::move(out);
}

// Undoes the spaces that splitting English at punctuation leaves.
void clean_up(std::string& text) {
  static constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},     {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},   {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
  };
  for (const auto& [from, to] : kRules) replace_all(text, from, to);
}

void join(std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += token;
  tokens.assign(1, std::move(text));
}

class BpeDecoder final : public Decoder {
 public:
  explicit BpeDecoder(std::string suffix) : suffix_(std::move(suffix)) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], suffix_, i + 1 < tokens.size() ? " " : "");
    }
  }
  void apply_inside(std::string& token, bool) const override { replace_all(token, suffix_, " "); }

 private:
  std::string suffix_;
};

class ByteFallbackDecoder final : public Decoder {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) apply_inside(token, false);
  }
  void apply_inside(std::string& token, bool) const override {
    if (const auto byte = parse_byte_token(token)) token.assign(1, static_cast<char>(*byte));
  }
};

class ByteLevelDecoder final : public Decoder {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) apply_inside(token, false);
    join(tokens);
  }
  void apply_inside(std::string& token, bool) const override {
    if (auto bytes = decode_byte_spelling(token)) token = std::move(*bytes);
  }
  bool fuses() const override { return true; }
};

class CtcDecoder final : public Decoder {
 public:
  CtcDecoder(std::string pad, std::string word_delimiter, bool cleans_up)
      : pad_(std::move(pad)), word_delimiter_(std::move(word_delimiter)), cleans_up_(cleans_up) {}
  void apply(std::vector<std::string>& tokens) const override {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    for (std::string& token : tokens) apply_inside(token, false);
    std::erase(tokens, "");
  }
  void apply_inside(std::string& token, bool) const override {
    replace_all(token, pad_, "");
    if (!cleans_up_) return;
    clean_up(token);
    replace_all(token, word_delimiter_, " ");
  }

 private:
  std::string pad_, word_delimiter_;
  bool cleans_up_;
};

class FuseDecoder final : public Decoder {
 public:
  void apply(std::vector<std::string>& tokens) const override { join(tokens); }
  void apply_inside(std::string&, bool) const override {}
  bool fuses() const override { return true; }
};

class MetaspaceDecoder final : public Decoder {
 public:
  MetaspaceDecoder(std::string replacement, bool has_prefix)
      : replacement_(std::move(replacement)), has_prefix_(has_prefix) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], replacement_, i == 0 && has_prefix_ ? "" : " ");
    }
  }
  void apply_inside(std::string& token, bool) const override {
    replace_all(token, replacement_, " ");
  }
  bool strips_first_space() const override { return has_prefix_; }

 private:
  std::string replacement_;
  bool has_prefix_;
};

class ReplaceDecoder final : public Decoder {
 public:
  ReplaceDecoder(std::unique_ptr<const Pattern> pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) apply_inside(token, false);
  }
  void apply_inside(std::string& token, bool) const override {
    std::vector<TextRange> matches;
    pattern_->find(token, matches);
    check_growth(token.size(), token.size() + matches.size() * content_.size());
    std::string out;
    size_t at = 0;
    for (const TextRange& match : matches) {
      out.append(token, at, match.begin - at);
      out += content_;
      at = match.end;
    }
    out.append(token, at);
    token = std::move(out);
  }

 private:
  std::unique_ptr<const Pattern> pattern_;
  std::string content_;
};

class SequenceDecoder final : public Decoder {
 public:
  explicit SequenceDecoder(std::vector<DecoderPtr> decoders) : decoders_(std::move(decoders)) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (const DecoderPtr& decoder : decoders_) decoder->apply(tokens);
  }
  void apply_inside(std::string& token, bool is_fused) const override {
    for (const DecoderPtr& decoder : decoders_) {
      decoder->apply_inside(token, is_fused);
      is_fused |= decoder->fuses();
    }
  }
  bool strips_first_space() const override {
    return std::any_of(decoders_.begin(), decoders_.end(),
                       [](const DecoderPtr& decoder) { return decoder->strips_first_space(); });
  }
  bool fuses() const override {
    return std::any_of(decoders_.begin(), decoders_.end(),
                       [](const DecoderPtr& decoder) { return decoder->fuses(); });
  }

 private:
  std::vector<DecoderPtr> decoders_;
};

class StripDecoder final : public Decoder {
 public:
  StripDecoder(std::string content, size_t start, size_t stop)
      : content_(std::move(content)), start_(start), stop_(stop) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) apply_inside(token, false);
  }
  void apply_inside(std::string& token, bool is_fused) const override {
    if (is_fused) return;
    size_t begin = 0, end = token.size();
    const std::string_view text = token;
    for (size_t i = 0; i < start_ && text.substr(begin).starts_with(content_); ++i) {
      begin += content_.size();
    }
    for (size_t i = 0; i < stop_ && text.substr(begin, end - begin).ends_with(content_); ++i) {
      end -= content_.size();
    }
    token = token.substr(begin, end - begin);
  }
  bool strips_first_space() const override { return start_ > 0 && content_ == " "; }

 private:
  std::string content_;
  size_t start_, stop_;
};

class WordPieceDecoder final : public Decoder {
 public:
  WordPieceDecoder(std::string prefix, bool cleans_up)
      : prefix_(std::move(prefix)), cleans_up_(cleans_up) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0) {
        apply_inside(tokens[i], false);
      } else if (cleans_up_) {
        clean_up(tokens[i]);
      }
    }
  }
  void apply_inside(std::string& token, bool) const override {
    if (token.starts_with(prefix_)) {
      token.erase(0, prefix_.size());
    } else {
      token.insert(0, " ");
    }
    if (cleans_up_) clean_up(token);
  }
  bool strips_first_space() const override { return true; }

 private:
  std::string prefix_;
  bool cleans_up_;
};

}  // namespace

DecoderPtr make_bpe_decoder(std::string suffix) {
  return std::make_unique<BpeDecoder>(std::move(suffix));
}

DecoderPtr make_byte_fallback_decoder() {
  return std::make_unique<ByteFallbackDecoder>();
}

DecoderPtr make_byte_level_decoder() {
  return std::make_unique<ByteLevelDecoder>();
}

DecoderPtr make_ctc_decoder(std::string pad, std::string word_delimiter, bool cleans_up) {
  return std::make_unique<CtcDecoder>(std::move(pad), std::move(word_delimiter), cleans_up);
}

DecoderPtr make_fuse_decoder() {
  return std::make_unique<FuseDecoder>();
}

DecoderPtr make_metaspace_decoder(std::string replacement, bool has_prefix) {
  return std::make_unique<MetaspaceDecoder>(std::move(replacement), has_prefix);
}

DecoderPtr make_replace_decoder(std::unique_ptr<const Pattern> pattern, std::string content) {
  return std::make_unique<ReplaceDecoder>(std::move(pattern), std::move(content));
}

DecoderPtr make_sequence_decoder(std::vector<DecoderPtr> decoders) {
  return std::make_unique<SequenceDecoder>(std::move(decoders));
}

DecoderPtr make_strip_decoder(std::string content, size_t start, size_t stop) {
  return std::make_unique<StripDecoder>(std::move(content), start, stop);
}

DecoderPtr make_wordpiece_decoder(std::string prefix, bool cleans_up) {
  return std::make_unique<WordPieceDecoder>(std::move(prefix), cleans_up);
}

}  // namespace arion
