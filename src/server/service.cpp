// Requests to routes, events of the engine to generations.
#include "server/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "api/api_key.h"
#include "api/model_info.h"
#include "api/tokens.h"
#include "server/metrics/server_metrics.h"

namespace arion {
namespace {

HttpReply error_reply(const ApiError& error) {
  HttpReply reply{.status = error.status, .body = to_json(error)};
  if (error.status == 503) reply.headers.emplace_back("Retry-After", "1");
  if (error.status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  return reply;
}

// Runs `answer`, whose errors become replies.
template <typename Answer>
HttpReply guarded(const Answer& answer) {
  try {
    return answer();
  } catch (const ApiError& error) {
    return error_reply(error);
  } catch (const Error& error) {
    return error_reply(to_api_error(error));
  } catch (const std::exception& error) {
    return error_reply(ApiError(500, "InternalServerError", error.what()));
  }
}

bool is_json_type(std::string_view content_type) {
  std::string type;
  for (const char c : content_type) {
    if (c != ' ' && c != '"') type += static_cast<char>(std::tolower(static_cast<uint8_t>(c)));
  }
  return type.empty() || type == "application/json" || type == "application/json;charset=utf-8";
}

}  // namespace

struct Service::Route {
  std::string_view path;
  bool is_get;
  bool is_public;                                          // needs no key, nor a model
  HttpReply (Service::*answer)(const HttpRequest&) const;  // null: a generation
  Dialect dialect = Dialect::completion;
};

// What there is once the model is loaded.
struct Service::Serving {
  Serving(Engine& engine, const ServedModel& served, std::function<void()> wake)
      : model(served),
        metrics(served.name(), served.context_tokens),
        mailbox(std::move(wake)),
        host{engine, model, metrics, mailbox, {}} {}

  const ServedModel& model;
  ServerMetrics metrics;
  EventMailbox mailbox;
  GenerationHost host;
};

// A body on its way through the preparing thread.
struct Service::Job {
  HttpRequest request;
  std::shared_ptr<Exchange> exchange;
  Dialect dialect;
  Generation::Time arrived;
  std::variant<HttpReply, GenerationRequest> result;
};

const Service::Route* Service::find_route(std::string_view path) {
  static constexpr Route kRoutes[] = {
      {"/health", true, true, &Service::answer_health},
      {"/ready", true, true, &Service::answer_ready},
      {"/ping", true, true, &Service::answer_health},
      {"/version", true, false, &Service::answer_version},
      {"/metrics", true, false, &Service::answer_metrics},
      {"/v1/models", true, false, &Service::answer_models},
      {"/v1/models/", true, false, &Service::answer_models},
      {"/tokenizer_info", true, false, &Service::answer_tokenizer_info},
      {"/tokenize", false, false, &Service::answer_tokenize},
      {"/detokenize", false, false, &Service::answer_detokenize},
      {"/v1/completions", false, false, nullptr, Dialect::completion},
      {"/v1/chat/completions", false, false, nullptr, Dialect::chat},
  };
  const auto found = std::ranges::find_if(kRoutes, [&](const Route& route) {
    // "/v1/models/NAME"
    return route.path.ends_with('/') ? path.starts_with(route.path) : path == route.path;
  });
  return found == std::end(kRoutes) ? nullptr : &*found;
}

Service::Service(ServiceOptions options, Post post)
    : options_(std::move(options)), post_(std::move(post)) {}

Service::~Service() = default;

void Service::set_model(Engine& engine, const ServedModel& model) {
  serving_ = std::make_unique<Serving>(engine, model, [this] { post_([this] { deliver(); }); });
}

bool Service::is_authorized(const HttpRequest& head) const {
  if (options_.api_keys.empty()) return true;
  return has_key(options_.api_keys, head.header("authorization"), head.header("x-api-key"));
}

std::optional<HttpReply> Service::check(const HttpRequest& head) {
  const Route* route = find_route(head.path);
  if (!(route != nullptr && route->is_public) && !is_authorized(head)) {
    return error_reply(
        {401, "AuthenticationError",
         "the API key is missing or wrong, expected one as Authorization: Bearer KEY "
         "or X-API-Key: KEY",
         "", "invalid_api_key"});
  }
  if (route == nullptr) {
    return error_reply({404, "NotFoundError", "there is no such path here"});
  }
  const char* allowed = route->is_get ? "GET, HEAD, OPTIONS" : "POST, OPTIONS";
  if (head.method == "OPTIONS") return HttpReply{.status = 204, .headers = {{"Allow", allowed}}};
  const bool is_allowed =
      route->is_get ? head.method == "GET" || head.method == "HEAD" : head.method == "POST";
  if (!is_allowed) {
    HttpReply reply = error_reply(
        {405, "MethodNotAllowedError", fmt::format("the method is not among {}", allowed)});
    reply.headers.emplace_back("Allow", allowed);
    return reply;
  }
  // Browsers ask before they send JSON to another origin, but not before they send untyped bytes.
  const std::string_view type = head.header("content-type");
  const bool is_foreign = type.empty() && !head.header("origin").empty();
  if (!route->is_get && (is_foreign || !is_json_type(type))) {
    return error_reply({415, "UnsupportedMediaTypeError",
                        "the body's type is unknown, expected Content-Type: application/json"});
  }
  if (is_draining_ && !route->is_get) {
    return error_reply({503, "ServiceUnavailableError", "the server is shutting down"});
  }
  if (serving_ == nullptr && !route->is_public) return refuse_loading();
  return std::nullopt;
}

void Service::handle(HttpRequest request, std::shared_ptr<Exchange> exchange) {
  const Route& route = *find_route(request.path);
  if (route.answer == nullptr) {
    return generate(std::move(request), std::move(exchange), route.dialect);
  }
  if (!route.is_get) return prepare(std::move(request), std::move(exchange), route.answer);
  exchange->reply(guarded([&] { return (this->*route.answer)(request); }));
}

HttpReply Service::describe_error(int status, std::string_view message) {
  const char* type = status == 503 ? "ServiceUnavailableError" : "BadRequestError";
  return error_reply({status, type, std::string(message)});
}

void Service::prepare(HttpRequest request, std::shared_ptr<Exchange> exchange,
                      HttpReply (Service::*answer)(const HttpRequest&) const) {
  auto job = std::make_shared<Job>();
  job->request = std::move(request);
  job->exchange = std::move(exchange);
  preparer_.add([this, job, answer] {
    if (!job->exchange->is_open()) return;
    HttpReply reply = guarded([&] { return (this->*answer)(job->request); });
    post_([job, reply = std::move(reply)]() mutable {
      if (job->exchange->is_open()) job->exchange->reply(std::move(reply));
    });
  });
}

void Service::generate(HttpRequest request, std::shared_ptr<Exchange> exchange, Dialect dialect) {
  auto job = std::make_shared<Job>();
  job->request = std::move(request);
  job->exchange = std::move(exchange);
  job->dialect = dialect;
  job->arrived = std::chrono::steady_clock::now();
  preparer_.add([this, job] {
    if (!job->exchange->is_open()) return;
    // Answers are assigned; what is left after errors are replies.
    HttpReply failure = guarded([&] {
      const JsonObject body(job->request.body);
      job->result = parse_generation(job->dialect, body, serving_->model);
      return HttpReply();
    });
    job->request.body = {};
    if (auto* request = std::get_if<GenerationRequest>(&job->result)) {
      if (request->settings.client.empty()) request->settings.client = client_of(job->request);
      if (options_.request_timeout.count() > 0) {
        request->settings.deadline = job->arrived + options_.request_timeout;
      }
    }
    if (failure.status != 200) job->result = std::move(failure);
    post_([this, job] { start(*job); });
  });
}

void Service::start(Job& job) {
  if (!job.exchange->is_open()) return;
  if (auto* reply = std::get_if<HttpReply>(&job.result)) {
    return job.exchange->reply(std::move(*reply));
  }
  HttpReply failure = guarded([&] {
    std::make_shared<Generation>(std::move(std::get<GenerationRequest>(job.result)), job.dialect,
                                 job.exchange, job.arrived, serving_->host)
        ->start();
    return HttpReply();
  });
  if (failure.status == 200) return;
  if (failure.status == 503) {
    failure.headers = {{"Retry-After", std::to_string(retry_seconds())}};
  }
  job.exchange->reply(std::move(failure));
}

// Until those that wait now should have had their turn.
int Service::retry_seconds() const {
  constexpr double kMost = 60;
  const EngineStats stats = serving_->host.engine.stats();
  const double turns = static_cast<double>(stats.waiting) / std::max(1, stats.running);
  return static_cast<int>(std::clamp(turns * serving_->metrics.mean_request_seconds(), 1.0, kMost));
}

// Loading is expected to be done in as long as it has taken so far.
HttpReply Service::refuse_loading() const {
  constexpr int64_t kMost = 30;
  const auto elapsed = std::chrono::steady_clock::now() - started_;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(elapsed).count();
  HttpReply reply =
      error_reply({503, "ServiceUnavailableError", "the model is being loaded", "", "loading"});
  reply.headers = {{"Retry-After", std::to_string(std::clamp(seconds, int64_t{1}, kMost))}};
  return reply;
}

// Who shares the engine with others: the user behind a proxy, or the address.
std::string Service::client_of(const HttpRequest& request) const {
  const std::string_view user = request.header("x-openwebui-user-id");
  return user.empty() ? request.peer : std::string(user);
}

// All events that have come, then what they make of each stream.
void Service::deliver() {
  serving_->mailbox.take(events_);
  serving_->metrics.add_steps(serving_->host.engine.stats());
  std::vector<std::shared_ptr<Generation>> touched;
  for (TimedEvent& timed : events_) {
    const auto at = serving_->host.tickets.find(timed.event.request);
    if (at == serving_->host.tickets.end()) continue;
    const Ticket ticket = at->second;
    if (timed.event.finish != FinishReason::none) serving_->host.tickets.erase(at);
    ticket.generation->add(ticket.choice, std::move(timed));
    if (touched.empty() || touched.back() != ticket.generation)
      touched.push_back(ticket.generation);
  }
  for (const auto& generation : touched) generation->flush();
}

void Service::tick() {
  if (serving_ == nullptr) return;
  const auto now = std::chrono::steady_clock::now();
  std::vector<std::shared_ptr<Generation>> all;
  for (const auto& [id, ticket] : serving_->host.tickets) all.push_back(ticket.generation);
  for (const auto& generation : all) generation->keep_alive(now, options_.keep_alive);
}

void Service::abort(const std::string& reason) {
  if (serving_ == nullptr) return;
  std::vector<std::shared_ptr<Generation>> all;
  for (const auto& [id, ticket] : serving_->host.tickets) all.push_back(ticket.generation);
  for (const auto& generation : all) {
    generation->fail(ApiError(503, "ServiceUnavailableError", reason));
  }
}

// --- Answers that need no engine ---

HttpReply Service::answer_health(const HttpRequest&) const {
  return {.body = R"({"status":"ok"})"};
}

HttpReply Service::answer_ready(const HttpRequest&) const {
  if (is_draining_) throw ApiError(503, "ServiceUnavailableError", "the server is shutting down");
  if (serving_ == nullptr) return refuse_loading();
  return {.body = R"({"status":"ready"})"};
}

HttpReply Service::answer_version(const HttpRequest&) const {
  return {.body = R"({"version":")" ARION_VERSION R"("})"};
}

HttpReply Service::answer_metrics(const HttpRequest&) const {
  return {.body = serving_->metrics.write(serving_->host.engine.stats()),
          .content_type = "text/plain; version=0.0.4; charset=utf-8"};
}

HttpReply Service::answer_models(const HttpRequest& request) const {
  constexpr std::string_view kList = "/v1/models";
  const std::string_view rest = std::string_view(request.path).substr(kList.size());
  if (rest.empty()) return {.body = list_models(serving_->model)};
  return {.body = describe_model_card(serving_->model, rest.substr(1))};
}

HttpReply Service::answer_tokenizer_info(const HttpRequest&) const {
  return {.body = describe_tokenizer(serving_->model)};
}

HttpReply Service::answer_tokenize(const HttpRequest& request) const {
  return {.body = answer_tokenize_body(JsonObject(request.body), serving_->model)};
}

HttpReply Service::answer_detokenize(const HttpRequest& request) const {
  return {.body = answer_detokenize_body(JsonObject(request.body), serving_->model)};
}

}  // namespace arion
