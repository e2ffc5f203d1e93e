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

// Where bytes for a name go.
struct OutputTarget {
  std::filesystem::path file;  // behind symbolic links
  std::optional<mode_t> mode;  // of a file that exists
};

// Throws Error, naming `path`: usage when it is empty, a folder, a device, a pipe, a socket, a link
// to nothing, or in no folder that exists; failed when a file of that name may not be written.
OutputTarget find_output_target(const std::filesystem::path& path);

// A file being written. It is opened at once, so that a name that cannot be used is known before
// any work; until it is committed, what has that name stays as it was. What is written has no name
// meanwhile, so that nothing is left behind however the program ends; on file systems that cannot
// do that it is .arion-*.partial in the same folder, which the destructor removes. To replace a
// file it has such a name for a moment within commit(): a program killed just then leaves it there.
// Through a symbolic link the file that it points to is replaced; other names of that file (hard
// links) keep the old content. Not thread-safe.
class OutputFile {
 public:
  // Throws Error like find_output_target, and failed when the system does not allow a file there or
  // the one that has the name may not be replaced: it is another user's in a folder with the sticky
  // bit. What only the file system knows (such as an immutable file) shows in commit().
  explicit OutputFile(std::filesystem::path path, OutputFileOptions options = {});
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Throw Error{failed} when the disk refuses.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }

  // Removes what has the name, so that until commit() there is nothing; where there was something,
  // the bytes written so far are on the disk before. For files that are of use only together.
  // Throws Error{failed}.
  void remove_old();

  // Each ends the writing: the bytes have the name, and of a file that is private or replaces
  // another they are on the disk before. Throw Error{failed}.
  void commit();      // in place of what had it
  bool commit_new();  // false, and nothing is changed, where something has it

 private:
  void check_replaceable() const;
  void open_unnamed(mode_t mode);
  void open_named(mode_t mode);
  void flush();
  bool take_name(const std::string& name);
  [[noreturn]] void refuse(int error) const;

  std::filesystem::path path_;  // as given
  OutputTarget target_;
  std::string partial_;  // the name meanwhile; empty while there is none
  int file_ = -1;
};

}  // namespace arion
