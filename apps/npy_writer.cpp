// The .npy header, version 1.0.
#include "npy_writer.h"

#include <fmt/format.h>

#include <string>

namespace arion::app {

NpyWriter::NpyWriter(OutputFile& out, size_t rows, size_t cols) : out_(out) {
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
  out_.write(std::as_bytes(std::span(prefix)));
  out_.write(header);
}

}  // namespace arion::app
