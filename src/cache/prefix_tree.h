// What the KV cache holds beyond the sequences that computed it, found by tokens.
//
// A tree of blocks: a path from a root spells the tokens of a prefix, kBlockTokens per node; only a
// leaf may have fewer. A node holds one block per KV group, or none where a window has passed and
// the block was needed elsewhere. Blocks that no sequence references stay until others need room;
// the one unreferenced longest goes first, which for groups without a window is always a leaf's.
// By batch invariance a block found here has the bits that computing it again would give.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/block_table.h"

namespace arion {

struct PrefixNode;

// A sequence's place in the tree, which stays while it has one.
struct PrefixCursor {
  PrefixNode* node = nullptr;  // its last full block there, or the root; null: no place
  PrefixNode* tail = nullptr;  // the block it is filling, if that is there
  int tokens = 0;              // up to the end of `node`
};

struct PrefixMatch {
  PrefixNode* node = nullptr;        // the last full block; null: not even a root
  const PrefixNode* tail = nullptr;  // behind it a block of which the first tokens match
  int full_tokens = 0, tail_tokens = 0;

  int tokens() const { return full_tokens + tail_tokens; }
};

// Used by one thread. The pools must outlive it. Sequences with different salts share nothing.
class PrefixTree {
 public:
  PrefixTree(std::span<const KvGroupSpec> groups, std::span<KvPool> pools);
  ~PrefixTree();
  PrefixTree(const PrefixTree&) = delete;
  PrefixTree& operator=(const PrefixTree&) = delete;

  // The longest prefix of `tokens` that has all blocks which the token behind it can see.
  PrefixMatch find(std::string_view salt, std::span<const TokenId> tokens) const;
  // Fills the empty tables [groups] with the full blocks of a match that was just found.
  PrefixCursor enter(std::string_view salt, const PrefixMatch& match, std::vector<BlockTable>& kv);
  // Gives the tables a copy of the match's tail; false (and nothing done) if there is no room.
  bool copy_tail(const PrefixMatch& match, std::vector<BlockTable>& kv,
                 std::vector<BlockCopy>& copies);

  // Adds the full blocks of `tokens`, all of them computed, that are behind the cursor. A block
  // that is there already takes the place of the sequence's own.
  void publish(PrefixCursor& cursor, std::span<const TokenId> tokens, std::vector<BlockTable>& kv);
  // After that: what remains, as a block that the sequence may go on to fill.
  void publish_tail(PrefixCursor& cursor, std::span<const TokenId> tokens,
                    const std::vector<BlockTable>& kv);
  // Gives up the place; what was published stays.
  void leave(PrefixCursor& cursor);

  // Forgets idle blocks until so many are free, or none is idle.
  void make_room(int group, int blocks);
  void forget_all_idle();

  int nodes() const { return nodes_; }  // without roots
  // Throws std::logic_error when tree and pools disagree.
  void check_integrity() const;

 private:
  PrefixNode& root(std::string_view salt);
  PrefixNode& add_child(PrefixNode& parent, std::span<const TokenId> tokens);
  void hold(PrefixNode& node, int index, const std::vector<BlockTable>& kv);
  void adopt(PrefixNode& node, int index, std::vector<BlockTable>& kv);
  void drop_block(PrefixNode& node, size_t group);
  void drop_covered(PrefixNode& parent, const PrefixNode& by);
  void remove(PrefixNode& node);
  void prune(PrefixNode* node);
  void evict_oldest(size_t group);
  bool is_useless(const PrefixNode& node) const;
  int check_below(const PrefixNode& node) const;

  std::span<const KvGroupSpec> groups_;
  std::span<KvPool> pools_;
  std::map<std::string, std::unique_ptr<PrefixNode>, std::less<>> roots_;  // by salt
  std::vector<std::vector<PrefixNode*>> owners_;  // [groups][blocks]; null: not in the tree
  int nodes_ = 0;
};

}  // namespace arion
