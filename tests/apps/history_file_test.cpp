// The history of chats.
#include "history_file.h"

#include <sys/stat.h>

#include "base/error.h"
#include "program.h"

namespace arion::test {
namespace {

using app::HistoryFile;
using Entries = std::vector<std::string>;

mode_t mode_of(const std::filesystem::path& path) {
  struct stat status = {};
  stat(path.c_str(), &status);
  return status.st_mode & 07777;
}

TEST(HistoryFile, KeepsEntriesOfAllKindsForItsOwnerAlone) {
  const TempDir folder;
  const auto path = folder.path() / "state/arion/history";
  HistoryFile history(path);
  EXPECT_EQ(history.load(), Entries());
  history.append("one");
  history.append("two\nlines \"and\" \xc3\xa4");
  history.append(std::string(1 << 20, 'x'));
  EXPECT_EQ(HistoryFile(path).load(), (Entries{"one", "two\nlines \"and\" \xc3\xa4"}));
  EXPECT_EQ(mode_of(path), 0600);
  EXPECT_EQ(mode_of(path.parent_path()), 0700);
}

TEST(HistoryFile, PassesOverWhatIsNoEntry) {
  const TempDir folder;
  const auto path = folder.write("history", "\"a\"\n[[[\n{}\n\xff\n12\n\n\"b\"");
  EXPECT_EQ(HistoryFile(path).load(), (Entries{"a", "b"}));
}

TEST(HistoryFile, IsBounded) {
  const TempDir folder;
  std::string text;
  for (int i = 0; i < 2500; ++i) text += "\"" + std::to_string(i) + "\"\n";
  const auto path = folder.write("history", text);
  const Entries entries = HistoryFile(path).load();
  ASSERT_EQ(entries.size(), HistoryFile::kMaxEntries);
  EXPECT_EQ(entries.front(), "1500");
  EXPECT_EQ(entries.back(), "2499");
  EXPECT_LT(std::filesystem::file_size(path), text.size() / 2);
  EXPECT_EQ(HistoryFile(path).load(), entries);
}

TEST(HistoryFile, AFileThatCannotBeUsedIsAWarning) {
  const TempDir folder;
  HistoryFile history(folder.path());
  testing::internal::CaptureStderr();
  EXPECT_EQ(history.load(), Entries());
  history.append("one");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("the history is not kept"), std::string::npos) << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

}  // namespace
}  // namespace arion::test
