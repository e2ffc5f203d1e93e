#include "batch_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <unordered_set>

#include "api/api_error.h"
#include "base/fnv1a.h"
#include "text_lines.h"

namespace arion::app {
namespace {

constexpr size_t kMaxIdBytes = 512;

struct Url {
  std::string_view path;
  Dialect dialect;
};
constexpr Url kUrls[] = {{"/v1/chat/completions", Dialect::chat},
                         {"/v1/completions", Dialect::completion}};

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
    if (is_blank(line)) return;
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
  Fnv1a hash;
  hash.add(std::as_bytes(std::span(custom_id)));
  return hash.value() >> 11;
}

}  // namespace arion::app
