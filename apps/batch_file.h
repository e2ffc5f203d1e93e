// Files of OpenAI's Batch API: requests one per line, and their answers.
//   {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {...}}
//   {"id": ..., "custom_id": "a", "response": {"status_code": 200, "request_id": ..., "body":
//   {...}},
//    "error": null}
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "api/generation_request.h"

namespace arion::app {

struct BatchRequest {
  std::string custom_id;
  Dialect dialect = Dialect::completion;
  std::string_view body;  // JSON, within the text that was parsed
};

// All requests of a file. Throws Error{bad_input} naming the line for what is no request, and for
// an id that occurs twice; empty lines are skipped.
std::vector<BatchRequest> parse_batch(std::string_view text);

// The seed of a request that gives none: a function of its id, so that a batch has the same answers
// however often it is interrupted, and whatever runs beside it. 53 bits.
uint64_t seed_of(std::string_view custom_id);

// The file of answers; several processes do not share one. Every answer is a line of its own from
// the moment it is known, so what an interrupted batch leaves behind can be continued.
class AnswerFile {
 public:
  // Goes on with a file that exists; the half line of a crash at its end is cut off. Throws Error:
  // usage when the file is no regular one, or another process writes it; bad_input naming the line
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
