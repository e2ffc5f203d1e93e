// Files that appear under their names whole or not at all.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace arion {

struct OutputFileOptions {
  bool is_private = false;  // mode 0600; else that of the file replaced, or 0666 less the umask
  bool is_named = false;    // while it is written, as where the file system has no unnamed files
};

// A file being written. It is opened at once, so that a name that cannot be used is known before
// any work; until it is committed, what has that name stays as it was. What is written has no name
// meanwhile, so that nothing is left behind however the program ends; on file systems that cannot
// do that it is .arion-*.partial in the same folder, which the destructor removes. Through a
// symbolic link the file that it points to is replaced; other names of that file (hard links) keep
// the old content. Not thread-safe.
class OutputFile {
 public:
  // Throws Error, naming `path`: usage when it is empty, a folder, a device, a pipe, a socket, a
  // link to nothing, or in no folder that exists; failed when the system does not allow it.
  explicit OutputFile(std::filesystem::path path, OutputFileOptions options = {});
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Throw Error{failed} when the disk refuses.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }

  // Each ends the writing: the bytes are on the disk, then have the name. Throw Error{failed}.
  void commit();      // in place of what had it
  bool commit_new();  // false, and nothing is changed, where something has it

 private:
  void check_name() const;
  void resolve();
  void open_unnamed(mode_t mode);
  void open_named(mode_t mode);
  void flush();
  bool take_name(const std::string& name);
  [[noreturn]] void refuse(int error) const;

  std::filesystem::path path_;    // as given
  std::filesystem::path target_;  // behind symbolic links
  std::optional<mode_t> mode_;    // of the file that is replaced
  std::string partial_;           // the name meanwhile; empty while there is none
  int file_ = -1;
};

}  // namespace arion
