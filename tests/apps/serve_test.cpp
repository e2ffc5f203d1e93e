// `arion serve` as a process: what it says, and how it ends.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "apps/chat_models.h"
#include "apps/program.h"
#include "server/http_client.h"

namespace arion::test {
namespace {

// The program on a free port, ended with the object.
class ServeProcess {
 public:
  explicit ServeProcess(const std::string& model) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    process_ = fork();
    if (process_ == 0) {
      dup2(ends[1], STDERR_FILENO);
      execl(ARION_PROGRAM, "arion", "serve", model.c_str(), "--port", "0", "-t", "1", nullptr);
      _exit(127);
    }
    close(ends[1]);
    log_ = ends[0];
  }
  ~ServeProcess() {
    if (process_ > 0) end(SIGKILL);
    close(log_);
  }
  ServeProcess(const ServeProcess&) = delete;
  ServeProcess& operator=(const ServeProcess&) = delete;

  // The number behind `text` in what the program has said, or 0 when it ends before it says that.
  uint16_t wait_for_port(const std::string& text) {
    for (char byte = 0; read(log_, &byte, 1) == 1;) {
      said_ += byte;
      const size_t at = said_.find(text);
      if (at == std::string::npos || byte != '\n') continue;
      const std::string_view host = "127.0.0.1:";
      const size_t port = said_.find(host, at);
      return static_cast<uint16_t>(std::stoi(said_.substr(port + host.size())));
    }
    return 0;
  }

  // Its exit code after a signal; -1: the signal ended it.
  int end(int signal) {
    kill(process_, signal);
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t process_ = -1;
  int log_ = -1;
  std::string said_;
};

TEST(Serve, ListensThenLoadsThenServesUntilTold) {
  const TempDir folder;
  ServeProcess server(folder.write("tiny.gguf", chatml_model()).string());
  const uint16_t port = server.wait_for_port("listening on http://");
  ASSERT_GT(port, 0);
  HttpClient early(port);
  EXPECT_EQ(early.get("/health").status, 200);
  EXPECT_EQ(server.wait_for_port("serving tiny on http://"), port);
  EXPECT_EQ(early.get("/ready").status, 200);
  EXPECT_EQ(post_once(port, "/v1/completions", R"({"prompt":"a","max_tokens":3})").status, 200);
  EXPECT_EQ(server.end(SIGTERM), 0);
}

TEST(Serve, EndsWithTheErrorOfLoading) {
  const TempDir folder;
  const std::string broken = folder.write("broken.gguf", "GGUF, but not really").string();
  const Outcome outcome = run_arion("serve --port 0 " + broken);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find(broken), std::string::npos) << outcome.err;
  EXPECT_EQ(run_arion("serve --port 0 no-such-model").exit_code, 2);
}

TEST(Serve, SaysWhatIsWrongBeforeItLoads) {
  for (const char* option : {"--cors-origin page.example", "--api-key ''"}) {
    const Outcome outcome = run_arion("serve --port 0 no-such-model " + std::string(option));
    EXPECT_EQ(outcome.exit_code, 2) << option;
    EXPECT_EQ(outcome.err.find("no-such-model"), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace arion::test
