#include "api/model_info.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/answer_format.h"
#include "api/api_error.h"

namespace arion {
namespace {

using nlohmann::ordered_json;

ordered_json model_card(const ServedModel& model, const std::string& name) {
  return {{"id", name},
          {"object", "model"},
          {"created", model.created},
          {"owned_by", "arion"},
          {"root", model.name()},
          {"parent", nullptr},
          {"max_model_len", model.context_tokens},
          {"permission", ordered_json::array()},
          {"meta", {{"n_ctx", model.context_tokens}, {"n_vocab", model.vocab}}}};
}

}  // namespace

std::string list_models(const ServedModel& model) {
  ordered_json cards = ordered_json::array();
  for (const std::string& name : model.names) cards.push_back(model_card(model, name));
  return dump_json({{"object", "list"}, {"data", std::move(cards)}});
}

std::string describe_model_card(const ServedModel& model, std::string_view name) {
  const auto found = std::ranges::find(model.names, name);
  if (found == model.names.end()) {
    throw ApiError(404, "NotFoundError",
                   fmt::format("there is no such model here, only '{}'", model.name()), "model",
                   "model_not_found");
  }
  return dump_json(model_card(model, *found));
}

std::string describe_tokenizer(const ServedModel& model) {
  ordered_json out = ordered_json::object();
  for (const auto& [name, text] : special_texts(model.tokenizer)) out[name] = text;
  out["chat_template"] =
      model.template_source.empty() ? ordered_json() : ordered_json(model.template_source);
  out["add_bos_token"] = model.tokenizer.adds_bos();
  out["add_eos_token"] = model.tokenizer.adds_eos();
  out["model_max_length"] = model.context_tokens;
  return dump_json(out);
}

}  // namespace arion
