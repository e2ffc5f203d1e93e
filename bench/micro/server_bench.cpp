// Tokens per second of an engine alone and through HTTP on the same model, in turns.
//   server_bench MODEL.gguf [STREAMS = 16] [TOKENS = 128] [ROUNDS = 5] [THREADS = 0]
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "assembly/model_text.h"
#include "base/error.h"
#include "engine/event_queue.h"
#include "load_options.h"
#include "percentile.h"
#include "server/server.h"

namespace arion {
namespace {

using app::median;
using Seconds = std::chrono::duration<double>;

struct Load {
  int streams = 16, tokens = 128;
};

double engine_speed(Engine& engine, const Tokenizer& tokenizer, const Load& load) {
  EventQueue queue;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < load.streams; ++i) {
    Request request{.tokens = tokenizer.encode("Once upon a time"), .max_tokens = load.tokens};
    request.sampling.seed = static_cast<uint64_t>(i);
    request.ignores_end = true;
    engine.submit(std::move(request), queue.sink());
  }
  for (int ended = 0; ended < load.streams;) {
    ended += queue.pop().finish != FinishReason::none ? 1 : 0;
  }
  return load.streams * load.tokens / Seconds(std::chrono::steady_clock::now() - start).count();
}

int open_stream(uint16_t port, int seed, int tokens) {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(file, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    fail(ErrorCode::failed, "cannot connect to port {}", port);
  }
  const std::string body = fmt::format(
      R"({{"prompt":"Once upon a time","max_tokens":{},"seed":{},"ignore_eos":true,"stream":true}})",
      tokens, seed);
  const std::string request = fmt::format(
      "POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
      "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      body.size(), body);
  if (send(file, request.data(), request.size(), 0) < 0) fail(ErrorCode::failed, "cannot send");
  return file;
}

// One thread reads all streams, as load generators do.
double server_speed(uint16_t port, const Load& load) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<pollfd> streams;
  for (int i = 0; i < load.streams; ++i) {
    streams.push_back({open_stream(port, i, load.tokens), POLLIN, 0});
  }
  while (!streams.empty()) {
    if (poll(streams.data(), streams.size(), -1) < 0) fail(ErrorCode::failed, "cannot poll");
    std::erase_if(streams, [](const pollfd& stream) {
      char bytes[65536];
      if (stream.revents == 0 || recv(stream.fd, bytes, sizeof(bytes), 0) > 0) return false;
      close(stream.fd);
      return true;
    });
  }
  return load.streams * load.tokens / Seconds(std::chrono::steady_clock::now() - start).count();
}

void run(const std::string& path, const Load& load, int rounds, int threads) {
  LoadOptions options{.model = path, .threads = threads};
  options.kv_sequences = load.streams;
  options.logit_rows = kGenerationLogitRows;
  options.context = 1024;
  LoadedModel loaded = app::load_model(options, {});
  const auto text = read_model_text(loaded.path, loaded.metadata());
  Engine engine(*loaded.runner, text.tokenizer, {.max_sequences = load.streams});
  const ServedModel model{.names = {"bench"},
                          .tokenizer = text.tokenizer,
                          .context_tokens = engine.context_tokens(),
                          .vocab = text.tokenizer.size()};
  Server server({.http = {.port = 0}});
  server.set_model(engine, model);
  double io_seconds = 0;  // of processor time
  std::jthread io([&] {
    server.run();
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    io_seconds = static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
  });
  std::vector<double> alone, served, ratios;
  engine_speed(engine, text.tokenizer, load);  // warms up
  for (int round = 0; round < rounds; ++round) {
    alone.push_back(engine_speed(engine, text.tokenizer, load));
    served.push_back(server_speed(server.port(), load));
    ratios.push_back(served.back() / alone.back());
    fmt::print("engine {:.1f}, server {:.1f} tokens/s, ratio {:.3f}\n", alone.back(), served.back(),
               ratios.back());
  }
  server.drain();
  io.join();
  fmt::print("medians: engine {:.1f}, server {:.1f}, ratio of a round {:.3f}\n", median(alone),
             median(served), median(ratios));
  fmt::print("I/O thread: {:.1f} us per token\n",
             io_seconds * 1e6 / (rounds * load.streams * load.tokens));
}

}  // namespace
}  // namespace arion

int main(int argc, char** argv) {
  const auto number = [&](int index, int otherwise) {
    return argc > index ? std::atoi(argv[index]) : otherwise;
  };
  if (argc < 2) {
    fmt::print("usage: server_bench MODEL [STREAMS] [TOKENS] [ROUNDS] [THREADS]\n");
    return 2;
  }
  try {
    arion::run(argv[1], {number(2, 16), number(3, 128)}, number(4, 5), number(5, 0));
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 1;
  }
  return 0;
}
