// Every length and place is checked against the bytes there are before it is used.
#include "io/panel_file.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "base/bulk_hash.h"
#include "base/error.h"
#include "io/gguf_header.h"
#include "io/split_name.h"

namespace arion {
namespace {

constexpr std::string_view kMagic = "ARNPANEL";
constexpr uint32_t kFileVersion = 1;
constexpr uint64_t kMaxPathBytes = 4096;
constexpr uint32_t kMaxSide = 1u << 30;  // rows and columns, so that they are ints

class Writer {
 public:
  template <typename T>
  void add(T value) {
    static_assert(std::is_arithmetic_v<T>);
    const auto* at = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), at, at + sizeof value);
  }
  void add(const std::string& text) {
    add(static_cast<uint32_t>(text.size()));
    const auto* at = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), at, at + text.size());
  }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& name) : rest_(bytes), name_(name) {}

  template <typename T>
  T take() {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string take_text(uint64_t limit, const char* what) {
    const auto size = take<uint32_t>();
    if (size > limit) refuse(what, size, limit);
    const auto text = take(size_t{size});
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }
  // Of things that take at least `each` bytes.
  size_t take_count(uint64_t limit, size_t each, const char* what) {
    const auto count = take<uint32_t>();
    if (count > limit || count > rest_.size() / each) {
      refuse(what, count, std::min<uint64_t>(limit, rest_.size() / each));
    }
    return count;
  }
  bool is_empty() const { return rest_.empty(); }

 private:
  std::span<const std::byte> take(size_t bytes) {
    if (bytes > rest_.size()) {
      fail(ErrorCode::bad_input, "{}: the table of a compiled model ends too early", name_);
    }
    const auto taken = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return taken;
  }
  [[noreturn]] void refuse(const char* what, uint64_t count, uint64_t limit) const {
    fail(ErrorCode::bad_input, "{}: {} is {}, at most {} can be", name_, what, count, limit);
  }

  std::span<const std::byte> rest_;
  const std::string& name_;
};

// Header and place of the table.
PanelFile read_header(std::span<const std::byte> bytes, const std::string& name) {
  const bool is_one = bytes.size() >= kPanelFileHeaderBytes &&
                      std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
  if (!is_one) fail(ErrorCode::bad_input, "{}: is not a compiled model", name);
  Reader header(bytes.first(kPanelFileHeaderBytes).subspan(kMagic.size()), name);
  const auto version = header.take<uint32_t>(), layout = header.take<uint32_t>();
  if (version != kFileVersion || layout != kPanelLayoutVersion) {
    fail(ErrorCode::bad_input,
         "{}: was compiled by another version (file {}, layout {}; expected {}, {}); compile the "
         "model again",
         name, version, layout, kFileVersion, kPanelLayoutVersion);
  }
  PanelFile file{.data_offset = header.take<uint64_t>(), .data_bytes = header.take<uint64_t>()};
  const auto table = header.take<uint64_t>();
  const bool is_inside = file.data_offset >= kPanelFileHeaderBytes &&
                         file.data_offset <= bytes.size() &&
                         file.data_bytes <= bytes.size() - file.data_offset;
  if (!is_inside || table != file.table_offset() || file.data_offset % kPanelFileAlignment != 0) {
    fail(ErrorCode::bad_input,
         "{}: holds {} bytes, but its weights lie at {} to {} and its table behind {}; the file is "
         "truncated or damaged",
         name, bytes.size(), file.data_offset, file.data_bytes, table);
  }
  return file;
}

void read_source(Reader& table, PanelFile& file) {
  const size_t files = table.take_count(kMaxSplitFiles, 44, "the number of source files");
  for (size_t i = 0; i < files; ++i) {
    SourceFile source{.name = table.take_text(kMaxPathBytes, "the length of a path")};
    source.size = table.take<uint64_t>();
    source.inode = table.take<uint64_t>();
    source.modified_ns = table.take<int64_t>();
    source.sample = table.take<uint64_t>();
    file.source.files.push_back(std::move(source));
    file.source_hashes.push_back(table.take<uint64_t>());
  }
  file.source.made = table.take<uint64_t>();
}

PackedTensor read_tensor(Reader& table, const std::string& name) {
  PackedTensor tensor{.name = table.take_text(GgufLimits::kNameBytes, "the length of a name"),
                      .gguf_type = table.take<uint32_t>()};
  const auto codec = table.take<uint8_t>(), mode = table.take<uint8_t>();
  const auto codes = table.take<uint8_t>(), is_matrix = table.take<uint8_t>();
  tensor.spec.zero = table.take<int32_t>();
  const auto rows = table.take<uint32_t>(), cols = table.take<uint32_t>();
  tensor.offset = table.take<uint64_t>();
  tensor.bytes = table.take<uint64_t>();
  const bool is_known = codec <= static_cast<uint8_t>(Codec::bf16) &&
                        mode <= static_cast<uint8_t>(ScaleMode::e32) &&
                        codes < kCodeTables.size() && is_matrix <= 1;
  if (!is_known || rows == 0 || rows > kMaxSide || cols == 0 || cols > kMaxSide) {
    fail(ErrorCode::bad_input, "{}: the entry of tensor {} makes no sense", name,
         printable(tensor.name));
  }
  tensor.spec.codec = static_cast<Codec>(codec);
  tensor.spec.mode = static_cast<ScaleMode>(mode);
  tensor.spec.table = static_cast<CodeTable>(codes);
  tensor.is_matrix = is_matrix == 1;
  tensor.rows = static_cast<int>(rows);
  tensor.cols = static_cast<int>(cols);
  return tensor;
}

void read_tensors(Reader& table, PanelFile& file, const std::string& name) {
  const size_t tensors = table.take_count(GgufLimits::kTensors, 48, "the number of tensors");
  uint64_t end = 0;
  for (size_t i = 0; i < tensors; ++i) {
    PackedTensor tensor = read_tensor(table, name);
    const uint64_t bytes = file.data_bytes;
    if (tensor.offset < end || tensor.offset % kPanelFileAlignment != 0 || tensor.offset > bytes ||
        tensor.bytes > bytes - tensor.offset) {
      fail(ErrorCode::bad_input,
           "{}: tensor {} lies at {} with {} bytes, expected a multiple of {} from {}, within {}",
           name, printable(tensor.name), tensor.offset, tensor.bytes, kPanelFileAlignment, end,
           bytes);
    }
    end = tensor.offset + tensor.bytes;
    file.tensors.push_back(std::move(tensor));
    file.tensor_hashes.push_back(table.take<uint64_t>());
  }
}

}  // namespace

PanelFile parse_panel_file(std::span<const std::byte> bytes, const std::string& name) {
  PanelFile file = read_header(bytes, name);
  const auto table = bytes.subspan(file.table_offset());
  if (table.size() < sizeof(uint64_t)) {
    fail(ErrorCode::bad_input, "{}: has no table; the file is truncated", name);
  }
  const auto content = table.first(table.size() - sizeof(uint64_t));
  if (Reader(table.subspan(content.size()), name).take<uint64_t>() != bulk_hash(content)) {
    fail(ErrorCode::bad_input, "{}: the table is damaged or truncated; compile the model again",
         name);
  }
  Reader reader(content, name);
  read_source(reader, file);
  read_tensors(reader, file, name);
  if (!reader.is_empty()) {
    fail(ErrorCode::bad_input, "{}: there are bytes behind the last tensor of the table", name);
  }
  return file;
}

std::vector<std::byte> panel_file_header(const PanelFile& file) {
  Writer out;
  const auto magic = std::as_bytes(std::span(kMagic));
  out.bytes().assign(magic.begin(), magic.end());
  out.add(kFileVersion);
  out.add(kPanelLayoutVersion);
  out.add(file.data_offset);
  out.add(file.data_bytes);
  out.add(file.table_offset());
  out.bytes().resize(kPanelFileHeaderBytes);
  return std::move(out.bytes());
}

std::vector<std::byte> panel_file_table(const PanelFile& file) {
  Writer out;
  out.add(static_cast<uint32_t>(file.source.files.size()));
  for (size_t i = 0; i < file.source.files.size(); ++i) {
    const SourceFile& source = file.source.files[i];
    out.add(source.name);
    out.add(source.size);
    out.add(source.inode);
    out.add(source.modified_ns);
    out.add(source.sample);
    out.add(file.source_hashes.at(i));
  }
  out.add(file.source.made);
  out.add(static_cast<uint32_t>(file.tensors.size()));
  for (size_t i = 0; i < file.tensors.size(); ++i) {
    const PackedTensor& tensor = file.tensors[i];
    out.add(tensor.name);
    out.add(tensor.gguf_type);
    for (const auto part :
         {static_cast<uint8_t>(tensor.spec.codec), static_cast<uint8_t>(tensor.spec.mode),
          static_cast<uint8_t>(tensor.spec.table), static_cast<uint8_t>(tensor.is_matrix)}) {
      out.add(part);
    }
    out.add(static_cast<int32_t>(tensor.spec.zero));
    out.add(static_cast<uint32_t>(tensor.rows));
    out.add(static_cast<uint32_t>(tensor.cols));
    out.add(tensor.offset);
    out.add(tensor.bytes);
    out.add(file.tensor_hashes.at(i));
  }
  out.add(bulk_hash(out.bytes()));
  return std::move(out.bytes());
}

}  // namespace arion
