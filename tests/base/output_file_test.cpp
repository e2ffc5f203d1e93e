// Files appear whole or not at all, and nothing else is left behind.
#include "base/output_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "base/error.h"
#include "temp_dir.h"
#include "test_data.h"

namespace arion {
namespace {

namespace fs = std::filesystem;

// With names while files are written, and without.
class OutputFileTest : public testing::TestWithParam<bool> {
 protected:
  fs::path path(const std::string& name) const { return folder_.path() / name; }
  OutputFileOptions options() const { return {.is_named = GetParam()}; }
  void write(const fs::path& to, std::string_view text) const {
    OutputFile file(to, options());
    file.write(text);
    file.commit();
  }
  std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(folder_.path()), {});
  }

  const test::TempDir folder_;
};

mode_t mode_of(const fs::path& path) {
  struct stat status = {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

TEST_P(OutputFileTest, WhatIsNotCommittedLeavesNothing) {
  folder_.write("old", "one");
  for (const char* name : {"old", "new"}) {
    OutputFile file(path(name), options());
    file.write("two");
    EXPECT_EQ(entries(), GetParam() ? 2 : 1);
  }
  EXPECT_EQ(entries(), 1);
  EXPECT_EQ(test::read_file(path("old")), "one");
}

TEST_P(OutputFileTest, CommitReplacesAndCommitNewDoesNot) {
  write(path("a"), "one");
  EXPECT_EQ(test::read_file(path("a")), "one");
  write(path("a"), "two");
  EXPECT_EQ(test::read_file(path("a")), "two");
  for (const char* name : {"a", "b"}) {
    OutputFile file(path(name), options());
    file.write("three");
    EXPECT_EQ(file.commit_new(), name == std::string_view("b"));
  }
  EXPECT_EQ(test::read_file(path("a")), "two");
  EXPECT_EQ(test::read_file(path("b")), "three");
  EXPECT_EQ(entries(), 2);
}

TEST_P(OutputFileTest, WhatIsReplacedMayBeRemovedBefore) {
  folder_.write("file", "old");
  fs::create_symlink("file", path("link"));
  OutputFile file(path("link"), options());
  file.write("new");
  file.remove_old();
  EXPECT_FALSE(fs::exists(path("file")));
  file.remove_old();
  file.commit();
  EXPECT_EQ(test::read_file(path("file")), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(entries(), 2);
}

TEST_P(OutputFileTest, FilesOfOthersInStickyFoldersAreRefusedAtOnce) {
  if (geteuid() != 0) GTEST_SKIP() << "needs files of two users";
  constexpr uid_t kNobody = 65534;
  folder_.write("file", "old");
  fs::permissions(path("file"), fs::perms(0666));
  fs::permissions(folder_.path(), fs::perms(01777));
  ASSERT_EQ(seteuid(kNobody), 0);
  std::string message;
  try {
    OutputFile(path("file"), options());
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_NO_THROW(OutputFile(path("another"), options()));
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_NE(message.find("not permitted"), std::string::npos) << message;
}

TEST_P(OutputFileTest, ModesFollowTheUmaskOrTheFileReplaced) {
  const mode_t before = umask(027);
  write(path("new"), "");
  folder_.write("old", "one");
  fs::permissions(path("old"), fs::perms(0751));
  write(path("old"), "two");
  OutputFile secret(path("secret"), {.is_private = true, .is_named = GetParam()});
  secret.commit();
  umask(before);
  EXPECT_EQ(mode_of(path("new")), 0640u);
  EXPECT_EQ(mode_of(path("old")), 0751u);
  EXPECT_EQ(mode_of(path("secret")), 0600u);
}

TEST_P(OutputFileTest, SymbolicLinksAreWrittenThrough) {
  fs::create_directory(path("folder"));
  folder_.write("folder/file", "one");
  fs::create_symlink("folder/file", path("link"));
  fs::create_hard_link(path("folder/file"), path("other"));
  write(path("link"), "two");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(test::read_file(path("folder/file")), "two");
  EXPECT_EQ(test::read_file(path("other")), "one");
}

TEST_P(OutputFileTest, WhatIsNoRegularFileIsRefusedAtOnce) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const int socket_file = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX};
  std::strncpy(address.sun_path, path("socket").c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(socket_file, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(socket_file);
  fs::create_symlink("nothing", path("dangling"));
  fs::create_symlink("loop", path("loop"));
  fs::create_symlink("pipe", path("piped"));
  fs::create_directory(path("folder"));
  folder_.write("file", "");
  std::vector<std::string> names = {
      "pipe",     "socket",    "dangling",    "loop",      "piped",   "folder",     "folder/",
      "folder/.", "folder/..", "absent/file", "file/file", "absent/", "absent/../x"};
  // Only some users may make one, and no real one is put at risk.
  if (mknod(path("device").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) names.push_back("device");
  const std::ptrdiff_t before = entries();
  const auto refusal = [&](const fs::path& name) {
    try {
      OutputFile(name, options()).commit();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("'" + name.string() + "'"), std::string::npos)
          << error.what();
      return error.code();
    }
    ADD_FAILURE() << name << " was written";
    return ErrorCode::overloaded;
  };
  for (const std::string& name : names) {
    EXPECT_EQ(refusal(path(name)), ErrorCode::usage) << name;
  }
  for (const char* name : {"", ".", ".."}) EXPECT_EQ(refusal(name), ErrorCode::usage) << name;
  EXPECT_EQ(refusal(path(std::string(300, 'x'))), ErrorCode::failed);
  EXPECT_EQ(entries(), before);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_P(OutputFileTest, ADiskThatRefusesChangesNothing) {
  folder_.write("old", "one");
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{.rlim_cur = 1000, .rlim_max = limit.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(write(path("old"), std::string(2000, 'x')), Error);
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(test::read_file(path("old")), "one");
  EXPECT_EQ(entries(), 1);
}

INSTANTIATE_TEST_SUITE_P(Both, OutputFileTest, testing::Bool(), [](const auto& name) {
  return std::string(name.param ? "Named" : "Unnamed");
});

}  // namespace
}  // namespace arion
