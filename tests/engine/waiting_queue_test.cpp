// The order in which sequences start under each policy.
#include "engine/waiting_queue.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/error.h"

namespace arion {
namespace {

class Waiting {
 public:
  explicit Waiting(QueuePolicy policy) : queue(policy) {}

  Sequence& add(const std::string& client, int priority = 0, int tokens = 100) {
    auto sequence = std::make_unique<Sequence>();
    sequence->id = sequences_.size();
    sequence->client = client;
    sequence->priority = priority;
    sequence->tokens.resize(static_cast<size_t>(tokens));
    sequences_.push_back(std::move(sequence));
    queue.add(*sequences_.back());
    return *sequences_.back();
  }
  // The clients in the order they start, each charged for its tokens.
  std::string drain() {
    std::string order;
    while (Sequence* next = queue.next([](const Sequence&) { return true; })) {
      queue.remove(*next);
      queue.charge(*next, next->size());
      order += next->client;
    }
    return order;
  }

  WaitingQueue queue;

 private:
  std::vector<std::unique_ptr<Sequence>> sequences_;
};

TEST(WaitingQueue, FirstComeFirstServed) {
  Waiting waiting(QueuePolicy::fcfs);
  for (const char* client : {"a", "b", "a", "c"}) waiting.add(client);
  EXPECT_EQ(waiting.queue.size(), 4);
  EXPECT_EQ(waiting.drain(), "abac");
}

TEST(WaitingQueue, ByPriorityThenByArrival) {
  Waiting waiting(QueuePolicy::priority);
  waiting.add("a", 5);
  waiting.add("b", -1);
  waiting.add("c", 5);
  waiting.add("d", 0);
  EXPECT_EQ(waiting.drain(), "bdac");
}

TEST(WaitingQueue, ClientsTakeTurnsHoweverMuchTheyAsk) {
  Waiting waiting(QueuePolicy::fair);
  for (int i = 0; i < 6; ++i) waiting.add("a", 0, 512);
  for (int i = 0; i < 3; ++i) waiting.add("b", 0, 512);
  EXPECT_EQ(waiting.drain(), "abababaaa");
}

TEST(WaitingQueue, SharesAreOfTokensNotOfRequests) {
  Waiting waiting(QueuePolicy::fair);
  for (int i = 0; i < 4; ++i) waiting.add("a", 0, 2048);
  for (int i = 0; i < 32; ++i) waiting.add("b", 0, 256);
  const std::string order = waiting.drain();
  // After any number of starts neither client is far ahead.
  int ahead = 0;
  for (const char client : order.substr(0, 28)) {
    ahead += client == 'a' ? 2048 : -256;
    EXPECT_LE(std::abs(ahead), 2048 + 512) << order;
  }
}

TEST(WaitingQueue, WhatAClientRunsCountsWhileOthersWait) {
  Waiting waiting(QueuePolicy::fair);
  Sequence& running = waiting.add("a", 0, 1);
  waiting.queue.remove(running);
  waiting.add("b");
  waiting.queue.charge(running, 4000);  // its answer
  waiting.add("a");
  waiting.add("b");
  EXPECT_EQ(waiting.drain(), "bba");
}

TEST(WaitingQueue, SkipsWhoIsNotReadyAndPutsThePreemptedFirst) {
  for (const auto policy : {QueuePolicy::fcfs, QueuePolicy::priority, QueuePolicy::fair}) {
    Waiting waiting(policy);
    Sequence& first = waiting.add("a");
    Sequence& second = waiting.add("b");
    const auto is_second = [&](const Sequence& s) { return &s == &second; };
    EXPECT_EQ(waiting.queue.next(is_second), &second);
    EXPECT_EQ(waiting.queue.next([](const Sequence&) { return false; }), nullptr);
    waiting.queue.remove(second);
    waiting.queue.add_preempted(second);
    EXPECT_EQ(waiting.drain(), "ba");
    EXPECT_TRUE(waiting.queue.empty());
    waiting.queue.remove(first);
  }
}

TEST(WaitingQueue, NamesThePoliciesThereAre) {
  EXPECT_EQ(queue_policy_of("fair"), QueuePolicy::fair);
  EXPECT_THROW(queue_policy_of("best"), Error);
}

}  // namespace
}  // namespace arion
