// Finds the files, translates the names, and makes the few tensors that GGUF stores differently.
#include "model/hf_folder.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/error.h"
#include "io/ggml_types.h"
#include "io/json_text.h"
#include "io/safetensors.h"
#include "model/fp8.h"
#include "model/hf_config.h"
#include "model/hf_vocabulary.h"
#include "model/tokenizer_folder.h"
#include "model/vocabulary_writer.h"

namespace arion {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMaxConfigBytes = 16u << 20;
constexpr size_t kMaxFiles = 999;

std::optional<json> read_json(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  const MappedFile file(path);
  if (file.bytes().size() > kMaxConfigBytes) {
    fail(ErrorCode::bad_input, "{}: has {} bytes, expected at most {}", path.string(),
         file.bytes().size(), kMaxConfigBytes);
  }
  return parse_json({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()},
                    path.string());
}

// The safetensors files of a folder, relative to it.
std::vector<std::string> list_files(const fs::path& folder) {
  const auto index = read_json(folder / "model.safetensors.index.json");
  if (!index) return {"model.safetensors"};
  const std::string name = (folder / "model.safetensors.index.json").string();
  if (!index->is_object() || !index->contains("weight_map") ||
      !(*index)["weight_map"].is_object()) {
    fail(ErrorCode::bad_input, "{}: has no weight_map", name);
  }
  std::set<std::string> files;
  for (const json& file : (*index)["weight_map"]) {
    const bool is_plain = file.is_string() && !file.get<std::string>().empty() &&
                          file.get<std::string>().find_first_of("/\\") == std::string::npos &&
                          file != "." && file != "..";
    if (!is_plain) {
      fail(ErrorCode::bad_input, "{}: weight_map names {}, expected a file of this folder", name,
           printable(file.dump(-1, ' ', true)));
    }
    files.insert(file.get<std::string>());
    if (files.size() > kMaxFiles) {
      fail(ErrorCode::bad_input, "{}: names more than {} files", name, kMaxFiles);
    }
  }
  return {files.begin(), files.end()};
}

// "self_attn.q_proj" and so on, within a layer.
const std::map<std::string_view, std::string_view>& layer_parts(std::string_view arch) {
  using Map = std::map<std::string_view, std::string_view>;
  static const Map common = {
      {"input_layernorm", "attn_norm"},    {"post_attention_layernorm", "ffn_norm"},
      {"self_attn.q_proj", "attn_q"},      {"self_attn.k_proj", "attn_k"},
      {"self_attn.v_proj", "attn_v"},      {"self_attn.o_proj", "attn_output"},
      {"self_attn.q_norm", "attn_q_norm"}, {"self_attn.k_norm", "attn_k_norm"},
      {"mlp.gate_proj", "ffn_gate"},       {"mlp.up_proj", "ffn_up"},
      {"mlp.down_proj", "ffn_down"},
  };
  static const Map gemma = [] {
    Map map = common;
    map["post_attention_layernorm"] = "post_attention_norm";
    map["pre_feedforward_layernorm"] = "ffn_norm";
    map["post_feedforward_layernorm"] = "post_ffw_norm";
    return map;
  }();
  return arch == "gemma3" ? gemma : common;
}

// The GGUF name; the name itself when there is none, so that the model names it as left over.
std::string gguf_name(const std::string& name, std::string_view arch) {
  if (name == "model.embed_tokens.weight") return "token_embd.weight";
  if (name == "model.norm.weight") return "output_norm.weight";
  if (name == "lm_head.weight") return "output.weight";
  if (name == "lm_head.bias") return "output.bias";
  constexpr std::string_view kLayers = "model.layers.";
  if (!name.starts_with(kLayers)) return name;
  const size_t dot = name.find('.', kLayers.size());
  const size_t last = name.rfind('.');
  if (dot == std::string::npos || last <= dot) return name;
  const std::string_view number =
      std::string_view(name).substr(kLayers.size(), dot - kLayers.size());
  const auto& parts = layer_parts(arch);
  const auto part = parts.find(std::string_view(name).substr(dot + 1, last - dot - 1));
  if (part == parts.end()) return name;
  return fmt::format("blk.{}.{}{}", number, part->second, std::string_view(name).substr(last));
}

bool is_norm(std::string_view gguf) {
  return gguf.ends_with("_norm.weight");
}

class Folder {
 public:
  Folder(const fs::path& folder, FolderUse use) : path_(folder), use_(use) {}

  GgufFile open() {
    const std::string config_name = (path_ / "config.json").string();
    const auto config = read_json(config_name);
    if (!config) {
      fail(ErrorCode::usage, "{}: has no config.json; expected a Hugging Face model folder",
           path_.string());
    }
    GgufWriter metadata;
    model_ = convert_hf_config(*config, read_json(path_ / "generation_config.json"), config_name,
                               metadata);
    metadata.add_string("general.name", path_.filename().empty()
                                            ? path_.parent_path().filename().string()
                                            : path_.filename().string());
    for (const std::string& file : list_files(path_)) read(file);
    for (const SafetensorsTensor& tensor : tensors_) add(tensor);
    if (!model_.rope_divisors.empty()) {
      make("rope_freqs.weight", {model_.rope_divisors.size()}, model_.rope_divisors);
    }
    if (use_ == FolderUse::convert) {
      metadata.add_string("general.type", "model");
      add_tokenizer(*config, metadata);
    }
    const std::string bytes = metadata.bytes();
    const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
    parts_.metadata.assign(begin, begin + bytes.size());
    return GgufFile::assemble(std::move(parts_));
  }

 private:
  void read(const std::string& file) {
    const fs::path path = path_ / file;
    MappedFile mapping(path);
    const auto index = static_cast<uint16_t>(parts_.mappings.size());
    for (SafetensorsTensor& tensor : parse_safetensors(mapping.bytes(), path.string())) {
      file_of_.push_back(index);
      if (!by_name_.emplace(tensor.name, tensors_.size()).second) {
        fail(ErrorCode::bad_input, "{}: tensor {} occurs in two files", path.string(),
             printable(tensor.name));
      }
      tensors_.push_back(std::move(tensor));
    }
    parts_.mappings.push_back(std::move(mapping));
    parts_.file_names.push_back(path.string());
  }

  void add_tokenizer(const json& config, GgufWriter& metadata) const {
    if (!has_tokenizer(path_)) {
      metadata.add_string("tokenizer.ggml.model", "none");
      return;
    }
    const auto embedding =
        std::ranges::find(parts_.tensors, "token_embd.weight", &GgufTensor::name);
    if (embedding == parts_.tensors.end()) return;  // the model says that it is missing
    const TokenizerFolder folder = load_tokenizer_folder(path_);
    Vocabulary vocabulary = convert_vocabulary(path_, folder.tokenizer, embedding->rows());
    const auto complete = [&](std::optional<int32_t>& id, const char* key) {
      if (!id) id = token_id(config, key, embedding->rows());
    };
    complete(vocabulary.special.bos, "bos_token_id");
    complete(vocabulary.special.eos, "eos_token_id");
    complete(vocabulary.special.padding, "pad_token_id");
    add_vocabulary(vocabulary, metadata);
    add_chat_templates(folder.chat_templates, metadata);
  }

  // An id, or the first of several.
  static std::optional<int32_t> token_id(const json& config, const char* key, uint64_t count) {
    auto value = config.find(key);
    if (value == config.end()) return std::nullopt;
    const json& id = value->is_array() && !value->empty() ? value->front() : *value;
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= count) return std::nullopt;
    return id.get<int32_t>();
  }

  const SafetensorsTensor* find(const std::string& name) const {
    const auto it = by_name_.find(name);
    return it == by_name_.end() ? nullptr : &tensors_[it->second];
  }

  // Scales of fp8 weights are read with them; buffers and copies are what transformers ignores too.
  bool is_skipped(const std::string& name) const {
    if (name.ends_with(".rotary_emb.inv_freq")) return true;
    if (model_.is_tied && name == "lm_head.weight") return true;
    for (const std::string_view suffix :
         {"_scale_inv", "_scale", ".input_scale", ".activation_scale"}) {
      if (!name.ends_with(suffix)) continue;
      const size_t end = name.size() - suffix.size();
      const SafetensorsTensor* weight =
          find(suffix[0] == '.' ? name.substr(0, end) + ".weight" : name.substr(0, end));
      if (weight != nullptr && is_fp8(weight->dtype)) return true;
    }
    return false;
  }

  void add(const SafetensorsTensor& tensor) {
    if (is_skipped(tensor.name)) return;
    std::string name = gguf_name(tensor.name, model_.arch);
    const std::string& file = parts_.file_names[file_of(tensor)];
    if (name.size() > GgufLimits::kNameBytes || tensor.shape.empty() || tensor.shape.size() > 4) {
      fail(ErrorCode::bad_input, "{}: tensor {} is not part of such a model", file,
           printable(tensor.name));
    }
    for (const uint64_t dim : tensor.shape) {
      if (dim == 0)
        fail(ErrorCode::bad_input, "{}: tensor {} is empty", file, printable(tensor.name));
    }
    if (is_fp8(tensor.dtype)) {
      make(
          name, tensor.shape,
          expand_fp8(tensor, find(tensor.name + "_scale_inv"), find(tensor.name + "_scale"), file));
      return;
    }
    const GgmlType* type = find_ggml_type(tensor.dtype);
    if (type == nullptr ||
        (tensor.dtype != "F32" && tensor.dtype != "F16" && tensor.dtype != "BF16")) {
      fail(ErrorCode::bad_input, "{}: tensor {} has type {}, expected F32, F16, BF16 or fp8", file,
           printable(tensor.name), tensor.dtype);
    }
    if (model_.adds_one_to_norms && is_norm(name)) {
      make_gain(name, tensor, *type);
      return;
    }
    std::span<const std::byte> data = tensor.data;
    // Kernels and decoders read whole values.
    if (reinterpret_cast<uintptr_t>(data.data()) % type->block_bytes != 0) {
      parts_.values.emplace_back(data.begin(), data.end());
      data = parts_.values.back();
    }
    push(std::move(name), tensor.shape, type->id, data, file_of(tensor));
  }

  uint16_t file_of(const SafetensorsTensor& tensor) const {
    return file_of_[static_cast<size_t>(&tensor - tensors_.data())];
  }

  void push(std::string name, std::span<const uint64_t> shape, uint32_t type,
            std::span<const std::byte> data, uint16_t file) {
    parts_.tensor_names.push_back(std::move(name));
    GgufTensor tensor{.name = parts_.tensor_names.back(),
                      .ne = {1, 1, 1, 1},
                      .data = data,
                      .type = type,
                      .file = file,
                      .dim_count = static_cast<uint8_t>(shape.size())};
    for (size_t d = 0; d < shape.size(); ++d) tensor.ne[d] = shape[shape.size() - 1 - d];
    parts_.tensors.push_back(tensor);
  }

  void make(std::string name, std::span<const uint64_t> shape, std::span<const float> values) {
    const auto bytes = std::as_bytes(values);
    parts_.values.emplace_back(bytes.begin(), bytes.end());
    push(std::move(name), shape, find_ggml_type("F32")->id, parts_.values.back(), 0);
  }
  void make(std::string name, std::initializer_list<uint64_t> shape,
            std::span<const float> values) {
    make(std::move(name), std::span(shape.begin(), shape.size()), values);
  }

  // Gains stored less 1.
  void make_gain(const std::string& name, const SafetensorsTensor& tensor, const GgmlType& type) {
    std::vector<float> gains(tensor.data.size() / type.block_bytes);
    for (size_t i = 0; i < gains.size(); ++i) {
      const std::byte* at = tensor.data.data() + i * type.block_bytes;
      gains[i] = 1.0f + load_float_value(at, tensor.dtype);
    }
    make(name, tensor.shape, gains);
  }

  const fs::path path_;
  const FolderUse use_;
  HfModel model_;
  GgufFile::Parts parts_;
  std::vector<SafetensorsTensor> tensors_;
  std::vector<uint16_t> file_of_;          // parallel to tensors_
  std::map<std::string, size_t> by_name_;  // indices into tensors_
};

}  // namespace

GgufFile open_model(const fs::path& path, FolderUse use) {
  std::error_code error;
  return fs::is_directory(path, error) ? Folder(path, use).open() : GgufFile::open(path);
}

}  // namespace arion
