// How it is said whether a compiled model is used.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "assembly/compiled_model.h"

namespace arion::app {

// One line.
std::string compiled_text(const CompiledSearch& search);
// Path and bytes; null for none.
nlohmann::ordered_json compiled_json(const CompiledSearch& search);

}  // namespace arion::app
