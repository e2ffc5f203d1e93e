#include "model_tokenizer.h"

#include <system_error>

#include "io/gguf.h"
#include "model/tokenizer_folder.h"
#include "model/vocabulary_loader.h"
#include "model_path.h"

namespace arion::app {

Tokenizer load_model_tokenizer(std::string_view model) {
  const std::filesystem::path path = resolve_model(model);
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return load_tokenizer_folder(path).tokenizer;
  return Tokenizer(load_vocabulary(GgufFile::open(path).metadata()));
}

}  // namespace arion::app
