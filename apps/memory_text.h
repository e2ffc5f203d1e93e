// How memory plans are shown.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/memory_plan.h"

namespace arion::app {

std::string memory_text(const MemoryPlan& plan, int threads);
nlohmann::ordered_json memory_json(const MemoryPlan& plan);

}  // namespace arion::app
