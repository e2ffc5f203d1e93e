// Which pages of other origins browsers let use a server (https://fetch.spec.whatwg.org, CORS
// protocol).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/http_message.h"

namespace arion {

// Immutable.
class CorsPolicy {
 public:
  // Origins such as "https://a.example:8080"; "*": all. Throws Error{usage} for what no browser
  // would call an origin.
  explicit CorsPolicy(const std::vector<std::string>& origins);

  // Headers of every answer to a request from `origin` (empty: no page's), each with its line end.
  std::string header_lines(std::string_view origin) const;
  // To the question that browsers ask ahead of a page's request, which shows no key. None: `head`
  // is no such question, or its origin is a stranger.
  std::optional<HttpReply> answer_preflight(const HttpRequest& head) const;

 private:
  bool allows(std::string_view origin) const;

  std::vector<std::string> origins_;  // in lower case
  bool allows_all_ = false;
};

}  // namespace arion
