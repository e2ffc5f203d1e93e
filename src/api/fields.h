// Members of a JSON object with their types and ranges checked.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace arion {

// A member that is null counts as absent. Everything throws ApiError 400 naming the member, its
// value and what is expected. The object must outlive this.
class Fields {
 public:
  // `path` goes before the names in messages, such as "stream_options.".
  explicit Fields(const nlohmann::json& object, std::string path = {})
      : object_(object), path_(std::move(path)) {}

  const nlohmann::json* find(const char* name) const;
  bool has(const char* name) const { return find(name) != nullptr; }

  // Within the range, ends included. A number such as 16.0 is an integer too.
  std::optional<int64_t> integer(const char* name, int64_t low, int64_t high) const;
  std::optional<double> number(const char* name, double low, double high) const;
  std::optional<bool> flag(const char* name) const;
  std::optional<std::string> text(const char* name) const;
  // A text, or a list of them.
  std::vector<std::string> texts(const char* name, size_t limit) const;
  std::vector<int32_t> token_ids(const char* name, size_t limit) const;
  std::optional<Fields> object(const char* name) const;

  // Refuses a member that would change the answer but is not supported. Members that are absent,
  // null or false are fine.
  void refuse_unsupported(const char* name) const;

 private:
  std::string full_name(const char* name) const { return path_ + name; }

  const nlohmann::json& object_;
  std::string path_;
};

// A token id of a list within `param`. The vocabulary is checked by the engine.
int32_t to_token_id(const nlohmann::json& value, std::string_view param);

// A value in messages: short, whatever it is.
std::string describe_json(const nlohmann::json& value);

}  // namespace arion
