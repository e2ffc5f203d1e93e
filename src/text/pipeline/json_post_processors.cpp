// Post-processors of tokenizer.json, as far as they add tokens to one text.
#include "base/error.h"
#include "text/pipeline/json_parts.h"

namespace arion {
namespace {

constexpr size_t kMostParts = 64;  // of a template, and ids of a special token

int32_t read_id(JsonElement element, const std::string& where) {
  return static_cast<int32_t>(json_integer(element, INT32_MAX, where));
}

Template::Part read_special(const JsonObject& part, const JsonObject& special) {
  const std::string_view name = special.string("id");
  Template::Part result = {.is_text = false, .ids = {}};
  for (const JsonElement id : part.object("special_tokens").object(name).array("ids")) {
    result.ids.push_back(read_id(id, part.where() + ".special_tokens"));
    if (result.ids.size() > kMostParts) {
      fail(ErrorCode::bad_input, "{}.special_tokens: more than {} ids for one token", part.where(),
           kMostParts);
    }
  }
  return result;
}

Template read_template(const JsonObject& part) {
  Template result;
  size_t texts = 0;
  for (const JsonElement element : part.array("single")) {
    const JsonObject item(element, part.where() + ".single");
    if (item.find("SpecialToken")) {
      result.parts.push_back(read_special(part, item.object("SpecialToken")));
    } else if (item.object("Sequence").string("id") == "A") {
      result.parts.push_back({});
      ++texts;
    }
    if (result.parts.size() > kMostParts || texts > 1) {
      fail(ErrorCode::bad_input, "{}.single: expected the text once and at most {} parts",
           part.where(), kMostParts);
    }
  }
  return result;
}

// BertProcessing and RobertaProcessing name their tokens as [text, id].
Template read_cls_and_sep(const JsonObject& part) {
  const auto id_of = [&part](std::string_view key) -> Template::Part {
    const JsonArray pair = part.array(key);
    const std::string where = part.where() + "." + std::string(key);
    if (pair.size() != 2) fail(ErrorCode::bad_input, "{}: expected a text and an id", where);
    return {.is_text = false, .ids = {read_id(pair.at(1), where)}};
  };
  return {.parts = {id_of("cls"), {}, id_of("sep")}};
}

}  // namespace

PostProcessor read_post_processor(const JsonObject& part, PartBudget& budget) {
  budget.take(part);
  const std::string_view type = part.string("type");
  if (type == "ByteLevel") return {};  // trims offsets only
  if (type == "TemplateProcessing") return {read_template(part)};
  if (type == "BertProcessing" || type == "RobertaProcessing") return {read_cls_and_sep(part)};
  if (type == "Sequence") {
    PostProcessor steps;
    for (const JsonElement element : part.array("processors")) {
      for (Template& step :
           read_post_processor(JsonObject(element, part.where() + ".processors"), budget)) {
        steps.push_back(std::move(step));
      }
    }
    return steps;
  }
  fail_part(part, type,
            "BertProcessing, ByteLevel, RobertaProcessing, Sequence, TemplateProcessing");
}

}  // namespace arion
