// A client on a plain socket, which can misbehave as it likes.
#pragma once
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace arion::test {

struct Response {
  int status = 0;  // 0: the connection was closed instead
  std::string head, body;

  nlohmann::json json() const { return nlohmann::json::parse(body); }
  bool has_header(std::string_view line) const { return head.find(line) != std::string::npos; }
  // The data of the events of a stream.
  std::vector<std::string> events() const {
    std::vector<std::string> out;
    for (size_t at = 0; (at = body.find("data: ", at)) != std::string::npos;) {
      const size_t end = body.find("\n\n", at);
      out.push_back(body.substr(at + 6, end - at - 6));
      at = end;
    }
    return out;
  }
};

class HttpClient {
 public:
  // `buffer_bytes` is what the system may hold for a client that does not read; 0: as it likes.
  explicit HttpClient(uint16_t port, int buffer_bytes = 0)
      : file_(socket(AF_INET, SOCK_STREAM, 0)) {
    if (buffer_bytes > 0) {
      setsockopt(file_, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof(buffer_bytes));
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ = connect(file_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~HttpClient() { close(); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  bool is_connected() const { return is_connected_; }

  void close() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }
  // Has nothing more to send.
  void end_input() { shutdown(file_, SHUT_WR); }
  // Ends with a reset instead of a farewell.
  void reset() {
    const linger now{1, 0};
    setsockopt(file_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    close();
  }

  // False when the other side has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(file_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  void post(std::string_view path, std::string_view body, std::string_view headers = "") {
    send("POST " + std::string(path) +
         " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + std::string(headers) + "\r\n" + std::string(body));
  }

  // Whether `text` is in what has come and was not read.
  bool has_received(std::string_view text) const {
    return received_.find(text) != std::string::npos;
  }

  // Waits until `text` has come.
  bool wait_for(std::string_view text) {
    while (!has_received(text)) {
      if (!receive()) return false;
    }
    return true;
  }

  // Whether the other side closes.
  bool wait_for_close() {
    while (receive()) {
    }
    return is_closed_;
  }

  Response read() {
    Response response;
    if (!wait_for("\r\n\r\n")) return response;
    const size_t body = received_.find("\r\n\r\n") + 4;
    response.head = received_.substr(0, body);
    response.status = std::stoi(response.head.substr(9, 3));
    received_.erase(0, body);
    if (response.status < 200) return read();  // 100 Continue
    if (response.has_header("Transfer-Encoding: chunked")) {
      read_chunks(response.body);
    } else if (const size_t at = response.head.find("Content-Length: ");
               at != std::string::npos && !is_head_) {
      read_bytes(std::stoul(response.head.substr(at + 16)), response.body);
    }
    return response;
  }

  Response get(std::string_view path, std::string_view headers = "",
               std::string_view method = "GET") {
    is_head_ = method == "HEAD";
    send(std::string(method) + " " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n" +
         std::string(headers) + "\r\n");
    return read();
  }

 private:
  static constexpr int kPatienceMs = 20'000;

  bool receive() {
    pollfd wait{file_, POLLIN, 0};
    if (poll(&wait, 1, kPatienceMs) <= 0) return false;
    char bytes[16384];
    const ssize_t count = recv(file_, bytes, sizeof(bytes), 0);
    is_closed_ = count <= 0;
    if (is_closed_) return false;
    received_.append(bytes, static_cast<size_t>(count));
    return true;
  }

  void read_bytes(size_t count, std::string& out) {
    while (received_.size() < count && receive()) {
    }
    out += received_.substr(0, count);
    received_.erase(0, count);
  }

  void read_chunks(std::string& out) {
    for (;;) {
      while (received_.find("\r\n") == std::string::npos && receive()) {
      }
      const size_t size = std::stoul(received_, nullptr, 16);
      received_.erase(0, received_.find("\r\n") + 2);
      read_bytes(size, out);
      std::string line_end;
      read_bytes(2, line_end);
      if (size == 0 || is_closed_) return;
    }
  }

  int file_;
  bool is_connected_ = false;
  bool is_closed_ = false;
  bool is_head_ = false;
  std::string received_;
};

inline Response post_once(uint16_t port, std::string_view path, std::string_view body,
                          std::string_view headers = "") {
  HttpClient client(port);
  client.post(path, body, headers);
  return client.read();
}

}  // namespace arion::test
