#include "answer_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

#include "api/answer_format.h"
#include "base/error.h"
#include "base/output_file.h"
#include "base/write_all.h"
#include "input_file.h"
#include "text_lines.h"

namespace arion::app {
namespace {

using nlohmann::json;

constexpr std::string_view kLineHead = "{\"id\":\"batch_req_";

}  // namespace

AnswerFile::AnswerFile(const std::filesystem::path& path)
    // Without O_NONBLOCK a pipe would wait for a reader.
    : path_(path),
      file_(open(find_output_target(path).file.c_str(),
                 O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666)) {
  if (file_ < 0) refuse("cannot open");
  try {
    struct stat status = {};
    if (fstat(file_, &status) != 0) refuse("cannot read");
    if (!S_ISREG(status.st_mode)) {
      fail(ErrorCode::usage, "'{}' is no regular file", path_.string());
    }
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      fail(ErrorCode::usage, "'{}' is being written by another process", path_.string());
    }
    read_answers();
  } catch (...) {
    close(file_);
    throw;
  }
}

AnswerFile::~AnswerFile() {
  close(file_);
}

void AnswerFile::refuse(const char* what) const {
  fail(ErrorCode::failed, "{} '{}': {}", what, path_.string(), std::strerror(errno));
}

void AnswerFile::read_answers() {
  const std::string text = read_input_file(path_, "OUT");
  const size_t whole = text.rfind('\n') + 1;  // 0 where there is no line
  for_each_line(std::string_view(text).substr(0, whole), [&](std::string_view line, size_t number) {
    if (is_blank(line)) return;
    const json answer = json::parse(line, nullptr, false);
    const auto id = answer.is_object() ? answer.find("custom_id") : answer.end();
    if (!answer.is_object() || id == answer.end() || !id->is_string() ||
        !answer.contains("response")) {
      fail(ErrorCode::bad_input, "'{}', line {}: not an answer of a batch; name another file",
           path_.string(), number);
    }
    answered_.insert(id->get<std::string>());
  });
  if (whole == text.size()) return;
  const std::string_view half = std::string_view(text).substr(whole);
  if (!half.starts_with(kLineHead) && !kLineHead.starts_with(half)) {
    fail(ErrorCode::bad_input, "'{}' ends with what is no answer of a batch; name another file",
         path_.string());
  }
  if (ftruncate(file_, static_cast<off_t>(whole)) != 0) refuse("cannot write");
}

void AnswerFile::append(std::string_view custom_id, int status, std::string_view body) {
  const std::string id = random_id();
  const std::string line = fmt::format(
      "{}{}\",\"custom_id\":{},\"response\":{{\"status_code\":{},\"request_id\":\"req_{}\","
      "\"body\":{}}},\"error\":null}}\n",
      kLineHead, id, dump_json(custom_id), status, id, body);
  write_all(file_, std::as_bytes(std::span(line)), path_);
}

}  // namespace arion::app
