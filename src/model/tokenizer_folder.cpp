// Looks for the files that make a tokenizer and reads the best one.
#include "model/tokenizer_folder.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/mapped_file.h"
#include "text/pipeline/configured.h"
#include "text/pipeline/other_files.h"
#include "text/pipeline/tokenizer_json.h"
#include "text/sentencepiece_model.h"

namespace arion {
namespace {

namespace fs = std::filesystem;

// Views into a mapped file.
class TextFile {
 public:
  explicit TextFile(const fs::path& path) : file_(path), name_(path.filename().string()) {}
  std::string_view text() const {
    return {reinterpret_cast<const char*>(file_.bytes().data()), file_.bytes().size()};
  }
  const std::string& name() const { return name_; }

 private:
  MappedFile file_;
  std::string name_;
};

bool has_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// As in transformers, config.json counts where there is no generation_config.json.
std::vector<int32_t> read_ends(const fs::path& folder) {
  for (const char* name : {"generation_config.json", "config.json"}) {
    if (!has_file(folder / name)) continue;
    const TextFile file(folder / name);
    return read_end_ids(file.text(), file.name());
  }
  return {};
}

TokenizerConfig read_config(const fs::path& folder) {
  TokenizerConfig config;
  if (const fs::path path = folder / "tokenizer_config.json"; has_file(path)) {
    const TextFile file(path);
    config = read_tokenizer_config(file.text(), file.name());
  }
  config.ends = read_ends(folder);
  return config;
}

// Whether BOS and EOS are added: what the configuration says, else what the model family does.
Tokenizer read_sentencepiece(const TextFile& file, const TokenizerConfig& config) {
  Vocabulary vocabulary = read_sentencepiece_model(file.text(), file.name());
  const bool is_t5 = config.tokenizer_class.find("T5") != std::string::npos;
  vocabulary.add_bos = config.add_bos.value_or(vocabulary.model == "llama");
  vocabulary.add_eos = config.add_eos.value_or(is_t5);
  vocabulary.special.ends = config.ends;
  return Tokenizer(std::move(vocabulary));
}

// Two formats have the same name: lines of base64, and a message whose first field is a piece.
Tokenizer read_model_file(const fs::path& path, const TokenizerConfig& config) {
  const TextFile file(path);
  if (file.text().starts_with('\n')) return read_sentencepiece(file, config);
  return make_tokenizer(read_tiktoken(file.text(), file.name()), config, NewIds::as_asked);
}

// The first file with one of these endings, by name.
std::optional<fs::path> find_by_ending(const fs::path& folder,
                                       std::initializer_list<std::string_view> endings) {
  std::optional<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    for (const std::string_view ending : endings) {
      const bool is_better = !found || it->path() < *found;
      if (name.ends_with(ending) && is_better && has_file(it->path())) found = it->path();
    }
  }
  return found;
}

Tokenizer read_tokenizer(const fs::path& folder, const TokenizerConfig& config) {
  if (const fs::path path = folder / "tokenizer.json"; has_file(path)) {
    const TextFile file(path);
    return make_tokenizer(read_tokenizer_json(file.text(), file.name()), config);
  }
  if (const fs::path path = folder / "tekken.json"; has_file(path)) {
    const TextFile file(path);
    return make_tokenizer(read_tekken(file.text(), file.name()), config, NewIds::as_asked);
  }
  if (const fs::path path = folder / "tokenizer.model"; has_file(path)) {
    return read_model_file(path, config);
  }
  if (const auto path = find_by_ending(folder, {".tiktoken", ".model"})) {
    return read_model_file(*path, config);
  }
  if (const fs::path path = folder / "vocab.json"; has_file(path)) {
    const TextFile vocab(path), merges(folder / "merges.txt");
    return make_tokenizer(read_vocab_and_merges(vocab.text(), merges.text(), config, vocab.name()),
                          config, NewIds::as_asked);
  }
  if (const fs::path path = folder / "vocab.txt"; has_file(path)) {
    const TextFile file(path);
    return make_tokenizer(read_vocab_txt(file.text(), config, file.name()), config,
                          NewIds::as_asked);
  }
  fail(ErrorCode::usage,
       "{}: there is no tokenizer in this folder; expected tokenizer.json, tekken.json, "
       "tokenizer.model, *.tiktoken, *.model, vocab.json with merges.txt or vocab.txt",
       folder.string());
}

}  // namespace

std::vector<NamedTemplate> read_template_files(const fs::path& folder) {
  std::vector<NamedTemplate> templates;
  const fs::path standard = folder / "chat_template.jinja";
  if (has_file(standard)) templates.push_back({"default", std::string(TextFile(standard).text())});
  std::vector<fs::path> others;
  std::error_code error;
  fs::directory_iterator it(folder / "additional_chat_templates", error);
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".jinja" && has_file(it->path())) others.push_back(it->path());
  }
  std::sort(others.begin(), others.end());
  for (const fs::path& path : others) {
    templates.push_back({path.stem().string(), std::string(TextFile(path).text())});
  }
  return templates;
}

bool has_tokenizer(const fs::path& folder) {
  constexpr std::array<std::string_view, 4> kFiles = {"tokenizer.json", "tekken.json", "vocab.json",
                                                      "vocab.txt"};
  return find_by_ending(folder, {".tiktoken", ".model"}) ||
         std::ranges::any_of(kFiles,
                             [&](std::string_view name) { return has_file(folder / name); });
}

TokenizerFolder load_tokenizer_folder(const fs::path& folder) {
  TokenizerConfig config = read_config(folder);
  TokenizerFolder result{.tokenizer = read_tokenizer(folder, config),
                         .chat_templates = read_template_files(folder)};
  if (result.chat_templates.empty()) result.chat_templates = std::move(config.chat_templates);
  return result;
}

}  // namespace arion
