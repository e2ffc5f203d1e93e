#include "assembly/model_text.h"

#include <system_error>
#include <utility>
#include <vector>

#include "assembly/model_path.h"
#include "chat/fallback_template.h"
#include "io/gguf.h"
#include "model/tokenizer_folder.h"
#include "model/vocabulary_loader.h"

namespace arion {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// The one named "default" is the standard one.
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

// tokenizer.chat_template and tokenizer.chat_template.NAME.
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

ModelText read_folder_text(const fs::path& folder) {
  TokenizerFolder text = load_tokenizer_folder(folder);
  return {std::move(text.tokenizer), to_template_sources(std::move(text.chat_templates))};
}

TemplateSources read_sources(const fs::path& path, const GgufMetadata& metadata) {
  auto files = read_template_files(path.parent_path().empty() ? "." : path.parent_path());
  return files.empty() ? read_template_sources(metadata) : to_template_sources(std::move(files));
}

}  // namespace

ModelText load_model_text(std::string_view model) {
  const fs::path path = resolve_model(model);
  if (is_folder(path)) return read_folder_text(path);
  return read_model_text(path, GgufFile::open(path).metadata());
}

ModelText read_model_text(const fs::path& path, const GgufMetadata& metadata) {
  if (is_folder(path)) return read_folder_text(path);
  return {Tokenizer(load_vocabulary(metadata)), read_sources(path, metadata)};
}

std::optional<ChatTemplate> make_chat_template(const ModelText& text) {
  TemplateSources sources = text.templates;
  if (sources.standard.empty() && sources.named.empty()) {
    sources.standard = fallback_template(text.tokenizer);
    if (sources.standard.empty()) return std::nullopt;
  }
  return ChatTemplate(sources, special_texts(text.tokenizer));
}

}  // namespace arion
