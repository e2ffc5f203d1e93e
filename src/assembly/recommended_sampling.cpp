#include "assembly/recommended_sampling.h"

#include <fmt/format.h>

#include "io/gguf_value.h"
#include "sample/check_params.h"

namespace arion {
namespace {

template <typename Number>
void read(const GgufMetadata& metadata, std::string_view key, NumberRange range,
          std::optional<Number>& out, std::vector<std::string>& ignored) {
  const GgufEntry* entry = metadata.find(key);
  if (entry == nullptr) return;
  std::optional<double> value = load_float(entry->type, entry->payload.data());
  if (!value) {
    if (const auto whole = load_integer(entry->type, entry->payload.data())) {
      value = static_cast<double>(*whole);
    }
  }
  if (value && range.contains(*value)) {
    out = static_cast<Number>(*value);
  } else {
    ignored.push_back(
        fmt::format("the model recommends {} = {}, expected a number from {} to {}; ignored", key,
                    describe_value(*entry), range.low, range.high));
  }
}

}  // namespace

void RecommendedSampling::apply_to(SamplingParams& params) const {
  params.temperature = temperature.value_or(params.temperature);
  params.top_k = top_k.value_or(params.top_k);
  params.top_p = top_p.value_or(params.top_p);
  params.min_p = min_p.value_or(params.min_p);
}

RecommendedSampling read_recommended_sampling(const GgufMetadata& metadata) {
  RecommendedSampling out;
  read(metadata, "general.sampling.temp", kTemperatureRange, out.temperature, out.ignored);
  read(metadata, "general.sampling.top_k", kTopKRange, out.top_k, out.ignored);
  read(metadata, "general.sampling.top_p", kShareRange, out.top_p, out.ignored);
  read(metadata, "general.sampling.min_p", kShareRange, out.min_p, out.ignored);
  return out;
}

}  // namespace arion
