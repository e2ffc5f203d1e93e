// One HTTP request for answers while the engine works on it.
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/answer_format.h"
#include "api/api_error.h"
#include "api/choice.h"
#include "engine/engine.h"
#include "server/event_mailbox.h"
#include "server/http/http_message.h"
#include "server/metrics/server_metrics.h"

namespace arion {

class Generation;

// Which answer a request of the engine belongs to.
struct Ticket {
  std::shared_ptr<Generation> generation;
  size_t choice = 0;
};

// What generations share. Of the I/O thread.
struct GenerationHost {
  Engine& engine;
  const ServedModel& model;
  ServerMetrics& metrics;
  const EventMailbox& mailbox;
  std::unordered_map<RequestId, Ticket> tickets;  // until their last event
};

// Of the I/O thread.
class Generation : public std::enable_shared_from_this<Generation> {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Generation(GenerationRequest request, Dialect dialect, std::shared_ptr<Exchange> exchange,
             Time arrived, GenerationHost& host);

  // Submits the requests of all choices, or none and throws Error.
  void start();
  void add(size_t choice, TimedEvent timed);
  // Sends what has come since the last call, unless the client is still busy reading; then it
  // follows as one event per choice.
  void flush();
  // A comment, if the stream has been silent for so long.
  void keep_alive(Time now, std::chrono::milliseconds interval);
  // Ends the answer with an error.
  void fail(const ApiError& error);

 private:
  void cancel();
  void count(const Choice& choice, const TimedEvent& timed);
  void send_news();
  void send_event(std::string_view data);
  void begin_stream();
  void finish();
  const Choice* find_failed() const;
  size_t pending_bytes() const;

  GenerationRequest request_;
  std::shared_ptr<Exchange> exchange_;  // null: the answer has ended, or the client is gone
  GenerationHost& host_;
  Time arrived_, last_sent_;
  std::unique_ptr<AnswerFormat> format_;
  std::vector<Choice> choices_;
  std::vector<Time> token_times_;  // of each choice's last token
  std::vector<RequestId> ids_;     // of the engine's requests, by choice
  size_t finished_ = 0;            // choices
  bool has_begun_ = false;         // the head of the stream is sent
  std::string out_;                // events to be sent
};

}  // namespace arion
