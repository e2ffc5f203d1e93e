// Answers of OpenAI's Batch API, one per line of a file:
//   {"id": "batch_req_...", "custom_id": "a", "response": {"status_code": 200,
//    "request_id": "req_...", "body": {...}}, "error": null}
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_set>

namespace arion::app {

// Several processes do not share one. Every answer is a line of its own from the moment it is
// known, so what an interrupted batch leaves behind can be continued. Not thread-safe.
class AnswerFile {
 public:
  // Goes on with a file that exists; the half line of a crash at its end is cut off. Throws Error:
  // usage like find_output_target, or when another process writes it; bad_input naming the line
  // when it holds anything but answers; failed when it cannot be written.
  explicit AnswerFile(const std::filesystem::path& path);
  ~AnswerFile();
  AnswerFile(const AnswerFile&) = delete;
  AnswerFile& operator=(const AnswerFile&) = delete;

  // Ids of the answers that were there already.
  const std::unordered_set<std::string>& answered() const { return answered_; }
  // `body` is JSON. Throws Error{failed}; then the file ends as before, or with half a line.
  void append(std::string_view custom_id, int status, std::string_view body);

 private:
  void read_answers();
  [[noreturn]] void refuse(const char* what) const;

  std::filesystem::path path_;
  int file_ = -1;
  std::unordered_set<std::string> answered_;
};

}  // namespace arion::app
