// Packs into a buffer that is written in huge pages; hashes pieces side by side.
#include "assembly/model_compiler.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bulk_hash.h"
#include "base/error.h"
#include "base/fnv1a.h"
#include "base/output_file.h"
#include "graph/packed_layout.h"
#include "quant/panel.h"
#include "tensor/memory.h"

namespace arion {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
// Written at once: the workers wait meanwhile, and that wait is to be short beside the writing.
constexpr size_t kBufferBytes = 32 * kHugePage;
constexpr size_t kSourcePiece = size_t{4} << 20;

// One hash of the hashes of pieces of `piece` bytes; the last may be shorter.
uint64_t hash_pieces(std::span<const std::byte> bytes, size_t piece, WorkerPool& pool) {
  std::vector<uint64_t> hashes((bytes.size() + piece - 1) / piece);
  pool.for_each(static_cast<int>(hashes.size()), [&](int i) {
    const auto rest = bytes.subspan(static_cast<size_t>(i) * piece);
    hashes[static_cast<size_t>(i)] = bulk_hash(rest.first(std::min(piece, rest.size())));
  });
  Fnv1a sum;
  sum.add(std::as_bytes(std::span(hashes)));
  return sum.value();
}

// Reports bytes read out of a known total.
class Counter {
 public:
  Counter(uint64_t total, const CompileProgress& report) : total_(total), report_(report) {}
  void add(uint64_t bytes) {
    done_ += bytes;
    if (report_) report_(done_, total_);
  }

 private:
  uint64_t done_ = 0, total_;
  const CompileProgress& report_;
};

uint64_t bytes_of_sources(const Model& model) {
  uint64_t bytes = 0;
  for (const MappedFile& file : model.file.mappings()) bytes += file.bytes().size();
  return bytes;
}

// Reads a whole file in runs that end on pieces, whose pages are given back at once.
uint64_t hash_file(const MappedFile& file, WorkerPool& pool, Counter& counter) {
  constexpr size_t kRun = 16 * kSourcePiece;
  Fnv1a sum;
  for (size_t at = 0; at < file.bytes().size(); at += kRun) {
    const size_t bytes = std::min(kRun, file.bytes().size() - at);
    const uint64_t hash = hash_pieces(file.bytes().subspan(at, bytes), kSourcePiece, pool);
    sum.add(std::as_bytes(std::span(&hash, 1)));
    file.drop(at, bytes);
    counter.add(bytes);
  }
  return sum.value();
}

std::vector<uint64_t> hash_sources(const Model& model, WorkerPool& pool, Counter& counter) {
  std::vector<uint64_t> hashes;
  for (const MappedFile& file : model.file.mappings()) {
    hashes.push_back(hash_file(file, pool, counter));
  }
  return hashes;
}

// Gathers bytes and passes on whole huge pages of the file.
class HugePageWriter {
 public:
  HugePageWriter(OutputFile& file, size_t largest_piece)
      : file_(file), buffer_(std::max(kBufferBytes, largest_piece + kHugePage)) {}

  // Room for at least one piece.
  std::span<std::byte> room(size_t piece) {
    if (buffer_.size() - used_ < piece) pass_on(used_ / kHugePage * kHugePage);
    return {buffer_.data() + used_, buffer_.size() - used_};
  }
  void advance(size_t bytes) { used_ += bytes; }
  void add(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto to = room(1);
      const size_t count = std::min(to.size(), bytes.size());
      std::memcpy(to.data(), bytes.data(), count);
      advance(count);
      bytes = bytes.subspan(count);
    }
  }
  void finish() { pass_on(used_); }

 private:
  void pass_on(size_t bytes) {
    file_.write({buffer_.data(), bytes});
    std::memmove(buffer_.data(), buffer_.data() + bytes, used_ - bytes);
    used_ -= bytes;
  }

  OutputFile& file_;
  Memory buffer_;
  size_t used_ = 0;
};

// The bytes of a tensor that are packed and hashed as one.
size_t piece_of(const PackedTensor& tensor) {
  return tensor.is_matrix ? panel_bytes(tensor.spec, tensor.cols) : tensor.bytes;
}

// Packs one weight into the file and returns its hash.
uint64_t write_weight(const Weight& weight, const PackedTensor& tensor, WorkerPool& pool,
                      HugePageWriter& out) {
  const size_t piece = piece_of(tensor);
  Fnv1a sum;
  const auto count = static_cast<int>(tensor.bytes / piece);
  for (int done = 0; done < count;) {
    const auto room = out.room(piece);
    const int now =
        static_cast<int>(std::min(room.size() / piece, static_cast<size_t>(count - done)));
    if (tensor.is_matrix) {
      pack_panels(weight, done, now, pool, room.data());
    } else {
      unpack_vector(weight, room.data());
    }
    for (int i = 0; i < now; ++i) {
      const uint64_t hash = bulk_hash(room.subspan(static_cast<size_t>(i) * piece, piece));
      sum.add(std::as_bytes(std::span(&hash, 1)));
    }
    out.advance(static_cast<size_t>(now) * piece);
    done += now;
  }
  return sum.value();
}

}  // namespace

void compile_model(const Model& model, const std::filesystem::path& path, WorkerPool& pool,
                   const CompileProgress& on_progress) {
  auto key = read_source_key(model.file);
  if (!key) fail(ErrorCode::usage, "only a model in a file can be compiled");
  // Private ones are on the disk when they get their name: none can lose its weights and keep its
  // table when the power fails.
  OutputFile file(path, {.is_private = true});
  Counter counter(2 * bytes_of_sources(model), on_progress);
  PanelFile header{.source = std::move(*key), .tensors = packed_tensors(model.graph)};
  header.data_bytes = packed_layout(model.graph).bytes;
  size_t largest = 0;
  for (const PackedTensor& tensor : header.tensors) largest = std::max(largest, piece_of(tensor));

  HugePageWriter out(file, largest);
  out.add(panel_file_header(header));
  out.add(std::vector<std::byte>(header.data_offset - kPanelFileHeaderBytes));
  uint64_t written = 0;
  for (size_t w = 0; w < header.tensors.size(); ++w) {
    const PackedTensor& tensor = header.tensors[w];
    out.add(std::vector<std::byte>(tensor.offset - written));
    header.tensor_hashes.push_back(write_weight(model.graph.weights[w], tensor, pool, out));
    written = tensor.offset + tensor.bytes;
    const GgufTensor& source = model.file.require_tensor(tensor.name);
    model.file.drop(source);
    counter.add(source.data.size());
  }
  out.add(std::vector<std::byte>(header.data_bytes - written));
  header.source_hashes = hash_sources(model, pool, counter);
  out.add(panel_file_table(header));
  out.finish();
  file.commit();
}

void verify_compiled(const CompiledModel& compiled, const Model& model, WorkerPool& pool,
                     const CompileProgress& on_progress) {
  const PanelFile& header = compiled.header;
  Counter counter(bytes_of_sources(model) + header.data_bytes, on_progress);
  const std::vector<uint64_t> sources = hash_sources(model, pool, counter);
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] == header.source_hashes[i]) continue;
    fail(ErrorCode::bad_input, "{}: is not what it was when {} was compiled; compile it again",
         header.source.files[i].name, compiled.path.string());
  }
  const auto weights = compiled.file.bytes().subspan(header.data_offset, header.data_bytes);
  for (size_t t = 0; t < header.tensors.size(); ++t) {
    const PackedTensor& tensor = header.tensors[t];
    const auto bytes = weights.subspan(tensor.offset, tensor.bytes);
    if (hash_pieces(bytes, piece_of(tensor), pool) != header.tensor_hashes[t]) {
      fail(ErrorCode::bad_input, "{}: tensor {} is damaged; compile the model again",
           compiled.path.string(), printable(tensor.name));
    }
    compiled.file.drop(header.data_offset + tensor.offset, tensor.bytes);
    counter.add(tensor.bytes);
  }
}

}  // namespace arion
