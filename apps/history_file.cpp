#include "history_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/error.h"
#include "base/output_file.h"
#include "terminal.h"
#include "text_lines.h"

namespace arion::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMaxEntryBytes = 64 << 10;
constexpr size_t kMaxFileBytes = 4 << 20;

std::string to_line(std::string_view entry) {
  return json(entry).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

// The end of the file, as much as is looked at; is_whole says whether that is all of it.
std::string read_end(int file, bool& is_whole) {
  struct stat status = {};
  if (fstat(file, &status) != 0) return {};
  const off_t begin = std::max<off_t>(0, status.st_size - static_cast<off_t>(kMaxFileBytes));
  is_whole = begin == 0;
  std::string text(static_cast<size_t>(status.st_size - begin), '\0');
  const ssize_t got = pread(file, text.data(), text.size(), begin);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

std::vector<std::string> parse_entries(std::string_view text) {
  std::vector<std::string> entries;
  for_each_line(text, [&](std::string_view line, size_t) {
    const json value = json::parse(line, nullptr, false);
    if (value.is_string()) entries.push_back(value.get<std::string>());
  });
  return entries;
}

}  // namespace

fs::path history_path() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return fs::path(state) / "arion/history";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return fs::path(home) / ".local/state/arion/history";
  return {};
}

HistoryFile::HistoryFile(fs::path path) : path_(std::move(path)) {}

void HistoryFile::give_up(std::string_view what) {
  log(LogLevel::warning, "the history is not kept: '{}': {}", path_.string(), what);
  path_.clear();
}

std::vector<std::string> HistoryFile::load() {
  if (path_.empty()) return {};
  // Opening a pipe would wait for its other end.
  const int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    if (errno != ENOENT) give_up(std::strerror(errno));
    return {};
  }
  struct stat status = {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(file);
    give_up("is no regular file");
    return {};
  }
  bool is_whole = true;
  std::vector<std::string> entries = parse_entries(read_end(file, is_whole));
  close(file);
  const bool is_long = !is_whole || entries.size() > 2 * kMaxEntries;
  if (entries.size() > kMaxEntries) entries.erase(entries.begin(), entries.end() - kMaxEntries);
  if (is_long) {
    std::string text;
    for (const std::string& entry : entries) text += to_line(entry);
    try {
      OutputFile file(path_, {.is_private = true});
      file.write(text);
      file.commit();
    } catch (const Error& error) {
      give_up(error.what());
    }
  }
  return entries;
}

void HistoryFile::append(std::string_view entry) {
  if (path_.empty() || entry.size() > kMaxEntryBytes) return;
  std::error_code error;
  if (fs::create_directories(path_.parent_path(), error)) {
    fs::permissions(path_.parent_path(), fs::perms::owner_all, error);
  }
  const int file = open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return give_up(std::strerror(errno));
  const std::string line = to_line(entry);
  // One write, so that lines of several programs do not mix.
  const bool is_written = fchmod(file, 0600) == 0 && write(file, line.data(), line.size()) ==
                                                         static_cast<ssize_t>(line.size());
  const int write_error = errno;
  close(file);
  if (!is_written) give_up(std::strerror(write_error));
}

}  // namespace arion::app
