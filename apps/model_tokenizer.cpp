#include "model_tokenizer.h"

#include <system_error>

#include "chat_source.h"
#include "io/gguf.h"
#include "model/tokenizer_folder.h"
#include "model/vocabulary_loader.h"
#include "model_path.h"
#include "terminal.h"

namespace arion::app {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

ModelText read_folder_text(const fs::path& folder) {
  TokenizerFolder text = load_tokenizer_folder(folder);
  return {std::move(text.tokenizer), to_template_sources(std::move(text.chat_templates))};
}

TemplateSources read_sources(const fs::path& path, const GgufMetadata& metadata) {
  auto files = read_template_files(path.parent_path().empty() ? "." : path.parent_path());
  if (files.empty()) return read_template_sources(metadata);
  log(LogLevel::debug, "the chat template is that of the .jinja file beside {}", path.string());
  return to_template_sources(std::move(files));
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

}  // namespace arion::app
