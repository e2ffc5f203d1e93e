#include "capi/client_request.h"

#include <algorithm>
#include <utility>

namespace arion {

ClientRequest::ClientRequest(std::shared_ptr<ClientEngine> engine, GenerationRequest request)
    : engine_(std::move(engine)),
      request_(std::move(request)),
      choices_(make_choices(request_, engine_->model().tokenizer)) {
  ids_.reserve(choices_.size());
  try {
    for (size_t i = 0; i < choices_.size(); ++i) {
      ids_.push_back(engine_->engine().submit(request_.engine_request(i), queue_.sink()));
    }
    engine_->enter(*this);
  } catch (...) {
    cancel();
    throw;
  }
}

ClientRequest::~ClientRequest() {
  engine_->leave(*this);
  if (!has_ended()) cancel();
}

void ClientRequest::cancel() {
  for (const RequestId id : ids_) engine_->engine().cancel(id);  // those that ended are ignored
}

Choice& ClientRequest::choice_of(RequestId id) {
  const auto at = std::ranges::lower_bound(ids_, id);
  return choices_[static_cast<size_t>(at - ids_.begin())];
}

const arion_event* ClientRequest::next(std::optional<std::chrono::milliseconds> timeout) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + timeout.value_or(std::chrono::milliseconds(0));
  while (true) {
    std::optional<TokenEvent> event;
    if (timeout) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
      event = queue_.pop(std::max(left, std::chrono::milliseconds(0)));
      if (!event) return nullptr;
    } else {
      event = queue_.pop();
    }
    Choice& choice = choice_of(event->request);
    choice.add(std::move(*event));
    if (choice.is_finished()) ++ended_;
    if (choice.has_news()) return &view_.show(choice, request_);
  }
}

}  // namespace arion
