// Changes single keys and tensors of a model file in memory.
#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "model/tiny_model.h"

namespace arion::test {

struct Edit {
  std::vector<std::string> drop;  // keys and tensors
  std::function<void(GgufWriter&)> add = nullptr;
};

inline std::string edit_model(const std::string& bytes, const Edit& edit) {
  const GgufFile file = open_in_memory(bytes);
  auto is_dropped = [&](std::string_view name) {
    return std::ranges::find(edit.drop, name) != edit.drop.end();
  };
  GgufWriter writer;
  for (const GgufEntry& entry : file.metadata().entries()) {
    if (!is_dropped(entry.key)) writer.add_entry(entry);
  }
  for (const GgufTensor& tensor : file.tensors()) {
    if (is_dropped(tensor.name)) continue;
    writer.add_tensor(tensor.name, tensor.dims(), tensor.type,
                      std::vector<std::byte>(tensor.data.begin(), tensor.data.end()));
  }
  if (edit.add) edit.add(writer);
  return writer.bytes();
}

}  // namespace arion::test
