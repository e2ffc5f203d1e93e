// Which tokens are put around a text: the post-processors of tokenizer.json.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace arion {

// One step: tokens, and the places where the text goes.
struct Template {
  struct Part {
    bool is_text = true;
    std::vector<int32_t> ids;  // if it is not the text
  };
  std::vector<Part> parts;
};

// Steps one after the other. None: the text alone.
using PostProcessor = std::vector<Template>;

inline std::vector<int32_t> apply(const PostProcessor& steps, std::vector<int32_t> ids) {
  for (const Template& step : steps) {
    std::vector<int32_t> out;
    for (const Template::Part& part : step.parts) {
      const std::vector<int32_t>& from = part.is_text ? ids : part.ids;
      out.insert(out.end(), from.begin(), from.end());
    }
    ids = std::move(out);
  }
  return ids;
}

}  // namespace arion
