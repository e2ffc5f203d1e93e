// Walking, growing and pruning the tree. Which block goes next is the pools' order.
#include "cache/prefix_tree.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace arion {

struct PrefixNode {
  PrefixNode* parent = nullptr;       // null: a root
  const std::string* salt = nullptr;  // of a root
  std::vector<TokenId> tokens;        // kBlockTokens, or fewer in a leaf; none in a root
  std::vector<BlockId> blocks;        // [groups]; kNoBlock where there is none
  std::vector<std::unique_ptr<PrefixNode>> children;
  int cursors = 0;  // sequences that have their place here

  bool is_full() const { return tokens.size() == kBlockTokens; }
};

namespace {

constexpr BlockId kNoBlock = -1;

size_t common_tokens(std::span<const TokenId> a, std::span<const TokenId> b) {
  const size_t most = std::min(a.size(), b.size());
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(most), b.begin()).first -
      a.begin());
}

PrefixNode* find_full(const PrefixNode& parent, std::span<const TokenId> tokens) {
  for (const auto& child : parent.children) {
    if (child->is_full() && std::ranges::equal(child->tokens, tokens)) return child.get();
  }
  return nullptr;
}

// From the root, without it.
std::vector<PrefixNode*> path_to(PrefixNode* node) {
  std::vector<PrefixNode*> path;
  for (; node != nullptr && node->parent != nullptr; node = node->parent) path.push_back(node);
  std::reverse(path.begin(), path.end());
  return path;
}

int index_of(const PrefixCursor& cursor) {
  return cursor.tokens / kBlockTokens;
}

// The longest n <= `tokens` whose blocks are all there that position n can see. `path` has a node
// for every begun block of the tokens.
int usable_tokens(std::span<PrefixNode* const> path, std::span<const KvGroupSpec> groups,
                  int tokens) {
  for (bool is_usable = false; !is_usable;) {
    is_usable = true;
    for (size_t g = 0; g < groups.size(); ++g) {
      if (groups[g].window == 0) continue;  // nodes always have these
      const int first = groups[g].first_visible(tokens) / kBlockTokens;
      for (int i = blocks_for(tokens) - 1; i >= first; --i) {
        if (path[static_cast<size_t>(i)]->blocks[g] != kNoBlock) continue;
        tokens = i * kBlockTokens;
        is_usable = false;
        break;
      }
    }
  }
  return tokens;
}

}  // namespace

PrefixTree::PrefixTree(std::span<const KvGroupSpec> groups, std::span<KvPool> pools)
    : groups_(groups), pools_(pools) {
  for (const KvPool& pool : pools) owners_.emplace_back(static_cast<size_t>(pool.blocks()));
}

PrefixTree::~PrefixTree() {
  for (size_t g = 0; g < owners_.size(); ++g) {
    for (size_t b = 0; b < owners_[g].size(); ++b) {
      if (owners_[g][b] != nullptr) pools_[g].forget(static_cast<BlockId>(b));
    }
  }
}

PrefixMatch PrefixTree::find(std::string_view salt, std::span<const TokenId> tokens) const {
  const auto at = roots_.find(salt);
  if (at == roots_.end()) return {};
  std::vector<PrefixNode*> path;
  PrefixNode* node = at->second.get();
  std::span<const TokenId> rest = tokens;
  while (rest.size() >= kBlockTokens) {
    PrefixNode* child = find_full(*node, rest.first(kBlockTokens));
    if (child == nullptr) break;
    path.push_back(node = child);
    rest = rest.subspan(kBlockTokens);
  }
  size_t best = 0;
  PrefixNode* tail = nullptr;
  for (const auto& child : node->children) {
    const size_t common = common_tokens(child->tokens, rest);
    if (common <= best) continue;
    best = common;
    tail = child.get();
  }
  int matched = static_cast<int>(path.size()) * kBlockTokens + static_cast<int>(best);
  if (tail != nullptr) path.push_back(tail);
  matched = usable_tokens(path, groups_, matched);
  const auto full = static_cast<size_t>(matched / kBlockTokens);
  PrefixMatch match{.node = full == 0 ? at->second.get() : path[full - 1],
                    .full_tokens = static_cast<int>(full) * kBlockTokens};
  match.tail_tokens = matched - match.full_tokens;
  if (match.tail_tokens > 0) match.tail = path[full];
  return match;
}

PrefixCursor PrefixTree::enter(std::string_view salt, const PrefixMatch& match,
                               std::vector<BlockTable>& kv) {
  PrefixNode& node = match.node != nullptr ? *match.node : root(salt);
  const std::vector<PrefixNode*> path = path_to(&node);
  for (size_t g = 0; g < groups_.size(); ++g) {
    const auto first = static_cast<size_t>(groups_[g].first_visible(match.tokens()) / kBlockTokens);
    for (size_t i = 0; i < path.size(); ++i) {
      if (i < first) {
        kv[g].skip();
      } else {
        kv[g].share(pools_[g], path[i]->blocks[g]);
      }
    }
  }
  ++node.cursors;
  return {.node = &node, .tokens = match.full_tokens};
}

bool PrefixTree::copy_tail(const PrefixMatch& match, std::vector<BlockTable>& kv,
                           std::vector<BlockCopy>& copies) {
  const std::vector<BlockId> sources = match.tail->blocks;
  for (size_t g = 0; g < groups_.size(); ++g) pools_[g].retain(sources[g]);
  const bool has_room =
      std::ranges::all_of(pools_, [](const KvPool& pool) { return pool.available_blocks() > 0; });
  for (size_t g = 0; has_room && g < groups_.size(); ++g) {
    make_room(static_cast<int>(g), 1);
    CHECK(kv[g].grow(pools_[g], match.tokens()));
    copies.push_back(
        {.group = static_cast<int>(g), .from = sources[g], .to = kv[g].blocks().back()});
  }
  for (size_t g = 0; g < groups_.size(); ++g) pools_[g].release(sources[g]);
  return has_room;
}

void PrefixTree::publish(PrefixCursor& cursor, std::span<const TokenId> tokens,
                         std::vector<BlockTable>& kv) {
  std::span<const TokenId> rest = tokens.subspan(static_cast<size_t>(cursor.tokens));
  for (; rest.size() >= kBlockTokens; rest = rest.subspan(kBlockTokens)) {
    const auto block = rest.first(kBlockTokens);
    PrefixNode* child = find_full(*cursor.node, block);
    PrefixNode* tail = std::exchange(cursor.tail, nullptr);
    if (tail != nullptr) --tail->cursors;
    if (child != nullptr) {
      if (tail != nullptr) remove(*tail);
      adopt(*child, index_of(cursor), kv);
    } else if (tail != nullptr) {
      tail->tokens.assign(block.begin(), block.end());
      child = tail;
    } else {
      child = &add_child(*cursor.node, block);
      hold(*child, index_of(cursor), kv);
    }
    drop_covered(*cursor.node, *child);
    --cursor.node->cursors;
    ++child->cursors;
    cursor.node = child;
    cursor.tokens += kBlockTokens;
  }
}

void PrefixTree::publish_tail(PrefixCursor& cursor, std::span<const TokenId> tokens,
                              const std::vector<BlockTable>& kv) {
  const auto rest = tokens.subspan(static_cast<size_t>(cursor.tokens));
  CHECK(rest.size() < kBlockTokens);
  if (rest.empty()) return;
  if (cursor.tail != nullptr) {
    cursor.tail->tokens.assign(rest.begin(), rest.end());
  } else {
    const bool is_there = std::ranges::any_of(cursor.node->children, [&](const auto& child) {
      return common_tokens(child->tokens, rest) == rest.size();
    });
    if (is_there) return;
    cursor.tail = &add_child(*cursor.node, rest);
    ++cursor.tail->cursors;
    hold(*cursor.tail, index_of(cursor), kv);
  }
  drop_covered(*cursor.node, *cursor.tail);
}

void PrefixTree::leave(PrefixCursor& cursor) {
  if (cursor.tail != nullptr) --cursor.tail->cursors;
  if (cursor.node != nullptr) --cursor.node->cursors;
  prune(cursor.node);
  cursor = {};
}

void PrefixTree::make_room(int group, int blocks) {
  const auto g = static_cast<size_t>(group);
  while (pools_[g].free_blocks() < blocks && pools_[g].idle_blocks() > 0) evict_oldest(g);
}

void PrefixTree::forget_all_idle() {
  for (size_t g = 0; g < pools_.size(); ++g) make_room(static_cast<int>(g), pools_[g].blocks());
}

PrefixNode& PrefixTree::root(std::string_view salt) {
  auto at = roots_.find(salt);
  if (at == roots_.end()) {
    at = roots_.emplace(std::string(salt), std::make_unique<PrefixNode>()).first;
    at->second->salt = &at->first;
  }
  return *at->second;
}

PrefixNode& PrefixTree::add_child(PrefixNode& parent, std::span<const TokenId> tokens) {
  auto node = std::make_unique<PrefixNode>();
  node->parent = &parent;
  node->tokens.assign(tokens.begin(), tokens.end());
  node->blocks.assign(groups_.size(), kNoBlock);
  ++nodes_;
  parent.children.push_back(std::move(node));
  return *parent.children.back();
}

// Takes what the sequence has at that index for what the node has not.
void PrefixTree::hold(PrefixNode& node, int index, const std::vector<BlockTable>& kv) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (node.blocks[g] != kNoBlock || index < kv[g].first_live()) continue;
    const BlockId block = kv[g].blocks()[static_cast<size_t>(index)];
    pools_[g].keep(block);
    node.blocks[g] = block;
    owners_[g][static_cast<size_t>(block)] = &node;
  }
}

// Two sequences have computed the same block: one of them is enough.
void PrefixTree::adopt(PrefixNode& node, int index, std::vector<BlockTable>& kv) {
  hold(node, index, kv);
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (index < kv[g].first_live()) continue;
    if (kv[g].blocks()[static_cast<size_t>(index)] == node.blocks[g]) continue;
    kv[g].replace(pools_[g], index, node.blocks[g]);
  }
}

void PrefixTree::drop_block(PrefixNode& node, size_t group) {
  const BlockId block = std::exchange(node.blocks[group], kNoBlock);
  if (block == kNoBlock) return;
  owners_[group][static_cast<size_t>(block)] = nullptr;
  pools_[group].forget(block);
}

// Blocks that are begun and that nobody fills any more say nothing beside a longer one.
void PrefixTree::drop_covered(PrefixNode& parent, const PrefixNode& by) {
  for (size_t i = parent.children.size(); i-- > 0;) {
    PrefixNode& child = *parent.children[i];
    const bool is_covered = &child != &by && !child.is_full() && child.cursors == 0 &&
                            common_tokens(child.tokens, by.tokens) == child.tokens.size();
    if (is_covered) remove(child);
  }
}

// A node without children and cursors.
void PrefixTree::remove(PrefixNode& node) {
  CHECK(node.children.empty() && node.cursors == 0);
  if (node.parent == nullptr) {
    roots_.erase(roots_.find(*node.salt));
    return;
  }
  for (size_t g = 0; g < groups_.size(); ++g) drop_block(node, g);
  --nodes_;
  auto& siblings = node.parent->children;
  const auto at = std::ranges::find_if(siblings, [&](const auto& c) { return c.get() == &node; });
  std::swap(*at, siblings.back());
  siblings.pop_back();
}

bool PrefixTree::is_useless(const PrefixNode& node) const {
  if (!node.children.empty() || node.cursors > 0) return false;
  return std::ranges::all_of(node.blocks, [](BlockId block) { return block == kNoBlock; });
}

// Removes the node and what is above it, as far as it leads to nothing.
void PrefixTree::prune(PrefixNode* node) {
  while (node != nullptr && is_useless(*node)) {
    PrefixNode* parent = node->parent;
    remove(*node);
    node = parent;
  }
}

// Without a block of a group that has no window nobody can use the others.
void PrefixTree::evict_oldest(size_t group) {
  const BlockId block = *pools_[group].oldest_idle();
  PrefixNode* node = owners_[group][static_cast<size_t>(block)];
  CHECK(node != nullptr);
  if (groups_[group].window == 0) {
    CHECK(node->children.empty() && node->cursors == 0);
    for (size_t g = 0; g < groups_.size(); ++g) drop_block(*node, g);
  } else {
    drop_block(*node, group);
  }
  prune(node);
}

int PrefixTree::check_below(const PrefixNode& node) const {
  int count = 0;
  for (const auto& child : node.children) {
    CHECK(child->parent == &node && !child->tokens.empty());
    CHECK(child->is_full() || child->children.empty());
    CHECK(!is_useless(*child));
    for (size_t g = 0; g < groups_.size(); ++g) {
      const BlockId block = child->blocks[g];
      CHECK(block != kNoBlock || groups_[g].window > 0);
      if (block == kNoBlock) continue;
      CHECK(owners_[g][static_cast<size_t>(block)] == child.get() && pools_[g].is_kept(block));
    }
    count += 1 + check_below(*child);
  }
  return count;
}

void PrefixTree::check_integrity() const {
  int count = 0;
  for (const auto& [salt, node] : roots_) {
    CHECK(!is_useless(*node));
    count += check_below(*node);
  }
  CHECK(count == nodes_);
  for (size_t g = 0; g < owners_.size(); ++g) {
    int idle = 0, kept = 0;
    for (size_t b = 0; b < owners_[g].size(); ++b) {
      const auto block = static_cast<BlockId>(b);
      const bool is_kept = pools_[g].is_kept(block);
      CHECK(is_kept == (owners_[g][b] != nullptr));
      kept += is_kept ? 1 : 0;
      idle += is_kept && pools_[g].references(block) == 0 ? 1 : 0;
    }
    CHECK(idle == pools_[g].idle_blocks() && kept <= pools_[g].blocks() - pools_[g].free_blocks());
  }
}

}  // namespace arion
