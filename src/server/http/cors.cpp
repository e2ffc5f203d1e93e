#include "server/http/cors.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"

namespace arion {
namespace {

// Seconds that browsers may remember the answer for. Chromium's limit is 7200.
constexpr const char* kPreflightSeconds = "7200";

bool is_one_of(char c, std::string_view others) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || others.find(c) != others.npos;
}

// scheme://host[:port] as browsers write it: lower case, nothing behind.
bool is_origin(std::string_view text) {
  const size_t end = text.find("://");
  if (end == text.npos || end == 0 || end + 3 == text.size()) return false;
  const auto fits = [](std::string_view part, std::string_view others) {
    return std::ranges::all_of(part, [&](char c) { return is_one_of(c, others); });
  };
  return fits(text.substr(0, end), "+-.") && fits(text.substr(end + 3), ".-_:[]");
}

std::string read_origin(const std::string& text) {
  std::string origin = text;
  std::ranges::transform(origin, origin.begin(), [](unsigned char c) { return std::tolower(c); });
  if (origin != "*" && !is_origin(origin)) {
    fail(ErrorCode::usage, "'{}' is no origin, expected scheme://host[:port] without a path, or *",
         text);
  }
  return origin;
}

}  // namespace

CorsPolicy::CorsPolicy(const std::vector<std::string>& origins) {
  for (const std::string& text : origins) origins_.push_back(read_origin(text));
  allows_all_ = std::ranges::find(origins_, "*") != origins_.end();
}

bool CorsPolicy::allows(std::string_view origin) const {
  return !origin.empty() && (allows_all_ || std::ranges::find(origins_, origin) != origins_.end());
}

std::string CorsPolicy::header_lines(std::string_view origin) const {
  if (origins_.empty()) return {};
  const std::string vary = allows_all_ ? "" : "Vary: Origin\r\n";
  if (!allows(origin)) return vary;
  return "Access-Control-Allow-Origin: " + (allows_all_ ? "*" : std::string(origin)) + "\r\n" +
         vary + "Access-Control-Expose-Headers: Retry-After\r\n";
}

std::optional<HttpReply> CorsPolicy::answer_preflight(const HttpRequest& head) const {
  if (head.method != "OPTIONS" || head.header("access-control-request-method").empty() ||
      !allows(head.header("origin"))) {
    return std::nullopt;
  }
  HttpReply reply{.status = 204,
                  .headers = {{"Access-Control-Allow-Methods", "GET, HEAD, POST"},
                              {"Access-Control-Max-Age", kPreflightSeconds}}};
  // All that it asks for: "*" would leave out Authorization, and clients add headers of their own.
  const std::string_view asked = head.header("access-control-request-headers");
  if (!asked.empty() && std::ranges::all_of(asked, [](char c) { return is_one_of(c, "-_., "); })) {
    reply.headers.emplace_back("Access-Control-Allow-Headers", asked);
  }
  return reply;
}

}  // namespace arion
