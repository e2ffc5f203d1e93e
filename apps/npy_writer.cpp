// The .npy header, version 1.0, then rows as they come; close() notices a full disk.
#include "npy_writer.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/error.h"

namespace arion::app {

NpyWriter::NpyWriter(const std::string& path, size_t rows, size_t cols)
    : path_(path), out_(path, std::ios::binary) {
  if (!out_) fail(ErrorCode::failed, "cannot write {}", path);
  // Format 1.0: magic, version, header length; the header is padded to a multiple of 64 bytes.
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, cols);
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  const char prefix[10] = {'\x93',
                           'N',
                           'U',
                           'M',
                           'P',
                           'Y',
                           1,
                           0,
                           static_cast<char>(header.size() & 0xFF),
                           static_cast<char>(header.size() >> 8)};
  out_.write(prefix, sizeof prefix);
  out_ << header;
}

NpyWriter::~NpyWriter() {
  std::error_code error;
  if (!is_complete_ && std::filesystem::is_regular_file(path_, error)) {
    std::filesystem::remove(path_, error);
  }
}

void NpyWriter::append(std::span<const float> row) {
  out_.write(reinterpret_cast<const char*>(row.data()),
             static_cast<std::streamsize>(row.size_bytes()));
}

void NpyWriter::close() {
  out_.close();
  if (!out_) fail(ErrorCode::failed, "could not write all of {}; is the disk full?", path_);
  is_complete_ = true;
}

}  // namespace arion::app
