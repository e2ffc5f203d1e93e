// The number of files that may be open.
#pragma once
#include <sys/resource.h>

#include <cstddef>
#include <cstdint>

namespace arion::app {

// Raises the limit to what the system allows; returns the one that holds.
inline size_t raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return SIZE_MAX;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

}  // namespace arion::app
