// Keeps the engine supplied, and turns events into lines of the answer file.
#include "batch_run.h"

#include <memory>
#include <unordered_map>
#include <utility>

#include "api/answer_format.h"
#include "api/api_error.h"
#include "command.h"
#include "engine/event_queue.h"
#include "interrupt.h"

namespace arion::app {
namespace {

// A request while the engine works on it.
struct Job {
  Job(std::string id, Dialect dialect, GenerationRequest wanted, const ServedModel& model)
      : custom_id(std::move(id)),
        request(std::move(wanted)),
        format(make_answer_format(dialect, request, model)),
        choices(make_choices(request, model.tokenizer)) {}

  std::string custom_id;
  GenerationRequest request;  // the members below refer to it
  std::unique_ptr<AnswerFormat> format;
  std::vector<Choice> choices;
  size_t ended = 0;  // choices
};

GenerationRequest read_request(const BatchRequest& request, const ServedModel& model) {
  const JsonObject body(request.body);
  GenerationRequest out = parse_generation(request.dialect, body, model);
  if (out.streams) refuse("stream", "stream is true, which a batch cannot do");
  if (!Fields(body.value()).has("seed")) out.settings.sampling.seed = seed_of(request.custom_id);
  return out;
}

class BatchRun {
 public:
  BatchRun(AnsweringEngine& answering, AnswerFile& file, const std::function<void()>& on_answer)
      : engine_(answering.engine()),
        model_(answering.model()),
        file_(file),
        on_answer_(on_answer) {}

  size_t in_flight() const { return tickets_.size(); }
  const BatchCounts& counts() const { return counts_; }

  void start(const BatchRequest& request) {
    try {
      submit(std::make_shared<Job>(request.custom_id, request.dialect,
                                   read_request(request, model_), model_));
    } catch (const ApiError& error) {
      refuse_request(request.custom_id, error);
    } catch (const Error& error) {
      refuse_request(request.custom_id, to_api_error(error));
    }
  }

  // The next event, unless none comes soon.
  void receive() {
    auto event = queue_.pop(std::chrono::milliseconds(100));
    if (!event) return;
    const auto at = tickets_.find(event->request);
    if (at == tickets_.end()) return;
    const auto [job, index] = at->second;
    if (event->finish != FinishReason::none) tickets_.erase(at);
    Choice& choice = job->choices[index];
    choice.add(std::move(*event));
    if (choice.is_finished() && ++job->ended == job->choices.size()) finish(*job);
  }

 private:
  struct Ticket {
    std::shared_ptr<Job> job;
    size_t choice;
  };

  // The choices of all prompts, or none.
  void submit(const std::shared_ptr<Job>& job) {
    std::vector<RequestId> ids;
    try {
      for (size_t i = 0; i < job->choices.size(); ++i) {
        ids.push_back(engine_.submit(job->request.engine_request(i), queue_.sink()));
      }
    } catch (const Error&) {
      for (const RequestId id : ids) engine_.cancel(id);
      throw;
    }
    for (size_t i = 0; i < ids.size(); ++i) tickets_.emplace(ids[i], Ticket{job, i});
  }

  void finish(Job& job) {
    for (const Choice& choice : job.choices) {
      if (choice.finish() != FinishReason::error) continue;
      return refuse_request(job.custom_id, ApiError(500, "InternalServerError", choice.error()));
    }
    const Usage usage = total_usage(job.request, job.choices);
    std::vector<ChoiceNews> answers;
    for (Choice& choice : job.choices) answers.push_back(choice.take());
    file_.append(job.custom_id, 200, job.format->whole(std::move(answers), usage));
    ++counts_.answered;
    counts_.prompt_tokens += usage.prompt_tokens;
    counts_.completion_tokens += usage.completion_tokens;
    on_answer_();
  }

  void refuse_request(const std::string& custom_id, const ApiError& error) {
    file_.append(custom_id, error.status, to_json(error));
    ++counts_.refused;
    on_answer_();
  }

  Engine& engine_;
  const ServedModel& model_;
  AnswerFile& file_;
  const std::function<void()>& on_answer_;
  EventQueue queue_;
  std::unordered_map<RequestId, Ticket> tickets_;  // until their last event
  BatchCounts counts_;
};

}  // namespace

BatchCounts answer_batch(const std::vector<BatchRequest>& requests, AnsweringEngine& answering,
                         int max_sequences, AnswerFile& file,
                         const std::function<void()>& on_answer) {
  const InterruptGuard guard;
  BatchRun run(answering, file, on_answer);
  // Some wait, so that the engine always has a next one.
  const size_t supply = 2 * static_cast<size_t>(max_sequences);
  for (auto next = requests.begin(); next != requests.end() || run.in_flight() > 0;) {
    if (InterruptGuard::is_raised()) throw Interrupted{};
    if (next != requests.end() && run.in_flight() < supply) {
      run.start(*next++);
    } else {
      run.receive();
    }
  }
  return run.counts();
}

}  // namespace arion::app
