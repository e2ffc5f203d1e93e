#include "server/generation.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace arion {
namespace {

// What waits for a client at most, before it is taken for gone.
constexpr size_t kMaxPendingBytes = size_t{32} << 20;

}  // namespace

Generation::Generation(GenerationRequest request, Dialect dialect,
                       std::shared_ptr<Exchange> exchange, Time arrived, GenerationHost& host)
    : request_(std::move(request)),
      exchange_(std::move(exchange)),
      host_(host),
      arrived_(arrived),
      last_sent_(std::chrono::steady_clock::now()),
      format_(make_answer_format(dialect, request_, host.model)),
      choices_(make_choices(request_, host.model.tokenizer)),
      token_times_(request_.choices()) {}

void Generation::start() {
  try {
    for (size_t i = 0; i < choices_.size(); ++i) {
      const RequestId id = host_.engine.submit(request_.engine_request(i), host_.mailbox.sink());
      host_.tickets.emplace(id, Ticket{shared_from_this(), i});
      ids_.push_back(id);
    }
  } catch (const Error&) {
    exchange_ = nullptr;
    cancel();
    throw;
  }
  for (const Prompt& prompt : request_.prompts) {
    const auto room = host_.model.context_tokens - static_cast<int64_t>(prompt.tokens.size());
    host_.metrics.add_accepted(request_.n, std::min<int64_t>(room, request_.settings.max_tokens));
  }
  exchange_->listen({.on_sent = [self = shared_from_this()] { self->flush(); },
                     .on_closed =
                         [self = shared_from_this()] {
                           self->exchange_ = nullptr;
                           self->cancel();
                         }});
}

void Generation::cancel() {
  for (size_t i = 0; i < ids_.size(); ++i) {
    if (!choices_[i].is_finished()) host_.engine.cancel(ids_[i]);
  }
}

void Generation::add(size_t index, TimedEvent timed) {
  Choice& choice = choices_[index];
  count(choice, timed);
  const Time time = timed.time;
  const bool has_tokens = !timed.event.tokens.empty();
  choice.add(std::move(timed.event));
  if (has_tokens) token_times_[index] = time;
  if (!choice.is_finished()) return;
  ++finished_;
  host_.metrics.add_finished(choice.finish(), choice.summary(), choice.tokens(), time - arrived_);
}

void Generation::count(const Choice& choice, const TimedEvent& timed) {
  const size_t tokens = timed.event.tokens.size();
  if (tokens == 0) return;
  if (choice.tokens() == 0) {
    host_.metrics.add_first_token(timed.time - arrived_);
    if (tokens > 1) host_.metrics.add_later_tokens({}, tokens - 1);
  } else {
    host_.metrics.add_later_tokens(timed.time - token_times_[choice.index()], tokens);
  }
}

void Generation::flush() {
  if (!exchange_) return;
  if (const Choice* failed = find_failed()) {
    if (failed->finish() == FinishReason::error) {
      return fail(ApiError(500, "InternalServerError", failed->error()));
    }
    const std::string why = failed->error().empty() ? "the request was cancelled" : failed->error();
    return fail(ApiError(503, "ServiceUnavailableError", why));
  }
  if (pending_bytes() > kMaxPendingBytes) {
    return fail(ApiError(413, "BadRequestError",
                         fmt::format("more than {} bytes wait to be read", kMaxPendingBytes)));
  }
  const bool is_done = finished_ == choices_.size();
  if (request_.streams) {
    if (exchange_->is_sending()) return;  // on_sent comes back here
    send_news();
  }
  if (is_done) finish();
}

const Choice* Generation::find_failed() const {
  const auto failed = std::ranges::find_if(choices_, [](const Choice& choice) {
    return choice.finish() == FinishReason::error || choice.finish() == FinishReason::cancelled;
  });
  return failed == choices_.end() ? nullptr : &*failed;
}

size_t Generation::pending_bytes() const {
  size_t bytes = 0;
  for (const Choice& choice : choices_) bytes += choice.pending_bytes();
  return bytes;
}

void Generation::send_news() {
  for (Choice& choice : choices_) {
    if (!choice.has_news()) continue;
    const Usage so_far = total_usage(request_, choices_);
    send_event(format_->chunk(choice.take(), request_.continuous_usage ? &so_far : nullptr));
  }
  if (finished_ == choices_.size()) {
    if (request_.includes_usage) send_event(format_->usage_chunk(total_usage(request_, choices_)));
    send_event("[DONE]");
  }
  if (out_.empty()) return;
  begin_stream();
  last_sent_ = std::chrono::steady_clock::now();
  // The client may be found gone here: that clears exchange_.
  const std::shared_ptr<Exchange> exchange = exchange_;
  exchange->send(std::exchange(out_, {}));
}

void Generation::send_event(std::string_view data) {
  out_ += "data: ";
  out_ += data;
  out_ += "\n\n";
}

void Generation::begin_stream() {
  if (std::exchange(has_begun_, true)) return;
  exchange_->begin_stream("text/event-stream; charset=utf-8");
}

void Generation::finish() {
  const std::shared_ptr<Exchange> exchange = std::exchange(exchange_, nullptr);
  if (!exchange) return;
  if (request_.streams) return exchange->end_stream();
  std::vector<ChoiceNews> answers;
  for (Choice& choice : choices_) answers.push_back(choice.take());
  exchange->reply({.body = format_->whole(std::move(answers), total_usage(request_, choices_))});
}

void Generation::fail(const ApiError& error) {
  cancel();
  const std::shared_ptr<Exchange> exchange = std::exchange(exchange_, nullptr);
  if (!exchange) return;
  if (!has_begun_) return exchange->reply({.status = error.status, .body = to_json(error)});
  send_event(to_json(error));
  send_event("[DONE]");
  exchange->send(out_);
  exchange->end_stream();
}

void Generation::keep_alive(Time now, std::chrono::milliseconds interval) {
  if (!exchange_ || !request_.streams || exchange_->is_sending()) return;
  if (interval.count() == 0 || now - last_sent_ < interval) return;
  begin_stream();
  last_sent_ = now;
  const std::shared_ptr<Exchange> exchange = exchange_;
  exchange->send(": keep-alive\n\n");
}

}  // namespace arion
