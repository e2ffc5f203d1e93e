#include "base/write_all.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace arion {

void write_all(int file, std::span<const std::byte> bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      fail(ErrorCode::failed, "cannot write '{}': {}", path.string(),
           std::strerror(written < 0 ? errno : ENOSPC));
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

}  // namespace arion
