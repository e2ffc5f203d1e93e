#include "chat_source.h"

#include "chat/fallback_template.h"

namespace arion::app {

TemplateSources read_template_sources(const GgufMetadata& metadata) {
  constexpr std::string_view kKey = "tokenizer.chat_template", kNamed = "tokenizer.chat_template.";
  TemplateSources sources;
  sources.standard = std::string(metadata.get_string(kKey).value_or(""));
  for (const GgufEntry& entry : metadata.entries()) {
    if (!entry.key.starts_with(kNamed) || entry.type != GgufType::string) continue;
    const std::string_view source = metadata.require_string(entry.key);
    if (!source.empty()) sources.named.emplace(entry.key.substr(kNamed.size()), source);
  }
  return sources;
}

TemplateSources to_template_sources(std::vector<NamedTemplate> templates) {
  TemplateSources sources;
  for (NamedTemplate& source : templates) {
    if (source.name == "default") {
      sources.standard = std::move(source.text);
    } else {
      sources.named.emplace(std::move(source.name), std::move(source.text));
    }
  }
  return sources;
}

std::optional<ChatTemplate> make_chat_template(TemplateSources sources,
                                               const Tokenizer& tokenizer) {
  if (sources.standard.empty() && sources.named.empty()) {
    sources.standard = fallback_template(tokenizer);
    if (sources.standard.empty()) return std::nullopt;
  }
  return ChatTemplate(sources, special_texts(tokenizer));
}

}  // namespace arion::app
