// config.json and generation_config.json of a Hugging Face folder, told in GGUF's metadata keys.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/gguf_writer.h"

namespace arion {

// What config.json says beyond metadata keys.
struct HfModel {
  std::string arch;                  // a row of spec_table.cpp
  bool is_tied = false;              // the head is the embedding, whatever else the files hold
  bool adds_one_to_norms = false;    // gains are stored less 1
  std::vector<float> rope_divisors;  // of a llama3 rotation: for rope_freqs.weight; else empty
};

// Understands the spellings of transformers 4 and 5. Adds the architecture's keys and, where
// `generation` recommends them, general.sampling.*. Throws Error{bad_input} naming `file` and key
// for missing or mistyped keys and for anything that would change the mathematics and is unknown.
HfModel convert_hf_config(const nlohmann::json& config,
                          const std::optional<nlohmann::json>& generation, const std::string& file,
                          GgufWriter& metadata);

}  // namespace arion
