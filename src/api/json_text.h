// JSON bodies from outside: their shape is bounded before anything is built from them.
#pragma once
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace arion {

// Levels and values at most: a body of a few bytes per value would take many times its size.
inline constexpr int kMaxJsonDepth = 100;
inline constexpr size_t kMaxJsonValues = size_t{4} << 20;

// A JSON object and where its values stand in the text.
class JsonObject {
 public:
  // `text` must outlive the object. Throws ApiError 400 for what is no JSON object, or is too deep
  // or too large.
  explicit JsonObject(std::string_view text);
  ~JsonObject();
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  const nlohmann::json& value() const { return *value_; }
  // A member as the text has it, with the order of its keys; empty where there is none.
  std::string_view source(std::string_view name) const;

 private:
  void scan(std::string_view text);

  std::map<std::string_view, std::string_view> sources_;  // names as written, in the text
  std::unique_ptr<nlohmann::json> value_;
};

}  // namespace arion
