// What was typed in earlier chats.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace arion::app {

// ${XDG_STATE_HOME:-~/.local/state}/arion/history; empty when there is no home directory.
std::filesystem::path history_path();

// A file of JSON strings, one a line, that only its owner can read. Several programs may append to
// it at the same time. Entries of more than 64 KiB are not kept. What goes wrong with the file is a
// warning, once: chats work without it.
class HistoryFile {
 public:
  // An empty path keeps nothing.
  explicit HistoryFile(std::filesystem::path path);

  static constexpr size_t kMaxEntries = 1000;

  // The last entries, oldest first, at most kMaxEntries. Shortens a file that has become much
  // longer than that.
  std::vector<std::string> load();
  void append(std::string_view entry);

 private:
  void give_up(std::string_view what);

  std::filesystem::path path_;  // empty: given up
};

}  // namespace arion::app
