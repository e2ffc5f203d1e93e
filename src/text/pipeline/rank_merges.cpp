// Each token is encoded with the tokens of lower rank, which leaves two of them.
#include "text/pipeline/rank_merges.h"

#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "text/token_spelling.h"

namespace arion {
namespace {

using Ranks = std::unordered_map<std::string_view, size_t>;

// Ends of the parts that merging leaves of `token` when only tokens below `limit` may be made.
std::vector<size_t> cut(std::string_view token, size_t limit, const Ranks& ranks) {
  std::vector<size_t> ends;
  for (size_t i = 1; i <= token.size(); ++i) ends.push_back(i);
  const auto rank_at = [&](size_t i) {  // of parts i and i + 1 together
    const size_t begin = i == 0 ? 0 : ends[i - 1];
    const auto found = ranks.find(token.substr(begin, ends[i + 1] - begin));
    return found == ranks.end() ? SIZE_MAX : found->second;
  };
  while (ends.size() > 2) {
    size_t best = 0, best_rank = limit;
    for (size_t i = 0; i + 1 < ends.size(); ++i) {
      if (const size_t rank = rank_at(i); rank < best_rank) {
        best = i;
        best_rank = rank;
      }
    }
    if (best_rank == limit) break;
    ends.erase(ends.begin() + static_cast<ptrdiff_t>(best));
  }
  return ends;
}

}  // namespace

MergeList merges_of_ranks(const std::vector<std::string>& tokens) {
  constexpr size_t kMostSteps = 1u << 30;  // o200k_base takes 2^25
  Ranks ranks;
  size_t steps = 0;
  for (size_t rank = 0; rank < tokens.size(); ++rank) {
    const std::string& token = tokens[rank];
    if (!token.empty()) ranks.emplace(token, rank);
    steps += token.size() * token.size();
    if (token.size() > kMostSteps || steps > kMostSteps) {
      fail(ErrorCode::bad_input, "token {} of the vocabulary makes it too long to merge", rank);
    }
  }
  MergeList merges;
  for (size_t rank = 0; rank < tokens.size(); ++rank) {
    const std::string_view token = tokens[rank];
    if (token.size() < 2) continue;
    const std::vector<size_t> ends = cut(token, rank, ranks);
    if (ends.size() != 2) continue;  // no merge makes it; as a whole word it may still be found
    merges.emplace_back(encode_byte_alphabet(token.substr(0, ends[0])),
                        encode_byte_alphabet(token.substr(ends[0])));
  }
  return merges;
}

}  // namespace arion
