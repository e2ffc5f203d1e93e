// Sequences that wait to start, in the order in which they should.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sequence/sequence.h"

namespace arion {

enum class QueuePolicy : uint8_t {
  fcfs,      // first come, first served
  priority,  // the least Sequence::priority first, then by arrival
  fair,      // clients take turns: deficit round robin over the tokens computed for each
};

// Throws Error{usage} naming the policies there are.
QueuePolicy queue_policy_of(std::string_view name);

// Used by one thread. A sequence is in it once; those that were preempted come before all others.
class WaitingQueue {
 public:
  using IsReady = std::function<bool(const Sequence&)>;

  explicit WaitingQueue(QueuePolicy policy) : policy_(policy) {}

  void add(Sequence& sequence);
  void add_preempted(Sequence& sequence) { preempted_.push_front(&sequence); }
  void remove(Sequence& sequence);  // nothing if it is not there
  // The first in order that is ready; null: none.
  Sequence* next(const IsReady& is_ready);
  // So many tokens are computed for a sequence that does not wait any more.
  void charge(const Sequence& sequence, int tokens);

  int size() const;
  bool empty() const { return size() == 0; }

 private:
  // A client that waits for something, or that has had more than its share while others wait.
  struct Client {
    std::string name;
    std::deque<Sequence*> sequences;  // by arrival
    int64_t credit = 0;               // tokens until its turn ends
  };

  Client& client(const std::string& name);
  Sequence* next_of_clients(const IsReady& is_ready);

  QueuePolicy policy_;
  std::deque<Sequence*> preempted_;
  std::deque<Sequence*> ordered_;  // of all policies but fair
  std::deque<Client> turns_;       // the front one has its turn
};

}  // namespace arion
