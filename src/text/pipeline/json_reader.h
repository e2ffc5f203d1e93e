// Reading of JSON objects with errors that name the place.
#pragma once
#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace arion {

using JsonElement = simdjson::dom::element;
using JsonArray = simdjson::dom::array;

// An object inside a document, which must outlive it. Getters throw Error naming the key when it is
// missing or has another type; a key with null counts as missing. Of equal keys the first counts.
class JsonObject {
 public:
  // `where`: the place as messages name it, such as "tokenizer.json: normalizer".
  JsonObject(JsonElement element, std::string where);

  const std::string& where() const { return where_; }
  // Nothing if it is missing or null.
  std::optional<JsonElement> find(std::string_view key) const;
  JsonElement require(std::string_view key) const;
  JsonObject object(std::string_view key) const;
  JsonArray array(std::string_view key) const;
  std::string_view string(std::string_view key) const;
  std::optional<std::string_view> find_string(std::string_view key) const;
  bool boolean(std::string_view key, bool if_missing) const;
  // Refuses what is not in [0, most].
  std::optional<uint64_t> find_integer(std::string_view key, uint64_t most) const;
  uint64_t integer(std::string_view key, uint64_t most) const;

  auto begin() const { return object_.begin(); }
  auto end() const { return object_.end(); }

 private:
  std::string where_;
  simdjson::dom::object object_;
};

// Typed access to a value named in messages.
std::string_view json_string(JsonElement element, std::string_view where);
uint64_t json_integer(JsonElement element, uint64_t most, std::string_view where);
double json_number(JsonElement element, std::string_view where);
JsonArray json_array(JsonElement element, std::string_view where);

// Parses a document, which must outlive what is read from the result. Throws Error naming `name`
// and the place; nesting is limited.
class JsonDocument {
 public:
  JsonDocument(std::string_view text, const std::string& name);
  JsonObject root() const { return JsonObject(root_, name_); }

 private:
  simdjson::dom::parser parser_;
  std::string name_;
  JsonElement root_;
};

}  // namespace arion
