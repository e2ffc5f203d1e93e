// arion serve: an OpenAI-compatible HTTP server.
#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <thread>

#include "base/error.h"
#include "command.h"
#include "file_limit.h"
#include "input_file.h"
#include "load_options.h"
#include "number_option.h"
#include "server/server.h"
#include "text_lines.h"
#include "text_option.h"

namespace arion::app {
namespace {

struct ServeOptions {
  AnsweringOptions answering{.engine = {.max_sequences = kDefaultSequences,
                                        .queue = {.requests = 1024, .tokens = int64_t{1} << 22}}};
  ServerOptions server;
  std::vector<std::string> api_keys;
  std::string api_key_file;
  double drain_seconds = 30, keep_alive_seconds = 15;
  int max_body_mib = 16;
  std::string policy = "fcfs";
  bool forgets_prefixes = false;
  double target_step_ms = 0;
  double timeout_seconds = 0;
};

std::chrono::milliseconds to_ms(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

// One key per line; empty lines and those that begin with # are none.
void read_key_file(const std::string& path, std::vector<std::string>& keys) {
  const std::string text = read_input_file(path, "--api-key-file");
  const size_t before = keys.size();
  for_each_line(text, [&](std::string_view line, size_t) {
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (!line.empty() && line[0] != '#') keys.emplace_back(line);
  });
  if (keys.size() == before) fail(ErrorCode::usage, "--api-key-file {} holds no key", path);
}

std::vector<std::string> read_keys(const ServeOptions& options) {
  std::vector<std::string> keys = options.api_keys;
  if (!options.api_key_file.empty()) read_key_file(options.api_key_file, keys);
  if (std::ranges::find(keys, "") != keys.end()) fail(ErrorCode::usage, "--api-key is empty");
  return keys;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// Runs a server, while there is no model yet as well.
class ServerThread {
 public:
  explicit ServerThread(Server& server)
      : server_(server), thread_([this] {
          try {
            server_.run();
          } catch (...) {
            error_ = std::current_exception();
          }
        }) {}
  ~ServerThread() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }
  ServerThread(const ServerThread&) = delete;
  ServerThread& operator=(const ServerThread&) = delete;

  // Until the server has ended. Throws what it threw.
  void wait() {
    thread_.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  Server& server_;
  std::exception_ptr error_;
  std::thread thread_;  // last: starts when all else is there
};

void serve(ServeOptions options, const GlobalOptions& global) {
  EngineOptions& engine = options.answering.engine;
  engine.policy = queue_policy_of(options.policy);
  engine.target_step_us = std::llround(options.target_step_ms * 1000);
  engine.reuses_prefixes = !options.forgets_prefixes;
  options.server.service.api_keys = read_keys(options);
  options.server.service.request_timeout = to_ms(options.timeout_seconds);
  options.server.service.keep_alive = to_ms(options.keep_alive_seconds);
  options.server.drain = to_ms(options.drain_seconds);
  options.server.http.max_body_bytes = static_cast<size_t>(options.max_body_mib) << 20;
  raise_file_limit();  // every connection is a file

  std::unique_ptr<AnsweringEngine> answering;  // outlives the server
  Server server(options.server);
  if (!is_loopback(options.server.http.host) && options.server.service.api_keys.empty()) {
    log(LogLevel::warning, "everybody who reaches {} may use this server; --api-key asks for a key",
        server.address());
  }
  ServerThread thread(server);
  log(LogLevel::info, "listening on http://{}, loading the model", server.address());
  answering =
      load_answering_engine(options.answering, global);  // signals end the program meanwhile
  server.set_model(answering->engine(), answering->model());
  server.drain_on_signals();
  log(LogLevel::info, "serving {} on http://{}", answering->model().name(), server.address());
  thread.wait();
  log(LogLevel::info, "ended");
}

}  // namespace

void command_serve(CLI::App& program, const GlobalOptions& global) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command = program.add_subcommand("serve", "Serves a model over HTTP as OpenAI does");
  EngineOptions& engine = options->answering.engine;
  HttpOptions& http = options->server.http;
  add_load_options(*command, options->answering.load);
  add_context_option(*command, options->answering.load);
  add_answering_options(*command, options->answering);
  command->add_option("--host", http.host, "Address to listen on; 0.0.0.0: all of this machine")
      ->capture_default_str();
  command->add_option("--port", http.port, "Port to listen on; 0: any that is free")
      ->capture_default_str();
  command
      ->add_option("--api-key", options->api_keys,
                   "Key that requests must show; may be repeated. Other users of this machine see "
                   "command lines: prefer --api-key-file")
      ->allow_extra_args(false);
  command->add_option("--api-key-file", options->api_key_file, "File with one key per line")
      ->check(not_empty());
  command
      ->add_option("--cors-origin", http.cors_origins,
                   "Origin whose pages may use the server, such as https://app.example; *: any; "
                   "may be repeated (default: none)")
      ->allow_extra_args(false);
  command
      ->add_option("--scheduling-policy", options->policy,
                   "Who starts first: fcfs, priority (the field `priority`) or fair (clients in "
                   "turns)")
      ->capture_default_str();
  command
      ->add_option("--max-num-queued-reqs", engine.queue.requests,
                   "Requests that may wait; more are refused with 503")
      ->check(number_from(1, std::numeric_limits<int>::max()))
      ->capture_default_str();
  command
      ->add_option("--max-num-queued-tokens", engine.queue.tokens,
                   "Tokens of their prompts together")
      ->check(number_from(int64_t{1}, std::numeric_limits<int64_t>::max()))
      ->capture_default_str();
  command
      ->add_option("--max-num-batched-tokens", options->answering.load.step_tokens,
                   "Tokens computed in one step at most")
      ->check(number_from(1, kMaxStepTokens))
      ->capture_default_str();
  command
      ->add_option("--max-decode-slowdown", engine.decode_slowdown,
                   "How much longer answers in progress may wait for a token while prompts of "
                   "others are computed; 0: as long as it takes")
      ->check(number_from(0.0, kMaxDecodeSlowdown))
      ->capture_default_str();
  command
      ->add_option("--target-step-ms", options->target_step_ms,
                   "Milliseconds they may wait; 0: no matter how long")
      ->check(number_from(0.0, 1e6))
      ->capture_default_str();
  command->add_flag("--no-prefix-caching", options->forgets_prefixes,
                    "Compute every prompt from its beginning");
  command
      ->add_option("--request-timeout-seconds", options->timeout_seconds,
                   "Answers that take longer end with an error; 0: never")
      ->check(number_from(0.0, 1e6))
      ->capture_default_str();
  command->add_option("--max-connections", http.max_connections, "Connections at the same time")
      ->check(number_from(1, 1 << 16))
      ->capture_default_str();
  command->add_option("--max-body-mib", options->max_body_mib, "Largest body of a request in MiB")
      ->check(number_from(1, 1 << 10))
      ->capture_default_str();
  command
      ->add_option("--drain-seconds", options->drain_seconds,
                   "How long answers in progress may take after SIGTERM or Ctrl-C")
      ->check(number_from(0.0, 1e6))
      ->capture_default_str();
  command
      ->add_option("--sse-keep-alive-seconds", options->keep_alive_seconds,
                   "Seconds of silence before a stream gets a comment; 0: never")
      ->check(number_from(0.0, 1e6))
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  arion serve\n"
      "  arion serve model.gguf --port 8080 --api-key-file keys.txt --host 0.0.0.0\n"
      "  curl http://127.0.0.1:8000/v1/chat/completions -H 'Content-Type: application/json' \\\n"
      "    -d '{\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}'");
  command->callback([options, &global] { serve(*options, global); });
}

}  // namespace arion::app
