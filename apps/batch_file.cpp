#include "batch_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "api/answer_format.h"
#include "api/api_error.h"
#include "input_file.h"

namespace arion::app {
namespace {

using nlohmann::json;

constexpr size_t kMaxIdBytes = 512;
constexpr std::string_view kLineHead = "{\"id\":\"batch_req_";

struct Url {
  std::string_view path;
  Dialect dialect;
};
constexpr Url kUrls[] = {{"/v1/chat/completions", Dialect::chat},
                         {"/v1/completions", Dialect::completion}};

// Calls use(line, number) for every line that is not empty, without its end.
template <typename Use>
void for_each_line(std::string_view text, const Use& use) {
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    ++number;
    at = end + 1;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) use(line, number);
  }
}

std::string read_id(const Fields& fields) {
  const auto id = fields.text("custom_id");
  if (!id || id->empty() || id->size() > kMaxIdBytes) {
    refuse("custom_id", "custom_id is {}, expected a text of 1 to {} bytes",
           id ? fmt::format("a text of {} bytes", id->size()) : "absent", kMaxIdBytes);
  }
  return *id;
}

BatchRequest parse_request(std::string_view line) {
  const JsonObject object(line);
  const Fields fields(object.value());
  BatchRequest request{.custom_id = read_id(fields)};
  if (const auto method = fields.text("method"); method && *method != "POST") {
    refuse("method", "method is '{}', expected POST", *method);
  }
  const auto url = fields.text("url");
  const auto known =
      std::ranges::find_if(kUrls, [&](const Url& candidate) { return candidate.path == url; });
  if (known == std::end(kUrls)) {
    refuse("url", "url is {}, expected {} or {}", url ? "'" + *url + "'" : "absent", kUrls[0].path,
           kUrls[1].path);
  }
  request.dialect = known->dialect;
  if (!fields.object("body")) refuse("body", "body is absent");
  request.body = object.source("body");
  return request;
}

}  // namespace

std::vector<BatchRequest> parse_batch(std::string_view text) {
  std::vector<BatchRequest> requests;
  std::unordered_set<std::string> ids;
  for_each_line(text, [&](std::string_view line, size_t number) {
    try {
      requests.push_back(parse_request(line));
    } catch (const Error& error) {
      fail(ErrorCode::bad_input, "line {}: {}", number, error.what());
    }
    if (!ids.insert(requests.back().custom_id).second) {
      fail(ErrorCode::bad_input, "line {}: custom_id '{}' occurs twice", number,
           requests.back().custom_id);
    }
  });
  return requests;
}

uint64_t seed_of(std::string_view custom_id) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : custom_id) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash >> 11;
}

AnswerFile::AnswerFile(const std::filesystem::path& path)
    // Without O_NONBLOCK a pipe would wait for a reader.
    : path_(path),
      file_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666)) {
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
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t written = write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) refuse("cannot write");
    rest.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace arion::app
