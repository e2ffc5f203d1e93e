// One list in order, or one per client with turns.
#include "engine/waiting_queue.h"

#include <algorithm>

#include "base/error.h"

namespace arion {
namespace {

// Tokens a client gets per turn: about one step.
constexpr int64_t kTurnTokens = 512;

Sequence* first_ready(const std::deque<Sequence*>& sequences,
                      const WaitingQueue::IsReady& is_ready) {
  const auto at = std::ranges::find_if(sequences, [&](Sequence* s) { return is_ready(*s); });
  return at == sequences.end() ? nullptr : *at;
}

}  // namespace

QueuePolicy queue_policy_of(std::string_view name) {
  if (name == "fcfs") return QueuePolicy::fcfs;
  if (name == "priority") return QueuePolicy::priority;
  if (name == "fair") return QueuePolicy::fair;
  fail(ErrorCode::usage, "there is no queue policy '{}', expected fcfs, priority or fair", name);
}

void WaitingQueue::add(Sequence& sequence) {
  if (policy_ == QueuePolicy::fair) {
    client(sequence.client).sequences.push_back(&sequence);
    return;
  }
  auto at = ordered_.end();
  if (policy_ == QueuePolicy::priority) {
    at = std::upper_bound(
        ordered_.begin(), ordered_.end(), &sequence,
        [](const Sequence* a, const Sequence* b) { return a->priority < b->priority; });
  }
  ordered_.insert(at, &sequence);
}

void WaitingQueue::remove(Sequence& sequence) {
  std::erase(preempted_, &sequence);
  std::erase(ordered_, &sequence);
  for (Client& client : turns_) std::erase(client.sequences, &sequence);
}

Sequence* WaitingQueue::next(const IsReady& is_ready) {
  if (Sequence* sequence = first_ready(preempted_, is_ready)) return sequence;
  if (policy_ != QueuePolicy::fair) return first_ready(ordered_, is_ready);
  return next_of_clients(is_ready);
}

// Every round adds a turn's tokens to all, until someone who is ready has some to use.
Sequence* WaitingQueue::next_of_clients(const IsReady& is_ready) {
  const bool has_any = std::ranges::any_of(turns_, [&](const Client& client) {
    return first_ready(client.sequences, is_ready) != nullptr;
  });
  while (has_any) {
    Client& front = turns_.front();
    Sequence* sequence = first_ready(front.sequences, is_ready);
    if (sequence != nullptr && front.credit > 0) return sequence;
    const bool is_done = front.sequences.empty() && front.credit >= 0;
    front.credit = std::min(front.credit + kTurnTokens, kTurnTokens);
    if (!is_done) turns_.push_back(std::move(front));
    turns_.pop_front();
  }
  return nullptr;
}

void WaitingQueue::charge(const Sequence& sequence, int tokens) {
  if (policy_ != QueuePolicy::fair) return;
  if (empty()) return turns_.clear();  // nobody had to wait
  client(sequence.client).credit -= tokens;
}

int WaitingQueue::size() const {
  size_t size = preempted_.size() + ordered_.size();
  for (const Client& client : turns_) size += client.sequences.size();
  return static_cast<int>(size);
}

WaitingQueue::Client& WaitingQueue::client(const std::string& name) {
  const auto at = std::ranges::find(turns_, name, &Client::name);
  if (at != turns_.end()) return *at;
  return turns_.emplace_back(Client{.name = name});
}

}  // namespace arion
