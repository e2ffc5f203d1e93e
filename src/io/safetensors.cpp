// Strict reading of safetensors headers.
#include "io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "io/gguf_metadata.h"
#include "io/json_text.h"

namespace arion {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxHeader = 100'000'000;
constexpr size_t kMaxTensors = 1'000'000;
constexpr size_t kMaxDims = 8;

struct ElementType {
  std::string_view name;
  uint64_t bytes;
};
constexpr ElementType kElementTypes[] = {
    {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1},
    {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
    {"U32", 4},  {"F32", 4}, {"F64", 8}, {"I64", 8},     {"U64", 8},
};

class Parser {
 public:
  Parser(std::span<const std::byte> file, const std::string& name) : file_(file), name_(name) {}

  std::vector<SafetensorsTensor> parse() {
    uint64_t header_bytes = 0;
    if (file_.size() < sizeof header_bytes) refuse("the file is too short for a header");
    std::memcpy(&header_bytes, file_.data(), sizeof header_bytes);
    if (header_bytes > kMaxHeader || header_bytes > file_.size() - sizeof header_bytes) {
      refuse(fmt::format("the header is said to have {} bytes, the file has {}", header_bytes,
                         file_.size()));
    }
    const std::string_view text(reinterpret_cast<const char*>(file_.data()) + sizeof header_bytes,
                                header_bytes);
    if (!text.starts_with('{')) refuse("the header does not start with '{'");
    blob_ = file_.subspan(sizeof header_bytes + header_bytes);

    const json header = parse_json(text, name_);
    if (header.size() > kMaxTensors) refuse(fmt::format("more than {} tensors", kMaxTensors));
    std::vector<SafetensorsTensor> tensors;
    for (const auto& [key, value] : header.items()) {
      if (key == "__metadata__") {
        check_notes(value);
      } else {
        tensors.push_back(tensor(key, value));
      }
    }
    check_tiling(tensors);
    return tensors;
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fail(ErrorCode::bad_input, "{}: {}", name_, what);
  }
  [[noreturn]] void refuse(const std::string& tensor, std::string_view what) const {
    fail(ErrorCode::bad_input, "{}: tensor {} {}", name_, printable(tensor), what);
  }

  void check_notes(const json& notes) const {
    const bool is_map = notes.is_object() && std::ranges::all_of(notes, [](const json& value) {
                          return value.is_string();
                        });
    if (!is_map) refuse("__metadata__ is no map of strings");
  }

  SafetensorsTensor tensor(const std::string& name, const json& value) const {
    if (!value.is_object() || value.size() != 3 || !value.contains("dtype") ||
        !value.contains("shape") || !value.contains("data_offsets")) {
      refuse(name, "has no entry of dtype, shape and data_offsets");
    }
    const json& dtype = value["dtype"];
    const auto* type = std::ranges::find_if(kElementTypes, [&](const ElementType& t) {
      return dtype.is_string() && dtype == std::string(t.name);
    });
    if (type == std::end(kElementTypes)) {
      refuse(name, "has unknown type " + printable(dtype.dump(-1, ' ', true)));
    }
    SafetensorsTensor tensor{.name = name, .dtype = type->name, .shape = {}, .data = {}};
    uint64_t bytes = type->bytes;
    if (!value["shape"].is_array() || value["shape"].size() > kMaxDims) {
      refuse(name, fmt::format("has no shape of at most {} dimensions", kMaxDims));
    }
    for (const json& dim : value["shape"]) {
      tensor.shape.push_back(number(name, dim));
      if (__builtin_mul_overflow(bytes, tensor.shape.back(), &bytes)) {
        refuse(name, "has a shape that overflows");
      }
    }
    const json& offsets = value["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2) refuse(name, "has no two data_offsets");
    const uint64_t begin = number(name, offsets[0]), end = number(name, offsets[1]);
    if (begin > end || end > blob_.size() || end - begin != bytes) {
      refuse(name, fmt::format("lies at {} to {} of {} bytes, its shape needs {}", begin, end,
                               blob_.size(), bytes));
    }
    tensor.data = blob_.subspan(begin, bytes);
    return tensor;
  }

  uint64_t number(const std::string& name, const json& value) const {
    if (!value.is_number_unsigned()) refuse(name, "has a size that is no whole number");
    return value.get<uint64_t>();
  }

  // Sorts by offset; every byte must belong to one tensor.
  void check_tiling(std::vector<SafetensorsTensor>& tensors) const {
    const auto begin = [](const SafetensorsTensor& t) {
      return std::pair(t.data.data(), t.data.data() + t.data.size());  // empty ones first
    };
    std::ranges::sort(tensors, {}, begin);
    const std::byte* at = blob_.data();
    for (const SafetensorsTensor& tensor : tensors) {
      if (tensor.data.data() != at) refuse(tensor.name, "overlaps another or follows a gap");
      at += tensor.data.size();
    }
    if (at != blob_.data() + blob_.size()) {
      refuse(fmt::format("{} bytes behind the last tensor", blob_.data() + blob_.size() - at));
    }
  }

  std::span<const std::byte> file_, blob_;
  const std::string& name_;
};

}  // namespace

std::vector<SafetensorsTensor> parse_safetensors(std::span<const std::byte> file,
                                                 const std::string& name) {
  return Parser(file, name).parse();
}

}  // namespace arion
